"""A rival that is a program in another language: it is asked line by line, and answers in JSON.

The process stays between rounds, so that its rounds and ours can take turns; it reports its own
processor time.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import msgspec

from bench.matchers.rival import LeftOutError


class RivalProcess:
    """A program that has read what it was given when it says its first line."""

    def __init__(self, command: Sequence[str | Path]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # the end of its input is the end of it

    def seconds(self) -> float:
        """Processor time that all the events take, one by one."""
        return float(msgspec.json.decode(self._asked(b"round")))

    def pairs(self) -> set[tuple[int, str]]:
        """Which event matches which rule."""
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
