"""Many new subscriptions at once: what they may be given as, and what becomes of them.

Given as (id, expression) pairs, as a mapping of ids to expressions, or as records with ``id``,
``expression`` and, if they like, ``owner``, ``parameters`` and ``dialect``; or as a frame with
these columns (``frame_records.py``). They become groups of subscriptions that are alike, in
columns: no object per subscription is left behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, Union

from predicast.engine.ids import check_arrow_ids, check_id, check_ids
from predicast.engine.operations import Subscribe
from predicast.engine.templates import Template
from predicast.errors import InvalidSubscriptionError, PredicastError, shortened, suggest
from predicast.language import Readable
from predicast.language.reading import WHERE, ReadText, as_held, stated_by

if TYPE_CHECKING:
    import numpy as np

    from predicast.arrow import TableLike
    from predicast.model.operand_columns import OperandColumns

Records: TypeAlias = Union[  # a string in a | would be an error at run time
    Mapping[str, Readable],
    Iterable[tuple[str, Readable]],
    Iterable[Mapping[str, Any]],
    Iterable[Subscribe],
    "TableLike",
]

_FIELDS: Final = ("id", "expression", "owner", "parameters", "dialect")
_PAIR: Final = 2


class Bulk(NamedTuple):
    """New subscriptions by position."""

    ids: list[str]
    groups: list[tuple[np.ndarray, OperandColumns]]  # positions, and what is stated there
    owners: dict[int, str | None]
    templates: dict[int, Template | None]
    sources: dict[int, str | None]
    dialects: dict[int, str]  # of texts that are not ``where``


def read_records(
    given: Records, owner: str | None, dialect: str | None = None
) -> Iterator[Subscribe]:
    """Each of them as an operation; whatever names no owner, or dialect, is of this one."""
    if owner is not None:
        check_id("owner", owner)
    for position, record in enumerate(_listed(given)):
        yield _operation(position, record, owner, dialect)


def _listed(given: Any) -> Iterable[Any]:
    if isinstance(given, Mapping):
        return given.items()
    if isinstance(given, str | bytes):
        raise _invalid(None, f"subscriptions are given as {_WAYS}, not as", given)
    if _is_frame(given):
        from predicast.engine.frame_records import frame_records  # imports Arrow

        return frame_records(given)
    try:
        iter(given)
    except TypeError:
        raise _invalid(None, f"subscriptions are given as {_WAYS}, not as", given) from None
    return given  # type: ignore[no-any-return]


def _is_frame(given: object) -> bool:
    """Whether it is a table of some library, and not records one by one."""
    return (
        hasattr(given, "__arrow_c_stream__")
        or hasattr(given, "__arrow_c_array__")
        or (hasattr(given, "collect_schema") and hasattr(given, "collect"))  # a plan of Polars
    )


_WAYS: Final = (
    '(id, expression) pairs, as {id: expression}, as {"id": …, "expression": …} records, or as a '
    "frame with the columns id and expression"
)


def _operation(position: int, record: Any, owner: str | None, dialect: str | None) -> Subscribe:
    if isinstance(record, tuple | list) and len(record) == _PAIR:
        return Subscribe(record[0], record[1], owner, None, False, dialect)
    if isinstance(record, Mapping):
        _check_fields(position, record)
        own, in_dialect = record.get("owner"), record.get("dialect")
        return Subscribe(
            record["id"],
            record["expression"],
            owner if own is None else own,
            record.get("parameters"),
            False,
            dialect if in_dialect is None else in_dialect,
        )
    if isinstance(record, Subscribe):
        return record
    raise _invalid(position, f"subscriptions are given as {_WAYS}, not as", record)


def _check_fields(position: int, record: Mapping[str, Any]) -> None:
    for name in record:
        if name not in _FIELDS:
            close = suggest(str(name), _FIELDS)
            hint = f"; did you mean {close!r}?" if close else f": it has {', '.join(_FIELDS)}"
            raise InvalidSubscriptionError(
                f"record {position}: a subscription has no {name!r}{hint}", position=position
            )
    for name in _FIELDS[:2]:
        if name not in record:
            raise _invalid(position, f"a record has {name!r}, which is missing in", record)


def _invalid(position: int | None, what: str, given: object) -> InvalidSubscriptionError:
    where = "" if position is None else f"record {position}: "
    return InvalidSubscriptionError(f"{where}{what} {shortened(given)}", position=position)


def bulk_of(operations: Iterable[Subscribe]) -> Bulk:
    """New subscriptions, read one by one; their ids are valid and all different."""
    from predicast.language.dialect_registry import stated_in
    from predicast.model.operand_columns import Gathering

    ids: list[str] = []
    owners: dict[int, str | None] = {}
    templates: dict[int, Template | None] = {}
    sources: dict[int, str | None] = {}
    dialects: dict[int, str] = {}
    gathering = Gathering()
    for position, operation in enumerate(operations):
        ids.append(operation.id)
        try:
            if operation.dialect is not None and operation.dialect != WHERE:
                expression, parametric = operation.expression, None
                stated = stated_in(operation.dialect, expression, operation.parameters)
                dialects[position] = operation.dialect
            else:
                expression = as_held(operation.expression)
                stated, parametric = stated_by(expression, operation.parameters)
            if operation.owner is not None:
                check_id("owner", operation.owner)
                owners[position] = operation.owner
        except PredicastError as error:
            error.add_note(f"in the subscription {shortened(operation.id)}")
            raise
        if parametric is not None:
            values = operation.parameters or {}
            templates[position] = Template.of(parametric, stated.outline, values)
        elif isinstance(expression, str):
            sources[position] = expression
        elif isinstance(expression, ReadText):
            sources[position], dialects[position] = expression.text, expression.dialect
        gathering.add(position, *stated)
    check_ids(ids)
    return Bulk(ids, gathering.groups(), owners, templates, sources, dialects)


def bulk_from_arrow(table: TableLike, owner: str | None) -> Bulk:
    """The subscriptions of a table of constraints (``predicast.language.arrow_form``)."""
    from predicast.language.arrow_form import operands_from_arrow

    if owner is not None:
        check_id("owner", owner)
    array, groups = operands_from_arrow(table)
    check_arrow_ids(array)
    ids = array.to_pylist()
    owners: dict[int, str | None] = {}
    if owner is not None:
        owners = dict.fromkeys(range(len(ids)), owner)
    return Bulk(ids, groups, owners, {}, {}, {})
