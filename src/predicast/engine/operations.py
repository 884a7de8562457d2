"""The operations of a window, what ``Engine.apply`` takes, and the report that it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from predicast.errors import PredicastError
from predicast.model import Value

# Text, or whatever else an engine takes in its place: those of graphs take patterns.
Statement: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Add a subscription under a new id; ``parameters`` give its text's ``:names`` their values.

    With ``replace`` the id may be taken: then expression and owner become what is said here.
    ``dialect`` names the language of the text, if it is not the engine's own.
    """

    id: str
    expression: Statement
    owner: str | None = None
    parameters: Mapping[str, Value] | None = None
    replace: bool = False
    dialect: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Replace what the subscription with this id states, or some of its parameters.

    Its owner stays. Without an expression, the text stays as well and the parameters given here
    take new values.
    """

    id: str
    expression: Statement | None = None
    parameters: Mapping[str, Value] | None = None
    dialect: str | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Remove the subscription with this id."""

    id: str


Operation: TypeAlias = Subscribe | Change | Unsubscribe


class Refusal(NamedTuple):
    """An operation of a window that was refused, and why."""

    position: int
    operation: Operation
    error: PredicastError


class Report(NamedTuple):
    """What became of the operations of a window; all but the first add up to it."""

    given: int
    collapsed: int  # cancelled by another operation on the same subscription, or without effect
    shared: int  # settled between subscribers, the structure untouched
    in_place: int  # changed what was there
    restructured: int  # added or removed
    refused: tuple[Refusal, ...] = ()
