"""``Entry``: what an engine tells of one of its subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from predicast.model import Subscription, Value

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class EntryOf(Generic[S]):
    """A standing subscription: its id, what it states and whose it is.

    ``text`` is the text that it was given as, if it was, and ``parameters`` are the values that the
    parameters in that text have now. ``dialect`` names the language of the text, if it is not the
    engine's own.
    """

    id: str
    subscription: S
    owner: str | None
    text: str | None = None
    parameters: Mapping[str, Value] | None = None
    dialect: str | None = None


@dataclass(frozen=True, slots=True)
class Entry(EntryOf[Subscription]):
    """The same of a subscription to flat events."""

    @property
    def about(self) -> Mapping[str, Any]:
        """What its text says besides its conditions, in a dialect that has room for that.

        It is read from the text when it is asked for, and so is not compared.
        """
        if self.dialect is None or self.text is None:
            return {}
        from predicast.language.dialect_registry import about_in

        return about_in(self.dialect, self.text)
