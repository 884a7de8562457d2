"""Selective rules, the case of rule engines: a great many, of which an event matches none or ten.

Rules come in groups of ten that ask for the same, so that an event which one of them matches, all
ten do. A rule asks for three things: an account, or a path that belongs to one, which few rules
share; an action and a region, which many do. An event that matches nothing has an account that
rules ask for, and an action that they do not ask for with it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Final

import pyarrow as pa

from bench.measuring.timing import timed
from bench.real.results import SelectiveResult
from predicast import Engine

ALIKE: Final = 10  # rules that ask for the same
_ACTIONS: Final = 20
_REGIONS: Final = 50
# Batches before those that are timed: with a million ids it is the seventh that makes the array of
# all of them, from which later answers take theirs (src/predicast/engine/ids.py).
_WARM: Final = 8


@dataclass(frozen=True, slots=True)
class Selective:
    """How much is measured."""

    rules: tuple[int, ...] = (100_000, 1_000_000)
    batch: int = 2_000
    singles: int = 2_000
    rounds: int = 7

    def steps(self) -> int:
        """What ``measure_selective`` reports on."""
        return len(self.rules) * len(FAMILIES)


def _equalities(group: int) -> str:
    return f"account = 'a{group}'{_common(group)}"


def _lists(group: int) -> str:
    accounts = ", ".join(f"'a{group}x{number}'" for number in range(4))
    actions = ", ".join(f"'act{(group + step) % _ACTIONS}'" for step in (0, 3, 7))
    regions = ", ".join(f"'r{(group + step) % _REGIONS}'" for step in (0, 11, 23))
    return (
        f"account IN ('a{group}', {accounts}) AND action IN ({actions}) AND region IN ({regions})"
    )


def _prefix(group: int) -> str:
    return f"startswith(path, '/srv/{group}/'){_common(group)}"


def _wildcard(group: int) -> str:
    return f"path LIKE '/srv/{group}/%/report.csv'{_common(group)}"


def _mixed(group: int) -> str:
    return (_equalities, _lists, _prefix, _wildcard)[group % 4](group)


def _common(group: int) -> str:
    return f" AND action = 'act{group % _ACTIONS}' AND region = 'r{group % _REGIONS}'"


FAMILIES: Final[dict[str, Callable[[int], str]]] = {
    "equalities": _equalities,
    "value lists": _lists,
    "a prefix": _prefix,
    "a wildcard": _wildcard,
    "a mixture": _mixed,
}


def measure_selective(
    effort: Selective, *, seed: int, progress: Callable[[str], None]
) -> Iterator[list[SelectiveResult]]:
    """The results of one family after the other, as soon as they are known."""
    for rules in effort.rules:
        for made_of, text in FAMILIES.items():
            progress(f"{rules:,} rules of {made_of}")
            yield _measure(made_of, text, rules, effort, random.Random(seed))


def _measure(
    made_of: str,
    text: Callable[[int], str],
    rules: int,
    effort: Selective,
    chance: random.Random,
) -> list[SelectiveResult]:
    engine = Engine()
    engine.subscribe_many((f"s{number}", text(number // ALIKE)) for number in range(rules))
    engine._store.matcher.settle()  # merging in the background would disturb the first rounds
    results = []
    for matches in (0, ALIKE):
        groups = [chance.randrange(rules // ALIKE) for _ in range(effort.batch)]
        events = [_event(chance, group, matches=matches > 0) for group in groups]
        table = pa.Table.from_pylist(events)
        found = {engine.match_arrow(table).num_rows for _ in range(_WARM)}
        singly = sum(len(engine.match(event)) for event in events[: effort.singles])
        expected = {matches * len(events)}, matches * len(events[: effort.singles])
        in_batch = [timed(partial(engine.match_arrow, table))[0] for _ in range(effort.rounds)]
        alone = [_alone_s(engine, events[: effort.singles]) for _ in range(effort.rounds)]
        results.append(
            SelectiveResult(
                made_of=made_of,
                rules=rules,
                matches=matches,
                batch_us=1e6 * median(in_batch) / len(events),
                single_us=1e6 * median(alone) / len(events[: effort.singles]),
                wrong="" if (found, singly) == expected else f"{(found, singly)}, not {expected}",
            )
        )
    return results


def _event(chance: random.Random, group: int, *, matches: bool) -> dict[str, Any]:
    """An event of a group, or one that has everything but the action of it."""
    folder = f"{chance.randrange(16**6):06x}"
    return {
        "account": f"a{group}",
        "path": f"/srv/{group}/{folder}/report.csv",
        "action": f"act{(group + (0 if matches else 1)) % _ACTIONS}",
        "region": f"r{group % _REGIONS}",
        "host": f"host-{chance.randrange(5_000)}",
        "bytes": chance.randrange(1_000_000),
    }


def _alone_s(engine: Engine, events: list[dict[str, Any]]) -> float:
    def match() -> None:
        for event in events:
            engine.match(event)

    return timed(match)[0]
