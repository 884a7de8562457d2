"""Random expressions over typed columns that mean the same to Spark, to DuckDB and to us.

Numbers are small enough that nothing overflows: there Spark wraps around, DuckDB raises, and a
derived attribute is absent (the unit tests look there).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from predicast.derived import Tree, inputs_of
from predicast.errors import ParseError
from predicast.language.where.parser import parse_scalar

Dialect = Literal["spark", "duckdb"]

COLUMNS = {
    "l": "bigint", "m": "bigint", "d": "double", "e": "double", "s": "string", "t": "string",
    "b": "boolean", "ts": "timestamp", "us": "timestamp",
}  # fmt: skip
_REALS = (0.0, 0.1, -0.25, 2.675, 1.005, -2.5, 0.5, 1e10, 123456.789, -1e-3)
_TEXTS = (
    "",
    "a",
    " b ",
    "Ab",
    "abc",
    "É",
    "日本",
    "x😀y",
    "5",
    " -7 ",
    "1.5",
    "true",
    "2026-01-31",
)
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_FIELDS = ("year", "quarter", "month", "day", "dayofyear", "hour", "minute", "second")
_REFUSED = ("compares two values", "has no value")
_START = datetime(2024, 2, 28, 22, 59, 58, 999_999, tzinfo=UTC)


def read(text: str) -> Tree | None:
    """The expression as we read it; ``None`` if it is of constants alone, in part or as a whole.

    What compares two constants, or can have no value, is refused with an error of its own.
    """
    try:
        tree = parse_scalar(text)
    except ParseError as error:
        if any(part in error.message for part in _REFUSED):
            return None
        raise
    return tree if inputs_of(tree) else None


class SqlExpressions:
    """A source of rows and of expressions; the same seed gives the same ones."""

    def __init__(self, seed: int, dialect: Dialect) -> None:
        self.random = random.Random(seed)
        self.dialect = dialect

    # Rows.

    def row(self) -> dict[str, Any]:
        chance = self.random
        values: dict[str, Any] = {}
        for name, kind in COLUMNS.items():
            if chance.random() < 0.15:
                values[name] = None
            elif kind == "bigint":
                values[name] = chance.randint(-20, 20)
            elif kind == "double":
                values[name] = chance.choice(_REALS)
            elif kind == "string":
                values[name] = chance.choice(_TEXTS)
            elif kind == "boolean":
                values[name] = chance.random() < 0.5
            else:
                step = timedelta(days=chance.randint(-40, 400), seconds=chance.randint(0, 90_000))
                values[name] = _START + chance.choice((-30, 1)) * step
        return values

    # Expressions, by type.

    def any(self, depth: int = 3) -> str:
        make = self.random.choice(
            (self.whole, self.real, self.text, self.truth, self.time, self.whole, self.text)
        )
        return make(depth)

    def _of(self, names: str, depth: int, literal: str) -> str | None:
        """A column or a literal, if the expression has become deep enough."""
        if depth and self.random.random() < 0.8:
            return None
        return literal if self.random.random() < 0.25 else self.random.choice(names.split())

    def whole(self, depth: int) -> str:
        leaf = self._of("l m", depth, str(self.random.randint(0, 9)))
        if leaf:
            return leaf
        n = depth - 1

        def x() -> str:
            return self.whole(n)

        forms: list[Callable[[], str]] = [
            lambda: f"({x()} {self.random.choice('+-*')} {x()})",
            lambda: f"{x()} + {self.random.choice(('l', 'm'))}",
            lambda: f"(- {x()})",
            lambda: f"abs({x()})",
            lambda: f"length({self.text(n)})",
            lambda: f"{self.random.choice(_FIELDS)}({self.time(n)})",
            lambda: f"coalesce({x()}, {x()})",
            lambda: f"{self.random.choice(('greatest', 'least'))}({x()}, {x()}, {x()})",
            lambda: f"CASE WHEN {self.truth(n)} THEN {x()} ELSE {x()} END",
            lambda: f"CASE WHEN {self.truth(n)} AND NOT {self.truth(n)} THEN {x()} END",
        ]
        if self.dialect == "spark":
            forms += [
                lambda: f"({x()} % {x()})",
                lambda: f"dayofweek({self.time(n)})",
                lambda: f"weekday({self.time(n)})",
                lambda: f"floor({self.real(n)})",
                lambda: f"ceil({self.real(n)})",
                lambda: f"CAST({self.real(n)} AS BIGINT)",
                lambda: f"CAST({self.text(n)} AS BIGINT)",
                lambda: f"{self.time(0)}::bigint",
                lambda: f"round({x()}, -1)",
            ]
        return self.random.choice(forms)()

    def real(self, depth: int) -> str:
        literal = f"CAST({self.random.choice((0.5, 2.0, 3.25))} AS DOUBLE)"
        leaf = self._of("d e", depth, literal)
        if leaf:
            return leaf
        n = depth - 1

        def x() -> str:
            return self.real(n)

        forms: list[Callable[[], str]] = [
            lambda: f"({x()} {self.random.choice('+-*')} {x()})",
            lambda: f"({x()} {self.random.choice('+-*')} {self.whole(n)})",
            lambda: f"abs({x()})",
            lambda: f"CAST({self.whole(n)} AS DOUBLE)",
            lambda: f"coalesce({x()}, {x()})",
            lambda: f"{self.random.choice(('greatest', 'least'))}({x()}, {x()})",
            lambda: f"CASE {self.whole(n)} WHEN {self.whole(0)} THEN {x()} ELSE {x()} END",
            lambda: f"({self.whole(0)} / CAST(4 AS DOUBLE))",
        ]
        if self.dialect == "spark":
            forms += [
                lambda: f"({x()} / {x()})",
                lambda: f"({self.whole(n)} / {self.whole(n)})",
                lambda: f"({x()} % {x()})",
                lambda: f"round({x()}, {self.random.choice((0, 1, 2, 3, -1))})",
                lambda: f"round({x()})",
                lambda: f"CAST({self.text(n)} AS DOUBLE)",
                lambda: f"CAST({self.time(0)} AS DOUBLE)",
            ]
        return self.random.choice(forms)()

    def text(self, depth: int) -> str:
        leaf = self._of("s t", depth, self.random.choice(("'a'", "' B'", "'é'")))
        if leaf:
            return leaf
        n = depth - 1

        def x() -> str:
            return self.text(n)

        forms: list[Callable[[], str]] = [
            lambda: f"{self.random.choice(('lower', 'upper', 'trim', 'ltrim', 'rtrim'))}({x()})",
            lambda: f"substring({x()}, {self.random.randint(1, 3)}, {self.random.randint(0, 3)})",
            lambda: f"({x()} || {x()})",
            lambda: f"coalesce({x()}, {x()})",
            lambda: f"greatest({x()}, {x()})",
            lambda: f"CAST({self.whole(n)} AS STRING)",
            lambda: f"CAST({self.truth(n)} AS STRING)",
            lambda: f"CASE WHEN {self.truth(n)} OR {self.truth(n)} THEN {x()} ELSE {x()} END",
        ]
        if self.dialect == "spark":
            forms += [
                lambda: f"concat({x()}, {x()}, {x()})",
                lambda: (
                    f"substring({x()}, {self.random.randint(-4, 4)}, {self.random.randint(-1, 3)})"
                ),
                lambda: f"substring({x()}, {self.random.randint(-4, 4)})",
                lambda: f"CAST({self.real(0)} AS STRING)",
                lambda: f"CAST({self.time(n)} AS STRING)",
            ]
        return self.random.choice(forms)()

    def truth(self, depth: int) -> str:
        leaf = self._of("b", depth, self.random.choice(("TRUE", "FALSE")))
        if leaf:
            return leaf
        n = depth - 1
        sign = self.random.choice(("<", "<=", ">", ">=", "="))
        forms: list[Callable[[], str]] = [
            lambda: f"({self.whole(n)} {sign} {self.random.choice(('l', 'm'))})",
            lambda: f"({self.real(n)} {sign} {self.random.choice(('d', 'e'))})",
            lambda: f"({self.text(n)} {sign} {self.random.choice(('s', 't'))})",
            lambda: f"({self.time(n)} {sign} {self.random.choice(('ts', 'us'))})",
            lambda: f"coalesce({self.truth(n)}, {self.truth(0)})",
        ]
        if self.dialect == "spark":
            forms += [
                lambda: f"CAST({self.text(n)} AS BOOLEAN)",
                lambda: f"{self.whole(0)}::boolean",
            ]
        return self.random.choice(forms)()

    def time(self, depth: int) -> str:
        leaf = self._of("ts us", depth, "TIMESTAMP '2024-02-29 12:00:00'")
        if leaf:
            return leaf
        n = depth - 1

        def x() -> str:
            return self.time(n)

        span = self.random.choice(
            ("INTERVAL 1 MONTH", "INTERVAL 13 MONTH", "INTERVAL 36 HOUR", "INTERVAL 2 YEAR")
        )
        forms: list[Callable[[], str]] = [
            lambda: f"date_trunc('{self.random.choice(_UNITS)}', {x()})",
            lambda: f"({x()} {self.random.choice('+-')} {span})",
            lambda: f"least({x()}, {x()})",
            lambda: f"coalesce({x()}, {x()})",
        ]
        if self.dialect == "spark":
            forms += [
                lambda: f"CAST({self.text(0)} AS TIMESTAMP)",
                lambda: f"({x()} + INTERVAL '1 day -2 hours')",
                lambda: f"({self.whole(0)} * 1000000)::timestamp",
            ]
        return self.random.choice(forms)()
