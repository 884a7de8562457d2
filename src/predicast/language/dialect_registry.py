"""Dialects by name.

A dialect of our own is imported when it is first asked for, others come from installed packages,
which name them as entry points of the group ``predicast.dialects``, or are registered by whoever
uses them. A name may have options behind a colon, ``sigma:log-sources``: the dialect makes a
variant of itself by them, so that all there is to say about how a text is read is in one string,
which files, tables and snapshots can hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from predicast.bounded_cache import remembered
from predicast.errors import (
    InvalidOptionError,
    LanguageError,
    ParseError,
    UnknownDialectError,
    suggest,
)
from predicast.language.dialect import Dialect, Parsed
from predicast.language.reading import WHERE, stated_by
from predicast.language.where.cache import check_text
from predicast.model import Value
from predicast.model.outline import Stated

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "predicast.dialects"  # of entry points

_NAME: Final = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
BUILT_IN: Final[dict[str, str]] = {
    WHERE: "predicast.language.where.dialect:Where",
    "sigma": "predicast.language.sigma.dialect:SigmaDialect",
    "eventbridge": "predicast.language.eventbridge:EventBridge",
    "sns": "predicast.language.eventbridge:Sns",
    "cesql": "predicast.language.cloudevents.cesql:Cesql",
    "cloudevents": "predicast.language.cloudevents.filters:CloudEventsFilters",
}
_MAX_BYTES: Final = 32 << 20  # of texts that were read, and what they state
_PER_CHARACTER: Final = 12  # bytes that a text and what it states may take, generously

_dialects: Final[dict[str, Dialect]] = {}  # those that were asked for or registered


def dialect_names() -> list[str]:
    """The names of all dialects that can be asked for."""
    return sorted({*BUILT_IN, *_dialects, *_installed()})


def register_dialect(dialect: Dialect) -> None:
    """Make a dialect of your own available in this process, under its name."""
    name = dialect.name
    if _NAME.fullmatch(name) is None:
        raise InvalidOptionError(
            f"a dialect is named by lower-case letters, digits and hyphens, not {name!r}",
            option="name",
        )
    if name in dialect_names():
        raise InvalidOptionError(f"there is a dialect {name!r} already", option="name")
    _dialects[name] = dialect


def dialect_named(name: str) -> Dialect:
    """The dialect of this name, which may have options behind a colon."""
    if not isinstance(name, str):
        raise UnknownDialectError(f"a dialect is given by its name, not as {type(name).__name__}")
    base, colon, options = name.partition(":")
    return _variant(_base(base), options) if colon else _base(base)


@remembered(1 << 20, lambda arguments, _: 1_000 + len(arguments[1]))
def _variant(dialect: Dialect, options: str) -> Dialect:
    return dialect.variant(options)


def _base(name: str) -> Dialect:
    found = _dialects.get(name)
    if found is None:
        found = _dialects[name] = _made(name)
    return found


def _made(name: str) -> Dialect:
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        try:
            made = getattr(import_module(module), attribute)()
        except ModuleNotFoundError as error:
            raise UnknownDialectError(
                f"the dialect {name!r} needs {error.name}, which is not installed; "
                f"it comes with the extra {name!r}, and predicast doctor says how to install that",
                name=name,
            ) from error
        assert isinstance(made, Dialect)
        return made
    entry = _installed().get(name)
    if entry is not None:
        return _loaded(entry)
    known = dialect_names()
    close = suggest(name, known)
    hint = f"did you mean {close!r}?" if close else f"known: {', '.join(known)}"
    raise UnknownDialectError(f"there is no dialect {name!r}; {hint}", name=name, suggestion=close)


@remembered(1 << 20, lambda _, found: 500 * len(found))
def _installed() -> dict[str, EntryPoint]:
    """What installed packages offer, by name; looked up once."""
    from importlib.metadata import entry_points  # takes a while, and most never ask

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _loaded(entry: EntryPoint) -> Dialect:
    """The dialect of an entry point: an object of the class that it names, or the object itself."""
    try:
        found: Any = entry.load()
        made = found() if isinstance(found, type) else found
    except Exception as error:  # whatever goes wrong in somebody else's module
        raise UnknownDialectError(
            f"the dialect {entry.name!r} cannot be loaded from {entry.value}: {error}",
            name=entry.name,
        ) from error
    if not isinstance(made, Dialect) or made.name != entry.name:
        raise UnknownDialectError(
            f"{entry.value}, which an entry point calls {entry.name!r}, is not a Dialect of that "
            "name",
            name=entry.name,
        )
    return made


def stated_in(name: str | None, text: Any, parameters: Mapping[str, Value] | None = None) -> Stated:
    """What a text of this dialect states."""
    if name is None or name == WHERE:
        return stated_by(text, parameters)[0]
    dialect = dialect_named(name)
    if parameters is not None:
        raise LanguageError(
            f"only where text has parameters, such as :limit; the dialect {name!r} has none"
        )
    if not isinstance(text, str):
        raise LanguageError(
            f"only text is of a dialect, and this is {type(text).__name__}; leave the dialect out"
        )
    check_text(text)
    if not text:
        raise ParseError("the text is empty", text=text, line=1, column=1)
    return _stated(dialect, text)


def about_in(name: str, text: str) -> Mapping[str, Any]:
    """What a text of this dialect says besides its conditions."""
    return dialect_named(name).about(text)


@remembered(_MAX_BYTES, lambda arguments, _: 1_000 + _PER_CHARACTER * len(arguments[1]))
def _stated(dialect: Dialect, text: str) -> Stated:
    """Read once where a text is checked first and taken afterwards."""
    parsed: Parsed = dialect.parse(text)
    return stated_by(parsed)[0]
