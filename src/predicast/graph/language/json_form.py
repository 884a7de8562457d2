"""The JSON form of graph patterns, for storage and for the wire; nothing is lost in it.

::

    {"injective": false, "selected": ["?x"], "alternatives": [{
        "statements": [["<urn:predicast:home>", "http://shop.example/price", "?x"]],
        "classes": [["<urn:predicast:home>", "http://shop.example/Selling"]],
        "filters": [{"any": [
            {"variable": "?x", "facet": "value",
             "test": {"attribute": "?x", "operator": "<", "value": 400}},
            {"left": "?x", "operator": "=", "right": "?y"}]}]}]}

Vertices are written as N-Triples writes terms, variables with a question mark; those that nobody
can ask for begin with ``_:``. Without ``selected`` it is only asked whether there is a match. Tests
are the constraints of ``predicast.language.json_form``.
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

import msgspec

from predicast.errors import JsonFormError, LanguageError, LimitError, ModelError
from predicast.graph.filters import (
    Comparison,
    Facet,
    FacetTest,
    Filter,
    FilterExpression,
    Test,
)
from predicast.graph.language.tokens import unescaped
from predicast.graph.patterns import (
    Alternative,
    ClassPattern,
    GraphPattern,
    PatternVertex,
    StatementPattern,
)
from predicast.graph.terms import Iri, Literal, Variable
from predicast.language.json_form import constraint_from_document, constraint_to_document, decoded
from predicast.model import And, Leaf, Operator, Or
from predicast.model.constraint import MAX_NESTING

_LITERAL: Final = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^<>]*)>)?', re.DOTALL)


def pattern_to_json(pattern: GraphPattern) -> str:
    """The pattern as one line of JSON."""
    document: dict[str, Any] = {"injective": pattern.injective}
    if pattern.selected is not None:
        document["selected"] = [str(name) for name in pattern.selected]
    document["alternatives"] = [_alternative(each) for each in pattern.alternatives]
    return msgspec.json.encode(document).decode()


def _alternative(alternative: Alternative) -> dict[str, Any]:
    return {
        "statements": [
            [str(each.subject), each.property, str(each.object)] for each in alternative.statements
        ],
        "classes": [[str(each.vertex), each.name] for each in alternative.classes],
        "filters": [_expression(each.expression) for each in alternative.filters],
    }


def _expression(node: FilterExpression) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return _test(node.constraint)
    assert isinstance(node, And | Or), "negation is worked out when a filter is made"
    parts = [_expression(part) for part in node.parts]
    return {"any" if isinstance(node, Or) else "all": parts}


def _test(test: Test) -> dict[str, Any]:
    if isinstance(test, Comparison):
        left, right = str(test.left), str(test.right)
        return {"left": left, "operator": test.operator.value, "right": right}
    asked = constraint_to_document(test.constraint)
    return {"variable": str(test.variable), "facet": test.facet.value, "test": asked}


def pattern_from_json(text: str | bytes) -> GraphPattern:
    """The pattern that a JSON text states."""
    document = _object(decoded(text), "$", {"alternatives"}, {"injective", "selected"})
    injective, selected = document.get("injective", True), document.get("selected")
    if not isinstance(injective, bool):
        _refuse("$.injective", "expected true or false")
    if selected is not None:
        names = enumerate(_list(selected, "$.selected"))
        selected = tuple([_variable(name, f"$.selected[{place}]") for place, name in names])
    alternatives = [
        _read_alternative(each, f"$.alternatives[{place}]")
        for place, each in enumerate(_list(document["alternatives"], "$.alternatives"))
    ]
    try:
        return GraphPattern(tuple(alternatives), injective, selected)
    except LanguageError as error:
        _refuse("$", error.message)


def _read_alternative(given: Any, path: str) -> Alternative:
    document = _object(given, path, set(), {"statements", "classes", "filters"})
    statements: list[StatementPattern] = []
    for place, each in enumerate(_list(document.get("statements", []), f"{path}.statements")):
        where = f"{path}.statements[{place}]"
        subject, name, object = _texts(each, 3, where)
        try:
            statement = StatementPattern(_vertex(subject, where), name, _vertex(object, where))
        except LanguageError as error:
            _refuse(where, error.message)
        statements.append(statement)
    classes: list[ClassPattern] = []
    for place, each in enumerate(_list(document.get("classes", []), f"{path}.classes")):
        where = f"{path}.classes[{place}]"
        vertex, name = _texts(each, 2, where)
        classes.append(ClassPattern(_vertex(vertex, where), name))
    filters = [
        Filter(_read_expression(each, f"{path}.filters[{place}]", 1))
        for place, each in enumerate(_list(document.get("filters", []), f"{path}.filters"))
    ]
    return Alternative(tuple(statements), tuple(classes), tuple(filters))


def _read_expression(given: Any, path: str, depth: int) -> FilterExpression:
    if depth > MAX_NESTING:
        _refuse(path[:60], f"expressions nest deeper than {MAX_NESTING}")
    if isinstance(given, dict) and len(given) == 1:
        [(key, parts)] = given.items()
        if key in {"any", "all"}:
            found = tuple(
                [
                    _read_expression(part, f"{path}.{key}[{place}]", depth + 1)
                    for place, part in enumerate(_list(parts, f"{path}.{key}"))
                ]
            )
            return Or(found) if key == "any" else And(found)
    return Leaf(_read_test(given, path))


def _read_test(given: Any, path: str) -> Test:
    if isinstance(given, dict) and "left" in given:
        document = _object(given, path, {"left", "operator", "right"}, set())
        left, right = (_variable(document[side], f"{path}.{side}") for side in ("left", "right"))
        try:
            return Comparison(left, Operator(document["operator"]), right)
        except (ValueError, TypeError):
            _refuse(f"{path}.operator", "two variables are compared with = != < <= > >=")
    document = _object(given, path, {"variable", "facet", "test"}, set())
    try:
        facet = Facet(document["facet"])
    except (ValueError, TypeError):
        _refuse(f"{path}.facet", f"a facet is one of {', '.join(each.value for each in Facet)}")
    try:
        constraint = constraint_from_document(document["test"])
    except (LanguageError, ModelError, LimitError) as error:
        _refuse(f"{path}.test", error.message)
    return FacetTest(_variable(document["variable"], f"{path}.variable"), facet, constraint)


def _vertex(text: str, path: str) -> PatternVertex:
    if text.startswith(("?", "_:")):
        return _variable(text, path)
    if text.startswith("<") and text.endswith(">"):
        return Iri(text[1:-1])
    found = _LITERAL.fullmatch(text)
    if found is None:
        _refuse(path, f"{text!r} is no variable, IRI or literal")
    inside, language, datatype = found.groups()
    try:
        said = unescaped(inside, 0, inside)
    except LanguageError as error:
        _refuse(path, error.message)
    return Literal(said, datatype, "") if datatype else Literal(said, language=language or "")


def _variable(text: Any, path: str) -> Variable:
    if not isinstance(text, str) or not text.startswith(("?", "_:")) or len(text) < 2:
        _refuse(path, f"a variable is written ?x, not {text!r}")
    return Variable(text.removeprefix("?"))


def _texts(given: Any, count: int, path: str) -> list[str]:
    found = _list(given, path)
    if len(found) != count or not all(isinstance(each, str) for each in found):
        _refuse(path, f"expected {count} strings")
    return found


def _list(given: Any, path: str) -> list[Any]:
    if not isinstance(given, list):
        _refuse(path, "expected a list")
    return given


def _object(given: Any, path: str, needed: set[str], others: set[str]) -> dict[str, Any]:
    if not isinstance(given, dict) or not needed <= set(given) <= needed | others:
        keys = ", ".join(sorted(needed | others))
        _refuse(path, f"expected an object with the keys {keys}")
    return given


def _refuse(path: str, why: str) -> NoReturn:
    raise JsonFormError(f"{path}: {why}", path=path)
