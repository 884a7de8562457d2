"""From CESQL text to a tree.

::

    expression = logical
    logical    = comparison { ( AND | OR | XOR ) comparison }        all of one precedence
    comparison = sum { ( = | != | <> | < | <= | > | >= ) sum }
    sum        = product { ( + | - ) product }
    product    = tested { ( * | / | % ) tested }
    tested     = signed { [ NOT ] LIKE string | [ NOT ] IN "(" expression { "," expression } ")" }
    signed     = ( NOT | - ) signed | EXISTS name | primary
    primary    = literal | name | "(" expression ")" | function "(" [ expression { "," ... } ] ")"

Precedence and order are the specification's (3.6): NOT binds most tightly, so that ``NOT a = b`` is
``(NOT a) = b``; AND, OR and XOR are read from the left. A sign right before digits is the integer's
own where a value is due, and an operator behind one: ``5-3`` is a difference.
"""

from __future__ import annotations

import re
from typing import Final, NoReturn

from predicast.bounded_cache import remembered
from predicast.derived.cesql.tokens import (
    END,
    INTEGER,
    KEYWORD,
    STRING,
    SYMBOL,
    WORD,
    Token,
    tokens_of,
)
from predicast.derived.cesql.tree import (
    COMPARISONS,
    INT_MAX,
    INT_MIN,
    LOGIC,
    Attribute,
    Chain,
    Exists,
    In,
    Invocation,
    Like,
    Literal,
    Node,
    Unary,
)
from predicast.errors import NestingTooDeepError, ParseError, TextTooLongError
from predicast.errors.position import error_at

MAX_TEXT: Final = 65_536  # characters in one expression
MAX_NESTING: Final = 64  # of parentheses, calls, signs and tests upon one another
_MAX_DIGITS: Final = 4_000  # int() refuses more
_MAX_BYTES: Final = 8 << 20  # of expressions that are remembered

_FUNCTION: Final = re.compile(r"[A-Za-z][A-Za-z_]*")
_LEVELS: Final = (
    LOGIC,
    COMPARISONS | {"<>"},
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)
_LEVEL_OF: Final = {word: level for level, words in enumerate(_LEVELS) for word in words}
_OF_OPERATORS: Final = frozenset({SYMBOL, KEYWORD})
_MISTAKES: Final = {
    "IS": "whether an attribute is there is asked with EXISTS name",
    "BETWEEN": "it is written x >= 1 AND x <= 5",
    "ESCAPE": "% and _ are escaped with a backslash",
    "NULL": "whether an attribute is there is asked with EXISTS name",
}


@remembered(_MAX_BYTES, lambda arguments, _: 1_000 + 100 * len(arguments[0]))
def parse(text: str) -> Node:
    """The tree of an expression, or an error that points at what is wrong."""
    if len(text) > MAX_TEXT:
        raise TextTooLongError(
            f"the expression has {len(text)} characters; the limit is {MAX_TEXT}",
            limit=MAX_TEXT,
            actual=len(text),
        )
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._position = 0
        self._token = self._tokens[0]
        self._nesting = 0

    def whole(self) -> Node:
        node = self._chain(0)
        if self._token.kind != END:
            self._fail_behind_value()
        return node

    def _chain(self, level: int) -> Node:
        """An expression of operators that bind as tightly as the level, or more so."""
        node = self._tested()
        while (found := self._level()) >= level:
            operands, operators = [node], []
            while self._level() == found:
                operator = self._advance().text
                operators.append("!=" if operator == "<>" else operator)
                operands.append(self._chain(found + 1))
            node = Chain(tuple(operands), tuple(operators))
        return node

    def _level(self) -> int:
        """How tightly the operator here binds, -1 if there is none."""
        token = self._token
        return _LEVEL_OF.get(token.text, -1) if token.kind in _OF_OPERATORS else -1

    def _tested(self) -> Node:
        nesting = self._nesting
        node = self._signed()
        while self._token.kind == KEYWORD and self._token.text in {"LIKE", "IN", "NOT"}:
            is_negated = self._token.text == "NOT"
            if is_negated:
                if self._peek().text not in {"LIKE", "IN"} or self._peek().kind != KEYWORD:
                    self._fail_behind_value()
                self._advance()
            self._deeper()
            if self._advance().text == "LIKE":
                node = Like(node, self._pattern(), is_negated)
            else:
                self._expect("(", "a list in parentheses behind IN", "write x IN ('a', 'b')")
                elements = self._listed("IN takes one value at least")
                node = In(node, elements, is_negated)
        self._nesting = nesting
        return node

    def _pattern(self) -> str:
        if self._token.kind != STRING:
            self._fail("LIKE takes a pattern in quotes", "such as 'com.example.%'")
        return self._advance().text

    def _signed(self) -> Node:
        token = self._token
        if token.kind == KEYWORD and token.text == "EXISTS":
            self._advance()
            return Exists(self._name("the name of an attribute behind EXISTS"))
        is_not = token.kind == KEYWORD and token.text == "NOT"
        if is_not or (token.text == "-" and token.kind == SYMBOL and not self._at_signed_integer()):
            self._advance()
            self._deeper()
            operand = self._signed()
            self._nesting -= 1
            return Unary(token.text, operand)
        return self._primary()

    def _at_signed_integer(self) -> bool:
        token, following = self._token, self._peek()
        return (
            token.kind == SYMBOL
            and token.text in {"+", "-"}
            and following.kind == INTEGER
            and following.start == token.end
        )

    def _primary(self) -> Node:
        token = self._token
        if token.kind == INTEGER or self._at_signed_integer():
            return self._integer()
        if token.kind == STRING:
            return Literal(self._advance().text)
        if token.kind == WORD:
            if self._peek().text == "(" and self._peek().kind == SYMBOL:
                return self._invocation()
            return Attribute(self._name("a value"))
        if token.kind == KEYWORD and token.text in {"TRUE", "FALSE"}:
            return Literal(self._advance().text == "TRUE")
        if token.kind == SYMBOL and token.text == "(":
            self._advance()
            self._deeper()
            node = self._chain(0)
            self._nesting -= 1
            self._expect(")", "a closing parenthesis")
            return node
        self._fail("a value is missing", _hint_at_value(token))

    def _integer(self) -> Node:
        start = self._token.start
        sign = self._advance().text if self._token.kind == SYMBOL else ""
        digits = self._advance().text
        value = int(sign + digits) if len(digits) <= _MAX_DIGITS else INT_MAX + 1
        if not INT_MIN <= value <= INT_MAX:
            message = f"integers are between {INT_MIN} and {INT_MAX}"
            raise error_at(ParseError, self._text, start, message)
        return Literal(value)

    def _name(self, what: str) -> str:
        token = self._token
        if token.kind != WORD:
            self._fail(f"{what} is missing", _hint_at_value(token))
        if "_" in token.text:
            self._fail("the name of an attribute has letters and digits, and no _")
        return self._advance().text.lower()

    def _invocation(self) -> Node:
        token = self._token
        if _FUNCTION.fullmatch(token.text) is None:
            self._fail("the name of a function has letters and _ alone")
        self._advance()
        self._advance()
        if self._token.text == ")" and self._token.kind == SYMBOL:
            self._advance()
            return Invocation(token.text.upper(), ())
        return Invocation(token.text.upper(), self._listed("an argument is missing"))

    def _listed(self, empty: str) -> tuple[Node, ...]:
        """Expressions up to the closing parenthesis."""
        if self._token.text == ")" and self._token.kind == SYMBOL:
            self._fail(empty)
        self._deeper()
        found = [self._chain(0)]
        while self._token.text == "," and self._token.kind == SYMBOL:
            self._advance()
            found.append(self._chain(0))
        self._nesting -= 1
        self._expect(")", "a comma or a closing parenthesis")
        return tuple(found)

    def _deeper(self) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise NestingTooDeepError(
                f"parentheses, calls and tests nest deeper than {MAX_NESTING}",
                limit=MAX_NESTING,
                actual=self._nesting,
            )

    def _peek(self) -> Token:
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

    def _advance(self) -> Token:
        token = self._token
        if token.kind != END:
            self._position += 1
            self._token = self._tokens[self._position]
        return token

    def _expect(self, symbol: str, what: str, hint: str | None = None) -> None:
        if self._token.kind != SYMBOL or self._token.text != symbol:
            self._fail(f"{what} is missing", hint)
        self._advance()

    def _fail_behind_value(self) -> NoReturn:
        token = self._token
        if token.kind == STRING and self._tokens[self._position - 1].kind == STRING:
            self._fail("two strings side by side", "a quote inside of a string is written \\'")
        hint = _MISTAKES.get(token.text.upper()) if token.kind == WORD else None
        self._fail("an operator is missing, such as AND, = or LIKE", hint)

    def _fail(self, message: str, hint: str | None = None) -> NoReturn:
        raise error_at(ParseError, self._text, self._token.start, message, hint=hint)


def _hint_at_value(token: Token) -> str | None:
    if token.kind == KEYWORD:
        return f"{token.text} is a word of the language, and no attribute"
    if token.text == "=":
        return "equality is one ="
    return None
