"""All compiled loops: loaded where they are kept already, or compiled now."""

from __future__ import annotations

from typing import Any, Final

from predicast.matching.columnar.kernels import coding, matching, patterns, recent, words
from predicast.matching.columnar.kernels.compiling import COLUMNAR
from predicast.matching.columnar.layout.question import Question
from predicast.matching.columnar.loops import Loops

_EVERY: Final = 2**63 - 1
_match_event: Final[Any] = matching.match_event


def match_event(question: Question, epoch: int) -> tuple[int, int]:
    """As the loop of that name does, by where the arrays lie."""
    return _match_event(question.table, epoch)  # type: ignore[no-any-return]


COMPILED: Final = Loops(
    matching.gather,
    coding.code_columns,
    matching.mark_deleted,
    matching.keep_live,
    recent.match_bounds,
    matching.match_events,
    match_event,
    matching.match_doubtful,
    coding.code_by_search,
    coding.code_by_table,
    words.code_words,
    words.code_whole_words,
    words.number_words,
    words.code_texts,
    patterns.find_tests,
    most_events=_EVERY,
    are_all_compiled=True,
)
KERNELS: Final = COLUMNAR
KERNELS.put_in_order(Loops._fields)
