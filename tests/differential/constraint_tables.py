"""Subscriptions written as the table that ``Engine.subscribe_arrow`` reads, where it has words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
import pyarrow as pa

from predicast.language.arrow_form import SCHEMA
from predicast.language.arrow_rows import REST
from predicast.language.json_form import constraint_to_document, expression_to_document
from predicast.model import Clause, Constraint, LikePattern, Operator, Subscription
from predicast.model.decimals import ExactDecimal
from predicast.model.operators import ELEMENTS, SET

_COLUMN: Final[Mapping[type, str]] = {
    int: "int_value",
    float: "float_value",
    str: "string_value",
    bool: "bool_value",
    datetime: "timestamp_value",
}


def has_rows(subscription: Subscription) -> bool:
    """Whether the Arrow form can say it.

    It has no "not between", no escape but the usual one, no column of its own for decimals, and two
    sets on one attribute would become one.
    """
    return bool(subscription.clauses) and all(map(_clause_has_rows, subscription.clauses))


def _clause_has_rows(clause: Clause) -> bool:
    sets = [(each.attribute, each.operator) for each in clause if each.operator in SET]
    return len(sets) == len(set(sets)) and not any(
        each.operator is Operator.NOT_BETWEEN
        or (isinstance(each.operand, tuple) and ExactDecimal in map(type, each.operand))
        or isinstance(each.operand, ExactDecimal)
        or (isinstance(each.operand, LikePattern) and each.operand.escape != "\\")
        for each in clause
    )


def table_of(subscriptions: Mapping[str, Subscription]) -> pa.Table:
    """One row per constraint, or several."""
    rows = [
        {"id": id, "clause": number, **row}
        for id, subscription in subscriptions.items()
        for number, clause in enumerate(subscription.clauses)
        for row in _clause_rows(clause)
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def _clause_rows(clause: Clause) -> Iterator[dict[str, Any]]:
    if clause.rest is not None:
        rest = msgspec.json.encode(expression_to_document(clause.rest)).decode()
        yield {"operator": REST, "string_value": rest}
    elif not len(clause):
        yield {}
    for constraint in clause:
        for operator, value in _tests(constraint):
            row = {"attribute": constraint.attribute, "operator": operator.value}
            yield row if value is None else {**row, _COLUMN[type(value)]: value}


def _tests(constraint: Constraint) -> list[tuple[Operator, Any]]:
    operand = constraint.operand
    if constraint.parts or constraint.operator in ELEMENTS:
        parts = constraint_to_document(constraint)["value"]
        return [(constraint.operator, msgspec.json.encode(parts).decode())]
    if constraint.operator is Operator.BETWEEN:
        assert isinstance(operand, tuple)
        return [(Operator.GE, operand[0]), (Operator.LE, operand[1])]
    if isinstance(operand, tuple):
        return [(constraint.operator, member) for member in operand]
    if isinstance(operand, LikePattern):
        return [(constraint.operator, operand.pattern)]
    return [(constraint.operator, operand)]
