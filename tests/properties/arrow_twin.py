"""The Arrow form read row by row, plainly: what reading it by columns is held against."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pyarrow as pa

from predicast.errors import InvalidConstraintError, ModelError, UnknownColumnError, suggest
from predicast.language.json_form import constraint_from_document
from predicast.model import Clause, Constraint, Operator, Subscription
from predicast.model.operators import ELEMENTS, JOINED, PRESENCE, RANGE, SET

_VALUES: Final = ("int_value", "float_value", "string_value", "bool_value", "timestamp_value")
_REQUIRED: Final = ("id", "clause", "attribute", "operator", *_VALUES[:4])
_OPERATORS: Final = {operator.value: operator for operator in Operator if operator not in RANGE}


def subscriptions_from_arrow(table: pa.Table) -> dict[str, Subscription]:
    """The subscriptions of a table, by id, in order of appearance."""
    for column in _REQUIRED:
        if column not in table.column_names:
            close = suggest(column, table.column_names)
            hint = f"; is it {close!r}?" if close else ""
            raise UnknownColumnError(
                f"the table lacks the column {column!r}{hint}", column=column, suggestion=close
            )
    rows = table.select([*_REQUIRED, *(c for c in _VALUES[4:] if c in table.column_names)])
    clauses: dict[str, dict[int, list[Constraint]]] = {}
    sets: dict[tuple[str, int, str, Operator], list[Any]] = {}
    for number, row in enumerate(rows.to_pylist()):
        id, clause = row["id"], row["clause"]
        if not isinstance(id, str) or not isinstance(clause, int):
            raise InvalidConstraintError(f"row {number}: id and clause must be given")
        constraints = clauses.setdefault(id, {}).setdefault(clause, [])
        if row["attribute"] is None and row["operator"] is None:
            continue
        operator = _operator(row["operator"], number)
        value = _value(row, operator, number)
        if operator in SET:
            members = sets.setdefault((id, clause, row["attribute"], operator), [])
            members.append(value)
            if len(members) > 1:
                continue
        constraints.append(_constraint(row["attribute"], operator, value, number))
    _fill_sets(clauses, sets)
    return {
        id: Subscription(tuple(Clause(tuple(dict.fromkeys(each))) for each in by_clause.values()))
        for id, by_clause in clauses.items()
    }


def _fill_sets(
    clauses: dict[str, dict[int, list[Constraint]]],
    sets: dict[tuple[str, int, str, Operator], list[Any]],
) -> None:
    for (id, clause, attribute, operator), members in sets.items():
        constraints = clauses[id][clause]
        for position, constraint in enumerate(constraints):
            if constraint.attribute == attribute and constraint.operator is operator:
                constraints[position] = Constraint(attribute, operator, tuple(members))


def _constraint(attribute: Any, operator: Operator, value: Any, row: int) -> Constraint:
    try:
        if operator in JOINED | ELEMENTS:
            document = {"attribute": attribute, "operator": operator.value}
            return constraint_from_document({**document, "value": msgspec.json.decode(value)})
        return Constraint(attribute, operator, (value,) if operator in SET else value)
    except ModelError as error:
        raise InvalidConstraintError(
            f"row {row}: {error.message}", attribute=attribute, operator=operator.value
        ) from error


def _operator(name: Any, row: int) -> Operator:
    operator = _OPERATORS.get(name)
    if operator is None:
        close = suggest(str(name), _OPERATORS)
        hint = f"did you mean {close!r}?" if close else f"known: {', '.join(_OPERATORS)}"
        raise InvalidConstraintError(f"row {row}: there is no operator {name!r}; {hint}")
    return operator


def _value(row: dict[str, Any], operator: Operator, number: int) -> Any:
    values = [row[column] for column in _VALUES if row.get(column) is not None]
    if len(values) != (0 if operator in PRESENCE else 1):
        expected = "no value" if operator in PRESENCE else "exactly one value"
        raise InvalidConstraintError(
            f"row {number}: {operator.value!r} takes {expected}, not {len(values)}",
            attribute=row["attribute"],
            operator=operator.value,
        )
    return values[0] if values else None
