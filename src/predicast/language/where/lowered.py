"""ILIKE: LIKE of what ``lower`` makes of both sides, as in Spark.

The pattern is put into lower case when it is read, and its escapes stay what they are. A backslash
has no case; a pattern with another escape, which may be a letter, is written anew with a backslash.
(Spark puts such a pattern into lower case and leaves the escape as it is.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from predicast.errors import ModelError
from predicast.language.where.shape import Literal
from predicast.model import Kind, LikePattern
from predicast.model.patterns import ANY_ONE, ANY_RUN, PatternError

_WILDCARDS: Final = {ANY_RUN: "%", ANY_ONE: "_"}


def lowered_literal(literal: Literal) -> Literal:
    """A string in lower case."""
    return replace(literal, convert=lambda text: str(literal.convert(text)).lower())


def lowered_pattern(text: str, pattern: Literal, escape: Literal) -> list[Literal]:
    """A pattern and its escape as one pattern with a backslash, in lower case.

    What is wrong with the two is left to whoever makes a constraint of them.
    """
    try:
        given, sign = (str(each.convert(text[each.start : each.end])) for each in (pattern, escape))
        parts = list(LikePattern(given, sign).parts())
    except (ModelError, PatternError):
        return [pattern, escape]
    if len(sign) > 1 or sign in {"%", "_"}:
        return [pattern, escape]
    made = "".join(_WILDCARDS.get(part) or _escaped(str(part).lower()) for part in parts)
    return [Literal(pattern.start, escape.end, lambda _: made, Kind.STRING)]


def _escaped(literal: str) -> str:
    return "".join(f"\\{character}" if character in "\\%_" else character for character in literal)
