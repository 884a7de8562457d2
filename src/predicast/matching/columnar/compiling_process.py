"""What the process does that compiles kernels for others: see ``warming_up.py``.

Several may be started at the same time, by workers that begin together. A lock lets one of them
compile; the others then find everything there. It belongs to the process that holds it and is gone
with it, however that ends.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import IO, Final

READY: Final = "ready: "  # what a line of output begins with that names a kernel
LOCK: Final = "predicast-kernels.lock"  # who compiled what, in the order in which they did
_LONGEST_S: Final = 600.0  # that a process may take, whether or not anybody waits for it
_POLL_S: Final = 0.05
_OBJECTS: Final = 100_000  # that are made until somebody looks which of them are garbage


def compile_all(directory: str, entries: str) -> None:
    """Compile whatever is not kept in the directory yet, of the entries in a module.

    The name of each that is there is written to standard output at once, a line each.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it goes to all that a terminal has started
    _end_after(_LONGEST_S)
    from predicast.matching.columnar.kernels.linking import emit_entries_only

    # A compiler makes many objects and hardly any garbage: looking for it took a fifth of the time.
    gc.freeze()
    gc.set_threshold(_OBJECTS)
    Path(directory).mkdir(parents=True, exist_ok=True)
    with (Path(directory) / LOCK).open("a") as log, _alone(log):
        kernels = import_module(entries).KERNELS
        emit_entries_only(kernels.names())
        kernels.make_ready(lambda: True, nullcontext, _tell)
        if made := kernels.compiled_here():
            log.write(f"{os.getpid()} compiled {', '.join(made)}\n")


def _tell(name: str) -> None:
    with contextlib.suppress(OSError):  # whoever wanted it is gone: others may want it later
        os.write(sys.stdout.fileno(), f"{READY}{name}\n".encode())


def _end_after(seconds: float) -> None:
    timer = threading.Timer(seconds, os._exit, [1])
    timer.daemon = True
    timer.start()


@contextlib.contextmanager
def _alone(file: IO[str]) -> Iterator[None]:
    """Hold the lock; whoever waits for it ends when the process that wanted it is gone."""
    parent = os.getppid()
    while not _is_locked(file):
        if os.getppid() != parent:
            raise SystemExit(0)
        time.sleep(_POLL_S)
    yield


def _is_locked(file: IO[str]) -> bool:
    """Take the lock, if it is free; where there are none, all compile, which is harmless."""
    try:
        import fcntl
    except ImportError:
        return _is_locked_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_locked_on_windows(file: IO[str]) -> bool:
    import msvcrt

    locking, at_once = getattr(msvcrt, "locking"), getattr(msvcrt, "LK_NBLCK")  # noqa: B009
    file.seek(0)
    try:
        locking(file.fileno(), at_once, 1)
    except OSError:
        return False
    return True
