"""The benchmark of region joins measures all that it says, and notices who is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.measuring.sizes import Size
from bench.papers import region_joins
from bench.papers.region_joins import (
    EVERY_PAIR,
    NUMPY,
    OURS,
    JoinsDisagreeError,
    RegionJoinReport,
    regions,
    run_region_joins,
    write_region_joins,
)


@pytest.fixture(scope="module")
def report() -> RegionJoinReport:
    return run_region_joins(size=Size.SMALL, seed=0, repeats=1, counts=[200, 400])


def test_every_contestant_is_measured_at_every_point(report: RegionJoinReport) -> None:
    for dimensions, names in {1: {OURS, EVERY_PAIR}, 2: {OURS, NUMPY, EVERY_PAIR}}.items():
        for name in names:
            assert [x for x, _ in report.line(dimensions, name)] == [200, 400]
    assert report.line(1, NUMPY) == []


def test_each_region_meets_about_one() -> None:
    chance = np.random.default_rng(0)
    for dimensions in (1, 2, 3):
        sides = [regions(2_000, dimensions, chance) for _ in range(2)]
        assert 0.7 < region_joins.every_pair(*sides) / 2_000 < 1.3


def test_who_finds_other_pairs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(region_joins._CONTESTANTS, OURS, lambda *_: 0)
    with pytest.raises(JoinsDisagreeError, match="1-D, 200"):
        run_region_joins(size=Size.SMALL, seed=0, repeats=1, counts=[200])


def test_documents_are_written(report: RegionJoinReport, tmp_path: Path) -> None:
    figure, page = write_region_joins(report, tmp_path, suffixes=["svg"])
    assert "dimensions" in figure.read_text(encoding="utf-8")
    assert "| 3 | 400 |" in page.read_text(encoding="utf-8")
    again = tmp_path / "joins.json"
    report.write(again)
    assert RegionJoinReport.read(again) == report
