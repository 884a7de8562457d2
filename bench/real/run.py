"""One run of ``python -m bench real``: what is measured in which size, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from bench.measuring.machine import this_machine
from bench.measuring.sizes import Size
from bench.real.corpus import read_corpus
from bench.real.detecting import Detecting, measure_detecting
from bench.real.dialects import WORKLOADS, Spoken, measure_dialect
from bench.real.loading import GIVEN_AS, measure_loading
from bench.real.results import RealReport
from bench.real.selective import Selective, measure_selective

PARTS: Final = ("sigma", "selective", "loading", *WORKLOADS)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much of each part is measured."""

    sigma: Detecting
    selective: Selective
    loading: tuple[tuple[int, str], ...]  # how many subscriptions, given as what
    dialects: Spoken

    def steps(self, parts: Collection[str]) -> int:
        """What ``run`` reports on."""
        each = {
            "sigma": self.sigma.steps(),
            "selective": self.selective.steps(),
            "loading": len(self.loading),
            **dict.fromkeys(WORKLOADS, 1),
        }
        return sum(each[part] for part in parts)


CORPUS: Final = 2_501  # rules that it has
EFFORT: Final = {
    Size.SMALL: Effort(
        Detecting(batches=(500, 2_000), singles=500, rounds=3),
        Selective(rules=(10_000,), singles=500, rounds=3),
        tuple((500, given_as) for given_as in GIVEN_AS),
        Spoken(subscriptions=2_000, events=500, singles=200, rounds=3),
    ),
    Size.FULL: Effort(
        Detecting(),
        Selective(),
        (*((CORPUS, given_as) for given_as in GIVEN_AS), (100_000, "objects")),
        Spoken(),
    ),
}


def run(
    parts: Collection[str],
    effort: Effort,
    *,
    seed: int,
    progress: Callable[[str], None],
    keep: Callable[[RealReport], None],
) -> RealReport:
    """Measure the parts; whatever is known is kept at once."""
    report = RealReport(machine=this_machine(), seed=seed, batch=effort.selective.batch)
    if "sigma" in parts:
        report.sigma = measure_detecting(read_corpus(), effort.sigma, seed=seed, progress=progress)
        keep(report)
    if "selective" in parts:
        for results in measure_selective(effort.selective, seed=seed, progress=progress):
            report.selective += results
            keep(report)
    if "loading" in parts:
        for count, given_as in effort.loading:
            progress(f"loading {count:,} rules as {given_as}")
            report.loading.append(measure_loading(count, given_as, seed=seed))
            keep(report)
    for name in WORKLOADS:
        if name in parts:
            progress(f"subscriptions in {name}")
            report.dialects.append(measure_dialect(name, effort.dialects, seed=seed))
            keep(report)
    return report
