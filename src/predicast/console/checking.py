"""What is wrong with an expression while somebody types it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from predicast.broker.subscriptions import Subscriptions
from predicast.errors import JsonFormError, ParseError, PredicastError
from predicast.language.dialect_registry import dialect_names
from predicast.language.json_form import decoded
from predicast.language.reading import WHERE
from predicast.protocol.records import GRAPH, Definition, Put, Settings

_ID: Final = "preview"


class Mistake(NamedTuple):
    """What is wrong, in one line; where, if that is known; and what would be right."""

    message: str
    line: int | None = None
    column: int | None = None
    hint: str | None = None
    picture: str | None = None  # the line, with a caret under the place

    @property
    def where(self) -> str:
        """The place, in words."""
        return "" if self.line is None else f"line {self.line}, column {self.column}"


def dialects() -> list[str]:
    """What an expression may be written in, the house's own first."""
    others = [name for name in dialect_names() if name != WHERE]
    return [WHERE, *others, GRAPH]


def mistake_of(error: PredicastError) -> Mistake:
    """What an error says, taken apart."""
    message, *others = str(error).split("\n")
    if isinstance(error, ParseError) and error.line is not None:
        message = message.partition(": ")[2] or message
        picture = "\n".join(line[2:] for line in others[:2]) or None
        return Mistake(message, error.line, error.column, error.hint, picture)
    return Mistake(message, hint=getattr(error, "hint", None))


def parameters_from_text(text: str) -> dict[str, Any] | None:
    """Values of parameters as a JSON object; nothing is none."""
    if not text.strip():
        return None
    document = decoded(text)
    if not isinstance(document, dict):
        raise JsonFormError(
            'parameters are an object of values by name, such as {"limit": 10}', path="$"
        )
    return document


def checked(expression: str, dialect: str, parameters: dict[str, Any] | None) -> Subscriptions:
    """The one subscription, ready to be asked; or what it is refused for."""
    held = Subscriptions()
    settings = Settings(durable=False)
    held.apply([Put(Definition(_ID, expression, dialect, parameters, settings=settings))])
    return held
