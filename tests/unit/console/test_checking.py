"""What is wrong with an expression while somebody types it, and what it would have matched."""

import pytest

from predicast.console.checking import checked, dialects, mistake_of, parameters_from_text
from predicast.console.previews import preview, readable
from predicast.errors import PredicastError
from predicast.protocol import BodyForm, StoredEvent


def mistake(text: str, dialect: str = "where", parameters: str = ""):  # type: ignore[no-untyped-def]
    with pytest.raises(PredicastError) as caught:
        checked(text, dialect, parameters_from_text(parameters))
    return mistake_of(caught.value)


def test_a_mistake_has_its_place_a_picture_and_a_hint() -> None:
    found = mistake("price <\n  AND symbol = 'IBM'")
    assert (found.line, found.column) == (2, 3)
    assert found.where == "line 2, column 3"
    assert found.message == "expected a value after <, not 'AND'"
    assert found.picture == "  AND symbol = 'IBM'\n  ^"
    assert mistake("price == = 3").hint is not None or mistake("a b").hint is not None


def test_parameters_belong_to_it() -> None:
    assert "limit" in mistake("price < :limit").message
    checked("price < :limit", "where", parameters_from_text('{"limit": 10}'))
    assert "an object of values" in mistake("price < :limit", parameters="[1]").message
    assert "not JSON" in mistake("price < :limit", parameters="{").message


@pytest.mark.parametrize("dialect", ["cesql", "eventbridge", "sparql"])
def test_every_dialect_says_what_is_wrong(dialect: str) -> None:
    assert dialect in dialects()
    assert mistake("((", dialect).message


def test_where_comes_first() -> None:
    assert dialects()[0] == "where"
    assert len(set(dialects())) == len(dialects())


def test_a_preview_is_of_what_can_be_read_the_latest_first() -> None:
    bodies = [b'{"price": 5}', b"nonsense", b'{"price": 50}', b'{"price": 7}']
    events = [
        StoredEvent(position, 0.0, str(position), "shop", BodyForm.JSON, body)
        for position, body in enumerate(bodies, 1)
    ]
    found = preview(checked("price < 10", "where", None), readable(events))
    assert [each.position for each in found.matched] == [4, 1]
    assert found.of == 3
