"""Walking over the tokens of a text, and refusing them with their place.

The tokens are sqlglot's, in its Spark dialect, so that quoting, comments and keywords are Spark's.
"""

from __future__ import annotations

from typing import Final, NoReturn

from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from predicast.errors import ParseError, UnsupportedSyntaxError
from predicast.language.where.position import error_at

END: Final = Token(TokenType.SENTINEL, "")


class TokenReader:
    """The tokens of a text, read from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._token: Token  # the one here: it is looked at six times before the next is
        self._position = 0

    @property
    def _position(self) -> int:
        return self._place

    @_position.setter
    def _position(self, place: int) -> None:
        self._place = place
        self._token = self._tokens[place] if place < len(self._tokens) else END

    @property
    def _previous(self) -> Token:
        return self._tokens[self._place - 1]

    def _peek(self, ahead: int) -> Token:
        position = self._place + ahead
        return self._tokens[position] if 0 <= position < len(self._tokens) else END

    def _advance(self) -> Token:
        token = self._token
        self._position = self._place + 1
        return token

    def _take(self, token_type: TokenType) -> bool:
        if self._token.token_type is token_type and self._token is not END:
            self._position += 1
            return True
        return False

    def _expect(self, token_type: TokenType, what: str, hint: str | None = None) -> Token:
        if self._token.token_type is not token_type:
            self._fail(f"expected {what}", hint=hint)
        return self._advance()

    def _fail(self, message: str, at: Token | None = None, hint: str | None = None) -> NoReturn:
        raise error_at(ParseError, self._text, self._offset(at), message, hint=hint)

    def _offset(self, at: Token | None) -> int:
        token = at or self._token
        return len(self._text.rstrip()) if token is END else token.start

    def _unsupported(self, message: str, hint: str, at: Token | None = None) -> NoReturn:
        raise error_at(UnsupportedSyntaxError, self._text, self._offset(at), message, hint=hint)


def has_colon(text: str) -> bool:
    """Whether a colon stands outside of strings, quoted names and comments, as before parameters.

    A text that cannot be split into words has none.
    """
    try:
        return any(token.token_type is TokenType.COLON for token in Spark().tokenize(text))
    except TokenError:
        return False


def _tokens(text: str) -> list[Token]:
    try:
        tokens: list[Token] = Spark().tokenize(text)
    except TokenError:
        offset, message, hint = _unclosed(text)
        raise error_at(ParseError, text, offset, message, hint=hint) from None
    if not tokens:
        raise error_at(
            ParseError, text, 0, "the expression is empty", hint="write TRUE to match every event"
        )
    return tokens


def _unclosed(text: str) -> tuple[int, str, str | None]:
    """Where the quote or comment opens that the tokeniser found no end for; perhaps a hint."""
    position = strings = 0
    while position < len(text):
        character = text[position]
        if character in "'\"`":
            end = position + 1
            while end < len(text) and text[end] != character:
                end += 2 if text[end] == "\\" and character != "`" else 1
            if end >= len(text):
                hint = "write a quote inside a string twice: 'it''s'" if strings else None
                return position, f"the quote {character} is never closed", hint
            position = end
            strings += character == "'"
        elif text.startswith("/*", position):
            end = text.find("*/", position)
            if end < 0:
                return position, "the comment is never closed", None
            position = end
        elif text.startswith("--", position):
            position = text.find("\n", position)
            if position < 0:
                break
        position += 1
    return 0, "the text cannot be split into words", None
