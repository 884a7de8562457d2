"""``Progress``: how far a durable subscription is, as it stands in a bucket.

Which events it matched is written with the events; here is only what was done with them. So one
record per subscription is enough, however much waits for it, and one that is some seconds old costs
repeats and no loss. It stands in two places:

- **An entry of its own** says who delivers it, and is written expecting the entry before it, so
  that one process only is that.
- **The log of that process** says what it has done since, of many subscriptions in a message. What
  a message says of a subscription holds if it names the entry that holds there: a process that was
  paused, and replaced, changes nothing any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Final

import msgspec

from predicast.errors import DamagedStoreError, shortened


class Given(msgspec.Struct, frozen=True, array_like=True):
    """A delivery that was given up."""

    position: int
    attempts: int
    reason: str
    at: float


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of the events that the subscription matched, those up to ``floor`` are done but ``open``;
    those behind it are not, but for ``done``.
    """

    id: str
    born: int  # which subscription of that id
    floor: int
    owner: str = ""  # the process that delivers it, if one does
    writer: str = ""  # the process that wrote this: another one may have tried dead letters again
    claim: int = 0  # in a log: where the entry stands by which that process delivers it
    done: list[int] = []  # in steps, see ``steps_between``
    open: list[int] = []  # likewise
    dead: list[Given] = []
    attempts: dict[int, int] = {}  # so far, of what is not done; known when nobody delivers


def steps_between(positions: Iterable[int]) -> list[int]:
    """Ascending numbers as the steps from each to the next, which are short to write."""
    steps, last = [], 0
    for position in sorted(positions):
        steps.append(position - last)
        last = position
    return steps


def positions_of(steps: Iterable[int]) -> list[int]:
    """The numbers again."""
    return list(accumulate(steps))


class LogMessage(msgspec.Struct, frozen=True):
    """What a process says of many subscriptions at once."""

    process: str
    number: int  # of the messages of that process: an earlier one that comes late says nothing
    progress: list[msgspec.Raw]


_progress: Final = msgspec.json.Decoder(Progress)
_log_message: Final = msgspec.json.Decoder(LogMessage)


def progress_of(data: bytes | msgspec.Raw, key: str) -> Progress:
    """What an entry says; a ``DamagedStoreError`` if it is none."""
    try:
        return _progress.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _damaged(key, error) from error


def log_message_of(data: bytes, key: str) -> LogMessage:
    """What a message of a log says; a ``DamagedStoreError`` if it is none."""
    try:
        return _log_message.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _damaged(key, error) from error


def _damaged(key: str, error: Exception) -> DamagedStoreError:
    return DamagedStoreError(f"the progress of {shortened(key)} cannot be read: {error}", where=key)
