"""What the source and the sink ask of a running broker, over HTTP, from whichever process.

Events come as JSON whose bodies are not looked at. A refusal is the error that the broker raised.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from urllib.parse import quote

import msgspec

from predicast.errors import NotConnectedError

if TYPE_CHECKING:
    import httpx

_log: Final = logging.getLogger(__name__)
_PAGE: Final = 1_000  # events of one request
_PULLED: Final = 10_000  # deliveries of one request, as the API has it
_TIMEOUT_S: Final = 60.0
_TURTLE: Final = "text/turtle"
ARROW: Final = "application/vnd.apache.arrow.stream"


class BrokerAt(NamedTuple):
    """Where a broker is, and the token that it asks for; it travels to workers."""

    url: str
    token: str | None = None

    def __repr__(self) -> str:
        """Without what must not be seen in a log."""
        return f"BrokerAt({self.url!r})"


class KeptRow(msgspec.Struct):
    """An event as the broker tells it."""

    position: int
    at: float
    id: str
    publisher: str
    form: str
    body: msgspec.Raw

    def row(self) -> tuple[Any, ...]:
        """The columns of the source."""
        from datetime import UTC, datetime

        body = bytes(self.body).decode()
        if self.form == _TURTLE:
            body = msgspec.json.decode(self.body, type=str)
        at = datetime.fromtimestamp(self.at, UTC)
        return self.position, at, self.id, self.publisher, self.form, body


class _Kept(msgspec.Struct):
    events: list[KeptRow]
    next: int | None = None


class _Pulled(msgspec.Struct):
    deliveries: list[KeptRow]
    dropped: int = 0


class HttpBroker:
    """One connection to a broker, for as long as ``with`` lasts."""

    def __init__(self, at: BrokerAt) -> None:
        import httpx

        headers = {} if at.token is None else {"Authorization": f"Bearer {at.token}"}
        self._at = at
        self._client = httpx.Client(
            base_url=at.url.rstrip("/"), headers=headers, timeout=_TIMEOUT_S
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def events(self, after: int, most: int = _PAGE) -> list[KeptRow]:
        """What is kept after a position, by position; one page of it."""
        asked = {"after": after, "most": min(most, _PAGE)}
        return msgspec.json.decode(self._asked("GET", "/events", params=asked), type=_Kept).events

    def last_position(self, after: int) -> int:
        """That of the last event that is kept, or the given one if there is none behind it.

        The API tells what comes after a position, and so it is searched for: some dozens of small
        requests, however many events there are.
        """
        low, step = after, 1_024
        while found := self.events(low + step, 1):
            low, step = found[0].position, 2 * step
        high = low + step  # nothing is behind it
        while low < high and (found := self.events(low, 1)):
            low = found[0].position
            middle = (low + high) // 2
            found = self.events(middle, 1)
            if found:
                low = found[0].position
            else:
                high = middle
        return low

    def pull(self, subscription: str, most: int, wait: float = 0.0) -> list[KeptRow]:
        """Deliveries that wait, and are not acknowledged by this."""
        path = f"/subscriptions/{quote(subscription, safe='')}/pull"
        data = self._asked("POST", path, json={"most": min(most, _PULLED), "wait": wait})
        pulled = msgspec.json.decode(data, type=_Pulled)
        if pulled.dropped:
            _log.warning(
                "%d deliveries of %r were dropped by the broker before they were read: its "
                "settings max_pending and when_full say so",
                pulled.dropped,
                subscription,
            )
        return pulled.deliveries

    def acknowledge(self, subscription: str, up_to: int) -> None:
        """All deliveries up to a position need not come again."""
        path = f"/subscriptions/{quote(subscription, safe='')}/acknowledge"
        self._asked("POST", path, json={"up_to": up_to})

    def release(self, subscription: str) -> None:
        """Have what was pulled and not acknowledged come again at once, in its place."""
        self._asked("POST", f"/subscriptions/{quote(subscription, safe='')}/release")

    def replay(self, subscription: str, after: int) -> None:
        """Have all deliveries after a position come again."""
        path = f"/subscriptions/{quote(subscription, safe='')}/replay"
        self._asked("POST", path, json={"after": after})

    def publish_arrow(self, data: bytes, name: str, publisher: str) -> None:
        """Publish the rows of an Arrow stream, named so that a repeat is known for one."""
        headers = {
            "Content-Type": ARROW,
            "Predicast-Event-Id": name,
            "Predicast-Publisher": publisher,
        }
        self._asked("POST", "/events", content=data, headers=headers)

    def _asked(self, method: str, path: str, **more: Any) -> bytes:
        import httpx

        try:
            answer = self._client.request(method, path, **more)
        except httpx.HTTPError as error:
            raise NotConnectedError(
                f"the broker at {self._at.url} cannot be reached: {str(error) or 'no answer'}",
                url=self._at.url,
            ) from error
        if answer.is_error:
            raise _refused(answer)
        return answer.content


def _refused(answer: httpx.Response) -> Exception:
    """The error that a broker tells of (RFC 9457)."""
    from predicast.protocol.errors import raised

    try:
        told = answer.json()
        name, message = str(told.pop("error")), str(told.pop("detail"))
    except (ValueError, KeyError, AttributeError):
        name, message, told = "BrokerError", f"the broker answers {answer.status_code}", {}
    return raised(name, message, told)
