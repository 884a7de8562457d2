"""Strings that are the same but for case, as regular expressions.

Event Ruler compares character by character: with the pattern's own in lower case, and in upper
case, which may be several, as of ``ß``. Nothing else counts as the same, so that a Kelvin sign is
no ``k``: therefore no ``lower(...)`` on both sides, and no ``(?i)``. Each letter is a choice of
two, of which an index looks for the first few, spelt in every way.
"""

from __future__ import annotations

import re
from typing import Final

_LETTER: Final = re.compile(
    r"\(\?:((?:\\.|[^\\|)])+)\|((?:\\.|[^\\|)])+)\)|\\(.)|([^\\^$()|])", re.DOTALL
)


def regex_of(literal: str, *, at_start: bool = True, at_end: bool = True) -> str:
    """The expression of strings that are, begin with or end with a literal in whatever case."""
    letters = "".join(map(_letter, literal))
    return f"{'^' if at_start else ''}{letters}{'$' if at_end else ''}"


def _letter(character: str) -> str:
    lower, upper = character.lower(), character.upper()
    if lower == upper:
        return _escaped(character)
    return f"(?:{_escaped(lower)}|{_escaped(upper)})"


def _escaped(text: str) -> str:
    return "".join(
        f"\\{each}" if each.isascii() and not each.isalnum() and each.isprintable() else each
        for each in text
    )


def literal_of(regex: str) -> tuple[str, bool, bool] | None:
    """The literal that an expression was made of, and at which ends; ``None``: of none."""
    at_start, at_end = regex.startswith("^"), regex.endswith("$") and not regex.endswith("\\$")
    inner = regex[at_start : len(regex) - at_end]
    literal = "".join(found[1] or found[3] or found[4] or "" for found in _LETTER.finditer(inner))
    literal = re.sub(r"\\(.)", r"\1", literal, flags=re.DOTALL) if "\\" in literal else literal
    if regex_of(literal, at_start=at_start, at_end=at_end) == regex:
        return literal, at_start, at_end
    return None
