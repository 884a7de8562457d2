"""Derived attributes beside plain columns: a tiny run, and what it says."""

from io import StringIO

from rich.console import Console

from bench.derived import derived_table, measure_derived


def test_a_tiny_run() -> None:
    turns: list[int] = []
    report = measure_derived(
        subscriptions=400, events=50, batches=2, advance=lambda: turns.append(1)
    )
    assert len(turns) == 4
    assert report.ratio > 0
    shown = StringIO()
    Console(file=shown, width=100).print(derived_table(report))
    assert "400 subscriptions, batches of 50" in shown.getvalue()
