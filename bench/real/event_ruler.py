"""Event Ruler, the library that EventBridge runs on, as a rival in a process of its own.

It is written in Java. A small program (``event_ruler/``) is compiled when it is first wanted, by
Maven, which fetches the library, and kept in a folder of this user's caches. Where there is no
``mvn`` or ``java``, or the library cannot be had, the rival is left out and the results say why.

Its processor time leaves out that of its garbage collector.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from bench.matchers.rival import LeftOutError
from bench.real.rival_process import RivalProcess
from bench.real.rsigma import caches_folder

NAME: Final = "Event Ruler 2.1.0"
SOURCE: Final = Path(__file__).with_name("event_ruler")
_PROGRAM: Final = Path("src", "main", "java", "Rival.java")
_MOST_S: Final = 600  # for fetching the library


class _Loaded(msgspec.Struct):
    loaded_s: float


class EventRuler(RivalProcess):
    """The patterns and events, loaded."""

    def __init__(
        self,
        patterns: Mapping[str, str],
        events: Sequence[dict[str, Any]],
        *,
        mvn: str = "mvn",
        java: str = "java",
        caches: Path | None = None,
    ) -> None:
        folder = compiled(caches_folder() if caches is None else caches, mvn, java)
        classes = [folder / "target" / "classes", *(folder / "target" / "dependency").iterdir()]
        with TemporaryDirectory(prefix="predicast-event-ruler-") as place:
            rules, lines = Path(place, "patterns.jsonl"), Path(place, "events.jsonl")
            encoder = msgspec.json.Encoder()
            rules.write_bytes(
                encoder.encode_lines([{"id": id, "pattern": text} for id, text in patterns.items()])
            )
            lines.write_bytes(encoder.encode_lines(events))
            path = os.pathsep.join(map(str, classes))
            super().__init__([java, "-cp", path, "Rival", rules, lines])
            # It has read both files when it says so; the folder may go then.
            self.load_s = msgspec.json.decode(self._line(), type=_Loaded).loaded_s


def compiled(caches: Path, mvn: str = "mvn", java: str = "java") -> Path:
    """The folder of the program, compiled unless this very source was compiled before."""
    for needed in (mvn, java):
        if shutil.which(needed) is None:
            raise LeftOutError(f"there is no {needed} here to run it")
    sources = [SOURCE / "pom.xml", SOURCE / _PROGRAM]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    folder = caches / f"event-ruler-{digest}"
    if not (folder / "target" / "dependency").exists():
        shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
        command = [mvn, "-q", "-B", "compile", "dependency:copy-dependencies"]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, timeout=_MOST_S
            )
        except subprocess.TimeoutExpired:
            raise LeftOutError("Maven did not fetch the library in time") from None
        if done.returncode:
            said = [line for line in done.stdout.splitlines() if line.startswith("[ERROR]")]
            raise LeftOutError(f"it cannot be compiled: {' '.join(said[:1])[:200]}")
    return folder
