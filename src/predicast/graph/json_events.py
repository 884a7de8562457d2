"""Plain JSON as an event graph: a nested object becomes vertices and arcs by the ontology's names.

::

    {"type": "Selling", "target": {"type": "Laptop"}, "price": {"currency": "dollar", "value": 350}}

The outermost object is the home vertex. A key is a property: by its local name, as
``prefix:name``, or as a whole IRI. ``type`` (or ``@type``) names classes the same way, unless the
ontology has a property ``type`` of its own; an inner object without any is of the property's
range. ``@id`` is the object's IRI. An array is several statements, null is none.

A string is an IRI where the property's range is a class, and a literal otherwise. A literal has the
datatype of the property's range if the value can be read as that, so that a time is a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from predicast.errors import JsonFormError, NestingTooDeepError, suggest
from predicast.graph.datatypes import PARENTS
from predicast.graph.names import BOOLEAN, DOUBLE, HOME, INTEGER, PREDICAST, STRING, TYPE
from predicast.graph.ontology import OBJECT_PROPERTY, Ontology
from predicast.graph.terms import Blank, Iri, Literal, Term, Triple
from predicast.model.decimals import exact_integer

MAX_NESTING: Final = 64
_ID: Final = "@id"
_TYPES: Final = ("@type", "type")


class JsonReader:
    """Reads one document; ``unknown`` says which of its keys the ontology does not know."""

    def __init__(self, ontology: Ontology, *, strict: bool) -> None:
        self._ontology = ontology
        self._strict = strict
        self._blanks = 0
        self.home = Iri(HOME)  # unless the document says otherwise
        self.unknown: list[str] = []

    def triples(self, document: str | bytes | Mapping[str, Any]) -> list[Triple]:
        """The statements of a document."""
        if isinstance(document, str | bytes):
            document = _parsed(document)
        if not isinstance(document, Mapping):
            raise JsonFormError(
                f"an event is a JSON object, not {type(document).__name__}", path="$"
            )
        if isinstance(document.get(_ID), str):
            self.home = Iri(self._iri(document[_ID], "$"))
        return list(self._object(self.home, document, "$", 1))

    def _object(
        self, subject: Iri | Blank, given: Mapping[str, Any], path: str, depth: int
    ) -> Iterator[Triple]:
        if depth > MAX_NESTING:
            raise NestingTooDeepError(
                f"{path}: objects nest deeper than {MAX_NESTING}", limit=MAX_NESTING, actual=depth
            )
        for key, value in given.items():
            where = f"{path}.{key}"
            if key == _ID or value is None:
                continue
            if key in _TYPES and key not in self._ontology.local_names.properties:
                for each in value if isinstance(value, list | tuple) else [value]:
                    yield subject, Iri(TYPE), Iri(self._class(each, where))
                continue
            property = self._property(key, where)
            if property is None:
                continue
            for each in value if isinstance(value, list | tuple) else [value]:
                if each is None:
                    continue
                object, inside = self._value(each, property, where)
                yield subject, Iri(property), object
                if inside is not None:
                    assert not isinstance(object, Literal)
                    if not any(each in inside for each in _TYPES):
                        yield from self._types_by_range(object, property)
                    yield from self._object(object, inside, where, depth + 1)

    def _value(self, value: Any, property: str, path: str) -> tuple[Term, Mapping[str, Any] | None]:
        if isinstance(value, Mapping):
            if isinstance(value.get(_ID), str):
                return Iri(self._iri(value[_ID], path)), value
            self._blanks += 1
            return Blank(f"o{self._blanks}"), value
        if isinstance(value, bool):
            return self._literal("true" if value else "false", BOOLEAN, property), None
        if isinstance(value, int):
            if exact_integer(value) is None:
                raise JsonFormError(f"{path}: the number has too many digits", path=path)
            return self._literal(str(value), INTEGER, property), None
        if isinstance(value, float):
            return self._literal(repr(value), DOUBLE, property), None
        if isinstance(value, str):
            if self._is_about_resources(property):
                return Iri(self._iri(value, path)), None
            return self._literal(value, STRING, property), None
        raise JsonFormError(
            f"{path}: {type(value).__name__} is none of object, array, string, number, boolean",
            path=path,
        )

    def _literal(self, text: str, datatype: str, property: str) -> Literal:
        """With the datatype of the property's range, if the text has a value by it."""
        for name in sorted(self._ontology.ranges.get(property, ())):
            if name in self._ontology.datatypes:
                literal = Literal(text, name)
                if self._ontology.value_of(literal) is not None:
                    return literal
        return Literal(text, datatype)

    def _types_by_range(self, vertex: Iri | Blank, property: str) -> Iterator[Triple]:
        for name in sorted(self._ontology.ranges.get(property, ())):
            yield vertex, Iri(TYPE), Iri(name)

    def _is_about_resources(self, property: str) -> bool:
        ranges = self._ontology.ranges.get(property, frozenset())
        kinds = self._ontology.kinds.get(property, frozenset())
        return OBJECT_PROPERTY in kinds or any(
            name not in self._ontology.datatypes and name not in PARENTS for name in ranges
        )

    def _property(self, key: str, path: str) -> str | None:
        known = self._ontology.local_names.properties
        if ":" in key:
            return self._iri(key, path)
        if key in known:
            return _only(known[key], key, path)
        close = suggest(key, known)
        message = f"{path}: the ontology has no property {key!r}"
        if close:
            message += f"; did you mean {close!r}?"
        if self._strict:
            raise JsonFormError(message, path=path)
        self.unknown.append(message)
        return None

    def _class(self, name: Any, path: str) -> str:
        if not isinstance(name, str):
            raise JsonFormError(f"{path}: a class is named by a string", path=path)
        known = self._ontology.local_names.classes
        return _only(known[name], name, path) if name in known else self._iri(name, path)

    def _iri(self, name: str, path: str) -> str:
        """The IRI that a string stands for: itself, a prefixed name, or a known individual's."""
        prefix, colon, rest = name.partition(":")
        if colon:
            is_short = prefix in self._ontology.prefixes and not rest.startswith("//")
            return self._ontology.prefixes[prefix] + rest if is_short else name
        known = self._ontology.local_names.individuals
        return _only(known[name], name, path) if name in known else PREDICAST + name


def _only(names: list[str], key: str, path: str) -> str:
    if len(names) > 1:
        listed = ", ".join(f"<{name}>" for name in sorted(names))
        raise JsonFormError(
            f"{path}: {key!r} may be any of {listed}; write the whole IRI", path=path
        )
    return names[0]


def _parsed(document: str | bytes) -> Any:
    try:
        return json.loads(document)
    except RecursionError:
        raise NestingTooDeepError(
            f"objects nest deeper than {MAX_NESTING}", limit=MAX_NESTING, actual=None
        ) from None
    except ValueError as error:
        raise JsonFormError(f"this is not JSON: {error}", path="$") from None
