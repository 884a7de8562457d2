"""The words of a CESQL text.

A backslash and what follows it stand together, so that an escaped quote ends no string; only the
escaped quote itself loses its backslash, since patterns have a meaning for others.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from predicast.errors import ParseError
from predicast.errors.position import error_at

KEYWORDS: Final = frozenset(
    {"AND", "OR", "XOR", "NOT", "LIKE", "EXISTS", "IN", "TRUE", "FALSE"}
)  # fmt: skip
WORD, INTEGER, STRING, SYMBOL, KEYWORD, END = (
    *("word", "integer", "string", "symbol", "keyword", "end"),
)

_TOKEN: Final = re.compile(
    r"""[ \t\r\n]*(?:
        (?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
      | (?P<word>[A-Za-z0-9_]+)
      | (?P<symbol><=|>=|<>|!=|[-+*/%=<>(),])
    )""",
    re.VERBOSE | re.DOTALL,
)
_BLANK: Final = re.compile(r"[ \t\r\n]*")


class Token(NamedTuple):
    """A word of the text, and where it begins; keywords in upper case, strings as they mean."""

    kind: str
    text: str
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """All of them, and one for the end."""
    found: list[Token] = []
    position, match_at = 0, _TOKEN.match
    while (match := match_at(text, position)) is not None:
        group = match.lastgroup
        assert group is not None
        written, start = match[group], match.start(group)
        position = match.end()
        found.append(_token(group, written, start, position))
    end = _BLANK.match(text, position)
    assert end is not None
    if end.end() < len(text):
        raise _unreadable(text, end.end())
    found.append(Token(END, "the end", len(text), len(text)))
    return found


def _token(group: str, written: str, start: int, end: int) -> Token:
    if group == STRING:
        return Token(STRING, unquoted(written), start, end)
    if group == WORD:
        if written.isdecimal():
            return Token(INTEGER, written, start, end)
        upper = written.upper()
        if upper in KEYWORDS:
            return Token(KEYWORD, upper, start, end)
    return Token(group, written, start, end)


def unquoted(written: str) -> str:
    """What a string in quotes says."""
    quote, content = written[0], written[1:-1]
    if "\\" not in content:
        return content
    return re.sub(
        r"\\(.)", lambda pair: quote if pair[1] == quote else pair[0], content, flags=re.DOTALL
    )


def _unreadable(text: str, position: int) -> ParseError:
    character = text[position]
    if character in "'\"":
        hint = f"it ends with {character}; inside of it that is written \\{character}"
        return error_at(ParseError, text, position, "the string has no end", hint=hint)
    hints = {
        "`": "attributes are written as they are, without quotes",
        "[": "a list stands in parentheses: x IN ('a', 'b')",
        ".": "attributes are named with letters and digits; CESQL does not look into the data",
        ";": "one expression is one subscription",
        "!": "it is written NOT, or != between two values",
        "|": "it is written OR; strings are joined with CONCAT(a, b)",
        "&": "it is written AND",
    }
    message = f"{character!r} means nothing here"
    return error_at(ParseError, text, position, message, hint=hints.get(character))
