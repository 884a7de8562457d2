"""Locks that a forked process finds free: whoever held one in the parent is not in the child.

What such a lock guards may have been half-way through a change then; its owner must be able to
finish that, as an engine does after any interrupted change.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakSet

_locks: WeakSet[Any] = WeakSet()


def new_lock() -> Any:
    """A lock that one thread may take several times."""
    lock: Any = threading.RLock()
    _locks.add(lock)
    return lock


def _free_all() -> None:
    for lock in _locks:
        lock._at_fork_reinit()  # as the standard library does with its own


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_all)
