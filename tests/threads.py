"""The same work in several threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable


def run_at_once(work: Callable[[str], None], names: Iterable[str]) -> None:
    """Do it once per name, each in a thread of its own; return when all are done."""
    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
