"""``Explainer``: what becomes of each part of a subscription's wording, given an event.

A part is true, false or unknown, as in SQL: a test of an attribute that the event lacks, or that is
of another kind, is neither true nor false. Two things are not decided test by test:

- With ``absent="passes"`` a test of an absent attribute is whatever is asked of it: true or, under
  NOT, false. So it is known for each part which of the two is *wanted*.
- Of a region, a part is true if one point of the region satisfies all of it. So a conjunction may
  fail though each of its parts is satisfied, by different points.

Cost: linear in the wording; of a region the clauses of every part are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Self

from predicast.derived import inputs_of
from predicast.engine.derivation import Derivation
from predicast.engine.entry import Entry
from predicast.engine.explanation import Explanation, Outcome, Seen, shown
from predicast.engine.readings import Reading, Readings
from predicast.errors import LanguageError, suggest
from predicast.language import to_where
from predicast.language.class_tests import reading_with
from predicast.language.derived_names import expression_of, is_derived, list_name
from predicast.language.where.printer import name as written_name
from predicast.language.wording import (
    Phrase,
    Wording,
    attributes_of_wording,
    expression_of_wording,
    wording_of,
    wording_of_text,
)
from predicast.model import (
    Absent,
    And,
    Constraint,
    Event,
    Expression,
    Held,
    Interval,
    Kind,
    Leaf,
    Not,
    Operator,
    Or,
    Subscription,
    subscription_of,
)
from predicast.model.domain import domain_of
from predicast.model.event_reader import EventReader, names_of
from predicast.model.operators import PRESENCE
from predicast.model.spans import Span, intersection
from predicast.model.values import kind_of
from predicast.model.vocabulary import Vocabulary

_PASSES: Final = 'which passes, as absent="passes" says'
_NO_ONE_POINT: Final = "no one point satisfies all of it"


class Explainer:
    """Judges every part of what one subscription says, event by event."""

    def __init__(
        self,
        id: str,
        subscription: Subscription,
        wording: Wording,
        absent: Absent,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        # Falsehood may be told by what the subscription, which is about truth, does not look at.
        attributes = subscription.attributes().union(attributes_of_wording(wording))
        self._id = id
        self._subscription = subscription
        self._wording = wording
        self._absent: Absent = absent
        self._derivation = Derivation(attributes)
        names = self._derivation.read(attributes)
        self._readings = None if vocabulary is None else Readings(vocabulary, names)
        # Of what it looks at.
        self.reader = EventReader(names if self._readings is None else self._readings.names)

    @classmethod
    def of(cls, entry: Entry, absent: Absent, vocabulary: Vocabulary | None = None) -> Self:
        """That of a subscription in an engine, which may go by an ontology."""
        with reading_with(vocabulary):
            wording = wording_of_entry(entry)
        return cls(entry.id, entry.subscription, wording, absent, vocabulary)

    def explanation(
        self, event: Event, now: datetime | None = None, names: Iterable[str] | None = None
    ) -> Explanation:
        """What becomes of an event; it arrives now, unless told when.

        ``names`` are those of all attributes that were given, if the event holds only some.
        """
        at = (now or datetime.now(UTC)) if self._derivation.asks_for_now else None
        given = list(names_of(event) if names is None else names)
        matched, derived, sources = self._telling(event, at)
        judge = _Judge(given, derived, self._absent, sources)
        return Explanation(self._id, matched, judge.outcome(self._wording, wanted=True), at)

    def _telling(self, event: Event, at: datetime | None) -> tuple[bool, Event, Mapping[str, str]]:
        """Whether some reading of the event matches, and the first that tells why or why not."""
        readings = [Reading(event, {})] if self._readings is None else self._readings.of(event)
        derived = [(self._derivation.event(each.event, at), each.sources) for each in readings]
        for read, sources in derived:
            if self._subscription.matches(read, self._absent):
                return True, read, sources
        return False, *derived[0]


def wording_of_entry(entry: Entry) -> Wording:
    """The tree that was written, as far as it is known."""
    if entry.text is None:
        return wording_of(entry.subscription)
    if entry.dialect is None:
        return wording_of_text(entry.text, entry.parameters)
    return _wording_in(entry.dialect, entry.text, entry.subscription)


def _wording_in(name: str, text: str, subscription: Subscription) -> Wording:
    """What was written in a dialect, if it means here what the subscription states.

    The engine may be from elsewhere, where there is a dialect that we lack, or another version.
    """
    from predicast.language.dialect_registry import dialect_named, stated_in

    try:
        if stated_in(name, text).subscription() == subscription:
            return dialect_named(name).wording(text)
    except LanguageError:
        pass
    return wording_of(subscription)


class _Judge:
    """An event with its derived attributes, and the names of those that it was given with."""

    def __init__(
        self, names: Sequence[str], event: Event, absent: Absent, sources: Mapping[str, str]
    ) -> None:
        # Nobody has given the lists that a dialect makes of an event's arrays.
        self._names = [name for name in names if not name.endswith(("[]", "{}"))]
        self._event = event
        self._absent = absent
        self._sources = sources  # the attributes that gave properties their values

    def outcome(self, wording: Wording, *, wanted: bool) -> Outcome:
        match wording:
            case Leaf(phrase):
                return self._test(phrase, wanted=wanted)
            case Not(part):
                inner = self.outcome(part, wanted=not wanted)
                held = None if inner.held is None else not inner.held
                return Outcome("NOT", held, parts=(inner,))
            case And(parts) | Or(parts):
                return self._combined(wording, parts, wanted=wanted)

    def _combined(
        self, wording: And[Phrase] | Or[Phrase], parts: tuple[Wording, ...], *, wanted: bool
    ) -> Outcome:
        is_and = isinstance(wording, And)
        if not parts:
            return Outcome("TRUE" if is_and else "FALSE", is_and)
        outcomes = tuple(self.outcome(part, wanted=wanted) for part in parts)
        held, reason = _all(outcomes) if is_and else _any(outcomes), None
        # Of a region each part may be satisfied by a point of its own.
        if held is wanted and self._event.is_region and not self._is_possible(wording, wanted):
            held, reason = not wanted, _NO_ONE_POINT
        return Outcome("AND" if is_and else "OR", held, reason=reason, parts=outcomes)

    def _is_possible(self, wording: Wording, wanted: bool) -> bool:
        return self._satisfied(expression_of_wording(wording, wanted=wanted))

    # A test.

    def _test(self, phrase: Phrase, *, wanted: bool) -> Outcome:
        held = self._held(phrase, wanted=wanted)
        if phrase.part is not None:
            part = self.outcome(phrase.part, wanted=wanted is phrase.affirms)
            return Outcome(phrase.text, held, parts=(part,))
        constraints = list(phrase.constraints())
        if not constraints:
            return Outcome(phrase.text, held)
        attributes = phrase.attributes or dict.fromkeys(each.attribute for each in constraints)
        stand_ins = dict(zip(attributes, phrase.stand_ins, strict=False))
        seen = tuple(self._seen(each, stand_ins.get(each)) for each in attributes)
        return Outcome(phrase.text, held, seen, self._reason(phrase, constraints, seen, held))

    def _held(self, phrase: Phrase, *, wanted: bool) -> bool | None:
        """Truth, falsehood or neither; of a region, and where absence passes, what is wanted."""
        asked, other = (phrase.true, phrase.false) if wanted else (phrase.false, phrase.true)
        if self._satisfied(asked):
            return wanted
        return not wanted if self._event.is_region or self._satisfied(other) else None

    def _satisfied(self, expression: Expression) -> bool:
        if self._event.is_region:
            return subscription_of(expression).matches(self._event, self._absent)
        return self._holds(expression, wanted=True)

    def _holds(self, expression: Expression, *, wanted: bool) -> bool:
        match expression:
            case Leaf(constraint):
                return self._one_holds(constraint if wanted else constraint.negated())
            case Not(part):
                return self._holds(part, wanted=not wanted)
            case And(parts) | Or(parts):
                found = (self._holds(part, wanted=wanted) for part in parts)
                return all(found) if isinstance(expression, And) is wanted else any(found)

    def _one_holds(self, constraint: Constraint) -> bool:
        value = self._event.get(constraint.attribute)
        if value is None:
            return constraint.holds_absent(self._absent)
        assert not isinstance(value, Interval)
        return constraint.holds(value)

    def _seen(self, attribute: str, stand_in: str | None = None) -> Seen:
        attribute = list_name(attribute)
        value = self._event.get(attribute)
        if value is None and stand_in is not None:
            value = self._event.get(stand_in)
        if not is_derived(attribute):
            return self._given(attribute, value)
        inputs = sorted(inputs_of(expression_of(attribute)))
        given = tuple(self._given(each, self._event.get(each)) for each in inputs)
        return Seen(written_name(attribute), value, given)

    def _given(self, attribute: str, value: Held | None) -> Seen:
        """An attribute by the name that the event has for it."""
        source = self._sources.get(attribute)
        return Seen(attribute, value, (Seen(source, value),) if source else ())

    # Why.

    def _reason(
        self,
        phrase: Phrase,
        constraints: list[Constraint],
        seen: tuple[Seen, ...],
        held: bool | None,
    ) -> str | None:
        reasons: list[str | None] = []
        if phrase.parameters:
            reasons.append(", ".join(f":{name} = {shown(v)}" for name, v in phrase.parameters))
        reasons += [self._near(name) for name in dict.fromkeys(_absent_names(seen))]
        missing = any(each.value is None for each in seen)
        if missing and self._absent == "passes" and not _is_about_presence(constraints):
            reasons.append(_PASSES)
        elif not missing and held is None:
            reasons += [self._of_another_kind(each) for each in constraints[:1]]
        elif held and self._event.is_region:
            reasons += [self._met(each) for each in constraints if len(constraints) == 1]
        elif held is not None and not missing and not self._event.is_region:
            reasons.append(self._which(phrase, held=held))
        return "; ".join(reason for reason in reasons if reason) or None

    def _near(self, name: str) -> str | None:
        """What the event has instead of an attribute."""
        last = name.rpartition(".")[2].casefold()
        same = [each for each in self._names if each.rpartition(".")[2].casefold() == last]
        close = same[0] if same else suggest(name, self._names)
        return f"the event has {written_name(close, derived=False)}" if close else None

    def _of_another_kind(self, constraint: Constraint) -> str | None:
        value = self._event.get(constraint.attribute)
        if value is None or isinstance(value, Interval) or constraint.kind is None:
            return None
        kind = kind_of(value)
        if kind is constraint.kind:
            return None
        return f"a {kind.value}, where the constraint is on a {constraint.kind.value}"

    def _met(self, constraint: Constraint) -> str | None:
        """The part of an interval that satisfies the constraint."""
        value = self._event.get(constraint.attribute)
        domain = domain_of((constraint,), self._absent)
        if not isinstance(value, Interval) or domain.kind is not Kind.NUMBER:
            return None
        met = intersection(domain.spans, (value.span(),))
        return f"met in {' and in '.join(map(_in, met[:2]))}" if met else None

    def _which(self, phrase: Phrase, *, held: bool) -> str | None:
        """Which of several alternatives it was or, of tests that must all hold, which failed."""
        if phrase.attributes or phrase.choices:  # not in words that its writer does not know
            return self._which_choice(phrase.choices, held=held)
        joined: Iterable[Constraint] = ()
        wanted = Or if held else And
        match phrase.true:
            case Leaf(constraint) if constraint.operator is (
                Operator.ANY if held else Operator.ALL
            ):
                joined = constraint.parts
            case And(parts) | Or(parts) if isinstance(phrase.true, wanted):
                joined = [part.constraint for part in parts if isinstance(part, Leaf)]
        found = next((each for each in joined if self._one_holds(each) is held), None)
        return f"{'met by' if held else 'not met:'} {to_where(found)}" if found else None

    def _which_choice(self, choices: tuple[Phrase, ...], *, held: bool) -> str | None:
        """The first value that decided, unless all of them did."""
        outcomes = [self._satisfied(each.true) for each in choices]
        if len(set(outcomes)) < 2:
            return None
        return f"{'met by' if held else 'not met:'} {choices[outcomes.index(held)].text}"


def _is_about_presence(constraints: Iterable[Constraint]) -> bool:
    return all(each.operator in PRESENCE for each in constraints)


def _all(outcomes: Iterable[Outcome]) -> bool | None:
    held = {each.held for each in outcomes}
    return False if False in held else None if None in held else True


def _any(outcomes: Iterable[Outcome]) -> bool | None:
    held = {each.held for each in outcomes}
    return True if True in held else None if None in held else False


def _absent_names(seen: Iterable[Seen]) -> Iterable[str]:
    """The attributes of the event that are missing: of a derived one its inputs."""
    for each in seen:
        if each.inputs:
            yield from _absent_names(each.inputs)
        elif each.value is None:
            yield each.attribute


def _in(span: Span) -> str:
    return str(Interval(span.lo, span.hi, span.lo_open, span.hi_open))
