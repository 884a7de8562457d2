"""Results as files: what was measured, in JSON that people can read too, and documents of it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, Self

import msgspec


class ResultFile(msgspec.Struct):
    """Whatever is measured in one run."""

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self)) + b"\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        return msgspec.json.decode(path.read_bytes(), type=cls)


class WriteDocuments(Protocol):
    """Writes figures, tables and the like into a folder; returns what it wrote."""

    def __call__(self, folder: Path, *, suffixes: Sequence[str]) -> list[Path]: ...


def write_both(write: WriteDocuments, out: Path, docs: Path | None) -> list[Path]:
    """Documents beside the results and, if there is such a folder, what pages show of them."""
    written = write(out, suffixes=["svg", "png"])
    if docs is None:
        return written
    shown = docs / "measured"
    shown.mkdir(parents=True, exist_ok=True)
    copied = [shutil.copy(path, shown) for path in written if path.suffix != ".png"]
    return [*written, *map(Path, copied)]
