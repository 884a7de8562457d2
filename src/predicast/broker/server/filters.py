"""Filters of the CloudEvents Subscriptions API, and what a definition says instead.

A filter of one of our dialects stands alone: ``[{"where": "price < 10"}]``. Those of the API's own
(``exact``, ``prefix``, ``all``, ``any``, …) stand together as they are, and are of the dialect
``cloudevents``; no filter at all is met by everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from predicast.errors import ProtocolError, shortened, suggest
from predicast.language import dialect_names
from predicast.language.reading import WHERE
from predicast.protocol.records import GRAPH

CLOUDEVENTS: Final = "cloudevents"
_SQL: Final = "sql"  # what the API calls CESQL
_CESQL: Final = "cesql"
_API: Final = ("exact", "prefix", "suffix", "all", "any", "not", _SQL)


def expression_of(filters: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """The dialect and the expression of a list of filters."""
    own = [(place, name) for place, each in enumerate(filters) for name in each if _is_own(name)]
    if not own:
        _check_names(filters)
        return CLOUDEVENTS, msgspec.json.encode(list(filters)).decode()
    [(place, name), *_] = own
    if len(filters) == 1 and len(filters[0]) == 1:
        dialect = _CESQL if name == _SQL else name
        return dialect, _text(filters[0][name], place, name)
    if {each for _, each in own} == {_SQL}:
        return CLOUDEVENTS, msgspec.json.encode(list(filters)).decode()
    raise ProtocolError(
        f"a filter {name!r} stands alone; say the rest in it, too", field=f"$.filters[{place}]"
    )


def filters_of(dialect: str, expression: str) -> list[dict[str, Any]]:
    """The filters that say what a definition does."""
    if dialect == CLOUDEVENTS:
        found = msgspec.json.decode(expression)
        return found if isinstance(found, list) else [found]
    if dialect.partition(":")[0] in {"eventbridge", "sns"}:
        return [{dialect: msgspec.json.decode(expression)}]
    return [{_SQL if dialect == _CESQL else dialect: expression}]


def _check_names(filters: Sequence[dict[str, Any]]) -> None:
    """Refuse a name that is neither the API's nor a dialect's, with the one that was meant."""
    names = (*_API, WHERE, GRAPH, *(each for each in dialect_names() if each != CLOUDEVENTS))
    for place, each in enumerate(filters):
        for name in each:
            if name not in names:
                known = sorted(set(names))
                close = suggest(name, known)
                hint = f"did you mean {close!r}?" if close else f"there are {', '.join(known)}"
                raise ProtocolError(
                    f"there is no filter {shortened(name)}; {hint}", field=f"$.filters[{place}]"
                )


def _is_own(name: str) -> bool:
    """Whether it is one of our dialects, not one of the API's filters."""
    base = name.partition(":")[0]
    return base in {WHERE, GRAPH, _SQL} or (base != CLOUDEVENTS and base in dialect_names())


def _text(given: Any, place: int, name: str) -> str:
    """An expression: text as it is, patterns in JSON as their text."""
    if isinstance(given, str):
        return given
    if name in {WHERE, GRAPH, _SQL, _CESQL}:
        raise ProtocolError(
            f"a filter {name!r} is text, such as {{{name!r}: 'price < 10'}}",
            field=f"$.filters[{place}].{name}",
        )
    return msgspec.json.encode(given).decode()
