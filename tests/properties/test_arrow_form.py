"""Reading the Arrow form by columns gives what reading it row by row gives, errors included."""

import random
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predicast.errors import InvalidConstraintError, ModelError
from predicast.language.arrow_form import SCHEMA, operands_from_arrow
from predicast.model import Clause, Operator, Subscription
from predicast.model.decimals import ExactDecimal
from predicast.model.operators import ELEMENTS, JOINED, LIKE, PRESENCE, RANGE, REGEX, SET
from predicast.testing.strategies import clauses, floats, integers, regexes, strings, timestamps
from tests.differential.constraint_tables import has_rows
from tests.differential.constraint_tables import table_of as constraint_table
from tests.properties.arrow_tables import Plain, in_layouts
from tests.properties.arrow_twin import subscriptions_from_arrow

WORDS = [operator.value for operator in Operator if operator not in RANGE]
IN_JSON = {operator.value for operator in JOINED | ELEMENTS}
COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "int_value": st.integers(0, 2) | integers(),
    "float_value": st.sampled_from([0.0, -0.0, 1.0, 1.5]) | floats(),
    "string_value": st.sampled_from(["", "a", "b"]) | strings(),
    "bool_value": st.booleans(),
    "timestamp_value": timestamps(),
}


def read(table: pa.Table) -> dict[str, Subscription]:
    """By columns, put together again in order of appearance."""
    ids, groups = operands_from_arrow(table)
    found: dict[int, Subscription] = {}
    for positions, operands in groups:
        assert len(positions) == len(operands) > 0
        for position, each in zip(positions.tolist(), operands.subscriptions(), strict=True):
            assert position not in found
            found[position] = each
    return {id: found[position] for position, id in enumerate(ids.to_pylist())}


def outcome(reader: Any, table: pa.Table) -> Any:
    """What the reader gives, in order, or the error that it raises."""
    try:
        return list(reader(table).items())
    except ModelError as error:
        return type(error), str(error)


PARTS = st.sampled_from(
    [
        '[{"operator": "=", "value": 1}, {"operator": "=", "value": "a"}]',
        '[{"operator": "<", "value": 1}, {"operator": "<", "value": 2}]',
        '[{"operator": "like", "value": "a%"}, {"operator": "absent"}]',
    ]
)

WANTED = st.sampled_from(
    [
        '{"any": [{"all": [{"attribute": "element", "operator": "=", "value": 1}]}]}',
        '{"any": [{"all": [{"attribute": "element.a", "operator": "exists"}]}, {"all": []}]}',
        '{"any": [{"all": [{"attribute": "=lower(element)", "operator": "=", "value": "a"}]}]}',
        '{"any": []}',
    ]
)


@st.composite
def good_rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row that is right on its own."""
    row: dict[str, Any] = {
        "id": draw(st.sampled_from(["s1", "s2", "é", "s4"])),
        "clause": draw(st.sampled_from([0, 0, 0, 1, -7])),
    }
    if draw(st.integers(0, 19)) == 0:
        return row
    operator = Operator(draw(st.sampled_from([*WORDS, "=", "<", ">", "<", ">", "="])))
    row |= {"attribute": draw(st.sampled_from("xy")), "operator": operator.value}
    if operator in PRESENCE:
        return row
    if operator in JOINED:
        return row | {"string_value": draw(PARTS)}
    if operator in ELEMENTS:
        return row | {"string_value": draw(WANTED)}
    if operator in REGEX:
        return row | {"string_value": draw(regexes())}
    if operator in LIKE:
        return row | {"string_value": draw(st.sampled_from(["a%", "_b", "", "%"]))}
    names = {kind.value for kind in operator.kinds}
    column = draw(
        st.sampled_from(
            [
                *(["int_value", "int_value", "float_value"] if "number" in names else []),
                *(["string_value"] if "string" in names else []),
                *(["bool_value"] if "boolean" in names else []),
                *(["timestamp_value"] if "timestamp" in names else []),
            ]
        )
    )
    return row | {column: draw(COLUMNS[column])}


@st.composite
def any_rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row that may be wrong in several ways."""
    row = draw(good_rows().filter(lambda row: row.get("operator") not in IN_JSON))
    spoil = {
        "id": st.none(),
        "clause": st.none(),
        "attribute": st.sampled_from([None, ""]),
        "operator": st.sampled_from([None, "between", "==", ""]),
        "int_value": COLUMNS["int_value"],
        "float_value": st.sampled_from([float("nan"), float("inf"), 1.0, None]),
        "string_value": st.sampled_from(["(", "a", None]),
        "bool_value": st.booleans() | st.none(),
    }
    for column in draw(st.lists(st.sampled_from(sorted(spoil)), max_size=2)):
        row[column] = draw(spoil[column])
    return row


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(good_rows(), max_size=14), st.booleans())
def test_by_columns_as_by_rows(rows: list[dict[str, Any]], in_order: bool) -> None:
    if in_order:
        rows.sort(key=lambda row: (row["id"], row["clause"]))
    table = table_of(rows)
    by_rows = outcome(subscriptions_from_arrow, table)
    by_columns = outcome(read, table)
    assert by_columns == by_rows
    assert repr(by_columns) == repr(by_rows)  # 1 and 1.0 are equal


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(good_rows(), max_size=4), st.lists(any_rows(), min_size=1, max_size=4))
def test_the_same_error_for_the_same_row(
    good: list[dict[str, Any]], more: list[dict[str, Any]]
) -> None:
    table = table_of(good + more)
    by_rows = outcome(subscriptions_from_arrow, table)
    by_columns = outcome(read, table)
    if isinstance(by_rows, list):
        assert by_columns == by_rows
    else:
        assert isinstance(by_columns, tuple)
        if by_rows[1].startswith("row "):
            # A wrong member of a set, other than the first, has its row named only by columns.
            assert by_columns == by_rows or int(by_columns[1][4:].split(":")[0]) < int(
                by_rows[1][4:].split(":")[0]
            )


@given(st.lists(good_rows(), min_size=1, max_size=10), st.data())
def test_columns_of_other_types_and_layouts(
    rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    table = table_of(rows)
    right = outcome(subscriptions_from_arrow, table)
    text = st.sampled_from([pa.string(), pa.large_string(), pa.string_view()])
    types = {"clause": st.sampled_from([pa.int8(), pa.int64()])}
    for name in table.column_names:
        kind = data.draw(text if table[name].type == pa.string() else types.get(name, st.none()))
        plain = Plain(kind or table[name].type, st.none(), lambda raw: raw)
        column = data.draw(in_layouts(plain, table[name].to_pylist()))
        table = table.set_column(table.column_names.index(name), name, column)
    assert outcome(read, table) == right


def test_a_large_table_scattered_and_in_order() -> None:
    """More rows than one look at the suspects takes, and outlines of many kinds."""
    chance = random.Random(7)
    rows = []
    for number in range(3_000):
        for clause in range(chance.choice([1, 1, 1, 2])):
            for attribute in chance.sample("uvwxyz", chance.randrange(1, 4)):
                row = {"id": f"s{number}", "clause": clause, "attribute": attribute}
                kind = chance.randrange(5)
                if kind == 0:
                    row |= {"operator": "like", "string_value": chance.choice(["a%", "%b"])}
                elif kind == 1:
                    row |= {"operator": "in", "string_value": chance.choice("ab")}
                elif kind == 2:
                    row |= {"operator": ">", "float_value": chance.randrange(8) / 2}
                else:
                    row |= {"operator": "<", "int_value": chance.randrange(70_000)}
                rows.append(row)
    for _ in range(2):
        table = table_of(rows)
        assert list(read(table).items()) == list(subscriptions_from_arrow(table).items())
        chance.shuffle(rows)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_timestamps_of_every_unit(unit: str, zone: str | None) -> None:
    instant = datetime(2026, 1, 31, 12, 30, 5, tzinfo=UTC)
    row = {"id": "a", "clause": 0, "attribute": "t", "operator": "<", "timestamp_value": instant}
    table = table_of([row, row | {"id": "b", "operator": "in"}])
    column = table.column("timestamp_value").cast(pa.timestamp(unit, tz="UTC"))
    column = column.cast(pa.timestamp(unit, tz=zone)) if zone else column.cast(pa.timestamp(unit))
    table = table.drop_columns(["timestamp_value"]).append_column("timestamp_value", column)
    assert [each.operand for s in read(table).values() for each in s.constraints()] == [
        instant,
        (instant,),
    ]


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("timestamp_value", pa.array([0, 1], pa.timestamp("ns"))),
        ("timestamp_value", pa.array([0, 2**62], pa.timestamp("us"))),
        ("timestamp_value", pa.array([0, 2**40], pa.timestamp("s"))),
        ("timestamp_value", pa.array([0, -(2**40)], pa.timestamp("s"))),
        ("float_value", pa.array([1, float("-inf")], pa.float32())),
    ],
    ids=str,
)
def test_values_that_no_constraint_takes_are_refused_by_row(name: str, column: pa.Array) -> None:
    row = {"clause": 0, "attribute": "t", "operator": "<"}
    table = table_of([{"id": "a", **row}, {"id": "b", **row}])
    table = table.set_column(table.column_names.index(name), name, column)
    with pytest.raises(InvalidConstraintError, match="row 1"):
        operands_from_arrow(table)


@pytest.mark.parametrize(
    ("name", "column", "operands"),
    [
        ("int_value", pa.array([5, 255], pa.uint8()), [5, 255]),
        ("int_value", pa.array([5, 2**63 - 1], pa.uint64()), [5, 2**63 - 1]),
        ("int_value", pa.array([2**63, 2**64 - 1], pa.uint64()),
         [2.0**63, ExactDecimal(2**64 - 1)]),
        ("float_value", pa.array([Decimal("1.10"), Decimal("2.00")]), [1.1, 2]),
        ("float_value", pa.array([Decimal("0.12345678901234567890"), Decimal("1.5")]),
         [ExactDecimal("0.1234567890123456789"), 1.5]),
        ("int_value", pa.array([1.5, 2.0]), [1.5, 2]),
        ("float_value", pa.array([1, 2]), [1, 2]),
        ("float_value", pa.array([0.5, 2.0**63], pa.float64()), [0.5, 2.0**63]),
        ("float_value", pa.array([0.5, -(2.0**63)], pa.float32()), [0.5, -(2**63)]),
        ("float_value", pa.array([0.5, 1], pa.float16()), [0.5, 1]),
        ("timestamp_value", pa.array([0, 1], pa.date32()),
         [datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 2, tzinfo=UTC)]),
    ],
    ids=str,
)  # fmt: skip
def test_a_column_is_what_its_type_says(name: str, column: pa.Array, operands: list[Any]) -> None:
    row = {"clause": 0, "attribute": "t", "operator": "<"}
    table = table_of([{"id": "a", **row}, {"id": "b", **row}])
    table = table.set_column(table.column_names.index(name), name, column)
    found = [each.operand for s in read(table).values() for each in s.constraints()]
    assert found == operands
    assert [type(each) for each in found] == [type(each) for each in operands]
    assert list(read(table).items()) == list(subscriptions_from_arrow(table).items())


def test_equal_strings_are_one_object() -> None:
    row = {"clause": 0, "attribute": "t", "operator": "=", "string_value": "the same"}
    [(_, operands)] = operands_from_arrow(
        table_of([{"id": str(n), **row} for n in range(50)])
    ).groups
    assert len({id(value) for value in operands.columns[0]}) == 1


def test_integers_are_narrow() -> None:
    row = {"clause": 0, "attribute": "t", "operator": "="}
    for most, width in [(255, 1), (65_535, 2), (65_536, 4), (2**40, 8)]:
        rows = [{"id": str(n), **row, "int_value": n and most} for n in range(3)]
        [(_, operands)] = operands_from_arrow(table_of(rows)).groups
        assert operands.columns[0].dtype.itemsize == width


def test_a_great_many_names_and_long_clauses() -> None:
    """More slots than a table of all of them would hold, and more rows than one number packs."""
    names = [
        {"id": f"s{n}", "clause": 0, "attribute": f"a{n}", "operator": "=", "int_value": n}
        for n in range(3_000)
    ]
    chance = random.Random(11)
    for number in range(30):
        for attribute in range(40):
            operator = chance.choice(["<", ">"]) if number % 3 == 0 and attribute < 4 else "<"
            row = {"id": f"long{number}", "clause": attribute // 20, "attribute": f"b{attribute}"}
            names.append(row | {"operator": operator, "int_value": number})
    table = table_of(names)
    assert list(read(table).items()) == list(subscriptions_from_arrow(table).items())


def test_sets_whose_members_are_side_by_side_apart_or_mixed() -> None:
    """Only the first of them is read by columns, and all mean the same."""
    common = {"clause": 0, "attribute": "x", "operator": "in"}
    other = {"clause": 0, "attribute": "y", "operator": "=", "int_value": 1}
    members = [common | {"int_value": n} for n in (3, 1, 3)]
    mixed = [
        common | {"int_value": 3},
        common | {"float_value": 1.0},
        common | {"float_value": 3.5},
    ]
    for rows in (
        [*members, other],
        [other, *members],
        [members[0], other, *members[1:]],
        [*mixed, other],
        [*members, *(row | {"operator": "not in"} for row in members)],
        [*members, *(row | {"clause": 1} for row in members)],
        [members[0], members[0] | {"clause": 1}, members[1]],
    ):
        table = table_of([{"id": id, **row} for id in "abc" for row in rows])
        assert list(read(table).items()) == list(subscriptions_from_arrow(table).items())


def test_a_table_without_rows() -> None:
    ids, groups = operands_from_arrow(table_of([]))
    assert (len(ids), groups) == (0, [])
    [batch] = table_of([{"id": "a", "clause": 0}]).to_batches()
    assert list(read(batch)) == ["a"]


def test_the_members_of_a_set_are_of_one_kind() -> None:
    row = {"id": "a", "clause": 0, "attribute": "x", "operator": "in"}
    with pytest.raises(InvalidConstraintError, match="one kind"):
        operands_from_arrow(table_of([row | {"int_value": 1}, row | {"string_value": "1"}]))
    with pytest.raises(InvalidConstraintError, match="row 1"):
        operands_from_arrow(table_of([row | {"int_value": 1}, row | {"float_value": float("nan")}]))


@given(st.lists(clauses(), min_size=1, max_size=3).map(lambda some: Subscription(tuple(some))))
def test_any_all_and_rests_are_read_as_they_were(subscription: Subscription) -> None:
    # A set in several rows, and between, are the only things with another form than their own.
    plain = [
        Clause(
            tuple(dict.fromkeys(c for c in clause if c.operator not in SET | RANGE)), clause.rest
        )
        for clause in subscription.clauses
    ]
    stated = Subscription(tuple(plain))
    if has_rows(stated):
        assert read(constraint_table({"s": stated})) == {"s": stated}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"attribute": "x", "operator": "any", "string_value": "no"}, "'any' in string_value: not"),
        ({"attribute": "x", "operator": "all", "int_value": 5}, "written as JSON, in string_value"),
        ({"attribute": "x", "operator": "any", "string_value": "[]"}, "takes constraints"),
        ({"operator": "rest", "string_value": '{"any": []}'}, "at least one part"),
        ({"operator": "rest"}, "written as JSON, in string_value"),
        ({"attribute": "x", "operator": "rest"}, "no operator 'rest'"),
    ],
)
def test_what_is_wrong_with_parts_is_said_with_the_row(row: dict[str, Any], message: str) -> None:
    good = {"id": "s", "clause": 0, "attribute": "x", "operator": "exists"}
    table = table_of([good, {"id": "s", "clause": 0, **row}])
    with pytest.raises(InvalidConstraintError, match=message) as caught:
        read(table)
    assert caught.value.row == 1
    assert "row 1" in str(caught.value)


def test_any_of_equalities_is_no_part_of_a_set_beside_it() -> None:
    parts = '[{"operator": "=", "value": 1}, {"operator": "=", "value": 2}]'
    row = {"id": "s", "clause": 0, "attribute": "x"}
    members = [row | {"operator": "in", "int_value": value} for value in (2, 3)]
    table = table_of([*members, row | {"operator": "any", "string_value": parts}])
    (clause,) = read(table)["s"].clauses
    assert [each.operand for each in clause] == [(2, 3), (1, 2)]


def test_a_clause_has_one_rest() -> None:
    rest = '{"any": [{"attribute": "x", "operator": "exists"}]}'
    row = {"id": "s", "clause": 0, "operator": "rest", "string_value": rest}
    assert read(table_of([row]))["s"].clauses[0].rest is not None
    with pytest.raises(InvalidConstraintError, match="row 1: a clause has one rest"):
        read(table_of([row, row]))
