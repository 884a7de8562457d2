"""Lines of JSON, with their numbers.

A line is one JSON value. Blank lines and a byte order mark are skipped. Memory is bounded by the
longest line allowed, whatever the file's size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from predicast.cli.files.source import OpenFile, Source

# Far beyond any sensible event; a file without line breaks must not fill the memory.
MAX_LINE_BYTES: Final = 16 * 2**20
_READ_BYTES: Final = 2**18
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

ONE_OBJECT_PER_LINE: Final = "JSON Lines has one whole object on each line"


class Line(NamedTuple):
    """A line that is not blank; numbers count from 1."""

    number: int
    text: bytes


def line_groups(source: Source, opened: OpenFile) -> Iterator[list[Line]]:
    """All lines, in groups as they come: what one read brings is one group.

    From a pipe that is what has been written so far, so that nobody waits for later lines.
    """
    pending = bytearray()
    number = 0
    read = getattr(opened.stream, "read1", opened.stream.read)
    while chunk := read(_READ_BYTES):
        pending += chunk
        if b"\n" not in chunk:
            if len(pending) > MAX_LINE_BYTES:
                raise source.refuse(_too_long(), number + 1)
            continue
        *whole, rest = bytes(pending).split(b"\n")
        pending = bytearray(rest)
        yield _lines(source, whole, number)
        number += len(whole)
    if pending:
        yield _lines(source, [bytes(pending)], number)


def _lines(source: Source, texts: list[bytes], before: int) -> list[Line]:
    if before == 0:
        source.check_start(texts[0])
        texts[0] = texts[0].removeprefix(_BYTE_ORDER_MARK)
    found = [Line(number, text) for number, text in enumerate(texts, before + 1) if text.strip()]
    for line in found:
        if len(line.text) > MAX_LINE_BYTES:
            raise source.refuse(_too_long(), line.number)
    return found


def _too_long() -> str:
    return f"longer than {MAX_LINE_BYTES // 2**20} MiB; {ONE_OBJECT_PER_LINE}"


def json_object(source: Source, line: Line) -> dict[str, Any]:
    """The object on a line."""
    try:
        document = msgspec.json.decode(line.text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise source.refuse(f"not JSON: {error}; {ONE_OBJECT_PER_LINE}", line.number) from None
    except RecursionError:
        raise source.refuse("not JSON: nested too deeply", line.number) from None
    if not isinstance(document, dict):
        raise source.refuse(f"not a JSON object; {ONE_OBJECT_PER_LINE}", line.number)
    return document
