"""A call that is interrupted anywhere has done all that it was to do, or nothing.

Interrupted at many of its instructions, one after the other, each time with an engine as fresh as
the first: the engine must be the one before the call or the one after it, in all that it says of
itself and in all that it answers.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from predicast import Change, Engine, Subscribe, Unsubscribe
from predicast.matching import matcher_names
from tests import wish_list  # noqa: F401  # registers
from tests.columnar_shapes import InBlocks
from tests.interruption import Interrupted, Interrupting, instructions
from tests.thorough import LONG

# Those left out of the quick run differ from others only in how they search.
SIMILAR = set() if LONG else {"improved-counting", "counting", "columnar-rows"}
MATCHERS = sorted({*matcher_names(), InBlocks.name} - SIMILAR)
POINTS = 200 if LONG else 4  # to interrupt a call at

EVENTS: list[dict[str, Any]] = [
    {},
    {"x": 1},
    {"x": 7, "kind": "t", "y": 2.5},
    {"x": 3, "kind": "u", "s": "abc"},
    {"y": 50, "s": "b"},
    {"x": 120, "y": -1, "kind": "t"},
]


def filled(matcher: str) -> Engine:
    engine = Engine(matcher=matcher)
    engine.subscribe_many({f"bulk-{n}": f"x = {n % 9} AND y < {n}" for n in range(40)}, owner="b")
    engine.subscribe("x > 2 OR kind = 'u'", id="either")
    engine.subscribe("s >= 'b'", id="text", owner="alice")
    engine.subscribe("x BETWEEN :lo AND :hi", id="region", parameters={"lo": 1, "hi": 5})
    engine.unsubscribe("bulk-7")
    engine.match({"x": 1})
    return engine


CALLS: dict[str, Callable[[Engine], object]] = {
    "subscribe": lambda e: e.subscribe("x < 100 AND kind = 't'", id="new", owner="alice"),
    "subscribe without id": lambda e: e.subscribe("y IS NULL"),
    "subscribe, replacing": lambda e: e.subscribe("TRUE", id="text", replace=True),
    "unsubscribe": lambda e: e.unsubscribe("bulk-3"),
    "unsubscribe all": lambda e: e.unsubscribe_all(owner="b"),
    "change": lambda e: e.change("bulk-5", "x < 100"),
    "change parameters": lambda e: e.change("region", parameters={"hi": 200}),
    "change one of a bulk, keeping its outline": lambda e: e.change("bulk-6", "x = 1 AND y < 90"),
    "window": lambda e: e.apply(
        [
            Unsubscribe("bulk-1"),
            Subscribe("bulk-1", "x = 7", "carol"),
            Unsubscribe("either"),
            Change("text", "s is abc", dialect="wishes"),
            Change("region", parameters={"lo": 0}),
            Subscribe("w", "x IS NOT NULL AND y > :y", None, {"y": 2}),
        ]
    ),
    "bulk": lambda e: e.subscribe_many({f"more-{n}": f"y >= {n} AND x = 7" for n in range(40)}),
    "match": lambda e: e.match(EVENTS[2]),
    "match batch": lambda e: e.match_batch(EVENTS),
    "save": lambda e: e.to_bytes(),
}


def everything(engine: Engine) -> list[Any]:
    """All that an engine says of itself, and its answers, which must be right as well."""
    entries = engine.subscriptions()
    right = Engine(matcher="brute-force")
    right.subscribe_many((entry.id, entry.subscription) for entry in entries)
    answers = [right.match(event) for event in EVENTS]
    for _ in range(2):
        assert [engine.match(event) for event in EVENTS] == answers
        assert engine.match_batch(EVENTS) == answers
    assert engine.statistics()["subscriptions"] == len(entries) == len(engine)
    assert engine.attributes() == frozenset().union(*(e.subscription.attributes() for e in entries))
    assert [engine.get(entry.id) for entry in entries] == entries
    fresh = engine.subscribe("FALSE")
    engine.unsubscribe(fresh)
    return [entries, answers, fresh]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("matcher", MATCHERS)
def test_all_or_nothing(matcher: str, call: str) -> None:
    run = CALLS[call]
    engine = filled(matcher)
    before = everything(filled(matcher))
    total = instructions(lambda: run(engine))
    after = everything(engine)
    seen = set()
    for at in range(1, total, max(total // POINTS, 1)):
        engine = filled(matcher)
        changes = engine.changes()
        with suppress(Interrupted), Interrupting(at):  # it may be shorter than the first, by caches
            run(engine)
        found = everything(engine)
        assert found in (before, after), f"interrupted at instruction {at} of {total}"
        seen.add(found == after)
        if before != after:
            assert bool(changes.take()) == (found == after)
    assert False in seen or before == after


@pytest.mark.parametrize("matcher", ["columnar", "poset", "ceem"])
@pytest.mark.parametrize("call", ["window", "bulk"])
def test_interrupted_again_and_again(matcher: str, call: str) -> None:
    """What finishes an interrupted call is itself interrupted, until it gets to the end."""
    run = CALLS[call]
    before = everything(filled(matcher))
    engine = filled(matcher)
    total = instructions(lambda: run(engine))
    after = everything(engine)
    for at in range(1, total, max(total // 12, 1)):
        engine = filled(matcher)
        with suppress(Interrupted), Interrupting(at):
            run(engine)
        for again in range(1, 3 * total, max(total // 5, 1)):
            try:
                with Interrupting(again):
                    engine.match(EVENTS[2])
            except Interrupted:
                continue
            break
        assert everything(engine) in (before, after)
