"""Images of engines, without Spark: unpacked once per host, and shared by its workers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from predicast import Engine
from predicast.spark.image import EngineImage


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"predicast-engines-{os.getuid()}"


def image(number: int = 1) -> EngineImage:
    engine = Engine(matcher="columnar")
    engine.subscribe(f"a = {number}", id=f"s{number}")
    return EngineImage.of(engine)


def test_the_file_is_made_once_and_for_its_owner_only(folder: Path) -> None:
    made = image()
    assert made.mapped().match({"a": 1}) == ["s1"]
    (path,) = folder.iterdir()
    assert path.name == made.digest
    assert folder.stat().st_mode & 0o777 == 0o700
    inode = path.stat().st_ino
    assert made.mapped().match({"a": 1}) == ["s1"]
    assert path.stat().st_ino == inode


def test_a_damaged_file_is_written_anew(folder: Path) -> None:
    made = image()
    made.mapped()
    path = folder / made.digest
    path.write_bytes(path.read_bytes()[:-1])
    assert made.mapped().match({"a": 1}) == ["s1"]
    assert Engine.load(path).match({"a": 1}) == ["s1"]


def test_few_files_are_kept_and_the_latest_of_them(folder: Path) -> None:
    images = [image(number) for number in range(10)]
    for age, each in enumerate(images):
        each.mapped()
        os.utime(folder / each.digest, (age, age))
    assert {path.name for path in folder.iterdir()} == {each.digest for each in images[-6:]}


@pytest.mark.parametrize("obstacle", ["file", "open", "link"])
def test_a_directory_that_is_not_ours_alone_is_not_used(folder: Path, obstacle: str) -> None:
    if obstacle == "file":
        folder.write_text("", encoding="utf-8")
    elif obstacle == "open":
        folder.mkdir()
        folder.chmod(0o777)
    else:
        elsewhere = folder.parent / "elsewhere"
        elsewhere.mkdir(mode=0o700)
        folder.symlink_to(elsewhere)
    assert image().mapped().match({"a": 1}) == ["s1"]
    assert obstacle == "file" or list(folder.iterdir()) == []
