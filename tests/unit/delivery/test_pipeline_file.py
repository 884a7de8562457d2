"""Files that describe a pipeline: what they say, and on which line they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from predicast import spark as ps
from predicast.errors import InputFileError
from predicast.spark.pipeline.running import Pipeline
from predicast.spark.pipeline.settings import PipelineFile
from predicast.spark.pipeline.toml_lines import lines_of

GOOD = '''\
[source]
format = "json"
path = "events"
schema = """
id bigint, price double
"""
options = { maxFilesPerTrigger = 2 }

[table]
path = "table"

[[sinks]]
format = "delta"
path = "deliveries"

[[sinks]]
format = "parquet"
path = "owned"
by_owner = true

[stream]
checkpoint = "checkpoint"
columns = [
  "id",
]
[stream.intervals]
x = ["lo", "hi"]
y = "box"
'''


def written(folder: Path, text: str) -> Path:
    path = folder / "pipeline.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read(tmp_path: Path) -> None:
    ps.SubscriptionTable(tmp_path / "table")
    pipeline = Pipeline(written(tmp_path, GOOD))
    assert pipeline.sinks == [
        ps.DeltaSink(tmp_path / "deliveries"),
        ps.ParquetSink(tmp_path / "owned", by_owner=True),
    ]
    assert pipeline.dead_letters is None
    settings = pipeline.file.settings
    assert settings.source.options == {"maxFilesPerTrigger": 2}
    assert settings.stream.columns == ["id"]
    assert settings.stream.intervals == {"x": ("lo", "hi"), "y": "box"}
    assert settings.spark.master == "local[*]"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('path = "events"', 'pth = "events"', 3, "source has no 'pth'; did you mean 'path'?"),
        ('path = "events"\n', "", 1, "source needs 'path'"),
        ('format = "json"', 'format = "jsn"', 2, "source.format: invalid value 'jsn'"),
        ("by_owner = true", "by_owner = 3", 19, "sinks.1.by_owner: expected `bool`, got `int`"),
        ("by_owner = true", 'topic = "x"', 19, "sinks.1 has no 'topic'"),
        ("[stream]", "[streams]", 21, "the file has no 'streams'; did you mean 'stream'?"),
        ('checkpoint = "checkpoint"\n', "", 21, "stream needs 'checkpoint'"),
        ('  "id",', "  3,", 23, "stream.columns.0: expected `str`, got `int`"),
        ('x = ["lo", "hi"]', 'x = ["lo"]', 26, "stream.intervals: expected `array` of"),
        ('path = "table"', 'path = "tab', 10, "line 10"),
        ("[table]", "[table", 9, "line 9"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in GOOD
    with pytest.raises(InputFileError) as caught:
        PipelineFile(written(tmp_path, GOOD.replace(old, new, 1)))
    assert caught.value.line == line, caught.value.message
    assert caught.value.message.startswith(f"{tmp_path / 'pipeline.toml'}, line {line}: ")
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("given", "strategy"),
    [
        ('strategy = "partition"', "partition"),
        ("strategy = { shards = 4 }", ps.Partition(shards=4)),
        ("strategy.host_bytes = 1_000", ps.Partition(host_bytes=1_000)),
    ],
)
def test_where_subscriptions_are_held(tmp_path: Path, given: str, strategy: object) -> None:
    ps.SubscriptionTable(tmp_path / "table")
    file = written(tmp_path, GOOD.replace("[stream]", f"[stream]\n{given}"))
    assert Pipeline(file).strategy == strategy


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('strategy = "divide"', "line 22: stream.strategy: invalid enum value 'divide'"),
        ("strategy = { shads = 4 }", "stream.strategy has no 'shads'; did you mean 'shards'?"),
        ("strategy = { shards = 0 }", "line 22: shards is a positive integer, not 0"),
        ('strategy = "partition"\noutput = "array"', "line 22: output='array' needs all that"),
    ],
)
def test_where_they_cannot_be_held(tmp_path: Path, given: str, message: str) -> None:
    ps.SubscriptionTable(tmp_path / "table")
    with pytest.raises(InputFileError) as caught:
        Pipeline(written(tmp_path, GOOD.replace("[stream]", f"[stream]\n{given}")))
    assert message in caught.value.message


def test_a_key_in_a_text_is_none(tmp_path: Path) -> None:
    lines = lines_of('a = """\nb = 1\n[c]\n"""\nb = 2\n[d."e.f"]\ng.h = 1\n[[i]]\n[[i]]\nj = 1\n')
    assert lines == {
        ("a",): 1,
        ("b",): 5,
        ("d", "e.f"): 6,
        ("d", "e.f", "g", "h"): 7,
        ("i", 0): 8,
        ("i", 1): 9,
        ("i", 1, "j"): 10,
    }


def test_what_only_the_folders_tell(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    with pytest.raises(InputFileError, match="line 10: there is no table in"):
        Pipeline(path)
    ps.SubscriptionTable(tmp_path / "table")
    dead = '[dead_letters]\nformat = "parquet"\npath = "dead"\n'
    with pytest.raises(InputFileError, match="line 32: dead letters have no owner"):
        Pipeline(written(tmp_path, GOOD + dead + "by_owner = true\n"))
    choosing = GOOD.replace("columns =", 'on_invalid = "skip"\ncolumns =')
    with pytest.raises(InputFileError, match="line 23: on_invalid is for streams without"):
        Pipeline(written(tmp_path, choosing + dead))
    none = GOOD[: GOOD.index("[[sinks]]")] + GOOD[GOOD.index("[stream]") :]
    with pytest.raises(InputFileError, match="there is no sink"):
        PipelineFile(written(tmp_path, "sinks = []\n" + none))
    with pytest.raises(InputFileError, match="No such file"):
        PipelineFile(tmp_path / "none.toml")
    path.write_bytes(b"\xff")
    with pytest.raises(InputFileError, match="not UTF-8"):
        PipelineFile(path)
