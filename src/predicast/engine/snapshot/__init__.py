"""Snapshots: a whole engine as flat arrays in one checksummed file."""

from predicast.engine.snapshot.contents import Snapshot, decode, to_bytes
from predicast.engine.snapshot.layout import VERSION, mapped
from predicast.engine.snapshot.saving import save

__all__ = ["VERSION", "Snapshot", "decode", "mapped", "save", "to_bytes"]
