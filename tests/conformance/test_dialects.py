"""The suite for dialects, on the language of the library, that of the tests, and that of a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from predicast.language import Dialect, dialect_named
from predicast.language import dialect_registry as registry
from predicast.testing import DialectConformance
from tests import wish_list  # noqa: F401  # registers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "write-a-dialect.md"


class TestWhere(DialectConformance):
    dialect = "where"
    texts = (
        "price < 10 AND NOT (symbol = 'IBM' OR volume > 500)",
        "lower(city) = 'rome' OR city IS NULL",
        "name LIKE 'a%z' AND x BETWEEN 2 AND 5",
        "exists(tags, t -> t = 'b') AND (x > 1) IS NOT TRUE",
        "x + y > 3",
    )


class TestWishes(DialectConformance):
    dialect = "wishes"
    texts = (
        "colour is red\nweight over 5",
        "# title: edged\nnot shape is round\nnot weight over 7",
        "weight is 3",
    )
    events = ({"colour": "red", "weight": 7}, {"shape": "round"})


class TestOneWish(DialectConformance):
    dialect = "wishes:any"
    texts = ("colour is red\nnot weight over 5", "not colour is red")


@pytest.fixture(scope="class")
def search() -> Any:
    """The dialect of the how-to page."""
    module = re.findall(
        r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )[0]
    names: dict[str, Any] = {}
    exec(module, names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry._dialects, "search", names["Search"]())
        yield


@pytest.mark.usefixtures("search")
class TestSearch(DialectConformance):
    dialect = "search"
    texts = ("status:open", "-label:spam priority:>3", "status:open status:closed")


class Wrong(Dialect):
    """Says one thing and explains another."""

    name = "wrong"

    def parse(self, text: str) -> Any:
        return dialect_named("wishes").parse("colour is red")

    def wording(self, text: str) -> Any:
        return dialect_named("wishes").wording("colour is blue")

    def about(self, text: str) -> Any:
        return [text]


class WrongTests(DialectConformance):
    dialect = "wrong"
    texts = ("x",)
    events = ({"colour": "red"}, {"colour": "blue"})


@pytest.mark.parametrize(
    "test", ["test_a_text_always_says_the_same", "test_matches_and_explanations_agree"]
)
def test_the_suite_finds_what_is_wrong(monkeypatch: pytest.MonkeyPatch, test: str) -> None:
    monkeypatch.setitem(registry._dialects, "wrong", Wrong())
    with pytest.raises(AssertionError):
        getattr(WrongTests(), test)()
