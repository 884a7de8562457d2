"""An engine of graphs in a file: the layout, ids, owners and texts of any engine's file.

::

    settings     matcher, budget, arrived                              header
    ids, owners  as in every snapshot (predicast.engine.snapshot)      arrays
    patterns     the JSON form of each, by key                         arrays
    sources      the texts that some of them were given as             arrays
    ontology     its statements as N-Triples; prefixes                 arrays; header

Patterns are not read from their texts again: what a prefix or a short name stands for is the
ontology's to say, and it may have been extended since.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace as replaced
from typing import IO, Annotated, Literal, NamedTuple

import msgspec

from predicast.engine.ids import HeldIds, Ids
from predicast.engine.owners import Owners
from predicast.engine.snapshot.contents import (
    IdsEntry,
    OwnersEntry,
    check_keys,
    read_ids,
    read_owners,
    write_ids,
    write_owners,
)
from predicast.engine.snapshot.layout import (
    ArraysIn,
    ArraysOut,
    Bytes,
    Place,
    damaged,
    mapped_file,
    opened,
    read_header,
    whole,
)
from predicast.engine.snapshot.saving import save_pieces
from predicast.engine.snapshot.sources import SourcesEntry, read_sources, write_sources
from predicast.engine.snapshot.texts import TextsEntry, arrow_strings, read_texts, write_texts
from predicast.engine.sources import Sources
from predicast.errors import PredicastError, SnapshotError
from predicast.graph.engine.pattern_store import PatternStore
from predicast.graph.language.json_form import pattern_from_json, pattern_to_json
from predicast.graph.ontology import Ontology
from predicast.graph.patterns import GraphPattern


class GraphSnapshot(NamedTuple):
    """An engine of graphs, taken apart."""

    matcher: str
    budget: int
    arrived: int
    ids: HeldIds
    owners: Owners
    sources: Sources
    patterns: dict[int, GraphPattern]
    ontology: Ontology


class _Header(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    events: Literal["graphs"]
    matcher: str
    budget: Annotated[int, msgspec.Meta(ge=1)]
    arrived: Annotated[int, msgspec.Meta(ge=0)]
    ids: IdsEntry
    owners: OwnersEntry
    patterns: SourcesEntry | None
    sources: SourcesEntry | None
    ontology: TextsEntry
    prefixes: dict[str, str]
    arrays: list[Place]


def taken_apart(store: PatternStore, matcher: str) -> GraphSnapshot:
    """All there is, untouched by later changes."""
    patterns = dict(store.statements.items())
    held = store.matcher
    return GraphSnapshot(
        matcher,
        held.budget,
        store.arrived,
        store.ids.held(),
        store.owners.copy(),
        store.sources.copy(),
        patterns,
        held.ontology,
    )


def encoded(snapshot: GraphSnapshot) -> Iterator[memoryview | bytes]:
    """The snapshot's bytes in pieces, those of the prologue last."""
    out = ArraysOut()
    statements = "\n".join(
        f"{subject} {name} {object} ." for subject, name, object in snapshot.ontology.triples
    )
    header = _Header(
        "graphs",
        snapshot.matcher,
        snapshot.budget,
        snapshot.arrived,
        write_ids(snapshot.ids, out),
        write_owners(snapshot.owners, out),
        write_sources(_forms(snapshot.patterns), out),
        write_sources(snapshot.sources, out),
        write_texts(arrow_strings([statements]), out),
        snapshot.ontology.prefixes,
        out.places,
    )
    return out.finished(header)


def to_bytes(snapshot: GraphSnapshot) -> bytes:
    """The bytes of a file."""
    return whole(encoded(snapshot))


def save(snapshot: GraphSnapshot, path: str | os.PathLike[str]) -> None:
    """Write a file, all of it or nothing."""
    save_pieces(encoded(snapshot), path, _check_loads)


def _check_loads(file: IO[bytes]) -> None:
    decode(mapped_file(file))


def decode(file: Bytes) -> GraphSnapshot:
    """The snapshot in the bytes of a file."""
    text, data = opened(file)
    header = read_header(text, _Header, "has no header of an engine of graphs")
    arrays = ArraysIn(data, header.arrays)
    ids, is_held = read_ids(header.ids, arrays)
    owners = read_owners(header.owners, is_held, arrays)
    sources = read_sources(header.sources, is_held, arrays)
    keys, forms = read_sources(header.patterns, is_held, arrays).arrays()
    check_keys([keys], is_held)
    try:
        ontology = _read_ontology(header, arrays)
        read = zip(keys.tolist(), forms.to_pylist(), strict=True)
        patterns = {
            key: replaced(pattern_from_json(form), text=sources.get(key)) for key, form in read
        }
    except SnapshotError:
        raise
    except PredicastError as error:
        raise damaged(f"has an ontology or a pattern that cannot be read: {error}") from error
    return GraphSnapshot(
        header.matcher, header.budget, header.arrived, ids, owners, sources, patterns, ontology
    )


def _forms(patterns: dict[int, GraphPattern]) -> Sources:
    """The JSON form of each pattern, by key."""
    forms = Sources()
    for key, pattern in patterns.items():
        forms.set(key, pattern_to_json(pattern))
    return forms


def _read_ontology(header: _Header, arrays: ArraysIn) -> Ontology:
    texts = read_texts(header.ontology, arrays).to_pylist()
    if len(texts) != 1:
        raise damaged(f"has {len(texts)} ontologies")
    read = Ontology.parse(texts[0], "n-triples")
    return Ontology(read.triples, prefixes=header.prefixes)


def restore(store: PatternStore, saved: GraphSnapshot) -> None:
    """Have an empty store hold what a snapshot does."""
    store.owners, store.sources = saved.owners, saved.sources
    for key, pattern in saved.patterns.items():
        store.statements.put(key, pattern)
    store.restore(Ids.restored(saved.ids), saved.arrived)
