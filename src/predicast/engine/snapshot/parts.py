"""Parts: subscriptions that are read here or elsewhere, before there is an engine of them all.

Reading texts takes most of the time of a large load, and can be done in many processes at once:
each gathers what it has read in a ``SnapshotPart``, which is a snapshot without what a matcher
makes of it. ``joined`` makes one snapshot of several. Whoever loads that has the matcher filled
from it.

What comes out depends on the subscriptions and on their order alone, not on how they were divided:
groups of subscriptions that are alike stand in the order of their first members.

Parts hold no texts with parameters: a row of a table has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from predicast.arrays import Array, offsets
from predicast.engine.ids import HeldIds
from predicast.engine.owners import Owners
from predicast.engine.snapshot.contents import Snapshot
from predicast.engine.snapshot.texts import arrow_strings
from predicast.engine.sources import Sources
from predicast.engine.statements import Statements
from predicast.engine.templates import Templates
from predicast.model import Absent
from predicast.model.operand_columns import Gathering, OperandColumns
from predicast.model.operand_columns import joined as joined_columns
from predicast.model.outline import Outline, Stated
from predicast.model.vocabulary import Vocabulary


class SnapshotPart:
    """Subscriptions with ids that are valid and different, taken in one by one."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._owners = Owners()
        self._sources = Sources()
        self._gathering = Gathering()

    def add(
        self,
        id: str,
        owner: str | None,
        stated: Stated,
        text: str | None,
        dialect: str | None = None,
    ) -> None:
        """Take in what a subscription states, and the text that it was read from."""
        key = len(self._ids)
        self._ids.append(id)
        self._gathering.add(key, *stated)
        if text is not None:
            self._sources.set(key, text)
            if dialect is not None:
                self._sources.set_dialect(key, dialect)
        if owner is not None:
            self._owners.set(key, owner)

    def snapshot(self, matcher: str, absent: Absent, vocabulary: Vocabulary | None) -> Snapshot:
        """All that was taken in, for an engine with these settings."""
        return Snapshot(
            matcher,
            absent,
            len(self._ids),
            HeldIds(arrow_strings(self._ids), None),
            self._owners,
            _statements(self._gathering.groups()),
            Templates(),
            self._sources,
            None,
            vocabulary,
        )


def joined(parts: Sequence[Snapshot]) -> Snapshot:
    """One snapshot of several that have the same settings, at least one, in their order."""
    first = offsets(np.array([len(part.ids.texts) for part in parts], np.int64))
    owners, count = Owners(), int(first[-1])
    for part, before in zip(parts, first.tolist(), strict=False):
        for key, owner in part.owners.by_key().items():
            owners.set(before + key, owner)
    return parts[0]._replace(
        arrived=count,
        ids=HeldIds(_one_after_another([part.ids.texts for part in parts]), None),
        owners=owners,
        statements=_statements(
            (keys + before, operands)
            for part, before in zip(parts, first.tolist(), strict=False)
            for keys, operands in part.statements.grouped()
        ),
        sources=_joined_sources(parts, first),
    )


def _statements(groups: Iterable[tuple[Array, OperandColumns]]) -> Statements:
    """Groups of subscriptions, those of one outline together, in the order of first members."""
    by_outline: dict[Outline, list[tuple[Array, OperandColumns]]] = {}
    for keys, operands in groups:
        if len(keys):
            by_outline.setdefault(operands.outline, []).append((keys, operands))
    for pieces in by_outline.values():
        pieces.sort(key=_first)
    statements = Statements()
    for pieces in sorted(by_outline.values(), key=lambda pieces: _first(pieces[0])):
        keys = np.concatenate([keys for keys, _ in pieces]).astype(np.int32)
        statements.put_columns(keys, joined_columns([operands for _, operands in pieces]))
    return statements


def _first(group: tuple[Array, OperandColumns]) -> int:
    return int(group[0][0])


def _one_after_another(pieces: Iterable[pa.Array | list[str | None]]) -> pa.Array:
    """Strings one after the other; in the wide form, whose end nothing reaches."""
    wide = [
        arrow_strings([text or "" for text in each])
        if isinstance(each, list)
        else each.cast(pa.large_string())
        for each in pieces
    ]
    return pa.concat_arrays(wide)


def _joined_sources(parts: Sequence[Snapshot], first: Array) -> Sources:
    keys, texts, dialects = [], [], dict[int, str]()
    for part, before in zip(parts, first.tolist(), strict=False):
        own, held = part.sources.arrays()
        keys.append(own + before)
        texts.append(held)
        dialects |= {before + key: name for key, name in part.sources.dialects().items()}
    every = np.concatenate(keys).astype(np.int32)
    return Sources.restored(every, _one_after_another(texts), dialects)
