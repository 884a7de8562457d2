"""Subscriptions that no event can match, those that every event matches, and parts like that."""

from __future__ import annotations

from collections.abc import Iterator

from predicast.covering.covers import is_unsatisfiable
from predicast.covering.filter import Filter
from predicast.engine.entry import Entry
from predicast.engine.lint.findings import Check, Finding
from predicast.language.where.printer import to_where
from predicast.model import Absent, Clause
from predicast.model.domain import domain_of

_LONGEST_SHOWN = 120


def matches_everything(filter: Filter) -> bool:
    """Whether it is known that every event matches."""
    return any(not clause for clause in filter.clauses)


def truth_findings(entry: Entry, filter: Filter, absent: Absent) -> Iterator[Finding]:
    """What is wrong with a subscription whatever the events are."""
    clauses = entry.subscription.clauses
    if filter.is_never():
        yield Finding(
            entry.id, Check.NEVER_TRUE, _never(clauses, absent), "mend it, or remove it: it is dead"
        )
        return
    if matches_everything(filter):
        yield Finding(
            entry.id,
            Check.ALWAYS_TRUE,
            "every event matches",
            "say what is wanted; if it is everything, nothing need be said here",
        )
        return
    for clause in clauses:
        if is_unsatisfiable(clause, absent):
            yield Finding(
                entry.id,
                Check.DEAD_PART,
                f"one of its alternatives can never hold: {_contradiction(clause, absent)}",
                "mend that alternative, or leave it out",
            )


def _never(clauses: tuple[Clause, ...], absent: Absent) -> str:
    if not clauses:
        return "no event can match: what it says comes to FALSE"
    why = _contradiction(clauses[0], absent)
    if len(clauses) == 1:
        return f"no event can match: {why}"
    return f"no event can match, by none of its {len(clauses)} alternatives; of the first, {why}"


def _contradiction(clause: Clause, absent: Absent) -> str:
    """The conditions on one attribute that leave it nothing."""
    for attribute, group in clause.by_attribute().items():
        if domain_of(group, absent).is_empty():
            shown = shortened_text(to_where(Clause(group)))
            return f"{shown} leaves no value of {attribute}"
    raise AssertionError("an unsatisfiable clause has a contradiction")


def shortened_text(text: str) -> str:
    """A text for a message."""
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
