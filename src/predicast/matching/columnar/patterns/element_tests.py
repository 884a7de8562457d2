"""Which of many conditions on elements hold for the lists of one attribute, without trying each.

What the elements are to match is compiled into a segment of its own, whose keys are the numbers of
the conditions, and the elements of all lists of a batch are matched as one batch, equal ones once::

    has(element = 'a')  0                         a      -> 0          [a, b]  -> 0, 1
    has(element > 'a')  1     elements [a, b, b]  b      -> 1          [b]     -> 1

A condition that is *inverted* is asked for lists none of whose elements match, and is marked where
one does, or where that is unknown. It is unknown of elements that lack an attribute which the
condition looks at, or have it of another kind. Conditions are grouped by what they look at: where
an element has all of it, the segment's answer decides; where it has nothing of it, all of the
group are unknown; the few others are tested one by one. So are conditions on lists inside lists,
of which more can be unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from predicast.arrays import Array, expand, offsets
from predicast.matching.batches.derived.columns import rows_of, with_values
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.lists import Lists, Store
from predicast.matching.batches.typed_values import Strings
from predicast.matching.columnar.compile.from_bounds import coded_subscriptions
from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.runs import joined
from predicast.model import Constraint, Elements, Kind, Subscription
from predicast.model.elements import ELEMENT
from predicast.model.event import trusted_event
from predicast.model.operators import PRESENCE

if TYPE_CHECKING:
    from predicast.matching.columnar.segment import Segment

_FEW: Final = 32  # elements that are matched sooner than a batch is made of them
_EVERY: Final = np.iinfo(np.int64).max  # more than any number of matches

_Need: TypeAlias = tuple[str, Kind]


class _Group(NamedTuple):
    """Inverted conditions that look at the same attributes, each for values of one kind."""

    needs: frozenset[_Need]
    unknown: Array  # those that are unknown of elements which have none of that
    exact: Array  # those that are not, or not for sure


class ElementTests:
    """Conditions on the elements of one attribute, each straight or inverted."""

    def __init__(self, tests: Sequence[Constraint], inverted: Sequence[bool]) -> None:
        self._tests = tests
        wanted = [(number, _wanted(test)) for number, test in enumerate(tests)]
        self._segment = _segment(wanted)
        asked = [each for each in wanted if inverted[each[0]]]
        self._always = [number for number, each in asked if not _is_decided_by_kinds(each)]
        self._groups = _groups([each for each in asked if each[0] not in self._always])

    def nbytes(self) -> int:
        """The memory of the compiled conditions."""
        return 0 if self._segment is None else self._segment.nbytes()

    def of_one(self, elements: Elements) -> Array:
        """What is marked for one list, some of it twice."""
        segment = self._segment
        if len(elements) > _FEW or self._always or self._groups or segment is None:
            store = Store(offsets([len(elements)]), EventBatch.from_elements([elements]))
            return self.hits(Lists(np.zeros(1, np.int64), None, store))[1]
        found: list[int] = []
        for attributes in elements.attributes():
            found += segment.match_one(trusted_event(attributes), 0)  # type: ignore[arg-type]
        return np.array(found, np.int32)

    def hits(self, lists: Lists) -> tuple[Array, Array]:
        """For each list what is marked, some of it twice: CSR offsets, and numbers."""
        counts, marks = self._matched(lists)
        more = [*self._undecided(lists)]
        if not more:
            return offsets(counts), marks
        which = np.concatenate([np.repeat(np.arange(len(lists)), counts), *(w for w, _ in more)])
        marks = np.concatenate([marks, *(tests for _, tests in more)])
        counts = np.bincount(which, minlength=len(lists))
        return offsets(counts), marks[np.argsort(which, kind="stable")]

    def _matched(self, lists: Lists) -> tuple[Array, Array]:
        """How many matches the elements of each list have, and these."""
        if self._segment is None:
            return np.zeros(len(lists), np.int64), np.zeros(0, np.int32)
        distinct, number = _distinct(lists.store.elements)
        keys, runs = joined(self._segment.match(distinct, 0, enough=_EVERY))
        order = np.argsort(runs[:, 0], kind="stable")
        runs = runs[order]
        of_run = runs[:, 2] - runs[:, 1]
        tests = keys[np.repeat(runs[:, 1] - offsets(of_run)[:-1], of_run) + np.arange(of_run.sum())]
        first = offsets(np.bincount(runs[:, 0], of_run, len(distinct)).astype(np.int64))
        elements = number[lists.positions()]
        sizes = offsets(np.diff(first)[elements])
        ends = offsets(lists.lengths())
        return np.diff(sizes[ends]), tests[expand(first, elements)]

    def _undecided(self, lists: Lists) -> Iterator[tuple[Array, Array]]:
        """Lists and what is marked for them since it is unknown of some element."""
        for number in self._always:
            yield self._asked(lists, number, np.arange(len(lists)))
        for needs, unknown, exact in self._groups:
            some, none = _lacking(lists, needs)
            if len(unknown):
                yield np.repeat(none, len(unknown)), np.tile(unknown, len(none))
            partly = some if not len(unknown) else np.setdiff1d(some, none)
            for number in exact.tolist():
                yield self._asked(lists, number, some)
            if len(partly):
                for number in unknown.tolist():
                    yield self._asked(lists, number, partly)

    def _asked(self, lists: Lists, number: int, which: Array) -> tuple[Array, Array]:
        """Some lists for which an inverted condition is marked, found by trying it on each."""
        some = Lists(lists.values[which], None, lists.store)
        marked = which[~some.test(self._tests[number].negated())]
        return marked, np.full(len(marked), number, np.int32)


def _wanted(test: Constraint) -> Subscription:
    assert isinstance(test.operand, Subscription)
    return test.operand


def _segment(wanted: Sequence[tuple[int, Subscription]]) -> Segment | None:
    from predicast.matching.columnar.segment import Segment  # which has tests such as these

    tables = coded_subscriptions(wanted, "fails")
    return Segment.of(merged(tables), "fails", Layout()) if tables else None


def _is_decided_by_kinds(subscription: Subscription) -> bool:
    """Whether it is known of whatever has values of the right kinds."""
    return all(
        each.operator in PRESENCE or each.kind not in {None, Kind.LIST}
        for each in subscription.constraints()
    )


def _groups(wanted: Sequence[tuple[int, Subscription]]) -> list[_Group]:
    by_needs: dict[frozenset[_Need], tuple[list[int], list[int]]] = {}
    for number, subscription in wanted:
        constraints = [*subscription.constraints()]
        needs = frozenset((c.attribute, c.kind) for c in constraints if c.kind is not None)
        is_unknown = (
            all(c.kind is not None for c in constraints)
            and len(subscription.clauses) > 0
            and all(map(len, subscription.clauses))
        )
        by_needs.setdefault(needs, ([], []))[0 if is_unknown else 1].append(number)
    return [
        _Group(needs, np.array(unknown, np.int32), np.array(exact, np.int32))
        for needs, (unknown, exact) in by_needs.items()
    ]


def _lacking(lists: Lists, needs: frozenset[_Need]) -> tuple[Array, Array]:
    """Lists with an element that lacks something of what is needed, and such that lacks all."""
    elements = lists.store.elements
    has = np.zeros(len(elements), np.int64)
    for attribute, kind in needs:
        for part in elements.parts(attribute):
            if part.kind is kind:
                has[rows_of(part)] += 1
    return lists.having(has < len(needs)), lists.having(has == 0)


def _distinct(elements: EventBatch) -> tuple[EventBatch, Array]:
    """Elements that are single values of one type, each once; and which of them each one is.

    Others as they are. The last of the distinct ones has no value, as null has none.
    """
    names = [*elements.attributes()]
    parts = elements.parts(ELEMENT) if names == [ELEMENT] else ()
    if len(parts) != 1 or isinstance(parts[0], Lists):
        return elements, np.arange(len(elements))
    [part] = parts
    if isinstance(part, Strings):
        part = part.numbered()
    codes: Array = part.values
    if isinstance(part, Strings):
        values: Array = np.arange(len(part.words), dtype=np.int32)
    else:
        values, codes = np.unique(part.values, return_inverse=True)
    once = with_values(part, values, np.arange(len(values)))
    number = np.full(len(elements), len(values))
    number[rows_of(part)] = codes
    return EventBatch(len(values) + 1, {ELEMENT: [once]}), number
