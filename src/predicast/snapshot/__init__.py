"""Snapshots: a whole engine as flat arrays in one checksummed file."""

from predicast.snapshot.contents import Snapshot, decode, to_bytes
from predicast.snapshot.layout import VERSION, mapped
from predicast.snapshot.saving import save

__all__ = ["VERSION", "Snapshot", "decode", "mapped", "save", "to_bytes"]
