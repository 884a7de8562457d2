"""``attr``: what Python would do behind a reader's back is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from predicast import attr
from predicast.errors import LanguageError, NoTruthValueError

# mypy finds these mistakes too, since truth never returns; here they are to be made.
PREMIUM: Any = attr("premium")
PRICE: Any = attr("price")


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        (lambda: PREMIUM and (PRICE < 10), "& | ~ instead of and, or, not"),
        (lambda: PREMIUM or (PRICE < 10), "& | ~ instead of and, or, not"),
        (lambda: not PREMIUM, "attr('premium') == True"),
        (lambda: (PRICE < 10) and PREMIUM, "& | ~ instead of and, or, not"),
        (lambda: not (PRICE < 10), "& | ~ instead of and, or, not"),
        (lambda: 1 < PRICE < 5, "between"),
        (lambda: PRICE in [1, 2], "isin"),
        (lambda: "a" in PRICE, "contains"),
        (lambda: bool(PRICE), "before there is an event"),
    ],
)
def test_neither_attributes_nor_expressions_are_true_or_false(
    wanted: Callable[[], object], hint: str
) -> None:
    with pytest.raises(NoTruthValueError) as caught:
        wanted()
    assert hint in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, LanguageError)


@pytest.mark.parametrize(
    "wanted",
    [
        lambda: PREMIUM & (PRICE < 10),
        lambda: (PRICE < 10) & PREMIUM,
        lambda: PREMIUM | (PRICE < 10),
        lambda: (PRICE < 10) | PREMIUM,
        lambda: ~PREMIUM,
        lambda: PRICE > 1 & PREMIUM == True,  # noqa: E712
        lambda: PRICE > 1 & (PREMIUM == True),  # noqa: E712, SIM300
        lambda: PRICE > 1 | (PREMIUM == True),  # noqa: E712, SIM300
        lambda: (PRICE > 1) & True,
    ],
)
def test_operators_combine_comparisons_in_parentheses_only(wanted: Callable[[], object]) -> None:
    with pytest.raises(LanguageError, match=r"each in parentheses .* == True"):
        wanted()
