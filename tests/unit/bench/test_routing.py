"""The network experiment: a small run of it, judged and written up."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from bench.measuring.sizes import Size
from bench.papers.routing.documents import routing_tables, write_routing
from bench.papers.routing.run import RoutingReport, points, routing_verdicts, run_routing

SLACKS = (0.0, inf)


@pytest.fixture(scope="module")
def report() -> RoutingReport:
    told: list[str] = []
    found = run_routing(
        size=Size.SMALL, seed=1, counts=(5, 8, 24, 30), slacks=SLACKS, progress=told.append
    )
    assert len(told) == points(SLACKS) == len(found.points)
    return found


def test_exact_tables_carry_nothing_in_vain_and_coarse_ones_hold_less(
    report: RoutingReport,
) -> None:
    for world in ("dve", "market"):
        exact, coarse = report.of(world)
        assert exact.unwanted == 0
        assert coarse.held < exact.held <= exact.one_by_one
        assert exact.carried <= coarse.carried <= coarse.flooded
        assert exact.delivered == coarse.delivered


def test_claims_are_judged_by_what_was_counted(report: RoutingReport) -> None:
    verdicts = routing_verdicts(report)
    assert verdicts[0].outcome == "holds"
    report.of("dve")[0].unwanted = 3
    try:
        assert routing_verdicts(report)[0].outcome == "does not hold"
    finally:
        report.of("dve")[0].unwanted = 0


def test_it_is_written_up(report: RoutingReport, tmp_path: Path) -> None:
    written = write_routing(report, tmp_path, suffixes=["svg"])
    assert [path.name for path in written] == ["routing.svg", "routing.md"]
    assert "| dve | ∞ |" in written[1].read_text(encoding="utf-8")
    assert [table.row_count for table in routing_tables(report)] == [4, 4]
    report.write(tmp_path / "routing.json")
    assert RoutingReport.read(tmp_path / "routing.json") == report
