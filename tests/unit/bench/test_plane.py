"""``python -m bench plane``: what counts as a cliff, and what is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.__main__ import app
from bench.matchers import plane
from bench.matchers.alerts import Skew, alerts_workload
from bench.matchers.plane import Cell, PlaneReport, PlaneSettings, slower
from bench.measuring.figures import short
from bench.measuring.machine import this_machine
from bench.measuring.sizes import Size


def cell(subscriptions: int, us_per_event: float, matches: float = 0, categories: int = 10) -> Cell:
    return Cell(Skew.ZIPF, categories, subscriptions, us_per_event, matches, 50)


def test_a_cell_may_take_longer_as_far_as_its_matches_explain_it() -> None:
    assert slower(cell(1_000, 6, matches=5), cell(100, 1, matches=0)) == 1
    assert slower(cell(1_000, 6, matches=2), cell(100, 1, matches=0)) == 2
    assert slower(cell(100, 3, matches=0), cell(1_000, 1, matches=5)) == 3


def test_cliffs_are_found_in_both_directions_the_steepest_first() -> None:
    even = [
        Cell(Skew.UNIFORM, categories, subscriptions, 1, 0, 50)
        for categories in (10, 100)
        for subscriptions in (100, 1_000)
    ]
    steep = [
        *(cell(100, 2.1), cell(1_000, 1)),  # slower with fewer subscriptions
        *(cell(100, 2.1, categories=100), cell(1_000, 5, categories=100)),
    ]
    report = PlaneReport(this_machine(), 0, 2_000, 1, [*even, *steep])
    assert [(cliff.cell, cliff.neighbour) for cliff in report.cliffs()] == [
        (steep[3], steep[1]),
        (steep[3], steep[2]),
        (steep[0], steep[1]),
    ]
    assert "1,000 on 100 categories (zipf) takes 5.0 times" in str(report.cliffs()[0])


def test_a_smaller_set_of_alerts_is_the_beginning_of_a_larger_one() -> None:
    small, large = (alerts_workload(Skew.ZIPF, 1_000, n, 10) for n in (50, 500))
    for name, column in small.shapes[0].columns.items():
        assert (column == large.shapes[0].columns[name][:50]).all()
    assert small.events.equals(large.events)


def test_plane_writes_results_and_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = PlaneSettings((20, 40), (2, 5), events=10, rounds=1)
    monkeypatch.setitem(plane.SETTINGS, Size.SMALL, tiny)
    out, docs = tmp_path / "out", tmp_path / "docs"
    arguments = ["plane", "--out", str(out), "--docs", str(docs)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    report = PlaneReport.read(out / "plane.json")
    assert len(report.cells) == 8
    assert all(each.us_per_event > 0 for each in report.cells)
    drawn = (docs / "measured" / "plane.svg").read_bytes()
    again = CliRunner().invoke(app, [*arguments[:-1], str(tmp_path / "again"), "--again"])
    assert again.exit_code == 0, again.output
    assert (tmp_path / "again" / "measured" / "plane.svg").read_bytes() == drawn


def test_numbers_under_a_tick() -> None:
    assert [short(n, 0) for n in (1, 9.97, 100, 300, 1_000, 2_500_000)] == [
        *("1", "10", "100", "300", "1k", "2.5M")
    ]
