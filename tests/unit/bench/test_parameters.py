"""Moving regions: a tiny run, and what it says."""

from io import StringIO

from rich.console import Console

from bench.parameters import measure_parameters, parameters_table


def test_a_tiny_run() -> None:
    turns = []
    report = measure_parameters(
        subscriptions=300, window=40, windows=3, events=50, advance=lambda: turns.append(1)
    )
    assert len(turns) == 9
    assert report.changes_per_s > 0
    assert report.busy_changes_per_s > 0
    assert report.quiet_events_per_s > 0
    assert report.busy_events_per_s > 0
    # A box covers 5.5 * 5.5 of 1,000 * 1,000, and one kind of five.
    assert report.matches_per_event < 1
    shown = StringIO()
    Console(file=shown, width=100).print(parameters_table(report))
    assert "Moving 300 regions in windows of 40" in shown.getvalue()
