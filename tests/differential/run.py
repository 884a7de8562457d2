"""Round after round of every family, until so many decisions agree, or one does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, Final

import msgspec

from bench.measuring.machine import this_machine
from predicast.language.json_form import event_to_json, subscription_to_json
from tests.differential.families import LARGE_EVERY, Setting, Sizes, setting, walk
from tests.differential.results import DifferentialReport, FamilyResult
from tests.differential.shrinking import Shrunk, shrink
from tests.differential.steps import standing
from tests.differential.walk import Outcome

_TOLD: Final = 5  # subscriptions that are printed, not only written


def run(
    families: Sequence[str],
    *,
    decisions: int,
    seed: int,
    out: Path,
    advance: Callable[[int], None] = lambda _: None,
    matcher: str = "columnar",
    sizes: Sizes | None = None,
    least_rounds: int = LARGE_EVERY,
) -> DifferentialReport:
    """At least so many decisions of each family, in whole rounds."""
    report = DifferentialReport(this_machine(), matcher, decisions, seed)
    for family in families:
        result = FamilyResult(family)
        report.families.append(result)
        start = perf_counter()
        while result.decisions < decisions or result.rounds < least_rounds:
            chance = Random(f"{seed} {family} {result.rounds}")
            chosen = setting(family, result.rounds, chance, matcher, sizes or Sizes())
            outcome = walk(family, chosen, chance).run(advance)
            result.add(outcome.tally)
            result.seconds = perf_counter() - start
            if outcome.difference is not None:
                place = out / f"differential-{family}-{seed}.json"
                report.difference = _told(report, result, chosen, outcome, place)
                return report
    return report


def _told(
    report: DifferentialReport, result: FamilyResult, chosen: Setting, outcome: Outcome, place: Path
) -> str:
    """Shrink a difference, write it down, and say it."""
    assert outcome.difference is not None
    result.differences += 1
    small = shrink(outcome.history, outcome.difference, chosen.contender, chosen.absent)
    document = _document(report, result, chosen, outcome, small)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(msgspec.json.format(msgspec.json.encode(document)) + b"\n")
    return "\n".join([*_lines(report, result, outcome, small), f"written to {place}"])


def _lines(
    report: DifferentialReport, result: FamilyResult, outcome: Outcome, small: Shrunk
) -> Iterator[str]:
    place = f"{result.family}, seed {report.seed}, round {result.rounds - 1}"
    yield f"{place}, step {len(outcome.history)}: {outcome.difference}"
    if small.is_reproduced:
        yield f"shrunk to {len(small.history)} steps: {small.difference}"
    else:
        yield "it did not show again; the steps written are those of the ids concerned"
    if small.difference.event is not None:
        yield f"event: {event_to_json(small.difference.event)}"
    for id, each in islice(standing(small.history).items(), _TOLD):
        yield f"{id}: {subscription_to_json(each)}"


def _document(
    report: DifferentialReport,
    result: FamilyResult,
    chosen: Setting,
    outcome: Outcome,
    small: Shrunk,
) -> dict[str, Any]:
    event = small.difference.event
    texts = {id: subscription_to_json(each) for id, each in standing(small.history).items()}
    return {
        "family": result.family,
        "seed": report.seed,
        "round": result.rounds - 1,
        "step": len(outcome.history),
        "contender": repr(small.contender),
        "absent": chosen.absent,
        "first seen as": str(outcome.difference),
        "reproduced": small.is_reproduced,
        "difference": str(small.difference),
        "event": None if event is None else msgspec.Raw(event_to_json(event).encode()),
        "subscriptions": {id: msgspec.Raw(text.encode()) for id, text in texts.items()},
        "steps": [step.document() for step in small.history],
    }
