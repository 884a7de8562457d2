"""The yardstick as a rival: ``simd_scan.c``, compiled on the spot, in a process of its own.

It knows the CEEM workload and nothing else. The process stays resident between rounds, so that
its rounds and ours can take turns:

    we  →  an empty line                  once per round
    it  →  nanoseconds matches sum        processor time, pairs, and the sum of their ids

Where there is no C compiler or no AVX2, it is left out, and the results say so.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import numpy as np

from bench.matchers.rival import AnyWorkload, LeftOutError, Rival, Round
from bench.matchers.workload import Workload

SOURCE: Final = Path(__file__).with_name("simd_scan.c")
COMPILER: Final = "cc"
FLAGS: Final = ("-O3", "-march=native")


class Yardstick(Rival):
    """The scan in C."""

    name = "yardstick"

    def __init__(self, compiler: str = COMPILER) -> None:
        self._compiler = compiler
        self._process: subprocess.Popen[str] | None = None

    def load(self, workload: AnyWorkload) -> None:
        if not isinstance(workload, Workload) or not workload.family.startswith("ceem"):
            raise LeftOutError("it knows the CEEM workloads only")
        with tempfile.TemporaryDirectory(prefix="predicast-yardstick-") as folder:
            program = compiled(Path(folder), self._compiler)
            data = Path(folder) / "workload"
            write_workload(workload, data)
            self._events = workload.event_count
            self._process = subprocess.Popen(
                [program, data], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            # It has read the file, and runs, when it says so; the folder may go then.
            if self._answer() != "ready":
                raise LeftOutError("the compiled yardstick does not start")

    def match(self, events: int) -> Round:
        if events != self._events:
            raise ValueError(f"it matches all of its {self._events} events or none, not {events}")
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        nanoseconds, matches, _ = map(int, self._answer().split())
        return Round(nanoseconds / 1e9, matches)

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()  # the end of its input is the end of it
            self._process = None

    def _answer(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def compiled(folder: Path, compiler: str = COMPILER) -> Path:
    """The program, compiled for this very processor."""
    if shutil.which(compiler) is None:
        raise LeftOutError(f"there is no C compiler ({compiler}) here")
    program = folder / "simd_scan"
    result = subprocess.run(
        [compiler, *FLAGS, "-o", program, SOURCE], capture_output=True, text=True, check=False
    )
    if result.returncode:
        _, _, complaint = result.stderr.partition("error: ")
        raise LeftOutError(f"it does not compile: {complaint.partition(chr(10))[0].strip()}")
    return program


def write_workload(workload: Workload, path: Path) -> None:
    """The file that the program reads; its first comment says what is in it."""
    (shape,) = workload.shapes
    names = workload.events.schema.names
    equalities = [name for name in names if name.startswith("e")]
    ranges = [name for name in names if name.startswith("r")]
    bounds = [f"{end}{number}" for number in range(len(ranges)) for end in ("low", "high")]
    header = (len(equalities), len(ranges), workload.subscriptions, workload.event_count)
    with path.open("wb") as file:
        file.write(np.array(header, "<u4").tobytes())
        for name in (*equalities, *bounds):
            file.write(shape.columns[name].astype("<u2").tobytes())
        for name in (*equalities, *ranges):
            file.write(workload.events[name].to_numpy().astype("<u2").tobytes())
