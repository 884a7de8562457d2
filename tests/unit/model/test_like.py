"""LIKE: as a regular expression has it, and with little work whatever the pattern."""

import re
import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from predicast.errors import InvalidConstraintError
from predicast.model import Constraint, LikePattern, Operator, like
from predicast.model.constraint import LONGEST_LIKE
from predicast.model.like import like_test
from predicast.testing import strategies as some


def oracle(pattern: str, text: str) -> bool:
    wild = {"%": ".*", "_": "."}
    body = "".join(wild.get(each, re.escape(each)) for each in pattern)
    return re.fullmatch(body, text, re.DOTALL) is not None


@pytest.mark.parametrize("tries", [0, 1, 16])
@given(
    st.text("ab_%é", max_size=10),
    st.lists(st.text("abé\0\U0010ffff", max_size=12) | st.text("ab", max_size=12), max_size=5),
)
@example("", ["", "a"])
@example("a%a", ["a", "aa", "aba"])
@example("%a_b%", ["aab", "acb\U0010ffff", "ab"])
@example("%é_a%", ["aaaaaa", "éa", "ééaa"])
def test_means_what_a_regular_expression_means(tries: int, pattern: str, texts: list[str]) -> None:
    usual, like._TRIES = like._TRIES, tries  # type: ignore[misc]
    try:
        for text in texts:
            assert like_test(LikePattern(pattern))(text) is oracle(pattern, text), text
    finally:
        like._TRIES = usual  # type: ignore[misc]


@given(some.like_patterns(), some.strings())
def test_an_escaped_sign_stands_for_itself(pattern: LikePattern, text: str) -> None:
    # What is escaped becomes a character that neither has.
    other = str.maketrans("%_!", "\ue001\ue002\ue003")
    unescaped = re.sub("!(.)", lambda match: match[1].translate(other), pattern.pattern)
    assert like_test(pattern)(text) is oracle(unescaped, text.translate(other))


def steps_of(pattern: str, text: str) -> int:
    """How many lines of the module a match runs; each is at most one pass over the text."""
    steps = 0
    test = like_test(LikePattern(pattern))

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        if frame.f_code.co_filename != like.__file__:
            return None
        steps += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        test(text)
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "%" + "x" * n + "_y",
        lambda n: "%" + "x" * n + "_y%",
        lambda n: "%y_" + "x" * n + "%",
        lambda n: "%" + "x_" * (n // 2) + "y%",
        lambda n: "%" + "x" * n + "y%",
        lambda n: "%x" * (n // 2) + "%y",
        lambda n: "%" + "x_x%" * (n // 4) + "y",
    ],
)
def test_steps_grow_with_the_pattern_and_not_with_the_text(make: Any) -> None:
    """So that the work is at most the pattern's length times a pass over the text."""
    for length in (400, 1600):
        pattern = make(length)
        for text in ("x" * 2 * length, "x" * 8 * length, "é" + "x" * 2 * length):
            assert steps_of(pattern, text) < (8 + 2 * like._TRIES) * len(pattern), (length, text[0])


@pytest.mark.parametrize("length", [1, 40, 4000])
def test_a_segment_that_fits_late_is_found(length: int) -> None:
    text = "x" * 3 * length + "zy" + "x" * length
    for middle in (f"{'x' * length}_y", "x_" * length + "y", f"y{'_' * (length - 1)}x"):
        assert like_test(LikePattern(f"%{middle}%"))(text)
        assert not like_test(LikePattern(f"%{middle}q%"))(text)


def test_a_pattern_too_long_is_refused() -> None:
    Constraint("a", Operator.LIKE, "_" * LONGEST_LIKE)
    with pytest.raises(InvalidConstraintError, match=f"at most {LONGEST_LIKE} characters"):
        Constraint("a", Operator.LIKE, "_" * (LONGEST_LIKE + 1))
