"""Tests of lists: ``exists``, ``forall``, ``array_contains``, ``arrays_overlap``.

::

    test     = ( exists | forall ) "(" name "," variable "->" condition ")"
             | array_contains "(" name "," literal ")"
             | arrays_overlap "(" name "," array "(" literal { "," literal } ")" ")"

The condition behind the arrow is about one element, and names nothing else: the variable is the
element, and what stands behind it and a dot is a field of it. Whatever it was called, the element
is ``element`` from here on (``predicast.model.elements``). A condition may hold such a test of a
list that is inside the element, a few times.
"""

from __future__ import annotations

from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from predicast.derived import Each, Input, Tree
from predicast.errors import NestingTooDeepError
from predicast.language.where.constraints import ConstraintReader, literal_operand
from predicast.language.where.mistakes import AT_VALUE
from predicast.language.where.operands import LIST_FUNCTIONS
from predicast.language.where.printer import DERIVED
from predicast.language.where.scalar_text import name_of
from predicast.language.where.scalars import Operand
from predicast.language.where.shape import ConstraintTemplate
from predicast.language.where.truth import Plain, Written, plain
from predicast.model import Leaf, Not, Operator
from predicast.model.constraint import MAX_LISTS
from predicast.model.elements import ELEMENT, FIELDS
from predicast.model.expression import leaves_of
from predicast.model.normal_form import normalised


class ListReader(ConstraintReader):
    """Reads tests of lists; the parser reads the conditions in them."""

    def __init__(self, text: str, *, parameters: bool = False) -> None:
        super().__init__(text, parameters=parameters)
        self._variables: list[str] = []  # of the conditions on elements that are open

    def _at_list_test(self) -> bool:
        is_word = self._token.token_type is not TokenType.STRING
        return is_word and self._at_call() and self._token.text.lower() in LIST_FUNCTIONS

    def _list_test(self) -> Written:
        at = self._advance()
        function = at.text.lower()
        opening = self._advance()
        if self._token.token_type is TokenType.SELECT:
            self._refuse(AT_VALUE["EXISTS"], at)
        if function == "arrays_overlap" and self._at_array():
            of_values = self._array(at)
            self._expect(TokenType.COMMA, "a comma and a list", LIST_FUNCTIONS[function])
            test = self._has(self._list(function), Leaf(of_values), at)
        else:
            attribute = self._list(function)
            self._expect(
                TokenType.COMMA,
                f"a comma between the arguments of {function}",
                LIST_FUNCTIONS[function],
            )
            condition = self._of_element(function, at, opening)
            test = self._has(attribute, Not(condition) if function == "forall" else condition, at)
        self._expect(TokenType.R_PAREN, f"the closing parenthesis of {function}")
        return Not(Leaf(test)) if function == "forall" else Leaf(test)

    def _of_element(self, function: str, at: Token, opening: Token) -> Plain:
        """What an element is to match."""
        if function == "array_contains":
            value = self._element_value("a value to look for")
            return Leaf(self._constraint(_THE_ELEMENT, Operator.EQ, at, value))
        if function == "arrays_overlap":
            return Leaf(self._array(at))
        return self._behind_arrow(function, opening)

    def _list(self, function: str) -> str:
        """The attribute that a test of a list is about."""
        token = self._token
        if not self._at_name() or self._at_literal() or self._at_call():
            self._fail(
                f"expected an attribute as the first argument of {function}",
                token,
                hint=LIST_FUNCTIONS[function],
            )
        return self._name()

    def _at_array(self) -> bool:
        return self._at_call() and self._token.text.lower() == "array"

    def _array(self, at: Token) -> ConstraintTemplate:
        """One of the values in ``array(...)``."""
        hint = LIST_FUNCTIONS["arrays_overlap"]
        if not self._at_array():
            self._fail("expected array(...) with the values to look for", hint=hint)
        self._position += 2
        values = [self._element_value("a value in the array")]
        while self._take(TokenType.COMMA):
            values.append(self._element_value("a value in the array"))
        self._expect(TokenType.R_PAREN, "a comma or the closing parenthesis of array", hint)
        return self._constraint(_THE_ELEMENT, Operator.IN, at, *values)

    def _element_value(self, what: str) -> Operand:
        if not self._at_literal():
            self._fail(
                f"expected {what}, not {self._token.text!r}",
                hint="the values are constants or parameters; "
                "write exists(tags, t -> ...) for any other condition",
            )
        return literal_operand(self._literal(what))

    # The condition on an element.

    def _behind_arrow(self, function: str, opening: Token) -> Plain:
        in_parentheses = self._take(TokenType.L_PAREN)
        variable = self._token
        if not self._at_name() or self._at_call():
            self._fail("expected a name for the element", hint=LIST_FUNCTIONS[function])
        self._advance()
        if in_parentheses:
            self._expect(TokenType.R_PAREN, "one name for the element", LIST_FUNCTIONS[function])
        self._expect(TokenType.ARROW, "-> behind the element's name", LIST_FUNCTIONS[function])
        self._variables.append(variable.text)
        if len(self._variables) > MAX_LISTS:
            raise NestingTooDeepError(
                f"exists and forall stand inside one another more than {MAX_LISTS} times",
                limit=MAX_LISTS,
                actual=len(self._variables),
            )
        condition = plain(self._condition(TokenType.R_PAREN))
        self._variables.pop()
        if self._token.token_type is not TokenType.R_PAREN:
            self._fail("this parenthesis is never closed", opening)
        return condition

    def _name(self) -> str:
        token = self._token
        written = super()._name()
        return self._resolved(written, token) if self._variables else written

    def _resolved(self, written: str, at: Token) -> str:
        """What a name inside a condition on an element stands for."""
        variable = self._variables[-1]
        if written == variable:
            return ELEMENT
        if written.startswith(f"{variable}."):
            return FIELDS + written.removeprefix(f"{variable}.")
        head = written.split(".", maxsplit=1)[0]
        what = "an element of another list" if head in self._variables else "an attribute"
        self._unsupported(
            f"{written} is {what}; this condition is about the element {variable} alone",
            f"write {variable} or {variable}.{written}; what is said of the event itself stands "
            "outside, with AND",
            at,
        )

    def _has(self, attribute: str, condition: Plain, at: Token) -> ConstraintTemplate:
        """The test that some element of an attribute matches."""
        tests = [*leaves_of(condition)]
        computed = {
            test.attribute: self._trees[test.attribute]
            for test in tests
            if test.attribute.startswith(DERIVED)
        }
        if computed:  # OR TRUE leaves nothing of what stands beside it
            left = {test.attribute for clause in normalised(condition) for test in clause.leaves()}
            computed = {name: tree for name, tree in computed.items() if name in left}
        return ConstraintTemplate(
            self._attribute(list_tree(attribute, computed)),
            Operator.HAS,
            tuple([literal for test in tests for literal in test.literals]),
            at.start,
            tuple([span for test in tests for span in test.fixed]),
            size=1 + sum([test.size for test in tests]),
            element=condition,
        )

    def _each(self) -> Tree:
        """The name of a list with what is computed from its elements, as ``text_of`` writes it."""
        self._position += 2
        attribute = self._name()
        computed: dict[str, Tree] = {}
        while self._take(TokenType.COMMA):
            tree = self._each() if self._at_each() else self._scalar("a value")
            computed[name_of(tree)] = tree
        self._expect(TokenType.R_PAREN, "the closing parenthesis of elements")
        return list_tree(attribute, computed)

    def _at_each(self) -> bool:
        return self._at_call() and self._token.text == "elements"


def list_tree(attribute: str, computed: dict[str, Tree]) -> Tree:
    """A list, with what is computed from its elements by name."""
    return Each(attribute, tuple(sorted(computed.items()))) if computed else Input(attribute)


_THE_ELEMENT: Final = Operand(Input(ELEMENT), None, 0)
