"""``Dialect``: a language that subscriptions are written in, beside ``where``.

People come with subscriptions that are written already, in the language of the tool that they use
today. A dialect reads them into the same conditions as ``where`` text, so that whatever holds of
one subscription holds of all: every matcher finds it, snapshots keep it, routers compare it. What
differs is the edge: the text, where it is wrong, the words in which a match is explained, and what
events of that world look like.

Whoever adds a dialect inherits from ``Dialect``, and has to write ``parse``; the rest has answers
that are right for a language about which nothing is known. A dialect is found by its name
(``dialect_registry.py``). It holds no state: the same text always says the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from predicast.errors import InvalidEventError, NotExpressibleError, UnknownDialectError, shortened
from predicast.language.wording import Wording, wording_of
from predicast.model import And, Expression, Leaf, Not, Or, Subscription, subscription_of
from predicast.model.outline import Stated

Parsed: TypeAlias = Expression | Subscription | Stated


class Document(NamedTuple):
    """A text of a dialect in a file of its own form, and the line where it begins."""

    text: str
    line: int = 1
    id: str | None = None  # that the text gives itself, if it does


class Dialect(ABC):
    """A language of subscriptions."""

    name: str  # by which it is asked for: lower-case letters, digits and hyphens
    suffixes: tuple[str, ...] = ()  # of files that hold texts as they are, such as ".yml"
    event_suffixes: tuple[str, ...] = ()  # of files that hold events in a form of their own

    @abstractmethod
    def parse(self, text: str) -> Parsed:
        """What a text states, or a ``ParseError`` with the line and column in this text."""

    def to_text(self, subscription: Subscription) -> str:
        """A text that means the same to every event, or a ``NotExpressibleError``."""
        raise NotExpressibleError(
            f"subscriptions can be read from the dialect {self.name!r}, not written in it",
            dialect=self.name,
        )

    def read_event(self, document: Any) -> Mapping[str, Any]:
        """The attributes of an event, given as a document: a line of JSON, or part of a file.

        An object of attributes, as an engine takes it, unless the dialect knows better.
        """
        if isinstance(document, Mapping):
            return document
        raise InvalidEventError(f"an event is an object with attributes, not {shortened(document)}")

    def documents(self, content: str) -> Iterator[Document]:
        """The texts in a file of one of the ``suffixes``: all of it is one, unless it knows better.

        Each begins in a line of its own.
        """
        yield Document(content)

    def event_documents(self, content: str) -> Iterator[Any]:
        """What a file of one of the ``event_suffixes`` holds, each for ``read_event``."""
        yield content

    def wording(self, text: str) -> Wording:
        """The tree that was written, for explanations; the clauses, unless it knows better.

        As a whole it is true of the events that match what ``parse`` makes of the text.
        """
        return wording_of(as_subscription(self.parse(text)))

    def about(self, text: str) -> Mapping[str, Any]:
        """What a text says besides its conditions, for people: a title, an author."""
        return {}

    def variant(self, options: str) -> Dialect:
        """The dialect as ``name:options`` asks for it; options are the dialect's own."""
        raise UnknownDialectError(
            f"the dialect {self.name!r} takes no options, and {options!r} was given",
            name=f"{self.name}:{options}",
            suggestion=self.name,
        )


def as_subscription(parsed: Parsed) -> Subscription:
    """What was parsed, as a subscription."""
    if isinstance(parsed, Leaf | Not | And | Or):
        return subscription_of(parsed)
    return parsed.subscription() if isinstance(parsed, Stated) else parsed
