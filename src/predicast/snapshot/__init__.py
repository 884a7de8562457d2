"""Snapshots: a whole engine as flat arrays in one checksummed file."""

from predicast.snapshot.contents import Snapshot, decode, save, to_bytes
from predicast.snapshot.layout import VERSION, mapped

__all__ = ["VERSION", "Snapshot", "decode", "mapped", "save", "to_bytes"]
