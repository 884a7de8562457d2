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
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NoReturn

from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from predicast.errors import (
    NestingTooDeepError,
    ParseError,
    UnknownFunctionError,
    UnsupportedSyntaxError,
    suggest,
)
from predicast.language.where.position import error_at
from predicast.language.where.template import (
    ConstraintTemplate,
    Literal,
    as_day,
    as_negative,
    as_number,
    as_string,
    as_timestamp,
)
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
_STRING_FUNCTIONS: Final = {
    "startswith": Operator.PREFIX,
    "endswith": Operator.SUFFIX,
    "contains": Operator.CONTAINS,
    "like": Operator.LIKE,
    "rlike": Operator.MATCHES,
    "regexp": Operator.MATCHES,
    "regexp_like": Operator.MATCHES,
}
_PRESENCE_FUNCTIONS: Final = {"isnull": Operator.ABSENT, "isnotnull": Operator.EXISTS}
_LITERAL_FUNCTIONS: Final = {
    "timestamp": as_timestamp,
    "to_timestamp": as_timestamp,
    "date": as_day,
    "to_date": as_day,
}
_LITERAL_KEYWORDS: Final = {
    "TIMESTAMP": as_timestamp,
    "TIMESTAMP_LTZ": as_timestamp,
    "TIMESTAMP_NTZ": as_timestamp,
    "DATE": as_day,
}
_FUNCTIONS: Final = (*_STRING_FUNCTIONS, *_PRESENCE_FUNCTIONS, *_LITERAL_FUNCTIONS)
# fmt: off
_RESERVED: Final = frozenset((
    "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "RLIKE", "REGEXP", "ILIKE", "IS", "NULL", "TRUE",
    "FALSE", "ESCAPE", "SELECT", "CASE", "EXISTS",
))
# fmt: on
_ARITHMETIC: Final = frozenset(
    {
        TokenType.PLUS,
        TokenType.DASH,
        TokenType.STAR,
        TokenType.SLASH,
        TokenType.MOD,
        TokenType.DPIPE,
        TokenType.AMP,
        TokenType.PIPE,
        TokenType.CARET,
    }
)
_END: Final = Token(TokenType.SENTINEL, "")


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


def parse(text: str) -> Node[ConstraintTemplate]:
    """The text as a template, or a ``ParseError`` that points at what is wrong."""
    return _Parser(text).condition()


class _Parser:
    """One pass over the tokens, with one token of look-ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._position = 0

    # The boolean skeleton: a stack of groups instead of recursion.

    def condition(self) -> Node[ConstraintTemplate]:
        groups = [_Group(0)]
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
            if self._token is not _END:
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
        if negated:
            self._fail("expected IN, BETWEEN, LIKE or RLIKE after NOT")
        self._refuse_other_operators()
        # A boolean attribute by itself: x is x = TRUE, so that NOT x is x != TRUE.
        truth = Literal(token.start, token.start, lambda _: True, Kind.BOOLEAN)
        return Leaf(ConstraintTemplate(name, Operator.EQ, (truth,), token.start))

    def _worded_test(self, name: str, at: Token) -> Node[ConstraintTemplate] | None:
        if self._take(TokenType.BETWEEN):
            lo = self._literal("after BETWEEN", ordered=True)
            self._expect(TokenType.AND, "AND between the two ends of BETWEEN")
            hi = self._literal("after AND, the upper end of BETWEEN", ordered=True)
            return Leaf(self._constraint(name, Operator.BETWEEN, at, lo, hi))
        if self._take(TokenType.IN):
            return Leaf(self._constraint(name, Operator.IN, at, *self._literals()))
        if self._take(TokenType.LIKE):
            parts = [self._string("after LIKE")]
            if self._take(TokenType.ESCAPE):
                parts.append(self._string("after ESCAPE"))
            return Leaf(self._constraint(name, Operator.LIKE, at, *parts))
        if self._take(TokenType.RLIKE):
            return Leaf(self._constraint(name, Operator.MATCHES, at, self._string("after RLIKE")))
        if self._take(TokenType.IS):
            operator = Operator.EXISTS if self._take(TokenType.NOT) else Operator.ABSENT
            if not self._take(TokenType.NULL):
                self._fail(
                    "expected NULL or NOT NULL after IS", hint="write x = TRUE to test a boolean"
                )
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
            self._refuse_other_operators()
            self._fail("expected a comparison after the value", hint="a test is like: price < 10")
        operator = _COMPARISONS[self._advance().token_type]
        if self._at_literal():
            self._fail("this compares two values", hint="one side names an attribute")
        if not self._at_name():
            self._fail_at_operand("an attribute")
        return Leaf(self._constraint(self._name(), _MIRRORED.get(operator, operator), at, literal))

    def _call(self) -> ConstraintTemplate:
        at = self._advance()
        function = at.text.lower()
        self._advance()
        if function in _PRESENCE_FUNCTIONS:
            name = self._argument_name(function)
            self._expect(TokenType.R_PAREN, f"the closing parenthesis of {function}")
            return ConstraintTemplate(name, _PRESENCE_FUNCTIONS[function], (), at.start)
        if function not in _STRING_FUNCTIONS:
            close = suggest(function, _FUNCTIONS)
            raise error_at(
                UnknownFunctionError,
                self._text,
                at.start,
                f"there is no function {at.text!r}",
                hint=f"did you mean {close}?" if close else f"known: {', '.join(_FUNCTIONS)}",
                name=at.text,
                suggestion=close,
            )
        name = self._argument_name(function)
        self._expect(TokenType.COMMA, f"a comma between the arguments of {function}")
        literal = self._string(f"as the second argument of {function}")
        self._expect(TokenType.R_PAREN, f"the closing parenthesis of {function}")
        return self._constraint(name, _STRING_FUNCTIONS[function], at, literal)

    def _argument_name(self, function: str) -> str:
        if not self._at_name():
            self._fail(f"expected an attribute as the first argument of {function}")
        return self._name()

    def _constraint(
        self, name: str, operator: Operator, at: Token, *literals: Literal
    ) -> ConstraintTemplate:
        kinds = {literal.kind for literal in literals}
        if len(kinds) > 1:
            mixed = " and ".join(sorted(kind.value for kind in kinds))
            self._fail(f"the values of {operator.value} are of one kind, not {mixed}", at)
        if not kinds <= operator.kinds:
            self._fail(
                f"{operator.value} does not order booleans", at, hint="write x = TRUE or x = FALSE"
            )
        return ConstraintTemplate(name, operator, literals, at.start)

    # Names and literals.

    def _at_name(self) -> bool:
        token = self._token
        if token.token_type is TokenType.IDENTIFIER:
            return True
        return _is_word(token) and (
            token.text.upper() not in _RESERVED
            or (token.text.lower() in _FUNCTIONS and self._peek(1).token_type is TokenType.L_PAREN)
        )

    def _name(self) -> str:
        parts = [self._advance().text]
        while self._take(TokenType.DOT):
            token = self._token
            if token.token_type is not TokenType.IDENTIFIER and not _is_word(token):
                self._fail("expected a name after the dot", hint="quote odd names: `a b`.`1`")
            parts.append(self._advance().text)
        if not all(parts):
            self._fail("an attribute's name is empty", self._previous)
        return ".".join(parts)

    def _at_literal(self) -> bool:
        token, following = self._token, self._peek(1)
        if token.token_type in _LITERAL_STARTS:
            return True
        if token.token_type is TokenType.DOT:
            return following.token_type is TokenType.NUMBER
        if token.text.upper() in _LITERAL_KEYWORDS and following.token_type is TokenType.STRING:
            return True
        return (
            token.text.lower() in _LITERAL_FUNCTIONS
            and following.token_type is TokenType.L_PAREN
            and self._peek(2).token_type is TokenType.STRING
        )

    def _literal(self, where: str, *, ordered: bool = False) -> Literal:
        token = self._token
        if token.token_type in {TokenType.DASH, TokenType.PLUS}:
            self._advance()
            return self._number(negative=token.token_type is TokenType.DASH)
        if token.token_type in {TokenType.NUMBER, TokenType.DOT}:
            return self._number(negative=False)
        if token.token_type in {TokenType.STRING, TokenType.RAW_STRING}:
            return self._quoted()
        if token.token_type in {TokenType.TRUE, TokenType.FALSE} and not ordered:
            self._advance()
            truth = token.token_type is TokenType.TRUE
            return Literal(token.start, token.end + 1, lambda _: truth, Kind.BOOLEAN)
        keyword = _LITERAL_KEYWORDS.get(token.text.upper())
        if keyword and self._peek(1).token_type is TokenType.STRING:
            self._advance()
            quoted = self._quoted()
            return Literal(quoted.start, quoted.end, keyword, Kind.TIMESTAMP)
        function = _LITERAL_FUNCTIONS.get(token.text.lower())
        if function and self._peek(1).token_type is TokenType.L_PAREN:
            self._position += 2
            quoted = self._string(f"inside {token.text}(...)")
            self._expect(TokenType.R_PAREN, f"the closing parenthesis of {token.text}")
            return Literal(quoted.start, quoted.end, function, Kind.TIMESTAMP)
        self._fail_at_operand(f"a value {where}")

    def _number(self, *, negative: bool) -> Literal:
        start = self._token.start
        if self._take(TokenType.DOT) and self._token.start != start + 1:
            self._fail("expected digits after the decimal point")
        token = self._expect(TokenType.NUMBER, "a number")
        end = token.end + 1
        if self._token.token_type is TokenType.DCOLON and self._token.start == token.start:
            # Spark's suffixes (10L, 1.5D): sqlglot makes a cast of them, all at one place.
            self._position += 2
        text = ("." if start < token.start else "") + token.text
        try:
            float(text)
        except ValueError:
            self._fail(f"{self._text[start:end]!r} is not a number", token)
        convert = as_negative if negative else as_number
        if text == self._text[start:end]:
            return Literal(start, end, convert, Kind.NUMBER)
        return Literal(start, end, lambda _: convert(text), Kind.NUMBER)

    def _literals(self) -> list[Literal]:
        self._expect(TokenType.L_PAREN, "a parenthesis after IN")
        found = [self._literal("in the list of IN")]
        while self._take(TokenType.COMMA):
            found.append(self._literal("in the list of IN"))
        self._expect(TokenType.R_PAREN, "a comma or the closing parenthesis of IN")
        return found

    def _string(self, where: str) -> Literal:
        if self._token.token_type not in {TokenType.STRING, TokenType.RAW_STRING}:
            self._fail(f"expected a string {where}", hint="strings stand in quotes: 'IBM'")
        return self._quoted()

    def _quoted(self) -> Literal:
        token = self._advance()
        start, end = token.start, token.end + 1
        if token.token_type is TokenType.RAW_STRING:
            content = token.text
            return Literal(start, end, lambda _: content, Kind.STRING)
        # 'O''Brien' comes as two tokens that touch; two strings apart are concatenated in Spark.
        while self._token.token_type is TokenType.STRING:
            if self._token.start != end or self._text[end] != self._text[start]:
                self._fail("two strings in a row", hint="was an operator or a comma left out?")
            end = self._advance().end + 1
        return Literal(start, end, as_string, Kind.STRING)

    # Walking the tokens, and refusing them.

    @property
    def _token(self) -> Token:
        return self._peek(0)

    @property
    def _previous(self) -> Token:
        return self._tokens[self._position - 1]

    def _peek(self, ahead: int) -> Token:
        position = self._position + ahead
        return self._tokens[position] if position < len(self._tokens) else _END

    def _advance(self) -> Token:
        token = self._token
        self._position += 1
        return token

    def _take(self, token_type: TokenType) -> bool:
        if self._token.token_type is token_type and self._token is not _END:
            self._position += 1
            return True
        return False

    def _expect(self, token_type: TokenType, what: str) -> Token:
        if self._token.token_type is not token_type:
            self._fail(f"expected {what}")
        return self._advance()

    def _fail(self, message: str, at: Token | None = None, hint: str | None = None) -> NoReturn:
        raise error_at(ParseError, self._text, self._offset(at), message, hint=hint)

    def _offset(self, at: Token | None) -> int:
        token = at or self._token
        return len(self._text.rstrip()) if token is _END else token.start

    def _unsupported(self, message: str, hint: str) -> NoReturn:
        raise error_at(UnsupportedSyntaxError, self._text, self._offset(None), message, hint=hint)

    def _fail_at_operand(self, what: str) -> NoReturn:
        token = self._token
        if token is _END:
            self._fail(f"the expression ends where {what.strip()} was expected")
        if token.token_type is TokenType.NULL:
            self._unsupported(
                "comparing with NULL is never true", "write x IS NULL or x IS NOT NULL"
            )
        if token.token_type is TokenType.SELECT:
            self._unsupported("a subscription holds no subquery", "list the values: x IN (1, 2)")
        if token.token_type in {TokenType.CASE, TokenType.EXISTS, TokenType.ILIKE}:
            self._unsupported(f"{token.text.upper()} cannot be part of a subscription", _ALLOWED)
        if token.token_type in {TokenType.COLON, TokenType.PLACEHOLDER}:
            self._unsupported("a parameter has no value here", "write the value itself")
        if self._at_name():
            self._unsupported(
                f"expected {what.strip()}, not the attribute {token.text!r}",
                "an attribute is compared with a value; strings stand in quotes: 'IBM'",
            )
        self._fail(f"expected {what.strip()}, not {token.text!r}")

    def _refuse_other_operators(self) -> None:
        token = self._token
        if token.token_type in _ARITHMETIC:
            self._unsupported(
                f"{token.text!r} computes; a subscription only compares",
                "move the arithmetic to the value: x > 8 instead of x - 5 > 3",
            )
        if token.token_type is TokenType.NULLSAFE_EQ:
            self._unsupported("<=> is not supported", "write = or IS NULL")
        if token.token_type is TokenType.ILIKE:
            self._unsupported("ILIKE is not supported", "write RLIKE '(?i)...' instead")

    def _unexpected_after_test(self) -> NoReturn:
        token = self._token
        self._refuse_other_operators()
        if token.token_type is TokenType.DAMP:
            self._unsupported("&& is not SQL", "write AND")
        if token.token_type is TokenType.SEMICOLON:
            self._unsupported("a subscription is one expression", "leave out the semicolon")
        close = suggest(token.text, ("AND", "OR", "BETWEEN", "LIKE", "RLIKE", "IN", "IS"))
        self._fail(
            f"expected AND, OR or the end, not {token.text!r}",
            hint=f"did you mean {close}?" if close else None,
        )


_LITERAL_STARTS: Final = frozenset(
    {
        TokenType.NUMBER,
        TokenType.STRING,
        TokenType.RAW_STRING,
        TokenType.DASH,
        TokenType.PLUS,
        TokenType.TRUE,
        TokenType.FALSE,
    }
)
_ALLOWED: Final = "a subscription is made of comparisons, BETWEEN, IN, LIKE, RLIKE, IS NULL"


def _is_word(token: Token) -> bool:
    return (
        token.token_type is not TokenType.STRING
        and (token.text[:1].isalpha() or token.text[:1] == "_")
        and token.text.replace("_", "a").isalnum()
    )


def _tokens(text: str) -> list[Token]:
    try:
        tokens: list[Token] = Spark().tokenize(text)
    except TokenError:
        raise error_at(ParseError, text, *_unclosed(text)) from None
    if not tokens:
        raise error_at(
            ParseError, text, 0, "the expression is empty", hint="write TRUE to match every event"
        )
    return tokens


def _unclosed(text: str) -> tuple[int, str]:
    """Where the quote or comment opens that the tokeniser found no end for."""
    position = 0
    while position < len(text):
        character = text[position]
        if character in "'\"`":
            end = position + 1
            while end < len(text) and text[end] != character:
                end += 2 if text[end] == "\\" and character != "`" else 1
            if end >= len(text):
                return position, f"the quote {character} is never closed"
            position = end
        elif text.startswith("/*", position):
            end = text.find("*/", position)
            if end < 0:
                return position, "the comment is never closed"
            position = end
        elif text.startswith("--", position):
            position = text.find("\n", position)
            if position < 0:
                break
        position += 1
    return 0, "the text cannot be split into words"
