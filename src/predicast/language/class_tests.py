"""What ``IS A`` is about: the classes of an ontology, which whoever reads a text may lend it.

As the zone of timestamps is (``time_zones.py``), it is a matter of the text's surroundings, and
kept in a context variable that a block sets. A text with ``IS A`` is read anew each time: its shape
does not say what the classes are. A text with parameters is parsed once all the same, for all
engines: what a class is, it asks whenever it is filled.

What is built with ``attr(...).is_a(...)`` is a ``ClassTest`` until somebody reads it, and is read
as the text that says the same: only a text can be read anew when the ontology changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from predicast.errors import UnknownClassError, shortened
from predicast.model import Expression, Leaf
from predicast.model.expression import leaves_of
from predicast.model.vocabulary import Vocabulary

_WORDS: Final = re.compile(r"\bIS\b.*\bA\b", re.IGNORECASE | re.DOTALL)
NO_CLASSES: Final = "IS A is about the classes of an ontology"
WITH_ONTOLOGY: Final = "make the engine with one, Engine(ontology=...); a command takes --ontology"
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


def class_members(name: Any) -> tuple[str, ...]:
    """All names of a class and of those below it, in the vocabulary that is implied."""
    vocabulary = implied_vocabulary()
    if vocabulary is None:
        raise UnknownClassError(f"{NO_CLASSES}; {WITH_ONTOLOGY}")
    return tuple(vocabulary.class_names(checked_class(name)))


def checked_class(name: Any) -> str:
    """Refuse what cannot be the name of a class, in whatever ontology."""
    if isinstance(name, str):
        return name
    raise UnknownClassError(f"a class is named by a string, not by {shortened(name)}")


@dataclass(frozen=True, slots=True)
class ClassTest:
    """A test that names classes, in an expression that was built: the text that says it."""

    text: str


def class_test(text: str) -> Expression:
    """A test that names classes, as a part of expressions like any other."""
    test: Any = ClassTest(text)  # not a constraint before there is an ontology
    return Leaf(test)


def names_classes(expression: Expression) -> bool:
    """Whether an expression that was built names classes."""
    return any(isinstance(each, ClassTest) for each in leaves_of(expression))


def may_test_classes(text: str) -> bool:
    """Whether a text seems to have ``IS A``; never wrong if it says no."""
    return _WORDS.search(text) is not None
