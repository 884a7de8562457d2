"""Random events and random ``where`` expressions over them that are type-correct in Spark.

Expressions are written in many ways on purpose: either quote, escapes, keywords in any case,
values on either side, parentheses only where precedence asks for them or at random.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from predicast.testing import edges

SCHEMA = (
    "event int, small smallint, i int, l bigint, d double, f float, s string, `odd name` string, "
    "b boolean, ts timestamp, tn timestamp_ntz, day date, "
    "o struct<x: double, n: struct<s: string, `dot.ted`: int>>, `flat.name` bigint"
)
NUMBERS = ("small", "i", "l", "d", "f", "o.x", "o.n.dot.ted", "flat.name")
STRINGS = ("s", "odd name", "o.n.s")
# How an attribute is spelt, where that is not simply its name.
SPELLINGS = {
    "odd name": ("`odd name`",),
    "o.x": ("o.x", "`o`.x", "o . x"),
    "o.n.s": ("o.n.s", "o.`n`.`s`"),
    "o.n.dot.ted": ("o.n.`dot.ted`",),
    "flat.name": ("`flat.name`",),
}
ALPHABET = "aAb%_\\'\"`\n\té日😀\0\U0010ffff"
EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
# Only where Spark compares as exactly as we do: it makes doubles of long integers that it compares
# with doubles, so that the columns of doubles have no values around 2**53 and 2**63.
LONG_EDGES = tuple(each for each in edges.INTEGERS if abs(each) > 2**31)
# An event's times also come back through the session's time zone, where year 1 may begin later.
A_DAY = timedelta(days=1)
TIME_EDGES = tuple(
    each + A_DAY if each.year == 1 else each - A_DAY if each.year == 9999 else each
    for each in edges.TIMESTAMPS
)
DOUBLE_EDGES = tuple(each for each in edges.FLOATS if not 2.0**52 < abs(each) < 2.0**64)


class Generator:
    """A source of events and expressions; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    # Values.

    def string(self) -> str:
        if self.random.random() < 0.1:
            return self.random.choice(("a" * 65, "ab" * 40, "\U0010ffff" * 2))
        return "".join(self.random.choices(ALPHABET, k=self.random.choice((0, 1, 2, 2, 3, 5))))

    def number(self) -> int | float:
        return self.random.choice(
            (
                self.random.randint(-3, 3),
                self.random.randint(-12, 12) / 4,
                self.random.choice((0.1, 2.675, 1e-3, 123456789, 2**31 - 1, -(2**31))),
                self.random.choice(DOUBLE_EDGES),
            )
        )

    def moment(self, at_the_edge: Sequence[datetime] = TIME_EDGES) -> datetime:
        if self.random.random() < 0.15:
            return self.random.choice(at_the_edge)
        step = self.random.choice(
            (timedelta(hours=6), timedelta(days=1), timedelta(microseconds=1))
        )
        return EPOCH + self.random.randint(-3, 3) * step

    def _maybe(self, make: Callable[[], Any]) -> Any:
        return None if self.random.random() < 0.2 else make()

    def whole(self) -> int:
        return self.random.randint(-3, 3)

    def day(self) -> date:
        if self.random.random() < 0.1:
            return self.random.choice((date.min, date.max))
        return date(2024, 1, self.random.randint(1, 4))

    def event(self, id: int) -> dict[str, Any]:
        maybe = self._maybe
        return {
            "event": id,
            "small": maybe(self.whole),
            "i": maybe(lambda: self.random.choice((self.whole(), self.whole(), 2**31 - 1))),
            "l": maybe(
                lambda: self.random.choice(
                    (self.whole(), self.whole(), self.random.choice(LONG_EDGES))
                )
            ),
            "d": maybe(lambda: float(self.number())),
            "f": maybe(lambda: self.random.randint(-12, 12) / 4),
            "s": maybe(self.string),
            "odd name": maybe(self.string),
            "b": maybe(lambda: self.random.random() < 0.5),
            "ts": maybe(self.moment),
            "tn": maybe(lambda: self.moment().replace(tzinfo=None)),
            "day": maybe(self.day),
            "o": maybe(
                lambda: {
                    "x": maybe(lambda: float(self.number())),
                    "n": maybe(lambda: {"s": maybe(self.string), "dot.ted": maybe(self.whole)}),
                }
            ),
            "flat.name": maybe(self.whole),
        }

    def events(self, count: int) -> list[dict[str, Any]]:
        return [self.event(id) for id in range(count)]

    # Literals.

    def word(self, text: str) -> str:
        return self.random.choice((text, text, text.lower(), text.title()))

    def quoted(self, text: str) -> str:
        """A string literal for the text, in one of the ways that Spark reads it."""
        if self.random.random() < 0.1 and not set(text) & set("'\n\0"):
            return f"r'{text}'"
        quote = self.random.choice("''\"")
        return quote + "".join(self._character(c, quote) for c in text) + quote

    def _character(self, character: str, quote: str) -> str:
        if character == quote:
            return self.random.choice((quote * 2, "\\" + quote))
        if character == "\\":
            return "\\\\"
        escaped = {
            "\n": "\\n",
            "\t": "\\t",
            "a": "\\141",
            "b": "\\u0062",
            "'": "\\'",
            "é": "\\u00e9",
        }
        if character in escaped and self.random.random() < 0.3:
            return escaped[character]
        if character == "\0":
            return self.random.choice(("\\0", "\\u0000", "\\000"))
        if character in "😀\U0010ffff" and self.random.random() < 0.3:
            return f"\\U{ord(character):08X}"
        return character

    def number_literal(self) -> str:
        value = self.random.choice(LONG_EDGES) if self.random.random() < 0.15 else self.number()
        if isinstance(value, int):
            forms = [str(value), str(value), f"{value}.0", f"{value}L"]
            if abs(value) < 100:
                forms += [f"{value}e0", f"{value}D", f"{value}."]
            return self.random.choice(forms)
        text = repr(value)
        forms = [text, text, f"{value:.6e}"]
        if "e" not in text:
            forms.append(f"{text}D")
        if text.startswith("0."):
            forms.append(text[1:])
        return self.random.choice(forms)

    def timestamp_literal(self) -> str:
        moment = self.moment(edges.TIMESTAMPS)
        plain = moment.replace(tzinfo=None)
        forms = [f"{plain} UTC", f"{plain.isoformat()}Z"]
        if plain.year < 9999:
            forms.append(f"{plain + timedelta(hours=2)}+02:00")
        return f"{self.word('TIMESTAMP')} '{self.random.choice(forms)}'"

    # Tests.

    def name(self, attribute: str) -> str:
        return self.random.choice(SPELLINGS.get(attribute, (attribute, f"`{attribute}`")))

    def test(self) -> str:
        kinds = (self._number_test, self._string_test, self._string_test, self._time_test)
        return self.random.choice((*kinds, *kinds, self._boolean_test, self._presence_test))()

    def _ordered(self, name: str, literal: Callable[[], str]) -> str:
        compare = self.random.choice(("=", "==", "!=", "<>", "<", "<=", ">", ">="))
        negated = self.random.choice(("", "", self.word("NOT") + " "))
        form = self.random.randrange(7)
        if form < 2:
            return f"{name} {compare} {literal()}"
        if form == 2:
            return f"{literal()} {compare} {name}"
        if form == 3:
            between, and_ = self.word("BETWEEN"), self.word("AND")
            return f"{name} {negated}{between} {literal()} {and_} {literal()}"
        if form == 4:
            return self._null_safe(name, literal)
        members = ", ".join(literal() for _ in range(self.random.randint(1, 4)))
        return f"{name} {negated}{self.word('IN')} ({members})"

    def _null_safe(self, name: str, literal: Callable[[], str]) -> str:
        sides = [name, self.random.choice((literal(), literal(), name, "NULL"))]
        self.random.shuffle(sides)
        if sides[0] == "NULL" or self.random.random() < 0.5:
            return f"{sides[0]} <=> {sides[1]}"
        negated = self.random.choice(("", self.word("NOT") + " "))
        words = f"{self.word('IS')} {negated}{self.word('DISTINCT')} {self.word('FROM')}"
        return f"{sides[0]} {words} {sides[1]}"

    def _number_test(self) -> str:
        return self._ordered(self.name(self.random.choice(NUMBERS)), self.number_literal)

    def _string_test(self) -> str:
        name = self.name(self.random.choice(STRINGS))
        forms = (self._like, self._like, self._like_several, self._rlike, self._function)
        if self.random.random() < 0.4:
            return self._ordered(name, lambda: self.quoted(self.string()))
        return self.random.choice(forms)(name)

    def _like(self, name: str) -> str:
        escape = self.random.choice(("\\", "\\", "/", "a"))
        pieces = ("%", "_", "%", "b", "é", "'", "\n", *(escape + c for c in ("%", "_", escape)))
        pattern = "".join(self.random.choices(pieces, k=self.random.randint(0, 4)))
        negated = self.random.choice(("", "", self.word("NOT") + " "))
        like = self.word(self.random.choice(("LIKE", "LIKE", "ILIKE")))
        if like.upper() == "ILIKE" and escape != "a":  # which Spark would not escape with
            pattern = self.random.choice((pattern, pattern.upper()))
        text = f"{name} {negated}{like} {self.quoted(pattern)}"
        if escape == "\\" and self.random.random() < 0.7:
            is_plain = like.upper() == "ILIKE" or self.random.random() < 0.8
            return text if is_plain else f"like({name}, {self.quoted(pattern)})"
        return f"{text} {self.word('ESCAPE')} {self.quoted(escape)}"

    def _like_several(self, name: str) -> str:
        negated = self.random.choice(("", self.word("NOT") + " "))
        like = self.word(self.random.choice(("LIKE", "ILIKE")))
        quantifier = self.word(self.random.choice(("ANY", "SOME", "ALL")))
        pieces = ("%", "%", "_", "a", "B", "É", "\\%")
        patterns = (
            self.quoted("".join(self.random.choices(pieces, k=self.random.randint(0, 3))))
            for _ in range(self.random.randint(1, 3))
        )
        return f"{name} {negated}{like} {quantifier} ({', '.join(patterns)})"

    def _rlike(self, name: str) -> str:
        pieces = (
            "",
            "a",
            "b",
            "a+",
            ".*",
            "[ab]",
            "(a|b)",
            ".",
            "\\d",
            "\\\\",
            "é?",
            "%",
            "\\'",
            "_{1,2}",
        )
        pattern = "".join(self.random.choices(pieces, k=self.random.randint(1, 3)))
        pattern = self.random.choice(("", "^", "(?i)")) + pattern + self.random.choice(("", "\\z"))
        if self.random.random() < 0.3:
            function = self.random.choice(("rlike", "regexp", "regexp_like"))
            return f"{function}({name}, {self.quoted(pattern)})"
        negated = self.random.choice(("", self.word("NOT") + " "))
        return f"{name} {negated}{self.random.choice(('RLIKE', 'REGEXP'))} {self.quoted(pattern)}"

    def _function(self, name: str) -> str:
        function = self.random.choice(("startswith", "endswith", "contains"))
        return f"{self.word(function)}({name}, {self.quoted(self.string()[:2])})"

    def _time_test(self) -> str:
        form = self.random.randrange(3)
        if form == 0:
            return self._ordered("ts", self.timestamp_literal)
        if form == 1:
            return self._ordered(
                "tn", lambda: f"TIMESTAMP_NTZ '{self.moment().replace(tzinfo=None)}'"
            )
        return self._ordered("day", lambda: f"DATE '{self.day()}'")

    def _boolean_test(self) -> str:
        return self.random.choice(
            ("b", "`b`", "b = TRUE", "b != true", "FALSE = b", "b IN (false)", f"b {self._is()}")
        )

    def _is(self) -> str:
        negated = self.random.choice(("", self.word("NOT") + " "))
        truth = self.random.choice(("TRUE", "FALSE", "UNKNOWN", "NULL"))
        return f"{self.word('IS')} {negated}{self.word(truth)}"

    def _presence_test(self) -> str:
        name = self.name(self.random.choice((*NUMBERS, *STRINGS, "b", "ts", "tn", "day")))
        return self.random.choice(
            (f"{name} IS NULL", f"{name} IS NOT NULL", f"isnull({name})", f"isnotnull({name})")
        )

    # Expressions.

    def expression(self, depth: int = 3) -> str:
        form = self.random.random()
        if depth == 0 or form < 0.3:
            return self.test()
        if form < 0.45:
            return f"{self.word('NOT')} ({self.expression(depth - 1)})"
        if form < 0.5:
            return f"NOT {self.test()}"
        if form < 0.6:
            return f"({self._questioned()}) {self._is()}"
        if form < 0.63:
            return self.random.choice(("TRUE", "false", "/* any */ TRUE"))
        joined = self.random.choice(("AND", "OR"))
        parts = [self._part(depth) for _ in range(self.random.randint(2, 3))]
        return f" {self.word(joined)} ".join(parts)

    def _questioned(self) -> str:
        """A condition that is asked whether it is true; small, for the sake of its normal form."""
        if self.random.random() < 0.6:
            return self.test()
        joined = self.random.choice(("AND", "OR"))
        return f" {joined} ".join((self._number_test(), self._boolean_test()))

    def _part(self, depth: int) -> str:
        part = self.expression(depth - 1)
        return f"({part})" if self.random.random() < 0.5 else part
