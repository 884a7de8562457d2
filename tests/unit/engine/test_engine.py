"""The engine: its calls, and that a refused one leaves it as it was."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from predicast import Change, Engine, Event, Interval, Subscribe, Unsubscribe, attr
from predicast.errors import (
    DamagedSnapshotError,
    DuplicateIdError,
    EngineError,
    InvalidConstraintError,
    InvalidEventError,
    InvalidIdError,
    InvalidIntervalError,
    InvalidValueError,
    LanguageError,
    ParseError,
    PredicastError,
    SnapshotNotSavedError,
    SnapshotVersionError,
    UnknownColumnError,
    UnknownIdError,
    UnknownMatcherError,
    UnsupportedColumnError,
)
from predicast.language.arrow_form import SCHEMA
from predicast.matching.matches import sorted_matches
from tests.threads import run_at_once


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.subscribe("price < 10 AND symbol = 'IBM'", id="alice-1", owner="alice")
    engine.subscribe(attr("x").between(0, 10) & (attr("kind") == "tank"), id="radar-7")
    return engine


def test_the_example_of_the_design(engine: Engine) -> None:
    assert engine.match({"price": 9.5, "symbol": "IBM"}) == ["alice-1"]
    assert engine.match({"x": Interval(3, 7), "kind": "tank"}) == ["radar-7"]
    engine.change("alice-1", "price < 20 AND symbol = 'IBM'")
    assert engine.match({"price": 15, "symbol": "IBM"}) == ["alice-1"]
    engine.unsubscribe("radar-7")
    assert engine.match_batch([{"x": 5, "kind": "tank"}, {"price": 1, "symbol": "IBM"}]) == [
        [],
        ["alice-1"],
    ]


def test_ids_are_sorted_and_made_up_when_not_given() -> None:
    engine = Engine()
    made = [engine.subscribe("TRUE") for _ in range(3)]
    engine.subscribe("TRUE", id="a")
    assert len(set(made)) == 3
    assert engine.match({}) == sorted([*made, "a"])


def test_attributes_are_those_of_standing_subscriptions(engine: Engine) -> None:
    assert engine.attributes() == {"price", "symbol", "x", "kind"}
    engine.change("alice-1", "price < 5 AND volume > 1")
    engine.unsubscribe("radar-7")
    assert engine.attributes() == {"price", "volume"}


def test_made_up_ids_avoid_taken_ones() -> None:
    engine = Engine()
    engine.subscribe("TRUE", id="s2")
    assert engine.subscribe("TRUE") != "s2"
    assert len(engine) == 2


def test_subscriptions_by_owner(engine: Engine) -> None:
    assert [entry.id for entry in engine.subscriptions(owner="alice")] == ["alice-1"]
    assert engine.get("radar-7").owner is None
    engine.change("alice-1", "TRUE")
    assert engine.get("alice-1").owner == "alice"
    assert list(engine) == ["alice-1", "radar-7"]
    assert "radar-7" in engine


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda e: e.subscribe("price <", id="new"), ParseError),
        (lambda e: e.subscribe("TRUE", id="alice-1"), DuplicateIdError),
        (lambda e: e.subscribe("TRUE", id=""), InvalidIdError),
        (lambda e: e.subscribe("TRUE", id=5), InvalidIdError),
        (lambda e: e.subscribe("TRUE", id="\ud800"), InvalidIdError),
        (lambda e: e.subscribe("TRUE", owner=""), InvalidIdError),
        (lambda e: e.subscribe(5), LanguageError),
        (lambda e: e.unsubscribe("alice-2"), UnknownIdError),
        (lambda e: e.unsubscribe(None), UnknownIdError),
        (lambda e: e.change("alice-2", "TRUE"), UnknownIdError),
        (lambda e: e.change("alice-1", "price <"), ParseError),
        (lambda e: e.explain("alice-2", {}), UnknownIdError),
        (lambda e: e.match({"price": float("nan")}), InvalidValueError),
        (lambda e: e.match([1]), InvalidEventError),
        (lambda e: e.match_batch([{}, {"price": float("nan")}]), InvalidValueError),
        (lambda e: e.match_batch({"price": 1}), InvalidEventError),
        (lambda e: e.match_batch(Event({})), InvalidEventError),
        (lambda e: e.subscribe_many([("a", "TRUE"), ("b", "price <")]), ParseError),
        (lambda e: e.subscribe_many([("a", "TRUE"), ("a", "TRUE")]), DuplicateIdError),
        (lambda e: e.subscribe_many([("a", "TRUE"), ("alice-1", "TRUE")]), DuplicateIdError),
        (lambda e: e.subscribe_many([("a", "TRUE"), ("", "TRUE")]), InvalidIdError),
        (lambda e: e.subscribe_many([("a", "TRUE"), (5, "TRUE")]), InvalidIdError),
        (lambda e: e.subscribe_many([("a", "TRUE"), ("\ud800", "TRUE")]), InvalidIdError),
        (lambda e: e.subscribe_many([("a", "TRUE"), ("b", 5)]), LanguageError),
        (lambda e: e.apply([Subscribe("a", "TRUE"), Unsubscribe("a"), Unsubscribe("a")]),
         UnknownIdError),
        (lambda e: e.apply([Unsubscribe("radar-7"), Change("alice-1", "TRUE"), Change("b", "x")]),
         UnknownIdError),
        (lambda e: e.apply(["nonsense"]), EngineError),
    ],
)  # fmt: skip
def test_a_refused_call_changes_nothing(engine: Engine, call: Any, error: type[Exception]) -> None:
    before = [(e.id, e.subscription, e.owner) for e in engine.subscriptions()]
    matches = engine.match_batch([{"price": 1, "symbol": "IBM"}, {"x": 1, "kind": "tank"}])
    with pytest.raises(error):
        call(engine)
    assert sorted((e.id, e.subscription, e.owner) for e in engine.subscriptions()) == sorted(before)
    assert engine.match_batch([{"price": 1, "symbol": "IBM"}, {"x": 1, "kind": "tank"}]) == matches


def test_an_unknown_id_is_corrected(engine: Engine) -> None:
    with pytest.raises(UnknownIdError, match="did you mean 'radar-7'") as caught:
        engine.unsubscribe("radar7")
    assert (caught.value.id, caught.value.suggestion) == ("radar7", "radar-7")


def test_an_unknown_matcher_is_corrected() -> None:
    with pytest.raises(UnknownMatcherError, match="did you mean 'brute-force'"):
        Engine(matcher="bruteforce")
    with pytest.raises(PredicastError, match="fails"):
        Engine(absent="maybe")  # type: ignore[arg-type]


def test_a_window_runs_in_order(engine: Engine) -> None:
    engine.apply(
        [
            Unsubscribe("alice-1"),
            Subscribe("alice-1", "x = 1", owner="bob"),
            Change("alice-1", "x = 2"),
            Subscribe("temporary", "TRUE"),
            Unsubscribe("temporary"),
        ]
    )
    assert engine.match({"x": 2}) == ["alice-1"]
    assert engine.get("alice-1").owner == "bob"
    assert len(engine) == 2


@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_save_and_load(tmp_path: Path, absent: Any) -> None:
    engine = Engine(absent=absent)
    engine.subscribe("a = 1 OR note LIKE '50!%' ESCAPE '!'", id="x", owner="o")
    engine.subscribe("t > TIMESTAMP '2026-01-31'", id="é\n")
    engine.save(tmp_path / "engine")
    loaded = Engine.load(tmp_path / "engine")
    assert [(e.id, e.subscription, e.owner) for e in loaded.subscriptions()] == [
        (e.id, e.subscription, e.owner) for e in engine.subscriptions()
    ]
    assert (loaded.absent, loaded.matcher) == (absent, engine.matcher)
    assert list(tmp_path.iterdir()) == [tmp_path / "engine"]


def test_every_damaged_file_is_refused(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "engine"
    engine.save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedSnapshotError):
            Engine.load(path)
    for position in range(len(whole)):
        flipped = bytearray(whole)
        flipped[position] ^= 1
        path.write_bytes(flipped)
        with pytest.raises((DamagedSnapshotError, SnapshotVersionError)):
            Engine.load(path)
    path.write_bytes(whole + b"more")
    with pytest.raises(DamagedSnapshotError):
        Engine.load(path)


def test_a_newer_version_says_so(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "engine"
    engine.save(path)
    data = bytearray(path.read_bytes())
    data[16] = 9
    path.write_bytes(data)
    with pytest.raises(SnapshotVersionError, match="version 9") as caught:
        Engine.load(path)
    assert caught.value.version == 9


def test_a_failed_save_leaves_the_old_file(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "engine"
    engine.save(path)
    before = path.read_bytes()
    with pytest.raises(SnapshotNotSavedError, match="no folder"):
        engine.save(tmp_path / "missing" / "engine")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(SnapshotNotSavedError, match="is a folder"):
        engine.save(folder)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [path, folder]


def test_match_arrow(engine: Engine) -> None:
    batch = pa.table(
        {
            "price": pa.array([9, 15, None], pa.int32()),
            "symbol": pa.array(["IBM", "IBM", "IBM"]).dictionary_encode(),
            "unused": pa.array([[1], [2], [3]]),
            "kind": ["tank", "tank", "car"],
            "x": [1.5, 11.0, 2.0],
        }
    )
    found = sorted_matches(engine.match_arrow(batch))
    assert found.to_pylist() == [
        {"event": 0, "subscription": "alice-1"},
        {"event": 0, "subscription": "radar-7"},
    ]
    assert found.schema.field("event").type == pa.int64()
    assert pa.types.is_dictionary(found.schema.field("subscription").type)
    assert engine.match_arrow(batch.slice(0, 0)).num_rows == 0


def test_match_arrow_regions(engine: Engine) -> None:
    batch = pa.table({"lo": [3, 20, None], "hi": [7, 30, None], "kind": ["tank"] * 3})
    found = engine.match_arrow(batch, intervals={"x": ("lo", "hi")})
    assert found.to_pylist() == [{"event": 0, "subscription": "radar-7"}]
    with pytest.raises(InvalidIntervalError, match="attribute 'x', row 0"):
        engine.match_arrow(batch, intervals={"x": ("hi", "lo")})
    with pytest.raises(UnknownColumnError, match="'low'"):
        engine.match_arrow(batch, intervals={"x": ("low", "hi")})


@pytest.mark.parametrize(
    ("column", "error"),
    [
        (pa.array([b"x"]), UnsupportedColumnError),
        (pa.array([float("nan")]), InvalidValueError),
        (pa.array([1], pa.timestamp("ns")), InvalidValueError),
        (pa.array([2**62], pa.timestamp("us")), InvalidValueError),
    ],
    ids=lambda each: str(each.type) if isinstance(each, pa.Array) else each.__name__,
)
def test_match_arrow_refuses_columns_it_cannot_read(
    engine: Engine, column: pa.Array, error: type[Exception]
) -> None:
    with pytest.raises(error, match="price"):
        engine.match_arrow(pa.table({"price": column}))


def constraint_rows(*rows: dict[str, Any]) -> pa.Table:
    schema = SCHEMA.remove(SCHEMA.get_field_index("timestamp_value"))  # it may be left out
    return pa.Table.from_pylist([{"clause": 0, **row} for row in rows], schema)


def test_subscribe_arrow() -> None:
    engine = Engine()
    engine.subscribe_arrow(
        constraint_rows(
            {"id": "a", "attribute": "price", "operator": "<", "float_value": 9.5},
            {"id": "a", "attribute": "symbol", "operator": "in", "string_value": "IBM"},
            {"id": "b", "attribute": "x", "operator": "exists"},
            {"id": "a", "attribute": "symbol", "operator": "in", "string_value": "HAL"},
            {"id": "a", "clause": 1, "attribute": "hot", "operator": "=", "bool_value": True},
            {"id": "all"},
        )
    )
    assert engine.match({"price": 9, "symbol": "HAL"}) == ["a", "all"]
    assert engine.match({"hot": True, "x": 1}) == ["a", "all", "b"]


@pytest.mark.parametrize(
    "row",
    [
        {"id": "a", "attribute": "x", "operator": "="},
        {"id": "a", "attribute": "x", "operator": "=", "int_value": 1, "bool_value": True},
        {"id": "a", "attribute": "x", "operator": "exists", "int_value": 1},
        {"id": "a", "attribute": "x", "operator": "between", "int_value": 1},
        {"id": "a", "attribute": "x", "operator": "<", "bool_value": True},
        {"id": "a", "attribute": "x", "operator": "=", "float_value": float("nan")},
        {"id": "a", "attribute": None, "operator": "=", "int_value": 1},
        {"id": None, "attribute": "x", "operator": "=", "int_value": 1},
    ],
    ids=str,
)
def test_subscribe_arrow_refuses_by_row(row: dict[str, Any]) -> None:
    engine = Engine()
    good = {"id": "good", "attribute": "x", "operator": "=", "int_value": 1}
    with pytest.raises(InvalidConstraintError, match="row 1"):
        engine.subscribe_arrow(constraint_rows(good, row))
    assert len(engine) == 0


def test_subscribe_arrow_names_a_missing_column() -> None:
    with pytest.raises(UnknownColumnError, match="'int_value'"):
        Engine().subscribe_arrow(constraint_rows().drop_columns(["int_value"]))


def test_threads_see_changes_that_returned_before_they_asked() -> None:
    engine = Engine()
    failures: list[str] = []

    def work(name: str) -> None:
        for number in range(100):
            id = f"{name}-{number}"
            engine.subscribe(f"n = {number}", id=id)
            if id not in engine.match({"n": number}):
                failures.append(f"{id} was not seen")
            engine.change(id, f"n = {-number - 1}")
            if id in engine.match({"n": number}) or id not in engine.match({"n": -number - 1}):
                failures.append(f"change of {id} was not seen")
            engine.unsubscribe(id)

    run_at_once(work, "abcd")
    assert failures == []
    assert len(engine) == 0


def test_get_tells_what_was_written() -> None:
    engine = Engine()
    engine.subscribe("price  <  10.0 -- cheap", id="a", owner="alice")
    engine.subscribe("x BETWEEN :lo AND :hi", id="b", parameters={"lo": 1, "hi": 2.5})
    engine.subscribe(attr("x") < 1, id="c")
    assert (engine.get("a").text, engine.get("a").parameters) == ("price  <  10.0 -- cheap", None)
    assert engine.get("b").text == "x BETWEEN :lo AND :hi"
    assert engine.get("b").parameters == {"lo": 1, "hi": 2.5}
    assert (engine.get("c").text, engine.get("c").parameters) == (None, None)
    engine.change("b", parameters={"lo": 0})
    assert engine.get("b").parameters == {"lo": 0, "hi": 2.5}
    engine.change("a", "price < 20")
    assert engine.get("a").text == "price < 20"
    engine.change("a", attr("price") < 20)
    assert engine.get("a").text is None
    engine.change("c", "x < 5")
    assert [entry.text for entry in engine.subscriptions()] == [
        None,
        "x BETWEEN :lo AND :hi",
        "x < 5",
    ]


def test_an_error_says_which_event() -> None:
    engine = Engine()
    engine.subscribe("x < 1", id="a")
    with pytest.raises(InvalidValueError, match=r"event 2: attribute 'x'") as caught:
        engine.match_batch([{"x": 1}, Event({"x": 2}), {"x": float("nan")}])
    assert (caught.value.event, caught.value.attribute) == (2, "x")


@pytest.mark.parametrize("limit", [2**31, 2**63, 10**30])
def test_a_limit_may_be_any_number(limit: int) -> None:
    engine = Engine()
    engine.subscribe_many({f"s{n}": "x = 1" for n in range(5)})
    batch = pa.record_batch({"x": [1, 2]})
    assert engine.match_arrow(batch, limit=limit).num_rows == 5
    assert engine.count_arrow(batch, limit=limit).to_pylist() == [5, 0]


def test_looking_for_a_similar_id_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def close_matches(word: str, among: dict[str, str], **_: int) -> list[str]:
        compared.append(sum(map(len, among)))
        return []

    monkeypatch.setattr("predicast.errors.root.difflib.get_close_matches", close_matches)
    engine = Engine()
    engine.subscribe_many({f"{n:036}": "x = 1" for n in range(200)})
    for count in (200, 5_000):
        with pytest.raises(UnknownIdError):
            engine.unsubscribe("nobody")
        engine.subscribe_many({f"{n:036}-{count}": "x = 1" for n in range(5_000)})
    assert compared == [200 * 36]
