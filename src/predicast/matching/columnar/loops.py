"""The loops that matching spends its time in, in two ways that mean the same.

The plain ones (``plain/``) are NumPy and there at once. The compiled ones (``kernels/``) are many
times as fast, but compiling them takes seconds and loading them half a second; nobody waits for
either (``warming_up.py``). So whoever needs a loop asks ``now`` for it, each time anew: a compiled
one takes the place of the plain one as soon as it is ready, in a single assignment. They go
together in any mixture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from predicast.arrays import Array
from predicast.matching.columnar.layout.question import Question
from predicast.matching.columnar.plain.coding import (
    code_by_search,
    code_by_table,
    code_columns,
)
from predicast.matching.columnar.plain.matching import (
    match_doubtful,
    match_event,
    match_events,
)
from predicast.matching.columnar.plain.patterns import find_tests
from predicast.matching.columnar.plain.recent import match_bounds
from predicast.matching.columnar.plain.results import gather, keep_live, mark_deleted
from predicast.matching.columnar.plain.words import (
    code_texts,
    code_whole_words,
    code_words,
    number_words,
)


class Loops(NamedTuple):
    """One way of doing all of them, named as the kernels are, in the order of being compiled.

    First what takes little, then batches of numbers, single events, and strings and patterns.
    """

    gather: Callable[..., tuple[Array, Array]]
    code_columns: Callable[..., None]
    mark_deleted: Callable[..., int]
    keep_live: Callable[..., None]
    match_bounds: Callable[..., tuple[Array, Array]]
    match_events: Callable[..., tuple[Array, Array, Array, Array]]
    match_event: Callable[[Question, int], tuple[int, int]]
    match_doubtful: Callable[..., tuple[Array, Array]]
    code_by_search: Callable[..., None]
    code_by_table: Callable[..., None]
    code_words: Callable[..., None]
    code_whole_words: Callable[..., None]
    number_words: Callable[..., Array]
    code_texts: Callable[..., None]
    find_tests: Callable[..., tuple[Array, Array, Array]]
    most_events: int  # of a batch at a time: after them a faster way may be there
    are_all_compiled: bool


PLAIN: Final = Loops(
    gather,
    code_columns,
    mark_deleted,
    keep_live,
    match_bounds,
    match_events,
    match_event,
    match_doubtful,
    code_by_search,
    code_by_table,
    code_words,
    code_whole_words,
    number_words,
    code_texts,
    find_tests,
    most_events=256,
    are_all_compiled=False,
)
now = PLAIN
