"""Ctrl-C that is not lost.

Python turns it into an exception wherever the program happens to be. A library that is just being
imported may be where every exception is passed over, and then nobody is interrupted. So it is
noted as well, and whoever is about to go on or to finish asks. And where an exception would leave
something behind, such as a file that has a name but no owner yet, it is held back for the moment.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

_noted: Final = threading.Event()
_held: Final = threading.Event()


def _note(signal_number: int, frame: FrameType | None) -> None:
    _noted.set()
    if not _held.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def interrupts_noted() -> Iterator[None]:
    """Note Ctrl-C while the block runs, where that can be done: in the main thread."""
    _noted.clear()
    try:
        before = signal.signal(signal.SIGINT, _note)
    except ValueError:
        yield
        return
    try:
        yield
        stop_if_interrupted()
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Let a short block run to its end before a Ctrl-C that is noted counts."""
    _held.set()
    try:
        yield
    finally:
        _held.clear()
    stop_if_interrupted()


def stop_if_interrupted() -> None:
    """Be interrupted now, if that was asked for."""
    if _noted.is_set():
        raise KeyboardInterrupt
