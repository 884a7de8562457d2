"""One event's way from publish to acknowledgement, as steps that can be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from predicast.console.times import shown_time
from predicast.protocol.records import DeadLetter, StoredEvent

# The states of a delivery in the order in which they follow each other, with their words.
STATES: Final = {
    "waiting": "waiting for a consumer",
    "delivered": "delivered, and not acknowledged yet",
    "acknowledged": "acknowledged",
    "dead": "given up: it is among the dead letters",
    "dropped": "dropped: the queue was full",
}
_HANDED: Final = ("delivered", "acknowledged", "dead")  # to a consumer, at least once


class Step(NamedTuple):
    """Something that happened, or has yet to; ``is_done`` says which."""

    title: str
    text: str
    is_done: bool
    is_failure: bool = False


def timeline(
    event: StoredEvent, recipients: Mapping[str, str], dead: Iterable[DeadLetter] = ()
) -> list[Step]:
    """The steps of an event that was taken."""
    counts = Counter(recipients.values())
    steps = [
        Step("Published", f"by {event.publisher} at {shown_time(event.at)}", True),
        Step("Kept", f"at position {event.position}, {len(event.body):,} bytes", True),
        _matched(len(recipients)),
    ]
    if not recipients:
        return steps
    total = len(recipients)
    handed = sum(counts[state] for state in _HANDED)
    waiting, unsettled = counts["waiting"], counts["waiting"] + counts["delivered"]
    steps.append(Step("Delivered", f"{handed:,} of {total:,}", not waiting))
    acknowledged = counts["acknowledged"]
    steps.append(Step("Acknowledged", f"{acknowledged:,} of {total:,}", not unsettled))
    steps += [
        Step(
            "Given up",
            f"{each.subscription} after {each.attempts} attempts, "
            f"at {shown_time(each.at)}: {each.reason}",
            True,
            True,
        )
        for each in dead
    ]
    if counts["dropped"]:
        steps.append(Step("Dropped", f"{counts['dropped']:,}: their queues were full", True, True))
    return steps


def _matched(count: int) -> Step:
    if not count:
        return Step("Matched", "no durable subscription wanted it", True)
    return Step("Matched", f"{count:,} durable subscriptions", True)
