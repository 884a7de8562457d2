"""Constraints made of what was read; tests of patterns, LIKE and ILIKE, and of classes, IS A."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from predicast.language.class_tests import NO_CLASSES, WITH_ONTOLOGY, implied_vocabulary
from predicast.language.where.cases import CaseReader
from predicast.language.where.lowered import lowered_literal, lowered_pattern
from predicast.language.where.scalars import Operand
from predicast.language.where.shape import ConstraintTemplate, Literal
from predicast.language.where.truth import Written
from predicast.model import And, Kind, Leaf, Not, Operator, Or

_QUANTIFIERS: Final = frozenset({TokenType.ANY, TokenType.SOME, TokenType.ALL})


class ConstraintReader(CaseReader):
    """Makes constraints of operands; reads what stands behind LIKE and ILIKE."""

    def _constraint(
        self, left: Operand, operator: Operator, at: Token, *operands: Operand
    ) -> ConstraintTemplate:
        literals = tuple(each.literal for each in operands if each.literal is not None)
        kinds = {literal.kind for literal in literals if literal.kind is not None}
        if len(kinds) > 1:
            mixed = " and ".join(sorted(kind.value for kind in kinds))
            self._fail(f"the values of {operator.value} are of one kind, not {mixed}", at)
        if not kinds <= operator.kinds:
            self._fail(
                f"{operator.value} does not order booleans", at, hint="write x = TRUE or x = FALSE"
            )
        assert left.tree is not None
        fixed = (*left.fixed, *(span for each in operands for span in each.fixed))
        return ConstraintTemplate(self._attribute(left.tree), operator, literals, at.start, fixed)

    def _truth(self, operand: Operand, start: int) -> ConstraintTemplate:
        assert operand.tree is not None
        truth = Literal(start, start, lambda _: True, Kind.BOOLEAN)
        name = self._attribute(operand.tree)
        return ConstraintTemplate(name, Operator.EQ, (truth,), start, operand.fixed)

    # Classes.

    def _at_class_test(self) -> bool:
        is_quoted = self._token.token_type in {TokenType.IDENTIFIER, TokenType.STRING}
        return self._token.text.upper() == "A" and not is_quoted

    def _class_test(self, left: Operand, at: Token) -> Written:
        """One of the names of a class and of all below it, looked up when the test is filled."""
        word = self._advance()
        if implied_vocabulary() is None:
            self._fail(NO_CLASSES, word, hint=WITH_ONTOLOGY)
        named = self._string_or_parameter("after IS A")
        if named.parameter is None:
            name = named.convert(self._text[named.start : named.end])
            # It stands nowhere in the text, which is therefore never taken for the shape of others.
            named = Literal(named.start, named.start, lambda _: name, Kind.STRING)
        test = self._constraint(left, Operator.IN, at, literal_operand(named))
        return Leaf(replace(test, names_class=True))

    # Patterns.

    def _like(self, left: Operand, at: Token, *, negated: bool) -> Written:
        word = self._advance()
        ignores_case = word.token_type is TokenType.ILIKE
        if ignores_case:
            left = self._in_lower_case(left)
        quantifier = self._token
        if quantifier.token_type not in _QUANTIFIERS:
            only = self._like_one(left, at, word)
            return Not(only) if negated else only
        self._advance()
        what = f"{word.text.upper()} {quantifier.text.upper()}"
        self._expect(
            TokenType.L_PAREN, f"a parenthesis after {what}", "list them: x LIKE ANY ('a%', '%b')"
        )
        tests: list[Written] = []
        while not tests or self._take(TokenType.COMMA):
            pattern = self._pattern(f"in the list of {what}", ignores_case=ignores_case)
            if ignores_case:
                pattern = lowered_literal(pattern)
            test: Written = Leaf(
                self._constraint(left, Operator.LIKE, at, literal_operand(pattern))
            )
            # As in Spark, NOT is said of each: x NOT LIKE ANY holds if x is unlike one of them.
            tests.append(Not(test) if negated else test)
        self._expect(TokenType.R_PAREN, f"a comma or the closing parenthesis of {what}")
        if len(tests) == 1:
            return tests[0]
        return And(tuple(tests)) if quantifier.token_type is TokenType.ALL else Or(tuple(tests))

    def _like_one(self, left: Operand, at: Token, word: Token) -> Written:
        ignores_case = word.token_type is TokenType.ILIKE
        parts = [self._pattern(f"after {word.text.upper()}", ignores_case=ignores_case)]
        fixed: tuple[tuple[int, int], ...] = ()
        if self._take(TokenType.ESCAPE) and not ignores_case:
            parts.append(self._string_or_parameter("after ESCAPE"))
        elif self._previous.token_type is TokenType.ESCAPE:
            # What becomes of the pattern depends on its escape: the two are one constant.
            parts = lowered_pattern(self._text, parts[0], self._string("after ESCAPE"))
            fixed = ((parts[0].start, parts[-1].end),)
        elif ignores_case:
            parts = [lowered_literal(parts[0])]
        operands = [Operand(None, part, part.start, fixed) for part in parts]
        return Leaf(self._constraint(left, Operator.LIKE, at, *operands))

    def _pattern(self, where: str, *, ignores_case: bool) -> Literal:
        if not ignores_case:
            return self._string_or_parameter(where)
        if self._token.token_type is TokenType.COLON:
            self._fail(
                "ILIKE takes no parameter",
                hint="write lower(x) LIKE :p, with a value in lower case",
            )
        return self._string(where)

    def _in_lower_case(self, operand: Operand) -> Operand:
        assert operand.tree is not None
        tree = self._called("lower", [(operand.tree, operand.start)], operand.start)
        return operand._replace(tree=tree)


def literal_operand(literal: Literal) -> Operand:
    """A literal that stands alone."""
    return Operand(None, literal, literal.start)
