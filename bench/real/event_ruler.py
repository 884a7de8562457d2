"""Event Ruler, the library that EventBridge runs on, as a rival in a process of its own.

It is written in Java. A small program (``event_ruler/``) is compiled when it is first wanted, by
Maven, which fetches the library, and kept in a folder of this user's caches. Where there is no
``mvn`` or ``java``, or the library cannot be had, the rival is left out and the results say why.

The process stays between rounds, so that its rounds and ours can take turns; it reports its own
processor time, which leaves out that of its garbage collector.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self

import msgspec

from bench.matchers.rival import LeftOutError
from bench.real.rsigma import caches_folder

NAME: Final = "Event Ruler 2.1.0"
SOURCE: Final = Path(__file__).with_name("event_ruler")
_PROGRAM: Final = Path("src", "main", "java", "Rival.java")
_MOST_S: Final = 600  # for fetching the library


class _Loaded(msgspec.Struct):
    loaded_s: float


class EventRuler:
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
            self._process = subprocess.Popen(
                [java, "-cp", os.pathsep.join(map(str, classes)), "Rival", rules, lines],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            # It has read both files when it says so; the folder may go then.
            self.load_s = msgspec.json.decode(self._line(), type=_Loaded).loaded_s

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # the end of its input is the end of it

    def seconds(self) -> float:
        """Processor time that all the events take, one by one."""
        return float(msgspec.json.decode(self._asked(b"round")))

    def pairs(self) -> set[tuple[int, str]]:
        """Which event matches which pattern."""
        found = msgspec.json.decode(self._asked(b"pairs"), type=list[list[str]])
        return {(number, id) for number, ids in enumerate(found) for id in ids}

    def _asked(self, question: bytes) -> bytes:
        assert self._process.stdin is not None
        self._process.stdin.write(question + b"\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.__exit__()
            raise LeftOutError("it ended without an answer")
        return line


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
