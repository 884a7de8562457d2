"""What a pattern requires of a word: literals by which candidates are found, and what decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from predicast.matching.columnar.patterns.index_arrays import ANYWHERE, AT_END, AT_START, LONGEST
from predicast.matching.columnar.patterns.required_literals import (
    required_literals,
    required_pieces,
    without_case,
)
from predicast.model.constraint import Constraint
from predicast.model.operators import Operator
from predicast.model.patterns import ANY_ONE, ANY_RUN, LikePattern

Literal = tuple[int, bytes]  # where it must be, and what
Choice = tuple[Literal, ...]


class Need(NamedTuple):
    """What a word needs for a pattern to hold; if exact, no pieces at all hold of anything.

    A word for which it holds has, of each choice, at least one of the literals.
    """

    choices: list[Choice]
    pieces: tuple[bytes, ...]
    at_start: bool
    at_end: bool
    exact: bool  # the pieces say all; if not, a candidate that has them is asked
    folded: bool = False  # the pieces are in lower case, and case does not count


def need_of(constraint: Constraint) -> Need:
    """What a positive pattern requires."""
    if constraint.operator is Operator.LIKE:
        assert isinstance(constraint.operand, LikePattern)
        return _like_need(list(constraint.operand.parts()))
    if constraint.operator is Operator.MATCHES:
        regex = str(constraint.operand)
        choices = [
            tuple((ANYWHERE, literal.encode()) for literal in choice)
            for choice in required_literals(regex)
        ]
        pieces = tuple(each.encode()[:LONGEST] for each in required_pieces(regex))
        return Need(_cut(choices), pieces, False, False, False, without_case(regex))
    needle = str(constraint.operand).encode()
    if constraint.operator is Operator.CONTAINS and 0 < len(needle) <= LONGEST:
        # The same as below without the detours: there may be hundreds of thousands.
        return Need([((ANYWHERE, needle),)], (needle,), False, False, True)
    at_start = constraint.operator in {Operator.PREFIX, Operator.EQ}
    at_end = constraint.operator in {Operator.SUFFIX, Operator.EQ}
    assert at_start or at_end or constraint.operator is Operator.CONTAINS, constraint
    if not needle:
        # Only the empty word is equal to it: there is no piece to say so, and it is asked.
        return Need([], (), False, False, exact=constraint.operator is not Operator.EQ)
    place = AT_START if at_start else AT_END if at_end else ANYWHERE
    return Need(_cut([((place, needle),)]), (needle,), at_start, at_end, exact=True)


def _like_need(parts: Sequence[str | object]) -> Need:
    pieces = tuple(part.encode() for part in parts if isinstance(part, str))
    # "" is LIKE nothing but itself: it has no piece to say so, and is asked.
    exact = bool(parts) and ANY_ONE not in parts
    at_start = bool(parts) and isinstance(parts[0], str)
    at_end = bool(parts) and isinstance(parts[-1], str)
    places = [ANYWHERE] * len(pieces)
    if at_end:
        places[-1] = AT_END
    if at_start:
        places[0] = AT_START
    choices = _cut([(literal,) for literal in zip(places, pieces, strict=True)])
    assert exact or ANY_RUN in parts or ANY_ONE in parts or not parts
    return Need(choices, pieces, at_start, at_end, exact)


def _cut(choices: Sequence[Choice]) -> list[Choice]:
    """The choices, with windows in the place of literals that are too long."""
    cut: list[Choice] = []
    for choice in choices:
        if max(len(text) for _, text in choice) <= LONGEST:
            cut.append(choice)
            continue
        # The beginning, the middle and the end: one may be rare.
        cut += [tuple({_window(literal, part) for literal in choice}) for part in (0, 1, 2)]
    return cut


def _window(literal: Literal, part: int) -> Literal:
    """A part of a literal; it is bound to an end of the word if it has the bound end in it."""
    place, text = literal
    beyond = len(text) - LONGEST
    if beyond <= 0:
        return literal
    bound = place == (AT_START, ANYWHERE, AT_END)[part]
    begin = beyond * part // 2
    return place if bound else ANYWHERE, text[begin : begin + LONGEST]


def preference(needs: Sequence[Need]) -> Callable[[Choice], tuple[Any, ...]]:
    """How choices rank, the best lowest: one that few patterns have, then a long one."""
    of_several = (need.choices for need in needs if len(need.choices) > 1)
    common = Counter(literal for choices in of_several for choice in choices for literal in choice)

    def rank(choice: Choice) -> tuple[bool, int, int, bool]:
        # A literal of one or two bytes occurs in most words, however few the patterns with it.
        shortest = min(len(text) for _, text in choice)
        anywhere = any(place == ANYWHERE for place, _ in choice)
        few = max(common[literal] for literal in choice)
        return shortest < 3 and anywhere, few, -shortest, anywhere

    return rank
