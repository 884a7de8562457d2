"""Engines that a process keeps: one version's becomes the next one's, once nobody uses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast import Change, Engine, Subscribe, Unsubscribe
from predicast.engine import Operation
from predicast.spark import shared_engines
from predicast.spark.image import EngineImage
from predicast.spark.shared_engines import operations_between

OWNERS = [None, "ann"]


@pytest.fixture(autouse=True)
def none_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    shared_engines._engines.clear()


@pytest.fixture
def packed() -> EngineImage:
    engine = Engine()
    engine.subscribe_many((f"s{number}", f"x = {number}") for number in range(50))
    return EngineImage.of(engine)


def held(engine: Engine) -> dict[str, tuple[Any, ...]]:
    return {
        entry.id: (entry.subscription, entry.owner, entry.text) for entry in engine.subscriptions()
    }


def test_the_engine_of_the_version_before_is_brought_up_to_date(packed: EngineImage) -> None:
    first = packed.changed([Change("s1", "y = 1")])
    second = packed.changed([Change("s1", "y = 1"), Unsubscribe("s2"), Subscribe("new", "y = 1")])
    with first.lent() as answers:
        engine = answers.engine
    with second.lent() as answers:
        assert answers.engine is engine
        assert held(engine) == held(second.unpacked())
    with first.lent() as answers:
        assert answers.engine is not engine  # what s2 was is in the snapshot alone
        assert held(answers.engine) == held(first.unpacked())


def test_one_that_is_in_use_is_left_alone(packed: EngineImage) -> None:
    first = packed.changed([Change("s1", "y = 1")])
    second = packed.changed([Change("s1", "y = 2")])
    with first.lent() as before, second.lent() as after:
        assert before.engine.match({"y": 1}) == ["s1"]
        assert after.engine.match({"y": 2}) == ["s1"]


def test_one_that_was_given_for_good_is_left_alone(packed: EngineImage) -> None:
    first, second = packed.changed([Change("s1", "y = 1")]), packed.changed([Unsubscribe("s1")])
    engine = first.shared()
    with second.lent() as answers:
        assert answers.engine is not engine
    assert engine.match({"y": 1}) == ["s1"]
    assert first.shared() is engine


def test_engines_of_other_snapshots_are_left_alone(packed: EngineImage) -> None:
    other = EngineImage.of(Engine())
    with packed.lent() as answers:
        engine = answers.engine
    with other.lent() as answers:
        assert len(answers.engine) == 0
    assert len(engine) == 50


def changes() -> st.SearchStrategy[list[Operation]]:
    """What may have changed since a snapshot with the ids a and b, and without c and d."""
    text = st.sampled_from(["x = 1", "x = 2"])
    of_held = st.one_of(
        st.just(()),
        text.map(lambda said: (Change("", said),)),
        st.just((Unsubscribe(""),)),
        text.map(lambda said: (Unsubscribe(""), Subscribe("", said, "bob"))),
    )
    of_others = st.one_of(
        st.just(()), st.builds(lambda s, o: (Subscribe("", s, o),), text, st.sampled_from(OWNERS))
    )
    return st.tuples(of_held, of_held, of_others, of_others).map(
        lambda parts: list(named(zip("abcd", parts, strict=True)))
    )


def named(parts: Any) -> Iterator[Operation]:
    from dataclasses import replace

    for id, operations in parts:
        for operation in operations:
            yield replace(operation, id=id)


def engine_with(changes: Sequence[Operation]) -> Engine:
    engine = Engine(matcher="brute-force")
    engine.subscribe_many({"a": "x = 0", "b": "x = 0"}, owner="ann")
    engine.apply(changes)
    return engine


@given(before=changes(), after=changes())
def test_what_is_between_makes_one_of_the_other(
    before: list[Operation], after: list[Operation]
) -> None:
    between = operations_between(before, after)
    if between is not None:
        engine = engine_with(before)
        engine.apply(between)
        assert held(engine) == held(engine_with(after))


@given(before=changes(), more=changes())
def test_what_only_adds_is_never_a_matter_of_the_snapshot(
    before: list[Operation], more: list[Operation]
) -> None:
    known = {operation.id for operation in before}
    after = [*before, *(operation for operation in more if operation.id not in known)]
    assert operations_between(before, after) is not None
