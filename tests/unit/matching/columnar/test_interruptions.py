"""An exception at any line of a match leaves the matcher giving right answers.

A signal's handler or a lack of memory may raise anywhere. So each call is made again and again,
and interrupted at another line each time: at every line that holds the matcher's state, the first
and the last time that it is reached, and elsewhere once per function. After each of them, brute
force says what is right. What was raised is kept, and with it all that the frames it went through
looked at.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from itertools import count
from types import CodeType, FrameType
from typing import Any, NamedTuple, NoReturn

import pytest

from predicast import Event
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.brute_force import BruteForce
from predicast.matching.columnar import Columnar, merging
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.segment import Segment
from predicast.matching.delta import Delta, Group
from predicast.matching.matcher import Matcher
from predicast.model import Clause, Constraint, Interval, Operator, Subscription
from predicast.model.operand_columns import grouped
from tests.interruption import leaving
from tests.thorough import LONG

_PUBLISHING = ("matcher.py", "merging.py", "view.py")
_STATEFUL = (*_PUBLISHING, "recent.py", "segment.py")


class Interrupted(BaseException):
    """Nothing expects it."""


def traced(call: Callable[[], object], reach: Callable[[CodeType, int], None]) -> None:
    """Make a call, and tell of every line of ours, and of threads, that it reaches."""

    def look(frame: FrameType, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if "predicast" not in name and not name.endswith("threading.py"):
            return None
        if event == "line" and frame.f_lasti not in leaving(frame.f_code):
            reach(frame.f_code, frame.f_lineno)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        call()
    finally:
        sys.settrace(before)


def points(call: Callable[[], object]) -> list[int]:
    """Which of the lines that a call reaches to interrupt it at, counted from its beginning."""
    first: dict[object, int] = {}
    last: dict[object, int] = {}
    reached = count()

    def reach(code: CodeType, line: int) -> None:
        is_stateful = code.co_filename.endswith(_STATEFUL)
        place = (code, line) if is_stateful else code
        number = next(reached)
        first.setdefault(place, number)
        if code.co_filename.endswith(_PUBLISHING):
            last[place] = number

    traced(call, reach)
    return sorted({*first.values(), *last.values()})


def interrupted(call: Callable[[], object], point: int) -> BaseException | None:
    """Make a call, and raise at one of the lines that it reaches; what came of it."""
    reached = count()

    def reach(code: CodeType, line: int) -> None:
        if next(reached) == point:
            raise Interrupted

    try:
        traced(call, reach)
    except BaseException as error:  # noqa: BLE001  # whatever an interrupted library makes of it
        return error
    return None  # caches are filled by now, and threads wait for each other or not


def where(error: BaseException | None) -> str:
    return "" if error is None else "".join(traceback.format_tb(error.__traceback__)[-4:])


class Small(Columnar):
    """A handful of clauses make a segment, and several of those a merge."""

    name = "columnar-small"
    layout = Layout(block=2, family=2, partition=1)
    small = 64
    bulk_minimum = 2


class Alone(Small):
    """What is due is done by whoever finds it so, not in a background thread."""

    name = "columnar-alone"
    in_background = False


def subscription(number: int) -> Subscription:
    x = Constraint("x", Operator.GE, number % 7)
    tests = (
        (Constraint("x", Operator.LT, 9 + number % 3),),
        (Constraint("name", Operator.CONTAINS, "ab"[number % 2]),),
        (Constraint("y", Operator.IN, (number % 3, 7)),),
        (Constraint("y", Operator.GT, number % 4), Constraint("x", Operator.LE, 20)),
    )[number % 4]
    clauses = [Clause((x, *tests))]
    if number % 4 == 3:
        clauses.append(Clause((Constraint("y", Operator.LT, number % 6),)))
    return Subscription(tuple(clauses))


EVENTS = [
    Event({"x": 6, "y": 7, "name": "cab"}),
    Event({"x": 3.5, "y": 2}),
    Event({"y": 0, "name": "b"}),
    Event({"x": 10}),
    Event({}),
]
COLUMNS = EventBatch.from_events(EVENTS)
REGION = Event({"x": Interval(2, 4), "y": 3})


class Calm(Small):
    """Nothing is merged by itself."""

    name = "columnar-calm"
    small = 1_000_000


def oracle_has_none(key: int) -> NoReturn:
    raise AssertionError(f"{key} is new")


def filled(kind: type[Columnar]) -> tuple[Columnar, BruteForce]:
    """Four segments, recents that are full and others, and some deleted; all of it is due."""
    matcher, oracle = kind(), BruteForce()
    matcher.small = Calm.small  # type: ignore[misc]
    matcher._wake = lambda lane: None  # type: ignore[method-assign]  # no thread is at work yet
    first = 0
    for many in (30, 12, 8, 24, 9, 9):
        new = {number: subscription(number) for number in range(first, first + many)}
        first += many
        for key, each in new.items():
            oracle.subscribe(key, each)
            if many == 9:
                matcher.subscribe(key, each)
        if many != 9:
            groups = [Group(*each) for each in grouped(new.items())]
            matcher.apply(Delta(added_groups=groups), oracle_has_none)
        elif not matcher._full:
            matcher._compile_recent()
    for key in (3, 31, 32, 45, 60, 70, 80):
        matcher.unsubscribe(key)
        oracle.unsubscribe(key)
    del matcher.small, matcher._wake
    matcher._ledger.spent = matcher._ledger.rent = 1e9
    return matcher, oracle


def answers(matcher: Matcher) -> list[list[int]]:
    """What it finds, in all the ways that there are to ask."""
    events, keys = matcher.match_columns(COLUMNS)
    found = [sorted(keys[events == event].tolist()) for event in range(len(EVENTS))]
    assert matcher.count_columns(COLUMNS).tolist() == [len(each) for each in found]
    return [*found, *(sorted(matcher.match(event)) for event in (EVENTS[0], REGION))]


class Call(NamedTuple):
    """What to interrupt; ways that differ little take turns at the points."""

    kind: type[Columnar]
    make: Callable[[Columnar], object]
    every: int = 1


CALLS = {
    "match": Call(Small, lambda matcher: matcher.match(EVENTS[0]), every=3),
    "match, compiling": Call(Alone, lambda matcher: matcher.match(EVENTS[0]), every=3),
    "batch": Call(Small, lambda matcher: matcher.match_batch(EVENTS), every=5),
    "count": Call(Alone, lambda matcher: matcher.count_columns(COLUMNS), every=7),
    "stored": Call(Small, lambda matcher: matcher.stored(), every=5),
    "settle": Call(Small, lambda matcher: matcher.settle(), every=3),
    "statistics": Call(Small, lambda matcher: matcher.statistics()),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupted_call_changes_no_answer(name: str) -> None:
    kind, call, every = CALLS[name]
    first, oracle = filled(kind)
    right = answers(oracle)
    kept = []
    lines = points(lambda: call(first))
    for point in lines[:: every if LONG else max(every, len(lines) // 20)]:
        matcher, _ = filled(kind)
        kept.append(interrupted(lambda m=matcher: call(m), point))  # type: ignore[misc]
        found = answers(matcher)
        assert found == right, f"interrupted by {kept[-1]!r} at {where(kept[-1])}"
        assert matcher.statistics()["subscriptions"] == len(oracle)
    assert sum(error is not None for error in kept) > 10, "hardly a line was reached"


@pytest.mark.parametrize("name", ["match, compiling", "settle"])
def test_what_was_interrupted_can_be_changed(name: str) -> None:
    kind, call, _ = CALLS[name]
    first, _ = filled(kind)
    every = points(lambda: call(first))
    for point in every[:: len(every) // (20 if LONG else 10)]:
        matcher, oracle = filled(kind)
        interrupted(lambda m=matcher: call(m), point)  # type: ignore[misc]
        for each in (matcher, oracle):
            for key in range(0, 83, 6):
                if key != 60:
                    each.change(key, subscription(key + 1))
            for key in (1, 33, 46, 61, 77):
                each.unsubscribe(key)
            each.subscribe(200, subscription(2))
        right = answers(oracle)
        assert answers(matcher) == right, f"{name}, interrupted at line {point}"
        matcher.settle()
        assert answers(matcher) == right, f"{name}, interrupted at line {point}, then settled"
        assert matcher.statistics()["recent"] == 0


def test_a_merge_that_lacks_memory_comes_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher, oracle = filled(Small)

    def fail(*_: object) -> Segment:
        raise MemoryError

    monkeypatch.setattr(merging, "together", fail)
    matcher.settle()
    assert answers(matcher) == answers(oracle)
    assert matcher.statistics()["recent"] > 0
    monkeypatch.undo()
    matcher.settle()
    assert answers(matcher) == answers(oracle)
    assert matcher.statistics()["recent"] == 0


def test_a_merge_is_made_at_once_where_no_thread_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    matcher, oracle = filled(Small)
    for worker in list(matcher._workers.values()):
        worker.join()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    matcher._ledger.spent = matcher._ledger.rent = 1e9
    assert answers(matcher) == answers(oracle)
    held = matcher.statistics()
    assert (held["recent"], held["segments"]) == (0, 1)
