"""``Connection``: one connection to NATS, and what JetStream is asked over it.

A server that is away is asked again until patience ends: whatever is written has an id by which
JetStream drops repeats, so that asking twice is asking once. What fails then is a ``BackendError``.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from predicast.broker.nats.names import Bucket
from predicast.broker.nats.options import NatsOptions
from predicast.errors import BackendError, InvalidOptionError, LimitReachedError

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

MESSAGE_ID: Final = "Nats-Msg-Id"
EXPECTED: Final = "Nats-Expected-Last-Subject-Sequence"

_WRONG_SEQUENCE: Final = 10071
_NO_MESSAGE: Final = 10037
_NO_STREAM: Final = 10059
_ROOM: Final = {10023, 10047, 10077, 10122}  # of storage, memory or the account
_ANSWER_S: Final = 4.0  # then the question is asked again
_PAUSE_S: Final = 0.1
_RECONNECT_S: Final = 0.2
_BUFFER: Final = 64 << 20  # bytes that wait while there is no connection
_HEADER_BYTES: Final = 64 << 10  # room for what the protocol adds to a message


class Message(NamedTuple):
    """What is to be written to a stream."""

    subject: str
    data: bytes
    headers: Mapping[str, str]


class StreamMessage(NamedTuple):
    """What stands in a stream."""

    sequence: int
    subject: str
    headers: Mapping[str, str]
    data: bytes


class Written(NamedTuple):
    """Where a message stands now; a repeat had been there before."""

    sequence: int
    is_repeat: bool


class ConflictError(Exception):
    """Somebody else has written there in the meantime."""


class _ApiError(msgspec.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _Answer(msgspec.Struct):
    seq: int = 0
    duplicate: bool = False
    error: _ApiError | None = None


_answer: Final = msgspec.json.Decoder(_Answer)


def servers_of(url: str) -> list[str]:
    """The servers of ``nats://one:4222,two:4222``."""
    parts = urlsplit(url.split(",", 1)[0])
    if parts.scheme not in {"nats", "tls"} or not parts.netloc:
        raise InvalidOptionError(
            "a backend on NATS is named nats://host:4222 or tls://host:4222, with commas between "
            "the servers of a cluster",
            option="backend",
        )
    others = [each for each in url.split(",")[1:] if each]
    return [url.split(",", 1)[0]] + [
        each if "://" in each else f"{parts.scheme}://{each}" for each in others
    ]


class Connection:
    """One process's connection."""

    def __init__(self, url: str, options: NatsOptions, name: str) -> None:
        self.options = options
        self._servers = servers_of(url)
        self._name = name
        self._client: Client | None = None
        self._numbers = itertools.count()
        self._inbox = ""
        self._answers: dict[int, asyncio.Future[Written]] = {}

    @property
    def client(self) -> Client:
        """The connection of nats-py."""
        if self._client is None:
            raise BackendError("there is no connection to NATS; start the backend first")
        if self._client.is_closed:
            raise BackendError("the connection to NATS was closed")
        return self._client

    @property
    def largest(self) -> int:
        """Bytes that a message may have, headers included."""
        return self.client.max_payload - _HEADER_BYTES // 16

    async def open(self) -> None:
        """Connect, and begin to hear answers."""
        try:
            from nats.aio.client import Client
        except ModuleNotFoundError:
            raise BackendError(
                "NATS needs nats-py, from the extra 'nats'; predicast doctor says how"
            ) from None
        client = Client()

        async def passed_over(_: Exception) -> None:
            """What goes wrong shows where it is waited for."""

        try:
            async with asyncio.timeout(self.options.patience_s):
                await client.connect(
                    self._servers,
                    name=self._name,
                    error_cb=passed_over,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=_RECONNECT_S,  # type: ignore[arg-type]
                    connect_timeout=2,
                    ping_interval=5,
                    pending_size=_BUFFER,
                    # Names are made of tokens that are known to be good.
                    skip_subject_validation=True,
                )
        except Exception as error:  # whatever nats-py, a socket or TLS has to say
            with contextlib.suppress(Exception):
                await client.close()
            where = ", ".join(_without_secrets(server) for server in self._servers)
            raise BackendError(
                f"NATS cannot be reached at {where}: {_said(error)}; is nats-server running there?"
            ) from error
        self._client = client
        self._inbox = client.new_inbox()
        await client.subscribe(f"{self._inbox}.*", cb=self._answered)

    async def close(self) -> None:
        """Say what is left to say, and go."""
        client, self._client = self._client, None
        if client is None:
            return
        with contextlib.suppress(Exception):
            async with asyncio.timeout(1.0):
                await client.flush()
        await client.close()
        for each in self._answers.values():
            each.cancel()
        self._answers.clear()

    # Writing.

    async def write(self, messages: Sequence[Message]) -> list[Written]:
        """Write messages to their streams, in this order; each has an id to drop repeats by.

        Raises ``ConflictError`` if one of them expects what does not hold: the others are written.
        """
        written = []
        for outcome in await self.write_each(messages):
            if isinstance(outcome, ConflictError):
                raise outcome
            written.append(outcome)
        return written

    async def write_each(self, messages: Sequence[Message]) -> list[Written | ConflictError]:
        """The same, with what became of each."""
        self.check_sizes(messages)
        outcomes: list[Written | ConflictError | None] = [None] * len(messages)
        left = list(range(len(messages)))
        give_up = asyncio.get_running_loop().time() + self.options.patience_s
        while left:
            answers = await self._write_once([messages[place] for place in left])
            again = []
            for place, answer in zip(left, answers, strict=True):
                if isinstance(answer, Written | ConflictError):
                    outcomes[place] = answer
                else:
                    again.append(place)
            left = again
            if left:
                if asyncio.get_running_loop().time() > give_up:
                    raise BackendError(
                        "NATS has not confirmed what was written; it may come true later: "
                        "write it again under the same id"
                    )
                await asyncio.sleep(_PAUSE_S)
        return [each for each in outcomes if each is not None]

    def check_sizes(self, messages: Sequence[Message]) -> None:
        """Raise a ``LimitReachedError`` if one is larger than the server takes."""
        most = self.largest
        for message in messages:
            size = len(message.data) + sum(map(len, message.headers.values()))
            if size > most:
                raise LimitReachedError(
                    f"NATS takes messages of up to {most} bytes (max_payload), and this one has "
                    f"{size}, with the ids of what it matches",
                    what="message",
                    limit=most,
                    actual=size,
                )

    async def _write_once(
        self, messages: Sequence[Message]
    ) -> list[Written | ConflictError | BaseException | None]:
        """What became of each; ``None`` where that is not known."""
        client, loop = self.client, asyncio.get_running_loop()
        numbers, futures = [], []
        for message in messages:
            number = next(self._numbers)
            future: asyncio.Future[Written] = loop.create_future()
            self._answers[number] = future
            numbers.append(number)
            futures.append(future)
            with contextlib.suppress(Exception):  # no connection, no room: it has no answer
                await client.publish(
                    message.subject,
                    message.data,
                    f"{self._inbox}.{number}",
                    dict(message.headers),
                )
        try:
            await asyncio.wait(futures, timeout=_ANSWER_S)
        finally:
            for number in numbers:
                self._answers.pop(number, None)
        return [_outcome(future) for future in futures]

    async def _answered(self, message: Msg) -> None:
        future = self._answers.get(int(message.subject.rpartition(".")[2]))
        if future is None or future.done():
            return
        try:
            answer = _answer.decode(message.data)
        except msgspec.DecodeError:  # nobody answers for that stream now
            answer = _Answer(error=_ApiError(503))
        if answer.error is None:
            future.set_result(Written(answer.seq, answer.duplicate))
        else:
            future.set_exception(_refusal(answer.error))

    # Asking.

    async def ask(self, what: str, question: Any = None) -> Any:
        """Ask the API of JetStream; what it refuses is a ``BackendError``."""
        data = b"" if question is None else msgspec.json.encode(question)
        give_up = asyncio.get_running_loop().time() + self.options.patience_s
        while True:
            error: BaseException
            try:
                answer = await self.client.request(f"$JS.API.{what}", data, timeout=_ANSWER_S)
                document = msgspec.json.decode(answer.data)
                if "error" not in document:
                    return document
                said = msgspec.convert(document["error"], _ApiError)
                if said.code != 503 or said.err_code in _ROOM:
                    raise _refusal(said)
                error = _refusal(said)
            except (ConflictError, BackendError):
                raise
            except Exception as failure:  # noqa: BLE001 - a timeout, no responders, no connection
                error = failure
            if asyncio.get_running_loop().time() > give_up:
                raise BackendError(f"NATS does not answer: {_said(error)}") from error
            await asyncio.sleep(_PAUSE_S)

    async def last_sequence(self, stream: str) -> int:
        """Where the stream ends now."""
        info = await self.ask(f"STREAM.INFO.{stream}")
        return int(info["state"]["last_seq"])

    async def first_sequence(self, stream: str) -> int:
        """Where the stream begins now."""
        info = await self.ask(f"STREAM.INFO.{stream}")
        return int(info["state"]["first_seq"])

    async def sizes(self, stream: str) -> dict[str, int]:
        """How many messages the stream has, and bytes."""
        state = (await self.ask(f"STREAM.INFO.{stream}"))["state"]
        return {"messages": state["messages"], "bytes": state["bytes"]}

    async def get(self, stream: str, sequence: int) -> StreamMessage | None:
        """One message, if it is kept."""
        return await self._get(stream, {"seq": sequence})

    async def get_last(self, stream: str, subject: str) -> StreamMessage | None:
        """The last message of a subject, if there is one."""
        return await self._get(stream, {"last_by_subj": subject})

    async def get_next(self, stream: str, after: int, subject: str) -> StreamMessage | None:
        """The first message of some subjects behind a place, if there is one."""
        return await self._get(stream, {"seq": after + 1, "next_by_subj": subject})

    async def _get(self, stream: str, which: dict[str, Any]) -> StreamMessage | None:
        try:
            found = await self.ask(f"STREAM.MSG.GET.{stream}", which)
        except NothingThereError:
            return None
        message = found["message"]
        headers = _headers(base64.b64decode(message.get("hdrs", "")))
        data = base64.b64decode(message.get("data", ""))
        return StreamMessage(message["seq"], message["subject"], headers, data)

    async def delete(self, stream: str, sequence: int) -> None:
        """Remove a message; it may have gone already."""
        with contextlib.suppress(NothingThereError):
            await self.ask(f"STREAM.MSG.DELETE.{stream}", {"seq": sequence, "no_erase": True})

    async def purge(self, stream: str, subjects: str, upto: int) -> None:
        """Remove the messages of these subjects, up to a place."""
        await self.ask(f"STREAM.PURGE.{stream}", {"filter": subjects, "seq": upto + 1})

    async def streams(self, subject: str) -> list[str]:
        """The names of the streams with such subjects."""
        found: list[str] = []
        while True:
            page = await self.ask("STREAM.NAMES", {"subject": subject, "offset": len(found)})
            names = page.get("streams") or []
            found += names
            if not names or len(found) >= page["total"]:
                return found

    async def make_stream(self, name: str, subjects: Sequence[str], **settings: Any) -> None:
        """Make a stream; one that is there stays as it is."""
        config = {
            "name": name,
            "subjects": list(subjects),
            "storage": "file",
            "retention": "limits",
            "discard": "old",
            "num_replicas": self.options.replicas,
            "duplicate_window": int(120e9),
            **settings,
        }
        if await self._has_stream(name):
            return
        try:
            await self.ask(f"STREAM.CREATE.{name}", config)
        except BackendError:
            # Another process may be quicker, and JetStream has several words for that.
            if not await self._has_stream(name):
                raise

    async def make_event_stream(self, name: str, subjects: Sequence[str]) -> None:
        """Make a stream of events; one that is there keeps them for as long as was asked for."""
        await self.make_stream(name, subjects, **self.options.new_limits())
        stated = self.options.stated_limits()
        held = (await self.ask(f"STREAM.INFO.{name}"))["config"]
        if any(held[limit] != value for limit, value in stated.items()):
            config = {**held, **stated}
            config["duplicate_window"] = min(config["duplicate_window"], config["max_age"])
            await self.ask(f"STREAM.UPDATE.{name}", config)

    async def _has_stream(self, name: str) -> bool:
        try:
            await self.ask(f"STREAM.INFO.{name}")
        except NothingThereError:
            return False
        return True

    async def make_bucket(self, bucket: Bucket, **settings: Any) -> None:
        """Make a key-value bucket as NATS clients know them; one that is there stays as it is."""
        kept = {"max_msgs_per_subject": 1, "allow_rollup_hdrs": True, "discard": "new"}
        await self.make_stream(bucket.stream, [bucket.subjects], **{**kept, **settings})


class NothingThereError(BackendError):
    """No such stream, or no such message in it."""


def _refusal(error: _ApiError) -> ConflictError | BackendError | ConnectionError:
    if error.err_code == _WRONG_SEQUENCE:
        return ConflictError(error.description)
    if error.err_code in {_NO_MESSAGE, _NO_STREAM} or error.code == 404:
        return NothingThereError(f"NATS has no such thing: {error.description}")
    if error.code == 503 and error.err_code not in _ROOM:
        return ConnectionError(error.description)
    return BackendError(f"NATS refuses: {error.description or error.code}")


def _outcome(
    future: asyncio.Future[Written],
) -> Written | ConflictError | BaseException | None:
    if not future.done():
        future.cancel()
        return None
    if future.cancelled():
        raise BackendError("the connection to NATS was closed")
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, BackendError) and not isinstance(error, NothingThereError):
        raise error
    return error


def _headers(block: bytes) -> dict[str, str]:
    """The headers of a block as NATS keeps it."""
    lines = block.decode("utf-8", "replace").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if line)
    return {name: value.strip() for name, _, value in pairs}


def _said(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _without_secrets(server: str) -> str:
    parts = urlsplit(server)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
