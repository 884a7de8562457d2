"""What messages must be, whoever sent them: every field is looked at before any is used."""

from __future__ import annotations

from typing import Any, Final

from predicast.engine import Change, Operation, Subscribe, Unsubscribe
from predicast.errors import MessageTooLargeError, TextTooLongError
from predicast.routing.messages import (
    MAX_NAME,
    MOST,
    Acknowledge,
    Announce,
    Bye,
    Events,
    Hello,
    KeepAlive,
    PeerKind,
    Published,
    Refuse,
    malformed,
)
from predicast.routing.options import RouterOptions, is_name

_MAX_ID: Final = 1_024  # characters of a subscription's id
_MAX_REASON: Final = 10_000


def check_message(message: object, options: RouterOptions | None) -> None:
    """Raise a ``RoutingError`` unless it is a message that can be taken as it is.

    ``options`` are those of the broker that it came to. Without, it came to a host: that takes what
    its broker sends, however much it is, and is told which of its subscriptions events match.
    """
    if isinstance(message, Events):
        _check_numbers(message, "epoch", "sequence")
        _check_events(message, options)
    elif isinstance(message, Announce):
        _check_numbers(message, "epoch", "sequence")
        _check_operations(message, options)
    elif isinstance(message, Acknowledge | KeepAlive):
        _check_numbers(message, "epoch", "received", "settled")
    elif isinstance(message, Bye):
        _check_numbers(message, "epoch", "sequence")
    elif isinstance(message, Hello):
        _check_hello(message)
    elif isinstance(message, Refuse):
        right = type(message.error) is str and type(message.reason) is str
        if not right or len(message.error) + len(message.reason) > _MAX_REASON:
            raise malformed("error", message.error, "the name of an error, and its text")
    else:
        raise malformed("message", message, "one of predicast.routing.messages")


def _check_hello(hello: Hello) -> None:
    _check_numbers(hello, "epoch", "heard_epoch", "received", "whole_at", "level")
    if not is_name(hello.sender):
        raise malformed("sender", hello.sender, f"a text of 1 to {MAX_NAME} characters")
    if not isinstance(hello.kind, PeerKind):
        raise malformed("kind", hello.kind, "a broker or a host")
    for name in ("durable", "leaving", "answer"):
        if type(getattr(hello, name)) is not bool:
            raise malformed(name, getattr(hello, name), "true or false")
    if hello.epoch == 0:
        raise malformed("epoch", hello.epoch, "a whole number from 1")


def _check_numbers(message: object, *names: str) -> None:
    for name in names:
        number = getattr(message, name)
        if type(number) is not int or not 0 <= number < MOST:
            raise malformed(name, number, "a whole number from 0, below 2**63")
    if getattr(message, "sequence", 1) == 0:
        raise malformed("sequence", 0, "a whole number from 1")


def _check_events(message: Events, options: RouterOptions | None) -> None:
    events, matched = message.events, message.matched
    if type(events) is not tuple:
        raise malformed("events", events, "a tuple of Published")
    if options is not None and len(events) > options.max_events:
        raise MessageTooLargeError(
            f"{len(events)} events in one message, which holds at most {options.max_events}",
            limit=options.max_events,
            actual=len(events),
        )
    if not {Published}.issuperset(map(type, events)):
        raise malformed("events", events, "a tuple of Published")
    if matched is None:
        return
    if options is not None:
        raise malformed("matched", matched, "what brokers tell hosts, and nobody else")
    if type(matched) is not tuple or len(matched) != len(events) or not all(map(_is_ids, matched)):
        raise malformed("matched", matched, "a tuple of ids for each event")


def _is_ids(ids: object) -> bool:
    return type(ids) is tuple and {str}.issuperset(map(type, ids))


def _check_operations(message: Announce, options: RouterOptions | None) -> None:
    operations = message.operations
    if type(message.through) is not bool:
        raise malformed("through", message.through, "true or false")
    if type(operations) is not tuple:
        raise malformed("operations", operations, "a tuple of operations")
    if options is None:
        return  # a broker wants nothing of a host
    if len(operations) > options.max_window:
        raise MessageTooLargeError(
            f"{len(operations)} operations in one message, which holds at most "
            f"{options.max_window}",
            limit=options.max_window,
            actual=len(operations),
        )
    for each in operations:
        if not isinstance(each, Subscribe | Change | Unsubscribe):
            raise malformed("operations", each, "Subscribe, Change or Unsubscribe")
        _check_operation(each, options)


def _check_operation(operation: Operation, options: RouterOptions) -> None:
    id = operation.id
    if type(id) is not str or not 0 < len(id) <= _MAX_ID:
        raise malformed("id", id, f"a text of 1 to {_MAX_ID} characters")
    dialect: Any = getattr(operation, "dialect", None)
    if dialect is not None:
        raise malformed("dialect", dialect, "left out: hosts read what is in one")
    expression: Any = getattr(operation, "expression", None)
    if type(expression) is str and len(expression) > options.max_text:
        raise TextTooLongError(
            f"an expression of {len(expression)} characters, and {options.max_text} are the most",
            limit=options.max_text,
            actual=len(expression),
        )
