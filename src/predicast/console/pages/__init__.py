"""The pages, in the order in which they are listed."""

from predicast.console.pages.brokers import BROKERS
from predicast.console.pages.deliveries import DELIVERIES
from predicast.console.pages.editor import EDITOR
from predicast.console.pages.event import EVENT
from predicast.console.pages.events import EVENTS
from predicast.console.pages.map import MAP
from predicast.console.pages.overview import OVERVIEW
from predicast.console.pages.subscriptions import SUBSCRIPTIONS
from predicast.console.pages.tail import TAIL
from predicast.console.pages.tester import TESTER

PAGES = (
    OVERVIEW,
    SUBSCRIPTIONS,
    TESTER,
    TAIL,
    EVENTS,
    DELIVERIES,
    BROKERS,
    MAP,
    EDITOR,
    EVENT,
)
