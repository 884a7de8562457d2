"""The picture of an interface's life, drawn from its table.

Run ``python -m tests.unit.routing.life_picture`` when ``predicast.routing.life`` has changed; a
test compares the file with the table.
"""

from __future__ import annotations

from pathlib import Path

from predicast.routing.life import LIFE, InterfaceState

FILE = Path(__file__).parents[3] / "docs" / "explanation" / "figures" / "interface-life.svg"

PENDING, ACTIVE, CLOSED = InterfaceState
PLACES = {PENDING: (150, 90), ACTIVE: (610, 90), CLOSED: (380, 330)}
# Each way: its path, and where its words begin. The two ways between states keep apart.
WAYS = {
    (PENDING, ACTIVE): ("M 215 75 C 320 45, 440 45, 543 75", (380, 40)),
    (ACTIVE, PENDING): ("M 545 105 C 440 130, 320 130, 217 105", (380, 148)),
    (ACTIVE, CLOSED): ("M 600 120 C 580 200, 520 270, 447 318", (640, 250)),
    (CLOSED, PENDING): ("M 320 308 C 260 270, 210 200, 182 122", (385, 205)),
    (PENDING, CLOSED): ("M 140 120 C 150 220, 220 300, 313 330", (90, 270)),
}


HEAD = (
    '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
    'markerHeight="8" orient="auto"><path d="M 0 0 L 10 5 L 0 10 z" fill="#444"/></marker></defs>'
)


def picture() -> str:
    """The states as boxes, and the ways between them with what happens there."""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 390" font-family="sans-serif">',
        '<rect width="760" height="390" fill="white"/>',
        HEAD,
    ]
    for (before, after), (path, (x, y)) in WAYS.items():
        lines.append(
            f'<path d="{path}" fill="none" stroke="#444" stroke-width="1.5" '
            'marker-end="url(#head)"/>'
        )
        lines += [
            f'<text x="{x}" y="{y + 16 * row}" font-size="13" text-anchor="middle">{each}</text>'
            for row, each in enumerate(happenings(before, after))
        ]
    for state, (x, y) in PLACES.items():
        box = f'x="{x - 65}" y="{y - 28}" width="130" height="56" rx="12"'
        lines += [
            f'<rect {box} fill="#eef3fb" stroke="#2f5d9b" stroke-width="2"/>',
            f'<text x="{x}" y="{y + 6}" font-size="18" text-anchor="middle">{state}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def happenings(before: InterfaceState, after: InterfaceState) -> list[str]:
    """What leads from one state to another."""
    return [
        str(happening) for (state, happening), to in LIFE.items() if (state, to) == (before, after)
    ]


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
