"""The language benchmark measures what it says."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from bench.__main__ import app
from bench.language import SHAPES, LanguageReport, measure_language, texts_of
from predicast.language.where import ShapeCache


@pytest.mark.parametrize("name", SHAPES)
def test_repeated_texts_have_one_shape_and_fresh_ones_as_many_as_texts(name: str) -> None:
    for fresh in (False, True):
        cache = ShapeCache()
        for text in texts_of(SHAPES[name], 20, random.Random(3), fresh=fresh):
            cache.parse(text)
        assert len(cache) == (20 if fresh else 1)


def test_the_texts_depend_on_the_seed_alone() -> None:
    template = SHAPES["patterns"]
    once, again, other = (
        texts_of(template, 5, random.Random(seed), fresh=False) for seed in (1, 1, 2)
    )
    assert once == again != other


def test_every_shape_is_measured_as_often_as_asked() -> None:
    turns: list[None] = []
    report = measure_language(
        texts=50, fresh_texts=5, repeats=2, seed=1, advance=lambda: turns.append(None)
    )
    assert [row.shape for row in report.rows] == list(SHAPES)
    assert len(turns) == 2 * len(SHAPES)
    for row in report.rows:
        assert len(row.repeated_samples) == len(row.fresh_samples) == 2
        assert row.repeated_per_s > 0
        assert row.fresh_per_s > 0


def test_the_command_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    options = ["--texts", "50", "--fresh-texts", "5", "--repeats", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, ["language", *options])
    assert result.exit_code == 0, result.output
    assert "median shape" in result.output
    report = msgspec.json.decode((tmp_path / "language.json").read_bytes(), type=LanguageReport)
    assert report.texts == 50


def test_the_command_prints_json_alone_when_asked(tmp_path: Path) -> None:
    options = ["--texts", "50", "--fresh-texts", "5", "--repeats", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, ["language", "--json", *options])
    assert result.exit_code == 0, result.output
    assert msgspec.json.decode(result.stdout, type=LanguageReport).rows
