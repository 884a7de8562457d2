"""Versions of the format: this one, the one before, and those that are refused by name."""

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from predicast import Engine
from predicast.engine.snapshot import VERSION, contents
from predicast.errors import SnapshotError, SnapshotVersionError
from tests.unit.engine.snapshot.test_damaged_snapshots import taken_apart

VERSION_2 = Path(__file__).with_name("version-2.predicast")


def engine_of_version_2() -> Engine:
    """What was saved in the file of version 2."""
    engine = Engine(matcher="columnar")
    engine.subscribe_many(
        (f"s{n}", f"a < {n} AND b = 'w{n % 7}' AND c IN ({n}, 3)") for n in range(40)
    )
    engine.subscribe("p LIKE 'abc%' OR q RLIKE 'x+' OR r IS NULL", id="é", owner="me")
    engine.subscribe("v > :lo AND d LIKE :p", id="p", parameters={"lo": 1, "p": "x%"})
    engine.unsubscribe("s7")
    return engine


def test_version_2_is_read(tmp_path: Path) -> None:
    assert struct.unpack_from("<I", VERSION_2.read_bytes(), 16) == (2,)
    expected, loaded = engine_of_version_2(), Engine.load(VERSION_2)
    event = {"a": 9, "b": "w3", "c": 3, "p": "abcd", "r": 1}
    assert loaded.match(event) == expected.match(event) == ["s10", "s17", "s24", "s31", "s38", "é"]
    without_texts = [
        entry if entry.parameters else replace(entry, text=None)
        for entry in expected.subscriptions()
    ]
    assert loaded.subscriptions() == without_texts
    loaded.change("p", parameters={"lo": 5})
    loaded.save(tmp_path / "engine")
    again = Engine.load(tmp_path / "engine")
    assert again.subscriptions() == loaded.subscriptions()
    assert struct.unpack_from("<I", (tmp_path / "engine").read_bytes(), 16) == (VERSION,)


@pytest.mark.parametrize("version", [0, 1, VERSION + 1, 2**32 - 1])
def test_other_versions_are_refused_by_name(version: int) -> None:
    data = bytearray(engine_of_version_2().to_bytes())
    struct.pack_into("<I", data, 16, version)
    with pytest.raises(
        SnapshotVersionError, match=f"version {version}; .* reads 2 and 3"
    ) as caught:
        Engine.from_bytes(bytes(data))
    assert caught.value.version == version


@pytest.mark.parametrize("looked_at", [False, True])
def test_no_text_ends_at_2_gib(looked_at: bool) -> None:
    """Where texts begin is written in 64 bits, whether ids are still in Arrow or not."""
    engine = Engine()
    engine.subscribe_many([("a", "x = 'y'"), ("b", "x = 'z'")])
    if looked_at:
        assert "a" in engine
    header, body = taken_apart(engine.to_bytes())
    type_, offset, length = header["arrays"][header["ids"]["texts"][0]]
    assert (type_, np.frombuffer(body, "<i8", length, offset).tolist()) == ("i8", [0, 1, 2])


def test_ids_that_no_engine_holds_are_refused() -> None:
    first = np.array([0, 2**31], np.int64)
    zeros = np.zeros(2**31, np.uint8)  # of which no page is ever touched
    ids = pa.LargeStringArray.from_buffers(1, pa.py_buffer(first), pa.py_buffer(zeros))
    with pytest.raises(SnapshotError, match="2 GiB"):
        contents._narrow(ids)
