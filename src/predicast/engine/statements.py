"""``Statements``: what an engine's subscriptions state, by key.

::

    alone    {7: Stated, 12: Stated}                        came one by one, or was changed since

    chunk 1  keys  [0 1 2 3 4 …]   OperandColumns: outline, columns  came in bulk
             waiting  {3: operands}                         was changed since, in its outline
    chunk 2  keys  [5 6 8 …]       OperandColumns

    home     [1 1 0 1 1 2 2 0 2 …]                          by key: the chunk, 0 for none

A subscription that came in bulk costs its operands, its key and its entry in ``home``; there is
no object for it until someone looks at it. A row of a chunk is live as long as ``home`` says
that its key is at home there, so that removing or changing a subscription writes one number.
What a change puts in the place of another of the same outline waits until there are some of them:
to write them together, column by column, takes a fifth of the time.

A chunk of which more than half is dead is written anew, and chunks of one outline and of similar
size are merged, so that there are O(log n) chunks per outline.

What counts is ``alone``, ``home`` and the chunks that it points to: a chunk is there before its
keys are at home in it, and goes after they have left. The counters follow from these and can be
worked out anew (``repair``), which is what becomes of a change that was interrupted half-way.

Cost: a look-up is a binary search in one chunk. Adding in bulk is linear in the bulk; merging
makes that O(log n) times as much over an engine's life.

Rejected: a mask of live rows per chunk, with a search of all the chunks. It takes as much room as
``home`` and makes every look-up cost as much as there are outlines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

import numpy as np

from predicast.engine import derivation
from predicast.engine.derivation import Derivation
from predicast.engine.statement_chunk import Chunk
from predicast.language.derived_names import is_derived
from predicast.model import Subscription
from predicast.model.event_reader import EventReader
from predicast.model.operand_columns import OperandColumns, gathered, joined
from predicast.model.outline import Outline, Stated

_FEW: Final = 32  # subscriptions of one outline for which arrays would take more room than objects
_MOST: Final = 1 << 16  # subscriptions of a chunk: writing so many anew stops nobody for long
_SIMILAR: Final = 2  # a chunk up to this many times as large as the one after it is merged with it


class Unread(Protocol):
    """Subscriptions that nobody has looked at yet, as a file has them."""

    def __len__(self) -> int: ...

    def items(self) -> Iterable[tuple[int, Stated]]:
        """All of them with their keys."""


class Statements:
    """Subscriptions by key, most of them in columns."""

    def __init__(self) -> None:
        self._alone: dict[int, Stated] = {}
        self._chunks: dict[int, Chunk] = {}
        self._by_outline: dict[Outline, list[int]] = {}  # numbers of chunks, the oldest first
        self._home_of: Any  # the same as ``home``: Python reads it faster than an array
        self._bound: int  # its length, which arrays take their time to say
        self._set_home(np.zeros(0, np.uint8))
        self._stating: dict[Outline, int] = {}  # how many subscriptions have each outline
        self._attributes: Counter[str] = Counter()  # how many outlines look at each
        self._names: frozenset[str] | None = None  # of those, since they last changed
        self._reader: EventReader | None = None  # likewise
        self._derivation: Derivation | None = derivation.NONE  # None: to be made anew
        self._in_chunks = 0
        self._unread: Unread | None = None  # more that are alone
        self._unread_names = frozenset[str]()  # the attributes that those look at

    @classmethod
    def restored(
        cls,
        groups: Iterable[tuple[np.ndarray, OperandColumns]],
        alone: Unread,
        attributes: frozenset[str],
        bound: int,
    ) -> Statements:
        """From groups whose keys ascend and others, which look at these attributes."""
        statements = cls()
        if len(alone):
            statements._unread, statements._unread_names = alone, attributes
        statements._attributes.update(attributes)
        statements._derivation = None
        statements._make_room(bound - 1, 0)
        for keys, operands in groups:
            if len(keys):
                statements._count(operands.outline, len(keys))
                statements._in_chunks += len(keys)
                statements._insert(keys, operands)
        return statements

    def copy(self) -> Statements:
        """The same, untouched by later changes."""
        copy = Statements()
        copy._alone, copy._unread = self._alone.copy(), self._unread
        copy._stating, copy._unread_names = self._stating.copy(), self._unread_names
        copy._chunks = {number: chunk.copy() for number, chunk in self._chunks.items()}
        copy._by_outline = {outline: [*each] for outline, each in self._by_outline.items()}
        copy._set_home(self._home.copy())
        copy._in_chunks = self._in_chunks
        copy._attributes, copy._derivation = self._attributes.copy(), self._derivation
        return copy

    def __len__(self) -> int:
        unread = 0 if self._unread is None else len(self._unread)
        return len(self._alone) + unread + self._in_chunks

    def put(self, key: int, stated: Stated) -> None:
        """Hold a subscription under a key, known or new.

        Where it keeps its outline, only its operands are written.
        """
        outline = stated.outline
        alone = self._alone if self._unread is None else self._singles()
        before = alone.get(key)
        if before is not None:
            alone[key] = stated
            if before.outline is not outline:
                self._count(outline, 1)
                self._count(before.outline, -1)
            return
        if key < self._bound and (number := self._home_of[key]):
            chunk = self._chunks[number]
            if chunk.outline is outline:
                chunk.put(key, stated.operands)
                return
            self._count(self._forget(key), -1)
        alone[key] = stated
        self._count(outline, 1)

    def put_columns(self, keys: np.ndarray, operands: OperandColumns) -> None:
        """Hold subscriptions of one outline under keys of which any may be known."""
        known = self._homes(keys) > 0
        alone = self._singles()
        if alone:
            known |= np.fromiter((key in alone for key in keys.tolist()), bool, len(keys))
        if known.any():
            self._replace_columns(keys[known], operands if known.all() else operands.take(known))
        if not known.all():
            self._add_columns(keys[~known], operands.take(~known) if known.any() else operands)

    def _add_columns(self, keys: np.ndarray, operands: OperandColumns) -> None:
        """Hold many subscriptions of one outline under new keys."""
        if len(keys) < _FEW:
            for row, key in enumerate(keys.tolist()):
                self._alone[key] = operands.stated(row)
            self._count(operands.outline, len(keys))
            return
        if np.any(keys[1:] < keys[:-1]):
            order = np.argsort(keys)
            keys, operands = keys[order], operands.take(order)
        self._count(operands.outline, len(keys))
        self._in_chunks += len(keys)
        for start in range(0, len(keys), _MOST):
            rows = np.arange(start, min(start + _MOST, len(keys)))
            self._insert(keys[rows], operands.take(rows) if len(rows) < len(keys) else operands)
            self._merge(operands.outline)

    def get(self, key: int) -> Subscription:
        """The subscription under a key."""
        return self.stated(key).subscription()

    def stated(self, key: int) -> Stated:
        """What it states, as outline and operands."""
        found = self._singles().get(key)
        return self._chunk_of(key)[1].stated(key) if found is None else found

    def outline(self, key: int) -> Outline:
        """The outline alone, without a look at the operands of what is in columns."""
        found = self._singles().get(key)
        return self._chunk_of(key)[1].outline if found is None else found.outline

    def __contains__(self, key: int) -> bool:
        return key in self._singles() or (key < self._bound and self._home_of[key] > 0)

    def remove(self, key: int) -> None:
        """Forget a subscription."""
        self._count(self._forget(key), -1)

    def repair(self) -> None:
        """Work out anew what follows from what is held, after an interrupted change."""
        alone = self._singles()
        self._set_home(self._home)
        at_home = [key for key in alone if key < len(self._home)]
        self._home[at_home] = 0
        self._stating, self._attributes = {}, Counter()
        self._in_chunks, self._by_outline = 0, {}
        self._names = self._reader = self._derivation = None
        for stated in alone.values():
            self._count(stated.outline, 1)
        for number, chunk in list(self._chunks.items()):
            live = int(np.count_nonzero(self._home[chunk.keys] == number))
            if not live:
                del self._chunks[number]
                continue
            chunk.dead = len(chunk) - live
            self._in_chunks += live
            self._count(chunk.outline, live)
            self._by_outline.setdefault(chunk.outline, []).append(number)

    def _replace_columns(self, keys: np.ndarray, operands: OperandColumns) -> None:
        """Hold other subscriptions, all of one outline, under known keys.

        Where a subscription keeps its outline, only its operands are written.
        """
        home = self._homes(keys)
        rest = np.ones(len(keys), bool)
        for number in np.unique(home).tolist():
            chunk = self._chunks.get(number)
            if chunk is not None and chunk.outline is operands.outline:
                here = np.flatnonzero(home == number)
                rows = np.searchsorted(chunk.keys, keys[here].astype(chunk.keys.dtype))
                chunk.overwrite(rows, operands, here)
                rest[here] = False
        moving = np.flatnonzero(rest)
        if not len(moving):
            return
        # Only now: what these become is merged with others, and chunks get other numbers.
        before = [self._forget(key) for key in keys[moving].tolist()]
        self._add_columns(keys[moving], operands.take(moving))
        for outline in before:
            self._count(outline, -1)

    def operands(self, keys: np.ndarray) -> Iterator[tuple[np.ndarray, OperandColumns]]:
        """What subscriptions with these keys state: positions among the keys, and a group each."""
        home = self._homes(keys)
        for number in np.unique(home).tolist():
            here = np.flatnonzero(home == number)
            chunk = self._chunks.get(number)
            if chunk is None:
                alone = self._singles()
                yield from gathered((place, alone[int(keys[place])]) for place in here.tolist())
                continue
            rows = np.searchsorted(chunk.keys, keys[here].astype(chunk.keys.dtype))
            yield here, chunk.operands.take(rows)

    def attributes(self) -> frozenset[str]:
        """The names of all attributes that some subscription looks at."""
        if self._names is None:
            self._names = frozenset(self._attributes)
        return self._names

    def derivation(self) -> Derivation:
        """The derived attributes that some subscription looks at."""
        if self._derivation is None:
            self._derivation = Derivation(self._attributes)
        return self._derivation

    def reader(self) -> EventReader:
        """What makes events of the attributes that some subscription looks at."""
        if self._reader is None:
            self._reader = EventReader(self.derivation().read(self.attributes()))
        return self._reader

    def grouped(self) -> Iterator[tuple[np.ndarray, OperandColumns]]:
        """All subscriptions: keys and what they state, a group at a time."""
        yield from self.in_columns()
        yield from gathered(self.alone())

    def in_columns(self) -> Iterator[tuple[np.ndarray, OperandColumns]]:
        """Those that are in columns, keys ascending in each group."""
        for number, chunk in self._chunks.items():
            yield self._live(number, chunk)

    def alone(self) -> Iterable[tuple[int, Stated]]:
        """Those that are not in columns, with their keys."""
        return self._singles().items()

    def items(self) -> Iterator[tuple[int, Subscription]]:
        """All subscriptions with their keys, several times as fast as looking each one up."""
        for key, stated in self.alone():
            yield key, stated.subscription()
        for keys, operands in self.in_columns():
            yield from zip(keys.tolist(), operands.subscriptions(), strict=True)

    def nbytes(self) -> int:
        """Bytes of what came in bulk."""
        return self._home.nbytes + sum(
            chunk.keys.nbytes + chunk.operands.nbytes() for chunk in self._chunks.values()
        )

    # One subscription.

    def _singles(self) -> dict[int, Stated]:
        if self._unread is not None:
            read = dict(self._unread.items())
            self._alone.update(read)
            self._unread = None
            for stated in read.values():
                self._count(stated.outline, 1)
            self._look(self._unread_names, -1)
            self._unread_names = frozenset()
        return self._alone

    def _chunk_of(self, key: int) -> tuple[int, Chunk]:
        number = self._home_of[key] if key < self._bound else 0
        return number, self._chunks[number]  # there is no chunk 0: an unknown key is a KeyError

    def _homes(self, keys: np.ndarray) -> np.ndarray:
        """The chunks that some keys are at home in, 0 for none."""
        home = np.zeros(len(keys), np.int64)
        known = keys < len(self._home)
        home[known] = self._home[keys[known]]
        return home

    def _forget(self, key: int) -> Outline:
        """Take a subscription out; its outline."""
        alone = self._singles().pop(key, None)
        if alone is not None:
            return alone.outline
        number, chunk = self._chunk_of(key)
        self._home_of[key] = 0
        self._in_chunks -= 1
        chunk.dead += 1
        if 2 * chunk.dead > len(chunk):
            self._replace_chunks([number])
        return chunk.outline

    def _count(self, outline: Outline, subscriptions: int) -> None:
        """So many more have an outline, or fewer."""
        before = self._stating.get(outline, 0)
        after = self._stating[outline] = before + subscriptions
        if before and after:
            return
        if after:
            self._look(outline.attributes(), 1)
            return
        del self._stating[outline]
        if before:
            self._look(outline.attributes(), -1)

    def _look(self, attributes: frozenset[str], outlines: int) -> None:
        """One more outline looks at some attributes, or one fewer."""
        counts = self._attributes
        for attribute in attributes:
            before = counts[attribute]  # 0 if none does
            counts[attribute] = before + outlines
            if before and before + outlines:
                continue
            self._names = self._reader = None
            if is_derived(attribute):
                self._derivation = None
            if not before + outlines:
                del counts[attribute]

    # Chunks.

    def _insert(self, keys: np.ndarray, operands: OperandColumns) -> None:
        number = len(self._chunks) + 1
        while number in self._chunks:
            number -= 1  # some chunk before it is gone
        self._make_room(int(keys[-1]), number)
        self._chunks[number] = Chunk(keys, operands)
        self._home[keys] = number
        self._by_outline.setdefault(operands.outline, []).append(number)

    def _make_room(self, key: int, number: int) -> None:
        """See to it that ``home`` has an entry for the key, and can hold the number."""
        dtype = np.promote_types(self._home.dtype, np.min_scalar_type(number))
        length = len(self._home)
        if key >= length or dtype != self._home.dtype:
            if key >= length:
                length = max(key + 1, length + length // 8)
            home = np.zeros(length, dtype)
            home[: len(self._home)] = self._home
            self._set_home(home)

    def _set_home(self, home: np.ndarray) -> None:
        view: Any = memoryview(home)  # type: ignore[arg-type]
        self._home, self._home_of, self._bound = home, view, len(home)

    def _merge(self, outline: Outline) -> None:
        """Merge the newest chunks of an outline while they are of similar size."""
        numbers = self._by_outline[outline]
        merged = len(numbers) - 1
        size = len(self._chunks[numbers[merged]])
        while merged:
            before = len(self._chunks[numbers[merged - 1]])
            if before > _SIMILAR * size or before + size > _MOST:
                break
            merged -= 1
            size += before
        if merged < len(numbers) - 1:
            self._replace_chunks(numbers[merged:])

    def _replace_chunks(self, numbers: list[int]) -> None:
        """Make one chunk of the live rows of some of one outline."""
        chunks = [(number, self._chunks[number]) for number in numbers]
        live = [self._live(number, chunk) for number, chunk in chunks]
        outline = chunks[0][1].outline
        keys = np.concatenate([keys for keys, _ in live])
        operands = joined([operands for _, operands in live])
        order = np.argsort(keys)
        keys, operands = keys[order], operands.take(order)
        if len(keys) >= _FEW:
            self._insert(keys, operands)
        else:
            self._alone |= {key: operands.stated(row) for row, key in enumerate(keys.tolist())}
            self._home[keys] = 0
            self._in_chunks -= len(keys)
        for number in [*numbers]:
            del self._chunks[number]
            self._by_outline[outline].remove(number)
        if not self._by_outline[outline]:
            del self._by_outline[outline]

    def _live(self, number: int, chunk: Chunk) -> tuple[np.ndarray, OperandColumns]:
        if not chunk.dead:
            return chunk.keys, chunk.shared()
        rows = np.flatnonzero(self._home[chunk.keys] == number)
        return chunk.keys[rows], chunk.operands.take(rows)
