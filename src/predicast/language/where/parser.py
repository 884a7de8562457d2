"""The ``where`` dialect: SQL as in a Spark ``WHERE``, from text to a template.

The tokens are sqlglot's, in its Spark dialect, so that quoting, comments and keywords are
Spark's. The grammar on top of them is small and our own (decision 0002): linear time, no
recursion, and every error knows its place.

::

    text       = [WHERE] condition
    condition  = conjunction { OR conjunction }
    conjunction= term { AND term }
    term       = { NOT } ( "(" condition ")" [ IS [NOT] truth ] | test )
    test       = comparison [ IS [NOT] truth ]
               | scalar [NOT] BETWEEN scalar AND scalar
               | scalar [NOT] IN "(" scalar { "," scalar } ")"
               | scalar [NOT] ( LIKE | ILIKE ) string [ESCAPE string]
               | scalar [NOT] ( LIKE | ILIKE ) ( ANY | SOME | ALL ) "(" string { "," string } ")"
               | scalar [NOT] RLIKE string
               | scalar IS [NOT] truth
               | scalar IS [NOT] DISTINCT FROM ( scalar | NULL )
               | scalar IS [NOT] A string                a class of an ontology, or one below it
               | function "(" scalar "," string ")"
               | a test of a list: ``lists.py``
               | scalar                                 a boolean
               | TRUE | FALSE
    comparison = scalar ( = | == | != | <> | < | <= | > | >= ) scalar
               | scalar <=> ( scalar | NULL )
    truth      = NULL | UNKNOWN | TRUE | FALSE
    scalar     = name | literal | an expression over attributes: ``scalars.py``
    literal    = number | string | TRUE | FALSE | timestamp | ":" parameter
    string     = quoted text | ":" parameter

A parameter is a value to come. It is read only where the caller has values for it, and refused
with its place otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from sqlglot.tokenizer_core import Token, TokenType

from predicast.derived import Tree
from predicast.errors import NestingTooDeepError, ParseError, suggest
from predicast.language.where.constraints import literal_operand
from predicast.language.where.lists import ListReader
from predicast.language.where.operands import PRESENCE_FUNCTIONS, STRING_FUNCTIONS
from predicast.language.where.position import error_at
from predicast.language.where.scalars import Operand
from predicast.language.where.shape import ConstraintTemplate, Literal
from predicast.language.where.tokens import END
from predicast.language.where.truth import Plain, Written, is_true, is_unknown, plain
from predicast.model import And, Constraint, Kind, Leaf, Not, Operator, Or
from predicast.model.elements import ELEMENT

MAX_NESTING: Final = 64
_MAX_UNKNOWN: Final = 4  # inside one another: each says twice what it is about

_COMPARISONS: Final = {
    TokenType.EQ: Operator.EQ,
    TokenType.NEQ: Operator.NE,
    TokenType.LT: Operator.LT,
    TokenType.LTE: Operator.LE,
    TokenType.GT: Operator.GT,
    TokenType.GTE: Operator.GE,
}
_NULL_SAFE: Final = TokenType.NULLSAFE_EQ
_NAMES_ONE: Final = "one side names an attribute"
_MIRRORED: Final = {
    Operator.LT: Operator.GT,
    Operator.LE: Operator.GE,
    Operator.GT: Operator.LT,
    Operator.GE: Operator.LE,
}
_TESTS: Final = frozenset({*STRING_FUNCTIONS, *PRESENCE_FUNCTIONS})
_WORDS: Final = ("AND", "OR", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "IN", "IS")
_IS: Final = "NULL, TRUE, FALSE or UNKNOWN after IS"


@dataclass(slots=True)
class Group:
    """An open parenthesis, or the whole text: alternatives, each a list of terms."""

    start: int
    negated: bool = False
    unknowns: int = 0  # how many IS UNKNOWN of conditions stand inside one another in it
    alternatives: list[list[Written]] = field(default_factory=lambda: [[]])

    def node(self) -> Written:
        conjunctions = [
            terms[0] if len(terms) == 1 else And(tuple(terms)) for terms in self.alternatives
        ]
        return conjunctions[0] if len(conjunctions) == 1 else Or(tuple(conjunctions))


def parse(text: str, *, parameters: bool = False) -> Plain:
    """The text as a template, or a ``ParseError`` that points at what is wrong."""
    return Parser(text, parameters=parameters).condition()


def parse_scalar(text: str) -> Tree:
    """An expression over attributes, or a ``ParseError`` that points at what is wrong."""
    return Parser(text).scalar()


class Parser(ListReader):
    """One pass over the tokens, with one token of look-ahead."""

    # The boolean skeleton: a stack of groups instead of recursion.

    def condition(self) -> Plain:
        self._skip_leading_word()
        return plain(self._condition(END.token_type))

    def scalar(self) -> Tree:
        """The whole text as an expression."""
        tree = self._each() if self._at_each() else self._scalar("an expression")
        if self._token is not END:
            self._refuse_known_continuation()
            self._fail(f"expected an operator or the end, not {self._token.text!r}")
        return tree

    def _condition(self, end: TokenType) -> Written:
        groups = [Group(0)]
        while True:
            negated = self._negation(len(groups) - 1)
            at_group = self._token.token_type is TokenType.L_PAREN
            if at_group and not self._at_parenthesised_value():
                self._advance()
                groups.append(Group(self._previous.start, negated))
                self._check_nesting(len(groups) - 1)
                continue
            test = self._test()
            groups[-1].alternatives[-1].append(Not(test) if negated else test)
            while (len(groups) > 1 or end is not TokenType.R_PAREN) and self._take(
                TokenType.R_PAREN
            ):
                if len(groups) == 1:
                    self._fail("this parenthesis was never opened", self._previous)
                self._close_group(groups)
            if self._take(TokenType.AND):
                continue
            if self._take(TokenType.OR):
                groups[-1].alternatives.append([])
                continue
            if self._token.token_type is not end and self._token is not END:
                self._unexpected_after_test()
            if len(groups) > 1:
                raise error_at(
                    ParseError, self._text, groups[-1].start, "this parenthesis is never closed"
                )
            return groups[0].node()

    def _close_group(self, groups: list[Group]) -> None:
        """Make a term of what stood in parentheses, and of the IS behind them."""
        closed = groups.pop()
        node = closed.node()
        if self._token.token_type is TokenType.IS:
            node = self._is_truth(node, closed)
        groups[-1].unknowns = max(groups[-1].unknowns, closed.unknowns)
        groups[-1].alternatives[-1].append(Not(node) if closed.negated else node)

    def _is_truth(self, node: Written, group: Group | None = None) -> Written:
        """IS and what follows, about a whole condition."""
        self._advance()
        negated = self._take(TokenType.NOT)
        word = self._token
        if self._take(TokenType.TRUE):
            found = is_true(node)
        elif self._take(TokenType.FALSE):
            found = is_true(Not(node))
        elif self._take_unknown():
            if group is not None and not isinstance(node, Leaf):
                group.unknowns += 1
                self._check_unknowns(group.unknowns)
            found = is_unknown(node)
        else:
            self._fail(f"expected {_IS}", word, hint="write (x > 5 OR y) IS TRUE")
        return Not(found) if negated else found

    def _check_unknowns(self, unknowns: int) -> None:
        if unknowns > _MAX_UNKNOWN:
            raise NestingTooDeepError(
                f"IS UNKNOWN stands inside IS UNKNOWN more than {_MAX_UNKNOWN} times",
                limit=_MAX_UNKNOWN,
                actual=unknowns,
            )

    def _take_unknown(self) -> bool:
        is_unknown = self._token.token_type in {TokenType.NULL, TokenType.UNKNOWN}
        if is_unknown:
            self._advance()
        return is_unknown

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

    def _test(self) -> Written:
        token = self._token
        if token.token_type in {TokenType.TRUE, TokenType.FALSE}:
            return self._constant()
        if self._is_comparison(token):
            self._fail(
                f"expected a condition, not {token.text!r}",
                hint="name the attribute each time: x > 5 AND x < 10",
            )
        if self._at_list_test() or self._at_called_test():
            return self._called_test()
        if token.token_type is TokenType.NULL and self._peek(1).token_type is _NULL_SAFE:
            return self._behind_comparison(self._null_first())
        left = self._operand("a condition", first=True)
        if left.literal is not None:
            if left.fixed and left.literal.kind is Kind.BOOLEAN and not self._is_compared():
                constant: Written = And(()) if left.literal.convert("") else Or(())
                return self._behind_comparison(constant)
            return self._mirrored_comparison(left, token)
        if self._token.token_type is _NULL_SAFE:
            self._advance()
            return self._behind_comparison(self._same(left, token, "<=>"))
        if self._token.token_type in _COMPARISONS:
            operator = _COMPARISONS[self._advance().token_type]
            right = self._operand(f"a value after {operator.value}")
            return self._behind_comparison(self._comparison(left, operator, right, token))
        negated = self._take(TokenType.NOT)
        if self._token.token_type in {TokenType.LIKE, TokenType.ILIKE}:
            return self._like(left, token, negated=negated)
        node = self._worded_test(left, token)
        if node is not None:
            return Not(node) if negated else node
        self._refuse_known_continuation()
        if negated:
            hint = "write x IS NOT NULL" if self._token.token_type is TokenType.NULL else None
            if self._is_comparison(self._token):
                hint = "write x != 5, or NOT x < 5"
            self._fail("expected IN, BETWEEN, LIKE, ILIKE or RLIKE after NOT", hint=hint)
        # A boolean attribute by itself: x is x = TRUE, so that NOT x is x != TRUE.
        return Leaf(self._truth(left, token.start))

    def _at_called_test(self) -> bool:
        return self._at_call() and self._token.text.lower() in _TESTS and self._at_name()

    def _called_test(self) -> Written:
        if self._at_list_test():
            return self._behind_comparison(self._list_test())
        return Leaf(self._call())

    def _is_compared(self) -> bool:
        kind = self._token.token_type
        return kind in _COMPARISONS or kind is _NULL_SAFE or self._at_distinct()

    def _at_distinct(self) -> bool:
        behind_is = 2 if self._peek(1).token_type is TokenType.NOT else 1
        is_distinct = self._peek(behind_is).token_type is TokenType.DISTINCT
        return self._token.token_type is TokenType.IS and is_distinct

    def _behind_comparison(self, node: Written) -> Written:
        """IS binds less tightly than a comparison: x = 5 IS TRUE is about the whole of it."""
        return self._is_truth(node) if self._token.token_type is TokenType.IS else node

    def _comparison(self, left: Operand, operator: Operator, right: Operand, at: Token) -> Written:
        """A constraint if one side is a literal; otherwise what the comparison gives is tested."""
        if right.literal is not None:
            return Leaf(self._constraint(left, operator, at, right))
        if left.literal is not None:
            return Leaf(self._constraint(right, _MIRRORED.get(operator, operator), at, left))
        assert left.tree is not None and right.tree is not None
        sides = [(left.tree, left.start), (right.tree, right.start)]
        function = {Operator.NE: "="}.get(operator, operator.value)
        if function in {">", ">="}:
            function, sides = function.replace(">", "<"), sides[::-1]
        tree = self._called(function, sides, left.start)
        fixed = (*left.fixed, *right.fixed)
        test: Written = Leaf(self._truth(Operand(tree, None, left.start, fixed), left.start))
        return Not(test) if operator is Operator.NE else test

    def _compared(self, operator: str, left: tuple[Tree, int], right: tuple[Tree, int]) -> Written:
        sides = (self._as_operand(*left), self._as_operand(*right))
        if sides[0].literal is not None and sides[1].literal is not None:
            self._fail("this compares two values", hint="one side names an attribute")
        return self._comparison(sides[0], Operator(operator), sides[1], self._previous)

    def _worded_test(self, left: Operand, at: Token) -> Written | None:
        if self._take(TokenType.BETWEEN):
            return self._between(left, at)
        if self._take(TokenType.IN):
            return self._among(left, at)
        if self._take(TokenType.RLIKE):
            pattern = literal_operand(self._string_or_parameter("after RLIKE"))
            return Leaf(self._constraint(left, Operator.MATCHES, at, pattern))
        if self._take(TokenType.IS):
            return self._is(left, at)
        return None

    def _is(self, left: Operand, at: Token) -> Written:
        negated = self._take(TokenType.NOT)
        word = self._token
        if self._take(TokenType.DISTINCT):
            self._expect(TokenType.FROM, "FROM after DISTINCT", "write x IS DISTINCT FROM 5")
            same = self._same(left, at, "DISTINCT FROM")
            return same if negated else Not(same)
        if self._at_class_test():
            class_test = self._class_test(left, at)
            return Not(class_test) if negated else class_test
        if word.token_type in {TokenType.TRUE, TokenType.FALSE}:
            literal = literal_operand(self._literal(""))
            truth = is_true(Leaf(self._constraint(left, Operator.EQ, at, literal)))
            return Not(truth) if negated else truth
        if not self._take_unknown():
            self._fail(f"expected {_IS}", hint=self._instead_of_is())
        return Leaf(self._constraint(left, Operator.EXISTS if negated else Operator.ABSENT, at))

    # Equality that is never unknown.

    def _same(self, left: Operand, at: Token, sign: str) -> Written:
        """Equal to what follows, or both absent."""
        if self._take(TokenType.NULL):
            if left.tree is None:
                self._fail("this compares two values", at, hint=_NAMES_ONE)
            return Leaf(self._constraint(left, Operator.ABSENT, at))
        begin = self._position
        right = self._operand(f"a value after {sign}")
        if left.tree is not None and right.tree is not None:
            return self._same_trees(left, right)
        if left.tree is None and right.tree is None:
            self._position = begin
            self._fail("this compares two values", hint=_NAMES_ONE)
        return is_true(self._comparison(left, Operator.EQ, right, at))

    def _same_trees(self, left: Operand, right: Operand) -> Written:
        assert left.tree is not None and right.tree is not None
        sides = [(left.tree, left.start), (right.tree, right.start)]
        tree = self._called("<=>", sides, left.start)
        fixed = (*left.fixed, *right.fixed)
        return Leaf(self._truth(Operand(tree, None, left.start, fixed), left.start))

    def _null_first(self) -> Written:
        at = self._advance()
        self._advance()
        right = self._operand("a value after <=>")
        if right.tree is None:
            self._fail("this compares two values", at, hint=_NAMES_ONE)
        return Leaf(self._constraint(right, Operator.ABSENT, at))

    def _between(self, left: Operand, at: Token) -> Written:
        lo = self._end("a value after BETWEEN")
        both = "AND between the two ends of BETWEEN"
        self._expect(TokenType.AND, both, "write x BETWEEN 1 AND 5")
        hi = self._end("a value after AND, the upper end of BETWEEN")
        if lo.literal is not None and hi.literal is not None:
            return Leaf(self._constraint(left, Operator.BETWEEN, at, lo, hi))
        ends = ((Operator.GE, lo), (Operator.LE, hi))
        return And(tuple(self._comparison(left, operator, end, at) for operator, end in ends))

    def _end(self, what: str) -> Operand:
        if self._token.token_type in {TokenType.TRUE, TokenType.FALSE}:
            self._fail_at_operand(what)
        return self._operand(what)

    def _among(self, left: Operand, at: Token) -> Written:
        members = self._members()
        literals = [member for member in members if member.literal is not None]
        parts: list[Written] = []
        if literals:
            parts.append(Leaf(self._constraint(left, Operator.IN, at, *literals)))
        parts += [
            self._comparison(left, Operator.EQ, member, at)
            for member in members
            if member.literal is None
        ]
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _members(self) -> list[Operand]:
        if self._token.token_type is TokenType.COLON:
            self._fail(
                "expected a parenthesis after IN",
                hint="a parameter is one value; list several: x IN (:first, :second)",
            )
        self._expect(TokenType.L_PAREN, "a parenthesis after IN", "list the values: x IN (1, 2)")
        if self._token.token_type is TokenType.R_PAREN:
            self._fail("expected a value in the list of IN, which is empty")
        found = [self._operand("a value in the list of IN")]
        while self._take(TokenType.COMMA):
            found.append(self._operand("a value in the list of IN"))
        self._expect(TokenType.R_PAREN, "a comma or the closing parenthesis of IN")
        return found

    def _constant(self) -> Written:
        token = self._advance()
        if self._is_compared():
            self._position -= 1
            return self._mirrored_comparison(self._operand("", first=True), token)
        constant: Written = And(()) if token.token_type is TokenType.TRUE else Or(())
        return self._behind_comparison(constant)

    def _mirrored_comparison(self, left: Operand, at: Token) -> Written:
        if self._take(_NULL_SAFE):
            return self._behind_comparison(self._same(left, at, "<=>"))
        if self._at_distinct():
            self._advance()
            return self._is(left, at)
        if self._token.token_type not in _COMPARISONS:
            self._refuse_known_continuation()
            self._fail("expected a comparison after the value", hint=self._instead_of_value(at))
        operator = _COMPARISONS[self._advance().token_type]
        begin = self._position
        right = self._operand("an attribute")
        if right.literal is None:
            return self._behind_comparison(self._comparison(left, operator, right, at))
        numbers = [self._number_of(side.literal) for side in (left, right)]
        if None in numbers:
            self._position = begin
            self._fail("this compares two values", hint=self._instead_of_value(at))
        # 1 = 1, as programs write that put conditions together. What they are about is no matter.
        holds = Constraint(ELEMENT, operator, numbers[1]).holds(numbers[0])
        return self._behind_comparison(And(()) if holds else Or(()))

    def _number_of(self, literal: Literal | None) -> Any:
        """The number that a literal is, if it is one; a string was perhaps meant to be a name."""
        if literal is None or literal.kind is not Kind.NUMBER:
            return None
        return literal.convert(self._text[literal.start : literal.end])

    def _call(self) -> ConstraintTemplate:
        at = self._advance()
        function = at.text.lower()
        self._advance()
        argument = self._argument(function)
        if function in PRESENCE_FUNCTIONS:
            self._expect(TokenType.R_PAREN, f"the closing parenthesis of {function}")
            return self._constraint(argument, PRESENCE_FUNCTIONS[function], at)
        self._expect(TokenType.COMMA, f"a comma between the arguments of {function}")
        literal = self._string_or_parameter(f"as the second argument of {function}")
        self._expect(TokenType.R_PAREN, f"the closing parenthesis of {function}")
        return self._constraint(argument, STRING_FUNCTIONS[function], at, literal_operand(literal))

    def _argument(self, function: str) -> Operand:
        token = self._token
        if not self._at_literal() and (self._at_name() or self._at_scalar()):
            argument = self._operand("an attribute", first=True)
            if argument.tree is not None:
                return argument
        self._fail(
            f"expected an attribute as the first argument of {function}",
            token,
            hint=f"write {function}(x, 'part')",
        )

    def _instead_of_is(self) -> str:
        token = self._token
        if token.text.upper() in {"NONE", "NIL", "EMPTY", "MISSING"}:
            return "write x IS NULL"
        return "write x = 5" if self._at_literal() else "write x IS NULL or x IS NOT TRUE"

    def _instead_of_value(self, value: Token) -> str:
        """What may have been meant by a value that no attribute is compared with."""
        if value.token_type is TokenType.STRING and self._text[value.start] == '"':
            return "double quotes make a string; put a name in back-quotes: `order`"
        if value.token_type is TokenType.STRING and self._position < 3:
            return "write a name without quotes, or in back-quotes: `order`"
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
        hint = "write AND or OR between two tests; put a name with spaces in back-quotes: `a b`"
        self._fail(
            f"expected AND, OR or the end, not {token.text!r}",
            hint=f"did you mean {close}?" if close else hint,
        )
