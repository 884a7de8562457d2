"""From text, JSON and Python expressions to subscriptions, and back."""

from predicast.language.builder import attr, expr
from predicast.language.dialect import Dialect, Document
from predicast.language.dialect_registry import dialect_named, dialect_names, register_dialect
from predicast.language.json_form import (
    attributes_from_json,
    attributes_to_json,
    event_from_document,
    event_from_json,
    event_to_json,
    subscription_from_document,
    subscription_from_json,
    subscription_to_json,
)
from predicast.language.parameters import Parametric, has_parameters, parametric
from predicast.language.reading import Readable, to_subscription
from predicast.language.where import parse_where, to_where
from predicast.language.where.literals import timestamp
from predicast.language.where.position import error_at
from predicast.language.wording import Phrase, Wording

__all__ = [
    "Dialect",
    "Document",
    "Parametric",
    "Phrase",
    "Readable",
    "Wording",
    "attr",
    "attributes_from_json",
    "attributes_to_json",
    "dialect_named",
    "dialect_names",
    "error_at",
    "event_from_document",
    "event_from_json",
    "event_to_json",
    "expr",
    "has_parameters",
    "parametric",
    "parse_where",
    "register_dialect",
    "subscription_from_document",
    "subscription_from_json",
    "subscription_to_json",
    "timestamp",
    "to_subscription",
    "to_where",
]
