"""Sources in a file: the texts in which some of the subscriptions were given, by key.

::

    keys     [ 2           | 5      | 9     ]     they ascend
    texts    [ 'price<10'  | 'a=1'  | 'a=1' ]

They stay where they lie until somebody asks. Whether a text states what its subscription does is
not looked at: it is for people to read.
"""

from __future__ import annotations

import msgspec

from predicast.arrays import Array
from predicast.engine.snapshot.layout import ArraysIn, ArraysOut, ascends, damaged
from predicast.engine.snapshot.texts import TextsEntry, read_texts, write_texts
from predicast.engine.sources import Sources


class SourcesEntry(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The number of the array of keys, and where the texts are."""

    keys: int
    texts: TextsEntry


def write_sources(sources: Sources, out: ArraysOut) -> SourcesEntry | None:
    """Put the texts into a file, if there are any."""
    keys, texts = sources.arrays()
    return SourcesEntry(out.add(keys), write_texts(texts, out)) if len(keys) else None


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
    return Sources.restored(keys, texts)
