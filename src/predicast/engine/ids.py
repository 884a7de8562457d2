"""``Ids``: the ids of an engine's subscriptions and the integer keys that stand for them.

::

    key   0      1      2     3         free keys  [1]
    id   's1'   (free) 's3'  'alice'    dict       {'s1': 0, 's3': 2, 'alice': 3}

Keys are small and dense, so that they serve as positions in arrays; those that were given back are
given out again when they are an eighth of all, and memory stays bounded however many subscriptions
come and go. The dictionary also keeps the order of arrival, which keys that are used again do not.

The dictionary is what counts; everything else follows from it and can be worked out anew
(``repair``), which is what becomes of a change that was interrupted half-way.

What was loaded from a file stays an Arrow array, four bytes and the text per id, until somebody
asks for one id: only then are Python strings and the dictionary made, once, for all of them. An
engine that is loaded and then only matches batches never pays for either.

Answers name subscriptions by position in an array of texts, to which new ids are appended
(``id_texts.py``).

Cost: O(1) per id that is added, removed or looked up, and O(n) for the first look-up after loading.
Limits: an id has at most 1,024 bytes, and all together as many as one Arrow array can hold.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.engine.id_texts import MAX_BYTES, ROOM, GrowingTexts, IdTexts, Moved
from predicast.errors import (
    DuplicateIdError,
    IdsTooLargeError,
    InvalidIdError,
    UnknownIdError,
    shortened,
    suggest,
)
from predicast.locks import new_lock

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


MAX_ID: Final = 1_024  # bytes of one id or owner in UTF-8
_FEW_GIVEN_UP: Final = 8  # of so many keys, one may stand for nothing
_DEARER: Final = 8  # times: an id that is looked up and copied, of one in an array of all
_FEW: Final = 64  # ids after which texts are made anew rather than appended to,
_SHARE: Final = 16  # if there are no more than so many times as many


class HeldIds(NamedTuple):
    """Ids by key, and keys in the order in which they came; ``None``: as they ascend."""

    texts: pa.StringArray | list[str | None]  # a free key has no text, or an empty one
    order: Sequence[int] | np.ndarray | None


class Lease:
    """Held by whoever may still ask for the ids of keys as they were; leads to the next one."""

    __slots__ = ("__weakref__", "next")

    def __init__(self) -> None:
        self.next: Lease | None = None


class Ids:
    """Ids by key and keys by id.

    Others may ask for the ids of keys that they found a while ago (``names``, ``indexed``) while
    ids come and go. So a key that is given up keeps its id until nobody can ask for it any more:
    whoever asks has held a *lease* since before, and a key that was given up under a lease is free
    when the lease is gone, and with it all earlier ones.
    """

    def __init__(self) -> None:
        self._unread: HeldIds | None = None  # from a file; then nothing below holds yet
        self._keys: dict[str, int] = {}
        self._by_key: list[str | None] = []  # those of keys that were given up among them
        self._free: list[int] = []
        self.lease = Lease()
        self._given_up: list[int] = []  # keys, under this lease
        self._leased: deque[tuple[weakref.ref[Lease], list[int]]] = deque()  # under earlier ones
        self._bytes = 0  # of all ids in UTF-8
        self._answers: IdTexts | None = None  # made when somebody first asks for the array
        self._named = 0  # ids that were given without it
        self._version = 0  # counts up with every id that comes
        self._publishing = new_lock()  # held for an instant: answers are in step with ids

    @classmethod
    def restored(cls, held: HeldIds) -> Ids:
        """As a file has them, in arrays."""
        restored = cls()
        restored._unread = held
        return restored

    def held(self) -> HeldIds:
        """What there is, untouched by later changes; quick, as it may be under a lock."""
        if self._unread is not None:
            return self._unread
        texts = self._by_key.copy()
        for key in self._unheld():
            texts[key] = None
        return HeldIds(texts, list(self._keys.values()))

    def __len__(self) -> int:
        if self._unread is None:
            return len(self._keys)
        texts, order = self._unread
        return len(texts) if order is None else len(order)

    def __contains__(self, id: object) -> bool:
        return id in self._by_id()

    def __iter__(self) -> Iterator[str]:
        """All ids in the order in which they came."""
        return iter(self._by_id())

    def bound(self) -> int:
        """All keys are below it, those that are free included."""
        return len(self._by_key if self._unread is None else self._unread.texts)

    def items(self) -> list[tuple[str, int]]:
        """All ids with their keys, in the order in which they came."""
        return list(self._by_id().items())

    def key(self, id: str) -> int | None:
        """The key of an id, if it is held."""
        return (self._keys if self._unread is None else self._by_id()).get(id)

    def names(self, keys: Sequence[int]) -> list[str]:
        """The ids of some keys."""
        unread = self._unread
        if unread is not None:
            import numpy as np
            import pyarrow as pa

            # pa.array would import pandas, if there is one, only to learn that this is a list.
            raw = pa.py_buffer(np.array(keys, np.int64))
            wanted = pa.Array.from_buffers(pa.int64(), len(keys), [None, raw])
            found: list[str] = unread.texts.take(wanted).to_pylist()  # type: ignore[union-attr]
            return found
        by_key = self._by_key
        return [by_key[key] for key in keys]  # type: ignore[misc]

    def first_held(self, ids: Iterable[str]) -> str | None:
        """The first of some ids that is held already, if any."""
        held = self._by_id()
        if held.keys().isdisjoint(ids):
            return None
        return next(id for id in ids if id in held)

    # Changing them.

    def free_keys(self, count: int) -> list[int]:
        """As many keys that stand for nothing, in the order in which they are to be used."""
        keys, new = self._by_id(), len(self._by_key)
        if len(keys) == new:
            return [*range(new, new + count)]
        if len(self._free) < count and self._has_many_given_up():
            self._reclaim()
        again = self._free[: -count - 1 : -1]
        return [*again, *range(new, new + count - len(again))]

    def check_room(self, ids: Sequence[str]) -> None:
        """Refuse ids with which there would be more text than answers can hold."""
        most = MAX_ID * len(ids)
        if self._unread is None and self._bytes + most <= MAX_BYTES:
            return
        self._by_id()
        total = self._bytes + sum(map(_size, ids))
        if total > MAX_BYTES:
            raise IdsTooLargeError(
                f"all ids of an engine have at most {MAX_BYTES:,} bytes together; "
                f"with these there would be {total:,}",
                limit=MAX_BYTES,
                actual=total,
            )

    def put(self, id: str, key: int) -> None:
        """Hold an id, which arrives now, under its own key or one that is free."""
        keys, by_key = self._keys if self._unread is None else self._by_id(), self._by_key
        if keys.pop(id, None) is None:
            if key == len(by_key):
                by_key.append(id)
            else:
                self._put_again(id, key)
            self._bytes += len(id) if id.isascii() else _size(id)
            with self._publishing:
                self._version += 1
                if self._answers is not None:
                    self._append_text(key, id)
        keys[id] = key

    def _put_again(self, id: str, key: int) -> None:
        """Have a key stand for an id that is not the next of all keys."""
        by_key = self._by_key
        if self._free and self._free[-1] == key:
            self._free.pop()
        if key >= len(by_key):
            by_key.extend([None] * (key + 1 - len(by_key)))
        by_key[key] = id

    def put_many(self, ids: list[str], keys: list[int]) -> None:
        """Hold many new ids under the keys that ``free_keys`` gave."""
        held, bound = self._by_id(), self.bound()
        if len(keys) < max(_FEW, bound // _SHARE):
            for id, key in zip(ids, keys, strict=True):
                self.put(id, key)
            return
        again = sum(key < bound for key in keys)
        if keys[again:] != [*range(bound, bound + len(keys) - again)]:
            again = len(keys)  # as a change that is carried out again finds them
        for id, key in zip(ids[:again], keys, strict=False):
            self.put(id, key)
        new = ids[again:]
        if not new:
            return
        self._by_key += new
        self._bytes += sum(map(_size, new))
        with self._publishing:
            self._version += 1
            self._answers = None
        held.update(zip(new, keys[again:], strict=True))

    def remove(self, id: str, key: int) -> None:
        """Forget an id, if it is there; the key that stood for it is given up."""
        if self._by_id().pop(id, None) is not None:
            self._given_up.append(key)
            self._bytes -= _size(id)

    def _has_many_given_up(self) -> bool:
        """Whether so many are that it is worth using them again: answers are quicker without."""
        bound = len(self._by_key)
        given_up = bound - len(self._keys) - len(self._free)
        return bound < ROOM or _FEW_GIVEN_UP * given_up > bound

    def _reclaim(self) -> None:
        """Begin another lease, and take back what was given up under those that are gone."""
        if self._given_up:
            lease, self.lease = self.lease, Lease()
            lease.next = self.lease
            self._leased.append((weakref.ref(lease), self._given_up))
            self._given_up = []
            del lease
        while self._leased and self._leased[0][0]() is None:
            self._free += self._leased.popleft()[1]

    def _unheld(self) -> Iterator[int]:
        """All keys below the bound that stand for nothing."""
        yield from self._free
        yield from self._given_up
        for _, keys in self._leased:
            yield from keys

    def repair(self) -> None:
        """Work out anew what follows from the ids and their keys, after an interrupted change."""
        keys, by_key = self._by_id(), self._by_key
        by_key.extend([None] * (max(keys.values(), default=-1) + 1 - len(by_key)))
        unheld = set(range(len(by_key)))
        for id, key in keys.items():
            by_key[key] = id
            unheld.discard(key)
        with self._publishing:
            self._version += 1
            self._answers = None
        self._free, self._leased, self._given_up = [], deque(), sorted(unheld)
        self._bytes = sum(map(_size, keys))

    # What answers are made of.

    def indexed(self, keys: np.ndarray) -> tuple[np.ndarray, pa.StringArray]:
        """Where the ids of some keys stand in an array of texts, and that array."""
        unread = self._unread
        if unread is not None:
            return keys, unread.texts
        answers = self._answers
        if answers is None:
            answers = self._made_answers()
        moved = answers.moved
        return keys if moved is None else moved.positions(keys), answers.texts.array()

    def texts(self, keys: np.ndarray) -> pa.StringArray:
        """The ids of some keys, as an array of their own.

        To take them from an array of all is much quicker than to make each from a string, but that
        array has to be made first. So it is made when as much work has been done without it.
        """
        import pyarrow as pa

        if self._unread is None and self._answers is None:
            self._named += len(keys)
            if _DEARER * self._named < self.bound():
                return pa.array(self.names(keys.tolist()), pa.string())
        places, texts = self.indexed(keys)
        return texts.take(pa.array(places))

    def _made_answers(self) -> IdTexts:
        """What is there now; kept for the next one, unless an id has come meanwhile."""
        import pyarrow as pa

        version = self._version
        texts = GrowingTexts(pa.array([id or "" for id in self._by_key], pa.string()))
        answers = IdTexts(texts, None)
        self._named = 0
        with self._publishing:
            if self._version == version:
                self._answers = answers
        return answers

    def _append_text(self, key: int, id: str) -> None:
        """Have one more in the array that somebody has asked for."""
        assert self._answers is not None
        texts, moved = self._answers
        if len(texts) > 2 * self.bound() + ROOM or not texts.has_room(id):
            self._answers = None  # most of them are of the past
            return
        place = texts.append(id)
        if moved is None:
            if place == key:
                return
            import numpy as np

            moved = Moved(np.zeros(0, np.uint8), np.zeros(0, np.int32))
        self._answers = IdTexts(texts, moved.with_key(key, place))

    # What a file has.

    def _by_id(self) -> dict[str, int]:
        """Keys by id, in order of arrival."""
        if self._unread is not None:
            texts, order = self._unread
            by_key: list[str] = texts.to_pylist()  # type: ignore[union-attr]
            arrival = range(len(by_key)) if order is None else list(map(int, order))
            self._keys = {by_key[key]: key for key in arrival}
            self._free = [key for key, id in enumerate(by_key) if not id]
            self._by_key = [id or None for id in by_key]
            self._bytes = sum(map(_size, self._keys))
            self._answers = IdTexts(GrowingTexts(texts), None)
            self._unread = None  # the last step: until then all of it is done again
        return self._keys


def _size(id: str) -> int:
    """Its bytes in UTF-8."""
    return len(id) if id.isascii() else len(id.encode())


def check_id(what: str, text: object) -> None:
    """Refuse an id or an owner that is not a non-empty string of Unicode, or too long a one."""
    if not isinstance(text, str) or not text or not (text.isascii() or _is_unicode(text)):
        raise _invalid(what, text)
    if len(text) * 4 > MAX_ID and _size(text) > MAX_ID:
        raise _too_long(what, text)


def check_arrow_ids(ids: pa.StringArray) -> None:
    """Refuse empty and over-long ones among ids that came as Arrow, where all else is valid."""
    import pyarrow.compute as pc

    sizes = pc.binary_length(ids)
    for wrong in (pc.equal(sizes, 0), pc.greater(sizes, MAX_ID)):
        place = pc.index(wrong, True).as_py()
        if place >= 0:
            check_id("id", ids[place].as_py())


def check_ids(ids: Sequence[object]) -> None:
    """Refuse the ids of a bulk unless all are valid and all are different."""
    seen: set[object] = set()
    for id in ids:
        check_id("id", id)
        if id in seen:
            raise duplicate(str(id))
        seen.add(id)


def unknown(id: object, ids: Ids) -> UnknownIdError:
    """The error for an id that nothing has."""
    close = suggest(str(id), ids)
    hint = f"; did you mean {close!r}?" if close else ""
    return UnknownIdError(
        f"no subscription has the id {shortened(id)}{hint}", id=id, suggestion=close
    )


def duplicate(id: str) -> DuplicateIdError:
    """The error for an id that is taken."""
    return DuplicateIdError(
        f"the id {id!r} is taken; use change() to replace what it states", id=id
    )


def _invalid(what: str, text: object) -> InvalidIdError:
    return InvalidIdError(f"an {what} is a non-empty string, not {shortened(text)}", id=text)


def _too_long(what: str, text: str) -> InvalidIdError:
    return InvalidIdError(
        f"an {what} has at most {MAX_ID:,} bytes; {shortened(text)} has {_size(text):,}", id=text
    )


def _is_unicode(text: str) -> bool:
    """Whether a file can hold it: a lone surrogate cannot be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
