"""What is in a snapshot: settings, ids, owners, statements, templates, the matcher's structure.

::

    settings     matcher, absent, arrived; names of the ontology       header
    ids          text by key, empty where a key is free; order         arrays, used where they lie
    owners       keys, codes, names                                    arrays
    templates    keys, codes, texts; keys, values in JSON              arrays
    sources      keys, texts, if there are any       (sources.py)      arrays, used where they lie
    groups       per outline: keys, columns          (groups.py)       arrays, used where they lie
    mixed        all other subscriptions       (rare_outlines.py)      arrays
    structure    what the matcher wants to have back (Matcher.stored)  arrays, used where they lie

Reading makes no Python object per subscription. A matcher whose structure is missing, or is of
another form than it writes today, is filled anew from the statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from predicast.arrays import Array
from predicast.engine.ids import HeldIds
from predicast.engine.owners import Owners
from predicast.engine.snapshot.groups import Group, read_group, write_group
from predicast.engine.snapshot.layout import (
    UNSIGNED,
    ArraysIn,
    ArraysOut,
    Bytes,
    Place,
    damaged,
    opened,
    read_header,
    whole,
)
from predicast.engine.snapshot.rare_outlines import RareOutlines, Table, write_mixed
from predicast.engine.snapshot.sources import SourcesEntry, read_sources, write_sources
from predicast.engine.snapshot.texts import (
    TextsEntry,
    arrow_strings,
    check_codes,
    distinct,
    read_texts,
    write_texts,
)
from predicast.engine.sources import Sources
from predicast.engine.statements import Statements
from predicast.engine.templates import Templates
from predicast.errors import SnapshotError
from predicast.matching.matcher import Stored
from predicast.model import Absent, Clause, Subscription
from predicast.model.outline import outlined
from predicast.model.vocabulary import Vocabulary


class Snapshot(NamedTuple):
    """An engine, taken apart."""

    matcher: str
    absent: Absent
    arrived: int
    ids: HeldIds
    owners: Owners
    statements: Statements
    templates: Templates
    sources: Sources
    structure: Stored | None
    vocabulary: Vocabulary | None = None


class IdsEntry(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Where ids are."""

    texts: TextsEntry
    order: int | None  # keys in the order of arrival, unless they ascend and none is free


class OwnersEntry(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Where owners are."""

    keys: int
    codes: int
    names: TextsEntry


class _Templates(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    keys: int
    codes: int
    texts: TextsEntry
    with_values: int  # the keys whose values are not their operands
    values: TextsEntry


class _Vocabulary(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    prefixes: dict[str, str]
    classes: dict[str, tuple[str, ...]]
    properties: dict[str, tuple[str, ...]]


class _Structure(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    form: str
    document: msgspec.Raw
    arrays: list[int]
    clauses: Table


class _Header(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    matcher: str
    absent: Literal["fails", "passes"]
    arrived: Annotated[int, msgspec.Meta(ge=0)]
    ids: IdsEntry
    owners: OwnersEntry
    groups: list[Group]
    mixed: Table
    templates: _Templates
    structure: _Structure | None
    arrays: list[Place]
    sources: SourcesEntry | None = None
    # Left out where there is none, so that whoever knows of no ontologies reads the others.
    vocabulary: _Vocabulary | msgspec.UnsetType = msgspec.UNSET


# Writing.


def to_bytes(snapshot: Snapshot) -> bytes:
    """The bytes of a file."""
    return whole(encoded(snapshot))


def encoded(snapshot: Snapshot) -> Iterator[memoryview | bytes]:
    """The snapshot's bytes in pieces, those of the prologue last."""
    out = ArraysOut()
    header = _Header(
        snapshot.matcher,
        snapshot.absent,
        snapshot.arrived,
        write_ids(snapshot.ids, out),
        write_owners(snapshot.owners, out),
        [write_group(keys, operands, out) for keys, operands in snapshot.statements.in_columns()],
        write_mixed(snapshot.statements.alone(), out),
        _write_templates(snapshot.templates, out),
        None if snapshot.structure is None else _write_structure(snapshot.structure, out),
        out.places,
        write_sources(snapshot.sources, out),
        _write_vocabulary(snapshot.vocabulary),
    )
    return out.finished(header)


def _write_vocabulary(vocabulary: Vocabulary | None) -> _Vocabulary | msgspec.UnsetType:
    if vocabulary is None:
        return msgspec.UNSET
    return _Vocabulary(
        dict(vocabulary.prefixes), dict(vocabulary.classes), dict(vocabulary.properties)
    )


def write_ids(ids: HeldIds, out: ArraysOut) -> IdsEntry:
    """Put ids into a file."""
    texts, order = ids
    if isinstance(texts, list):
        texts = arrow_strings([text or "" for text in texts])
    if order is not None:
        keys = np.array(order, np.int32)
        in_order = len(keys) == len(texts) and bool((keys == np.arange(len(keys))).all())
        order = None if in_order else keys
    return IdsEntry(write_texts(texts, out), None if order is None else out.add(order))


def write_owners(owners: Owners, out: ArraysOut) -> OwnersEntry:
    """Put owners into a file."""
    held = owners.by_key()
    names, codes = distinct([*held.values()])
    keys = np.fromiter(held, np.int32, len(held))
    return OwnersEntry(out.add(keys), out.add(codes), write_texts(names, out))


def _write_templates(templates: Templates, out: ArraysOut) -> _Templates:
    written = list(templates.written())
    texts, codes = distinct([text for _, text, _ in written])
    values = [(key, each) for key, _, each in written if each is not None]
    return _Templates(
        out.add(np.array([key for key, _, _ in written], np.int32)),
        out.add(codes),
        write_texts(texts, out),
        out.add(np.array([key for key, _ in values], np.int32)),
        write_texts(arrow_strings([each for _, each in values]), out),
    )


def _write_structure(structure: Stored, out: ArraysOut) -> _Structure:
    clauses = enumerate(outlined(Subscription((clause,))) for clause in structure.clauses)
    return _Structure(
        structure.form,
        msgspec.Raw(structure.document),
        [out.add(*pieces) for pieces in structure.arrays],
        write_mixed(clauses, out),
    )


# Reading.


def decode(file: Bytes) -> Snapshot:
    """The snapshot in the bytes of a file, which stay in use and may be written to."""
    text, data = opened(file)
    header = read_header(text, _Header, "has a header that cannot be read")
    arrays = ArraysIn(data, header.arrays)
    ids, is_held = read_ids(header.ids, arrays)
    owners = read_owners(header.owners, is_held, arrays)
    groups = [read_group(group, arrays) for group in header.groups]
    mixed = RareOutlines(header.mixed, arrays)
    check_keys([*(keys for keys, _ in groups), mixed.keys], is_held)
    statements = Statements.restored(groups, mixed, mixed.attributes(), len(is_held))
    vocabulary = _read_vocabulary(header.vocabulary)
    return Snapshot(
        header.matcher,
        header.absent,
        header.arrived,
        ids,
        owners,
        statements,
        _read_templates(header.templates, is_held, statements, vocabulary, arrays),
        read_sources(header.sources, is_held, arrays),
        None if header.structure is None else _read_structure(header.structure, arrays),
        vocabulary,
    )


def _read_vocabulary(entry: _Vocabulary | msgspec.UnsetType) -> Vocabulary | None:
    if isinstance(entry, msgspec.UnsetType):
        return None
    return Vocabulary(entry.prefixes, entry.classes, entry.properties)


def read_ids(entry: IdsEntry, arrays: ArraysIn) -> tuple[HeldIds, Array]:
    """The ids, and which keys are held."""
    texts = read_texts(entry.texts, arrays)
    is_held = np.diff(arrays.get(entry.texts.first, "i8", "i4")) > 0
    order = None
    if entry.order is not None:
        order = arrays.get(entry.order, "i4")
        check_keys([order], is_held)
    elif not is_held.all():
        raise damaged("has an empty id")
    return HeldIds(_narrow(texts), order), is_held


def _narrow(texts: pa.Array) -> pa.StringArray:
    """The texts as an engine holds ids: where each begins in 32 bits, their bytes as they lie."""
    try:
        return texts.cast(pa.string())
    except pa.ArrowInvalid as error:
        raise SnapshotError("the snapshot has ids of 2 GiB in all; less can be loaded") from error


def check_keys(parts: list[Array], is_held: Array) -> None:
    """Refuse keys unless they are all that are held, each once."""
    seen = np.zeros(len(is_held), bool)
    for keys in parts:
        _check_range(keys, len(is_held))
        seen[keys] = True
    if sum(map(len, parts)) != np.count_nonzero(is_held) or not np.array_equal(seen, is_held):
        raise damaged("has subscriptions without ids, or ids without subscriptions")


def _check_range(keys: Array, bound: int) -> None:
    if len(keys) and (int(keys.min()) < 0 or int(keys.max()) >= bound):
        raise damaged(f"has a key that is not below {bound}")


def read_owners(entry: OwnersEntry, is_held: Array, arrays: ArraysIn) -> Owners:
    """The owners, none of a key that is not held."""
    keys, codes = arrays.get(entry.keys, "i4"), arrays.get(entry.codes, *UNSIGNED)
    names = read_texts(entry.names, arrays)
    check_codes(codes, len(names), "an owner")
    _check_range(keys, len(is_held))
    if len(keys) != len(codes) or not is_held[keys].all():
        raise damaged("has owners of nothing")
    return Owners.restored(keys, codes, names)


def _read_templates(
    entry: _Templates,
    is_held: Array,
    statements: Statements,
    vocabulary: Vocabulary | None,
    arrays: ArraysIn,
) -> Templates:
    keys, codes = arrays.get(entry.keys, "i4"), arrays.get(entry.codes, *UNSIGNED)
    texts = read_texts(entry.texts, arrays)
    with_values, values = arrays.get(entry.with_values, "i4"), read_texts(entry.values, arrays)
    check_codes(codes, len(texts), "a template")
    _check_range(keys, len(is_held))
    if len(keys) != len(codes) or not is_held[keys].all() or len(np.unique(keys)) != len(keys):
        raise damaged("has templates of nothing, or several of one subscription")
    if len(with_values) != len(values) or not np.isin(with_values, keys).all():
        raise damaged("has values of parameters that nothing has")
    held = (keys, codes, texts), (with_values, values)
    return Templates.restored(*held, statements, vocabulary)


def _read_structure(entry: _Structure, arrays: ArraysIn) -> Stored:
    every = ("bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f8")
    found = [(arrays.get(number, *every),) for number in entry.arrays]
    clauses: list[Clause] = []
    for stated in RareOutlines(entry.clauses, arrays).stated():
        if len(stated.outline.clauses) != 1:
            raise damaged("has several clauses where one belongs")
        clauses += stated.subscription().clauses
    return Stored(entry.form, bytes(entry.document), found, clauses)
