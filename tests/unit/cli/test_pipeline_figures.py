"""How a stream fares, as ``predicast pipeline run`` shows it, and what of its table is dear."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from predicast import spark as ps
from predicast.cli.pipeline.figures import figures, summary
from predicast.spark.pipeline.running import Pipeline

PROGRESS = ps.Progress(
    active=True, batch=7, version=3, versions_behind=2, lag_s=0.25, batches=8, events=12_345,
    matches=678, dead_letters=9, invalid=0, left_out=1, events_per_s=1_500.4, matches_per_s=None,
    most_matched=(("cheap", 500), ("[bold]", 1)), placement="replicate: as was asked for",
)  # fmt: skip

FILE = """
[source]
format = "rate"
[table]
path = "table"
[[sinks]]
format = "delta"
path = "deliveries"
[stream]
checkpoint = "checkpoint"
"""


def shown(dearest: list[str]) -> str:
    text = io.StringIO()
    Console(file=text, width=100).print(figures(PROGRESS, dearest))
    return text.getvalue()


def test_the_figures_of_a_stream() -> None:
    told = dict(
        re.split(r"\s{2,}", line.strip()) for line in shown([]).splitlines() if line.strip()
    )
    assert told["version of the table"] == "3 (2 behind)"
    assert told["events a second"] == "1,500"
    assert told["matches a second"] == "–"
    assert told["lag"] == "0.25 s"
    assert told["matched by cheap"] == "500"
    assert "tested with every event" not in told
    assert summary(PROGRESS).startswith("12,345 events in 8 batches: 678 matches delivered")


def test_the_subscriptions_that_are_tested_most() -> None:
    line = next(each for each in shown(["a", "b"]).splitlines() if "every event" in each)
    assert line.split("tested with every event")[1].strip() == "a, b"
    line = next(each for each in shown(list("abcde")).splitlines() if "every event" in each)
    assert line.split("tested with every event")[1].strip() == "a, b, c and 2 more"


def test_what_is_dear_in_a_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = ps.SubscriptionTable(tmp_path / "table")
    table.subscribe_many({"low": "price < 3", "other": "price != 5", "digits": "s RLIKE '[0-9]'"})
    (tmp_path / "pipeline.toml").write_text(FILE, encoding="utf-8")
    pipeline = Pipeline(tmp_path / "pipeline.toml")
    assert [each.id for each in pipeline.dearest(1)] == ["digits", "other"]
    assert "it is tested with every event" in pipeline.dearest(1)[1].why
    table.change("other", "price = 5")
    assert [each.id for each in pipeline.dearest(2)] == ["digits"]
    monkeypatch.setattr("predicast.spark.pipeline.running._LOOKED_AT", 2)
    assert pipeline.dearest(1) == []  # not looked at
