"""An exception out of nowhere, at a chosen point of our own code: what Ctrl-C does to a caller."""

import dis
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Self

import predicast

SOURCE = str(Path(predicast.__file__).parent)


@cache
def leaving(code: CodeType) -> frozenset[int]:
    """Where a function leaves a ``with``: nothing is raised there, neither by signals nor else.

    The interpreter looks for signals after calls and jumps, and what it loads to call ``__exit__``
    is there already. Raising all the same would leave locks locked.
    """
    found = set()
    instructions = [each for each in dis.get_instructions(code) if each.opname != "CACHE"]
    for at, first in enumerate(instructions):
        following = instructions[at : at + 3]
        if all(each.opname == "LOAD_CONST" and each.argval is None for each in following):
            calls = (each.offset for each in instructions[at:] if each.opname == "CALL")
            found |= {*range(first.offset, next(calls, first.offset) + 1)}
    return frozenset(found)


class Interrupted(BaseException):
    """Not an error of anybody's: like KeyboardInterrupt, but not mistaken for the tester's own."""


class Interrupting:
    """Raises before the n-th instruction of Predicast that runs within; counts them all."""

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.count = 0

    def __enter__(self) -> Self:
        self._before = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _enter(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(SOURCE):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._step

    def _step(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        if event == "opcode":
            self.count += 1
            if (
                self.at is not None
                and self.count >= self.at
                and frame.f_lasti not in leaving(frame.f_code)
            ):
                self.at = None
                raise Interrupted(f"{frame.f_code.co_qualname}, line {frame.f_lineno}")
        return self._step


def instructions(call: Callable[[], object]) -> int:
    """How many instructions of Predicast a call runs."""
    with Interrupting() as counted:
        call()
    return counted.count
