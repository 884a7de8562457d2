"""Where the operands of a text with parameters come from, and what its tests refuse.

All the values of a filling stand in one list, and an operand is known by its position in it::

    x IN (:a, 3) AND y < 10 AND z < :b

    [5, 20,         3, 10,        (3, 5)]
     a  b           constants     made of the others: sets, patterns, what any and all join

Constants are checked once, with the errors of any other text. Parameters are checked test by
test, in the order of the text, and only when something is wrong or the types are new: what a test
refuses, apart from patterns, depends on nothing but the types of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from predicast.errors import (
    InvalidParameterError,
    ModelError,
    ParseError,
    UnknownClassError,
    shortened,
)
from predicast.language.class_tests import class_members
from predicast.language.where.cache import filled
from predicast.language.where.position import error_at, unknown_class_at
from predicast.language.where.shape import ConstraintTemplate, Literal, estimate
from predicast.model import Constraint, Kind, LikePattern, Operator, Value
from predicast.model.constraint import canonical_like, canonical_value, check_regex, sorted_set
from predicast.model.expression import leaves_of
from predicast.model.operators import ELEMENTS, JOINED, LIKE, REGEX, SET
from predicast.model.outline import OPERAND_TYPES, OperandType, Slot, joined_operand, slot_types
from predicast.model.values import SCALARS, kind_of

# Operators whose operand is made of the values.
_WHOLE: Final = SET | LIKE | REGEX | JOINED | ELEMENTS

_CLASS_NAMES: Final = frozenset({Kind.STRING})

_Maker: TypeAlias = Callable[[list[Any]], Any]


def is_open(test: ConstraintTemplate) -> bool:
    """Whether the test has a parameter, or another meaning in another ontology."""
    return test.depends_on_classes() or any(literal.parameter for literal in test.literals)


class Filling:
    """Where each operand of a text stands in the list of values, and what the tests refuse.

    ``tests`` are those that were written, in the order of the text; ``stated`` are those of the
    clauses, some of them negated or joined.
    """

    def __init__(
        self, text: str, tests: list[ConstraintTemplate], stated: Sequence[ConstraintTemplate]
    ) -> None:
        self._text = text
        self.cost = estimate(text, tests)  # for caches
        plain = [each for test in tests for each in _plain_tests(test)]
        self._tests = [test for test in plain if is_open(test)]
        parameters = [each for test in self._tests for each in test.literals if each.parameter]
        self.starts: dict[str, int] = {}
        for literal in parameters:
            assert literal.parameter is not None
            self.starts.setdefault(literal.parameter, literal.start)
        self.names = tuple(self.starts)
        self.kinds = self._kinds()
        self.constants: list[Any] = []
        self.makers: list[_Maker] = []
        self.used_in_made: set[int] = set()
        self._positions: dict[int, int] = {}  # of a literal
        self._wholes: dict[ConstraintTemplate, int] = {}  # of the operand that its literals make
        number_of = {name: number for number, name in enumerate(self.names)}
        for literal in parameters:
            assert literal.parameter is not None
            self._positions[literal.start] = number_of[literal.parameter]
        for test in tests:
            for each in _plain_tests(test) if is_open(test) else (test,):
                self._add_constants(each)
        made = [test for test in dict.fromkeys(stated) if test.operator in _WHOLE]
        for test in made:
            if not is_open(test):
                operand = _operand_of(test.operator, filled(test, text))
                self._wholes[test] = self._add_constant(operand)
        for test in made:
            if is_open(test):
                self._add_maker(test)

    def positions(self, test: ConstraintTemplate) -> list[int]:
        """Where the operands of a test, or of its negation, stand in the list of values."""
        if test.operator in _WHOLE:
            return [self._wholes[test]]
        return [self._positions[literal.start] for literal in test.literals]

    def slot(self, test: ConstraintTemplate, laid_out: list[Any]) -> Slot:
        """The slot of a test, or of its negation, for values that were checked."""
        operands = [laid_out[position] for position in self.positions(test)]
        # Sets and patterns have no type of their own, and none is asked for.
        types = [OPERAND_TYPES.get(type(operand), OperandType.OBJECT) for operand in operands]
        return Slot(test.attribute, test.operator, slot_types(test.operator, types))

    def check(self, given: Sequence[Any]) -> None:
        """Refuse the first value, in the order of the text, that cannot stand where it does."""
        laid_out = [*given, *self.constants]
        for test in self._tests:
            values = {each: self._value(each, test, laid_out) for each in test.literals}
            try:
                test.fill(values.__getitem__)
            except (ModelError, UnknownClassError) as error:
                blamed, hint = _blamed(values)
                if blamed.parameter is None:
                    assert isinstance(error, UnknownClassError)
                    raise unknown_class_at(self._text, blamed.start, error) from error
                raise self._refused(blamed, test, laid_out, error, hint) from error

    def _value(self, literal: Literal, test: ConstraintTemplate, laid_out: list[Any]) -> Value:
        """The value of a literal in canonical form, of a kind that the operator takes."""
        value = laid_out[self._positions[literal.start]]
        try:
            return canonical_value(test.attribute, test.operator, value)
        except ModelError as error:
            assert literal.parameter is not None
            taken = " or ".join(sorted(kind.value for kind in self.kinds[literal.parameter]))
            hint = f"it takes a {taken}" if taken else "no value suits all the places it stands at"
            raise self._refused(literal, test, laid_out, error, hint) from error

    def _refused(
        self,
        literal: Literal,
        test: ConstraintTemplate,
        laid_out: list[Any],
        error: ModelError | UnknownClassError,
        hint: str | None,
    ) -> InvalidParameterError:
        name, value = literal.parameter, laid_out[self._positions[literal.start]]
        shown = shortened(value)
        return error_at(
            InvalidParameterError,
            self._text,
            literal.start,
            f"the parameter :{name} cannot be {shown} here: {error.message}",
            hint=hint,
            name=name,
            attribute=test.attribute,
            operator=test.operator.value,
            value=value,
        )

    def _kinds(self) -> dict[str, frozenset[Kind]]:
        kinds = dict.fromkeys(self.names, SCALARS)
        for test in self._tests:
            beside = {literal.kind for literal in test.literals if literal.kind is not None}
            taken = _CLASS_NAMES if test.names_class else test.operator.kinds
            allowed = taken & beside if beside else taken
            for literal in test.literals:
                if literal.parameter is not None:
                    kinds[literal.parameter] &= allowed
        return kinds

    def _add_constants(self, test: ConstraintTemplate) -> None:
        """Lay out what the text itself says, with the checks and errors of any other text."""
        fixed = [literal for literal in test.literals if literal.parameter is None]
        if not is_open(test):
            filled(test, self._text)
        for literal in fixed:
            value = self._constant(literal, test)
            self._positions[literal.start] = self._add_constant(value)

    def _constant(self, literal: Literal, test: ConstraintTemplate) -> Value:
        try:
            value = literal.convert(self._text[literal.start : literal.end])
            if test.operator in LIKE and literal in test.literals[1:]:
                # The escape of a pattern to come: refuse it now, and not the pattern for it.
                canonical_like(test.attribute, test.operator, LikePattern("", str(value)))
        except ModelError as error:
            raise error_at(ParseError, self._text, literal.start, error.message) from error
        return value

    def _add_constant(self, value: Any) -> int:
        self.constants.append(value)
        return len(self.names) + len(self.constants) - 1

    def _add_maker(self, test: ConstraintTemplate) -> None:
        positions = [self._positions[literal.start] for literal in test.literals]
        self.used_in_made.update(p for p in positions if p < len(self.names))
        self._wholes[test] = len(self.names) + len(self.constants) + len(self.makers)
        self.makers.append(self._joiner(test) if test.parts else _maker(test, positions))

    def _joiner(self, test: ConstraintTemplate) -> _Maker:
        """A function from the values to what any or all join."""
        places = self._positions
        return lambda values: _operand_of(
            test.operator, test.fill(lambda literal: values[places[literal.start]])
        )


def _operand_of(operator: Operator, constraint: Constraint) -> Any:
    return joined_operand(operator, constraint) if operator in JOINED else constraint.operand


def _plain_tests(test: ConstraintTemplate) -> Iterator[ConstraintTemplate]:
    """The test itself, or those of the elements that it is about."""
    if test.element is None:
        yield test
        return
    for each in leaves_of(test.element):
        yield from _plain_tests(each)


def _maker(test: ConstraintTemplate, positions: list[int]) -> _Maker:
    """A function from the values to the operand of a test whose kinds were checked."""
    attribute, operator = test.attribute, test.operator
    if test.element is not None:
        starts = [literal.start for literal in test.literals]
        places = dict(zip(starts, positions, strict=True))
        return lambda values: test.fill(lambda literal: values[places[literal.start]]).operand
    if test.names_class:
        return lambda values: sorted_set([*class_members(values[positions[0]])])
    if operator in SET:
        return lambda values: sorted_set([values[position] for position in positions])
    if operator in LIKE:
        return lambda values: canonical_like(
            attribute, operator, LikePattern(*[values[position] for position in positions])
        )
    [only] = positions

    def regular_expression(values: list[Any]) -> Any:
        check_regex(attribute, operator, values[only])
        return values[only]

    return regular_expression


def _blamed(values: dict[Literal, Value]) -> tuple[Literal, str | None]:
    """The parameter at fault: the first of another kind than its neighbours, or else the last.

    Beside a constant it is the constant's kind that counts, beside parameters that of the first.
    """
    kinds = {literal: kind_of(value) for literal, value in values.items()}
    parameters = [literal for literal in kinds if literal.parameter]
    if not parameters:  # a class, which the text names itself
        return next(iter(kinds)), None
    expected = next((each.kind for each in kinds if each.kind), kinds[parameters[0]])
    for literal in parameters:
        if kinds[literal] is not expected:
            return literal, f"it takes a {expected.value}, as the values beside it are"
    return parameters[-1], None
