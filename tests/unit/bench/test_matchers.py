"""``python -m bench matchers``: rivals, verdicts, results, and a small run from end to end."""

from __future__ import annotations

import stat
import time
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.__main__ import app
from bench.matchers import catalogue, run
from bench.matchers.catalogue import ChurnSettings, Family, Sizes
from bench.matchers.ceem import ceem_workload
from bench.matchers.churn import Population, measure_churn
from bench.matchers.duckdb_rival import DuckdbRival, shape_query
from bench.matchers.goals import verdicts
from bench.matchers.mixed import mixed_workload
from bench.matchers.numpy_rival import NumpyRival
from bench.matchers.plots import RIVAL_LOOKS, ratios
from bench.matchers.results import (
    ChurnPoint,
    ChurnResult,
    FamilyResult,
    LoadResult,
    MatchersReport,
    RivalResult,
    SingleResult,
    SizeResult,
)
from bench.matchers.rival import AnyWorkload, LeftOutError, Rival, Round
from bench.matchers.runner import Effort, measure_family
from bench.matchers.texts import texts_workload
from bench.matchers.yardstick import Yardstick
from bench.measuring.machine import this_machine
from bench.measuring.sizes import Size
from predicast import Engine
from tests.thorough import LONG

CHOSEN = [
    family
    for family in catalogue.FAMILIES
    if LONG or family.workload in {"ceem-exp1", "mixed", "regions-2d"}
]
QUICK = Effort(rounds=3, round_budget_s=0.01, load_limit_s=2)


def tiny(name: str = "ceem-exp1", sizes: tuple[int, ...] = (100, 300)) -> Family:
    (family,) = [each for each in catalogue.FAMILIES if each.name == name]
    settings = {Size.SMALL: Sizes(sizes, 40)}
    return Family(family.name, family.workload, family.title, family.make, settings)


def loaded_yardstick(workload: AnyWorkload) -> Yardstick:
    yardstick = Yardstick()
    try:
        yardstick.load(workload)
    except LeftOutError as error:
        pytest.skip(str(error))
    return yardstick


# The rivals.


@pytest.mark.parametrize("name", ["exp1", "exp2"])
def test_the_yardstick_answers_every_round_with_the_true_matches(name: str) -> None:
    workload = ceem_workload(name, 5_003, 200)  # fills no vector to the end
    truth = NumpyRival()
    truth.load(workload)
    yardstick = loaded_yardstick(workload)
    started = time.perf_counter()
    rounds = [yardstick.match(200) for _ in range(3)]
    elapsed_s = time.perf_counter() - started
    assert {each.matches for each in rounds} == {truth.match(200).matches}
    assert all(each.seconds > 0 for each in rounds)
    assert sum(each.seconds for each in rounds) < elapsed_s
    with pytest.raises(ValueError, match="all of its 200 events"):
        yardstick.match(100)
    yardstick.close()
    yardstick.close()  # twice is no harm


def test_the_yardstick_says_why_it_is_left_out(tmp_path: Path) -> None:
    with pytest.raises(LeftOutError, match="no C compiler"):
        Yardstick("no-such-compiler").load(ceem_workload("exp1", 10, 5))
    with pytest.raises(LeftOutError, match="CEEM workloads only"):
        Yardstick().load(mixed_workload(10, 5))
    compiler = tmp_path / "cc"
    compiler.write_text(
        '#!/bin/sh\necho "x.c:1: error: no AVX2 here" >&2\nexit 1\n', encoding="utf-8"
    )
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(LeftOutError, match="does not compile: no AVX2 here"):
        Yardstick(str(compiler)).load(ceem_workload("exp1", 10, 5))


def test_a_join_that_takes_too_long_is_interrupted() -> None:
    rival = DuckdbRival(patience_s=0.05)
    rival.load(texts_workload(20_000, 2_000))
    with pytest.raises(LeftOutError, match="longer than"):
        rival.match(2_000)
    rival.close()


def test_the_join_is_written_from_the_comparisons() -> None:
    shapes = mixed_workload(10, 5).shapes
    assert "e.kind IN (s.kind0, s.kind1, s.kind2) AND e.price >= s.low" in shape_query(1, shapes[1])
    assert " OR " in shape_query(0, shapes[0])
    text = texts_workload(10, 5).shapes
    assert "e.url LIKE s.head || '%' || s.tail" in shape_query(3, text[3])


# The runner.


class Liar(Rival):
    """Finds one match too many."""

    name = "numpy"

    def __init__(self) -> None:
        self._honest = NumpyRival()

    def load(self, workload: AnyWorkload) -> None:
        self._honest.load(workload)

    def match(self, events: int) -> Round:
        seconds, matches = self._honest.match(events)
        return Round(seconds, matches + 1)

    def close(self) -> None:
        self._honest.close()


def test_rivals_take_turns_and_a_wrong_answer_is_reported() -> None:
    result = measure_family(
        tiny(), Size.SMALL, QUICK, rivals=lambda: [Liar(), Yardstick("none")], ours="brute-force"
    )
    assert [point.subscriptions for point in result.points] == [100, 300]
    point = result.points[-1]
    assert list(point.rivals) == ["columnar", "numpy"]
    assert len(point.rivals["columnar"].match_s) == 3
    assert point.rivals["columnar"].events == 40
    assert "found" in point.wrong["numpy"]
    assert "no C compiler" in point.left_out["yardstick"]


def test_the_papers_matchers_are_left_out_where_loading_takes_too_long() -> None:
    hasty = Effort(rounds=1, round_budget_s=0.01, load_limit_s=0.0)
    result = measure_family(tiny("mixed", (50,)), Size.SMALL, hasty, ours="brute-force")
    (point,) = result.points
    assert set(point.rivals) == {"columnar", "duckdb", "numpy"}
    assert "loading" in point.left_out["ceem"]
    assert not point.wrong


# Churn.

SETTINGS = ChurnSettings(400, (0, 200, 1_000), slices=1, slice_s=0.1)


def test_churn_ends_with_the_matches_of_brute_force() -> None:
    ticks = count(step=0.004)  # as if a batch took as long on every machine
    result = measure_churn(SETTINGS, ours="brute-force", clock=lambda: float(next(ticks)))
    assert result.wrong == ""
    assert [point.changes_per_s for point in result.points] == [0, 200, 1_000]
    assert result.points[0].achieved_per_s == 0
    assert 0 < result.points[1].achieved_per_s < result.points[2].achieved_per_s
    for point in result.points:
        assert 0 < point.p50_ms <= point.p99_ms <= point.longest_ms
        assert point.events_per_s > 0


def test_churn_notices_a_change_that_was_lost() -> None:
    population = Population(SETTINGS, seed=0)
    engine = Engine(matcher="brute-force")
    engine.subscribe_arrow(population.workload.table())
    operations = population.operations(300)
    kinds = [type(each).__name__ for each in operations]
    assert [kinds.count(kind) for kind in ("Change", "Unsubscribe", "Subscribe")] == [150, 75, 75]
    engine.apply(operations[:200])
    population.applied(200)
    assert population.difference(engine) == ""
    population.operations(300)
    population.applied(300)  # which nobody carried out
    assert "ids too many" in population.difference(engine)


# Results and verdicts.


def measured(us_per_event: float, matches: int = 1_000) -> RivalResult:
    seconds = us_per_event * 2_000 / 1e6
    return RivalResult.of(
        events=2_000, matches=matches, load_s=1, match_s=[seconds, 0, 9], bytes=1_000_000
    )


def point(subscriptions: int, matches: int, **us_per_event: float) -> SizeResult:
    rivals = {name.replace("_", "-"): measured(us) for name, us in us_per_event.items()}
    return SizeResult(subscriptions, subscriptions, 2_000, matches, rivals)


def churn_point(rate: int, events_per_s: float, longest_ms: float, done: float) -> ChurnPoint:
    return ChurnPoint(rate, done, events_per_s, 1, 2, longest_ms)


def goal_report(
    *, ours: float = 14, growth: float = 14, busy: float = 81, done: float = 10_000
) -> MatchersReport:
    ceem = [
        FamilyResult(
            name,
            name,
            name,
            [
                point(50_000, 100, columnar=ours / growth, yardstick=1),
                point(1_000_000, 2_000, columnar=ours, yardstick=20),
            ],
        )
        for name in ("ceem-exp1", "ceem-exp2")
    ]
    sparse = point(100_000, 10, columnar=100, improved_counting=2_000)
    churn_points = [churn_point(0, 100, 5, 0), churn_point(10_000, busy, 9, done)]
    return MatchersReport(
        this_machine(),
        {"numpy": "2"},
        Size.FULL,
        0,
        7,
        [*ceem, FamilyResult("redundant", "redundant", "wide", [sparse])],
        ChurnResult(1_000_000, 64, 3, 4.0, churn_points),
        LoadResult(1_000_000, 8_000_000, 10.0, 150_000_000, 100_000_000, 64_000_000, 1, 1, 1, 1),
        SingleResult(50_000, 2_000, 30.0, 60.0),
    )


def outcomes(report: MatchersReport) -> list[str]:
    return [verdict.outcome for verdict in verdicts(report)]


def test_goals_are_met_at_their_very_limits() -> None:
    assert outcomes(goal_report()) == ["holds"] * 8


def test_goals_are_missed_just_beyond_their_limits() -> None:
    assert outcomes(goal_report(ours=14.2))[0] == "does not hold"
    assert outcomes(goal_report(growth=20.1))[1] == "does not hold"
    assert outcomes(goal_report(busy=79))[5] == "does not hold"
    assert outcomes(goal_report(done=9_000))[5] == "does not hold"
    report = goal_report()
    report.single = SingleResult(50_000, 2_000, 30.1, 60.0)
    report.load = LoadResult(1_000_000, 8_000_000, 10.1, 165_000_000, 100_000_000, 1, 1, 1, 1, 1)
    assert report.churn is not None
    report.churn.points[0] = churn_point(0, 100, 10.1, 0)
    report.families[-1].points = [point(100_000, 10, columnar=101, improved_counting=2_000)]
    missed = [number for number, outcome in enumerate(outcomes(report)) if outcome != "holds"]
    assert missed == [2, 3, 4, 6, 7]


def test_a_goal_is_not_judged_by_another_size() -> None:
    report = goal_report()
    for family in report.families:
        family.points = family.points[:1] if family.name.startswith("ceem") else []
    report.load = report.churn = None
    report.single = SingleResult(5_000, 2_000, 1.0, 1.0)
    assert outcomes(report) == ["not measured"] * 8
    half = goal_report()
    half.families = half.families[1:]  # one experiment of two
    assert outcomes(half)[:2] == ["not measured"] * 2


def test_a_measurement_is_that_of_the_median_round() -> None:
    one = measured(7.0, matches=4_000)
    assert one.us_per_event == pytest.approx(7)
    assert one.matches_per_event == 2
    assert one.ns_per_match == pytest.approx(3_500)
    assert measured(7.0, matches=0).ns_per_match is None


def test_ratios_are_taken_at_the_largest_common_size() -> None:
    family = FamilyResult(
        "x",
        "x",
        "x",
        [point(10, 1, columnar=2, ceem=8, duckdb=3), point(20, 1, columnar=4, duckdb=2)],
    )
    bars = ratios(family)
    assert [(bar.rival, bar.subscriptions) for bar in bars] == [("duckdb", 20), ("ceem", 10)]
    assert [bar.times for bar in bars] == pytest.approx([0.5, 4])


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    report = goal_report()
    report.families[0].points[0].left_out["numpy"] = "too slow"
    report.write(tmp_path / "deep" / "matchers.json")
    assert MatchersReport.read(tmp_path / "deep" / "matchers.json") == report


def test_rivals_have_looks_of_their_own() -> None:
    assert len({look.colour for look in RIVAL_LOOKS.values()}) == len(RIVAL_LOOKS)
    assert len({look.marker for look in RIVAL_LOOKS.values()}) == len(RIVAL_LOOKS)


# From end to end.


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small preset, smaller still, of families that are told and drawn in different ways."""
    monkeypatch.setattr(run, "FAMILIES", CHOSEN)
    for family in catalogue.FAMILIES:
        sizes = (60, 120) if family.name == "ceem-exp1" else (60,)
        monkeypatch.setitem(family.sizes, Size.SMALL, Sizes(sizes, 20))
    monkeypatch.setitem(
        catalogue.CHURN, Size.SMALL, ChurnSettings(200, (0, 500), slices=1, slice_s=0.05)
    )
    monkeypatch.setitem(catalogue.LOAD, Size.SMALL, 200)
    monkeypatch.setitem(catalogue.SINGLE, Size.SMALL, Sizes((100,), 10))


@pytest.mark.usefixtures("small")
def test_matchers_writes_results_figures_and_verdicts(tmp_path: Path) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    arguments = ["matchers", "--rounds", "1", "--out", str(out), "--docs", str(docs)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "Goals" in result.output
    report = MatchersReport.read(out / "matchers.json")
    assert [family.name for family in report.families] == [family.name for family in CHOSEN]
    assert None not in (report.single, report.load, report.churn)
    names = {f"matchers-{name}.svg" for name in ("time", "regions", "ratio", "churn")}
    assert {path.name for path in (docs / "measured").iterdir()} == {*names, "matchers.md"}
    text = (docs / "measured" / "matchers.md").read_text(encoding="utf-8")
    assert "Left out:" in text
    assert "yardstick: it knows the CEEM workloads only" in text
    assert "**Mixed: OR, IN, BETWEEN" in text
    # Drawn again from the results, everything is the same to the byte.
    again = CliRunner().invoke(app, [*arguments[:-1], str(tmp_path / "again"), "--again"])
    assert again.exit_code == 0, again.output
    for path in (docs / "measured").iterdir():
        assert (tmp_path / "again" / "measured" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.usefixtures("small")
def test_a_wrong_answer_makes_the_run_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = NumpyRival.match
    monkeypatch.setattr(
        NumpyRival, "match", lambda self, events: honest(self, events)._replace(matches=-1)
    )
    result = CliRunner().invoke(
        app, ["matchers", "ceem-exp1", "--rounds", "1", "--out", str(tmp_path)]
    )
    assert result.exit_code == 1
    assert "WRONG: ceem-exp1, 60: numpy found -1 matches" in result.output
    assert "Wrong answer" in (tmp_path / "matchers.md").read_text(encoding="utf-8")


def test_an_unknown_workload_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["matchers", "ceem", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "ceem-exp1" in result.output
