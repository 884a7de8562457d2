"""Texts that differ in their literals alone: translated once, then filled.

Many expressions come from one form: ``type = 'com.example.sold' AND hop < 5``, with another type
and another number. Their literals are cut out; the first text of a shape is translated with
placeholders in their stead and printed as ``where`` text, which the literals of all others are
filled into. The shape cache of ``where`` does the rest (``where/cache.py``).

A literal is only cut out if any other of its kind would be translated alike: a string that is no
number, truth or instant, a pattern that none of those could match, an integer that is not 0. And
nothing may be computed from literals alone. Other expressions are translated one by one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from predicast.bounded_cache import remembered
from predicast.derived.cesql.tree import Literal, Node, nodes_of
from predicast.derived.cesql.types import is_constant
from predicast.errors import PredicastError
from predicast.language.cloudevents.cesql_reading import filter_of
from predicast.language.cloudevents.translation import condition_of, is_pattern_of_strings
from predicast.language.where.cache import outlined_where
from predicast.language.where.printer import expression_text
from predicast.model import LikePattern
from predicast.model.expression import leaves_of
from predicast.model.outline import Stated

_LITERAL: Final = re.compile(
    r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\b[0-9]+\b)""", re.ASCII | re.DOTALL
)
_PLAIN: Final = re.compile(r"""[^'"\\+\-0-9][^'"\\]*""")
_PATTERN: Final = re.compile(r"""[^'"\\]+""")
_INTEGER: Final = re.compile(r"[1-9][0-9]{0,8}")
_TRUTHS: Final = frozenset({"true", "false"})
_LONGEST: Final = 4_096  # characters; what is filled is longer, and no text may be too long
_MOST: Final = 64  # literals
_MAX_BYTES: Final = 8 << 20

# Nobody writes these: private characters are in no number, truth or instant, and few use the other.
_TEXT: Final = "\ue000{}\ue001"
_NUMBER: Final = 918_273_000
_PLACEHOLDER: Final = re.compile("\ue000([0-9]+)\ue001|918273([0-9]{3})")

_STRING, _LIKE, _WHOLE, _ZERO = "s", "p", "i", "0"  # the kinds of literals


class _Template(NamedTuple):
    """Pieces of a ``where`` text, and which literal stands behind each but the last."""

    pieces: tuple[str, ...]
    slots: tuple[int, ...]

    def filled(self, literals: Sequence[str]) -> str:
        parts = [self.pieces[0]]
        for slot, piece in zip(self.slots, self.pieces[1:], strict=True):
            parts += (literals[slot], piece)
        return "".join(parts)


def stated_by_template(text: str) -> Stated | None:
    """What a text states, ``None`` if it has to be translated by itself."""
    pieces = _LITERAL.split(text) if len(text) <= _LONGEST else []
    if not 1 < len(pieces) <= 2 * _MOST + 1:
        return None
    literals, kinds = [], []
    for before, literal in zip(pieces[::2], pieces[1::2], strict=False):
        kind = _kind(literal, before)
        if kind is None:
            return None
        kinds.append(kind)
        literals.append(literal if kind in _DIGITS else literal[1:-1])
    template = _template(tuple(pieces[::2]), "".join(kinds))
    return None if template is None else outlined_where(template.filled(literals))


_DIGITS: Final = frozenset({_WHOLE, _ZERO})


def _kind(literal: str, before: str) -> str | None:
    """What a literal may be exchanged with, ``None`` if with nothing."""
    if literal[0] not in "'\"":
        if literal == "0":
            return _ZERO
        return _WHOLE if _INTEGER.fullmatch(literal) else None
    content = literal[1:-1]
    if not content.isprintable():
        return None
    if before.rstrip()[-4:].upper() == "LIKE":
        is_plain = _PATTERN.fullmatch(content) is not None
        return _LIKE if is_plain and is_pattern_of_strings(LikePattern(content)) else None
    if _PLAIN.fullmatch(content) is None or content.lower() in _TRUTHS:
        return None
    return _STRING


@remembered(_MAX_BYTES, lambda given, _: 1_000 + 20 * sum(map(len, given[0])))
def _template(pieces: tuple[str, ...], kinds: str) -> _Template | None:
    if any(_PLACEHOLDER.search(piece) for piece in pieces):
        return None
    words = [pieces[0]]
    for number, (kind, piece) in enumerate(zip(kinds, pieces[1:], strict=True)):
        words += (_placeholder(kind, number), piece)
    try:
        node = filter_of("".join(words))
        if _computes_from_literals(node):
            return None
        condition = condition_of(node)
        # Where a literal is in the name of what is computed, each makes a shape of its own.
        if any(_PLACEHOLDER.search(each.attribute) for each in leaves_of(condition)):
            return None
        found = _PLACEHOLDER.split(expression_text(condition))
    except PredicastError:  # of the placeholders' text; that of the text itself is found by others
        return None
    slots = tuple(
        int(text if text is not None else number)
        for text, number in zip(found[1::3], found[2::3], strict=True)
    )
    if set(slots) != {number for number, kind in enumerate(kinds) if kind != _ZERO}:
        return None
    return _Template(tuple(found[::3]), slots)


def _placeholder(kind: str, number: int) -> str:
    if kind == _ZERO:
        return "0"
    return str(_NUMBER + number) if kind == _WHOLE else f"'{_TEXT.format(number)}'"


def _computes_from_literals(node: Node) -> bool:
    """Whether some part is made of literals, and is none itself: it depends on what they are."""
    return any(is_constant(each) and not isinstance(each, Literal) for each in nodes_of(node))
