"""Names, literals and parameters: the things that a test compares."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from sqlglot.tokenizer_core import Token, TokenType

from predicast.derived import Span
from predicast.language.where.mistakes import MistakeReader
from predicast.language.where.position import missing
from predicast.language.where.shape import (
    Literal,
    as_day,
    as_decimal,
    as_double,
    as_negative,
    as_negative_decimal,
    as_negative_double,
    as_negative_single,
    as_number,
    as_single,
    as_string,
    as_timestamp,
)
from predicast.language.where.spans import spans_of, unit_of
from predicast.language.where.tokens import END
from predicast.model import Kind, Operator

STRING_FUNCTIONS: Final = {
    "startswith": Operator.PREFIX,
    "endswith": Operator.SUFFIX,
    "contains": Operator.CONTAINS,
    "like": Operator.LIKE,
    "rlike": Operator.MATCHES,
    "regexp": Operator.MATCHES,
    "regexp_like": Operator.MATCHES,
}
PRESENCE_FUNCTIONS: Final = {"isnull": Operator.ABSENT, "isnotnull": Operator.EXISTS}
LIST_FUNCTIONS: Final = {  # with what to write
    "exists": "write exists(tags, t -> t LIKE 'a%')",
    "forall": "write forall(tags, t -> t LIKE 'a%')",
    "array_contains": "write array_contains(tags, 'a')",
    "arrays_overlap": "write arrays_overlap(tags, array('a', 'b'))",
}
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
    "TIMESTAMPTZ": as_timestamp,
    "DATE": as_day,
}
FUNCTIONS: Final = (*STRING_FUNCTIONS, *PRESENCE_FUNCTIONS, *_LITERAL_FUNCTIONS)
# fmt: off
_RESERVED: Final = frozenset((
    "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "RLIKE", "REGEXP", "ILIKE", "IS", "NULL", "TRUE",
    "FALSE", "ESCAPE", "SELECT", "CASE", "EXISTS",
))
# fmt: on
_LITERAL_STARTS: Final = frozenset(
    {
        TokenType.NUMBER,
        TokenType.STRING,
        TokenType.RAW_STRING,
        TokenType.DASH,
        TokenType.PLUS,
        TokenType.TRUE,
        TokenType.FALSE,
        TokenType.COLON,
    }
)
# What a suffix makes of a number, and of one behind a minus sign: 0.1BD, 0.1F, 0.1D.
_BY_SUFFIX: Final = {
    TokenType.DECIMAL: (as_decimal, as_negative_decimal),
    TokenType.FLOAT: (as_single, as_negative_single),
    TokenType.DOUBLE: (as_double, as_negative_double),
}
_PARAMETER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class OperandReader(MistakeReader):
    """Reads names, literals and, if there are values for them, parameters."""

    def __init__(self, text: str, *, parameters: bool = False) -> None:
        super().__init__(text)
        self._parameters = parameters

    def _at_name(self) -> bool:
        token = self._token
        if token.token_type is TokenType.IDENTIFIER:
            return True
        return _is_word(token) and (
            token.text.upper() not in _RESERVED
            or (token.text.lower() in FUNCTIONS and self._peek(1).token_type is TokenType.L_PAREN)
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
            and self._peek(2).token_type in {TokenType.STRING, TokenType.COLON}
        )

    def _literal(self, where: str) -> Literal:
        token = self._token
        if token.token_type in {TokenType.DASH, TokenType.PLUS}:
            self._advance()
            return self._number(negative=token.token_type is TokenType.DASH)
        if token.token_type in {TokenType.NUMBER, TokenType.DOT}:
            return self._number(negative=False)
        if token.token_type in {TokenType.STRING, TokenType.RAW_STRING}:
            return self._quoted()
        if token.token_type is TokenType.COLON:
            return self._parameter()
        if token.token_type in {TokenType.TRUE, TokenType.FALSE}:
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
        self._fail_at_operand(where)

    def _number(self, *, negative: bool) -> Literal:
        start = self._token.start
        if self._take(TokenType.DOT) and self._token.start != start + 1:
            self._fail("expected digits after the decimal point")
        if self._token.token_type is TokenType.COLON:
            self._fail("a parameter takes no sign", hint="put the sign into its value")
        hint = "a sign stands before a number: x < -5 instead of -x > 5"
        token = self._expect(TokenType.NUMBER, "a number", hint)
        end = token.end + 1
        type_ = TokenType.NUMBER
        if self._token.token_type is TokenType.DCOLON and self._token.start == token.start:
            # Spark's suffixes (10L, 1.5D): sqlglot makes a cast of them, all at one place.
            type_ = self._peek(1).token_type
            self._position += 2
        text = ("." if start < token.start else "") + token.text
        try:
            float(text)
        except ValueError:
            self._fail(f"{self._text[start:end]!r} is not a number", token)
        convert = _BY_SUFFIX.get(type_, (as_number, as_negative))[negative]
        if text == self._text[start:end]:
            return Literal(start, end, convert, Kind.NUMBER)
        return Literal(start, end, lambda _: convert(text), Kind.NUMBER)

    def _string(self, where: str) -> Literal:
        if self._token.token_type not in {TokenType.STRING, TokenType.RAW_STRING}:
            hint = "put strings in quotes: 'IBM'"
            if self._token.token_type in {TokenType.ANY, TokenType.ALL, TokenType.SOME}:
                hint = "write x RLIKE 'a|b'"
            self._fail(f"expected a string {where}", hint=hint)
        return self._quoted()

    def _string_or_parameter(self, where: str) -> Literal:
        if self._token.token_type is TokenType.COLON:
            return self._parameter()
        return self._string(where)

    def _parameter(self) -> Literal:
        colon, name = self._token, self._parameter_at(self._position)
        if name is None:
            self._fail(
                "expected a parameter's name right after the colon",
                hint="a parameter is like :low, of letters, digits and underscores",
            )
        if not self._parameters:
            raise missing(self._text, self._parameters_ahead())
        self._position += 2
        return Literal(colon.start, self._previous.end + 1, _no_text, None, name)

    def _parameter_at(self, position: int) -> str | None:
        """The name of the parameter whose colon is the token at this position."""
        colon, *following = self._tokens[position : position + 2]
        if colon.token_type is not TokenType.COLON or not following:
            return None
        # Any word will do, keywords too, so it is the text that counts and not the token's type.
        [token] = following
        name = self._text[token.start : token.end + 1]
        return name if token.start == colon.end + 1 and _PARAMETER.fullmatch(name) else None

    def _parameters_ahead(self) -> dict[str, int]:
        """Every parameter from here on, and where it first stands."""
        found: dict[str, int] = {}
        for position in range(self._position, len(self._tokens)):
            name = self._parameter_at(position)
            if name is not None:
                found.setdefault(name, self._tokens[position].start)
        return found

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

    def _at_span(self) -> bool:
        following = self._peek(1).token_type
        is_number = following in {TokenType.NUMBER, TokenType.STRING, TokenType.DASH}
        return self._token.token_type is TokenType.INTERVAL and is_number

    def _spans(self) -> Span:
        self._advance()
        token = self._token
        total = Span(0, 0)
        if token.token_type is TokenType.STRING and unit_of(self._peek(1).text) is None:
            found = spans_of(token.text)
            if found is None:
                self._fail("this is no span of time", hint="write INTERVAL '1 day 2 hours'")
            self._advance()
            return found
        begun = False
        while not begun or self._at_another_span():
            sign = "-" if not begun and self._take(TokenType.DASH) else ""
            number, unit = self._advance(), self._token
            found = spans_of(f"{sign}{number.text} {unit.text}")
            if found is None:
                self._fail("this is no span of time", number, hint="write INTERVAL 1 DAY 2 HOURS")
            self._advance()
            begun = True
            total = Span(total.months + found.months, total.microseconds + found.microseconds)
        return total

    def _at_another_span(self) -> bool:
        is_number = self._token.token_type in {TokenType.NUMBER, TokenType.STRING}
        return is_number and unit_of(self._peek(1).text) is not None

    def _fail_at_operand(self, what: str) -> NoReturn:
        token = self._token
        if token is END:
            behind = self._text[self._previous.end + 1 :] if self._position else ""
            hint = "what stands behind -- is a comment" if "--" in behind else None
            self._fail(f"the expression ends where {what.strip()} was expected", hint=hint)
        if token.token_type is TokenType.NULL:
            self._unsupported(
                "comparing with NULL is never true", "write x IS NULL or x IS NOT NULL"
            )
        if token.token_type is TokenType.SELECT:
            if self._position == 0:
                self._unsupported(
                    "a subscription is the condition alone",
                    "write what comes after WHERE; put a name in back-quotes: `select`",
                )
            self._unsupported("a subscription holds no subquery", "list the values: x IN (1, 2)")
        self._refuse_known_value()
        if token.token_type is TokenType.PLACEHOLDER:
            self._unsupported(
                "a parameter has a name", "write the value itself, or a parameter such as :low"
            )
        hint = "write x ILIKE 'a%'" if token.token_type is TokenType.ILIKE else None
        self._fail(f"expected {what.strip()}, not {token.text!r}", hint=hint)


def _no_text(text: str) -> NoReturn:
    raise AssertionError(f"the parameter {text} was read as a literal")


def _is_word(token: Token) -> bool:
    return (
        token.token_type is not TokenType.STRING
        and (token.text[:1].isalpha() or token.text[:1] == "_")
        and token.text.replace("_", "a").isalnum()
    )
