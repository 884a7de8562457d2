"""A picture of a simulated network: the tree around its core, and what travelled on each link.

It is written as SVG by hand, because a tree is a few dozen lines: nothing needs to be installed,
and the same run gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import cos, pi, sin, sqrt
from typing import Final, NamedTuple

_WIDTH: Final = 900
_HEAD: Final = 100  # for the title and what explains the picture
_TREE: Final = 560  # for the tree below it
_FOOT: Final = 40
_HEIGHT: Final = _HEAD + _TREE + _FOOT
_MARGIN: Final = 50
_FONT: Final = 'font-family="DejaVu Sans, Helvetica, sans-serif"'
_NIGHT: Final = "#0d1422"
_FAINT: Final = "#3f5170"
_MUTED: Final = "#93a3bb"
_INK: Final = "#eef2f8"
_IDLE: Final = "#263650"
# From little traffic to much.
_GLOW: Final = ("#22405f", "#2a6f86", "#3fa39b", "#e0a33e", "#ffdf8f")
_WIDEST: Final = 11.0


class Place(NamedTuple):
    """Where a broker is drawn."""

    x: float
    y: float


class Picture(NamedTuple):
    """What is to be drawn; brokers are numbers, the core is 0."""

    parents: Sequence[int | None]
    names: Sequence[str]
    carried: Mapping[tuple[int, int], int]  # events from one broker to another
    delivered: Sequence[int]  # events handed to the clients of each broker
    title: str
    note: str


def drawn(picture: Picture) -> str:
    """The picture as the text of an SVG file."""
    places = _places(picture.parents)
    most = max((_both_ways(picture, edge) for edge in _edges(picture.parents)), default=1) or 1
    busiest = max(picture.delivered, default=1) or 1
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" {_FONT}>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="{_NIGHT}"/>',
        _text(30, 42, picture.title, size=22, colour=_INK, weight="bold"),
        _text(30, 70, picture.note, size=13, colour=_MUTED),
        *(_edge(picture, edge, places, most) for edge in _by_traffic(picture)),
        *(_node(picture, broker, place, busiest) for broker, place in enumerate(places)),
        *_key(most),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _places(parents: Sequence[int | None]) -> list[Place]:
    """Each broker on a ring around the core, in the middle of those that hang from it."""
    children: dict[int | None, list[int]] = {}
    for broker, parent in enumerate(parents):
        children.setdefault(parent, []).append(broker)
    order, depths = _walked(children)
    angles: dict[int, float] = {}
    leaves = [broker for broker in order if broker not in children]
    for number, leaf in enumerate(leaves):
        angles[leaf] = 2 * pi * number / len(leaves)
    for broker in reversed(order):
        if broker in children:
            below = [angles[child] for child in children[broker]]
            angles[broker] = (below[0] + below[-1]) / 2
    around = [
        Place(depths[broker] * sin(angles[broker]), -depths[broker] * cos(angles[broker]))
        for broker in range(len(parents))
    ]
    across = _scale([place.x for place in around], _MARGIN, _WIDTH - _MARGIN)
    down = _scale([place.y for place in around], _HEAD + _MARGIN / 2, _HEAD + _TREE - _MARGIN / 2)
    return [Place(x, y) for x, y in zip(across, down, strict=True)]


def _scale(values: Sequence[float], first: float, last: float) -> list[float]:
    """The values stretched to all the room that there is."""
    low, high = min(values), max(values)
    if high - low < 1e-9:
        return [(first + last) / 2 for _ in values]
    return [first + (value - low) / (high - low) * (last - first) for value in values]


def _walked(children: Mapping[int | None, Sequence[int]]) -> tuple[list[int], dict[int, int]]:
    """All brokers, each before those that hang from it, and how far each is from the core."""
    order: list[int] = []
    depths: dict[int, int] = {}
    left = [(broker, 0) for broker in reversed(children.get(None, ()))]
    while left:
        broker, depth = left.pop()
        order.append(broker)
        depths[broker] = depth
        left += [(child, depth + 1) for child in reversed(children.get(broker, ()))]
    return order, depths


def _edges(parents: Sequence[int | None]) -> list[tuple[int, int]]:
    return [(child, parent) for child, parent in enumerate(parents) if parent is not None]


def _both_ways(picture: Picture, edge: tuple[int, int]) -> int:
    child, parent = edge
    return picture.carried.get((child, parent), 0) + picture.carried.get((parent, child), 0)


def _by_traffic(picture: Picture) -> list[tuple[int, int]]:
    """The busiest last, on top of the others."""
    return sorted(_edges(picture.parents), key=lambda edge: _both_ways(picture, edge))


def _edge(picture: Picture, edge: tuple[int, int], places: Sequence[Place], most: int) -> str:
    child, parent = edge
    one, other = places[child], places[parent]
    carried = _both_ways(picture, edge)
    share = carried / most
    told = (
        f"{picture.names[child]} and {picture.names[parent]}: "
        f"{picture.carried.get((child, parent), 0):,} events up, "
        f"{picture.carried.get((parent, child), 0):,} down"
    )
    return (
        f'<line x1="{one.x:.1f}" y1="{one.y:.1f}" x2="{other.x:.1f}" y2="{other.y:.1f}" '
        f'stroke="{_colour(share) if carried else _IDLE}" '
        f'stroke-width="{1.2 + _WIDEST * sqrt(share):.2f}" stroke-linecap="round">'
        f"<title>{escape(told)}</title></line>"
    )


def _node(picture: Picture, broker: int, place: Place, busiest: int) -> str:
    delivered = picture.delivered[broker]
    core = picture.parents[broker] is None
    radius = 5 + 13 * sqrt(delivered / busiest)
    told = f"{picture.names[broker]}: {delivered:,} events delivered to its clients"
    ring = f' stroke="{_INK}" stroke-width="3"' if core else f' stroke="{_NIGHT}" stroke-width="2"'
    label = (
        _text(place.x, place.y + 4, picture.names[broker], size=10, colour=_NIGHT, anchor="middle")
        if radius >= 11
        else _text(place.x, place.y - radius - 4, picture.names[broker], 10, _MUTED, "middle")
    )
    return (
        f'<circle cx="{place.x:.1f}" cy="{place.y:.1f}" r="{radius:.1f}" fill="{_MUTED}"{ring}>'
        f"<title>{escape(told)}</title></circle>{label}"
    )


def _key(most: int) -> list[str]:
    """What the widths and colours mean."""
    parts = []
    y = _HEIGHT - 22
    for number, share in enumerate((0.05, 0.25, 0.5, 1.0)):
        x = 30 + 170 * number
        parts.append(
            f'<line x1="{x}" y1="{y}" x2="{x + 40}" y2="{y}" stroke="{_colour(share)}" '
            f'stroke-width="{1.2 + _WIDEST * sqrt(share):.2f}" stroke-linecap="round"/>'
        )
        parts.append(_text(x + 54, y + 4, f"{most * share:,.0f} events", size=11, colour=_MUTED))
    return parts


def _colour(share: float) -> str:
    """A colour between those of the glow."""
    place = min(max(share, 0.0), 1.0) * (len(_GLOW) - 1)
    below = min(int(place), len(_GLOW) - 2)
    one, other = _GLOW[below], _GLOW[below + 1]
    parts = []
    for at in (1, 3, 5):
        begin, end = int(one[at : at + 2], 16), int(other[at : at + 2], 16)
        parts.append(f"{round(begin + (end - begin) * (place - below)):02x}")
    return "#" + "".join(parts)


def _text(
    x: float, y: float, words: str, size: int, colour: str, anchor: str = "start", weight: str = ""
) -> str:
    bold = f' font-weight="{weight}"' if weight else ""
    # A dark rim keeps a label readable on the links below it.
    rim = f' stroke="{_NIGHT}" stroke-width="3" paint-order="stroke"' if colour != _NIGHT else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
        f'text-anchor="{anchor}"{bold}{rim}>{escape(words)}</text>'
    )
