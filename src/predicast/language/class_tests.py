"""What ``IS A`` is about: the classes of an ontology, which whoever reads a text may lend it.

As the zone of timestamps is (``time_zones.py``), it is a matter of the text's surroundings, and
kept in a context variable that a block sets. A text with ``IS A`` is read anew each time: its shape
does not say what the classes are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from predicast.model.vocabulary import Vocabulary

_WORDS: Final = re.compile(r"\bIS\b.*\bA\b", re.IGNORECASE | re.DOTALL)
_vocabulary: Final[ContextVar[Vocabulary | None]] = ContextVar("vocabulary", default=None)


def implied_vocabulary() -> Vocabulary | None:
    """The classes that a text may name, if there are any."""
    return _vocabulary.get()


@contextmanager
def reading_with(vocabulary: Vocabulary | None) -> Iterator[None]:
    """Read texts that may name these classes."""
    before = _vocabulary.set(vocabulary)
    try:
        yield
    finally:
        _vocabulary.reset(before)


def may_test_classes(text: str) -> bool:
    """Whether a text seems to have ``IS A``; never wrong if it says no."""
    return _WORDS.search(text) is not None
