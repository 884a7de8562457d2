"""``deep_bytes``: how much memory a data structure takes, counted object by object.

Walks everything that the roots lead to, each object once however often it is reached, so shared
parts and cycles are right; the walk keeps its own stack, so depth is no matter. Classes, functions,
modules and enum members belong to the program rather than to the structure and are left out.

The sum is CPython's own account (``sys.getsizeof``) and an estimate: what the allocator rounds up,
and what a C extension keeps without telling, is not in it.
"""

from __future__ import annotations

import enum
import gc
import sys
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Final

_PROGRAM: Final = (type, enum.Enum, ModuleType, FunctionType, BuiltinFunctionType, CodeType)


def deep_bytes(*roots: object) -> int:
    """The bytes of the roots and of everything they lead to, each object counted once."""
    total = 0
    seen: set[int] = set()
    stack: list[object] = list(roots)
    while stack:
        each = stack.pop()
        if id(each) in seen or isinstance(each, _PROGRAM):
            continue
        seen.add(id(each))
        total += sys.getsizeof(each)
        stack.extend(gc.get_referents(each))
        if isinstance(each, dict):
            stack.extend(each)  # the collector leaves out keys that are strings
    return total
