"""Saves that do not get to their end: killed at any point, out of room, let down by the system."""

import errno
import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from predicast import Engine
from predicast.engine.snapshot import atomic
from predicast.errors import SnapshotNotSavedError
from tests.unit.engine.snapshot.saved_engines import check_kept, engine_of, old_file

PROGRAM = Path(__file__).with_name("killed_savers.py")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return old_file(tmp_path)


def test_a_saver_killed_anywhere_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "engine"
    points = max(10, settings().max_examples // 5)
    command = [sys.executable, str(PROGRAM), str(path), str(points)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    outcomes: list[tuple[str | None, str, bool]] = [
        tuple(json.loads(line)) for line in run.stdout.splitlines()
    ]
    at_lines = outcomes[: 1 + next(n for n, (ended, *_) in enumerate(outcomes) if ended is None)]
    files = [file for _, file, _ in at_lines]
    replaced = files.index("new")
    assert files == ["old"] * replaced + ["new"] * (len(files) - replaced)
    assert 30 < replaced < len(files) - 1  # before the file has its name, and after
    assert at_lines[-1] == (None, "new", False)
    assert ("SIGKILL", "old", True) in at_lines  # what they left, the last one removed
    in_the_middle = outcomes[len(at_lines) :]
    assert len(in_the_middle) >= points
    assert set(in_the_middle) == {("SIGXFSZ", "old", True)}
    Engine.load(path).save(path)
    assert list(tmp_path.iterdir()) == [path]


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes, as on a disk that is full by then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_is_full_leaves_the_old_file(path: Path) -> None:
    engine = engine_of(500)
    size = len(engine.to_bytes())
    steps = max(20, settings().max_examples // 5)
    for room in [*range(0, size, size // steps), size - 1]:
        with room_for(room), pytest.raises(SnapshotNotSavedError) as caught:
            engine.save(path)
        assert caught.value.errno == errno.EFBIG
        check_kept(path)
    with room_for(size):
        engine.save(path)
    assert len(Engine.load(path)) == 500


@pytest.mark.parametrize(("where", "call"), [(os, "fsync"), (Path, "replace")])
def test_a_system_call_that_fails_leaves_the_old_file(
    where: Any, call: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(where, call, fail)
    with pytest.raises(SnapshotNotSavedError, match="No space left") as caught:
        engine_of(5).save(path)
    assert caught.value.errno == errno.ENOSPC
    monkeypatch.undo()
    check_kept(path)


def test_a_folder_that_cannot_be_put_on_disk_does_no_harm(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By then the new file has its name: to say that it was not saved would be wrong."""
    fsync = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "this file system cannot")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    engine_of(5).save(path)
    assert len(Engine.load(path)) == 5


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
def test_whatever_ends_the_writing_leaves_nothing_behind(
    error: type[BaseException], path: Path
) -> None:
    def fail(_: object) -> None:
        raise error

    for write, check in ((fail, None), (lambda file: file.write(b"written"), fail)):
        with pytest.raises(error):
            atomic.write_atomically(path, write, check)
        check_kept(path)
