"""The terms of RDF: what stands at a vertex of an event graph, or in a pattern.

They are our own, since patterns are compared, hashed, saved and sent to other processes, and none
of that should need the library that reads RDF.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from predicast.graph.names import LANG_STRING, STRING

_ESCAPED: Final = str.maketrans(
    {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)


@dataclass(frozen=True, slots=True)
class Iri:
    """A resource with a name that is the same everywhere."""

    value: str

    def __str__(self) -> str:
        return f"<{self.value}>"


@dataclass(frozen=True, slots=True)
class Blank:
    """A resource without a name; its label says which one, within one graph."""

    label: str

    def __str__(self) -> str:
        return f"_:{self.label}"


@dataclass(frozen=True, slots=True)
class Literal:
    """A text with the datatype by which it has a value, and the language if it is in one."""

    text: str
    datatype: str = STRING
    language: str = ""

    def __post_init__(self) -> None:
        if self.language:  # a tag is the same in either case
            object.__setattr__(self, "language", self.language.lower())
            object.__setattr__(self, "datatype", LANG_STRING)

    def __str__(self) -> str:
        quoted = f'"{self.text.translate(_ESCAPED)}"'
        if self.language:
            return f"{quoted}@{self.language}"
        return quoted if self.datatype == STRING else f"{quoted}^^<{self.datatype}>"


@dataclass(frozen=True, slots=True)
class Variable:
    """What a pattern leaves open: stands for a vertex of the event."""

    name: str

    def __str__(self) -> str:
        return f"?{self.name}" if not self.is_hidden else self.name

    @property
    def is_hidden(self) -> bool:
        """Whether it came from a blank node, a path or a value, and nobody can ask for it."""
        return self.name.startswith("_:")


Term: TypeAlias = Iri | Blank | Literal
Triple: TypeAlias = tuple[Iri | Blank, Iri, Term]
