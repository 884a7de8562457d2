"""A small run of the broker and the library against brute force; tests/spark has one with Spark."""

from pathlib import Path

import pytest

from predicast import Engine
from tests.differential.everywhere import run
from tests.thorough import LONG


@pytest.mark.parametrize("seed", range(40 if LONG else 2))
def test_who_gets_an_event_is_the_same_everywhere(tmp_path: Path, seed: int) -> None:
    assert run(tmp_path, seed, 30 if LONG else 4) > 500


def test_a_difference_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    match = Engine.match

    def forgetful(self: Engine, event: object, **options: object) -> list[str]:
        found = match(self, event, **options)  # type: ignore[arg-type]
        return found if len(found) < 3 else found[1:]

    oracle = Engine(matcher="brute-force")
    monkeypatch.setattr(
        Engine,
        "match",
        lambda self, event, **options: (match if self.matcher == oracle.matcher else forgetful)(
            self, event, **options
        ),
    )
    with pytest.raises(AssertionError, match=r"seed 1, .*Engine\.match"):
        run(tmp_path, 1, 4)
