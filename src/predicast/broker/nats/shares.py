"""``Shares``: subscriptions in shares, of which each process holds one, for more than one can hold.

An event is then matched by one process of every share: the one that took it asks the others over
NATS, and says how far their registry must be. Nothing is kept before all have answered. An id's
share follows from the id; what a window comes to is worked out by everybody, as without shares.
"""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from predicast.broker.nats.connection import Connection
from predicast.broker.nats.names import TenantNames
from predicast.broker.subscriptions import Matched
from predicast.errors import BackendError, PredicastError
from predicast.protocol.bodies import attributes_if_readable
from predicast.protocol.records import BodyForm, NewEvent

if TYPE_CHECKING:
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

_ANSWER_S: Final = 5.0
_PAUSE_S: Final = 0.2
_PART: Final = 4  # parts of the largest message that a question fills


class Question(msgspec.Struct, frozen=True, array_like=True):
    """Who matches these events, when windows up to ``as_of`` have been applied?"""

    as_of: int
    events: list[tuple[BodyForm, bytes]]


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """Durable and ephemeral ids of each event, or why there are none."""

    found: list[tuple[list[str], list[str]]] = []
    refusal: str = ""


_question: Final = msgspec.msgpack.Decoder(Question)
_answer: Final = msgspec.msgpack.Decoder(Answer)


def share_of(id: str, shares: int) -> int:
    """The share that holds a subscription."""
    return zlib.crc32(id.encode("utf-8", "surrogatepass")) % shares


class Shares:
    """One tenant's, in one process."""

    def __init__(
        self,
        connection: Connection,
        names: TenantNames,
        match: Callable[[Sequence[NewEvent]], Awaitable[list[Matched]]],
        reached: Callable[[int], Awaitable[None]],
    ) -> None:
        self._connection = connection
        self._subject = names.match_subject
        self._match = match
        self._reached = reached
        self._subscription: Subscription | None = None
        self._answering: set[asyncio.Task[None]] = set()

    def holds(self, id: str) -> bool:
        """Whether this process has the subscription in its engines."""
        options = self._connection.options
        return options.shares == 1 or share_of(id, options.shares) == options.share

    # Answering.

    async def open(self) -> None:
        """Answer for this process's share; those that hold the same one take turns."""
        options = self._connection.options
        if options.shares > 1:
            subject = f"{self._subject}.{options.share}"
            self._subscription = await self._connection.client.subscribe(
                subject, queue=subject, cb=self._asked
            )

    async def close(self) -> None:
        """Answer no more."""
        if self._subscription is not None:
            with contextlib.suppress(Exception):
                await self._subscription.unsubscribe()
        if self._answering:
            await asyncio.wait(self._answering)

    async def _asked(self, message: Msg) -> None:
        task = asyncio.create_task(self._reply(message))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _reply(self, message: Msg) -> None:
        with contextlib.suppress(Exception):  # whoever asked asks again
            await message.respond(msgspec.msgpack.encode(await self.answer(message.data)))

    async def answer(self, data: bytes) -> Answer:
        """What this process's share makes of a question."""
        try:
            question = _question.decode(data)
            await self._reached(question.as_of)
            found = await self._matched(question)
            return Answer([(each.durable, each.ephemeral) for each in found])
        except (msgspec.MsgspecError, PredicastError) as error:
            return Answer(refusal=str(error))

    async def _matched(self, question: Question) -> list[Matched]:
        found = [Matched([], []) for _ in question.events]
        places, events = [], []
        for place, (form, body) in enumerate(question.events):
            attributes = attributes_if_readable(form, body)
            if attributes is not None:
                places.append(place)
                events.append(NewEvent(b"", attributes, "", ""))
        for place, matched in zip(places, await self._match(events), strict=True):
            found[place] = matched
        return found

    # Asking.

    async def match(self, events: Sequence[NewEvent], as_of: int) -> list[Matched]:
        """Who gets each of the events, whichever share holds it."""
        options = self._connection.options
        mine = await self._match(events)
        if options.shares == 1:
            return mine
        others = await asyncio.gather(
            *(
                self._ask_all(share, events, as_of)
                for share in range(options.shares)
                if share != options.share
            )
        )
        return [
            Matched(
                sorted(id for matched in each for id in matched[0]),
                sorted(id for matched in each for id in matched[1]),
            )
            for each in zip(mine, *others, strict=True)
        ]

    async def _ask_all(self, share: int, events: Sequence[NewEvent], as_of: int) -> list[Any]:
        most = self._connection.largest // _PART
        found: list[Any] = []
        part: list[tuple[BodyForm, bytes]] = []
        size = 0
        for event in events:
            if part and size + len(event.body) > most:
                found += await self._ask(share, Question(as_of, part))
                part, size = [], 0
            part.append((event.form, event.body))
            size += len(event.body)
        return found + await self._ask(share, Question(as_of, part))

    async def _ask(self, share: int, question: Question) -> list[tuple[list[str], list[str]]]:
        data = msgspec.msgpack.encode(question)
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self._connection.options.patience_s
        why = "nobody holds it"
        while loop.time() < give_up:
            with contextlib.suppress(Exception):  # no responders, no answer in time
                reply = await self._connection.client.request(
                    f"{self._subject}.{share}", data, timeout=_ANSWER_S
                )
                answer = _answer.decode(reply.data)
                if len(answer.found) == len(question.events):
                    return answer.found
                why = answer.refusal or why
            await asyncio.sleep(_PAUSE_S)
        raise BackendError(
            f"share {share} of the subscriptions does not answer ({why}); is a process with "
            f"share={share} running?"
        )
