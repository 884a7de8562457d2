"""Expressions over attributes, on either side of a comparison.

::

    scalar    = sum { ( = | < | ... ) sum }         compared only inside parentheses
    sum       = product { ( + | - | "||" ) product }
    product   = signed { ( * | / | % ) signed }
    signed    = { - | + } cast
    cast      = primary { "::" type }
    primary   = name | literal | "(" scalar ")" | function "(" scalar { "," scalar } ")"
              | CAST "(" scalar AS type ")" | INTERVAL spans
              | CASE [ scalar ] { WHEN condition THEN scalar } [ ELSE scalar ] END

Precedence is Spark's. Open parentheses and calls are a stack of frames instead of recursion; only a
CASE recurses, and may stand in another a few times. Constants are computed at once: what is left of
``60 * 24`` is a literal like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, NoReturn

from sqlglot.tokenizer_core import Token, TokenType

from predicast.derived import CLOCK, Constant, Input, Span, Tree, call
from predicast.derived.functions import TYPES, WORDS
from predicast.errors import (
    InvalidExpressionError,
    ModelError,
    NestingTooDeepError,
    ParseError,
    UnknownFunctionError,
    suggest,
)
from predicast.language.where.mistakes import (
    AT_VALUE,
    BEHIND_TEST,
    CALLS,
    FUNCTIONS_ELSEWHERE,
    TYPES_ELSEWHERE,
)
from predicast.language.where.operands import (
    FUNCTIONS,
    LIST_FUNCTIONS,
    OperandReader,
)
from predicast.language.where.position import error_at
from predicast.language.where.scalar_text import name_of
from predicast.language.where.scalar_tokens import (
    BARE_CLOCKS,
    BEHIND_VALUE,
    BINARY,
    CLOCKS,
    COMPARED,
    COMPARING,
    COMPUTED_FUNCTIONS,
    CONTINUES,
    LITERALS,
    NO_VALUES,
    OF_CONDITIONS,
    SIGNED,
    TESTS,
    TRUTHS,
    UNQUOTED_DATE,
    is_of_float,
    token_at,
)
from predicast.language.where.shape import Literal
from predicast.language.where.tokens import END
from predicast.model.values import canonical_number, kind_of

MAX_NESTING: Final = 64


class Operand(NamedTuple):
    """One side of a comparison: an expression over attributes, or a literal."""

    tree: Tree | None
    literal: Literal | None
    start: int
    fixed: tuple[tuple[int, int], ...] = ()  # where literals are part of what is computed


class _Operator(NamedTuple):
    function: str
    level: int
    at: int
    is_sign: bool = False


@dataclass(slots=True)
class _Frame:
    """An open parenthesis or call, or the whole expression."""

    start: int
    function: str | None = None
    operands: list[tuple[Tree, int]] = field(default_factory=list)
    operators: list[_Operator] = field(default_factory=list)
    arguments: list[tuple[Tree, int]] = field(default_factory=list)


class ScalarReader(OperandReader):
    """Reads what a test is about, and what it compares that with."""

    def __init__(self, text: str, *, parameters: bool = False) -> None:
        super().__init__(text, parameters=parameters)
        self._trees: dict[str, Tree] = {}  # of the derived attributes read so far, by name
        self._is_computing = False

    # One operand.

    def _operand(self, what: str, *, first: bool = False) -> Operand:
        """A name, a literal, or an expression; ``first``, where a test begins."""
        begin, token = self._position, self._token
        if self._at_lone_literal(token):
            literal = self._literal(what)
            if self._token.token_type not in CONTINUES:
                return Operand(None, literal, token.start)
        elif self._at_name() and not (self._at_call() or self._at_span() or self._at_clock()):
            if not first and token.token_type is not TokenType.IDENTIFIER:
                self._refuse_known_value()
            name = self._name()
            if self._token.token_type not in CONTINUES:
                return Operand(Input(name), None, token.start)
        elif not self._at_scalar():
            self._fail_at_operand(what)
        self._position = begin
        tree = self._scalar(what)
        if isinstance(tree, Span):
            self._refuse(AT_VALUE["INTERVAL"], token)
        return self._as_operand(tree, token.start)

    def _at_lone_literal(self, token: Token) -> bool:
        # The usual kinds of token first: most operands are a name or a number.
        if token.token_type in LITERALS:
            return True
        if token.token_type is TokenType.VAR and self._peek(1).token_type in COMPARED:
            return False
        return self._at_literal() and not self._at_sign()

    def _as_operand(self, tree: Tree, start: int) -> Operand:
        """What was computed from there up to here."""
        span = (start, self._previous.end + 1)
        if not isinstance(tree, Constant):
            return Operand(tree, None, start, (span,))
        value = tree.value
        if isinstance(value, float):
            value = canonical_number(value)
        return Operand(None, Literal(*span, lambda _: value, kind_of(value)), start, (span,))

    def _attribute(self, tree: Tree) -> str:
        """The name of the attribute that an expression makes."""
        name = name_of(tree)
        self._trees[name] = tree
        return name

    def _at_sign(self) -> bool:
        return self._token.token_type in {TokenType.DASH, TokenType.PLUS} and self._peek(
            1
        ).token_type not in {TokenType.NUMBER, TokenType.DOT, TokenType.COLON}

    def _at_call(self) -> bool:
        return (
            self._peek(1).token_type is TokenType.L_PAREN
            and self._token.token_type is not TokenType.IDENTIFIER
        )

    def _at_scalar(self) -> bool:
        """Whether an expression begins here that is neither a name nor a literal."""
        token = self._token
        if token.token_type in {TokenType.L_PAREN, TokenType.CASE} or self._at_sign():
            return True
        if self._at_span() or self._at_clock():
            return True
        return self._at_name() and self._at_call()

    def _at_clock(self) -> bool:
        if self._token.token_type in BARE_CLOCKS:
            return self._peek(1).token_type is not TokenType.DOT
        return self._at_call() and self._token.text.lower() in CLOCKS

    def _at_parenthesised_value(self) -> bool:
        """Whether the parenthesis here holds a value, and not a condition."""
        depth, compares = 0, False
        for position in range(self._position, len(self._tokens)):
            kind = self._tokens[position].token_type
            if kind is TokenType.L_PAREN:
                depth += 1
            elif kind is TokenType.R_PAREN:
                depth -= 1
                if depth == 0:
                    return self._is_behind_value(position + 1)
            elif kind is TokenType.CASE:
                compares = True  # its conditions are its own
            elif depth == 1 and kind in OF_CONDITIONS and not compares:
                return False
        return False

    def _is_behind_value(self, end: int) -> bool:
        """Whether what follows the parenthesis that ends there is said of a value.

        IS TRUE is said of conditions, IS NULL of either.
        """
        ahead = end - self._position
        token = self._peek(ahead)
        if token.token_type is TokenType.IS:
            ahead += 2 if self._peek(ahead + 1).token_type is TokenType.NOT else 1
            word = self._peek(ahead).token_type
            if word is TokenType.NULL:
                return not self._has_condition(end)
            return word not in TRUTHS
        return token is not END and token.token_type in BEHIND_VALUE

    def _has_condition(self, end: int) -> bool:
        """Whether something stands from here to there that no value has in it."""
        for position in range(self._position, end):
            token, following = self._tokens[position], self._tokens[position + 1]
            if token.token_type is TokenType.CASE:
                return False
            is_call = following.token_type is TokenType.L_PAREN
            if token.token_type in NO_VALUES or (is_call and token.text.lower() in TESTS):
                return True
        return False

    # Expressions.

    def _scalar(self, what: str) -> Tree:
        outer, self._is_computing = self._is_computing, True
        frames = [_Frame(self._token.start)]
        tree = None
        while tree is None:
            if self._opens(frames, what):
                continue
            tree = self._behind_operand(frames)
        self._is_computing = outer
        return tree

    def _opens(self, frames: list[_Frame], what: str) -> bool:
        """Read a sign, an opening parenthesis or an operand; whether an operand is still due."""
        token, frame = self._token, frames[-1]
        if self._at_sign():
            self._advance()
            if token.token_type is TokenType.DASH:
                frame.operators.append(_Operator("negative", SIGNED, token.start, is_sign=True))
            return True
        if token.token_type is TokenType.L_PAREN:
            self._advance()
            self._open(frames, _Frame(token.start))
            return True
        if self._at_clock():
            frame.operands.append((self._clock(), token.start))
            return False
        if self._at_name() and self._at_call() and not self._at_literal():
            self._open(frames, _Frame(token.start, self._function()))
            return True
        frame.operands.append((self._primary(what), token.start))
        return False

    def _open(self, frames: list[_Frame], frame: _Frame) -> None:
        frames.append(frame)
        if len(frames) - 1 > MAX_NESTING:
            raise NestingTooDeepError(
                f"parentheses and calls nest deeper than {MAX_NESTING}",
                limit=MAX_NESTING,
                actual=len(frames) - 1,
            )

    def _clock(self) -> Tree:
        """``now()``, or the day on which it is."""
        called = self._advance()
        if self._take(TokenType.L_PAREN):
            hint = "it takes nothing, and is when the event arrives, in UTC"
            self._expect(TokenType.R_PAREN, f"the closing parenthesis of {called.text}()", hint)
        return CLOCK if CLOCKS[called.text.lower()] is None else call("cast DATE", [CLOCK])

    def _primary(self, what: str) -> Tree:
        token = self._token
        if token.token_type is TokenType.CASE:
            return self._case()
        if self._at_span():
            return self._spans()
        if self._at_literal():
            return self._constant_of(self._position)
        if not self._at_name():
            self._fail_at_operand(what if self._position == 0 else "a value")
        if token.token_type is not TokenType.IDENTIFIER:
            self._refuse_known_value()
        return Input(self._name())

    def _constant_of(self, begin: int) -> Constant:
        literal = self._literal("")
        try:
            value = literal.convert(self._text[literal.start : literal.end])
        except ModelError as error:
            raise error_at(ParseError, self._text, literal.start, error.message) from error
        is_float = any(map(is_of_float, self._tokens[begin : self._position]))
        return Constant(float(value) if type(value) is int and is_float else value)

    def _parameter(self) -> Literal:
        if self._is_computing:
            self._fail(
                "a parameter is not computed with",
                hint="it stands alone on one side: price * qty > :limit",
            )
        return super()._parameter()

    def _behind_operand(self, frames: list[_Frame]) -> Tree | None:
        """Read on behind an operand, up to where another is due or the expression ends."""
        while True:
            token, frame = self._token, frames[-1]
            kind = token.token_type
            if kind is TokenType.DCOLON:
                self._advance()
                tree, start = frame.operands.pop()
                cast = f"cast {self._type()}"
                frame.operands.append((self._called(cast, [(tree, start)], start), start))
            elif kind in BINARY:
                self._binary(frame, *BINARY[kind])
                return None
            elif len(frames) == 1:
                return self._reduced(frame)[0]
            elif kind in COMPARED and frame.function is None:
                if frame.operators and frame.operators[0].level == COMPARING:
                    self._refuse_behind_test()
                self._binary(frame, COMPARED[kind], COMPARING)
                return None
            elif kind is TokenType.COMMA and frame.function not in {None, "cast"}:
                self._advance()
                frame.arguments.append(self._reduced(frame))
                return None
            elif kind is TokenType.R_PAREN or (
                kind is TokenType.ALIAS and frame.function == "cast"
            ):
                self._close(frames)
            else:
                self._unclosed(frame)

    def _close(self, frames: list[_Frame]) -> None:
        frame = frames.pop()
        result = self._reduced(frame)
        if frame.function == "cast":
            self._expect(TokenType.ALIAS, "AS and a type in CAST", "write CAST(x AS BIGINT)")
            tree = self._called(f"cast {self._type()}", [result], frame.start)
            self._expect(TokenType.R_PAREN, "the closing parenthesis of CAST")
        else:
            self._advance()
            tree = result[0]
            if frame.function is not None:
                tree = self._called(frame.function, [*frame.arguments, result], frame.start)
        frames[-1].operands.append((tree, frame.start))

    def _unclosed(self, frame: _Frame) -> NoReturn:
        token = self._token
        if token is END:
            raise error_at(ParseError, self._text, frame.start, "this parenthesis is never closed")
        if token.token_type is TokenType.COMMA:
            self._unsupported(*AT_VALUE["("], at=token_at(self._tokens, frame.start))
        self._refuse_known_continuation()
        self._fail(f"expected an operator or the closing parenthesis, not {token.text!r}")

    def _binary(self, frame: _Frame, function: str, level: int) -> None:
        token = self._token
        date = UNQUOTED_DATE.match(self._text, self._previous.start)
        if date is not None and self._previous.token_type is TokenType.NUMBER:
            self._refuse_broken_number()
        while frame.operators and frame.operators[-1].level >= level:
            self._reduce(frame)
        frame.operators.append(_Operator(function, level, token.start))
        self._advance()

    def _reduced(self, frame: _Frame) -> tuple[Tree, int]:
        """All of a frame's operators applied."""
        while frame.operators:
            self._reduce(frame)
        return frame.operands.pop()

    def _reduce(self, frame: _Frame) -> None:
        operator = frame.operators.pop()
        right = frame.operands.pop()
        if operator.is_sign:
            frame.operands.append((self._called("negative", [right], operator.at), operator.at))
            return
        left = frame.operands.pop()
        frame.operands.append((self._combined(operator, left, right), left[1]))

    def _combined(
        self, operator: _Operator, left: tuple[Tree, int], right: tuple[Tree, int]
    ) -> Tree:
        function = operator.function
        spans = [isinstance(each, Span) for each, _ in (left, right)]
        if function in {"+", "-"} and any(spans) and not all(spans):
            if spans[0] and function == "+":
                left, right = right, left
            span = right[0]
            if isinstance(span, Span):
                moved = -span if function == "-" else span
                return self._called("shift", [left, (moved, right[1])], operator.at)
        if function == "!=":
            self._fail("!= stands outside of parentheses", token_at(self._tokens, operator.at),
                       "write NOT (a = b)")  # fmt: skip
        if function in {">", ">="}:
            function, left, right = function.replace(">", "<"), right, left
        return self._called(function, [left, right], operator.at)

    def _called(self, function: str, arguments: Sequence[tuple[Tree, int]], at: int) -> Tree:
        """A call; what is wrong with it is told where it stands."""
        try:
            return call(function, [tree for tree, _ in arguments])
        except InvalidExpressionError as error:
            if function == "concat" and self._text.startswith("||", at):
                self._unsupported(*BEHIND_TEST["||"], at=token_at(self._tokens, at))
            place = at if error.argument is None else arguments[error.argument][1]
            raise error_at(ParseError, self._text, place, error.message) from error

    # Functions, types, spans.

    def _function(self) -> str:
        at = self._advance()
        name = at.text.lower()
        if name not in COMPUTED_FUNCTIONS:
            self._position -= 1
            if name not in FUNCTIONS:
                self._refuse_known_value()
            self._refuse_function(at)
        self._advance()
        return "cast" if name.endswith("cast") else WORDS[name]

    def _refuse_function(self, at: Token) -> NoReturn:
        function, close = at.text.lower(), None
        known = (*FUNCTIONS, *LIST_FUNCTIONS, *COMPUTED_FUNCTIONS)
        if function in {*FUNCTIONS, *LIST_FUNCTIONS} and function not in CALLS:
            message = f"{at.text} is a test, and gives no value"
            hint = "write it without a comparison; NOT goes before it"
        elif function in CALLS:
            message, hint = CALLS[function]
        else:
            close = FUNCTIONS_ELSEWHERE.get(function) or suggest(function, known)
            message = f"there is no function {at.text!r}"
            hint = f"did you mean {close}?" if close else f"known: {', '.join(sorted(known))}"
        raise error_at(
            UnknownFunctionError,
            self._text,
            at.start,
            message,
            hint=hint,
            name=at.text,
            suggestion=close,
        )

    def _type(self) -> str:
        token = self._token
        known = TYPES.get(token.text.upper())
        if known is None or token is END or token.token_type is TokenType.IDENTIFIER:
            close = suggest(token.text, TYPES)
            hint = f"did you mean {close}?" if close else f"there are {', '.join(sorted(TYPES))}"
            hint = TYPES_ELSEWHERE.get(token.text.upper(), hint)
            self._fail(f"expected a type, not {token.text!r}", hint=hint)
        self._advance()
        if known == "STRING" and self._token.token_type is TokenType.L_PAREN:
            self._fail("a string has no longest length", hint="write CAST(x AS STRING)")
        return known

    # What the parser knows more of.

    def _case(self) -> Tree:
        raise NotImplementedError
