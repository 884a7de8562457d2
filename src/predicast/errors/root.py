"""The root of the tree, and what messages have in common."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from functools import partial
from typing import Any, Final

_PUBLIC: Final = "predicast.errors"
_COMPARED: Final = 10_000  # characters in which a similar word is looked for: some milliseconds


class PredicastError(Exception):
    """The root: catch this to catch everything that Predicast refuses."""

    __module__ = _PUBLIC
    message: str

    def __init_subclass__(cls) -> None:
        """Have it called by where it is imported from, in tracebacks and pickles."""
        super().__init_subclass__()
        if cls.__module__.startswith(f"{_PUBLIC}."):
            cls.__module__ = _PUBLIC

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        for name in self._field_names():
            setattr(self, name, fields.pop(name, None))
        assert not fields, f"{type(self).__name__} has no field {sorted(fields)}"

    @classmethod
    def _field_names(cls) -> list[str]:
        bases = [base for base in cls.__mro__ if issubclass(base, PredicastError)]
        names = [name for base in bases for name in inspect.get_annotations(base)]
        return [name for name in names if name != "message"]

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions travel between processes (Spark workers); fields must come along.
        fields = {name: getattr(self, name) for name in self._field_names()}
        return partial(type(self), **fields), (self.message,)


def suggest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a reader most likely meant, or ``None``; also if there are too many."""
    by_folded: dict[str, str] = {}
    left = _COMPARED - len(word)
    for name in known:
        left -= len(name)
        if left < 0:
            return None
        by_folded[name.casefold()] = name
    close = difflib.get_close_matches(word.casefold(), by_folded, n=1)
    return by_folded[close[0]] if close else None


def shortened(value: object) -> str:
    """How a message shows a value of any length."""
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


class InvalidOptionError(PredicastError, ValueError):
    """An option whose value is not one of those it takes, or does not go with another option."""

    option: str | None
