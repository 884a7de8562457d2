"""Why a subscription matched an event, or did not: constraint by constraint."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from predicast.engine.derivation import Derivation, derived_event
from predicast.language import to_where
from predicast.model import Absent, Clause, Constraint, Event, Interval, Subscription, Value
from predicast.model.domain import domain_of
from predicast.model.values import kind_of, show


@dataclass(frozen=True, slots=True)
class ConstraintOutcome:
    """One constraint, the value it saw (``None``: absent), whether it held, and why not."""

    constraint: Constraint
    value: Value | Interval | None
    held: bool
    reason: str | None = None

    @property
    def text(self) -> str:
        """The constraint as the ``where`` dialect writes it."""
        return to_where(self.constraint)


@dataclass(frozen=True, slots=True)
class ClauseOutcome:
    """One clause: it matched if all of its constraints held."""

    constraints: tuple[ConstraintOutcome, ...]
    matched: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole subscription: it matched if one of its clauses did."""

    id: str
    clauses: tuple[ClauseOutcome, ...]
    matched: bool
    now: datetime | None = None  # what now() was, if the subscription asks for it

    def __str__(self) -> str:
        lines = [f"{self.id}: {'matched' if self.matched else 'did not match'}"]
        for number, clause in enumerate(self.clauses, 1):
            if len(self.clauses) > 1:
                lines.append(f"  clause {number}: {'matched' if clause.matched else 'failed'}")
            for outcome in clause.constraints:
                saw = "absent" if outcome.value is None else show(outcome.value)
                why = f" ({outcome.reason})" if outcome.reason else ""
                mark = "✓" if outcome.held else "✗"
                lines.append(f"  {mark} {outcome.text}    saw {saw}{why}")
        if self.now is not None:
            lines.append(f"  now() was {show(self.now)}")
        return "\n".join(lines)


def explain(
    id: str,
    subscription: Subscription,
    event: Event,
    absent: Absent,
    now: datetime | None = None,
) -> Explanation:
    """Test every constraint of every clause and say how it went."""
    asks = Derivation(subscription.attributes()).asks_for_now
    now = (now or datetime.now(UTC)) if asks else None
    event = derived_event(subscription, event, now)
    clauses = tuple(_clause(clause, event, absent) for clause in subscription.clauses)
    return Explanation(id, clauses, any(clause.matched for clause in clauses), now)


def _clause(clause: Clause, event: Event, absent: Absent) -> ClauseOutcome:
    outcomes = tuple(
        _constraint(constraint, clause, event.get(constraint.attribute), absent)
        for constraint in clause
    )
    return ClauseOutcome(outcomes, clause.matches(event, absent))


def _constraint(
    constraint: Constraint, clause: Clause, value: Value | Interval | None, absent: Absent
) -> ConstraintOutcome:
    if value is None:
        held = constraint.holds_absent(absent)
        return ConstraintOutcome(constraint, None, held)
    if isinstance(value, Interval):
        alone = domain_of((constraint,), absent).meets(value)
        together = domain_of(clause.on(constraint.attribute), absent).meets(value)
        reason = "no one point satisfies all constraints on it" if alone and not together else None
        return ConstraintOutcome(constraint, value, together, reason)
    held = constraint.holds(value)
    reason = None
    if not held and constraint.kind not in {None, kind_of(value)}:
        assert constraint.kind is not None
        reason = f"a {kind_of(value).value}, where the constraint is on a {constraint.kind.value}"
    return ConstraintOutcome(constraint, value, held, reason)
