"""Subscriptions in a form of their dialect's own: a file of texts as they are, or a folder of them.

A text that gives itself no id is called by the file that holds it: by its name or, in a folder, by
the way there, and by a number as well if it is not the first of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from predicast.cli.files.queries import TextLines
from predicast.cli.files.source import Form, Source
from predicast.errors import PredicastError
from predicast.language import dialect_named

if TYPE_CHECKING:
    from predicast.cli.files.rows import Columns, FileRow

_STANDARD_INPUT: Final = "subscription"  # what a text from there is called


def forms_with(dialect: str | None, forms: Mapping[str, Form]) -> dict[str, Form]:
    """Forms of subscriptions by suffix, with those of a dialect's own, which come first."""
    if dialect is None:
        return dict(forms)
    known = dialect_named(dialect)
    own = (f".{known.name}", *known.suffixes)
    return {**forms, **dict.fromkeys(own, Form.OWN)}


def event_forms_with(dialect: str | None, forms: Mapping[str, Form]) -> dict[str, Form]:
    """The same of events."""
    own = () if dialect is None else dialect_named(dialect).event_suffixes
    return {**forms, **dict.fromkeys(own, Form.OWN)}


def own_rows(source: Source, columns: Columns, report: Callable[[int], None]) -> Iterator[FileRow]:
    """The texts of a file or folder, each as a row of id and expression."""
    done = 0
    for path in source.files or (None,):
        file = source if path is None else replace(source, path=path, files=())
        yield from _rows_of(file, columns, _name(source, path))
        if path is not None:
            done += Path(path).stat().st_size
            report(done)


def _name(source: Source, path: str | None) -> str:
    if source.is_live:
        return _STANDARD_INPUT
    place = PurePath(source.path).name if path is None else PurePath(path).relative_to(source.path)
    return PurePath(place).with_suffix("").as_posix()


def _rows_of(file: Source, columns: Columns, name: str) -> Iterator[FileRow]:
    from predicast.cli.files.rows import FileRow

    assert file.dialect is not None
    with file.opened() as opened:
        content = file.text_of(opened)
    id, expression = columns.required["id"], columns.required["expression"]
    try:
        for number, (text, line, own) in enumerate(dialect_named(file.dialect).documents(content)):
            called = own or (f"{name}-{number + 1}" if number else name)
            values = {id: called, expression: text}
            yield FileRow(line, values, TextLines(line), file)
    except PredicastError as error:
        raise file.refuse(error.message) from error
