"""Texts with parameters on random input: the same as literals, whatever the values."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.errors import (
    InvalidParameterError,
    MissingParameterError,
    ParameterError,
    PredicastError,
)
from predicast.language import has_parameters, parametric, parse_where, to_where
from predicast.language.where import printer
from predicast.model import And, Constraint, Expression, Leaf, LikePattern, Not, Or, Subscription
from predicast.model.constraint import canonical_value, trusted_constraint
from predicast.model.normal_form import expression_of_clauses
from predicast.model.operators import LIKE, PRESENCE, RANGE, REGEX, SET, Operator
from predicast.model.outline import Stated
from predicast.model.values import kind_of, quote, show
from predicast.testing import strategies as some

ESCAPES = st.just("!")
Role = st.SearchStrategy[Any]


@dataclass
class Written:
    """A text twice, with literals and with parameters, and what the parameters may be."""

    draw: st.DrawFn
    values: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, Role] = field(default_factory=dict)
    literals: str = ""
    parameters: str = ""

    def constraint(self, constraint: Constraint) -> tuple[str, str]:
        """Printed with marks in place of values, which then become literals and parameters."""
        if constraint.operator in PRESENCE:
            return to_where(constraint), to_where(constraint)
        if isinstance(constraint.operand, Subscription):
            return self.of_elements(constraint, constraint.operand)
        values, role = values_of(constraint)
        marks = [f"@{number}@" for number in range(len(values))]
        marked = trusted_constraint(
            constraint.attribute, constraint.operator, operand_of(constraint, marks), None
        )
        literals = parameters = to_where(marked)
        for number, (mark, value) in enumerate(zip(marks, values, strict=True)):
            literals = literals.replace(quote(mark), show(value))
            parameters = parameters.replace(quote(mark), self.operand(value, role(number)))
        return literals, parameters

    def of_elements(self, constraint: Constraint, wanted: Subscription) -> tuple[str, str]:
        """What elements are to match, with literals and parameters of its own."""
        inside = texts(self, expression_of_clauses(wanted))
        negation = "NOT " if constraint.operator is Operator.NOT_HAS else ""
        literals, parameters = (
            f"{negation}exists({printer.name(constraint.attribute)}, element -> {each})"
            for each in inside
        )
        return literals, parameters

    def operand(self, value: Any, role: Role) -> str:
        if self.draw(st.integers(0, 3)) == 0:
            return show(value)
        for name, known in self.values.items():
            same = type(known) is type(value) and known == value and self.roles[name] is role
            if same and self.draw(st.booleans()):
                return f":{name}"
        name = f"p{len(self.values)}"
        self.values[name], self.roles[name] = value, role
        return f":{name}"


ROLES = {kind: some.values(kind) for kind in {k for each in Operator for k in each.kinds}}
PATTERNS = some.like_patterns().map(lambda each: each.pattern)
REGEXES = some.regexes()


def values_of(constraint: Constraint) -> tuple[list[Any], Callable[[int], Role]]:
    """The values that the text of a constraint shows, and what each of them may become."""
    operand: Any = constraint.operand
    if isinstance(operand, LikePattern):
        return [operand.pattern, operand.escape], lambda number: [PATTERNS, ESCAPES][number]
    if constraint.operator in REGEX:
        return [operand], lambda _: REGEXES
    assert constraint.kind is not None
    role = ROLES[constraint.kind]
    return list(operand) if isinstance(operand, tuple) else [operand], lambda _: role


def operand_of(constraint: Constraint, marks: list[str]) -> Any:
    if constraint.operator in LIKE:
        return LikePattern(*marks)
    return tuple(marks) if constraint.operator in SET | RANGE else marks[0]


def texts(written: Written, node: Expression) -> tuple[str, str]:
    if isinstance(node, Leaf):
        parts = tuple(Leaf(part) for part in node.constraint.parts)
        if parts:
            is_any = node.constraint.operator is Operator.ANY
            return texts(written, Or(parts) if is_any else And(parts))
        return written.constraint(node.constraint)
    if isinstance(node, Not):
        literals, parameters = texts(written, node.part)
        return f"NOT ({literals})", f"NOT ({parameters})"
    if not node.parts:
        return ("TRUE", "TRUE") if isinstance(node, And) else ("FALSE", "FALSE")
    glue = " AND " if isinstance(node, And) else " OR "
    pairs = [texts(written, part) for part in node.parts]
    literals, parameters = (
        glue.join(f"({each})" for each in side) for side in zip(*pairs, strict=True)
    )
    return literals, parameters


@st.composite
def written(draw: st.DrawFn) -> Written:
    made = Written(draw)
    made.literals, made.parameters = texts(made, draw(some.expressions()))
    return made


def merged(filled: Stated) -> Subscription:
    return Subscription.of(filled.outline.subscription(filled.operands).clauses)


def types_in(subscription: Subscription) -> list[Any]:
    operands = [constraint.operand for constraint in subscription.constraints()]
    return [list(map(type, each)) if isinstance(each, tuple) else type(each) for each in operands]


@given(written())
def test_parameters_mean_what_literals_mean(text: Written) -> None:
    read = parse_where(text.literals)
    filled = merged(parametric(text.parameters).fill(text.values))
    assert filled == read
    assert types_in(filled) == types_in(read)


@given(written())
def test_names_are_those_of_the_text(text: Written) -> None:
    assert sorted(parametric(text.parameters).names) == sorted(text.values)
    assert has_parameters(text.parameters) is bool(text.values)
    assert not has_parameters(text.literals)


@given(written(), st.data())
def test_changed_values_go_to_their_places_and_leave_the_outline(
    text: Written, data: st.DataObject
) -> None:
    statement = parametric(text.parameters)
    before = statement.fill(text.values)
    changes = {
        name: data.draw(text.roles[name]) for name in text.values if data.draw(st.booleans())
    }
    # Neighbours in a set or BETWEEN are of one kind, and so are the old value and the new one.
    after = statement.fill({**text.values, **changes})
    if all(same_type(text.values[name], value) for name, value in changes.items()):
        assert after.outline == before.outline
    places = statement.places()
    written_at = statement.changed(before.outline, changes)
    if written_at is None:
        assert any(
            not places[name] or not same_type(text.values[name], value)
            for name, value in changes.items()
        )
        return
    operands = list(before.operands)
    for name, value in changes.items():
        for place in places[name] or ():
            operands[place] = canonical_value("a", Operator.EQ, value)
            assert written_at.pop(place) == operands[place]
    assert written_at == {}
    assert tuple(operands) == after.operands
    assert before.outline.subscription(operands) == after.outline.subscription(after.operands)


def same_type(one: Any, other: Any) -> bool:
    left, right = (canonical_value("a", Operator.EQ, each) for each in (one, other))
    return type(left) is type(right)


@given(written(), st.data())
def test_kinds_that_the_text_rules_out_are_refused(text: Written, data: st.DataObject) -> None:
    statement = parametric(text.parameters)
    for name, kinds in statement.kinds().items():
        assert kind_of(text.values[name]) in kinds
        value = data.draw(some.values())
        if kind_of(value) not in kinds:
            with pytest.raises(InvalidParameterError) as caught:
                statement.fill({**text.values, name: value})
            assert caught.value.name == name
            assert caught.value.column is not None


FRAGMENTS = st.sampled_from(
    [
        "a", "b.c", "`:x y`", "=", "<>", "<", "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "RLIKE",
        "ESCAPE", "IS", "NULL", "TRUE", "FALSE", "(", ")", ",", ".", "1", "-", "1.5", "1e999",
        "10L", "'s'", "':p'", r"'\':p'", "r':p\\'", '":p"', "TIMESTAMP", "DATE", "'2026-01-31'",
        "startswith(a,", "to_date(", "--", "/*", "*/", "{#", "#}", "\n", "::", ":=", "?", ":p",
        ":q", ":_1", ":", ":1", ":and", ":timestamp", ":é", ":order by", "show", "\\", "'", "`",
    ]
)  # fmt: skip
TESTS = st.sampled_from(
    [
        "a = :p", ":q < a", "a BETWEEN :p AND :q", "a BETWEEN 1 AND :p", "a IN (:p, 'x', :q)",
        "a LIKE :p", "a LIKE :p ESCAPE :q", "a LIKE '%' ESCAPE :p", "a RLIKE :p", "b", "b IS NULL",
        "startswith(a, :p)", "contains(b, :q)", "a RLIKE '('", "a = 1e999", "FALSE", "a IN (1, 2)",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=50),
    st.lists(FRAGMENTS, max_size=20).map(" ".join),
    st.lists(FRAGMENTS, max_size=20).map("".join),
    st.lists(TESTS, min_size=1, max_size=4).map(" AND ".join),
    st.lists(TESTS, min_size=1, max_size=4).map(lambda tests: f"NOT ({' OR '.join(tests)})"),
)
ANYTHING = st.one_of(
    some.values(),
    st.sampled_from([None, float("nan"), float("inf"), 2**63, [1], (), {}, object(), b"x"]),
    st.sampled_from(["(", "%", "\\", "!x", "ab", "\ud800"]),
)
NAMES = st.sampled_from(["p", "q", "_1", "and", "timestamp", "P", ""])


@given(TEXTS, st.dictionaries(NAMES, ANYTHING, max_size=4))
def test_whatever_is_given_it_is_filled_or_refused(text: str, values: dict[str, Any]) -> None:
    try:
        statement = parametric(text)
    except PredicastError as error:
        check(error)
        return
    everything = dict.fromkeys(statement.names, "x") | values
    chosen = {name: everything[name] for name in statement.names}
    for some_values in (values, chosen):
        try:
            filled = statement.fill(some_values)
        except ParameterError as error:
            check(error)
        else:
            assert len(filled.operands) == len(filled.outline.places)
            assert statement.changed(filled.outline, {}) == {}


def check(refusal: PredicastError) -> None:
    assert refusal.message, "a refusal says what is wrong"
    if isinstance(refusal, InvalidParameterError | MissingParameterError):
        assert refusal.column is not None, "and where"


@given(TEXTS)
def test_without_values_a_text_is_read_as_ever_or_asks_for_them(text: str) -> None:
    try:
        statement = parametric(text)
    except PredicastError:
        return
    assert has_parameters(text) or not statement.names
    if statement.names:
        with pytest.raises(MissingParameterError) as caught:
            parse_where(text)
        assert caught.value.names == statement.names
    else:
        assert merged(statement.fill({})) == parse_where(text)
