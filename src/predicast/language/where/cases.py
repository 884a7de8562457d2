"""CASE: the one expression that holds conditions, and so recurses into the parser.

The condition of a CASE is kept as it was written, with the literals of its text: they are part of
what is computed, and so of the attribute's name.
"""

from __future__ import annotations

from typing import Final

from sqlglot.tokenizer_core import TokenType

from predicast.derived import Case, Input, Span, Test, Tree
from predicast.derived.functions import check_alike, checked_depth
from predicast.errors import InvalidExpressionError, NestingTooDeepError, ParseError
from predicast.language.where.cache import filled
from predicast.language.where.mistakes import AT_VALUE
from predicast.language.where.position import error_at
from predicast.language.where.scalars import ScalarReader
from predicast.language.where.truth import Plain, Written, plain
from predicast.model import And, Leaf, Not, Or
from predicast.model.expression import Node

_MAX_CASES: Final = 8  # inside one another
_CASE: Final = "write CASE WHEN x > 5 THEN 'high' ELSE 'low' END"


class CaseReader(ScalarReader):
    """Reads CASE; the parser reads the conditions in it."""

    def __init__(self, text: str, *, parameters: bool = False) -> None:
        super().__init__(text, parameters=parameters)
        self._cases = 0  # that are open

    def _case(self) -> Tree:
        at = self._advance()
        self._cases += 1
        if self._cases > _MAX_CASES:
            raise NestingTooDeepError(
                f"CASE stands inside CASE more than {_MAX_CASES} times",
                limit=_MAX_CASES,
                actual=self._cases,
            )
        subject = None
        if self._token.token_type is not TokenType.WHEN:
            start = self._token.start
            subject = self._scalar("a value"), start
        branches: list[tuple[Node[Test], Tree]] = []
        starts: list[int] = []
        while self._take(TokenType.WHEN):
            condition = self._when(subject)
            self._expect(TokenType.THEN, "THEN behind the condition", _CASE)
            starts.append(self._token.start)
            branches.append((condition, self._result()))
        if not branches:
            self._fail("expected WHEN", hint=_CASE)
        otherwise = None
        if self._take(TokenType.ELSE) and not self._take(TokenType.NULL):
            starts.append(self._token.start)
            otherwise = self._result()
        self._expect(TokenType.END, "WHEN, ELSE or END", _CASE)
        self._cases -= 1
        results = [result for _, result in branches]
        try:
            check_alike("CASE", results if otherwise is None else [*results, otherwise])
        except InvalidExpressionError as error:
            place = at.start if error.argument is None else starts[error.argument]
            raise error_at(ParseError, self._text, place, error.message) from error
        return checked_depth(Case(tuple(branches), otherwise))

    def _result(self) -> Tree:
        token = self._token
        tree = self._scalar("a value")
        if isinstance(tree, Span):
            self._refuse(AT_VALUE["INTERVAL"], token)
        return tree

    def _when(self, subject: tuple[Tree, int] | None) -> Node[Test]:
        if subject is None:
            return self._filled(plain(self._condition(TokenType.THEN)))
        start = self._token.start
        value = self._scalar("a value")
        return self._filled(plain(self._compared("=", subject, (value, start))))

    def _filled(self, node: Plain) -> Node[Test]:
        """The condition with the literals of this text."""
        match node:
            case Leaf(template):
                if any(literal.parameter for literal in template.literals):
                    self._fail("a parameter is not computed with")
                subject = self._trees.get(template.attribute, Input(template.attribute))
                return Leaf(Test(subject, filled(template, self._text)))
            case Not(part):
                return Not(self._filled(part))
            case And(parts):
                return And(tuple(map(self._filled, parts)))
            case Or(parts):
                return Or(tuple(map(self._filled, parts)))

    def _condition(self, end: TokenType) -> Written:
        """A condition up to a word; the parser's business."""
        raise NotImplementedError

    def _compared(self, operator: str, left: tuple[Tree, int], right: tuple[Tree, int]) -> Written:
        """A comparison as a test; the parser's business."""
        raise NotImplementedError
