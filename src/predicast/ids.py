"""``Ids``: the ids of an engine's subscriptions and the integer keys that stand for them.

::

    key   0      1      2     3         free keys  [1]
    id   's1'   (free) 's3'  'alice'    dict       {'s1': 0, 's3': 2, 'alice': 3}

Keys are small and dense, so that they serve as positions in arrays; one that was given back is
given out again, and memory stays bounded however many subscriptions come and go. The dictionary
also keeps the order of arrival, which keys that are used again do not.

What comes in bulk stays an Arrow array, four bytes and the text per id, until somebody asks
for one id: only then are Python strings and the dictionary made, once, for all of them. Until
then keys are given out in order and none that is free is given out again; there are free ones, and
another order of arrival, only where ids come from a file. An engine that is loaded and then only
matches batches never pays for either.

Answers name subscriptions by position in ``array``, a growing list of texts (``_Texts``) to which a
new id is appended; a position is the key until a key is given out a second time.

Cost: O(1) per id that is added, removed or looked up, and O(n) for the first look-up after bulk
loading.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.errors import DuplicateIdError, InvalidIdError, UnknownIdError, suggest

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


_SUGGESTED: Final = 10_000  # ids among which a similar one is looked for
_ROOM: Final = 1 << 10  # ids that texts have room for at once


class HeldIds(NamedTuple):
    """Ids by key, and keys in the order in which they came; ``None``: as they ascend."""

    texts: pa.StringArray | list[str | None]  # a free key has no text, or an empty one
    order: Sequence[int] | np.ndarray | None


class Ids:
    """Ids by key and keys by id."""

    def __init__(self, ids: pa.StringArray | None = None) -> None:
        self._bulk: list[pa.StringArray] = []  # ids that are not Python strings yet
        self._by_key: list[str | None] | None = []  # None while there is bulk
        self._keys: dict[str, int] = {}
        self._free: list[int] = []
        self._length = 0
        self._named: list[str | None] | None = None  # of the bulk: made when one is first named
        self._texts: _Texts | None = None  # made when an id first follows the bulk
        self._position: np.ndarray | None = None  # of each key's text; None: the key itself
        self._order: np.ndarray | None = None  # of bulk: keys as they came, if not as they ascend
        if ids is not None:
            self.add_many(ids)

    @classmethod
    def restored(cls, held: HeldIds) -> Ids:
        """As a file has them, in arrays."""
        import numpy as np

        assert not isinstance(held.texts, list)
        restored = cls(held.texts)
        if held.order is not None:
            restored._order, restored._length = np.asarray(held.order), len(held.order)
        return restored

    def held(self) -> HeldIds:
        """What there is, untouched by later changes; quick, as it may be under a lock."""
        if self._by_key is None:
            return HeldIds(self.array(), self._order)
        return HeldIds(self._by_key.copy(), list(self._keys.values()))

    def __len__(self) -> int:
        return self._length

    def __contains__(self, id: object) -> bool:
        return id in self._by_id()

    def __iter__(self) -> Iterator[str]:
        """All ids in the order in which they came."""
        return iter(self._by_id())

    def bound(self) -> int:
        """All keys are below it, those that are free included."""
        return sum(map(len, self._bulk)) if self._by_key is None else len(self._by_key)

    def items(self) -> list[tuple[str, int]]:
        """All ids with their keys, in the order in which they came."""
        return list(self._by_id().items())

    def key(self, id: str) -> int | None:
        """The key of an id, if it is held."""
        return self._by_id().get(id)

    def names(self, keys: Sequence[int]) -> list[str]:
        """The ids of some keys."""
        if self._by_key is None:
            import numpy as np
            import pyarrow as pa

            # pa.array would import pandas, if there is one, only to learn that this is a list.
            raw = pa.py_buffer(np.array(keys, np.int64))
            wanted = pa.Array.from_buffers(pa.int64(), len(keys), [None, raw])
            found: list[str] = self.array().take(wanted).to_pylist()
            return found
        return [self._by_key[key] for key in keys]  # type: ignore[misc]

    def add(self, id: str) -> int:
        """Hold a new id; the key that stands for it."""
        by_key = self._listed()
        if self._free:
            key = self._free.pop()
            by_key[key] = id
        else:
            key = len(by_key)
            by_key.append(id)
        self._keys[id] = key
        self._length += 1
        self._append_text(key, id)
        return key

    def _append_text(self, key: int, id: str) -> None:
        if self._texts is None:
            return  # nobody has asked for the array yet
        if len(self._texts) > 2 * self.bound() + _ROOM:  # most of them are of the past
            self._texts = self._position = None
            return
        place = self._texts.append(id)
        if self._position is None:
            if place == key:
                return
            import numpy as np

            self._position = np.arange(self.bound() + _ROOM, dtype=np.int32)
        if key >= len(self._position):
            import numpy as np

            self._position = np.append(self._position, np.zeros(len(self._position), np.int32))
        self._position[key] = place

    def positions(self, keys: np.ndarray) -> np.ndarray:
        """Where the ids of some keys stand in ``array``."""
        self.array()
        return keys if self._position is None else self._position[keys]

    def add_many(self, ids: pa.StringArray) -> np.ndarray:
        """Hold new ids, all different; their keys."""
        import numpy as np

        if self._by_key is not None and self._length:  # somebody looks at single ids
            return np.array([self.add(id) for id in ids.to_pylist()], np.int32)
        if self._by_key is not None:  # all keys are free, or there never was one
            self._by_key, self._keys, self._free = None, {}, []
        start = self.bound()
        keys = np.arange(start, start + len(ids), dtype=np.int32)
        if self._order is not None:
            self._order = np.concatenate([self._order, keys])
        self._bulk.append(ids)
        self._named = None
        self._length += len(ids)
        self._texts = self._position = None
        return keys

    def remove(self, id: str) -> int:
        """Forget an id; the key that stood for it is free."""
        by_key = self._listed()
        key = self._keys.pop(id)
        by_key[key] = None
        self._free.append(key)
        self._length -= 1
        return key

    def put_last(self, id: str) -> None:
        """An id that is held arrives anew, under its old key."""
        self._listed()
        self._keys[id] = self._keys.pop(id)

    def remove_many(self, ids: pa.StringArray) -> None:
        """Forget ids that were held, such as those of a bulk that was refused."""
        if self._by_key is None and self._bulk and self._bulk[-1] is ids:
            self._bulk.pop()  # as it was before they came
            self._named = None
            self._length -= len(ids)
            if self._order is not None:
                self._order = self._order[: self._length]
            return
        for id in ids.to_pylist():
            self.remove(id)

    def first_held(self, ids: pa.StringArray) -> str | None:
        """The first of some ids that is held already, if any."""
        if self._length == 0:
            return None
        if self._by_key is not None:
            return next((id for id in ids.to_pylist() if id in self._keys), None)
        import pyarrow.compute as pc

        taken = pc.is_in(ids, value_set=self.array())
        place = pc.index(taken, True).as_py()
        return None if place < 0 else ids[place].as_py()

    def array(self) -> pa.StringArray:
        """The texts of all ids, where ``positions`` says; others may stand between them."""
        import pyarrow as pa

        if self._by_key is None:
            if len(self._bulk) != 1:
                self._bulk = [pa.concat_arrays([*self._bulk, pa.array([], pa.string())])]
            return self._bulk[0]
        if self._texts is None:
            self._texts = _Texts(pa.array([id or "" for id in self._by_key], pa.string()))
        return self._texts.array()

    def make_ready(self) -> None:
        """Make the dictionary now rather than when the first id is asked for."""
        self._listed()

    def _listed(self) -> list[str | None]:
        """Ids by key, as Python strings from now on."""
        if self._by_key is None:
            array = self.array()
            by_key: list[str] = array.to_pylist()
            # Nothing was removed since the bulk came: keys are in order of arrival, or in a file's.
            order = range(len(by_key)) if self._order is None else self._order.tolist()
            self._keys = {by_key[key]: key for key in order}
            self._free = [key for key, id in enumerate(by_key) if not id]
            self._by_key = [id or None for id in by_key]
            self._texts = _Texts(array)
            self._bulk, self._order, self._named = [], None, None
        return self._by_key

    def _by_id(self) -> dict[str, int]:
        """Keys by id, in order of arrival."""
        self._listed()
        return self._keys


class _Texts:
    """Strings one after the other, as Arrow lays them out, with room for more."""

    def __init__(self, texts: pa.StringArray) -> None:
        import numpy as np

        _, offsets, data = texts.buffers()
        self._count = len(texts)
        self._offsets = np.zeros(self._count + 1 + _ROOM, np.int32)
        first = texts.offset
        held = np.frombuffer(offsets, np.int32)[first : first + self._count + 1]
        self._offsets[: self._count + 1] = held - held[0]
        used = int(self._offsets[self._count])
        self._data = np.zeros(used + 16 * _ROOM, np.uint8)
        if used:
            self._data[:used] = np.frombuffer(data, np.uint8)[held[0] : held[0] + used]

    def __len__(self) -> int:
        return self._count

    def append(self, text: str) -> int:
        """One more; its position. Arrays made before keep what they had."""
        import numpy as np

        encoded = text.encode()
        start = int(self._offsets[self._count])
        end = start + len(encoded)
        if end > len(self._data):
            self._data = np.append(self._data, np.zeros(end, np.uint8))
        if self._count + 1 == len(self._offsets):
            self._offsets = np.append(self._offsets, np.zeros(self._count, np.int32))
        self._data[start:end] = np.frombuffer(encoded, np.uint8)
        self._count += 1
        self._offsets[self._count] = end
        return self._count - 1

    def array(self) -> pa.StringArray:
        """All of them, without a copy."""
        import pyarrow as pa

        used = int(self._offsets[self._count])
        offsets = pa.py_buffer(self._offsets[: self._count + 1])
        data = pa.py_buffer(self._data[:used])
        return pa.StringArray.from_buffers(self._count, offsets, data)


def check_id(what: str, text: object) -> None:
    """Refuse an id or an owner that is not a non-empty string of Unicode."""
    if not isinstance(text, str) or not text or not (text.isascii() or _is_unicode(text)):
        raise _invalid(what, text)


def checked_ids(ids: Sequence[str]) -> pa.StringArray:
    """The ids of a bulk, all valid and all different."""
    import pyarrow as pa

    seen: set[str] = set()
    for id in ids:
        check_id("id", id)
        if id in seen:
            raise duplicate(id)
        seen.add(id)
    return pa.array(ids, pa.string())


def check_no_id_is_empty(ids: pa.StringArray) -> None:
    """Refuse the empty string among ids that came as Arrow, where all else is valid."""
    import pyarrow.compute as pc

    if pc.index(ids, "").as_py() >= 0:
        raise _invalid("id", "")


def unknown(id: object, ids: Ids) -> UnknownIdError:
    """The error for an id that nothing has."""
    close = suggest(str(id), ids) if len(ids) < _SUGGESTED else None
    hint = f"; did you mean {close!r}?" if close else ""
    return UnknownIdError(f"no subscription has the id {id!r}{hint}", id=id, suggestion=close)


def duplicate(id: str) -> DuplicateIdError:
    """The error for an id that is taken."""
    return DuplicateIdError(
        f"the id {id!r} is taken; use change() to replace what it states", id=id
    )


def _invalid(what: str, text: object) -> InvalidIdError:
    return InvalidIdError(f"an {what} is a non-empty string, not {text!r}", id=text)


def _is_unicode(text: str) -> bool:
    """Whether a file can hold it: a lone surrogate cannot be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
