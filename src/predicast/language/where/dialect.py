"""``where`` as a dialect among others."""

from __future__ import annotations

from predicast.language.dialect import Dialect
from predicast.language.where.cache import outlined_where
from predicast.language.where.printer import to_where
from predicast.language.wording import Wording, wording_of_text
from predicast.model import Subscription
from predicast.model.outline import Stated


class Where(Dialect):
    """Conditions as in a Spark SQL ``WHERE``."""

    name = "where"

    def parse(self, text: str) -> Stated:
        return outlined_where(text)

    def to_text(self, subscription: Subscription) -> str:
        return to_where(subscription)

    def wording(self, text: str) -> Wording:
        return wording_of_text(text)
