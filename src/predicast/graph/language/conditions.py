"""SPARQL's filter expressions: comparisons, functions and the logic between them.

::

    condition   = conjunction { "||" conjunction }
    conjunction = relation { "&&" relation }
    relation    = primary [ ( = | != | < | <= | > | >= ) primary
                          | [NOT] IN "(" [ operand { "," operand } ] ")" ]
    primary     = "!" primary | "(" condition ")" | function "(" arguments ")" | operand
    operand     = variable | literal | IRI

A condition is kept with NOT in it until it is known which variables are bound where it is asked
(``groups.py``): a test of one that is not is unknown, whether it is negated or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from predicast.errors import InvalidConstraintError, ParseError, UnknownFunctionError, suggest
from predicast.graph.filters import (
    COMPARISONS,
    ORDERINGS,
    Comparison,
    Facet,
    FilterExpression,
    differs,
    equals,
    negated,
    tested,
    variables_of,
)
from predicast.graph.language.reader import TermReader
from predicast.graph.language.tokens import Token
from predicast.graph.terms import Iri, Literal, Variable
from predicast.language.where.position import error_at
from predicast.model import And, Leaf, Not, Operator, Or, Value
from predicast.model.expression import Node
from predicast.model.values import EPOCH, kind_of

_OPERATORS: Final = {operator.value: operator for operator in COMPARISONS}
_TEXT_TESTS: Final = {
    "STRSTARTS": Operator.PREFIX,
    "STRENDS": Operator.SUFFIX,
    "CONTAINS": Operator.CONTAINS,
}
_FACETS: Final = {"STR": Facet.STR, "LANG": Facet.LANGUAGE, "DATATYPE": Facet.DATATYPE}
_KINDS_OF_TERM: Final = ("ISIRI", "ISURI", "ISLITERAL", "ISBLANK", "ISNUMERIC")
_FUNCTIONS: Final = (
    *("BOUND", "REGEX", *_TEXT_TESTS, "LANGMATCHES", "SAMETERM", *_KINDS_OF_TERM, *_FACETS),
)
# What SPARQL has and a subscription does not; with what to write instead, if there is something.
_REFUSED: Final[dict[str, str]] = {
    **dict.fromkeys(("LCASE", "UCASE"), 'REGEX with the flag "i" ignores case'),
    **dict.fromkeys(("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"), ""),
    **dict.fromkeys(("IF", "COALESCE"), "combine tests with && and ||"),
    **dict.fromkeys(("EXISTS", "IRI", "URI", "BNODE", "STRDT", "STRLANG", "CONCAT", "REPLACE"), ""),
    **dict.fromkeys(("SUBSTR", "STRLEN", "STRBEFORE", "STRAFTER", "ENCODE_FOR_URI", "UUID"), ""),
    **dict.fromkeys(("STRUUID", "RAND", "ABS", "CEIL", "FLOOR", "ROUND", "NOW", "YEAR"), ""),
    **dict.fromkeys(("MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TIMEZONE", "TZ"), ""),
    **dict.fromkeys(("MD5", "SHA1", "SHA256", "SHA384", "SHA512"), ""),
}
_FLAGS: Final = frozenset("ism")


@dataclass(frozen=True, slots=True)
class Asked:
    """One test as it was written: what it says, what its opposite says, and where it stands."""

    held: FilterExpression
    opposite: FilterExpression
    variables: tuple[Variable, ...]
    start: int
    is_bound: bool = False  # BOUND(?x), which is never unknown


Condition: TypeAlias = Node[Asked]


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison: a facet of a variable, or a term with its value."""

    token: Token
    variable: Variable | None = None
    facet: Facet = Facet.VALUE
    term: Iri | Literal | None = None
    value: Value | None = None


class ConditionReader(TermReader):
    """Reads what stands behind FILTER."""

    def _constraint(self) -> Condition:
        """A condition in parentheses, or a call of a function."""
        if self._at("("):
            return self._as_condition(self._in_parentheses())
        if self._token.kind == "word":
            return self._as_condition(self._relation())
        self._fail(f"expected a condition in parentheses after FILTER, not {self._shown()}")

    def _condition(self) -> Condition:
        return self._as_condition(self._expression())

    def _expression(self) -> Condition | Operand:
        first = self._conjunction()
        if not self._at("||"):
            return first
        parts = [self._as_condition(first)]
        while self._take("||"):
            parts.append(self._as_condition(self._conjunction()))
        return Or(tuple(parts))

    def _conjunction(self) -> Condition | Operand:
        first = self._relation()
        if not self._at("&&"):
            return first
        parts = [self._as_condition(first)]
        while self._take("&&"):
            parts.append(self._as_condition(self._relation()))
        return And(tuple(parts))

    def _relation(self) -> Condition | Operand:
        left = self._primary()
        token = self._token
        if token.kind == "sign" and token.text in _OPERATORS:
            operator = _OPERATORS[self._advance().text]
            right = self._operand_of(self._primary(), token)
            return self._compared(self._operand_of(left, token), operator, right, token)
        is_negated = self._at_word("NOT") and self._peek(1).text.upper() == "IN"
        if is_negated:
            self._advance()
        if self._take_word("IN"):
            among = self._among(self._operand_of(left, token), token)
            return Not(among) if is_negated else among
        if token.kind == "sign" and token.text in {"+", "-", "*", "/"}:
            self._unsupported("arithmetic", "compare with the result instead", token)
        return left

    def _primary(self) -> Condition | Operand:
        token = self._token
        if self._take("!"):
            self._deeper()
            part = self._as_condition(self._primary())
            self._depth -= 1
            return Not(part)
        if self._at("("):
            return self._in_parentheses()
        if token.kind == "word" and not self._at_boolean():
            return self._call()
        return self._operand()

    def _in_parentheses(self) -> Condition | Operand:
        self._expect("(", "a parenthesis")
        self._deeper()
        inside = self._expression()
        self._expect(")", "a closing parenthesis")
        self._depth -= 1
        return inside

    def _operand(self) -> Operand:
        token = self._token
        if token.kind == "variable":
            self._advance()
            return Operand(token, Variable(token.text[1:]))
        if self._at_literal():
            literal = self._literal()
            return Operand(token, term=literal, value=self._value(literal, token))
        if self._at_iri():
            iri = self._iri()
            if self._at("("):
                self._unsupported(f"a call of {iri}", "compare values as they are", token)
            return Operand(token, term=iri)
        self._fail(f"expected a variable, a value or a function, not {self._shown()}")

    # From operands to conditions.

    def _operand_of(self, side: Condition | Operand, at: Token) -> Operand:
        if isinstance(side, Operand):
            return side
        self._fail("a condition is not compared with a value", at, "combine with && || !")

    def _as_condition(self, side: Condition | Operand) -> Condition:
        """An operand by itself: true unless it is false, zero or empty (SPARQL 17.2.2)."""
        if not isinstance(side, Operand):
            return side
        if side.variable is None:
            if isinstance(side.value, bool):
                return And(()) if side.value else Or(())
            self._fail("this is a value and no condition", side.token)
        if side.facet is not Facet.VALUE:
            self._fail("this is a text and no condition; compare it", side.token)
        truth = [(Operator.EQ, True), (Operator.NE, 0), (Operator.NE, "")]
        opposite = [(Operator.EQ, False), (Operator.EQ, 0), (Operator.EQ, "")]
        held, other = (
            Or(tuple([tested(side.variable, Facet.VALUE, *test) for test in tests]))
            for tests in (truth, opposite)
        )
        return Leaf(Asked(held, other, (side.variable,), side.token.start))

    def _compared(self, left: Operand, operator: Operator, right: Operand, at: Token) -> Condition:
        if left.variable is None:
            if right.variable is None:
                self._fail("this compares two values", at, "one side is a variable")
            left, right, operator = right, left, ORDERINGS.get(operator, operator)
        assert left.variable is not None
        if right.variable is not None:
            return self._compared_variables(left, operator, right, at)
        if left.facet is not Facet.VALUE:
            return self._compared_facet(left, operator, right, at)
        assert right.term is not None
        if operator is Operator.EQ:
            return self._equal(left.variable, right)
        if operator is Operator.NE:
            return Not(self._equal(left.variable, right))
        if right.value is None:
            self._fail(f"{right.term} has no place in an order", right.token)
        return self._test(left.variable, Facet.VALUE, operator, right.value, at)

    def _compared_variables(
        self, left: Operand, operator: Operator, right: Operand, at: Token
    ) -> Condition:
        assert left.variable is not None and right.variable is not None
        if (left.facet, right.facet) != (Facet.VALUE, Facet.VALUE):
            self._unsupported("a comparison of two computed texts", "compare ?x = ?y", at)
        return _asked(Leaf(Comparison(left.variable, operator, right.variable)), at)

    def _compared_facet(
        self, left: Operand, operator: Operator, right: Operand, at: Token
    ) -> Condition:
        assert left.variable is not None
        return self._test(left.variable, left.facet, operator, self._text_for(left, right), at)

    def _text_for(self, left: Operand, right: Operand) -> str:
        """The text that a facet is compared with."""
        if left.facet is Facet.DATATYPE:
            if not isinstance(right.term, Iri):
                self._fail("a datatype is compared with an IRI such as xsd:integer", right.token)
            return right.term.value
        if not isinstance(right.term, Literal) or not isinstance(right.value, str):
            self._fail("a text is compared with a string", right.token, 'write "..."')
        text = right.term.text
        return text.lower() if left.facet is Facet.LANGUAGE else text

    def _equal(self, variable: Variable, right: Operand) -> Condition:
        assert right.term is not None
        held = equals(variable, right.term, right.value)
        opposite = differs(variable, right.term, right.value)
        return Leaf(Asked(held, opposite, (variable,), right.token.start))

    def _among(self, left: Operand, at: Token) -> Condition:
        self._expect("(", "a list in parentheses after IN")
        members: list[Operand] = []
        while not self._at(")"):
            if members:
                self._expect(",", "a comma or a closing parenthesis")
            members.append(self._operand())
        self._expect(")", "a closing parenthesis")
        if left.variable is None:
            self._fail("what is looked for in a list is a variable", at)
        if left.facet is not Facet.VALUE:
            texts = [self._text_for(left, member) for member in members]
            return self._test(left.variable, left.facet, Operator.IN, tuple(texts), at)
        together = self._one_test(left.variable, members, at)
        if together is not None:
            return together
        return Or(tuple([self._compared(left, Operator.EQ, member, at) for member in members]))

    def _one_test(self, variable: Variable, members: list[Operand], at: Token) -> Condition | None:
        """Membership as a single test, if all members are values of one kind, or all are IRIs."""
        kinds = {None if member.value is None else kind_of(member.value) for member in members}
        if len(kinds) == 1 and None not in kinds:
            held = self._leaf(
                variable, Facet.VALUE, Operator.IN, tuple([each.value for each in members]), at
            )
            absent = tested(variable, Facet.LANGUAGE, Operator.ABSENT)
        elif members and all(isinstance(member.term, Iri) for member in members):
            names = tuple([each.term.value for each in members if isinstance(each.term, Iri)])
            held = self._leaf(variable, Facet.IRI, Operator.IN, names, at)
            absent = tested(variable, Facet.IRI, Operator.ABSENT)
        else:
            return None
        return Leaf(Asked(held, Or((absent, negated(held))), (variable,), at.start))

    # Functions.

    def _call(self) -> Condition | Operand:
        token = self._advance()
        name = token.text.upper()
        if name == "NOT" and self._at_word("EXISTS"):
            self._unsupported("NOT EXISTS", "a pattern says what there is", token)
        if name in _REFUSED:
            hint = _REFUSED[name] or f"functions are {', '.join(_FUNCTIONS)}"
            self._unsupported(f"{name}", hint, token)
        if name not in _FUNCTIONS:
            close = suggest(name, _FUNCTIONS)
            raise error_at(
                UnknownFunctionError,
                self._text,
                token.start,
                f"there is no function {token.text}",
                hint=f"did you mean {close}?" if close else f"there are {', '.join(_FUNCTIONS)}",
                name=token.text,
                suggestion=close,
            )
        arguments = self._arguments(name)
        if name in _FACETS:
            variable = self._variable(arguments, 0, token)
            self._expect_arguments(arguments, (1,), token)
            return Operand(token, variable, _FACETS[name])
        return self._called(name, arguments, token)

    def _arguments(self, name: str) -> list[Operand]:
        self._expect("(", f"a parenthesis after {name}")
        self._deeper()
        found: list[Operand] = []
        while not self._at(")"):
            if found:
                self._expect(",", "a comma or a closing parenthesis")
            at = self._token
            found.append(self._operand_of(self._primary(), at))
        self._expect(")", "a closing parenthesis")
        self._depth -= 1
        return found

    def _called(self, name: str, arguments: list[Operand], at: Token) -> Condition:
        if name in _TEXT_TESTS:
            self._expect_arguments(arguments, (2,), at)
            return self._text_test(arguments, _TEXT_TESTS[name], self._string(arguments, 1, at), at)
        if name == "REGEX":
            self._expect_arguments(arguments, (2, 3), at)
            return self._text_test(arguments, Operator.MATCHES, self._regex(arguments, at), at)
        if name == "LANGMATCHES":
            self._expect_arguments(arguments, (2,), at)
            return self._language_matches(arguments, at)
        if name == "SAMETERM":
            return self._same_term(arguments, at)
        self._expect_arguments(arguments, (1,), at)
        variable = self._variable(arguments, 0, at)
        if name == "BOUND":
            held: FilterExpression = tested(variable, Facet.TERM, Operator.EXISTS)
            return Leaf(Asked(held, negated(held), (variable,), at.start, is_bound=True))
        return self._kind_of_term(name, variable, at)

    def _kind_of_term(self, name: str, variable: Variable, at: Token) -> Condition:
        is_iri = tested(variable, Facet.IRI, Operator.EXISTS)
        is_literal = tested(variable, Facet.LANGUAGE, Operator.EXISTS)
        match name:
            case "ISLITERAL":
                return _asked(is_literal, at)
            case "ISBLANK":
                return _asked(And((negated(is_iri), negated(is_literal))), at)
            case "ISNUMERIC":
                return self._is_numeric(variable, at)
            case _:
                return _asked(is_iri, at)

    def _is_numeric(self, variable: Variable, at: Token) -> Condition:
        """Never unknown: what has a value of another kind, or none, is no number."""
        order = [(Operator.LE, 0), (Operator.GT, 0)]
        others = [
            (Operator.ABSENT, None),
            (Operator.PREFIX, ""),
            (Operator.IN, (True, False)),
            (Operator.LE, EPOCH),
            (Operator.GT, EPOCH),
        ]
        held, opposite = (
            Or(tuple([tested(variable, Facet.VALUE, *test) for test in tests]))
            for tests in (order, others)
        )
        return Leaf(Asked(held, opposite, (variable,), at.start))

    def _text_test(
        self, arguments: list[Operand], operator: Operator, operand: str, at: Token
    ) -> Condition:
        variable = self._variable(arguments, 0, at)
        facet = arguments[0].facet
        return self._test(
            variable, Facet.TEXT if facet is Facet.VALUE else facet, operator, operand, at
        )

    def _regex(self, arguments: list[Operand], at: Token) -> str:
        pattern = self._string(arguments, 1, at)
        flags = self._string(arguments, 2, at) if len(arguments) == 3 else ""
        for flag in flags:
            if flag not in _FLAGS:
                self._fail(f"there is no flag {flag!r}", arguments[2].token, "flags are i, s and m")
        return f"(?{''.join(sorted(set(flags)))}){pattern}" if flags else pattern

    def _language_matches(self, arguments: list[Operand], at: Token) -> Condition:
        if arguments[0].facet is not Facet.LANGUAGE:
            self._fail("LANGMATCHES is asked of LANG(?x)", arguments[0].token)
        variable, wanted = self._variable(arguments, 0, at), self._string(arguments, 1, at).lower()
        if wanted == "*":
            return self._test(variable, Facet.LANGUAGE, Operator.NE, "", at)
        same = tested(variable, Facet.LANGUAGE, Operator.EQ, wanted)
        below = tested(variable, Facet.LANGUAGE, Operator.PREFIX, f"{wanted}-")
        return _asked(Or((same, below)), at)

    def _same_term(self, arguments: list[Operand], at: Token) -> Condition:
        self._expect_arguments(arguments, (2,), at)
        term = arguments[1].term
        if term is None:
            self._unsupported("SAMETERM of two variables", "compare ?x = ?y", at)
        variable = self._variable(arguments, 0, at)
        return self._test(variable, Facet.TERM, Operator.EQ, str(term), at)

    def _variable(self, arguments: list[Operand], place: int, at: Token) -> Variable:
        if place >= len(arguments):
            self._fail(f"{at.text} lacks an argument", at)
        variable = arguments[place].variable
        if variable is None:
            self._fail(f"{at.text} is asked of a variable", arguments[place].token)
        return variable

    def _string(self, arguments: list[Operand], place: int, at: Token) -> str:
        term = arguments[place].term
        if not isinstance(term, Literal) or not isinstance(arguments[place].value, str):
            self._fail(f"{at.text} takes a string here", arguments[place].token, 'write "..."')
        return term.text

    def _expect_arguments(self, given: list[Operand], counts: tuple[int, ...], at: Token) -> None:
        if len(given) not in counts:
            wanted = " or ".join(map(str, counts))
            self._fail(f"{at.text} takes {wanted} arguments, not {len(given)}", at)

    # Tests.

    def _test(
        self, variable: Variable, facet: Facet, operator: Operator, operand: object, at: Token
    ) -> Condition:
        return _asked(self._leaf(variable, facet, operator, operand, at), at)

    def _leaf(
        self, variable: Variable, facet: Facet, operator: Operator, operand: object, at: Token
    ) -> FilterExpression:
        try:
            return tested(variable, facet, operator, operand)
        except InvalidConstraintError as error:
            raise error_at(ParseError, self._text, at.start, error.message) from None


def _asked(held: FilterExpression, at: Token) -> Leaf[Asked]:
    return Leaf(Asked(held, negated(held), variables_of(held), at.start))
