"""The dialect ``cesql``: an expression of the CloudEvents SQL Expression Language, version 1.0."""

from __future__ import annotations

from predicast.language.cloudevents.cesql_printing import cesql_text
from predicast.language.cloudevents.cesql_reading import filter_of
from predicast.language.cloudevents.cesql_wording import wording_of_node
from predicast.language.cloudevents.dialect import CloudEventsDialect
from predicast.language.cloudevents.templates import stated_by_template
from predicast.language.cloudevents.translation import condition_of
from predicast.language.dialect import Parsed
from predicast.language.wording import Wording
from predicast.model import Subscription


class Cesql(CloudEventsDialect):
    """Expressions over the attributes of CloudEvents."""

    name = "cesql"

    def parse(self, text: str) -> Parsed:
        return stated_by_template(text) or condition_of(filter_of(text))

    def to_text(self, subscription: Subscription) -> str:
        return cesql_text(subscription)

    def wording(self, text: str) -> Wording:
        return wording_of_node(filter_of(text))
