"""The ``where`` dialect: SQL as in a Spark ``WHERE``, from text to a template.

The tokens are sqlglot's, in its Spark dialect, so that quoting, comments and keywords are
Spark's. The grammar on top of them is small and our own (decision 0002): linear time, no
recursion, and every error knows its place.

::

    condition  = conjunction { OR conjunction }
    conjunction= term { AND term }
    term       = { NOT } ( "(" condition ")" | test )
    test       = name ( = | == | != | <> | < | <= | > | >= ) literal      or the other way round
               | name [NOT] BETWEEN literal AND literal
               | name [NOT] IN "(" literal { "," literal } ")"
               | name [NOT] LIKE string [ESCAPE string] | name [NOT] RLIKE string
               | name IS [NOT] NULL
               | function "(" name "," string ")"
               | name                                   a boolean attribute
               | TRUE | FALSE
    literal    = number | string | TRUE | FALSE | timestamp | ":" parameter
    string     = quoted text | ":" parameter

A parameter is a value to come. It is read only where the caller has values for it, and refused
with its place otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NoReturn

from sqlglot.tokenizer_core import Token, TokenType

from predicast.errors import NestingTooDeepError, ParseError, UnknownFunctionError, suggest
from predicast.language.where.mistakes import CALLS, FUNCTIONS_ELSEWHERE
from predicast.language.where.operands import (
    FUNCTIONS,
    PRESENCE_FUNCTIONS,
    STRING_FUNCTIONS,
    OperandReader,
)
from predicast.language.where.position import error_at
from predicast.language.where.shape import ConstraintTemplate, Literal
from predicast.language.where.tokens import END
from predicast.model import And, Kind, Leaf, Not, Operator, Or
from predicast.model.expression import Node

MAX_NESTING: Final = 64

_COMPARISONS: Final = {
    TokenType.EQ: Operator.EQ,
    TokenType.NEQ: Operator.NE,
    TokenType.LT: Operator.LT,
    TokenType.LTE: Operator.LE,
    TokenType.GT: Operator.GT,
    TokenType.GTE: Operator.GE,
}
_MIRRORED: Final = {
    Operator.LT: Operator.GT,
    Operator.LE: Operator.GE,
    Operator.GT: Operator.LT,
    Operator.GE: Operator.LE,
}
_WORDS: Final = ("AND", "OR", "BETWEEN", "LIKE", "RLIKE", "IN", "IS")


@dataclass(slots=True)
class _Group:
    """An open parenthesis, or the whole text: alternatives, each a list of terms."""

    start: int
    negated: bool = False
    alternatives: list[list[Node[ConstraintTemplate]]] = field(default_factory=lambda: [[]])

    def node(self) -> Node[ConstraintTemplate]:
        conjunctions = [
            terms[0] if len(terms) == 1 else And(tuple(terms)) for terms in self.alternatives
        ]
        node = conjunctions[0] if len(conjunctions) == 1 else Or(tuple(conjunctions))
        return Not(node) if self.negated else node


def parse(text: str, *, parameters: bool = False) -> Node[ConstraintTemplate]:
    """The text as a template, or a ``ParseError`` that points at what is wrong."""
    return _Parser(text, parameters=parameters).condition()


class _Parser(OperandReader):
    """One pass over the tokens, with one token of look-ahead."""

    # The boolean skeleton: a stack of groups instead of recursion.

    def condition(self) -> Node[ConstraintTemplate]:
        groups = [_Group(0)]
        self._refuse_leading_word()
        while True:
            negated = self._negation(len(groups) - 1)
            if self._take(TokenType.L_PAREN):
                groups.append(_Group(self._previous.start, negated))
                self._check_nesting(len(groups) - 1)
                continue
            test = self._test()
            groups[-1].alternatives[-1].append(Not(test) if negated else test)
            while self._take(TokenType.R_PAREN):
                if len(groups) == 1:
                    self._fail("this parenthesis was never opened", self._previous)
                closed = groups.pop()
                groups[-1].alternatives[-1].append(closed.node())
            if self._take(TokenType.AND):
                continue
            if self._take(TokenType.OR):
                groups[-1].alternatives.append([])
                continue
            if self._token is not END:
                self._unexpected_after_test()
            if len(groups) > 1:
                raise error_at(
                    ParseError, self._text, groups[-1].start, "this parenthesis is never closed"
                )
            return groups[0].node()

    def _negation(self, open_groups: int) -> bool:
        """Consume a run of NOTs; say whether it is of odd length."""
        nots = 0
        while self._take(TokenType.NOT):
            nots += 1
            self._check_nesting(open_groups + nots)
        return nots % 2 == 1

    def _check_nesting(self, nesting: int) -> None:
        if nesting > MAX_NESTING:
            raise NestingTooDeepError(
                f"parentheses and NOTs nest deeper than {MAX_NESTING}",
                limit=MAX_NESTING,
                actual=nesting,
            )

    # One test.

    def _test(self) -> Node[ConstraintTemplate]:
        token = self._token
        if token.token_type in {TokenType.TRUE, TokenType.FALSE}:
            return self._constant()
        if self._at_literal():
            return self._mirrored_comparison()
        if self._is_comparison(token):
            self._fail(
                f"expected a condition, not {token.text!r}",
                hint="name the attribute each time: x > 5 AND x < 10",
            )
        if not self._at_name():
            self._fail_at_operand("a condition")
        if (
            self._peek(1).token_type is TokenType.L_PAREN
            and token.token_type is not TokenType.IDENTIFIER
        ):
            return Leaf(self._call())
        name = self._name()
        if self._token.token_type in _COMPARISONS:
            operator = _COMPARISONS[self._advance().token_type]
            return Leaf(
                self._constraint(name, operator, token, self._literal(f"after {operator.value}"))
            )
        negated = self._take(TokenType.NOT)
        node = self._worded_test(name, token)
        if node is not None:
            return Not(node) if negated else node
        self._refuse_known_continuation()
        if negated:
            hint = "write x IS NOT NULL" if self._token.token_type is TokenType.NULL else None
            if self._is_comparison(self._token):
                hint = "write x != 5, or NOT x < 5"
            self._fail("expected IN, BETWEEN, LIKE or RLIKE after NOT", hint=hint)
        # A boolean attribute by itself: x is x = TRUE, so that NOT x is x != TRUE.
        truth = Literal(token.start, token.start, lambda _: True, Kind.BOOLEAN)
        return Leaf(ConstraintTemplate(name, Operator.EQ, (truth,), token.start))

    def _worded_test(self, name: str, at: Token) -> Node[ConstraintTemplate] | None:
        if self._take(TokenType.BETWEEN):
            lo = self._literal("after BETWEEN", ordered=True)
            both = "AND between the two ends of BETWEEN"
            self._expect(TokenType.AND, both, "write x BETWEEN 1 AND 5")
            hi = self._literal("after AND, the upper end of BETWEEN", ordered=True)
            return Leaf(self._constraint(name, Operator.BETWEEN, at, lo, hi))
        if self._take(TokenType.IN):
            return Leaf(self._constraint(name, Operator.IN, at, *self._literals()))
        if self._take(TokenType.LIKE):
            parts = [self._string_or_parameter("after LIKE")]
            if self._take(TokenType.ESCAPE):
                parts.append(self._string_or_parameter("after ESCAPE"))
            return Leaf(self._constraint(name, Operator.LIKE, at, *parts))
        if self._take(TokenType.RLIKE):
            pattern = self._string_or_parameter("after RLIKE")
            return Leaf(self._constraint(name, Operator.MATCHES, at, pattern))
        if self._take(TokenType.IS):
            operator = Operator.EXISTS if self._take(TokenType.NOT) else Operator.ABSENT
            if not self._take(TokenType.NULL):
                self._fail("expected NULL or NOT NULL after IS", hint=self._instead_of_is())
            return Leaf(ConstraintTemplate(name, operator, (), at.start))
        return None

    def _constant(self) -> Node[ConstraintTemplate]:
        token = self._advance()
        if self._token.token_type in _COMPARISONS:
            self._position -= 1
            return self._mirrored_comparison()
        return And(()) if token.token_type is TokenType.TRUE else Or(())

    def _mirrored_comparison(self) -> Node[ConstraintTemplate]:
        at = self._token
        literal = self._literal("")
        if self._token.token_type not in _COMPARISONS:
            self._refuse_known_continuation()
            self._fail("expected a comparison after the value", hint=self._instead_of_value(at))
        operator = _COMPARISONS[self._advance().token_type]
        if self._at_literal():
            self._fail("this compares two values", hint=self._instead_of_value(at))
        if not self._at_name():
            self._fail_at_operand("an attribute")
        return Leaf(self._constraint(self._name(), _MIRRORED.get(operator, operator), at, literal))

    def _call(self) -> ConstraintTemplate:
        at = self._advance()
        function = at.text.lower()
        self._advance()
        if function in PRESENCE_FUNCTIONS:
            name = self._argument_name(function)
            self._expect(TokenType.R_PAREN, f"the closing parenthesis of {function}")
            return ConstraintTemplate(name, PRESENCE_FUNCTIONS[function], (), at.start)
        if function not in STRING_FUNCTIONS:
            self._refuse_function(at)
        name = self._argument_name(function)
        self._expect(TokenType.COMMA, f"a comma between the arguments of {function}")
        literal = self._string_or_parameter(f"as the second argument of {function}")
        self._expect(TokenType.R_PAREN, f"the closing parenthesis of {function}")
        return self._constraint(name, STRING_FUNCTIONS[function], at, literal)

    def _refuse_function(self, at: Token) -> NoReturn:
        function, close = at.text.lower(), None
        if function in CALLS:
            message, hint = CALLS[function]
        else:
            close = FUNCTIONS_ELSEWHERE.get(function) or suggest(function, FUNCTIONS)
            message = f"there is no function {at.text!r}"
            hint = f"did you mean {close}?" if close else f"known: {', '.join(FUNCTIONS)}"
        raise error_at(
            UnknownFunctionError,
            self._text,
            at.start,
            message,
            hint=hint,
            name=at.text,
            suggestion=close,
        )

    def _argument_name(self, function: str) -> str:
        if not self._at_name():
            self._fail(
                f"expected an attribute as the first argument of {function}",
                hint=f"write {function}(x, 'part')",
            )
        return self._name()

    def _constraint(
        self, name: str, operator: Operator, at: Token, *literals: Literal
    ) -> ConstraintTemplate:
        kinds = {literal.kind for literal in literals if literal.kind is not None}
        if len(kinds) > 1:
            mixed = " and ".join(sorted(kind.value for kind in kinds))
            self._fail(f"the values of {operator.value} are of one kind, not {mixed}", at)
        if not kinds <= operator.kinds:
            self._fail(
                f"{operator.value} does not order booleans", at, hint="write x = TRUE or x = FALSE"
            )
        return ConstraintTemplate(name, operator, literals, at.start)

    def _instead_of_is(self) -> str:
        token = self._token
        if token.text.upper() in {"NONE", "NIL", "EMPTY", "MISSING", "UNKNOWN"}:
            return "write x IS NULL"
        if token.token_type is TokenType.DISTINCT:
            return "write x = 5, or x != 5 OR x IS NULL for what differs or is absent"
        if self._at_literal() and token.token_type not in {TokenType.TRUE, TokenType.FALSE}:
            return "write x = 5"
        return "write x = TRUE to test a boolean"

    def _instead_of_value(self, value: Token) -> str:
        """What may have been meant by a value that no attribute is compared with."""
        if value.token_type is TokenType.STRING and self._text[value.start] == '"':
            return "double quotes make a string; a name stands in back-quotes: `order`"
        if value.token_type is TokenType.STRING and self._position < 3:
            return "a name stands without quotes, or in back-quotes: `order`"
        if self._position > 1 and self._token.token_type in {
            END.token_type,
            TokenType.AND,
            TokenType.OR,
        }:
            return "name the attribute again: x = 1 OR x = 2; or write x IN (1, 2)"
        return "one side names an attribute, as in price < 10; TRUE matches every event"

    def _unexpected_after_test(self) -> NoReturn:
        token = self._token
        self._refuse_behind_test()
        close = suggest(token.text, _WORDS) if token.text.upper() not in _WORDS else None
        hint = "write AND or OR between two tests; a name with spaces stands in back-quotes: `a b`"
        self._fail(
            f"expected AND, OR or the end, not {token.text!r}",
            hint=f"did you mean {close}?" if close else hint,
        )
