"""How much memory a process holds."""

from __future__ import annotations

import ctypes
import gc
import os
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa


def resident_bytes() -> int:
    """The process's resident memory, after everything free was given back."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError, TypeError):  # the C library may not be that of GNU
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def allocated_bytes() -> Iterator[Callable[[], int]]:
    """A function that tells what the block has allocated through Python and not freed.

    Of one thing among others in a process, where what is resident tells nothing. It is slow.
    """
    gc.collect()
    tracemalloc.start()
    taken = 0
    try:
        yield lambda: taken
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def peak_bytes() -> int:
    """The most that the process ever held.

    Not what ``getrusage`` says: that counts what the process was before it became this program.
    """
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == "VmHWM":
            return int(value.split()[0]) * 1024
    raise RuntimeError("this system does not tell how much memory a process ever held")
