"""A small dialect of the tests' own: a line per wish, all of which have to be met.

::

    # title: red and heavy
    colour is red
    weight over 5
    not shape is round

Several lists stand in one file under lines such as ``== red``, which name them. Events of its world
are lists of fields, or lines of ``name=value``. By the variant ``wishes:any`` one wish is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any, Final, NamedTuple

from predicast.errors import InvalidEventError, NotExpressibleError, ParseError
from predicast.language import (
    Dialect,
    Document,
    dialect_names,
    register_dialect,
    to_subscription,
    to_where,
)
from predicast.language.where.position import error_at
from predicast.language.wording import Phrase, Wording
from predicast.model import (
    And,
    Constraint,
    Expression,
    Leaf,
    Not,
    Operator,
    Or,
    Subscription,
)

_WISH: Final = re.compile(r"(?P<not>not )?(?P<name>\w+) (?P<word>is|over) (?P<value>.+)")
_ABOUT: Final = re.compile(r"# (\w+): (.+)")
_OPERATORS: Final = {"is": Operator.EQ, "over": Operator.GT}


class _Wish(NamedTuple):
    text: str
    test: Constraint
    is_meant: bool

    def expression(self) -> Expression:
        return _true(self.test) if self.is_meant else _untrue(self.test)

    def wording(self) -> Wording:
        text = self.text.removeprefix("not ")
        phrase = Leaf(Phrase(text, _true(self.test), _untrue(self.test)))
        return phrase if self.is_meant else Not(phrase)


def _true(test: Constraint) -> Expression:
    return Leaf(test)


def _untrue(test: Constraint) -> Expression:
    """A wish is met or it is not: what is not there does not meet it."""
    absent = Constraint(test.attribute, Operator.ABSENT, None)
    return Or((Leaf(test.negated()), Leaf(absent)))


class Wishes(Dialect):
    """Lists of wishes."""

    name = "wishes"
    suffixes = (".wish",)
    event_suffixes = (".fields", ".xml")

    def __init__(self, *, any_will_do: bool = False) -> None:
        self._any_will_do = any_will_do

    def parse(self, text: str) -> Expression:
        wishes = tuple(wish.expression() for wish in _wishes(text))
        return Or(wishes) if self._any_will_do else And(wishes)

    def wording(self, text: str) -> Wording:
        wishes = tuple(wish.wording() for wish in _wishes(text))
        return Or(wishes) if self._any_will_do else And(wishes)

    def about(self, text: str) -> Mapping[str, Any]:
        return dict(_ABOUT.findall(text))

    def to_text(self, subscription: Subscription) -> str:
        words = {operator: word for word, operator in _OPERATORS.items()}
        lines: list[str] = []
        for test in subscription.constraints():
            lines.append(f"{test.attribute} {words.get(test.operator)} {test.operand}")
            self._check(lines[-1], to_subscription(Leaf(test)))
        text = "\n".join(lines)
        self._check(text, subscription)
        return text

    def _check(self, text: str, wanted: Subscription) -> None:
        """Refuse what is something else when it is read back."""
        with suppress(ParseError):
            if text and to_subscription(self.parse(text)) == wanted:
                return
        part = to_where(wanted)
        raise NotExpressibleError(
            f"a wish is what something is, or is over; this is neither: {part}",
            dialect=self.name,
            part=part,
        )

    def documents(self, content: str) -> Iterator[Document]:
        lines = content.splitlines()
        heads = [number for number, line in enumerate(lines) if line.startswith("== ")]
        if not heads:
            yield Document(content)
        for head, end in pairwise([*heads, len(lines)]):
            id = lines[head].removeprefix("== ").strip()
            yield Document("\n".join(lines[head + 1 : end]), head + 2, id or None)

    def event_documents(self, content: str) -> Iterator[Any]:
        for line in content.splitlines():
            pairs = [field.partition("=") for field in line.split()]
            yield {"fields": [{"name": name, "value": value} for name, _, value in pairs]}

    def read_event(self, document: Any) -> Mapping[str, Any]:
        if not isinstance(document, Mapping) or not isinstance(document.get("fields"), list):
            raise InvalidEventError("an event has fields, which are a list")
        return {field["name"]: field["value"] for field in document["fields"]}

    def variant(self, options: str) -> Dialect:
        return Wishes(any_will_do=True) if options == "any" else super().variant(options)


def _wishes(text: str) -> Iterator[_Wish]:
    offset = 0
    for line in text.splitlines(keepends=True):
        wish = line.strip()
        if wish and not wish.startswith("#"):
            found = _WISH.fullmatch(wish)
            if found is None:
                start = offset + line.index(wish)
                raise error_at(ParseError, text, start, "a wish is as in: colour is red")
            value = found["value"]
            operand = int(value) if value.isdecimal() else value
            test = Constraint(found["name"], _OPERATORS[found["word"]], operand)
            yield _Wish(wish, test, found["not"] is None)
        offset += len(line)


if Wishes.name not in dialect_names():
    register_dialect(Wishes())
