"""``python -m bench papers ontology``: time per event over the number of subscriptions.

All contestants match the same events in one process, taking turns. ``joins`` and ``ops`` hold all
subscriptions; the engines of SPARQL are asked the first few of them, and their time is made out for
all, since it grows with their number. Whatever two of them answer both must be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import Final

from rich.table import Table

from bench.measuring.machine import Machine, this_machine
from bench.measuring.memory import allocated_bytes
from bench.measuring.result_files import ResultFile
from bench.measuring.sizes import Size
from bench.measuring.timing import collector_off
from bench.papers.ontology.rivals import Answered, Oxigraph, Rdflib, Rival, entailed_text
from bench.papers.ontology.workload import VARIANTS, OntologyWorkload, Variant
from predicast.graph import EventGraph, GraphEngine, Ontology

SIZES: Final = {
    Size.SMALL: (500, 2_000, 5_000),
    Size.FULL: (500, 1_000, 2_000, 5_000, 10_000),
}
_LARGEST: Final = {Size.SMALL: (), Size.FULL: (100_000,)}  # of the paper's own workload alone
EVENTS: Final = 200
_FEW: Final = 3  # events for ops, which takes long
_OPS_MOST: Final = 10_000  # subscriptions, as in the paper
_TRACED_MOST: Final = 2_000  # subscriptions whose memory is found out, which takes long as well
# Queries that rivals are asked, and of how many events.
_ASKED: Final[dict[type[Rival], tuple[int, int]]] = {Oxigraph: (500, 5), Rdflib: (10, 1)}
_ONCE: Final = Rdflib  # so slow that the first point of a variant has to do


class OntologyFigures(ResultFile, kw_only=True):
    """One contestant at one point: processor time, and what was counted."""

    variant: Variant
    subscriptions: int
    contestant: str
    load_s: float
    ms_per_event: float
    asked: int  # of the subscriptions; the time is made out for all of them
    matched: float  # of a hundred of those
    given_up: float = 0  # of a hundred, those that would have taken too long
    nodes: float | None = None  # of the trie per subscription, or of a matching tree
    nodes_each: float | None = None  # of matching trees, per event and subscription
    rejected: float | None = None  # of a hundred trees of no match, by partial verification
    memory_mb: float | None = None  # that holding the subscriptions takes


class OntologyReport(ResultFile, kw_only=True):
    """What was measured."""

    machine: Machine
    size: Size
    seed: int
    repeats: int
    figures: list[OntologyFigures]


class ContestantsDisagreeError(Exception):
    """Two contestants found different subscriptions for the same event."""


def run_ontology(
    *,
    size: Size,
    seed: int,
    repeats: int,
    sizes: Sequence[int] | None = None,
    events: int = EVENTS,
    progress: Callable[[str], None] = lambda _: None,
) -> OntologyReport:
    """Measure all contestants at all points."""
    figures: list[OntologyFigures] = []
    for variant in VARIANTS:
        for place, count in enumerate(sizes or _sizes(variant, size)):
            progress(f"{variant}, {count:,}")
            point = _Point(variant, count, seed, repeats, events)
            figures += point.figures(everybody=place == 0)
    return OntologyReport(
        machine=this_machine(), size=size, seed=seed, repeats=repeats, figures=figures
    )


def points(size: Size) -> int:
    """How often ``run_ontology`` tells its progress."""
    return sum(len(_sizes(variant, size)) for variant in VARIANTS)


def _sizes(variant: Variant, size: Size) -> Sequence[int]:
    return (*SIZES[size], *(_LARGEST[size] if variant == "paper" else ()))


class _Point:
    """One variant with so many subscriptions."""

    def __init__(self, variant: Variant, count: int, seed: int, repeats: int, events: int) -> None:
        workload = OntologyWorkload(variant, seed)
        self._variant, self._repeats = variant, repeats
        self._ontology = Ontology.parse(workload.ontology(), "turtle")
        self._texts = workload.subscriptions(count)
        self._events = [
            EventGraph.parse(text, self._ontology, format="turtle")
            for text in workload.events(events)
        ]
        self._expected: list[list[int]] = []

    def figures(self, *, everybody: bool) -> list[OntologyFigures]:
        found = [self._engine("joins", self._events)]
        if len(self._texts) <= _OPS_MOST:
            found.append(self._engine("ops", self._events[:_FEW]))
        rivals = {kind: asked for kind, asked in _ASKED.items() if everybody or kind is not _ONCE}
        return [*found, *(self._rival(kind, *asked) for kind, asked in rivals.items())]

    def _engine(self, matcher: str, events: Sequence[EventGraph]) -> OntologyFigures:
        engine = GraphEngine(self._ontology, matcher=matcher)
        engine.warm_up()
        patterns = {f"{place}": text for place, text in enumerate(self._texts)}
        load_s = _timed(lambda: engine.subscribe_many(patterns))
        before = engine.statistics()
        found = [[*map(int, ids)] for ids in engine.match_batch(events)]
        after = engine.statistics()
        given_up = after["undecided"] - before["undecided"]
        self._compare(matcher, found, len(self._texts), [given_up > 0] * len(found))
        seconds = [_timed(lambda: engine.match_batch(events)) for _ in range(self._repeats)]
        return OntologyFigures(
            variant=self._variant,
            subscriptions=len(self._texts),
            contestant=matcher,
            load_s=load_s,
            ms_per_event=1e3 * median(seconds) / len(events),
            asked=len(self._texts),
            matched=_percent(found, len(self._texts)),
            given_up=100 * given_up / len(events) / len(self._texts),
            nodes=_nodes(before, after),
            memory_mb=self._memory_mb(matcher, patterns),
            **_trees(before, after, len(events), sum(map(len, found))),
        )

    def _memory_mb(self, matcher: str, patterns: dict[str, str]) -> float | None:
        """What holding them takes, found by loading them once more."""
        if self._variant != "paper" or len(patterns) > _TRACED_MOST:
            return None
        with allocated_bytes() as taken:
            held = GraphEngine(self._ontology, matcher=matcher)
            held.subscribe_many(patterns)
        assert len(held) == len(patterns)
        return taken() / 1e6

    def _rival(self, kind: type[Rival], asked: int, few: int) -> OntologyFigures:
        texts, events = self._texts[:asked], self._events[:few]
        triples = [entailed_text(event, self._ontology) for event in events]
        made: list[Rival] = []
        load_s = _timed(lambda: made.append(kind(texts)))
        answered: list[Answered] = []
        taken = _timed(lambda: answered.extend([made[0].match(each) for each in triples]))
        found = [each.matched for each in answered]
        given_up = [each.given_up for each in answered]
        self._compare(kind.name, found, len(texts), [bool(each) for each in given_up])
        scale = len(self._texts) / len(texts)
        return OntologyFigures(
            variant=self._variant,
            subscriptions=len(self._texts),
            contestant=kind.name,
            load_s=scale * load_s,
            ms_per_event=1e3 * scale * taken / len(events),
            asked=len(texts),
            matched=_percent(found, len(texts)),
            given_up=_percent(given_up, len(texts)),
        )

    def _compare(
        self, contestant: str, found: list[list[int]], asked: int, is_partial: list[bool]
    ) -> None:
        """Refuse answers that are not those of the first contestant, or not among them."""
        if not self._expected:
            self._expected = [sorted(each) for each in found]
        for event, mine in enumerate(found):
            expected = {place for place in self._expected[event] if place < asked}
            if not (expected.issuperset(mine) if is_partial[event] else expected == {*mine}):
                raise ContestantsDisagreeError(f"{contestant} about event {event}")


def _timed(run: Callable[[], object]) -> float:
    with collector_off():
        start = process_time()
        run()
        return process_time() - start


def _percent(found: list[list[int]], asked: int) -> float:
    return 100 * sum(map(len, found)) / len(found) / asked


def _nodes(before: dict[str, int], after: dict[str, int]) -> float:
    """Of the trie per subscription, or of a matching tree."""
    if "trees" in after:
        trees = after["trees"] - before["trees"]
        return (after["nodes"] - before["nodes"]) / max(trees, 1)
    return after["nodes"] / max(after["subscriptions"], 1)


def _trees(
    before: dict[str, int], after: dict[str, int], events: int, matches: int
) -> dict[str, float]:
    """What became of matching trees, if there are any."""
    if "trees" not in after:
        return {}
    grown = {name: after[name] - before[name] for name in ("trees", "nodes", "verified")}
    failed = grown["trees"] - matches
    rejected = 100 * (grown["trees"] - grown["verified"]) / failed if failed else 100.0
    asked = events * after["subscriptions"]
    return {"nodes_each": grown["nodes"] / asked, "rejected": rejected}


def ontology_table(report: OntologyReport) -> Table:
    """For people."""
    table = Table(
        title="events of 50 vertices and 55 arcs, patterns of 10 vertices and 11 arcs",
        caption="processor time; rivals of which few were asked, made out for all",
    )
    for column in ("variant", "contestant"):
        table.add_column(column)
    for column in ("subscriptions", "load s", "ms per event", "asked"):
        table.add_column(column, justify="right")
    for column in ("match %", "given up %", "nodes", "MB"):
        table.add_column(column, justify="right")
    for each in report.figures:
        table.add_row(
            each.variant,
            each.contestant,
            f"{each.subscriptions:,}",
            f"{each.load_s:.2f}",
            f"{each.ms_per_event:,.3f}",
            f"{each.asked:,}",
            f"{each.matched:.2f}",
            f"{each.given_up:.2f}",
            "" if each.nodes is None else f"{each.nodes:.1f}",
            "" if each.memory_mb is None else f"{each.memory_mb:.0f}",
        )
    return table
