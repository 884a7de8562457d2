"""A broker's place in the tree of brokers, as a picture and as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

_WIDE: Final = 220
_HIGH: Final = 120
_BOX: Final = (180, 48)
_PARENT: Final = "parent"


def rows_of(status: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each neighbour, and one for each address where nobody answers."""
    rows = [_row(each) for each in status["neighbours"]]
    silent = [each for each in status["parents"] if not each["is_connected"]]
    named = {row["name"] for row in rows}
    rows += [
        {
            "name": each["name"] or each["url"],
            "role": _PARENT,
            "state": "not connected",
            "problem": each["problem"] or "",
        }
        for each in silent
        if each["name"] not in named
    ]
    return rows


def _row(neighbour: Mapping[str, Any]) -> dict[str, Any]:
    traffic = neighbour["traffic"]
    return {
        "name": neighbour["name"],
        "role": neighbour["role"],
        "state": neighbour["state"] if neighbour["is_connected"] else "not connected",
        "wanted": f"{neighbour['wanted']:,}",
        "announced": f"{neighbour['announced']:,}",
        "in": f"{traffic['events_in']:,}",
        "out": f"{traffic['events_out']:,}",
        "waiting": f"{neighbour['waiting']:,}",
        "problem": neighbour["refused"] or "",
    }


def drawing(status: Mapping[str, Any]) -> str:
    """The broker with its parent above and its children below, as SVG."""
    rows = rows_of(status)
    parents = [row for row in rows if row["role"] == _PARENT]
    children = [row for row in rows if row["role"] != _PARENT]
    across = max(len(parents), len(children), 1)
    here_y = _HIGH if parents else 0
    height = here_y + _BOX[1] + (_HIGH if children else 0) + 8
    middle = across * _WIDE / 2
    own = status["name"] or "this broker"
    parts = [
        *_level(parents, across, 0, (middle, here_y)),
        *_level(children, across, here_y + _HIGH, (middle, here_y + _BOX[1])),
        _box(own, middle, here_y, "own"),
    ]
    label = f"{own} with {len(parents)} parents and {len(children)} children"
    return (
        f'<svg class="tree" role="img" aria-label="{escape(label)}" '
        f'viewBox="0 -4 {across * _WIDE} {height}" style="max-width:{across * _WIDE}px">'
        f"{''.join(parts)}</svg>"
    )


def _level(
    rows: Sequence[Mapping[str, Any]], across: int, y: float, end: tuple[float, float]
) -> list[str]:
    """Brokers side by side, each with its link to ours and what went over that."""
    parts = []
    indent = (across - len(rows)) * _WIDE / 2
    for number, row in enumerate(rows):
        x = indent + (number + 0.5) * _WIDE
        near = y if y > end[1] else y + _BOX[1]
        kind = "cut" if row["state"] == "not connected" else "link"
        came, went = ("↓", "↑") if y < end[1] else ("↑", "↓")
        middle, high = (x + end[0]) / 2, (near + end[1]) / 2 + 5
        side = "left" if x < end[0] else "right"
        parts.append(
            f'<line class="{kind}" x1="{x}" y1="{near}" x2="{end[0]}" y2="{end[1]}"/>'
            f'<text class="traffic {side}" x="{middle}" y="{high}">'
            f"{came} {row.get('in', '–')}  {went} {row.get('out', '–')}</text>"
        )
        parts.append(_box(str(row["name"]), x, y, kind))
    return parts


def _box(name: str, x: float, y: float, kind: str) -> str:
    width, height = _BOX
    short = name if len(name) <= 22 else f"{name[:21]}…"
    return (
        f'<g class="{kind}"><title>{escape(name)}</title><rect x="{x - width / 2}" y="{y}" '
        f'width="{width}" height="{height}" rx="8"/><text x="{x}" y="{y + 29}">{escape(short)}'
        f"</text></g>"
    )
