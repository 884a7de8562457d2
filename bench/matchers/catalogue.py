"""The workloads by name: how each is made, at which sizes, with how many events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from bench.matchers.ceem import ceem_workload
from bench.matchers.mixed import mixed_workload
from bench.matchers.redundant import redundant_workload
from bench.matchers.regions import regions_workload
from bench.matchers.rival import AnyWorkload
from bench.matchers.texts import texts_workload
from bench.measuring.sizes import Size


@dataclass(frozen=True, slots=True)
class Sizes:
    """Subscriptions at each point, events in the batch."""

    subscriptions: tuple[int, ...]
    events: int

    def up_to(self, largest: int | None) -> Sizes:
        """The points of at most so many subscriptions."""
        if largest is None:
            return self
        return Sizes(tuple(n for n in self.subscriptions if n <= largest), self.events)


@dataclass(frozen=True, slots=True)
class Family:
    """One line of points: a workload that grows."""

    name: str
    workload: str  # the name on the command line; regions come in several families
    title: str
    make: Callable[[int, int, int], AnyWorkload]  # subscriptions, events, seed
    sizes: dict[Size, Sizes]


@dataclass(frozen=True, slots=True)
class ChurnSettings:
    """How long, how much and how many: rates are changes a second."""

    subscriptions: int
    rates: tuple[int, ...]
    slices: int
    slice_s: float


CEEM_SIZES: Final = {
    Size.SMALL: Sizes((5_000, 50_000), 2_000),
    Size.FULL: Sizes((5_000, 50_000, 500_000, 1_000_000, 5_000_000), 2_000),
}
REGION_SIZES: Final = {
    Size.SMALL: Sizes((10_000,), 500),
    Size.FULL: Sizes((100_000, 1_000_000), 1_000),
}
HITS: Final = (1, 10, 100)


def _ceem(name: str, title: str) -> Family:
    return Family(f"ceem-{name}", f"ceem-{name}", title, partial(ceem_workload, name), CEEM_SIZES)


def _regions(dimensions: int, hits: int) -> Family:
    return Family(
        f"regions-{dimensions}d-{hits}",
        f"regions-{dimensions}d",
        f"Regions in {dimensions} dimensions, about {hits} hit{'' if hits == 1 else 's'} per event",
        partial(regions_workload, dimensions, hits),
        REGION_SIZES,
    )


FAMILIES: Final = [
    _ceem("exp1", "CEEM 1: two equalities, three ranges"),
    _ceem("exp2", "CEEM 2: three equalities, four ranges"),
    Family(
        "redundant",
        "redundant",
        "Wide and sparse: 10 to 15 constraints on 500 names",
        redundant_workload,
        {
            Size.SMALL: Sizes((1_000, 10_000), 200),
            Size.FULL: Sizes((1_000, 100_000, 1_000_000), 1_000),
        },
    ),
    Family(
        "strings",
        "strings",
        "Strings: prefix, suffix, contains, LIKE",
        texts_workload,
        {
            Size.SMALL: Sizes((1_000, 5_000), 500),
            Size.FULL: Sizes((1_000, 10_000, 100_000), 1_000),
        },
    ),
    Family(
        "mixed",
        "mixed",
        "Mixed: OR, IN, BETWEEN, one-sided, strings, booleans",
        mixed_workload,
        {
            Size.SMALL: Sizes((5_000, 20_000), 500),
            Size.FULL: Sizes((5_000, 50_000, 500_000), 1_000),
        },
    ),
    *(_regions(dimensions, hits) for dimensions in (2, 3) for hits in HITS),
]

CHURN: Final = {
    Size.SMALL: ChurnSettings(100_000, (0, 100, 1_000, 10_000), slices=1, slice_s=1.5),
    Size.FULL: ChurnSettings(1_000_000, (0, 100, 1_000, 10_000), slices=3, slice_s=4.0),
}
LOAD: Final = {Size.SMALL: 50_000, Size.FULL: 1_000_000}
SINGLE: Final = {Size.SMALL: Sizes((50_000,), 1_000), Size.FULL: Sizes((50_000,), 2_000)}

WORKLOADS: Final = (
    *dict.fromkeys(family.workload for family in FAMILIES),
    "churn",
    "load",
    "single",
)
