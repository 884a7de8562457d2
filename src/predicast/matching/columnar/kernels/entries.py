"""All compiled loops: loaded where they are kept already, or compiled now."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Final

from numba.core import event

from predicast.matching.columnar.kernels import coding, matching, patterns, recent, words
from predicast.matching.columnar.kernels.compiling import ENTRIES
from predicast.matching.columnar.loops import Loops

_EVERY: Final = 2**63 - 1

COMPILED: Final = Loops(
    matching.match_events,
    matching.match_event,
    matching.match_doubtful,
    matching.gather,
    matching.mark_deleted,
    matching.keep_live,
    recent.match_bounds,
    coding.code_by_search,
    coding.code_by_table,
    coding.code_event,
    coding.code_columns,
    words.code_words,
    words.code_whole_words,
    words.code_event_texts,
    words.number_words,
    words.code_texts,
    patterns.find_tests,
    patterns.find_event_tests,
    most_events=_EVERY,
)


class NotWantedError(Exception):
    """Something would have to be compiled, and must not be."""


class _Guard(event.Listener):
    """Ends a compilation of this thread, at its next step, when it is not wanted."""

    def __init__(self, is_wanted: Callable[[], bool]) -> None:
        self._is_wanted = is_wanted
        self._thread = threading.get_ident()

    def on_start(self, event: Any) -> None:
        if threading.get_ident() == self._thread and not self._is_wanted():
            raise NotWantedError

    def on_end(self, event: Any) -> None:
        """Nothing: what has ended was wanted."""


def make_ready(
    is_wanted: Callable[[], bool], turn: Callable[[], AbstractContextManager[Any]]
) -> None:
    """See to it that each entry can be called; what is not kept is compiled if that is wanted.

    Each is loaded or compiled inside a ``turn``: between two of them others may have theirs.
    """
    guard = _Guard(is_wanted)
    for dispatcher, signatures in ENTRIES:
        for signature in signatures:
            with turn(), ExitStack() as guarded:
                for kind in ("numba:compile", "numba:run_pass"):
                    guarded.enter_context(event.install_listener(kind, guard))
                dispatcher.compile(signature)
    for dispatcher, _ in ENTRIES:
        dispatcher.disable_compile()


def compiled_here() -> list[str]:
    """The entries that this process did not find anywhere."""
    return [each.dispatcher.__name__ for each in ENTRIES if each.dispatcher.stats.cache_misses]


def cache_directory() -> Path | None:
    """Where compiled kernels are kept, if anywhere."""
    path = ENTRIES[0].dispatcher.stats.cache_path
    return None if path is None else Path(path)
