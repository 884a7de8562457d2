from __future__ import annotations

import sys
from typing import Any

from predicast.matching.memory import deep_bytes
from predicast.model import Kind


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held


def test_counts_what_a_structure_holds() -> None:
    text = "a text of its own"
    assert deep_bytes([text]) == sys.getsizeof([text]) + sys.getsizeof(text)
    held = Slotted({text: 1.5})
    parts = (held, held.held, text, 1.5)
    assert deep_bytes(held) == sum(map(sys.getsizeof, parts))


def test_counts_each_object_once() -> None:
    text = "a text of its own"
    assert deep_bytes([text, text], text) == sys.getsizeof([text, text]) + sys.getsizeof(text)
    assert deep_bytes(text, text) == sys.getsizeof(text)


def test_ends_on_cycles() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert deep_bytes(loop) == sys.getsizeof(loop)


def test_leaves_the_program_out() -> None:
    assert deep_bytes(Kind.NUMBER, Slotted, sys, deep_bytes, len) == 0


def test_depth_is_no_matter() -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    assert deep_bytes(nested) > 100_000 * sys.getsizeof([])
