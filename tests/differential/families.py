"""The families of the run, and how their rounds differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final

from bench.matchers.alerts import Skew, alerts_workload
from bench.matchers.ceem import ceem_workload
from bench.matchers.mixed import mixed_workload
from bench.matchers.redundant import redundant_workload
from bench.matchers.regions import regions_workload
from bench.matchers.texts import texts_workload
from predicast.matching.columnar.layout.blocks import Layout
from predicast.model import Absent
from tests.differential.sources import AnythingSource, Make, Source, WorkloadSource
from tests.differential.walk import Contender, Scale, Tuning, Walk

Draw = Callable[[int, Random], Source]  # for about so many subscriptions

SMALL: Final = Scale(subscriptions=600, steps=40, events=60)
LARGE: Final = Scale(subscriptions=22_000, steps=14, events=40)
LARGE_EVERY: Final = 4  # rounds, the last of these many is large

_TUNINGS: Final = (
    Tuning(),
    Tuning(compile_threshold=0.0),
    Tuning(
        compile_threshold=0.0, small=0, layout=Layout(block=2, reached=0, family=0, partition=0)
    ),
    Tuning(small=50, layout=Layout(block=16, reached=4, family=8, partition=4)),
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of small rounds and of large ones."""

    small: Scale = SMALL
    large: Scale = LARGE


@dataclass(frozen=True, slots=True)
class Setting:
    """One round, all of it told by family, seed and number."""

    contender: Contender
    scale: Scale
    absent: Absent


def setting(family: str, number: int, chance: Random, matcher: str, sizes: Sizes) -> Setting:
    """How a round is set up."""
    is_large = number % LARGE_EVERY == LARGE_EVERY - 1
    tuning = Tuning() if is_large else chance.choice(_TUNINGS)
    # A wide subscription of which an event has two names passes more often than not: the answers
    # of large rounds would be nothing but long.
    may_pass = family == "anything" or not is_large
    absent: Absent = "passes" if may_pass and chance.random() < 0.4 else "fails"
    scale = sizes.large if is_large else sizes.small
    return Setting(Contender(matcher, tuning), scale, absent)


def walk(family: str, chosen: Setting, chance: Random) -> Walk:
    """The round that a setting describes."""
    source = FAMILIES[family](chosen.scale.subscriptions, chance)
    return Walk(chosen.contender, source, chosen.scale, chosen.absent, chance)


def _workload(make: Make) -> Draw:
    return lambda size, chance: WorkloadSource(make, 2 * size, chance)


def _anything(_size: int, chance: Random) -> Source:
    return AnythingSource(chance)


FAMILIES: Final[dict[str, Draw]] = {
    "anything": _anything,
    "ceem-exp1": _workload(partial(ceem_workload, "exp1")),
    "ceem-exp2": _workload(partial(ceem_workload, "exp2")),
    "redundant": _workload(redundant_workload),
    "strings": _workload(texts_workload),
    "mixed": _workload(mixed_workload),
    "alerts": _workload(partial(alerts_workload, Skew.ZIPF, 1_000)),
    "regions-2d": _workload(partial(regions_workload, 2, 10)),
    "regions-3d": _workload(partial(regions_workload, 3, 10)),
}
