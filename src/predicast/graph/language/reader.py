"""Walking over the words of a text, and reading terms: IRIs, prefixed names, literals."""

from __future__ import annotations

import re
from typing import Final, NoReturn
from urllib.parse import urljoin

from predicast.errors import (
    NestingTooDeepError,
    ParseError,
    UnsupportedSyntaxError,
    shortened,
    suggest,
)
from predicast.graph.language.tokens import Token, tokens_of, unescaped, unquoted
from predicast.graph.names import BOOLEAN, DECIMAL, DOUBLE, INTEGER, OWL, RDF, RDFS, XSD
from predicast.graph.ontology import Ontology
from predicast.graph.terms import Iri, Literal, Variable
from predicast.language.where.position import error_at
from predicast.model import Value
from predicast.model.values import lone_surrogate

MAX_NESTING: Final = 64
_PREFIXES: Final = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD}
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_NUMBERS: Final = {"integer": INTEGER, "decimal": DECIMAL, "double": DOUBLE}
_ESCAPED_IN_NAME: Final = re.compile(r"\\(.)")


class TermReader:
    """The words of a text, read from left to right, with one word of look-ahead."""

    def __init__(self, text: str, ontology: Ontology) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._position = 0
        self._token = self._tokens[0]
        self._ontology = ontology
        self._prefixes: dict[str, str] = {**_PREFIXES, **ontology.prefixes}
        self._base: str | None = None
        self._iris: dict[str, Iri] = {}  # by how they are written, once all is declared
        self._variables: dict[str, Variable] = {}
        self._depth = 0
        at = lone_surrogate(text)
        if at is not None:
            raise error_at(ParseError, text, at, "half of a character, which is not Unicode")

    # Words.

    def _advance(self) -> Token:
        token = self._token
        if token.kind != "end":
            self._position += 1
            self._token = self._tokens[self._position]
        return token

    def _peek(self, ahead: int) -> Token:
        return self._tokens[min(self._position + ahead, len(self._tokens) - 1)]

    def _at(self, sign: str) -> bool:
        return self._token.text == sign and self._token.kind == "sign"

    def _take(self, sign: str) -> bool:
        if self._at(sign):
            self._advance()
            return True
        return False

    def _expect(self, sign: str, what: str) -> Token:
        if not self._at(sign):
            self._fail(f"expected {what}, not {self._shown()}")
        return self._advance()

    def _at_word(self, word: str) -> bool:
        return self._token.kind == "word" and self._token.text.upper() == word

    def _take_word(self, word: str) -> bool:
        if self._at_word(word):
            self._advance()
            return True
        return False

    def _shown(self) -> str:
        return "the end" if self._token.kind == "end" else repr(self._token.text)

    def _fail(self, message: str, at: Token | None = None, hint: str | None = None) -> NoReturn:
        start = (at or self._token).start
        raise error_at(ParseError, self._text, start, message, hint=hint)

    def _unsupported(self, what: str, hint: str, at: Token | None = None) -> NoReturn:
        start = (at or self._token).start
        message = f"{what} cannot be part of a subscription"
        raise error_at(UnsupportedSyntaxError, self._text, start, message, hint=hint)

    def _deeper(self) -> None:
        """Note that something opens inside of something; whoever closes it counts back."""
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise NestingTooDeepError(
                f"groups and parentheses nest deeper than {MAX_NESTING}",
                limit=MAX_NESTING,
                actual=self._depth,
            )

    # Declarations and terms.

    def _prologue(self) -> None:
        while True:
            if self._take_word("PREFIX"):
                token = self._advance()
                if token.kind != "name" or not token.text.endswith(":"):
                    self._fail("expected a prefix such as shop: after PREFIX", token)
                self._prefixes[token.text[:-1]] = self._declared_iri("the IRI of the prefix")
            elif self._take_word("BASE"):
                self._base = self._declared_iri("an IRI after BASE")
            else:
                return

    def _declared_iri(self, what: str) -> str:
        if self._token.kind != "iri":
            self._fail(f"expected {what} in < and >, not {self._shown()}")
        return self._resolved(self._advance())

    def _at_iri(self) -> bool:
        return self._token.kind in {"iri", "name"}

    def _iri(self, what: str = "an IRI") -> Iri:
        token = self._token
        if token.kind not in {"iri", "name"}:
            self._fail(f"expected {what}, not {self._shown()}")
        self._advance()
        known = self._iris.get(token.text)
        if known is None:
            is_whole = token.kind == "iri"
            known = Iri(self._resolved(token) if is_whole else self._expanded(token))
            self._iris[token.text] = known
        return known

    def _named_variable(self, name: str) -> Variable:
        """One object for all mentions of a variable."""
        return self._variables.setdefault(name, Variable(name))

    def _resolved(self, token: Token) -> str:
        iri = token.text[1:-1]
        if "\\" in iri:
            iri = unescaped(iri, token.start + 1, self._text)
        if _ABSOLUTE.match(iri):
            return iri
        if self._base is None:
            self._fail(f"{token.text} is relative, and there is no BASE", token)
        return urljoin(self._base, iri)

    def _expanded(self, token: Token) -> str:
        prefix, _, local = token.text.partition(":")
        if prefix not in self._prefixes:
            close = suggest(prefix, self._prefixes) if prefix else None
            hint = f"did you mean {close}:?" if close else f"write PREFIX {prefix}: <...> before it"
            self._fail(f"the prefix {prefix}: is not declared", token, hint)
        if "\\" in local:
            local = _ESCAPED_IN_NAME.sub(r"\1", local)
        return self._prefixes[prefix] + local

    def _at_literal(self) -> bool:
        kind = self._token.kind
        return kind in {"string", "long"} or kind in _NUMBERS or self._at_boolean()

    def _at_boolean(self) -> bool:
        return self._token.kind == "word" and self._token.text in {"true", "false"}

    def _literal(self) -> Literal:
        token = self._advance()
        if token.kind in _NUMBERS:
            return Literal(token.text, _NUMBERS[token.kind])
        if token.kind == "word":
            return Literal(token.text, BOOLEAN)
        text = unquoted(token, self._text)
        if self._token.kind == "language":
            return Literal(text, language=self._advance().text[1:])
        if self._take("^^"):
            return Literal(text, self._iri("a datatype after ^^").value)
        return Literal(text)

    def _value(self, literal: Literal, at: Token) -> Value | None:
        """The value of a literal; ``None`` if nobody knows the datatype."""
        value = self._ontology.value_of(literal)
        if value is None and literal.datatype in _COMPARABLE:
            text = shortened(literal.text)
            self._fail(f"{text} is no {literal.datatype.removeprefix(XSD)} we can compare", at)
        return value


_COMPARABLE: Final = frozenset(_NUMBERS.values()) | {
    XSD + name for name in ("boolean", "float", "date", "dateTime", "int", "long")
}
