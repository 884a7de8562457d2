"""The benchmark of single calls."""

from bench.calls import calls_table, measure_calls, turns


def test_every_call_is_made_and_shown() -> None:
    told: list[str] = []
    report = measure_calls(subscriptions=40, calls=20, rounds=1, progress=told.append)
    assert len(told) == turns(1)
    assert [each.call for each in report.calls] == told[1:6]
    assert all(0 < each.median_us <= each.p99_us <= each.longest_us for each in report.calls)
    assert report.one_thread_per_s > 0 < report.two_threads_per_s
    assert calls_table(report).row_count == 5
