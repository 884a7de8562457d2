"""The Arrow form read row by row: for odd rows, and for errors that name theirs.

``arrow_form`` reads ordinary subscriptions by columns and hands the others to this module:
those with sets, patterns, clauses without constraints, or something said twice. What is wrong with
a row is also said here, so that there is one place that knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

import pyarrow as pa

from predicast.errors import InvalidConstraintError, JsonFormError, ModelError, suggest
from predicast.language.json_form import (
    constraint_from_document,
    decoded,
    expression_from_document,
)
from predicast.model import Clause, Constraint, Expression, Operator, Subscription
from predicast.model.operators import ELEMENTS, JOINED, PRESENCE, RANGE, SET

REST: Final = "rest"  # in the place of an operator
VALUES: Final = ("int_value", "float_value", "string_value", "bool_value", "timestamp_value")
OPERATORS: Final = {operator.value: operator for operator in Operator if operator not in RANGE}

_Place: TypeAlias = tuple[str, int, str, Operator]  # of a set whose members stand in several rows


def read_rows(rows: pa.Table, numbers: Iterable[int]) -> dict[str, Subscription]:
    """The subscriptions of some rows, by id, in order of appearance; numbers are for errors."""
    clauses: dict[str, dict[int, dict[Any, Constraint]]] = {}
    rests: dict[tuple[str, int], Expression] = {}
    sets: dict[_Place, list[Any]] = {}
    for number, row in zip(numbers, rows.to_pylist(), strict=True):
        constraint = read_row(row, number)
        id, clause = row["id"], row["clause"]
        constraints = clauses.setdefault(id, {}).setdefault(clause, {})
        if constraint is None:
            if row["operator"] == REST:
                if (id, clause) in rests:
                    raise InvalidConstraintError(f"row {number}: a clause has one rest", row=number)
                rests[id, clause] = _rest(row, number)
            continue
        if OPERATORS[row["operator"]] in SET:
            set_of = (id, clause, constraint.attribute, constraint.operator)
            constraints.setdefault(set_of, constraint)
            sets.setdefault(set_of, []).extend(constraint.operand)  # type: ignore[arg-type]
        else:
            constraints.setdefault(constraint, constraint)
    for set_of, members in sets.items():
        id, clause, attribute, operator = set_of
        clauses[id][clause][set_of] = Constraint(attribute, operator, tuple(members))
    return {
        id: Subscription(
            tuple(
                Clause(tuple(each.values()), rests.get((id, number)))
                for number, each in by_clause.items()
            )
        )
        for id, by_clause in clauses.items()
    }


def read_row(row: dict[str, Any], number: int) -> Constraint | None:
    """The constraint of one row, or none for a clause that has none; a set of one member.

    The rest of a clause is no constraint either.
    """
    if not isinstance(row["id"], str) or not isinstance(row["clause"], int):
        raise InvalidConstraintError(f"row {number}: id and clause must be given", row=number)
    if row["attribute"] is None and row["operator"] in {None, REST}:
        return None
    operator = _operator(row["operator"], number)
    value = _value(row, operator, number)
    if operator in JOINED | ELEMENTS:
        return _joined(row, operator, value, number)
    try:
        return Constraint(row["attribute"], operator, (value,) if operator in SET else value)
    except ModelError as error:
        raise InvalidConstraintError(
            f"row {number}: {error.message}",
            attribute=row["attribute"],
            operator=operator.value,
            row=number,
        ) from error


def _joined(row: dict[str, Any], operator: Operator, parts: Any, number: int) -> Constraint:
    """Any or all of what is written as JSON, or what elements are to match."""
    document = {"attribute": row["attribute"], "operator": operator.value}
    try:
        return constraint_from_document({**document, "value": _decoded(parts)})
    except JsonFormError as error:
        raise _wrong(row, number, error) from error


def _rest(row: dict[str, Any], number: int) -> Expression:
    """The rest of a clause, written as JSON."""
    try:
        return expression_from_document(_decoded(row["string_value"]))
    except JsonFormError as error:
        raise _wrong(row, number, error) from error


def _decoded(text: Any) -> Any:
    if not isinstance(text, str):
        raise JsonFormError("the parts are written as JSON, in string_value", path="$")
    return decoded(text)


def _wrong(row: dict[str, Any], number: int, error: JsonFormError) -> InvalidConstraintError:
    return InvalidConstraintError(
        f"row {number}: {row['operator']!r} in string_value: {error.message}",
        attribute=row["attribute"],
        operator=row["operator"],
        row=number,
    )


def _operator(name: Any, row: int) -> Operator:
    operator = OPERATORS.get(name)
    if operator is None:
        close = suggest(str(name), OPERATORS)
        hint = f"did you mean {close!r}?" if close else f"known: {', '.join(OPERATORS)}"
        raise InvalidConstraintError(f"row {row}: there is no operator {name!r}; {hint}", row=row)
    return operator


def _value(row: dict[str, Any], operator: Operator, number: int) -> Any:
    values = [row[column] for column in VALUES if row.get(column) is not None]
    if len(values) != (0 if operator in PRESENCE else 1):
        expected = "no value" if operator in PRESENCE else "exactly one value"
        raise InvalidConstraintError(
            f"row {number}: {operator.value!r} takes {expected}, not {len(values)}",
            attribute=row["attribute"],
            operator=operator.value,
            row=number,
        )
    if not values:
        return None
    return values[0]
