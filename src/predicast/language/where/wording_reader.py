"""From ``where`` text to its wording: the parser, which keeps here what stands where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from predicast.language.where.cache import filled
from predicast.language.where.parser import Group, Parser
from predicast.language.where.shape import ConstraintTemplate, Literal
from predicast.language.where.tokens import END
from predicast.language.where.truth import Written, plain
from predicast.language.wording import Phrase, Wording
from predicast.model import And, Constraint, Leaf, Not, Or, Value
from predicast.model.expression import Node, leaves_of, mapped

_LINE_BREAK: Final = re.compile(r"\s*\n\s*")


def read_wording(text: str, parameters: Mapping[str, Value] | None = None) -> Wording:
    """The wording of a text that can be read."""
    reader = _WordingReader(text, parameters=parameters is not None)
    return _Filling(text, parameters or {}).wording(reader.pieces())


@dataclass(frozen=True, slots=True)
class _Piece:
    """A test of the text, or an IS and the condition in parentheses that it is about."""

    start: int
    end: int
    written: Written
    part: Node[_Piece] | None = None


class _WordingReader(Parser):
    """Reads a condition of pieces: each is what the parser makes of it, and where it stands."""

    _within = False  # a test: conditions inside it, as in CASE, are its own business

    def pieces(self) -> Node[_Piece]:
        self._skip_leading_word()
        return self._condition(END.token_type)  # type: ignore[return-value]  # of _test's leaves

    def _test(self) -> Written:
        if self._within:
            return super()._test()
        start = self._token.start
        self._within = True
        written = super()._test()
        self._within = False
        return self._piece(_Piece(start, self._previous.end + 1, written))

    def _is_truth(self, node: Written, group: Group | None = None) -> Written:
        if self._within:
            return super()._is_truth(node, group)
        start = self._token.start
        part: Node[_Piece] = node  # type: ignore[assignment]  # of _test's leaves
        written = super()._is_truth(_as_parsed(part), group)
        return self._piece(_Piece(start, self._previous.end + 1, written, part))

    def _piece(self, piece: _Piece) -> Written:
        return Leaf(piece)  # type: ignore[arg-type]  # pieces() gives it its type back


def _as_parsed(node: Node[_Piece]) -> Written:
    match node:
        case Leaf(piece):
            return piece.written
        case Not(part):
            return Not(_as_parsed(part))
        case And(parts):
            return And(tuple(map(_as_parsed, parts)))
        case Or(parts):
            return Or(tuple(map(_as_parsed, parts)))


def _parameters(written: Written) -> list[str]:
    """The names of the parameters in a test, each once."""
    named = [each.parameter for test in leaves_of(plain(written)) for each in test.literals]
    return list(dict.fromkeys(name for name in named if name is not None))


def _affirms(text: str) -> bool:
    """Whether an IS asks for the truth of what stands in the parentheses before it."""
    words = text.upper().split()
    return ("TRUE" in words) is not ("NOT" in words)


class _Filling:
    """Makes constraints of templates: of the literals of the text, and the values of parameters."""

    def __init__(self, text: str, parameters: Mapping[str, Value]) -> None:
        self._text = text
        self._parameters = parameters

    def wording(self, node: Node[_Piece]) -> Wording:
        return mapped(node, self._phrase)

    def _phrase(self, piece: _Piece) -> Phrase:
        used = _parameters(piece.written) if self._parameters else []
        text = _LINE_BREAK.sub(" ", self._text[piece.start : piece.end])
        return Phrase(
            text,
            mapped(plain(piece.written), self._constraint),
            mapped(plain(Not(piece.written)), self._constraint),
            None if piece.part is None else self.wording(piece.part),
            tuple((name, self._parameters[name]) for name in used),
            piece.part is None or _affirms(text),
        )

    def _constraint(self, template: ConstraintTemplate) -> Constraint:
        if any(literal.parameter for literal in template.literals):
            return template.fill(self._value)
        return filled(template, self._text)

    def _value(self, literal: Literal) -> Value:
        if literal.parameter is not None:
            return self._parameters[literal.parameter]
        return literal.convert(self._text[literal.start : literal.end])
