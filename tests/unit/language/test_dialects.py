"""Dialects: found by name, with options, from installed packages; what they say of a text."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast import attr
from predicast.bounded_cache import BoundedCache
from predicast.errors import (
    InvalidEventError,
    InvalidOptionError,
    LanguageError,
    NotExpressibleError,
    ParseError,
    PredicastError,
    TextTooLongError,
    UnknownDialectError,
)
from predicast.language import (
    Dialect,
    dialect_named,
    dialect_names,
    parse_where,
    register_dialect,
    to_subscription,
)
from predicast.language import dialect_registry as registry
from predicast.language.dialect_registry import stated_in
from tests import wish_list


class Terse(Dialect):
    """All that somebody has to write."""

    name = "terse"

    def parse(self, text: str) -> Any:
        return attr(text) == 1


def test_where_is_a_dialect_among_others() -> None:
    where = dialect_named("where")
    text = "price < 10 AND NOT symbol = 'IBM'"
    subscription = stated_in("where", text).subscription()
    assert subscription == parse_where(text)
    assert parse_where(where.to_text(subscription)) == subscription
    assert where.read_event({"price": 9}) == {"price": 9}
    assert where.about(text) == {}


def test_an_unknown_dialect_is_refused_with_the_near_one() -> None:
    with pytest.raises(UnknownDialectError, match="did you mean 'where'") as refused:
        dialect_named("were")
    assert (refused.value.name, refused.value.suggestion) == ("were", "where")
    with pytest.raises(UnknownDialectError, match=r"known: .*where"):
        dialect_named("qqqqqqqq")
    with pytest.raises(UnknownDialectError, match="by its name"):
        dialect_named(Terse())  # type: ignore[arg-type]


def test_options_make_a_variant() -> None:
    text = "colour is red\nweight over 5"
    assert stated_in("wishes:any", text).subscription() == parse_where(
        "colour = 'red' OR weight > 5"
    )
    assert dialect_named("wishes:any") is dialect_named("wishes:any")
    with pytest.raises(UnknownDialectError, match="takes no options") as refused:
        dialect_named("wishes:some")
    assert refused.value.suggestion == "wishes"
    with pytest.raises(UnknownDialectError, match="takes no options"):
        dialect_named("where:strict")


@pytest.mark.parametrize("name", ["where", "wishes"])
def test_a_name_is_given_once(name: str) -> None:
    class Another(Terse):
        pass

    Another.name = name
    with pytest.raises(InvalidOptionError, match="already"):
        register_dialect(Another())


@pytest.mark.parametrize("name", ["", "Sigma", "a b", "a:b", "-a"])
def test_names_are_plain(name: str) -> None:
    class Another(Terse):
        pass

    Another.name = name
    with pytest.raises(InvalidOptionError, match="lower-case"):
        register_dialect(Another())


def test_what_a_dialect_need_not_say() -> None:
    terse = Terse()
    assert to_subscription(terse.parse("x")) == parse_where("x = 1")
    assert terse.read_event({"x": 1}) == {"x": 1}
    with pytest.raises(InvalidEventError, match="not 5"):
        terse.read_event(5)
    with pytest.raises(NotExpressibleError, match="'terse', not written in it") as refused:
        terse.to_text(parse_where("x = 1"))
    assert refused.value.dialect == "terse"


def test_a_mistake_is_told_by_the_line_and_column_of_the_text() -> None:
    with pytest.raises(ParseError) as refused:
        stated_in("wishes", "# title: two\ncolour is red\n  weight above 5")
    assert (refused.value.line, refused.value.column) == (3, 3)
    assert "line 3, column 3: a wish is as in" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (attr("x") == 1, LanguageError, "only text is of a dialect"),
        (5, LanguageError, "and this is int"),
        ("", ParseError, "the text is empty"),
        ("x is \ud800", ParseError, "line 1, column 6"),
        ("x" * 70_000, TextTooLongError, "70000 characters"),
    ],
    ids=str,
)
def test_what_is_no_text_of_a_dialect(
    text: object, error: type[PredicastError], message: str
) -> None:
    with pytest.raises(error, match=message):
        stated_in("wishes", text)


def test_parameters_are_of_where() -> None:
    with pytest.raises(LanguageError, match="'wishes' has none"):
        stated_in("wishes", "colour is red", {"x": 1})
    assert stated_in("where", "x < :x", {"x": 1}) == stated_in(None, "x < :x", {"x": 1})


@given(st.text(max_size=40))
def test_whatever_is_written_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(PredicastError):
        stated_in("wishes", text)


# Those of installed packages.


def offer(monkeypatch: pytest.MonkeyPatch, value: str, name: str = "terse") -> None:
    entry = EntryPoint(name, value, registry.GROUP)
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: EntryPoints([entry]).select(group=group)
    )
    monkeypatch.setattr(registry, "_dialects", {})
    monkeypatch.setattr(registry._installed, "cache", BoundedCache(1 << 20, lambda *_: 1))


@pytest.mark.parametrize("value", [f"{__name__}:Terse", f"{__name__}:TERSE"])
def test_installed_packages_offer_dialects(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    offer(monkeypatch, value)
    assert dialect_names() == sorted({"terse", *registry.BUILT_IN})
    assert stated_in("terse", "x").subscription() == parse_where("x = 1")
    assert dialect_named("terse") is dialect_named("terse")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:Terse", "cannot be loaded from no_such_module:Terse: No module"),
        (f"{__name__}:offer", "is not a Dialect of that name"),
        (f"{wish_list.__name__}:Wishes", "is not a Dialect of that name"),
    ],
)
def test_what_is_offered_may_be_of_no_use(
    monkeypatch: pytest.MonkeyPatch, value: str, message: str
) -> None:
    offer(monkeypatch, value)
    with pytest.raises(UnknownDialectError, match=message):
        dialect_named("terse")
    assert dialect_named("where").name == "where"  # others are not concerned


def test_dialects_are_imported_when_they_are_asked_for() -> None:
    code = (
        "import sys; from predicast import Engine; Engine().subscribe('x = 1');"
        "from predicast.language.dialect_registry import BUILT_IN;"
        "assert not {place.partition(':')[0] for place in BUILT_IN.values()} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


TERSE = Terse()
