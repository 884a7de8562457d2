"""Results as files: what was measured, in JSON that people can read too."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import msgspec


class ResultFile(msgspec.Struct):
    """Whatever is measured in one run."""

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self)) + b"\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        return msgspec.json.decode(path.read_bytes(), type=cls)
