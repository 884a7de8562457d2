"""Sources in a file: the texts in which some of the subscriptions were given, by key.

::

    keys     [ 2           | 5      | 9     ]     they ascend
    texts    [ 'price<10'  | 'a=1'  | 'a=1' ]

They stay where they lie until somebody asks. Of texts in a dialect, there are its name and their
keys as well. Whether a text states what its subscription does is
not looked at: it is for people to read.
"""

from __future__ import annotations

import msgspec
import numpy as np

from predicast.arrays import Array
from predicast.engine.snapshot.layout import ArraysIn, ArraysOut, ascends, damaged
from predicast.engine.snapshot.texts import TextsEntry, read_texts, write_texts
from predicast.engine.sources import Sources


class SourcesEntry(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The number of the array of keys, and where the texts are."""

    keys: int
    texts: TextsEntry
    # The numbers of arrays of keys, by name. Left out where there is none, so that whoever knows
    # of no dialects reads the others.
    dialects: dict[str, int] | msgspec.UnsetType = msgspec.UNSET


def write_sources(sources: Sources, out: ArraysOut) -> SourcesEntry | None:
    """Put the texts into a file, if there are any."""
    keys, texts = sources.arrays()
    if not len(keys):
        return None
    return SourcesEntry(out.add(keys), write_texts(texts, out), _write_dialects(sources, out))


def _write_dialects(sources: Sources, out: ArraysOut) -> dict[str, int] | msgspec.UnsetType:
    by_name: dict[str, list[int]] = {}
    for key, name in sources.dialects().items():
        by_name.setdefault(name, []).append(key)
    if not by_name:
        return msgspec.UNSET
    return {name: out.add(np.array(sorted(keys), np.int32)) for name, keys in by_name.items()}


def read_sources(entry: SourcesEntry | None, is_held: Array, arrays: ArraysIn) -> Sources:
    """The texts, none of a key that is not held."""
    if entry is None:
        return Sources()
    keys, texts = arrays.get(entry.keys, "i4"), read_texts(entry.texts, arrays)
    if len(keys) != len(texts):
        raise damaged(f"has {len(texts)} sources for {len(keys)} keys")
    if not ascends(keys, strictly=True):
        raise damaged(f"has keys of sources that do not ascend in array {entry.keys}")
    if len(keys) and not (keys[0] >= 0 and keys[-1] < len(is_held) and is_held[keys].all()):
        raise damaged("has sources of nothing")
    return Sources.restored(keys, texts, _read_dialects(entry, keys, arrays))


def _read_dialects(entry: SourcesEntry, sources: Array, arrays: ArraysIn) -> dict[int, str]:
    found: dict[int, str] = {}
    if isinstance(entry.dialects, msgspec.UnsetType):
        return found
    for name, number in entry.dialects.items():
        keys = arrays.get(number, "i4")
        if not np.isin(keys, sources).all():
            raise damaged(f"has texts of the dialect {name!r} that are not there")
        found |= dict.fromkeys(keys.tolist(), name)
    return found
