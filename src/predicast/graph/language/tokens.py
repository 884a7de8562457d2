"""The words of SPARQL text, each with its place."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from predicast.errors import ParseError, TextTooLongError
from predicast.language.where.position import error_at

MAX_TEXT: Final = 65_536  # characters, as of expressions over attributes

_ESCAPE_IN_NAME: Final = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
# A prefix is short, or looking for its end at every word would take time that grows by the square.
_PREFIX: Final = r"(?:[^\W\d_][\w.\-]{0,63})?"
_LOCAL: Final = (
    rf"(?:[\w:]|{_ESCAPE_IN_NAME})"
    rf"(?:(?:[\w\-:.]|{_ESCAPE_IN_NAME})*(?:[\w\-:]|{_ESCAPE_IN_NAME}))?"
)
# In this order; the first that fits is taken.
_KINDS: Final = (
    ("iri", r"<[^<>\"{}|^`\x00-\x20]*>"),
    ("variable", r"[?$]\w+"),
    ("blank", r"_:\w(?:[\w.\-]*[\w\-])?"),
    ("name", f"{_PREFIX}:(?:{_LOCAL})?"),
    ("long", r'"""(?:"{0,2}(?:[^"\\]|\\.))*"""|' + r"'''(?:'{0,2}(?:[^'\\]|\\.))*'''"),
    ("string", r'"(?:[^"\\\n\r]|\\.)*"|' + r"'(?:[^'\\\n\r]|\\.)*'"),
    ("language", r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*"),
    ("double", r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+"),
    ("decimal", r"[+-]?[0-9]*\.[0-9]+"),
    ("integer", r"[+-]?[0-9]+"),
    ("word", r"[^\W\d_][\w\-]*"),
    ("sign", r"\^\^|&&|\|\||!=|<=|>=|[{}()\[\].,;=<>!/^|*+?\-]"),
)
_SPACE: Final = r"(?:\s|\#[^\n\r]*)*+"
_TOKEN: Final = re.compile(
    _SPACE
    + "(?:"
    + "|".join(f"(?P<{kind}>{form})" for kind, form in _KINDS)
    + r"|(?P<end>\Z)|(?P<none>.))",  # so that nothing is passed over
    re.DOTALL,
)
_NAMES: Final = {place: kind for kind, place in _TOKEN.groupindex.items()}
_QUOTES: Final = ('"""', "'''", '"', "'")

_ESCAPES: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.|$)", re.DOTALL)
_ESCAPED: Final = dict(zip("tnrbf\"'\\", "\t\n\r\b\f\"'\\", strict=True))


class Token(NamedTuple):
    """A word: what sort of word it is, how it is written, and where it begins."""

    kind: str
    text: str
    start: int


def tokens_of(text: str) -> list[Token]:
    """The words of a text, without space and comments; ``end`` stands behind the last."""
    if len(text) > MAX_TEXT:
        raise TextTooLongError(
            f"the pattern has {len(text)} characters; the limit is {MAX_TEXT}",
            limit=MAX_TEXT,
            actual=len(text),
        )
    found: list[Token] = []
    for word in _TOKEN.finditer(text):
        place = word.lastindex or 0
        kind = _NAMES[place]
        if kind == "none":
            raise _no_word(text, word.start(place))
        if kind == "end":
            break
        found.append(Token(kind, word[place], word.start(place)))
    found.append(Token("end", "", len(text.rstrip())))
    return found


def _no_word(text: str, position: int) -> ParseError:
    for quote in _QUOTES:
        if text.startswith(quote, position):
            return error_at(ParseError, text, position, f"the quote {quote} is never closed")
    message = f"{text[position]!r} cannot stand here"
    return error_at(ParseError, text, position, message)


def unquoted(token: Token, text: str) -> str:
    """What a string says: without its quotes, and with its escapes worked out."""
    quotes = 3 if token.kind == "long" else 1
    inside = token.text[quotes:-quotes]
    return unescaped(inside, token.start + quotes, text) if "\\" in inside else inside


def unescaped(inside: str, start: int, text: str) -> str:
    """A part of a text with its escapes worked out; it begins at ``start``."""

    def character(found: re.Match[str]) -> str:
        escape = found.group(1)
        if len(escape) > 1:
            code = int(escape[1:], 16)
            if code < 0x110000 and not 0xD800 <= code < 0xE000:
                return chr(code)
            message = f"\\{escape} is no character"
        elif escape in _ESCAPED:
            return _ESCAPED[escape]
        else:
            message = f"\\{escape} is no escape"
        hint = r"escapes are \t \n \r \b \f \" \' \\ \uXXXX \UXXXXXXXX"
        raise error_at(ParseError, text, start + found.start(), message, hint=hint)

    return _ESCAPES.sub(character, inside)
