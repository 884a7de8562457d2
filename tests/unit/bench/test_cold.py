"""The benchmark of first answers."""

import pytest

from bench.cold import ColdReport, ColdResult, Times, cold_table
from bench.cold_probe import KINDS, _question, probe
from bench.measuring.machine import this_machine
from predicast import Engine


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_asks_for_something_that_is_there(name: str) -> None:
    kind = KINDS[name]
    engine = Engine(absent=kind.absent)  # type: ignore[arg-type]
    engine.subscribe_many((str(n), text) for n, text in enumerate(kind.texts()))
    assert _question(kind, engine)()


def test_a_process_is_timed_from_its_import_on() -> None:
    times = probe("points")
    assert times.keys() == set(Times.__struct_fields__)
    assert times["fast_s"] >= times["import_s"] + times["load_s"] + times["first_s"]
    assert times["ready_s"] >= times["fast_s"]


def test_an_answer_that_comes_late_is_reported() -> None:
    quick = Times(import_s=2, load_s=2, first_s=0.1, longest_s=0.2, fast_s=8, ready_s=9)
    slow = Times(import_s=0, load_s=0, first_s=0.1, longest_s=1.2, fast_s=0, ready_s=0)
    results = [ColdResult("a", quick, slow), ColdResult("b", quick, quick)]
    report = ColdReport(this_machine(), results)
    assert report.late() == ["a, warm: 1.20 s"]
    assert cold_table(report).row_count == 4
