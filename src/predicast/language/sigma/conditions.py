"""The condition of a Sigma rule: which selections must hold, joined by ``and``, ``or`` and ``not``.

pySigma has a parser of its own, which backtracks; this one looks at each word once, says in which
column it does not go on, and is refused what is nested too deeply. Both read the same language
(``tests/properties/test_sigma_conditions.py``).

::

    or:    and ("or" and)*
    and:   not ("and" not)*
    not:   "not"* operand
    operand: "(" or ")" | ("1" | "any" | "all") "of" pattern | name

A name stands for a selection of the rule; a pattern, in which ``*`` is any run of characters, for
all that fit it, and ``them`` for all. Selections whose names begin with ``_`` are left out, unless
the pattern begins so as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

from predicast.errors import NestingTooDeepError, suggest
from predicast.model import And, Leaf, Not, Or
from predicast.model.expression import Node

MAX_DEPTH: Final = 50  # parentheses and nots inside one another
_TOKEN: Final = re.compile(r"\s*(?:(?P<word>[A-Za-z0-9_*-]+)|(?P<sign>[()])|(?P<other>\S))")
_QUANTIFIERS: Final = frozenset({"1", "any", "all"})
_OPERATORS: Final = frozenset({"and", "or", "not"})
_THEM: Final = "them"
_COUNTING: Final = "|"
_END: Final = ""


class ConditionError(Exception):
    """A condition that cannot be read: why, from which character on, and what would be right."""

    def __init__(self, message: str, offset: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint


class _Token(NamedTuple):
    text: str  # empty at the end
    offset: int


def parse_condition(text: str, selections: Collection[str]) -> Node[str]:
    """The condition, with the names of selections at its leaves."""
    return _Parser(text, selections).parse()


@dataclass(slots=True)
class _Open:
    """What stands since the last parenthesis that is still open: alternatives, each a conjunction.

    ``negated`` says whether an odd number of nots stands before what comes next, or before the
    parenthesis once it is closed.
    """

    alternatives: list[list[Node[str]]]
    negated: bool = False


class _Parser:
    """Keeps a stack of its own, so that no condition is too deep for Python."""

    def __init__(self, text: str, selections: Collection[str]) -> None:
        self._selections = selections
        self._tokens = list(_tokens(text))
        self._at = 0

    def parse(self) -> Node[str]:
        levels = [_Open([[]])]
        while True:
            self._read_operand(levels)
            while self._next().text == ")":
                self._close(levels)
            token = self._take()
            match token.text:
                case "and":
                    pass
                case "or":
                    levels[-1].alternatives.append([])
                case "":
                    if len(levels) > 1:
                        raise ConditionError("a parenthesis is not closed", token.offset)
                    return _joined(levels[0])
                case _:
                    self._refuse_word(token)

    def _read_operand(self, levels: list[_Open]) -> None:
        """Up to the end of an operand: nots and parentheses that open, and a name."""
        while True:
            token = self._take()
            if token.text == "not":
                levels[-1].negated = not levels[-1].negated
            elif token.text == "(":
                if len(levels) > MAX_DEPTH:
                    raise NestingTooDeepError(
                        f"the condition has more than {MAX_DEPTH} parentheses inside one another",
                        limit=MAX_DEPTH,
                        actual=len(levels),
                    )
                levels.append(_Open([[]]))
            else:
                _add(levels[-1], self._operand(token))
                return

    def _close(self, levels: list[_Open]) -> None:
        token = self._take()
        if len(levels) == 1:
            raise ConditionError("this parenthesis was never opened", token.offset)
        inner = levels.pop()
        _add(levels[-1], _joined(inner))

    def _operand(self, token: _Token) -> Node[str]:
        if token.text in _OPERATORS or token.text in {_END, ")", _COUNTING}:
            raise ConditionError("the name of a selection is missing here", token.offset)
        if token.text in _QUANTIFIERS and self._next().text == "of":
            self._take()
            return self._selected(token)
        if token.text not in self._selections:
            self._refuse_name(token)
        return Leaf(token.text)

    def _selected(self, quantifier: _Token) -> Node[str]:
        pattern = self._take()
        if pattern.text in {_END, "(", ")"}:
            raise ConditionError(
                f"{quantifier.text} of what? A pattern such as selection_* is missing, or them",
                pattern.offset,
            )
        found: list[Node[str]] = [
            Leaf(name) for name in self._selections if _is_meant(pattern.text, name)
        ]
        if not found:
            known = ", ".join(self._selections)
            raise ConditionError(
                f"no selection is called {pattern.text}", pattern.offset, f"there are: {known}"
            )
        if len(found) == 1:
            return found[0]
        return And(tuple(found)) if quantifier.text == "all" else Or(tuple(found))

    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _refuse_name(self, token: _Token) -> NoReturn:
        close = suggest(token.text, self._selections)
        hint = f"did you mean {close}?" if close else None
        raise ConditionError(
            f"there is no selection {token.text}", token.offset, _in_lower_case(token) or hint
        )

    def _refuse_word(self, token: _Token) -> NoReturn:
        if token.text == _COUNTING:
            raise ConditionError(
                "counting and near behind | are not supported",
                token.offset,
                "such a condition is about several events; give the rule without it, and count "
                "its matches",
            )
        raise ConditionError(
            f"and or or is missing before {token.text}", token.offset, _in_lower_case(token)
        )


def _in_lower_case(token: _Token) -> str | None:
    word = token.text.lower()
    return f"write {word} in lower case" if word in _OPERATORS and word != token.text else None


def _tokens(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        assert found.lastgroup is not None
        token = found[found.lastgroup]
        if token == _COUNTING:  # what stands behind it is another language
            yield _Token(token, found.start(found.lastgroup))
            break
        if found.lastgroup == "other":
            raise ConditionError(
                f"{token} does not belong into a condition", found.start(found.lastgroup)
            )
        yield _Token(token, found.start(found.lastgroup))
    yield _Token(_END, len(text))


def _is_meant(pattern: str, name: str) -> bool:
    if name.startswith("_") and not pattern.startswith("_"):
        return False
    if pattern == _THEM:
        return True
    return _fits(pattern.split("*"), name)


def _fits(pieces: list[str], name: str) -> bool:
    """Whether a name has the pieces of a pattern in their order, from its first to its last."""
    if len(pieces) == 1:
        return name == pieces[0]
    first, *middle, last = pieces
    if not name.startswith(first) or not name[len(first) :].endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _add(level: _Open, node: Node[str]) -> None:
    if level.negated:
        node, level.negated = Not(node), False
    level.alternatives[-1].append(node)


def _joined(level: _Open) -> Node[str]:
    parts = [each[0] if len(each) == 1 else And(tuple(each)) for each in level.alternatives]
    return parts[0] if len(parts) == 1 else Or(tuple(parts))
