"""Background threads that are over before the interpreter is.

A thread that comes back from a compiled loop or a library when the interpreter has ended is made to
end there and then, in the middle of code that does not expect it: the process aborts. So whoever
starts a thread here has it waited for at the end, for as long as what it is doing takes.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final
from weakref import WeakKeyDictionary

_PATIENCE: Final = 0.1  # seconds; starting a thread for each call would cost more than most calls
_LAST_PATIENCE: Final = 10.0  # seconds that the end of the interpreter waits for one of them

Calls = SimpleQueue[None]  # an Event would stay locked if a signal's handler raised inside


class _Threads:
    """Those of this process."""

    def __init__(self) -> None:
        self.is_ending = False
        self._calls = WeakKeyDictionary[threading.Thread, Calls]()
        self._is_watched = False

    def start(self, thread: threading.Thread, calls: Calls) -> None:
        if not self._is_watched:
            self._is_watched = True
            atexit.register(self._end)
        thread.start()
        self._calls[thread] = calls

    def _end(self) -> None:
        self.is_ending = True
        for thread, calls in list(self._calls.items()):
            calls.put(None)
            thread.join(_LAST_PATIENCE)


_here: Final = _Threads()


def started(work: Callable[[], bool], calls: Calls, name: str) -> threading.Thread:
    """A thread that works when it is called, and ends when it has not been for a while.

    It ends as well when ``work`` says that there is nobody left to work for. ``RuntimeError`` if
    there are too many threads, or the interpreter is about to end.
    """

    def tend() -> None:
        while not _here.is_ending and work():
            try:
                calls.get(timeout=_PATIENCE)
            except Empty:
                return

    thread = threading.Thread(target=tend, name=name, daemon=True)
    _here.start(thread, calls)
    return thread
