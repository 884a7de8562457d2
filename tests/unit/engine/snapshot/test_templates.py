"""Parameters in snapshots: what was parametric still is, and texts that do not fit are damage."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from predicast import Engine
from predicast.engine.operations import Change, Subscribe
from predicast.errors import (
    DamagedSnapshotError,
    EngineError,
    MissingParameterError,
    UnknownParameterError,
)
from predicast.language import parameters
from tests.unit.engine.snapshot.test_damaged_snapshots import put_together, taken_apart

EAST = timezone(timedelta(hours=2))
NOON = datetime(2026, 1, 31, 12, tzinfo=EAST)


def parametric_engine() -> Engine:
    engine = Engine()
    engine.subscribe("x < 1", id="plain")
    region = "x BETWEEN :x1 AND :x2 AND kind = :k"
    engine.subscribe(region, id="one", parameters={"x1": 1, "x2": 5, "k": "tank"}, owner="me")
    engine.subscribe(region, id="two", parameters={"x1": 1.5, "x2": 5, "k": "é"})
    mixed = "s LIKE :p AND x IN (:i, :f, 7) AND flag = :b AND at > :t"
    engine.subscribe(
        mixed,
        id="mixed",
        parameters={"p": "a\\_%", "i": 3, "f": 4.0, "b": True, "t": NOON},
    )
    return engine


def stated(engine: Engine) -> list[Any]:
    return [(each.id, each.subscription, each.owner) for each in engine.subscriptions()]


@pytest.mark.parametrize("matcher", ["columnar", "brute-force", "poset"])
def test_parameters_can_be_set_after_loading(matcher: str, tmp_path: Path) -> None:
    engine = parametric_engine()
    engine.save(tmp_path / "engine")
    once = Engine.load(tmp_path / "engine", matcher=matcher)
    twice = Engine.from_bytes(once.to_bytes())  # nobody has looked at it in between
    changes = [
        Change("one", parameters={"x1": 4.5}),
        Change("one", parameters={"k": "ship"}),
        Change("two", parameters={"x2": 2, "x1": 0}),
        Change("mixed", parameters={"f": 8.5}),
        Change("mixed", parameters={"t": NOON + timedelta(hours=1)}),
    ]
    for each in (engine, once, twice):
        each.apply(changes)
    assert stated(once) == stated(twice) == stated(engine)
    event = {"x": 5, "kind": "ship"}
    assert once.match(event) == twice.match(event) == ["one"]
    event = {"x": 8.5, "s": "a_b", "flag": True, "at": datetime(2026, 1, 31, 11, 0, 1, tzinfo=UTC)}
    assert once.match(event) == twice.match(event) == ["mixed"]


def test_what_was_set_after_loading_is_saved_again() -> None:
    loaded = Engine.from_bytes(parametric_engine().to_bytes())
    loaded.change("mixed", parameters={"p": "b%"})
    loaded.change("one", parameters={"x2": 9})
    loaded.change("two", "x = 1")  # without parameters from now on
    loaded.subscribe("y = :y", id="new", parameters={"y": "z"})
    again = Engine.from_bytes(loaded.to_bytes())
    again.change("mixed", parameters={"i": 5})
    again.change("new", parameters={"y": 1})
    assert again.match({"x": 5, "s": "bc", "flag": True, "at": NOON + timedelta(days=1)}) == [
        "mixed"
    ]
    assert again.match({"y": 1}) == ["new"]
    with pytest.raises(EngineError, match="has no parameters"):
        again.change("two", parameters={"x1": 1})
    with pytest.raises(EngineError, match="has no parameters"):
        again.change("plain", parameters={"x1": 1})


def test_errors_are_the_same_after_loading() -> None:
    loaded = Engine.from_bytes(parametric_engine().to_bytes())
    with pytest.raises(UnknownParameterError):
        loaded.change("one", parameters={"x3": 1})
    with pytest.raises(MissingParameterError):
        loaded.change("one", "x = :x1", parameters={})


def test_removed_ones_do_not_come_back() -> None:
    loaded = Engine.from_bytes(parametric_engine().to_bytes())
    loaded.unsubscribe("mixed")
    loaded.unsubscribe("one")
    loaded.subscribe("x = 1", id="under an old key")
    again = Engine.from_bytes(loaded.to_bytes())
    for engine in (loaded, again):
        with pytest.raises(EngineError, match="has no parameters"):
            engine.change("under an old key", parameters={"x1": 1})


def test_a_save_is_untouched_by_what_comes_after() -> None:
    loaded = Engine.from_bytes(parametric_engine().to_bytes())
    before = loaded._taken_apart()
    loaded.change("mixed", parameters={"p": "changed"})
    loaded.unsubscribe("one")
    written = {text for _, text, _ in before.templates.written()}
    assert len(before.templates) == 3
    assert len(written) == 2
    assert not any("changed" in (values or "") for _, _, values in before.templates.written())


def test_loading_parses_nothing_and_changing_parses_a_text_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = Engine()
    text = "a BETWEEN :lo AND :hi"
    engine.apply(Subscribe(f"s{n}", text, parameters={"lo": n, "hi": n + 1}) for n in range(20_000))
    data = engine.to_bytes()
    parsed: list[str] = []

    def counting(given: str) -> parameters.Parametric:
        parsed.append(given)
        return parameters.Parametric(given)

    monkeypatch.setattr(parameters, "parametric", counting)
    loaded = Engine.from_bytes(data)
    assert loaded.match({"a": 5}) == ["s4", "s5"]
    assert parsed == []
    loaded.apply([Change(f"s{n}", parameters={"lo": n + 1}) for n in range(20_000)])
    assert parsed == [text]
    assert loaded.match({"a": 5}) == ["s4"]


# Damage, under a checksum that is right.


def forged(old: bytes, new: bytes) -> bytes:
    """The snapshot with some bytes of its arrays replaced by as many others."""
    header, body = taken_apart(parametric_engine().to_bytes())
    assert len(old) == len(new)
    assert body.count(old) == 1
    return put_together(header, body.replace(old, new))


@pytest.mark.parametrize(("old", "new", "id"), [
    (b"x BETWEEN :x1 AND", b"x BETWEEN AND AND", "one"),  # does not parse
    (b"x BETWEEN :x1 AND", b"x BETWEEN :x2 AND", "one"),  # parses, and states something else
    (b"AND kind = :k", b"AND kinn = :k", "one"),
    (b"AND kind = :k", b"AND kind = 'k", "one"),
    (b"AND kind = :k", b"OR  kind = :k", "one"),
    (b"AND kind = :k", b"AND TRUE  -- ", "one"),  # fewer places
    (b"s LIKE :p AND", b"s LIKE 'p'AND", "mixed"),  # a value too many
    (b"x IN (:i, :f, 7)", b"x IN (:i, :f, 8)", "mixed"),
    (b'"i":3', b'"i":4', "mixed"),
    (b'"i":3', b'"i":"', "mixed"),
    (b'"i":3', b'"j":3', "mixed"),
    (b'"b":true', b'"b":null', "mixed"),
    (b"2026-01-31T10", b"2026-13-31T10", "mixed"),
])  # fmt: skip
def test_a_text_that_does_not_fit_is_damage(old: bytes, new: bytes, id: str) -> None:
    engine = Engine.from_bytes(forged(old, new))
    before = dict(engine._store.statements.items())
    with pytest.raises(DamagedSnapshotError):
        engine.change(id, parameters={"x2": 7} if id == "one" else {"i": 9})
    with pytest.raises(DamagedSnapshotError):
        engine.get(id)
    assert dict(engine._store.statements.items()) == before
    engine.change(id, "x = 77")  # without its parameters it is as good as any
    assert engine.match({"x": 77}) == [id]


def _without_a_key(templates: dict[str, Any]) -> None:
    templates["keys"], templates["codes"] = templates["codes"], templates["keys"]


FORGERIES: list[Callable[[dict[str, Any]], None]] = [
    _without_a_key,
    lambda templates: templates.update(keys=templates["with_values"]),
    lambda templates: templates.update(with_values=templates["keys"]),
    lambda templates: templates.update(texts=templates["values"]),
    lambda templates: templates.update(values=templates["texts"]),
]


@pytest.mark.parametrize("forge", FORGERIES)
def test_arrays_that_do_not_go_together_are_damage(forge: Any) -> None:
    header, body = taken_apart(parametric_engine().to_bytes())
    forge(header["templates"])
    with pytest.raises(DamagedSnapshotError):
        Engine.from_bytes(put_together(header, body))
