"""Parses per second of the ``where`` dialect, for shapes seen before and for fresh ones.

A text's shape is what remains without its literals; the ``ShapeCache`` fills the template of a
shape that it knows and runs the parser for one that it does not. *Repeated* texts have one shape
and literals of their own; *fresh* ones also have attribute names of their own, so that every text
is a new shape.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from statistics import median

import msgspec
from rich.table import Table

from bench.measuring.machine import Machine, this_machine
from bench.measuring.result_files import ResultFile
from bench.measuring.timing import timed
from predicast.language.where import ShapeCache

# What subscribers write. {i}, {f}, {s}, {t} become an integer, a float, a word, a time; {a}
# becomes a number that makes the name a new one, or nothing.
SHAPES = {
    "one comparison": "price{a} < {i}",
    "two comparisons": "price{a} < {f} AND symbol{a} = '{s}'",
    "area of interest": (
        "x{a} > {i} AND x{a} < {i} AND y{a} > {i} AND y{a} < {i} AND z{a} > {i} AND z{a} < {i}"
        " AND kind{a} = {i} AND side{a} = {i}"
    ),
    "between and in": "delay{a} BETWEEN {i} AND {i} AND carrier{a} IN ('{s}', '{s}', '{s}')",
    "patterns": "name{a} LIKE '{s}%' AND NOT contains(note{a}, '{s}')",
    "a time": "at{a} >= TIMESTAMP '{t}' AND order{a}.total >= {f}",
    "either of two": "(price{a} < {f} OR discount{a} > {i}) AND symbol{a} = '{s}'",
}


class LanguageRow(msgspec.Struct, frozen=True):
    """One shape: medians, and every single measurement."""

    shape: str
    example: str
    repeated_per_s: float
    fresh_per_s: float
    repeated_samples: list[float]
    fresh_samples: list[float]


class LanguageReport(ResultFile):
    """What ``python -m bench language`` measured."""

    machine: Machine
    seed: int
    texts: int
    fresh_texts: int
    repeats: int
    rows: list[LanguageRow]

    @property
    def repeated_per_s(self) -> float:
        """The median shape's speed when its shape is known."""
        return median(row.repeated_per_s for row in self.rows)

    @property
    def fresh_per_s(self) -> float:
        """The median shape's speed when its shape is new."""
        return median(row.fresh_per_s for row in self.rows)


def texts_of(template: str, count: int, chance: random.Random, *, fresh: bool) -> list[str]:
    """Texts with literals of their own and, if fresh, names of their own."""

    def word(length: int) -> str:
        return "".join(chance.choices(string.ascii_uppercase, k=length))

    made: dict[str, Callable[[], str]] = {
        "{i}": lambda: str(chance.randrange(65_536)),
        "{f}": lambda: f"{chance.uniform(0, 1000):.2f}",
        "{s}": lambda: word(4),
        "{t}": lambda: f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02} 12:00:00",
    }

    def fill(number: int) -> str:
        text = template.replace("{a}", f"_{number}" if fresh else "")
        for mark, make in made.items():
            while mark in text:
                text = text.replace(mark, make(), 1)
        return text

    return [fill(number) for number in range(count)]


def measure_language(
    *,
    texts: int,
    fresh_texts: int,
    repeats: int,
    seed: int,
    advance: Callable[[], None] = lambda: None,
) -> LanguageReport:
    """Parse every shape's texts, the shapes taking turns; ``advance`` is called after each turn."""
    ShapeCache().parse("a = 1")  # imports the parser, which is not what we measure
    chance = random.Random(seed)
    known = {name: texts_of(text, texts, chance, fresh=False) for name, text in SHAPES.items()}
    fresh = {name: texts_of(text, fresh_texts, chance, fresh=True) for name, text in SHAPES.items()}
    known_speeds: dict[str, list[float]] = {name: [] for name in SHAPES}
    fresh_speeds: dict[str, list[float]] = {name: [] for name in SHAPES}
    for _ in range(repeats):
        for name in SHAPES:
            known_speeds[name].append(_speed(known[name], prime=True))
            fresh_speeds[name].append(_speed(fresh[name], prime=False))
            advance()
    rows = [
        LanguageRow(
            shape=name,
            example=known[name][0],
            repeated_per_s=median(known_speeds[name]),
            fresh_per_s=median(fresh_speeds[name]),
            repeated_samples=known_speeds[name],
            fresh_samples=fresh_speeds[name],
        )
        for name in SHAPES
    ]
    return LanguageReport(this_machine(), seed, texts, fresh_texts, repeats, rows)


def _speed(texts: list[str], *, prime: bool) -> float:
    cache = ShapeCache()
    if prime:
        cache.parse(texts[0])

    def parse_all() -> None:
        parse = cache.parse
        for text in texts:
            parse(text)

    seconds, _ = timed(parse_all)
    expected = (len(texts), 1) if prime else (0, len(texts))
    assert (cache.hits, cache.misses) == expected, "a text was not of the shape it should have"
    return len(texts) / seconds


def language_table(report: LanguageReport) -> Table:
    """The report as a table for the terminal."""
    table = Table(title="Parses per second (medians)", caption=str(report.machine))
    table.add_column("shape", no_wrap=True)
    table.add_column("repeated", justify="right", no_wrap=True)
    table.add_column("fresh", justify="right", no_wrap=True)
    table.add_column("ratio", justify="right", no_wrap=True)
    table.add_column("example", style="dim")
    for row in report.rows:
        ratio = row.repeated_per_s / row.fresh_per_s
        table.add_row(
            row.shape,
            f"{row.repeated_per_s:,.0f}",
            f"{row.fresh_per_s:,.0f}",
            f"{ratio:.0f}×",
            _shortened(row.example),
        )
    table.add_section()
    ratio = report.repeated_per_s / report.fresh_per_s
    table.add_row(
        "median shape",
        f"{report.repeated_per_s:,.0f}",
        f"{report.fresh_per_s:,.0f}",
        f"{ratio:.0f}×",
        style="bold",
    )
    return table


def _shortened(text: str, width: int = 28) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
