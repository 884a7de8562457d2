"""The trace of a run: what was sent where and when, counted, and a digest that equal runs share."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

from predicast.routing import Announce, Bye, Events, Message

_KINDS = {
    "Hello": "hello",
    "Announce": "announce",
    "Events": "events",
    "Bye": "bye",
    "Acknowledge": "acknowledge",
    "KeepAlive": "keep-alive",
    "Refuse": "refuse",
}


class Trace:
    """Every message that was sent, and the events that each link carried."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()  # messages by kind
        self.carried: Counter[tuple[str, str]] = Counter()  # events by link, repetitions included
        self._digest = blake2b(digest_size=8)

    def sends(self, sender: str, receiver: str, message: Message, now: float) -> None:
        """Note a message as it is sent."""
        kind = type(message).__name__
        self.sent[_KINDS[kind]] += 1
        size = 0
        if isinstance(message, Events):
            size = len(message.events)
            self.carried[sender, receiver] += size
        elif isinstance(message, Announce):
            size = len(message.operations)
        number = message.sequence if isinstance(message, Events | Announce | Bye) else 0
        self._digest.update(f"{now!r} {sender} {receiver} {kind} {number} {size}\n".encode())

    def digest(self) -> str:
        """The same for runs in which the same was sent, at the same times."""
        return self._digest.hexdigest()
