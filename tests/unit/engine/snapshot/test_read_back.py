"""What was written is read back before it replaces anything: an old file beats a bad one."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings

from predicast import Engine
from predicast.engine import snapshot
from predicast.engine.ids import HeldIds
from predicast.engine.snapshot.atomic import write_atomically
from predicast.engine.snapshot.saving import check_loads
from predicast.errors import (
    DamagedSnapshotError,
    PredicastError,
    SnapshotError,
    SnapshotNotSavedError,
)
from predicast.matching.matcher import Stored
from tests.unit.engine.snapshot.saved_engines import check_kept, engine_of, old_file
from tests.unit.engine.snapshot.test_damaged_snapshots import (
    FORGERIES,
    nodes,
    put_together,
    replaced,
    taken_apart,
)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return old_file(tmp_path)


def overflowed(taken: snapshot.Snapshot) -> snapshot.Snapshot:
    """Ids as if text had grown past 2 GiB, and 32 bits had made negative places of some."""
    first = np.array([0, 2**31 - 1, -(2**31), 2, 4], np.int32)
    texts = pa.StringArray.from_buffers(4, pa.py_buffer(first), pa.py_buffer(b"s0s1"))
    return taken._replace(ids=HeldIds(texts, None))


def without_an_id(taken: snapshot.Snapshot) -> snapshot.Snapshot:
    return taken._replace(ids=HeldIds(["s0", None, "s2", "s3"], None))


def with_an_id_too_many(taken: snapshot.Snapshot) -> snapshot.Snapshot:
    return taken._replace(ids=HeldIds([f"s{n}" for n in range(5)], None))


def with_another_structure(taken: snapshot.Snapshot) -> snapshot.Snapshot:
    assert taken.structure is not None
    form, _, arrays, clauses = taken.structure
    document = b'{"subscriptions":1,"segments":[{"data":9,"directory":9,"axes":[],"others":[]}]}'
    return taken._replace(structure=Stored(form, document, arrays[:1], clauses))


WRONGS = [overflowed, without_an_id, with_an_id_too_many, with_another_structure]


@pytest.mark.parametrize("wrong", WRONGS)
def test_a_file_that_would_not_load_replaces_nothing(
    wrong: Callable[[snapshot.Snapshot], snapshot.Snapshot], kept: Path
) -> None:
    with pytest.raises(SnapshotNotSavedError, match="could not be loaded again") as caught:
        snapshot.save(wrong(engine_of(4)._taken_apart()), kept)
    assert isinstance(caught.value.__cause__, DamagedSnapshotError)
    assert (caught.value.path, caught.value.errno) == (str(kept), None)
    check_kept(kept)


def test_a_disk_that_changes_a_byte_is_found_out(kept: Path) -> None:
    data = engine_of(4).to_bytes()
    chosen = random.Random(8)

    def write(file: IO[bytes]) -> None:
        changed = bytearray(data)
        changed[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
        file.write(changed)

    for _ in range(100):
        with pytest.raises(SnapshotError):
            write_atomically(kept, write, check_loads)
    check_kept(kept)


def test_a_disk_that_loses_the_end_is_found_out(kept: Path) -> None:
    data = engine_of(4).to_bytes()
    for length in (0, 1, 71, 72, len(data) // 2, len(data) - 1):
        with pytest.raises(DamagedSnapshotError):
            write_atomically(kept, lambda file, end=length: file.write(data[:end]), check_loads)  # type: ignore[misc]
    check_kept(kept)


def test_what_is_whole_passes(kept: Path) -> None:
    data = engine_of(4).to_bytes()
    write_atomically(kept, lambda file: file.write(data), check_loads)
    assert kept.read_bytes() == data


def test_what_passes_is_what_loads(kept: Path) -> None:
    """Headers with something wrong in them, under a checksum that is right."""
    header, body = taken_apart(engine_of(4).to_bytes())
    chosen = random.Random(9)
    every = [(path, forgery) for path in nodes(header) for forgery in FORGERIES]
    outcomes: set[str] = set()
    for path, forgery in chosen.sample(
        every, min(len(every), max(500, 5 * settings().max_examples))
    ):
        kept.write_bytes(put_together(replaced(header, path, forgery), body))
        with kept.open("rb") as file:
            checked = outcome(lambda file=file: check_loads(file))  # type: ignore[misc]
        loaded = outcome(lambda: Engine.load(kept))
        assert checked == loaded, path
        outcomes.add(loaded)
    assert outcomes == {"fine", "DamagedSnapshotError", "UnknownMatcherError"}


def outcome(run: Callable[[], object]) -> str:
    try:
        run()
    except PredicastError as error:
        return type(error).__name__
    return "fine"
