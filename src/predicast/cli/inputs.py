"""The two files that a command takes: subscriptions, then events, by place or by option."""

from __future__ import annotations

from typing import NamedTuple

import typer


class Inputs(NamedTuple):
    """The files that were named."""

    subscriptions: str
    events: list[str]

    @classmethod
    def of(
        cls,
        first: str | None,
        others: list[str] | None,
        subscriptions: str | None,
        events: list[str] | None,
    ) -> Inputs:
        """Without the option ``--subscriptions``, the first of the arguments has them."""
        names = [*([] if first is None else [first]), *(others or ())]
        if subscriptions is None:
            if not names:
                raise _missing("SUBSCRIPTIONS", "the files of subscriptions and of events")
            subscriptions = names.pop(0)
        names += events or ()
        if not names:
            raise _missing("EVENTS", "a file of events after that of the subscriptions")
        return cls(subscriptions, names)


def _missing(argument: str, what: str) -> typer.BadParameter:
    return typer.BadParameter(f"missing; name {what}", param_hint=f"'{argument}'")
