"""Snapshots that are not as they should be: refused with a typed error, whatever is wrong."""

import hashlib
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import settings

from predicast import Engine
from predicast.engine.snapshot import VERSION
from predicast.errors import (
    DamagedSnapshotError,
    SnapshotError,
    SnapshotVersionError,
    UnknownMatcherError,
)

FIELDS = struct.Struct("<16sIIQQ")
START = FIELDS.size + 32


@pytest.fixture(scope="module")
def whole() -> bytes:
    """One of everything: types of operands, owners, free keys, segments, patterns, parameters."""
    engine = Engine(matcher="columnar")
    engine.subscribe_many(
        (f"s{n}", f"a < {n} AND b = 'w{n % 7}' AND c IN ({n}, 3) AND d LIKE '%{n % 5}%x'")
        for n in range(60)
    )
    texts = [
        "f > 1.5 AND t > TIMESTAMP '2026-01-31' AND g = TRUE",
        "p LIKE 'abc%' OR q RLIKE 'x+' OR r IS NULL",
        "s BETWEEN 1 AND 2.5 AND u NOT IN ('x', 'y')",
    ]
    for number, text in enumerate(texts):
        engine.subscribe(text, id=f"t{number}", owner=f"owner {number % 2}")
    parameters: dict[str, Any] = {"lo": 1, "hi": 2.5, "p": "x%"}
    engine.subscribe("v > :lo AND w < :hi", id="p0", parameters={"lo": 1, "hi": 2})
    engine.subscribe("v > :lo AND w < :hi AND d LIKE :p", id="p1", parameters=parameters)
    engine.unsubscribe("s7")
    engine.match({"a": 1, "b": "w3"})
    return engine.to_bytes()


def refused(data: bytes) -> SnapshotError:
    with pytest.raises((DamagedSnapshotError, SnapshotVersionError)) as caught:
        Engine.from_bytes(data)
    return caught.value


def taken_apart(data: bytes) -> tuple[dict[str, Any], bytes]:
    header = FIELDS.unpack_from(data)[3]
    start = -(-(START + header) // 64) * 64
    return msgspec.json.decode(data[START : START + header]), data[start:]


def put_together(header: Any, body: bytes) -> bytes:
    """A file with this content and a checksum that is right."""
    text = header if isinstance(header, bytes) else msgspec.json.encode(header)
    start = -(-(START + len(text)) // 64) * 64
    rest = text + bytes(start - START - len(text)) + body
    fields = FIELDS.pack(b"predicast engine", VERSION, 0, len(text), START + len(rest))
    return fields + hashlib.sha256(fields + rest).digest() + rest


def test_taking_apart_and_putting_together_changes_nothing(whole: bytes) -> None:
    engine = Engine.from_bytes(put_together(*taken_apart(whole)))
    assert engine.match({"a": 2, "b": "w3", "c": 3, "d": "3 x"}) == ["s3", "s38", "t1"]


def test_every_truncation_is_refused(whole: bytes) -> None:
    for length in range(len(whole)):
        assert isinstance(refused(whole[:length]), DamagedSnapshotError)
    refused(whole + b"\0")


def test_every_changed_byte_is_refused(whole: bytes) -> None:
    chosen = random.Random(4)
    changed = bytearray(whole)
    for place, byte in enumerate(whole):
        for mask in (1 << chosen.randrange(8), 255):
            changed[place] = byte ^ mask
            refused(bytes(changed))
        changed[place] = byte


def test_a_file_of_version_1_says_so(tmp_path: Path) -> None:
    payload = b'{"matcher":"brute-force","absent":"fails"}'
    old = struct.pack("<16sIQ32s", b"predicast engine", 1, len(payload), b"\0" * 32) + payload
    path = tmp_path / "old"
    path.write_bytes(old)
    with pytest.raises(SnapshotVersionError, match="version 1") as caught:
        Engine.load(path)
    assert (caught.value.version, caught.value.path) == (1, str(path))


@pytest.mark.parametrize("content", [b"", b"x", b"predicast", b"no snapshot" * 99, bytes(999)])
def test_other_files_are_refused_by_name(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(DamagedSnapshotError, match="other") as caught:
        Engine.load(path)
    assert caught.value.path == str(path)


def use(engine: Engine) -> None:
    """What only looks at Python's side: kernels trust the arrays that they are given."""
    len(engine), engine.attributes(), engine.matcher
    engine.subscriptions()
    for id in engine:
        engine._store.templates.get(engine._store.key(id))


def nodes(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(document, dict | list):
        keys = document if isinstance(document, dict) else range(len(document))
        for key in keys:
            found += nodes(document[key], (*path, key))
    return found


def replaced(document: Any, path: tuple[Any, ...], by: Callable[[Any], Any]) -> Any:
    if not path:
        return by(document)
    copy = document.copy()
    copy[path[0]] = replaced(copy[path[0]], path[1:], by)
    return copy


FORGERIES: list[Callable[[Any], Any]] = [
    lambda _: None,
    lambda _: -1,
    lambda _: 2**62,
    lambda _: 2**70,
    lambda _: "x",
    lambda _: [],
    lambda _: {},
    lambda _: [[]],
    lambda old: old + 1 if type(old) is int else [old],
    lambda old: old - 1 if type(old) is int else 1.5,
    lambda old: old[:-1] if isinstance(old, list | str) else 0,
    lambda old: old * 2 if isinstance(old, list | str) else 7,
]


def test_forged_headers_with_a_right_checksum(whole: bytes) -> None:
    """They load or are refused; no other error, no crash, no memory for what is not there."""
    header, body = taken_apart(whole)
    chosen = random.Random(5)
    every = [(path, forgery) for path in nodes(header) for forgery in FORGERIES]
    refusals = 0
    most = min(len(every), max(2_000, 20 * settings().max_examples))
    for path, forgery in chosen.sample(every, most):
        forged = put_together(replaced(header, path, forgery), body)
        try:
            use(Engine.from_bytes(forged))
        except (SnapshotError, UnknownMatcherError):
            refusals += 1
        except Exception as error:
            raise AssertionError(f"{path}: {error!r}") from error
    assert refusals > 1_000


def test_forged_arrays_with_a_right_checksum(whole: bytes) -> None:
    header, body = taken_apart(whole)
    chosen = random.Random(6)
    refusals = 0
    widths = {"bool": 1}
    for number, (type_, offset, length) in enumerate(header["arrays"]):
        size = length * widths.get(type_, int(type_[-1]) if type_[-1].isdigit() else 1)
        for at in chosen.sample(range(size), min(size, max(3, settings().max_examples // 10))):
            forged = bytearray(body)
            place = offset + at
            forged[place] = chosen.choice([0, 1, 127, 128, 255, forged[place] ^ 1])
            try:
                use(Engine.from_bytes(put_together(header, bytes(forged))))
            except SnapshotError:
                refusals += 1
            except Exception as error:
                raise AssertionError(f"array {number} at {place}: {error!r}") from error
    assert refusals > 100


def test_forged_numbers_whose_differences_overflow(whole: bytes) -> None:
    """From the largest to the smallest is one step up, for whoever subtracts without looking."""
    header, body = taken_apart(whole)
    refusals = 0
    for number, (type_, offset, length) in enumerate(header["arrays"]):
        if type_ not in {"i4", "i8"}:
            continue
        ends = np.iinfo(type_)
        for at in range(length):
            forged = np.frombuffer(body, type_, length, offset).copy()
            leap = [ends.max, ends.min, -1][: length - at]
            forged[at : at + len(leap)] = leap
            changed = body[:offset] + forged.tobytes() + body[offset + forged.nbytes :]
            try:
                use(Engine.from_bytes(put_together(header, changed)))
            except SnapshotError:
                refusals += 1
            except Exception as error:
                raise AssertionError(f"array {number} at {at}: {error!r}") from error
    assert refusals > 100


@pytest.mark.parametrize("text", [b"", b"{", b"null", b"\xff", b"[" * 100_000, b'{"matcher": 1}'])
def test_headers_that_are_none(text: bytes) -> None:
    assert "header" in str(refused(put_together(text, b"")))


def test_what_was_loaded_from_bytes_leaves_them_alone(whole: bytes) -> None:
    before = np.frombuffer(whole, np.uint8).copy()
    engine = Engine.from_bytes(whole)
    engine.unsubscribe("s9")
    engine.unsubscribe("t1")
    assert np.array_equal(np.frombuffer(whole, np.uint8), before)
