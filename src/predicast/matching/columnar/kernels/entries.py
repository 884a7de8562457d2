"""All compiled loops: loaded where they are kept already, or compiled now."""

from __future__ import annotations

from typing import Final

from predicast.matching.columnar.kernels import coding, matching, patterns, recent, words
from predicast.matching.columnar.kernels.compiling import COLUMNAR
from predicast.matching.columnar.loops import Loops

_EVERY: Final = 2**63 - 1

KERNELS: Final = COLUMNAR
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
