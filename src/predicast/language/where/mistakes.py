"""What people write out of habit that the dialect does not have, and what to write instead.

Most of it is sound SQL, or sound in another language; so the refusal says what is not supported and
shows what is. The tables are by the word or sign as it is written; where the reader stands decides
which of them is asked: at a value, behind a test, or at a function's name.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, NoReturn

from sqlglot.tokenizer_core import Token, TokenType

from predicast.language.where.tokens import END, TokenReader

# By type: a quoted name or a string may be of the same characters.
_COMPARISONS: Final = frozenset(
    {
        *(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE),
        *(TokenType.GT, TokenType.GTE, TokenType.NULLSAFE_EQ),
    }
)


class Mistake(NamedTuple):
    """What is wrong, and what would be right."""

    message: str
    hint: str


_CLOCK: Final = Mistake(
    "this is not how to ask for the time",
    "write now() or current_date() for when the event arrives, in UTC",
)
_CAST: Final = Mistake("CONVERT is not supported", "write CAST(x AS BIGINT)")
_LIST: Final = Mistake(
    "a comparison is with one value",
    "write x IN (1, 2) for one of several, array_contains(x, 5) for an element of a list",
)
_NOTHING: Final = Mistake(
    "comparing with nothing is never true", "write x IS NULL or x IS NOT NULL"
)
_FINITE: Final = Mistake("numbers are finite", "write a number, such as 1e308")
_COMMENT: Final = Mistake(
    "this sign has no meaning here",
    "comments are like -- this or /* this */; put odd names in back-quotes: `#x`",
)
_CONDITION: Final = "a subscription is the condition alone"
_ARITHMETIC: Final = {
    "^": "write x * x",
    "MOD": "write x % 2",
    "DIV": "write floor(x / 2)",
}
_PATTERN: Final = Mistake(
    "patterns are written with LIKE and RLIKE", "write x RLIKE '^a.*z$' or x LIKE 'a%z'"
)
_FIELD: Final = Mistake("fields are not taken out this way", "write x.y for the field y of x")
_TRUTH: Final = Mistake(
    "a condition is not compared",
    "leave out = TRUE, or write (...) IS TRUE; NOT (...) is the opposite",
)
_SIGN: Final = Mistake("this sign has no meaning here", "a parameter is like :low")

# Where a value, or a whole condition, is expected.
AT_VALUE: Final[dict[str, Mistake]] = {
    **dict.fromkeys(("NOW", "CURDATE", "GETDATE", "CURRENT_TIME"), _CLOCK),
    **dict.fromkeys(("LOCALTIMESTAMP", "SYSDATE", "UNIX_TIMESTAMP"), _CLOCK),
    "CONVERT": _CAST,
    **dict.fromkeys(("ANY", "ALL", "SOME", "ARRAY", "["), _LIST),
    **dict.fromkeys(("NONE", "NIL", "UNDEFINED"), _NOTHING),
    **dict.fromkeys(("NAN", "INF", "INFINITY"), _FINITE),
    **dict.fromkeys(("$", "@", "%", "{"), _SIGN),
    **dict.fromkeys(("#", "/"), _COMMENT),
    "INTERVAL": Mistake(
        "spans of time are only added to a timestamp", "write at + INTERVAL 1 DAY > until"
    ),
    "DATE": Mistake("DATE is followed by a string", "write DATE '2026-01-31'"),
    "TIMESTAMP": Mistake(
        "TIMESTAMP is followed by a string", "write TIMESTAMP '2026-01-31 09:30:00'"
    ),
    "SYMMETRIC": Mistake("SYMMETRIC is not supported", "write the lower end first"),
    "EXISTS": Mistake("EXISTS cannot be part of a subscription", "write x IS NOT NULL"),
    "(": Mistake(
        "a value stands without parentheses", "write x = 5, x IN (1, 2) or x BETWEEN 1 AND 5"
    ),
}
# Behind an attribute or a whole test, where only AND, OR or the end could follow.
BEHIND_TEST: Final[dict[str, Mistake]] = {
    "||": Mistake(
        "|| joins strings",
        "write OR for either of two tests, and one string for two: 'ab'",
    ),
    "&&": Mistake("&& is not SQL", "write AND"),
    "&": Mistake("& computes with bits; a subscription only compares", "write AND for both"),
    "|": Mistake("| computes with bits; a subscription only compares", "write OR for either"),
    ";": Mistake("a subscription is one expression", "leave out the semicolon"),
    "XOR": Mistake("XOR is not supported", "write (a AND NOT b) OR (NOT a AND b)"),
    **dict.fromkeys(("[", "->", "->>", "#>"), _FIELD),
    ":": Mistake(
        "a colon stands before a parameter, behind an operator",
        "write x = :y; or x.y for the field y of x",
    ),
    **dict.fromkeys(("~", "SIMILAR TO", "MATCHES", "GLOB", "=~"), _PATTERN),
    "#": _COMMENT,
    "ISNULL": Mistake("ISNULL is a function here", "write x IS NULL"),
    "NOTNULL": Mistake("NOTNULL is not supported", "write x IS NOT NULL"),
    "EXISTS": Mistake("EXISTS is not supported", "write x IS NOT NULL"),
    "CONTAINS": Mistake("contains is a function", "write contains(x, 'part')"),
    **dict.fromkeys(
        ("STARTS", "STARTSWITH", "BEGINS"),
        Mistake("startswith is a function", "write startswith(x, 'a')"),
    ),
    **dict.fromkeys(
        ("ENDS", "ENDSWITH"), Mistake("endswith is a function", "write endswith(x, 'a')")
    ),
    **{
        word: Mistake(f"there is no operator {word}", f"write {sign}")
        for word, sign in {
            "EQ": "=", "EQUALS": "=", "NE": "!=", "GT": ">", "GE": ">=", "GTE": ">=", "LT": "<",
            "LE": "<=", "LTE": "<=",
        }.items()
    },
    "AT": Mistake(
        "times are instants, whose zone does not matter",
        "write x > TIMESTAMP '2026-01-31 09:30:00+02:00'",
    ),
    "COLLATE": Mistake(
        "collations are not supported", "strings compare by code point; leave out COLLATE"
    ),
    **{
        word: Mistake(f"{_CONDITION}: {word} is not part of it", f"leave out {word}")
        for word in ("WHERE", "ORDER BY", "GROUP BY", "SORT BY", "LIMIT", "HAVING", "UNION", "FROM")
    },
    **{
        word: Mistake(f"there is no operator {word}", hint)
        for word, hint in _ARITHMETIC.items()
    },
}  # fmt: skip
# Comparisons as other languages write them; the signs of two tokens are put together first.
OPERATORS: Final = {
    "=<": "<=", "=>": ">=", "><": "!=", "===": "=", "!==": "!=", ":=": "=", "=!": "!=",
    "= <": "<=", "= >": ">=", "= =": "=", "< =": "<=", "> =": ">=", "! =": "!=", "< >": "<>",
    "^=": "!=", "=~": "RLIKE", "!~": "NOT RLIKE",
    "~*": "RLIKE '(?i)a'", "!~*": "NOT RLIKE '(?i)a'",
    "≥": ">=", "≤": "<=", "≠": "!=", "＝": "=", "∈": "IN", "∧": "AND", "∨": "OR", "¬": "NOT",  # noqa: RUF001
}  # fmt: skip
# Functions of other dialects, by what they are for.
FUNCTIONS_ELSEWHERE: Final = {
    **dict.fromkeys(("begins_with", "beginswith", "starts_with", "startwith"), "startswith"),
    **dict.fromkeys(("ends_with", "endwith"), "endswith"),
    **dict.fromkeys(("instr", "charindex", "locate", "position", "includes"), "contains"),
    **dict.fromkeys(("regexp_matches", "regex", "matches", "regexp_extract"), "rlike"),
}
CALLS: Final[dict[str, Mistake]] = {
    **{
        word: Mistake(f"{word} is not supported", f"write {instead}")
        for word, instead in {
            "array_position": "array_contains(x, 5)",
            "list_contains": "array_contains(x, 5)",
            "has_any": "arrays_overlap(x, array(1, 2))",
            **dict.fromkeys(("has", "array_has"), "array_contains(x, 5)"),
            **dict.fromkeys(("array_length", "list_length", "json_array_length"), "size(x)"),
            **dict.fromkeys(("any_match", "array_any", "explode"), "exists(x, e -> e > 5)"),
            **dict.fromkeys(("all_match", "array_all", "every"), "forall(x, e -> e > 5)"),
            **dict.fromkeys(
                ("extract", "date_part", "datepart", "date_format", "to_char", "strftime"),
                "year(x), month(x), hour(x) and so on",
            ),
            **dict.fromkeys(("date_add", "dateadd", "adddate"), "x + INTERVAL 7 DAYS"),
            **dict.fromkeys(("date_sub", "datesub", "subdate"), "x - INTERVAL 7 DAYS"),
            **dict.fromkeys(("power", "pow", "square"), "x * x"),
            "sqrt": "x > 25 for sqrt(x) > 5",
            "strpos": "contains(x, 'part')",
            **dict.fromkeys(("int", "bigint", "smallint", "tinyint"), "CAST(x AS BIGINT)"),
            **dict.fromkeys(("double", "float"), "CAST(x AS DOUBLE)"),
            **dict.fromkeys(("string", "str"), "CAST(x AS STRING)"),
            "boolean": "CAST(x AS BOOLEAN)",
            **dict.fromkeys(("get_json_object", "json_extract", "json_value"), "x.y"),
            "element_at": "exists(x, e -> e = 5) for an element, wherever it stands",
            "nvl2": "CASE WHEN x IS NOT NULL THEN y ELSE z END",
        }.items()
    },
    "nullif": Mistake("nullif is not supported", "write CASE WHEN x != 0 THEN x END"),
    **{
        word: Mistake(
            f"{word} is not supported", "write CASE WHEN x > 5 THEN 'high' ELSE 'low' END"
        )
        for word in ("if", "iff", "iif")
    },
    **dict.fromkeys(
        ("isnan", "isinf", "isfinite"),
        Mistake("numbers are finite", "leave it out: x > 5 holds of no NaN"),
    ),
    **dict.fromkeys(
        ("count", "sum", "avg", "min", "max", "count_if"),
        Mistake("a subscription is about one event", "write greatest or least for several values"),
    ),
    "convert": _CAST,
    "datediff": Mistake("datediff is not supported", "write a + INTERVAL 1 DAY < b"),
    "left": Mistake("left is not supported", "write substring(x, 1, 3)"),
    "right": Mistake("right is not supported", "write substring(x, -3)"),
    **dict.fromkeys(("date", "to_date", "timestamp", "to_timestamp"), Mistake(
        "this makes a time of a string",
        "write CAST(x AS DATE), or x >= DATE '2026-01-31' AND x < DATE '2026-02-01' for a day",
    )),
}  # fmt: skip

# Types of other dialects, behind CAST and ::.
TYPES_ELSEWHERE: Final = {
    **dict.fromkeys(
        ("FLOAT", "REAL", "FLOAT4", "FLOAT8", "DECIMAL", "NUMERIC"), "write CAST(x AS DOUBLE)"
    ),
    **dict.fromkeys(
        ("SIGNED", "UNSIGNED", "INT8", "UBIGINT", "HUGEINT"), "write CAST(x AS BIGINT)"
    ),
    **dict.fromkeys(("CHAR", "NVARCHAR", "BPCHAR", "CLOB"), "write CAST(x AS STRING)"),
    "DATETIME": "write CAST(x AS TIMESTAMP)",
}

_QUOTES: Final = frozenset("‘’‚‛“”„‟´«»′″")  # noqa: RUF001  # those of word processors
_DASHES: Final = frozenset("−–—‐‑")  # noqa: RUF001
_LEADING: Final = frozenset({"WHERE", "HAVING", "ON", "FILTER"})
_BEGINNINGS: Final = frozenset(
    {
        *(TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER),
        *(TokenType.L_PAREN, TokenType.TRUE, TokenType.FALSE),
    }
)
_BEHIND_NAME: Final = frozenset(
    {
        *(TokenType.IN, TokenType.BETWEEN, TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE),
        *(TokenType.IS, TokenType.AND, TokenType.OR, TokenType.DIV),
    }
)
_DIGITS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_MAX_HEXADECIMAL: Final = 18  # characters: what 64 bits can hold
_SIGNS: Final = frozenset("=<>!~:^*")


class MistakeReader(TokenReader):
    """Refuses what is known from elsewhere, with what to write instead."""

    def _refuse(self, mistake: Mistake, at: Token | None = None) -> NoReturn:
        self._unsupported(mistake.message, mistake.hint, at)

    def _skip_leading_word(self) -> None:
        """Skip a WHERE before the condition; one that is compared is an attribute's name."""
        token, following = self._token, self._peek(1)
        if token.token_type is TokenType.IDENTIFIER or token.text.upper() not in _LEADING:
            return
        if following.token_type is TokenType.NOT:
            begins = self._peek(2).token_type not in _BEHIND_NAME
        else:
            is_word = following.text[:1].isalpha() and following.token_type not in _BEHIND_NAME
            begins = is_word or following.token_type in _BEGINNINGS
        if begins and token.token_type is TokenType.WHERE:
            self._advance()
        elif begins:
            word = token.text.upper()
            self._refuse(Mistake(f"{_CONDITION}: {word} is not part of it", f"leave out {word}"))

    def _refuse_known_value(self) -> None:
        """Refuse what stands where a value should, if it is one of the usual mistakes."""
        token, following = self._token, self._peek(1)
        self._refuse_signs()
        self._refuse_odd_characters()
        if token.token_type is TokenType.HEX_STRING:
            self._refuse_hexadecimal()
        if token.token_type is TokenType.NATIONAL_STRING or (
            len(token.text) == 1
            and token.text.isalpha()
            and following.token_type is TokenType.STRING
            and following.start == token.end + 1
        ):
            self._refuse(Mistake("strings have no such prefix", "write 'IBM', or r'\\d' as it is"))
        if token.text[:1].isdigit() and token.token_type is TokenType.VAR:
            self._refuse_number(token.text)
        known = AT_VALUE.get(token.text.upper())
        if known is not None and token.token_type is not TokenType.IDENTIFIER:
            self._refuse(known)

    def _refuse_known_continuation(self) -> None:
        """Refuse what stands behind a name or a test, if it is one of the usual mistakes."""
        token, previous = self._token, self._previous
        self._refuse_signs()
        self._refuse_odd_characters()
        if previous.token_type is TokenType.NUMBER and token.start == previous.end + 1:
            self._refuse_broken_number()
        known = BEHIND_TEST.get(token.text.upper())
        if known is not None and token.token_type is not TokenType.IDENTIFIER:
            self._refuse(known)

    def _refuse_behind_test(self) -> None:
        """The same behind a whole test."""
        token, previous = self._token, self._previous
        self._refuse_known_continuation()
        if token.token_type is TokenType.COMMA:
            self._refuse(Mistake("conditions are not listed", "write AND or OR between them"))
        if token.token_type is TokenType.IS or (
            self._is_comparison(token) and previous.token_type is TokenType.R_PAREN
        ):
            self._refuse(_TRUTH)
        if self._is_comparison(token):
            self._refuse(
                Mistake("comparisons do not chain", "write x BETWEEN 1 AND 5, or x > 1 AND x < 5")
            )
        if token.token_type is TokenType.L_PAREN and self._peek(-2).token_type is TokenType.DOT:
            self._refuse(Mistake("functions are not called this way", "write contains(x, 'part')"))

    @staticmethod
    def _is_comparison(token: Token) -> bool:
        return token.token_type in _COMPARISONS

    def _refuse_signs(self) -> None:
        """Two signs that make no operator, or one that is another's here."""
        token, previous = self._token, self._peek(-1) if self._position else END
        written, at = token.text.upper(), token
        if previous is not END and {*previous.text, *token.text} <= _SIGNS:
            apart = "" if token.start == previous.end + 1 else " "
            written, at = previous.text + apart + token.text, previous
        right = OPERATORS.get(written)
        if right is not None and token.token_type is not TokenType.IDENTIFIER:
            shown = self._text[at.start : token.end + 1]
            self._refuse(Mistake(f"there is no operator {shown}", f"write {right}"), at)

    def _refuse_odd_characters(self) -> None:
        token = self._token
        if token.token_type is not TokenType.VAR:
            return
        if _QUOTES & set(token.text):
            self._refuse(Mistake("these are not the quotes of SQL", "use straight ones: 'IBM'"))
        if token.text[:1] in _DASHES:
            self._refuse(Mistake("this is not the minus sign of SQL", "write - for minus"))
        signs = [sign for sign in OPERATORS if len(sign) == 1 and sign in token.text]
        if signs:
            self._refuse(
                Mistake(f"there is no operator {signs[0]}", f"write {OPERATORS[signs[0]]}")
            )

    def _refuse_hexadecimal(self) -> NoReturn:
        written = self._text[self._token.start : self._token.end + 1]
        if written[:2].lower() == "0x":
            short = len(written) <= _MAX_HEXADECIMAL
            right = f"write {int(written, 16)}" if short else "write it with the digits 0 to 9"
            self._refuse(Mistake("numbers are decimal", right))
        self._refuse(Mistake("bytes are not supported", "write a string: 'IBM'"))

    def _refuse_number(self, written: str) -> NoReturn:
        message = f"{written!r} is neither a number nor a name"
        plain = written.replace("_", "")
        if _DIGITS.fullmatch(plain):
            self._refuse(Mistake(message, f"write {plain}"))
        digits = _DIGITS.match(written)
        if digits and written[digits.end() :].upper() in {"AND", "OR", "BETWEEN", "IN"}:
            self._refuse(Mistake(message, f"put a space behind {digits.group()}"))
        self._refuse(
            Mistake(message, "put strings in quotes, '5k', and odd names in back-quotes, `5k`")
        )

    def _refuse_broken_number(self) -> None:
        """What touches the end of a number: dates, times and thousands without quotes."""
        sign, following = self._token.text, self._peek(1)
        if following.token_type is not TokenType.NUMBER or following.start != self._token.end + 1:
            return
        if sign == ",":
            self._refuse(Mistake("numbers have no commas inside", "write 1000 for 1,000"))
        if sign in {"-", ".", ":", "/"}:
            self._refuse(
                Mistake(
                    "this is not a number",
                    "put dates and times in quotes: DATE '2026-01-31', "
                    "TIMESTAMP '2026-01-31 09:30:00'",
                )
            )
