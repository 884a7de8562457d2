"""What windows mean: a dictionary of subscriptions, and operations that are run one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from predicast.engine.ids import check_id
from predicast.engine.operations import Change, Operation, Subscribe, Unsubscribe
from predicast.errors import DuplicateIdError, EngineError, PredicastError, UnknownIdError
from predicast.language import parametric, to_subscription
from predicast.model import Absent, Event, Subscription
from predicast.model.outline import Stated, outlined


@dataclass(frozen=True)
class Held:
    """A subscription, whose it is, and its text and values if it has parameters."""

    subscription: Subscription
    owner: str | None
    text: str | None = None
    values: tuple[tuple[str, Any], ...] = ()


class Twin:
    """Subscriptions by id, in the order of arrival."""

    def __init__(self, absent: Absent) -> None:
        self.absent = absent
        self.held: dict[str, Held] = {}

    def copy(self) -> Twin:
        """The same, to be tried out."""
        copy = Twin(self.absent)
        copy.held = dict(self.held)
        return copy

    def run(self, operation: Operation) -> None:
        """Run one operation, or refuse it."""
        id = operation.id
        if isinstance(operation, Subscribe):
            check_id("id", id)
            new = _stated(operation.expression, operation.owner, operation.parameters)
            if id in self.held:
                raise DuplicateIdError("taken", id=id)
            self.held[id] = new
            return
        if isinstance(operation, Change) and not (operation.expression or operation.parameters):
            raise EngineError("nothing to change")
        stated = None
        if isinstance(operation, Change) and operation.expression is not None:
            stated = _stated(operation.expression, None, operation.parameters)
        if id not in self.held:
            raise UnknownIdError("unknown", id=id)
        old = self.held[id]
        if isinstance(operation, Unsubscribe):
            del self.held[id]
        elif stated is not None:
            self.held[id] = Held(stated.subscription, old.owner, stated.text, stated.values)
        else:
            if old.text is None:
                raise EngineError("no parameters")
            values = {**dict(old.values), **(operation.parameters or {})}
            self.held[id] = _stated(old.text, old.owner, values)

    def run_all(self, operations: Iterable[Operation]) -> dict[int, type[PredicastError]]:
        """Run all that can be run; the positions of the others, and the errors."""
        refused = {}
        for position, operation in enumerate(operations):
            try:
                self.run(operation)
            except PredicastError as error:
                refused[position] = type(error)
        return refused

    def match(self, event: Event) -> list[str]:
        """Who hears of the event, by definition."""
        held = self.held.items()
        return sorted(id for id, each in held if each.subscription.matches(event, self.absent))

    def attributes(self) -> frozenset[str]:
        """All the names that are looked at."""
        every = [each.subscription.attributes() for each in self.held.values()]
        return frozenset().union(*every)

    def state(self) -> list[tuple[str, Stated, str | None]]:
        """What ``Engine.subscriptions`` says, taken apart: 4 and 4.0 are equal, not the same."""
        return [(id, outlined(each.subscription), each.owner) for id, each in self.held.items()]


def _stated(expression: Any, owner: str | None, parameters: Any) -> Held:
    if parameters is None:
        return Held(to_subscription(expression), owner)
    outline, operands = parametric(expression).fill(parameters)
    subscription = outline.subscription(operands)
    return Held(subscription, owner, expression, tuple(parameters.items()))
