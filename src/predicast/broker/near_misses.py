"""Near misses: who would have had an event, if one of their tests had come out otherwise.

Whoever wonders why an event did not arrive mostly has one test wrong. Where everything else fails
as well, there is nothing to learn from it.

A million subscriptions cannot be explained one by one. So the engine is asked first, once for each
number of the event, who would have it with any other number there: an interval without ends stands
for all of them. Then some of the rest are looked at one by one, as many as the caller allows, and
the answer says how many that were. What is found is judged by its explanation, test by test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from predicast.errors import ModelError
from predicast.model import Event, Interval, Subscription
from predicast.model.clause import Clause

if TYPE_CHECKING:
    from predicast.broker.subscriptions import Subscriptions
    from predicast.engine import Engine, Explanation
    from predicast.engine.explanation import Outcome
    from predicast.protocol.records import NewEvent

LOOKED_AT: Final = 5_000  # one by one; about 20 µs each
_NUMBERS: Final = 32  # attributes of an event that are tried with other numbers
_DERIVED: Final = "="  # what the name of a derived attribute begins with


class NearMiss(NamedTuple):
    """A subscription that did not match, and the one test that kept it from that."""

    id: str
    is_durable: bool
    explanation: Explanation
    failed: Outcome


class NearMisses(NamedTuple):
    """Some of them, and how many of all subscriptions were looked at one by one."""

    found: list[NearMiss]
    looked_at: int
    of: int


def near_misses(
    held: Subscriptions, event: NewEvent, most: int = 20, look_at: int = LOOKED_AT
) -> NearMisses:
    """At most that many near misses of a flat or region event; of a graph there are none."""
    if isinstance(event.attributes, str):
        return NearMisses([], 0, len(held))
    found: list[NearMiss] = []
    looked_at = 0
    for engine, is_durable in ((held.durable.flat, True), (held.ephemeral.flat, False)):
        left = look_at - looked_at
        looked_at += min(left, len(engine))
        for id in _candidates(engine, event.attributes, left):
            if len(found) == most:
                break
            explanation = engine.explain(id, event.attributes)
            failed = failed_tests(explanation.outcome)
            if not explanation.matched and len(failed) == 1:
                found.append(NearMiss(id, is_durable, explanation, failed[0]))
    return NearMisses(found, looked_at, len(held))


def failed_tests(outcome: Outcome, *, wanted: bool = True) -> tuple[Outcome, ...]:
    """The fewest tests that would have to come out otherwise for the outcome that is wanted."""
    if not outcome.parts:
        return () if outcome.held is wanted else (outcome,)
    if outcome.text == "NOT":
        return failed_tests(outcome.parts[0], wanted=not wanted)
    parts = [failed_tests(part, wanted=wanted) for part in outcome.parts]
    needs_all = (outcome.text == "AND") is wanted
    return tuple(chain.from_iterable(parts)) if needs_all else min(parts, key=len)


def _candidates(engine: Engine, attributes: Mapping[str, Any], look_at: int) -> Iterable[str]:
    """Ids that may be near misses, each once."""
    matched = set(engine.match(attributes))
    with_other_numbers = _with_other_numbers(engine, attributes)
    one_by_one = _one_by_one(engine, attributes, look_at)
    ids = dict.fromkeys(chain(with_other_numbers, one_by_one))
    return [id for id in ids if id not in matched]


def _with_other_numbers(engine: Engine, attributes: Mapping[str, Any]) -> Iterator[str]:
    """Who would have the event if one of its numbers were another."""
    flat = _flat(attributes)
    looked_at = engine.attributes() & flat.keys()
    numbers = [name for name in sorted(looked_at) if _is_number(flat[name])]
    for name in numbers[:_NUMBERS]:
        yield from engine.match({**flat, name: Interval()})


def _one_by_one(engine: Engine, attributes: Mapping[str, Any], look_at: int) -> Iterator[str]:
    """Those of the first subscriptions of which at most one attribute is in the way."""
    try:
        event: Event | None = Event(attributes)
    except ModelError:
        event = None  # something in it can be compared with nothing: the explanation will tell
    for id in islice(engine, look_at):
        if event is None or _attributes_in_the_way(engine.get(id).subscription, event) <= 1:
            yield id


def _attributes_in_the_way(subscription: Subscription, event: Event) -> int:
    """Of the clause that is nearest; derived attributes and rests are taken to be met."""
    return min((_of_clause(clause, event) for clause in subscription.clauses), default=2)


def _of_clause(clause: Clause, event: Event) -> int:
    groups = clause.by_attribute()
    return sum(
        not Clause(group).matches(event)
        for name, group in groups.items()
        if not name.startswith(_DERIVED)
    )


def _flat(attributes: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The same with dotted names instead of objects in objects."""
    flat: dict[str, Any] = {}
    for name, value in attributes.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
