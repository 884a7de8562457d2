"""Texts read in bulk state what they state one by one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast import attr
from predicast.engine.bulk import Bulk, bulk_of, read_records
from predicast.errors import LanguageError, ParseError, TextTooLongError
from predicast.language import to_subscription, to_where
from predicast.language.where import ShapeCache
from predicast.language.where.cache import MAX_TEXT
from predicast.model import Subscription
from predicast.model.outline import outlined
from predicast.testing.strategies import subscriptions


def bulk(pairs: list[tuple[str, Any]]) -> Bulk:
    return bulk_of(read_records(pairs, None))


def read(pairs: list[tuple[str, Any]]) -> list[Subscription]:
    ids, groups, *_ = bulk(pairs)
    assert ids == [id for id, _ in pairs]
    found = {
        position: each
        for positions, operands in groups
        for position, each in zip(positions.tolist(), operands.subscriptions(), strict=True)
    }
    return [found[position] for position in range(len(pairs))]


@given(st.lists(subscriptions(), max_size=6))
def test_texts_and_subscriptions(given_: list[Subscription]) -> None:
    texts = [to_where(each) for each in given_]
    stated = [ShapeCache().parse(text) for text in texts]
    for expressions, right in ((texts, stated), (given_, given_)):
        for _ in range(2):  # the second time their shapes are known
            found = read([(f"s{number}", each) for number, each in enumerate(expressions)])
            assert found == right
            # 1 and 1.0 are equal; an outline tells them apart.
            assert [outlined(each)[0] for each in found] == [outlined(each)[0] for each in right]


@pytest.mark.parametrize(
    "texts",
    [
        ["price < 10", "price < 10.5", "price < 10.0", "price < 1e300", "price < -3"],
        ["a = 1 OR a = 2", "a = 1 OR a = 1", "a = 2 OR a = 1"],
        ["x BETWEEN 1 AND 2", "x BETWEEN 1.5 AND 2", "x BETWEEN 5 AND 1"],
        ["x IN (1, 2)", "x IN (2, 2)", "x IN (2.5, 1)"],
        ["n LIKE 'a%'", "n LIKE 'b_'", "n NOT LIKE '%' AND m RLIKE 'a'"],
        ["t > TIMESTAMP '2026-01-31' AND b = TRUE", "t > TIMESTAMP '2027-01-31' AND b = FALSE"],
        ["a > 1 AND TRUE", "TRUE", "FALSE", "a IS NULL OR b IS NOT NULL"],
        ["`odd name` = 'it''s' AND x > 1", "`odd name` = 'its' AND x > 2"],
    ],
)
def test_shapes_filled_in_bulk(texts: list[str]) -> None:
    right = [to_subscription(text) for text in texts]
    for _ in range(3):
        found = read([(f"s{number}", text) for number, text in enumerate(texts)])
        assert found == right
        assert repr(found) == repr(right)


def test_known_shapes_make_no_constraint(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ShapeCache()
    right = [cache.outlined(f"a < {n} AND b = 'x{n}' AND c IN ({n}, 7)") for n in range(3)]
    from predicast.language.where import shape

    monkeypatch.setattr(shape, "trusted_constraint", None)
    outline, operands = cache.outlined("a < 9 AND b = 'x9' AND c IN (9, 7)")
    assert outline is right[-1][0]
    assert operands == (9, "x9", (7, 9))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ("price <", ParseError),
        ("n RLIKE '('", ParseError),
        ("price < 1e999", ParseError),
        ("a" * (MAX_TEXT + 1), TextTooLongError),
        (5, LanguageError),
    ],
)
def test_an_error_names_the_pair(wrong: Any, error: type[Exception]) -> None:
    good: list[tuple[str, Any]] = [("good", "price < 5"), ("fine", "n RLIKE 'a'")]
    with pytest.raises(error) as caught:
        bulk([*good, ("bad", wrong)])
    assert caught.value.__notes__ == ["in the subscription 'bad'"]


def test_everything_readable_goes() -> None:
    found = read([("a", "x < 1"), ("b", attr("x") < 2), ("c", to_subscription("x < 3"))])
    assert found == [to_subscription(f"x < {n}") for n in (1, 2, 3)]
    assert len(bulk([("a", "x < 1"), ("b", attr("x") < 2)]).groups) == 1
