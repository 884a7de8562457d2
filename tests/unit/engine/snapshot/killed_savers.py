"""Saves over a file in children that are killed, one at every point, and prints what each left.

A program of its own: only a process without threads can be forked without care. Its arguments are a
path to save to, and how many of the points in the middle of the writing are tried. Each line that
it prints is a JSON array: what ended the child, which file there is (``old``, ``new`` or
``neither``), and whether a temporary file was left behind.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from predicast import Engine
from predicast.engine.snapshot import atomic, saving

SOURCES = {atomic.__file__, saving.__file__}


def engine_of(count: int) -> Engine:
    engine = Engine(matcher="brute-force")
    engine.subscribe_many((f"s{n}", f"a = {n} AND b < 'w{n}'") for n in range(count))
    return engine


def kill_at_line(number: int) -> None:
    """Have this process killed before it runs so many different lines of those that write files."""
    seen = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in SOURCES:
            return None
        if event == "line":
            seen.add((frame.f_code, frame.f_lineno))
        if len(seen) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def kill_at_byte(number: int) -> None:
    """Have this process killed as soon as a file would have more bytes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def ended_child(save: Callable[[], None], kill: Callable[[int], None], point: int) -> str | None:
    """The signal that ended a child, if any did."""
    child = os.fork()
    if not child:
        kill(point)
        save()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else None


def main() -> None:
    path, tries = Path(sys.argv[1]), int(sys.argv[2])
    new = engine_of(30)
    before, after = engine_of(20).to_bytes(), new.to_bytes()
    contents = {before: "old", after: "new"}

    def saved_until(kill: Callable[[int], None], point: int) -> bool:
        """Have a child save over the old file; whether it was killed."""
        path.write_bytes(before)
        ended = ended_child(lambda: new.save(path), kill, point)
        left = any(each.name.endswith(".saving") for each in path.parent.iterdir())
        outcome = [ended, contents.get(path.read_bytes(), "neither"), left]
        sys.stdout.write(json.dumps(outcome) + "\n")
        return ended is not None

    line = 1
    while saved_until(kill_at_line, line):
        line += 1
    for point in range(0, len(after), max(1, len(after) // tries)):
        saved_until(kill_at_byte, point)


if __name__ == "__main__":
    main()
