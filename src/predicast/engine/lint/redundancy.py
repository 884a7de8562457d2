"""Subscriptions that say what another says, or less: duplicates, and those that are covered.

Two subscribers may well want the same. So only those of one owner are compared, unless all are to
be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from predicast.covering.filter import Filter
from predicast.covering.redundancy import coverers
from predicast.engine.entry import Entry
from predicast.engine.lint.findings import Check, Finding
from predicast.engine.lint.truth import matches_everything


class Filtered(NamedTuple):
    """A subscription, and what it asks for."""

    entry: Entry
    filter: Filter


def redundancy_findings(given: Iterable[Filtered], *, across_owners: bool) -> Iterator[Finding]:
    """Which of them could go, and because of which others.

    Those that match nothing or everything have findings of their own: nearly all would be covered
    by the latter.
    """
    by_owner: defaultdict[str | None, list[Filtered]] = defaultdict(list)
    for each in given:
        if not each.filter.is_never() and not matches_everything(each.filter):
            by_owner[None if across_owners else each.entry.owner].append(each)
    for owned in by_owner.values():
        if len(owned) > 1:
            yield from _among(owned)


def _among(owned: Sequence[Filtered]) -> Iterator[Finding]:
    first: dict[Filter, str] = {}
    for entry, filter in owned:
        before = first.setdefault(filter, entry.id)
        if before != entry.id:
            yield Finding(
                entry.id,
                Check.DUPLICATE,
                f"matches exactly the events that {before!r} matches",
                "keep one of the two",
                other=before,
            )
    ids = list(first.values())
    for id, place in zip(ids, coverers(list(first)), strict=True):
        if place is not None:
            yield Finding(
                id,
                Check.COVERED,
                f"whatever it matches, {ids[place]!r} matches as well",
                "narrow the other, or leave this one out",
                other=ids[place],
            )
