"""Conditions on elements of lists: a tiny run, and what it says."""

from io import StringIO

from rich.console import Console

from bench.lists import lists_table, measure_lists


def test_a_tiny_run() -> None:
    turns: list[int] = []
    report = measure_lists(subscriptions=300, events=40, batches=2, advance=lambda: turns.append(1))
    assert len(turns) == 4
    assert [each.condition for each in report.figures] == ["array_contains", "exists"]
    assert report.figures[0].matches_per_event > 9, "every tag is asked for, few occur twice"
    shown = StringIO()
    Console(file=shown, width=100).print(lists_table(report))
    assert "300 subscriptions" in shown.getvalue()
