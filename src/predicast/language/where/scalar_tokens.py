"""What a token says inside of an expression over attributes."""

from __future__ import annotations

import re
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from predicast.derived.functions import WORDS
from predicast.language.where.operands import PRESENCE_FUNCTIONS, STRING_FUNCTIONS

# How tightly operators bind.
COMPARING, ADDING, MULTIPLYING, SIGNED = range(4)
BINARY: Final = {
    TokenType.PLUS: ("+", ADDING),
    TokenType.DASH: ("-", ADDING),
    TokenType.DPIPE: ("concat", ADDING),
    TokenType.STAR: ("*", MULTIPLYING),
    TokenType.SLASH: ("/", MULTIPLYING),
    TokenType.MOD: ("%", MULTIPLYING),
}
COMPARED: Final = {
    TokenType.EQ: "=",
    TokenType.NEQ: "!=",
    TokenType.LT: "<",
    TokenType.LTE: "<=",
    TokenType.GT: ">",
    TokenType.GTE: ">=",
    TokenType.NULLSAFE_EQ: "<=>",
}
CONTINUES: Final = frozenset({*BINARY, TokenType.DCOLON})
# Behind a parenthesis these say that a value stands in it, and inside of one that none does.
BEHIND_VALUE: Final = CONTINUES | frozenset(COMPARED) | frozenset(
    {
        *(TokenType.BETWEEN, TokenType.IN, TokenType.LIKE, TokenType.RLIKE, TokenType.IS),
        *(TokenType.ILIKE, TokenType.NOT),
    }
)  # fmt: skip
OF_CONDITIONS: Final = frozenset(
    {
        *(TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.BETWEEN, TokenType.IN),
        *(TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE, TokenType.IS),
    }
)
NO_VALUES: Final = OF_CONDITIONS | frozenset({TokenType.NEQ, TokenType.NULL})
TESTS: Final = frozenset({*STRING_FUNCTIONS, *PRESENCE_FUNCTIONS})
TRUTHS: Final = frozenset({TokenType.TRUE, TokenType.FALSE, TokenType.UNKNOWN})
LITERALS: Final = frozenset({TokenType.NUMBER, TokenType.STRING})
_FLOATS: Final = frozenset({TokenType.DOUBLE, TokenType.FLOAT, TokenType.DECIMAL})
UNQUOTED_DATE: Final = re.compile(r"[0-9]{4}([-/])[0-9]{1,2}\1[0-9]{1,2}(?![\w.])")
# Functions of the present time, and what it is cast to.
CLOCKS: Final = {"now": None, "current_timestamp": None, "current_date": "DATE", "curdate": "DATE"}
BARE_CLOCKS: Final = frozenset({TokenType.CURRENT_TIMESTAMP, TokenType.CURRENT_DATE})
COMPUTED_FUNCTIONS: Final = frozenset({*WORDS, "cast", "try_cast"})


def token_at(tokens: list[Token], start: int) -> Token:
    """The token that begins there."""
    return next(token for token in tokens if token.start == start)


def is_of_float(token: Token) -> bool:
    """Whether the token makes its number a float: 1.0, 1e0 and 1D, which a constraint spells 1."""
    is_whole = token.token_type is TokenType.NUMBER and token.text.isdigit()
    return token.token_type in _FLOATS or (
        token.token_type in {TokenType.NUMBER, TokenType.DOT} and not is_whole
    )
