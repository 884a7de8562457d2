"""What was acknowledged, and whether all of it holds in the end."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from predicast import Engine
from tests.faults.broker.worker import SUBSCRIPTIONS, attributes


class _Fault(NamedTuple):
    """Something that publishing has not recovered from yet."""

    kind: str
    since: float
    publisher: str | None  # whose publishing; anybody's, if not told


class Record:
    """Facts that workers told, in whichever order they came."""

    def __init__(self, marks: Sequence[str] = ("",)) -> None:
        """``marks`` are what the ids of subscriptions end with, each time."""
        self._lock = threading.Lock()  # there is a listener to each worker
        self._marks = marks
        self._faults: list[_Fault] = []
        self.recoveries: defaultdict[str, list[float]] = defaultdict(list)  # seconds, by fault
        self.counts: Counter[str] = Counter()
        self.kept: dict[tuple[str, str], int] = {}  # position by publisher and id
        self.next_number: defaultdict[str, int] = defaultdict(int)
        self.limits: dict[str, int] = {}
        self.subscribed: set[str] = set()
        self.got: Counter[tuple[str, str, str]] = Counter()  # subscription, publisher, id
        self.log: list[tuple[int, str, str]] = []
        self.held: dict[str, Any] = {}
        self.violations: list[str] = []
        self.has_events = threading.Event()

    def struck(self, kind: str, since: float, publisher: str | None = None) -> None:
        """Take the time from then until something that was published later is acknowledged."""
        with self._lock:
            self._faults.append(_Fault(kind, since, publisher))

    def note(self, fact: dict[str, Any]) -> None:
        """Remember what a worker said."""
        with self._lock:
            self._note(fact)

    def _note(self, fact: dict[str, Any]) -> None:
        if "kept" in fact:
            self._kept(fact)
            self._recovered(fact)
        elif "got" in fact:
            for id in fact["got"]:
                self.got[id, fact["publisher"], fact["id"]] += 1
            self.counts["deliveries"] += len(fact["got"])
        elif "changed" in fact:
            self.counts["changes"] += 1
            self.limits[fact["changed"]] = max(fact["limit"], self.limits.get(fact["changed"], -1))
        elif "subscribed" in fact:
            self.subscribed.add(fact["subscribed"])
        elif "failed" in fact:
            self.counts["refusals"] += 1
        elif "log" in fact:
            self.log += [tuple(each) for each in fact["log"]]
        elif "held" in fact:
            self.held[fact["held"]] = fact["limit"]

    def _kept(self, fact: dict[str, Any]) -> None:
        publisher, first = fact["publisher"], fact["first"]
        for offset, position in enumerate(fact["kept"]):
            key = (publisher, str(first + offset))
            if self.kept.setdefault(key, position) != position:
                self.violations.append(f"{key} was kept at {self.kept[key]} and at {position}")
        self.counts["events"] += len(fact["kept"])
        self.has_events.set()
        self.next_number[publisher] = max(self.next_number[publisher], first + len(fact["kept"]))

    def _recovered(self, fact: dict[str, Any]) -> None:
        left = []
        for fault in self._faults:
            is_after = fact["began"] >= fault.since
            if is_after and fault.publisher in {None, fact["publisher"]}:
                self.recoveries[fault.kind].append(fact["at"] - fault.since)
            else:
                left.append(fault)
        self._faults = left

    def check(self) -> list[str]:
        """What does not hold of what was promised."""
        return [
            *self.violations,
            *self._lost_events(),
            *self._repeated_events(),
            *self._disorder(),
            *self._lost_deliveries(),
            *self._lost_changes(),
        ]

    def _lost_events(self) -> list[str]:
        there = {(publisher, id): position for position, publisher, id in self.log}
        return [
            f"{key} was acknowledged at {position} and is at {there.get(key)}"
            for key, position in self.kept.items()
            if there.get(key) != position
        ]

    def _repeated_events(self) -> list[str]:
        counted = Counter((publisher, id) for _, publisher, id in self.log)
        return [f"{key} is there {count} times" for key, count in counted.items() if count > 1]

    def _disorder(self) -> list[str]:
        last: dict[str, int] = {}
        found = []
        for position, publisher, id in sorted(self.log):
            if int(id) <= last.get(publisher, -1):
                found.append(f"{publisher} {id} at {position} comes after {last[publisher]}")
            last[publisher] = int(id)
        return found

    def missing(self, among: Iterable[tuple[str, str]] | None = None) -> list[tuple[str, str]]:
        """Events that were kept, and not delivered to all who want them."""
        with self._lock:
            keys = list(self.kept if among is None else among)
            return [key for key in keys if not _wanted(int(key[1]), self._marks) <= self._got(key)]

    def _got(self, key: tuple[str, str]) -> set[str]:
        names = (f"{name}{mark}" for name in SUBSCRIPTIONS for mark in self._marks)
        return {name for name in names if (name, *key) in self.got}

    def _lost_deliveries(self) -> list[str]:
        found = []
        for key in self.kept:
            wanted, received = _wanted(int(key[1]), self._marks), self._got(key)
            if wanted != received:
                found.append(f"{key}: for {sorted(wanted)}, delivered to {sorted(received)}")
        return found

    def _lost_changes(self) -> list[str]:
        gone = [f"{id} was there and is not" for id in self.subscribed if id not in self.held]
        old = [
            f"{id} was changed to {limit} and has {self.held.get(id)}"
            for id, limit in self.limits.items()
            if self.held.get(id) is None or self.held[id] < limit
        ]
        return gone + old

    @property
    def repeats(self) -> int:
        """Deliveries that came more than once."""
        return sum(count - 1 for count in self.got.values())


def _wanted(number: int, marks: Sequence[str]) -> frozenset[str]:
    """The subscriptions that want event ``number``."""
    return frozenset(f"{id}{mark}" for id in _matched(number % 100) for mark in marks)


@cache
def _matched(number: int) -> list[str]:
    oracle = Engine(matcher="brute-force")
    for id, text in SUBSCRIPTIONS.items():
        oracle.subscribe(text, id=id)
    return list(oracle.match(attributes(number)))
