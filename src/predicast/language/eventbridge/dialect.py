"""EventBridge's event patterns as a dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from predicast.language.dialect import Dialect
from predicast.language.eventbridge.events import read_event
from predicast.language.eventbridge.parser import PatternReader, parse_pattern
from predicast.language.eventbridge.printer import pattern_text
from predicast.language.eventbridge.translation import subscription_of_branches
from predicast.language.eventbridge.wording import wording_of_pattern
from predicast.language.wording import Wording
from predicast.model import Subscription


class EventBridge(Dialect):
    """Event patterns, as Event Ruler matches them."""

    name = "eventbridge"

    def parse(self, text: str) -> Subscription:
        return subscription_of_branches(parse_pattern(text, PatternReader()))

    def to_text(self, subscription: Subscription) -> str:
        return pattern_text(subscription, self.parse, self.name)

    def read_event(self, document: Any) -> Mapping[str, Any]:
        return read_event(document)

    def wording(self, text: str) -> Wording:
        return wording_of_pattern(text, PatternReader())
