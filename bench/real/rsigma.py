"""rsigma-eval, the best engine made for Sigma rules, as a rival in a process of its own.

It is written in Rust, built from ``rsigma/`` when it is first wanted, which takes some minutes,
and kept in a folder of this user's caches. Where there is no ``cargo``, or it cannot build, the
rival is left out and the results say why.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from bench.matchers.rival import LeftOutError
from bench.real.corpus import Rule
from bench.real.rival_process import RivalProcess

NAME: Final = "rsigma-eval 0.23.0"
SOURCE: Final = Path(__file__).with_name("rsigma")
_PROGRAM: Final = Path("target", "release", "rsigma-rival")


class _Loaded(msgspec.Struct):
    rules: int
    refused: list[tuple[str, str]]
    unread: list[str]
    loaded_s: float


class Rsigma(RivalProcess):
    """The rules and events, loaded."""

    def __init__(
        self,
        rules: Sequence[Rule],
        events: Sequence[dict[str, Any]],
        *,
        cargo: str = "cargo",
        caches: Path | None = None,
    ) -> None:
        program = built(caches_folder() if caches is None else caches, cargo)
        with TemporaryDirectory(prefix="predicast-rsigma-") as folder:
            documents, lines = Path(folder, "rules.yml"), Path(folder, "events.jsonl")
            documents.write_bytes(b"\n---\n".join(msgspec.json.encode(rule) for rule in rules))
            lines.write_bytes(msgspec.json.Encoder().encode_lines(events))
            super().__init__([program, documents, lines])
            # It has read both files when it says so; the folder may go then.
            loaded = msgspec.json.decode(self._line(), type=_Loaded)
        if loaded.refused or loaded.unread or loaded.rules != len(rules):
            self.__exit__()
            raise LeftOutError(f"it does not take all rules: {loaded.refused or loaded.unread}")
        self.load_s = loaded.loaded_s


def built(caches: Path, cargo: str = "cargo") -> Path:
    """The program, built unless this very source was built before."""
    if shutil.which(cargo) is None:
        raise LeftOutError(f"there is no {cargo} here to build it")
    sources = [SOURCE / "Cargo.toml", SOURCE / "src" / "main.rs"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    folder = caches / f"rsigma-{digest}"
    if not (folder / _PROGRAM).exists():
        shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
        command = [cargo, "build", "--release", "--quiet"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LeftOutError(f"it cannot be built: {done.stderr.strip().splitlines()[-1:]}")
    return folder / _PROGRAM


def caches_folder() -> Path:
    """Where this user's rivals are kept once they are built."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "predicast-bench"
