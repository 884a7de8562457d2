"""The JSON form of subscriptions and events, for storage and for the wire; nothing is lost in it.

A subscription lists its clauses, a clause its constraints::

    {"any": [{"all": [
        {"attribute": "price", "operator": "<", "value": 10},
        {"attribute": "at", "operator": ">=", "value": {"$timestamp": "2026-01-31T00:00:00Z"}},
        {"attribute": "note", "operator": "like", "value": "50!% off", "escape": "!"},
        {"attribute": "volume", "operator": "exists"}]}]}

An event is a JSON object. JSON has no timestamps and no intervals, and its readers make floats of
decimals with more digits than those have; they are objects with one key::

    {"symbol": "IBM", "at": {"$timestamp": "2026-01-31T09:30:00Z"},
     "x": {"$interval": {"lo": 3, "hi": 7, "hi_open": true}},
     "total": {"$decimal": "12345678901234567890.12"}}
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NoReturn

import msgspec

from predicast.errors import (
    InvalidValueError,
    JsonFormError,
    LimitError,
    ModelError,
    ParseError,
    suggest,
)
from predicast.language.derived_names import canonical_attribute
from predicast.language.where.literals import timestamp
from predicast.model import Clause, Constraint, Event, Interval, LikePattern, Operator, Subscription
from predicast.model.decimals import ExactDecimal
from predicast.model.expression import MAX_CLAUSES, MAX_CONSTRAINTS
from predicast.model.operators import LIKE, PRESENCE
from predicast.model.values import Unreadable, lone_surrogate

_OPERATORS: Final = {operator.value: operator for operator in Operator}
_CONSTRAINT_KEYS: Final = frozenset({"attribute", "operator", "value", "escape"})
_DIGITS: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_SPECIAL: Final = frozenset({"$timestamp", "$interval", "$decimal"})
_INTERVAL_KEYS: Final = frozenset({"lo", "hi", "lo_open", "hi_open"})


# Writing.


def subscription_to_json(subscription: Subscription) -> str:
    """The subscription as one line of JSON."""
    clauses = [
        {"all": [constraint_to_document(constraint) for constraint in clause]}
        for clause in subscription.clauses
    ]
    return msgspec.json.encode({"any": clauses}).decode()


def event_to_json(event: Event) -> str:
    """The event as one line of JSON, its names dotted."""
    return msgspec.json.encode({name: _document(value) for name, value in event.items()}).decode()


def constraint_to_document(constraint: Constraint) -> dict[str, Any]:
    """One constraint, ready to be encoded."""
    document: dict[str, Any] = {
        "attribute": constraint.attribute,
        "operator": constraint.operator.value,
    }
    operand = constraint.operand
    if isinstance(operand, LikePattern):
        document["value"] = operand.pattern
        if operand.escape != "\\":
            document["escape"] = operand.escape
    elif isinstance(operand, tuple):
        document["value"] = [_document(value) for value in operand]
    elif operand is not None:
        document["value"] = _document(operand)
    return document


def _document(value: Any) -> Any:
    if isinstance(value, ExactDecimal):
        return {"$decimal": str(value)}
    if isinstance(value, datetime):
        return {"$timestamp": value.replace(tzinfo=None).isoformat() + "Z"}
    if isinstance(value, Interval):
        ends = {"lo": _document(value.lo), "hi": _document(value.hi)}
        opens = {end: True for end in ("lo_open", "hi_open") if getattr(value, end)}
        return {"$interval": ends | opens}
    return value


# Reading.


def subscription_from_json(text: str | bytes) -> Subscription:
    """The subscription that a JSON text states."""
    return subscription_from_document(_decoded(text))


def subscription_from_document(document: Any) -> Subscription:
    """The subscription from JSON that has been decoded already."""
    clauses = _list(_only(document, "any", "$"), "$.any")
    if len(clauses) > MAX_CLAUSES:
        _refuse("$.any", f"has {len(clauses)} clauses; the limit is {MAX_CLAUSES}")
    read = []
    count = 0
    for position, clause in enumerate(clauses):
        path = f"$.any[{position}]"
        constraints = _list(_only(clause, "all", path), f"{path}.all")
        count += len(constraints)
        if count > MAX_CONSTRAINTS:
            _refuse(path, f"there are more than {MAX_CONSTRAINTS} constraints in all")
        read.append(
            Clause(
                tuple(
                    _constraint(constraint, f"{path}.all[{index}]")
                    for index, constraint in enumerate(constraints)
                )
            )
        )
    return Subscription(tuple(read))


def constraint_from_document(document: Any) -> Constraint:
    """One constraint from JSON that has been decoded already."""
    return _constraint(document, "$")


def event_from_json(text: str | bytes) -> Event:
    """The event that a JSON text states."""
    return event_from_document(_decoded(text))


def event_from_document(document: Any) -> Event:
    """The event from JSON that has been decoded already."""
    if not isinstance(document, dict):
        _refuse("$", f"an event is a JSON object, not {_type(document)}")
    return Event(_with_values(document, "$", 0, strict=True))


def attributes_from_json(text: str | bytes) -> dict[str, Any]:
    """What a JSON text states, for an engine to make an event of what it looks at.

    What is meant for a timestamp or an interval and is none is refused only if something looks.
    """
    document = _decoded(text)
    if not isinstance(document, dict):
        _refuse("$", f"an event is a JSON object, not {_type(document)}")
    return _with_values(document, "$", 0, strict=False)


def _with_values(
    document: dict[str, Any], path: str, depth: int, *, strict: bool
) -> dict[str, Any]:
    """The same object with ``$timestamp``, ``$interval`` and ``$decimal`` made into values."""
    if depth > 64:
        return document  # Event refuses the nesting, with an error of its own
    found = {}
    for key, value in document.items():
        # A name that is not Unicode is left to Event to refuse; no path could show it.
        if isinstance(value, dict) and lone_surrogate(key) is None:
            inner = f"{path}.{key}"
            special = next(iter(value), "") if len(value) == 1 else ""
            if special in _SPECIAL:
                found[key] = _value(value, inner) if strict else _value_if_any(value, inner)
            else:
                found[key] = _with_values(value, inner, depth + 1, strict=strict)
        else:
            found[key] = value
    return found


def _decoded(text: str | bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise JsonFormError(f"not JSON: {reason}", path="$") from None


def _constraint(document: Any, path: str) -> Constraint:
    if not isinstance(document, dict):
        _refuse(path, f"a constraint is an object, not {_type(document)}")
    _check_keys(document, _CONSTRAINT_KEYS, path)
    operator = _operator(document.get("operator"), f"{path}.operator")
    attribute = document.get("attribute")
    if operator in PRESENCE:
        if "value" in document:
            _refuse(f"{path}.value", f"{operator.value!r} takes no value")
        operand: Any = None
    elif "value" not in document:
        _refuse(path, f"{operator.value!r} needs a value")
    else:
        operand = _operand(document["value"], operator, f"{path}.value")
    if operator in LIKE:
        escape = document.get("escape", "\\")
        if not isinstance(operand, str) or not isinstance(escape, str):
            _refuse(path, "a pattern and its escape are strings")
        operand = LikePattern(operand, escape)
    elif "escape" in document:
        _refuse(f"{path}.escape", "only like takes an escape")
    try:
        if isinstance(attribute, str):
            attribute = canonical_attribute(attribute)
        return Constraint(attribute, operator, operand)  # type: ignore[arg-type]
    except (LimitError, ModelError, ParseError) as error:
        raise JsonFormError(f"{path}: {error.message}", path=path) from error


def _operator(name: Any, path: str) -> Operator:
    if isinstance(name, str) and name in _OPERATORS:
        return _OPERATORS[name]
    close = suggest(name, _OPERATORS) if isinstance(name, str) else None
    hint = f"did you mean {close!r}?" if close else f"known: {', '.join(_OPERATORS)}"
    _refuse(path, f"there is no operator {name!r}; {hint}")


def _operand(document: Any, operator: Operator, path: str) -> Any:
    if isinstance(document, list):
        return [_value(each, f"{path}[{index}]") for index, each in enumerate(document)]
    return _value(document, path)


def _value(document: Any, path: str) -> Any:
    if not isinstance(document, dict):
        return document
    if "$interval" in document:
        return _interval(_only(document, "$interval", path), f"{path}.$interval")
    if "$decimal" in document:
        return _decimal(_only(document, "$decimal", path), path)
    text = _only(document, "$timestamp", path)
    if not isinstance(text, str):
        _refuse(path, f"$timestamp takes a string, not {_type(text)}")
    try:
        return timestamp(text)
    except InvalidValueError as error:
        raise JsonFormError(f"{path}: {error.message}", path=path) from error


def _decimal(text: Any, path: str) -> Decimal:
    """The digits of a decimal; an exponent, NaN and the like are none."""
    if not isinstance(text, str) or _DIGITS.fullmatch(text) is None:
        _refuse(path, "$decimal takes digits in a string, such as '-12.50'")
    return Decimal(text)


def _value_if_any(document: Any, path: str) -> Any:
    try:
        return _value(document, path)
    except JsonFormError as error:
        return Unreadable(error.message)


def _interval(document: Any, path: str) -> Interval:
    if not isinstance(document, dict):
        _refuse(path, f"an interval is an object with lo and hi, not {_type(document)}")
    _check_keys(document, _INTERVAL_KEYS, path)
    ends = {key: _value(value, f"{path}.{key}") for key, value in document.items()}
    for key in ("lo_open", "hi_open"):
        if not isinstance(ends.get(key, False), bool):
            _refuse(f"{path}.{key}", "is true or false")
    try:
        return Interval(**ends)
    except ModelError as error:
        raise JsonFormError(f"{path}: {error.message}", path=path) from error


def _only(document: Any, key: str, path: str) -> Any:
    if not isinstance(document, dict) or set(document) != {key}:
        _refuse(path, f"expected an object with the one key {key!r}")
    return document[key]


def _list(document: Any, path: str) -> list[Any]:
    if not isinstance(document, list):
        _refuse(path, f"expected a list, not {_type(document)}")
    return document


def _check_keys(document: dict[str, Any], known: frozenset[str], path: str) -> None:
    for key in document:
        if key not in known:
            close = suggest(key, known)
            hint = f"did you mean {close!r}?" if close else f"known: {', '.join(sorted(known))}"
            _refuse(path, f"there is no key {key!r} here; {hint}")


def _type(document: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return "null" if document is None else names.get(type(document), "a number")


def _refuse(path: str, why: str) -> NoReturn:
    raise JsonFormError(f"{path}: {why}", path=path)
