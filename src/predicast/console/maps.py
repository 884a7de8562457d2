"""Regions of subscriptions and places of objects, on a plane of two attributes.

A subscription is a rectangle on it if one of its clauses bounds both attributes. An event is a
point, or a box if it is a region; of several that tell of one object the latest counts, and the
ones before it are its trail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from predicast.broker.subscriptions import Subscriptions
from predicast.engine import Engine
from predicast.model import Clause, Interval
from predicast.model.domain import domain_of
from predicast.protocol.records import NewEvent

Placing: TypeAlias = Callable[[float, float], tuple[float, float]]  # where a point is drawn

PLANES: Final = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"))
NAMES: Final = ("object", "vehicle", "device", "id", "name", "kind")  # that objects may go by
REGIONS: Final = 500  # that are drawn; more would be a grey sheet
_LOOKED_AT: Final = 5_000  # subscriptions, to find them
_TRAIL: Final = 12
_MARGIN: Final = 0.04
_WIDTH: Final = 1000.0


class Box(NamedTuple):
    """A rectangle; a point is one without an extent."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def centre(self) -> tuple[float, float]:
        """Its middle."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2


class Region(NamedTuple):
    """What a subscription wants of the plane."""

    id: str
    box: Box
    expression: str


class Moving(NamedTuple):
    """An object: where it is, where it was, and what the latest event says of it."""

    name: str
    box: Box
    trail: tuple[tuple[float, float], ...]
    about: str


def plane_of(held: Subscriptions) -> tuple[str, str]:
    """The two attributes that are a plane here: the first pair of which subscriptions know both."""
    known = held.durable.flat.attributes() | held.ephemeral.flat.attributes()
    return next((plane for plane in PLANES if known.issuperset(plane)), PLANES[0])


def regions(held: Subscriptions, x: str, y: str, most: int = REGIONS) -> list[Region]:
    """The rectangles of the first subscriptions that have one."""
    engines = (held.durable.flat, held.ephemeral.flat)
    found = (each for engine in engines for each in _regions(engine, x, y))
    return list(islice(found, most))


def _regions(engine: Engine, x: str, y: str) -> Iterator[Region]:
    for id in islice(engine, _LOOKED_AT):
        entry = engine.get(id)
        for clause in entry.subscription.clauses:
            across, up = _bounds(clause, x), _bounds(clause, y)
            if across and up:
                box = Box(across[0], up[0], across[1], up[1])
                yield Region(id, box, entry.text or "")
                break


def _bounds(clause: Clause, attribute: str) -> tuple[float, float] | None:
    """The outermost bounds of what is asked of an attribute, if it has both."""
    constraints = clause.on(attribute)
    spans = domain_of(constraints, "fails").spans if constraints else ()
    if not spans or spans[0].lo is None or spans[-1].hi is None:
        return None
    return _range(spans[0].lo, spans[-1].hi)


def _range(lo: Any, hi: Any) -> tuple[float, float] | None:
    try:
        return float(lo), float(hi)
    except (TypeError, ValueError, OverflowError):
        return None  # strings or moments, which are no place


def objects(events: Iterable[NewEvent], x: str, y: str) -> list[Moving]:
    """Where objects are by these events, which are in the order in which they came."""
    latest: dict[str, tuple[Box, Mapping[str, Any]]] = {}
    trails: dict[str, list[tuple[float, float]]] = {}
    for event in events:
        if isinstance(event.attributes, str):
            continue
        across, up = _extent(event.attributes, x), _extent(event.attributes, y)
        if across is None or up is None:
            continue
        name = _name(event)
        box = Box(across[0], up[0], across[1], up[1])
        latest[name] = (box, event.attributes)
        trails.setdefault(name, []).append(box.centre)
    return [
        Moving(name, box, tuple(trails[name][-_TRAIL:]), _about(name, attributes))
        for name, (box, attributes) in latest.items()
    ]


def _extent(attributes: Mapping[str, Any], name: str) -> tuple[float, float] | None:
    value: Any = attributes
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    value = attributes.get(name, value)
    if isinstance(value, Interval):
        return None if value.lo is None or value.hi is None else _range(value.lo, value.hi)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _range(value, value)


def _name(event: NewEvent) -> str:
    assert not isinstance(event.attributes, str)
    given = (event.attributes.get(name) for name in NAMES)
    return next((each for each in given if isinstance(each, str)), event.publisher)


def _about(name: str, attributes: Mapping[str, Any]) -> str:
    said = ", ".join(f"{key} {value}" for key, value in islice(attributes.items(), 8))
    return f"{name}: {said}"


def drawing(shown: Sequence[Region], moving: Sequence[Moving], x: str, y: str) -> str:
    """Both as one SVG, north up; every shape says what it is when pointed at."""
    boxes = [*(each.box for each in shown), *(each.box for each in moving)]
    if not boxes:
        return ""
    left, right = min(box.left for box in boxes), max(box.right for box in boxes)
    bottom, top = min(box.bottom for box in boxes), max(box.top for box in boxes)
    width, height = max(right - left, 1e-9), max(top - bottom, 1e-9)
    scale = _WIDTH / max(width, height)
    margin = _MARGIN * _WIDTH

    def place(across: float, up: float) -> tuple[float, float]:
        return round((across - left) * scale + margin, 1), round((top - up) * scale + margin, 1)

    parts = [
        _rectangle(each.box, place, "region", f"{each.id}: {each.expression}") for each in shown
    ]
    for each in moving:
        parts += _object(each, place)
    size = f"{width * scale + 2 * margin:.0f} {height * scale + 2 * margin:.0f}"
    label = f"{len(shown)} regions and {len(moving)} objects over {x} and {y}"
    return (
        f'<svg viewBox="0 0 {size}" role="img" aria-label="{escape(label)}" class="map">'
        f"{''.join(parts)}</svg>"
    )


def _object(moving: Moving, place: Placing) -> Iterator[str]:
    trail = " ".join(f"{a},{b}" for a, b in (place(*point) for point in moving.trail))
    yield f'<polyline class="trail" points="{trail}"/>'
    if moving.box.left < moving.box.right or moving.box.bottom < moving.box.top:
        yield _rectangle(moving.box, place, "box", moving.about)
    across, up = place(*moving.box.centre)
    title = escape(moving.about)
    yield f'<circle class="object" cx="{across}" cy="{up}" r="5"><title>{title}</title></circle>'


def _rectangle(box: Box, place: Placing, kind: str, title: str) -> str:
    left, top = place(box.left, box.top)
    right, bottom = place(box.right, box.bottom)
    return (
        f'<rect class="{kind}" x="{left}" y="{top}" width="{max(right - left, 1):.1f}" '
        f'height="{max(bottom - top, 1):.1f}"><title>{escape(title)}</title></rect>'
    )
