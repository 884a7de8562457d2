"""Derived attributes: expressions over attributes, computed once per event."""

from predicast.derived.functions import call, kinds_of
from predicast.derived.rows import compiled, compiled_whole
from predicast.derived.tree import (
    CLOCK,
    NOW,
    Call,
    Case,
    Constant,
    Each,
    Input,
    Span,
    Test,
    Tree,
    asks_for_now,
    inputs_of,
)

__all__ = [
    "CLOCK",
    "NOW",
    "Call",
    "Case",
    "Constant",
    "Each",
    "Input",
    "Span",
    "Test",
    "Tree",
    "asks_for_now",
    "call",
    "compiled",
    "compiled_whole",
    "inputs_of",
    "kinds_of",
]
