"""Where engines are saved: what was there keeps its mode, owner and links, or says why not."""

import errno
import os
import pickle
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from predicast import Engine
from predicast.errors import DamagedSnapshotError, SnapshotError, SnapshotNotSavedError

NOBODY = 65_534
IS_ROOT = os.geteuid() == 0


def engine_of(count: int) -> Engine:
    engine = Engine(matcher="brute-force")
    engine.subscribe_many((f"s{n}", f"a = {n}") for n in range(count))
    return engine


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def without_privileges() -> Iterator[None]:
    if not IS_ROOT:
        yield
        return
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of an ordinary user, which such a one can also get to."""
    with tempfile.TemporaryDirectory() as name:
        if IS_ROOT:
            os.chown(name, NOBODY, NOBODY)
        yield Path(name)


def refused(engine: Engine, path: Path) -> SnapshotNotSavedError:
    with pytest.raises(SnapshotNotSavedError) as caught:
        engine.save(path)
    assert caught.value.path == str(path)
    assert str(caught.value).startswith(f"{path} was not saved: ")
    return caught.value


# Modes and owners.


@pytest.mark.parametrize("kept", [0o644, 0o600, 0o640, 0o444, 0o666])
def test_a_file_that_is_replaced_keeps_its_mode(kept: int, tmp_path: Path) -> None:
    path = tmp_path / "engine"
    engine_of(1).save(path)
    path.chmod(kept)
    with umask(0o077):
        engine_of(2).save(path)
    assert mode(path) == kept
    assert len(Engine.load(path)) == 2


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0o000])
def test_a_new_file_honours_the_umask(mask: int, tmp_path: Path) -> None:
    with umask(mask):
        engine_of(1).save(tmp_path / "engine")
    assert mode(tmp_path / "engine") == 0o666 & ~mask


@pytest.mark.skipif(not IS_ROOT, reason="only root can give files away")
def test_a_file_that_is_replaced_keeps_its_owner_and_group(tmp_path: Path) -> None:
    path = tmp_path / "engine"
    engine_of(1).save(path)
    os.chown(path, NOBODY, 12_345)
    path.chmod(0o640)
    engine_of(2).save(path)
    found = path.stat()
    assert (found.st_uid, found.st_gid, mode(path)) == (NOBODY, 12_345, 0o640)


@pytest.mark.skipif(not IS_ROOT, reason="only root can make a file of another group")
def test_rights_of_a_group_do_not_pass_to_another(folder: Path) -> None:
    path = folder / "engine"
    engine_of(1).save(path)
    os.chown(path, NOBODY, 12_345)
    path.chmod(0o664)
    with without_privileges():
        engine_of(2).save(path)
    assert (path.stat().st_gid, mode(path)) == (NOBODY, 0o604)


# Links.


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    real, link, second = tmp_path / "far" / "real", tmp_path / "link", tmp_path / "second"
    engine_of(1).save(real)
    real.chmod(0o640)
    link.symlink_to(Path("far") / "real")
    second.symlink_to(link)
    engine_of(2).save(second)
    assert (link.is_symlink(), second.is_symlink(), real.is_symlink()) == (True, True, False)
    assert (len(Engine.load(real)), mode(real)) == (2, 0o640)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "far", link, second]
    assert list(real.parent.iterdir()) == [real]


def test_a_link_to_nothing_makes_what_it_leads_to(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("target")
    engine_of(2).save(link)
    assert link.is_symlink()
    assert not (tmp_path / "target").is_symlink()
    assert len(Engine.load(tmp_path / "target")) == 2


def test_what_a_killed_saver_left_beside_the_target_of_a_link_goes(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    left = tmp_path / "far" / ".real.01234567.saving"
    left.write_bytes(b"half")
    (tmp_path / "link").symlink_to(Path("far") / "real")
    engine_of(1).save(tmp_path / "link")
    assert not left.exists()


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert refused(engine_of(1), tmp_path / "a").errno == errno.ELOOP


def test_a_file_with_another_name_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "engine", tmp_path / "other"
    engine_of(1).save(path)
    other.hardlink_to(path)
    error = refused(engine_of(2), path)
    assert error.errno == errno.EMLINK
    assert "2 names (hard links)" in str(error)
    assert path.samefile(other)
    other.unlink()
    engine_of(2).save(path)
    assert len(Engine.load(path)) == 2


# Places for no file.


def test_a_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    error = refused(engine_of(1), folder)
    assert error.errno == errno.EISDIR
    assert "name a file in it" in str(error)
    assert list(tmp_path.rglob("*")) == [folder]


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "not a regular file" in str(refused(engine_of(1), pipe))
    assert pipe.is_fifo()
    with pytest.raises(DamagedSnapshotError, match="is a pipe") as caught:
        Engine.load(pipe)  # and does not wait
    assert caught.value.path == str(pipe)


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    error = refused(engine_of(1), tmp_path / "missing" / "engine")
    assert error.errno == errno.ENOENT
    assert f"there is no folder {tmp_path / 'missing'}" in str(error)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert refused(engine_of(1), tmp_path / "file" / "engine").errno == errno.ENOTDIR


def test_a_folder_that_must_not_be_written_to(folder: Path) -> None:
    path = folder / "engine"
    engine_of(1).save(path)
    folder.chmod(0o555)
    try:
        with without_privileges():
            error = refused(engine_of(2), path)
    finally:
        folder.chmod(0o755)
    assert error.errno == errno.EACCES
    assert str(folder) in str(error)
    assert list(folder.iterdir()) == [path]
    assert len(Engine.load(path)) == 1


def test_the_longest_name_that_a_file_may_have(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    for count in (1, 2):
        engine_of(count).save(path)
        assert len(Engine.load(path)) == count
    assert list(tmp_path.iterdir()) == [path]
    assert refused(engine_of(1), tmp_path / ("n" * 256)).errno == errno.ENAMETOOLONG


def test_the_error_is_both_ours_and_the_systems(tmp_path: Path) -> None:
    error = refused(engine_of(1), tmp_path)
    assert isinstance(error, SnapshotError)
    assert isinstance(error, OSError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path, again.errno) == (str(error), error.path, errno.EISDIR)
