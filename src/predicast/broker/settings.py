"""What a subscription can be served by: the one check of settings, whichever way they come in."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, get_args

from msgspec import Meta

from predicast.broker.sinks import check_headers, check_sink
from predicast.errors import ProtocolError
from predicast.protocol.records import (
    DEFAULT_SETTINGS,
    AckWait,
    MaxAttempts,
    MaxPending,
    Settings,
)


def _bounds(kind: Any) -> tuple[float, float]:
    meta = get_args(kind)[1]
    assert isinstance(meta, Meta)
    assert meta.ge is not None
    assert meta.le is not None
    return meta.ge, meta.le


_BOUNDS: Final = (
    ("max_pending", *_bounds(MaxPending)),
    ("ack_wait", *_bounds(AckWait)),
    ("max_attempts", *_bounds(MaxAttempts)),
)


def check_settings(settings: Settings, own_sinks: Collection[str] = ()) -> None:
    """Refuse what no subscription can be served by; sinks of the backend's own are not webhooks."""
    if settings is DEFAULT_SETTINGS:
        return
    for name, least, most in _BOUNDS:
        value = getattr(settings, name)
        if not least <= value <= most:
            raise ProtocolError(
                f"{name} is from {least:g} to {most:,}, not {value:g}", field=f"settings.{name}"
            )
    sink = settings.sink
    if sink is not None and sink.url not in own_sinks:
        check_sink(sink.url)
        check_headers(sink.headers)
