"""CESQL text that is to be a filter: what would be an error of every event is one at once."""

from __future__ import annotations

from itertools import pairwise

from predicast.derived.cesql.functions import CASTING, FUNCTIONS, NAMES, result_of
from predicast.derived.cesql.parser import parse
from predicast.derived.cesql.tokens import SYMBOL, WORD, tokens_of
from predicast.derived.cesql.tree import Invocation, Node, nodes_of
from predicast.errors import UnknownFunctionError, suggest
from predicast.errors.position import error_at


def filter_of(text: str) -> Node:
    """The expression of a text; a call of what is no function is an error before any event is."""
    node = parse(text)
    for each in nodes_of(node) if "(" in text else ():
        if isinstance(each, Invocation) and result_of(each.function, len(each.arguments)) is None:
            raise _unknown(text, each)
    return node


def _unknown(text: str, call: Invocation) -> UnknownFunctionError:
    tokens, name = tokens_of(text), call.function
    start = next(
        token.start
        for token, following in pairwise(tokens)
        if token.kind == WORD and token.text.upper() == name and following.kind == SYMBOL
    )
    close = suggest(name, NAMES)
    if close == name:
        message, hint = f"{name} does not take {len(call.arguments)} arguments", _taken(name)
    else:
        message = f"there is no function {name}"
        hint = f"did you mean {close}?" if close else f"there are {', '.join(NAMES)}"
    return error_at(
        UnknownFunctionError, text, start, message, hint=hint, name=name, suggestion=close
    )


def _taken(name: str) -> str:
    if name in CASTING:
        return "it takes 1"
    return "it takes " + " or ".join(
        f"{len(each.parameters)}{'' if each.rest is None else ' or more'}"
        for each in FUNCTIONS[name]
    )
