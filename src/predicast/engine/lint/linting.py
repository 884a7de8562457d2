"""``lint``: all checks of all subscriptions of an engine.

Cost: a filter per subscription, a question to an index for each, and the events of the sample read
once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from predicast.covering.filter import Filter
from predicast.engine.choices import check_choice
from predicast.engine.entry import Entry
from predicast.engine.lint.attributes import GiversOf, SampleCheck, rare_name_findings
from predicast.engine.lint.costs import Cost, cost_of
from predicast.engine.lint.findings import Check, Finding
from predicast.engine.lint.redundancy import Filtered, redundancy_findings
from predicast.engine.lint.sample import Sample
from predicast.engine.lint.truth import truth_findings
from predicast.errors import InvalidOptionError
from predicast.model import Absent, Event
from predicast.model.event_reader import EventReader

if TYPE_CHECKING:
    from predicast.arrow import TableLike

Events = Iterable[Event | Mapping[str, Any]]

CHECKS: Final = tuple(check.value for check in Check if check is not Check.INVALID)


class Linting:
    """Subscriptions, and how they are checked."""

    def __init__(
        self, entries: Sequence[Entry], reader: EventReader, givers: GiversOf, absent: Absent
    ) -> None:
        self._entries = entries
        self._reader = reader
        self._givers = givers
        self._absent = absent

    def findings(
        self,
        events: Events | TableLike | None,
        checks: Collection[str],
        *,
        across_owners: bool,
    ) -> list[Finding]:
        """What was found, in the order of the subscriptions; the worst of one first."""
        found = [each for each in self._found(events, across_owners) if each.check in checks]
        places = {entry.id: place for place, entry in enumerate(self._entries)}
        order = list(Check)
        return sorted(found, key=lambda each: (places[each.id], order.index(each.check)))

    def _found(self, events: Events | TableLike | None, across_owners: bool) -> Iterator[Finding]:
        filtered: list[Filtered] = []
        for entry in self._entries:
            each = Filtered(entry, Filter(entry.subscription, self._absent))
            filtered.append(each)
            yield from truth_findings(*each, self._absent)
            if not each.filter.is_never():
                yield from _cost_findings(entry, self._absent)
        yield from redundancy_findings(filtered, across_owners=across_owners)
        if events is None:
            yield from rare_name_findings(self._entries)
            return
        sample = Sample(self._reader)
        sample.see(_each(events))
        if not sample.events:
            raise InvalidOptionError("the sample has no events; take another", option="events")
        check = SampleCheck(sample, self._givers)
        for entry in self._entries:
            yield from check.findings(entry)


def _cost_findings(entry: Entry, absent: Absent) -> Iterator[Finding]:
    found = cost_of(entry.subscription, absent)
    if found.cost is Cost.HIGH:
        yield Finding(entry.id, Check.COSTLY, found.why, found.advice)


def checked_checks(checks: Iterable[str] | None) -> frozenset[str]:
    """The checks that are asked for; all, unless some are."""
    if checks is None:
        return frozenset(CHECKS)
    if isinstance(checks, str):
        raise InvalidOptionError(
            f"checks is a list of names, such as [{checks!r}], not one name", option="checks"
        )
    named = frozenset(checks)
    for each in sorted(named):
        check_choice("checks", each, CHECKS)
    return named


def _each(events: Any) -> Iterable[Event | Mapping[str, Any]]:
    """The events of a sample, whatever it is."""
    if isinstance(events, Mapping):
        return [events]
    if not hasattr(events, "__arrow_c_stream__") and not hasattr(events, "__arrow_c_array__"):
        return events  # type: ignore[no-any-return]
    from predicast.arrow import as_table

    rows: list[dict[str, Any]] = as_table(events).to_pylist()
    return rows
