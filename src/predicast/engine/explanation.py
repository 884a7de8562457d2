"""Why a subscription matched an event, or did not: its own tree, with the outcome of every part.

The tree is that of what was written (``language/wording.py``); ``judging.py`` says what becomes of
its parts. Texts and values are kept whole here, and shortened where they are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from predicast.language import event_to_json
from predicast.model import Event, Held
from predicast.model.values import show

MARKS: Final = {True: "✓", False: "✗", None: "?"}
_LONGEST: Final = 100  # characters of a text that are shown, and of a value
_TAIL: Final = 20  # of them at the end
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Seen:
    """An attribute that a test looks at, and its value (``None``: absent).

    A derived one, such as ``price * qty``, is named by its expression, and ``inputs`` are the
    attributes that it is computed from; of an ontology's property, the one that gives it.
    """

    attribute: str
    value: Held | None
    inputs: tuple[Seen, ...] = ()

    def __str__(self) -> str:
        named = f"{self.attribute} is absent"
        if self.value is not None:
            named = f"{self.attribute} = {shown(self.value)}"
        return named + self.computed_from()

    def to_document(self) -> dict[str, Any]:
        """What was seen, for JSON; timestamps and intervals as they stand in events."""
        values = msgspec.json.decode(event_to_json(Event({"value": self.value})))
        document = {"attribute": self.attribute, "value": values.get("value")}
        inputs = [each.to_document() for each in self.inputs]
        return document | ({"inputs": inputs} if inputs else {})

    def computed_from(self) -> str:
        """The inputs of a derived attribute, as text."""
        return f", from {', '.join(map(str, self.inputs))}" if self.inputs else ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A part of what was written: a test, or AND, OR or NOT with its own parts.

    ``held`` is ``None`` where it is neither true nor false. ``reason`` tells what the value alone
    does not.
    """

    text: str
    held: bool | None
    seen: tuple[Seen, ...] = ()
    reason: str | None = None
    parts: tuple[Outcome, ...] = ()

    @property
    def mark(self) -> str:
        """A tick, a cross, or a question mark."""
        return MARKS[self.held]

    @property
    def value(self) -> Held | None:
        """The value that a test of one attribute saw; ``None`` if it is absent."""
        return self.seen[0].value if len(self.seen) == 1 else None

    @property
    def brief(self) -> str:
        """The text, shortened if it is long."""
        return _brief(self.text)

    @property
    def saw(self) -> str | None:
        """What a test saw, as text for people."""
        if not self.seen:
            return None
        if len(self.seen) > 1:
            return ", ".join(map(str, self.seen))
        [only] = self.seen
        return shown(only.value) + only.computed_from()

    def to_document(self) -> dict[str, Any]:
        """The part for JSON: of a test what it saw, of the others their parts."""
        document: dict[str, Any] = {"text": self.text, "held": self.held}
        if self.seen:
            document["seen"] = [each.to_document() for each in self.seen]
        if self.reason:
            document["reason"] = self.reason
        if self.parts:
            document["parts"] = [part.to_document() for part in self.parts]
        return document

    def lines(self, depth: int = 0) -> Iterator[tuple[int, Outcome]]:
        """It and all its parts, with their depth, in the order of the text."""
        yield depth, self
        for part in self.parts:
            yield from part.lines(depth + 1)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole subscription.

    >>> from predicast import Engine
    >>> engine = Engine()
    >>> id = engine.subscribe("price < 10 AND NOT (symbol = 'IBM' OR volume > 500)", id="cheap")
    >>> print(engine.explain("cheap", {"price": 9.5, "symbol": "AMD", "Volume": 700}))
    cheap: did not match
      ? AND
        ✓ price < 10    saw 9.5
        ? NOT
          ? OR
            ✗ symbol = 'IBM'    saw 'AMD'
            ? volume > 500    saw absent (the event has Volume)
    """

    id: str
    matched: bool
    outcome: Outcome
    now: datetime | None = None  # what now() was, if the subscription asks for it

    @property
    def tests(self) -> tuple[Outcome, ...]:
        """The outcomes of all tests, in the order of the text."""
        return tuple(each for _, each in self.outcome.lines() if not each.parts)

    def to_document(self) -> dict[str, Any]:
        """The whole, for JSON."""
        return {"id": self.id, "matched": self.matched, "outcome": self.outcome.to_document()}

    def __str__(self) -> str:
        lines = [f"{self.id}: {'matched' if self.matched else 'did not match'}"]
        for depth, each in self.outcome.lines(1):
            saw = "" if each.saw is None else f"    saw {each.saw}"
            why = f" ({each.reason})" if each.reason else ""
            lines.append(f"{_INDENT * depth}{each.mark} {each.brief}{saw}{why}")
        if self.now is not None:
            lines.append(f"{_INDENT}now() was {show(self.now)}")
        return "\n".join(lines)


def shown(value: Held | None) -> str:
    """A value for people: shortened if it is long."""
    return "absent" if value is None else _brief(show(value))


def _brief(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    head = text[: _LONGEST - _TAIL]
    return f"{head} … {text[-_TAIL:]} ({len(text):,} characters)"
