"""Attributes that are likely misspelt or compared with the wrong kind of value.

A sample of events tells which attributes there are and of which kinds. Without one, the other
subscriptions tell: a name that few look at, one slip away from one that many look at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from predicast.derived.functions import inputs_of_kind
from predicast.derived.tree import inputs_of
from predicast.engine.entry import Entry
from predicast.engine.lint.findings import Check, Finding
from predicast.engine.lint.names import NearNames
from predicast.engine.lint.sample import Sample
from predicast.errors import shortened, suggest
from predicast.language.derived_names import expression_of, is_derived
from predicast.model import Constraint, Kind, Subscription

_MANY: Final = 3  # times as many that look at the other name
GiversOf = Callable[[str], Iterable[str]]  # by an ontology, the attributes that give one a value


def attributes_of(subscription: Subscription) -> dict[str, None]:
    """The attributes of events that a subscription looks at; of computed ones, what those need."""
    found: dict[str, None] = {}
    for constraint in subscription.constraints():
        if is_derived(constraint.attribute):
            found |= dict.fromkeys(sorted(inputs_of(expression_of(constraint.attribute))))
        else:
            found[constraint.attribute] = None
    return found


# By the other subscriptions.


def rare_name_findings(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Names that few subscriptions have, and that are near one that many have."""
    named = [(entry.id, attributes_of(entry.subscription)) for entry in entries]
    counts = Counter(name for _, names in named for name in names)
    known = NearNames(name for name, count in counts.items() if count >= _MANY)
    meant = {
        name: near[0]
        for name, count in counts.items()
        if (near := [each for each in known.near(name) if counts[each] >= _MANY * count])
    }
    for id, names in named:
        for name in names:
            if name in meant:
                yield Finding(
                    id,
                    Check.UNKNOWN_ATTRIBUTE,
                    f"{name!r} is looked at by {_few(counts[name])}, {meant[name]!r} by "
                    f"{counts[meant[name]]:,}",
                    f"is it {meant[name]!r}?",
                    attribute=name,
                )


def _few(count: int) -> str:
    return "this subscription alone" if count == 1 else f"{count:,} subscriptions"


# By a sample of events.


class SampleCheck:
    """Compares what subscriptions look at with what events have."""

    def __init__(self, sample: Sample, givers: GiversOf) -> None:
        self._sample = sample
        self._givers = givers
        self._near = NearNames(sample.names)

    def findings(self, entry: Entry) -> Iterator[Finding]:
        """What of a subscription does not go with the events."""
        for name in attributes_of(entry.subscription):
            if not any(giver in self._sample.kinds for giver in self._givers(name)):
                yield self._unknown(entry.id, name)
        for name, kind, shown in _expected(entry.subscription):
            for giver in self._givers(name):
                seen = self._sample.kinds.get(giver)
                if seen and kind not in seen:
                    yield self._other_kind(entry.id, giver, kind, shown, seen)

    def _unknown(self, id: str, name: str) -> Finding:
        near = self._near.near(name)
        meant = near[0] if near else suggest(name, self._sample.names)
        return Finding(
            id,
            Check.UNKNOWN_ATTRIBUTE,
            f"none of the {self._sample.events:,} events of the sample has a value of {name!r}",
            f"is it {meant!r}?" if meant else "check its name, or take a sample that has it",
            attribute=name,
        )

    def _other_kind(
        self, id: str, name: str, kind: Kind, shown: str, seen: Counter[Kind]
    ) -> Finding:
        kinds = " or a ".join(each.value for each in seen)
        example = shortened(self._sample.example(name))
        return Finding(
            id,
            Check.OTHER_KIND,
            f"{name!r} is {shown}, and in the sample it is a {kinds}, such as {example}: a test of "
            f"a {kind.value} never holds there",
            f"write a {kinds} in its place",
            attribute=name,
        )


def _expected(subscription: Subscription) -> Iterator[tuple[str, Kind, str]]:
    """The kinds of value that attributes are expected to have, and by what; each once."""
    seen: set[tuple[str, Kind]] = set()
    for name, kind, shown in _every_expected(subscription):
        if (name, kind) not in seen:
            seen.add((name, kind))
            yield name, kind, shown


def _every_expected(subscription: Subscription) -> Iterator[tuple[str, Kind, str]]:
    for constraint in subscription.constraints():
        if is_derived(constraint.attribute):
            tree = expression_of(constraint.attribute)
            for kind in (Kind.TIMESTAMP, Kind.STRING):
                for name in sorted(inputs_of_kind(tree, kind)):
                    yield name, kind, f"taken for a {kind.value} in {constraint.attribute[1:]}"
            continue
        for part in constraint.plain():
            if part.kind is not None:
                yield part.attribute, part.kind, _shown(part)


def _shown(test: Constraint) -> str:
    if test.kind is Kind.LIST:
        return "asked for an element"
    operand = test.operand[0] if isinstance(test.operand, tuple) else test.operand
    pattern = getattr(operand, "pattern", operand)
    assert test.kind is not None
    return f"compared with the {test.kind.value} {shortened(pattern)}"
