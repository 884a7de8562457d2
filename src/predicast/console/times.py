"""Moments for people."""

from __future__ import annotations

from datetime import UTC, datetime


def shown_time(seconds: float) -> str:
    """A moment, in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{moment.microsecond // 1000:03} UTC"


def shown_clock(seconds: float) -> str:
    """The time of day alone, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%H:%M:%S")
