"""The engine: subscriptions with ids and owners, and all that belongs to them."""

from predicast.engine.changes import Changes
from predicast.engine.engine import Engine
from predicast.engine.entry import Entry
from predicast.engine.explanation import Explanation
from predicast.engine.operations import (
    Change,
    Operation,
    Refusal,
    Report,
    Subscribe,
    Unsubscribe,
)

__all__ = [
    "Change",
    "Changes",
    "Engine",
    "Entry",
    "Explanation",
    "Operation",
    "Refusal",
    "Report",
    "Subscribe",
    "Unsubscribe",
]
