"""What a clause says about one attribute, compiled."""

from pathlib import Path

import pytest

from predicast import Engine


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("s LIKE 'i%m' AND s LIKE 'i%m' AND price < :most", ["im", "i like them"]),
        ("s ILIKE 'i%m' AND s ILIKE 'i%m' AND price < :most", ["im", "IM", "i like them"]),
        ("s LIKE 'i%m' AND s LIKE '%m' AND price < :most", ["im", "i like them"]),
        ("s LIKE 'i%m' AND s LIKE '%l%' AND price < :most", ["i like them"]),
    ],
    ids=["twice", "twice, either case", "implied", "another"],
)
def test_several_patterns_of_one_attribute(tmp_path: Path, text: str, matched: list[str]) -> None:
    engine = Engine()
    engine.subscribe(text, id="a", parameters={"most": 5})
    engine.save(tmp_path / "engine")  # which compiles what waits
    compiled = Engine.load(tmp_path / "engine")
    words = ["im", "IM", "it's", "i like them", "m"]
    for each in (engine, compiled):
        assert [word for word in words if each.match({"s": word, "price": 1})] == matched
