"""``python -m bench papers`` ends in results, figures and verdicts that can be read."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.__main__ import app
from bench.measuring.figures import LOOKS, apart
from bench.measuring.sizes import Size
from bench.papers.results import PapersReport
from bench.papers.workloads import ceem
from bench.papers.workloads import redundant_attributes as ra
from bench.papers.workloads.papers import COMPARED


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small preset, smaller still."""
    monkeypatch.setitem(ceem.SAMPLING, Size.SMALL, ceem.Sampling(step=20, samples=4, events=3))
    monkeypatch.setitem(ra.USUAL, Size.SMALL, ra.Parameters(events=3, subscriptions=5, names=60))


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.usefixtures("tiny")
def test_papers_writes_results_figures_and_verdicts(tmp_path: Path) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs" / "measured"
    output = run("papers", "ceem", "--repeats", 1, "--out", out, "--docs", docs.parent)
    assert "CEEM: claims" in output
    report = PapersReport.read(out / "papers-small.json")
    assert report.preset is Size.SMALL
    assert report.machine.python
    assert [result.name for result in report.experiments] == ["exp1", "exp2"]
    names = {"ceem-exp1.svg", "ceem-exp2.svg", "verdicts-ceem.md"}
    assert {path.name for path in docs.iterdir()} == names
    assert names | {"ceem-exp1.png", "ceem-exp2.png"} <= {path.name for path in out.iterdir()}
    fragment = (docs / "verdicts-ceem.md").read_text(encoding="utf-8")
    assert fragment.count("\n| ") == 9
    assert "found the same" in fragment
    # Drawn again from the results, everything is the same to the byte.
    run("report", out / "papers-small.json", "--out", tmp_path / "again", "--docs", tmp_path / "d")
    for path in docs.iterdir():
        assert (tmp_path / "d" / "measured" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.usefixtures("tiny")
def test_papers_takes_the_matchers_it_is_told(tmp_path: Path) -> None:
    run("papers", "ceem", "--repeats", 1, "--matchers", "ceem, counting", "--out", tmp_path)
    report = PapersReport.read(tmp_path / "papers-small.json")
    assert report.matchers == ["ceem", "counting"]
    fragment = (tmp_path / "verdicts-ceem.md").read_text(encoding="utf-8")
    assert "| The matching tree matches fastest | **not measured** |" in fragment


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["papers", "cream", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "ceem" in result.output
    result = CliRunner().invoke(app, ["papers", "--matchers", "cem", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "did you mean 'ceem'" in result.output


def test_every_matcher_of_the_papers_has_a_look_of_its_own() -> None:
    assert set(LOOKS) == {*COMPARED, "filter-index"}
    assert len({look.colour for look in LOOKS.values()}) == len(LOOKS)
    assert len({look.marker for look in LOOKS.values()}) == len(LOOKS)


def test_names_are_moved_apart_and_keep_their_order() -> None:
    ends = {"a": 0.5, "b": 0.5, "c": 0.51, "d": 0.9, "e": 0.0, "f": 0.01}
    places = apart(ends, 0.06)
    assert places["d"] == 0.9
    ordered = sorted(places.values())
    gaps = [high - low for low, high in pairwise(ordered)]
    assert min(gaps) == pytest.approx(0.06, abs=0.002)
    assert min(ordered) >= 0
    assert places["e"] < places["f"] < places["a"] < places["c"]
