"""The JSON values of a file one by one, each with the line at which it begins.

As a rule a line is a value: JSON Lines. What programs write for people to read is taken as well: a
file that begins with ``[`` is an array, and its elements are the values; in one whose first line is
nothing but ``{``, values go over several lines and follow each other.

Blank lines and a byte order mark are skipped. Memory is bounded by the longest value allowed,
whatever the file's size, and what has come through a pipe does not wait for what comes later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec

from predicast.cli.files.source import OpenFile, Source
from predicast.errors import InputFileError
from predicast.language.not_json import why_not_json

# Far beyond any sensible event; a file without line breaks must not fill the memory.
MAX_VALUE_BYTES: Final = 16 * 2**20
_READ_BYTES: Final = 2**18
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BLANK: Final = re.compile(rb"\s*")
# Up to the next bracket outside of strings. What was skipped is not tried in any other way.
_BRACKET: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+([{}\[\]])', re.DOTALL)
_SCALAR: Final = re.compile(rb'(?:[^",\]\s]++|"(?:[^"\\]++|\\.)*+")++(?=[,\]\s])', re.DOTALL)

OBJECTS: Final = "give one whole JSON object on each line, or an array of objects"


class JsonText(NamedTuple):
    """A value that is not yet read, and its first line; lines count from 1."""

    line: int
    text: bytes


def value_groups(source: Source, opened: OpenFile) -> Iterator[list[JsonText]]:
    """All values, in groups as they come: what one read brings is one group."""
    chunks = _chunks(opened)
    start = bytearray()
    for chunk in chunks:
        start += chunk
        layout = start.removeprefix(_BYTE_ORDER_MARK).lstrip()
        if layout.startswith(b"[") or b"\n" in layout or len(start) > MAX_VALUE_BYTES:
            break
    source.check_start(bytes(start[:2]))
    again = chain([bytes(start)], chunks)
    layout = start.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if layout.startswith(b"["):
        return _spread(source, again, is_array=True)
    if layout.partition(b"\n")[0].strip() == b"{":
        return _spread(source, again, is_array=False)
    return _lines(source, again)


def json_object(source: Source, value: JsonText) -> dict[str, Any]:
    """A value that has to be an object."""
    try:
        document = msgspec.json.decode(value.text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = why_not_json(value.text, error)
        raise source.refuse(f"not JSON: {why}; {OBJECTS}", value.line) from None
    if not isinstance(document, dict):
        raise source.refuse(f"not a JSON object; {OBJECTS}", value.line)
    return document


def _chunks(opened: OpenFile) -> Iterator[bytes]:
    """What the file holds, as it comes: of a pipe, what has been written so far."""
    read = getattr(opened.stream, "read1", opened.stream.read)
    while chunk := read(_READ_BYTES):
        yield chunk


# A value on each line.


def _lines(source: Source, chunks: Iterator[bytes]) -> Iterator[list[JsonText]]:
    pending = bytearray()
    before = 0
    for chunk in chunks:
        pending += chunk
        if b"\n" not in chunk:
            if len(pending) > MAX_VALUE_BYTES:
                raise _too_long(source, before + 1)
            continue
        *whole, rest = bytes(pending).split(b"\n")
        pending = bytearray(rest)
        yield _texts(source, whole, before)
        before += len(whole)
    if pending:
        yield _texts(source, [bytes(pending)], before)


def _texts(source: Source, lines: list[bytes], before: int) -> list[JsonText]:
    if before == 0:
        lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
    found = [JsonText(line, text) for line, text in enumerate(lines, before + 1) if text.strip()]
    for each in found:
        if len(each.text) > MAX_VALUE_BYTES:
            raise _too_long(source, each.line)
    return found


def _too_long(source: Source, line: int) -> InputFileError:
    return source.refuse(f"longer than {MAX_VALUE_BYTES // 2**20} MiB; {OBJECTS}", line)


# Values over several lines.


def _spread(source: Source, chunks: Iterator[bytes], *, is_array: bool) -> Iterator[list[JsonText]]:
    """The elements of an array, or values that follow each other."""
    values = _SpreadValues(source, is_array=is_array)
    for chunk in chunks:
        yield list(values.take(chunk))
    values.end()


class _SpreadValues:
    """What has been read of a file and is not a whole value yet, and where that is."""

    def __init__(self, source: Source, *, is_array: bool) -> None:
        self._source = source
        self._is_array = is_array
        self._pending = bytearray()
        self._line = 1  # of the first byte that is pending
        self._expects = b"[" if is_array else b""  # the sign that has to come next
        self._is_first = True  # of an array's elements
        self._ended = False
        self._scanned, self._depth = 0, 0  # of the value that is pending

    def take(self, chunk: bytes) -> Iterator[JsonText]:
        """The values that are whole with this."""
        self._pending += chunk
        if self._line == 1 and self._pending.startswith(_BYTE_ORDER_MARK):
            del self._pending[: len(_BYTE_ORDER_MARK)]
        while self._reaches_value():
            if self._pending[0] in b",:]}":
                sign = chr(self._pending[0])
                raise self._source.refuse(f"not JSON: expected a value, not {sign}", self._line)
            end = self._end_of_value()
            if end is None:
                if len(self._pending) > MAX_VALUE_BYTES:
                    raise _too_long(self._source, self._line)
                return
            yield JsonText(self._line, bytes(self._pending[:end]))
            self._drop(end)
            self._expects = b"," if self._is_array else b""
            self._is_first = False

    def end(self) -> None:
        """Nothing more comes."""
        if self._pending:
            raise self._source.refuse("not JSON: this value has no end", self._line)
        if self._is_array and not self._ended:
            raise self._source.refuse("not JSON: the array has no ]", self._line)

    def _reaches_value(self) -> bool:
        """Whether what is pending begins with a value, once what stands before it is dropped."""
        while True:
            blank = _BLANK.match(self._pending)
            assert blank is not None
            self._drop(blank.end())
            if not self._pending:
                return False
            sign = bytes(self._pending[:1])
            if self._ended:
                why = "not JSON: something follows the array"
                raise self._source.refuse(why, self._line)
            if sign == b"]" and self._is_array and (self._expects or self._is_first):
                self._ended = True
            elif not self._expects:
                return True
            elif sign != self._expects:
                expected = self._expects.decode()
                why = f"not JSON: expected {expected} or ] between the elements of the array"
                raise self._source.refuse(why, self._line)
            else:
                self._expects = b""
            self._drop(1)

    def _end_of_value(self) -> int | None:
        """Where the value that stands first ends, if that is known yet."""
        if self._pending[0] not in b"{[":
            scalar = _SCALAR.match(self._pending)
            return scalar.end() if scalar else None
        while bracket := _BRACKET.match(self._pending, self._scanned):
            self._scanned = bracket.end()
            self._depth += 1 if bracket[1] in b"{[" else -1
            if not self._depth:
                return self._scanned
        return None

    def _drop(self, count: int) -> None:
        """Leave so many bytes behind."""
        self._line += self._pending.count(b"\n", 0, count)
        del self._pending[:count]
        self._scanned = self._depth = 0
