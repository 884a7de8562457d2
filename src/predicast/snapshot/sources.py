"""Sources in a file: the texts in which some of the subscriptions were given, by key.

::

    keys     [ 2           | 5      | 9     ]     they ascend
    texts    [ 'price<10'  | 'a=1'  | 'a=1' ]

They stay where they lie until somebody asks. Whether a text states what its subscription does is
not looked at: it is for people to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from predicast.snapshot.layout import Array, ArraysIn, ArraysOut, ascends, damaged
from predicast.snapshot.texts import Texts, arrow_strings, read_texts, write_texts


class Sources(NamedTuple):
    """Keys that ascend, and a text of each."""

    keys: Array
    texts: pa.LargeStringArray

    @classmethod
    def of(cls, by_key: Mapping[int, str]) -> Sources:
        """Those of a dictionary."""
        keys = sorted(by_key)
        return cls(np.array(keys, np.int32), arrow_strings([by_key[key] for key in keys]))

    def by_key(self) -> dict[int, str]:
        """As a dictionary again."""
        return dict(zip(self.keys.tolist(), self.texts.to_pylist(), strict=True))


class SourcesEntry(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The number of the array of keys, and where the texts are."""

    keys: int
    texts: Texts


def write_sources(sources: Sources, out: ArraysOut) -> SourcesEntry:
    """Put the texts into a file."""
    return SourcesEntry(out.add(sources.keys), write_texts(sources.texts, out))


def read_sources(entry: SourcesEntry, is_held: Array, arrays: ArraysIn) -> Sources:
    """The texts, none of a key that is not held."""
    keys, texts = arrays.get(entry.keys, "i4"), read_texts(entry.texts, arrays)
    if len(keys) != len(texts):
        raise damaged(f"has {len(texts)} sources for {len(keys)} keys")
    if not ascends(keys, strictly=True):
        raise damaged(f"has keys of sources that do not ascend in array {entry.keys}")
    if len(keys) and not (keys[0] >= 0 and keys[-1] < len(is_held) and is_held[keys].all()):
        raise damaged("has sources of nothing")
    return Sources(keys, texts)
