"""From names to columns: what of an event's schema a subscription's attribute means.

An attribute is a column, or a field of a struct column under its dotted name: ``order.total`` is
the field ``total`` of ``order``, or a column that is literally called ``order.total``. Names are
told apart by case, as everywhere in Predicast. Whatever is wrong with a name is found out here,
from the schema alone, before any job starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from predicast.errors import (
    ColumnClashError,
    InvalidOptionError,
    UnknownColumnError,
    UnsupportedColumnError,
    suggest,
)
from predicast.matching.batches.interval_columns import (
    Ends,
    IntervalColumns,
    ends_in_struct,
    ends_of,
)
from predicast.model import Kind

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType

GivenBy = Mapping[str, tuple[str, ...]]  # of properties: all attributes that give one a value

_KINDS: Final = {
    "tinyint": Kind.NUMBER,
    "smallint": Kind.NUMBER,
    "int": Kind.NUMBER,
    "bigint": Kind.NUMBER,
    "float": Kind.NUMBER,
    "double": Kind.NUMBER,
    "string": Kind.STRING,
    "boolean": Kind.BOOLEAN,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_ntz": Kind.TIMESTAMP,
    "date": Kind.TIMESTAMP,
}
_PARTS: Final = {  # what gets one of them
    "variant": "expr(\"variant_get({column}, '$.{part}', 'double')\")",
    "map": "expr(\"{column}['{part}']\")",
}
_DECIMAL: Final = "decimal("  # with its precision and scale behind it
_HINTS: Final = {
    "BinaryType": "cast it to string if it holds text",
    "MapType": "make a column of each key that matters",
    "VariantType": "make a column of each part that matters, with variant_get",
    "StringType": "subscriptions compare by code point; apply collate(..., 'UTF8_BINARY')",
}


@dataclass(frozen=True, slots=True)
class LeafField:
    """One attribute's place: a top-level column, and the fields on the way down from it."""

    column: int
    path: tuple[int, ...]
    fields: tuple[str, ...]
    type: DataType

    @property
    def kind(self) -> Kind | None:
        """What its values compare with; ``None`` for a column of nulls."""
        if _is_list(self.type):
            return Kind.LIST
        name = _type_name(self.type)
        return Kind.NUMBER if name.startswith(_DECIMAL) else _KINDS.get(name)


def _type_name(kind: DataType) -> str:
    """What a type is called, without the length of a text."""
    name = kind.simpleString()
    return "string" if name.startswith(("char(", "varchar(")) else name


class Schema:
    """The columns of a DataFrame, by name and by dotted name."""

    def __init__(self, schema: StructType) -> None:
        self.fields: list[StructField] = list(schema.fields)
        self._leaves: dict[str, list[LeafField]] = {}
        self._structs: dict[str, list[str]] = {}
        self._places: dict[str, list[int]] = {}
        for position, field in enumerate(self.fields):
            self._places.setdefault(field.name, []).append(position)
            for name, leaf in self._flat(field.name, LeafField(position, (), (), field.dataType)):
                self._leaves.setdefault(name, []).append(leaf)

    def _flat(self, name: str, leaf: LeafField) -> Iterator[tuple[str, LeafField]]:
        from pyspark.sql.types import StructType

        if not isinstance(leaf.type, StructType):
            yield name, leaf
            return
        self._structs[name] = [f"{name}.{field.name}" for field in leaf.type.fields]
        for position, field in enumerate(leaf.type.fields):
            path, fields = (*leaf.path, position), (*leaf.fields, field.name)
            yield from self._flat(
                f"{name}.{field.name}", LeafField(leaf.column, path, fields, field.dataType)
            )

    # Columns, as in the options event_id and columns.

    def position(self, name: str) -> int:
        """The position of the one column with this name."""
        places = self._places.get(name, [])
        if len(places) == 1:
            return places[0]
        if places:
            raise ColumnClashError(f"several columns are named {name!r}", column=name)
        raise unknown_column(f"there is no column {name!r}", name, self._places)

    def positions(self, names: Iterable[str] | None) -> list[int]:
        """The positions of the named columns, of all columns for ``None``."""
        if names is None:
            return list(range(len(self.fields)))
        if isinstance(names, str):
            raise InvalidOptionError("columns is a list of names, not one string", option="columns")
        names = list(names)
        for name in names:
            if not isinstance(name, str):
                raise InvalidOptionError(
                    f"columns is a list of names, and {name!r} is none; make a column of an "
                    "expression first, with events.withColumn",
                    option="columns",
                )
        return list(dict.fromkeys(self.position(name) for name in names))

    # Attributes, as in subscriptions.

    def leaf(self, attribute: str) -> LeafField:
        """Where an attribute's values stand, if they are of a type that events can hold."""
        leaf = self._one_leaf(attribute)
        type_name = leaf.type.simpleString()
        if _is_taken(leaf.type):
            return leaf
        hint = _HINTS.get(type(leaf.type).__name__, "cast it or leave it out")
        raise UnsupportedColumnError(
            f"a subscription looks at {attribute!r}, a column of type {type_name}; events hold "
            f"integers, floats, decimals, strings, booleans, timestamps, dates and arrays: {hint}",
            column=attribute,
            type=type_name,
        )

    def _one_leaf(self, attribute: str) -> LeafField:
        leaves = self._leaves.get(attribute, [])
        if len(leaves) == 1 and attribute not in self._structs:
            return leaves[0]
        if leaves:
            raise ColumnClashError(
                f"a subscription looks at {attribute!r}, the name of several columns or struct "
                "fields; rename all but one",
                column=attribute,
            )
        if attribute in self._structs:
            inside = self._structs[attribute][:3]
            hint = f"; name one of its fields, such as {' or '.join(inside)}" if inside else ""
            raise UnsupportedColumnError(
                f"a subscription looks at {attribute!r}, which is a struct{hint}",
                column=attribute,
                type="struct",
            )
        self._refuse_part(attribute)
        raise unknown_column(
            f"a subscription looks at {attribute!r}, which no column provides",
            attribute,
            self._leaves,
        )

    def _refuse_part(self, attribute: str) -> None:
        """Refuse a part of what has no fields of its own, if it is one, and say how to get it."""
        steps = attribute.split(".")
        for length in range(1, len(steps)):
            column, part = ".".join(steps[:length]), ".".join(steps[length:])
            kinds = [leaf.type.typeName() for leaf in self._leaves.get(column, [])]
            kind = kinds[0] if len(kinds) == 1 else ""
            if kind not in _PARTS:
                continue
            made = _PARTS[kind].format(column=column, part=part)
            raise UnsupportedColumnError(
                f"a subscription looks at {attribute!r}, and {column!r} is a {kind}, whose parts "
                f"are no columns; make one of it: events.withColumn({attribute!r}, {made})",
                column=attribute,
                type=kind,
            )

    def providing(
        self, attributes: Iterable[str], given_by: GivenBy, intervals: IntervalColumns | None
    ) -> list[str]:
        """The attributes to read: of a property all that give it a value and that events have."""
        read: list[str] = []
        for name in attributes:
            there = [each for each in given_by.get(name, ()) if self._has(each, intervals or {})]
            read += there or [name]  # which is looked for, and missed, by the name that it has
        return list(dict.fromkeys(read))

    def _has(self, attribute: str, intervals: IntervalColumns) -> bool:
        return attribute in self._leaves or attribute in self._structs or attribute in intervals

    def leaves(self, attributes: Iterable[str], intervals: Ends) -> dict[str, LeafField]:
        """The leaves that provide the attributes, and the ends of those that are intervals."""
        ends = {name: self._interval(name, pair) for name, pair in intervals.items()}
        found: dict[str, LeafField] = {}
        for attribute in attributes:
            found |= ends[attribute] if attribute in ends else {attribute: self.leaf(attribute)}
        return found

    def intervals(self, attributes: Iterable[str], given: IntervalColumns | None) -> Ends:
        """The given intervals, and the attributes that are structs of an interval's ends."""
        found = {
            attribute: ends
            for attribute in attributes
            if (ends := ends_in_struct(attribute, self._leaves)) is not None
        }
        named = {name: ends_of(name, each, self._leaves) for name, each in (given or {}).items()}
        return found | named

    def _interval(self, attribute: str, pair: Sequence[str]) -> dict[str, LeafField]:
        ends = {name: self.leaf(name) for name in pair[:2]}
        is_open = {name: self.leaf(name) for name in pair[2:]}
        for name, leaf in is_open.items():
            if leaf.kind not in {None, Kind.BOOLEAN}:
                raise UnsupportedColumnError(
                    f"{name!r} says whether an end of {attribute!r} is open: it is a boolean, not "
                    f"{leaf.type.simpleString()}",
                    column=name,
                    type=leaf.type.simpleString(),
                )
        kinds = {leaf.kind for leaf in ends.values()} - {None}
        if kinds <= {Kind.NUMBER} or kinds <= {Kind.TIMESTAMP}:
            return ends | is_open
        types = " and ".join(leaf.type.simpleString() for leaf in ends.values())
        raise UnsupportedColumnError(
            f"the ends of {attribute!r} are of type {types}; an interval runs between two numbers "
            "or two timestamps",
            column=pair[0],
            type=types,
        )

    def check_free(self, kept: Iterable[int], *added: str) -> None:
        """Refuse kept columns that have the name of one to be added, in upper or lower case."""
        taken = {self.fields[position].name.casefold(): position for position in kept}
        for name in added:
            if name.casefold() in taken:
                clash = self.fields[taken[name.casefold()]].name
                raise ColumnClashError(
                    f"the events have a column {clash!r}, and the result adds one of that name; "
                    f"rename it, as in events.withColumnRenamed({clash!r}, 'event_{clash}'), "
                    "or keep only other columns",
                    column=clash,
                )


def _is_list(type_: DataType) -> bool:
    return type_.typeName() == "array"


def _is_taken(type_: DataType) -> bool:
    """Whether events can hold values of the type; in arrays of structs only what is looked at."""
    element: DataType | None = getattr(type_, "elementType", None)
    if element is not None:
        return element.typeName() == "struct" or _is_taken(element)
    name = _type_name(type_)
    return name in {*_KINDS, "void"} or name.startswith(_DECIMAL)


def unknown_column(message: str, name: str, known: Iterable[str]) -> UnknownColumnError:
    """The error for a name that is none of the known ones, one of which may be close to it."""
    names = list(dict.fromkeys(known))
    close = suggest(name, names)
    listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    hint = f"did you mean {close!r}?" if close else f"there are: {listed}"
    return UnknownColumnError(f"{message}; {hint}", column=name, suggestion=close)
