"""Derived attributes: expressions over attributes, computed once per event."""

from predicast.derived.functions import call, kinds_of
from predicast.derived.rows import compiled
from predicast.derived.tree import Call, Case, Constant, Each, Input, Span, Test, Tree, inputs_of

__all__ = [
    "Call",
    "Case",
    "Constant",
    "Each",
    "Input",
    "Span",
    "Test",
    "Tree",
    "call",
    "compiled",
    "inputs_of",
    "kinds_of",
]
