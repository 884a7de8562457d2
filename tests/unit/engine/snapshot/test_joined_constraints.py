"""What any and all join is about its attribute again when it is read from a file."""

from pathlib import Path

from predicast import Engine


def test_any_and_all_keep_their_attribute(tmp_path: Path) -> None:
    engine = Engine()
    engine.subscribe("(startswith(x, 'a') OR contains(x, 'b')) AND y IS NOT NULL", id="alone")
    for number in range(50):  # so many that they stand in columns
        text = f"startswith(x, 'a{number}') OR NOT (contains(x, 'b') OR x = 'c{number}')"
        engine.subscribe(text, id=f"s{number}")
    engine.save(tmp_path / "engine")
    loaded = Engine.load(tmp_path / "engine")
    for entry in engine.subscriptions():
        assert loaded.get(entry.id).subscription == entry.subscription
    for event in ({"x": "a7b", "y": 1}, {"x": "c7"}, {"x": "b"}):
        assert loaded.match(event) == engine.match(event)
        assert loaded.match_batch([event]) == [engine.match(event)]
