"""The documentation's picture of an interface's life is that of the table."""

from predicast.routing.life import LIFE
from tests.unit.routing.life_picture import FILE, WAYS, picture


def test_the_picture_shows_the_table() -> None:
    assert {(before, after) for (before, _), after in LIFE.items() if before != after} == set(WAYS)
    assert FILE.read_text(encoding="utf-8") == picture(), (
        "run python -m tests.unit.routing.life_picture"
    )
