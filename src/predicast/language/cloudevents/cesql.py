"""The dialect ``cesql``: an expression of the CloudEvents SQL Expression Language, version 1.0."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from predicast.derived.cesql.functions import CASTING, FUNCTIONS, NAMES, result_of
from predicast.derived.cesql.parser import parse
from predicast.derived.cesql.tokens import SYMBOL, WORD, tokens_of
from predicast.derived.cesql.tree import Invocation, Node, nodes_of
from predicast.errors import UnknownFunctionError, suggest
from predicast.errors.position import error_at
from predicast.language.cloudevents.cesql_printing import cesql_text
from predicast.language.cloudevents.cesql_wording import wording_of_node
from predicast.language.cloudevents.events import from_structured
from predicast.language.cloudevents.translation import condition_of
from predicast.language.dialect import Dialect
from predicast.language.wording import Wording
from predicast.model import Expression, Subscription


class Cesql(Dialect):
    """Expressions over the attributes of CloudEvents."""

    name = "cesql"

    def parse(self, text: str) -> Expression:
        return condition_of(filter_of(text))

    def to_text(self, subscription: Subscription) -> str:
        return cesql_text(subscription)

    def read_event(self, document: Any) -> Mapping[str, Any]:
        return from_structured(document)

    def wording(self, text: str) -> Wording:
        return wording_of_node(filter_of(text))


def filter_of(text: str) -> Node:
    """The expression of a text; a call of what is no function is an error before any event is."""
    node = parse(text)
    for each in nodes_of(node):
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
