"""The values of a JSON file, however they are laid out, and however they come."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.cli.files.json_values import JsonText, json_object, value_groups
from predicast.cli.files.source import Form, OpenFile, Source
from predicast.errors import InputFileError

_SOURCE = Source("e.json", Form.JSON_LINES)
_TEXT = st.text(st.sampled_from('ab"\\{}[],: \n\u00e9\U0001f600'), max_size=6)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_OBJECTS = st.lists(st.dictionaries(_TEXT, _VALUES, max_size=4), max_size=6)


class _Pipe(io.BytesIO):
    """Brings as much at a time as it was told to."""

    def __init__(self, content: bytes, sizes: list[int]) -> None:
        super().__init__(content)
        self._sizes = sizes

    def read1(self, size: int | None = -1, /) -> bytes:
        return self.read(self._sizes.pop() if self._sizes else size)


def _read(content: bytes, sizes: list[int] | None = None) -> list[JsonText]:
    stream = _Pipe(content, sizes or [])
    groups = value_groups(_SOURCE, OpenFile(stream, stream.tell))
    return [value for group in groups for value in group]


def _refusal(content: str) -> str:
    with pytest.raises(InputFileError) as refused:
        _read(content.encode())
    return refused.value.message


@given(
    _OBJECTS,
    st.sampled_from([None, 0, 2]),
    st.booleans(),
    st.lists(st.integers(1, 7), max_size=200),
)
def test_an_array_is_its_elements(
    objects: list[Any], indent: int | None, ascii_only: bool, sizes: list[int]
) -> None:
    text = json.dumps(objects, indent=indent, ensure_ascii=ascii_only)
    assert [json.loads(value.text) for value in _read(text.encode(), sizes)] == objects


@given(_OBJECTS, st.lists(st.integers(1, 7), max_size=200))
def test_objects_over_several_lines_follow_each_other(
    objects: list[dict[str, Any]], sizes: list[int]
) -> None:
    objects = [{"first": 1}, *objects]
    text = "\n".join(json.dumps(each, indent=2) for each in objects)
    assert [json.loads(value.text) for value in _read(text.encode(), sizes)] == objects


@given(_OBJECTS, st.lists(st.integers(1, 7), max_size=200))
def test_lines_are_values(objects: list[dict[str, Any]], sizes: list[int]) -> None:
    text = "\r\n".join(json.dumps(each) for each in objects)
    found = _read(text.encode(), sizes)
    assert [json.loads(value.text) for value in found] == objects
    assert [value.line for value in found] == [*range(1, len(objects) + 1)]


def test_values_know_the_line_at_which_they_begin() -> None:
    content = b'\xef\xbb\xbf\n[\n  {"a": "x\\"]",\n   "b": [1]},\n\n  {"a": 2}, {"a": 3}\n]\n'
    assert [value.line for value in _read(content)] == [3, 6, 6]
    content = b'{\n"a": 1\n}\n\n{\n"a": 2\n}{"a": 3}\n'
    assert [value.line for value in _read(content)] == [1, 5, 7]


def test_what_has_come_of_an_array_does_not_wait_for_the_rest() -> None:
    content = b'[{"a": 1}, {"a": 2}]'
    stream = _Pipe(content, [100, 1, 11])
    groups = value_groups(_SOURCE, OpenFile(stream, stream.tell))
    assert next(groups) == [JsonText(1, b'{"a": 1}')]


def test_what_is_no_array_is_refused_by_line() -> None:
    assert _refusal('[\n{"a": 1}\n{"a": 2}]').startswith(
        "e.json, line 3: not JSON: expected , or ]"
    )
    assert _refusal('[{"a": 1},\n]') == "e.json, line 2: not JSON: expected a value, not ]"
    assert _refusal('[{"a": 1}]\n[]').startswith("e.json, line 2: not JSON: something follows")
    assert _refusal('[{"a": 1},\n{"a": [}') == "e.json, line 2: not JSON: this value has no end"
    assert _refusal('[{"a": 1}\n') == "e.json, line 2: not JSON: the array has no ]"
    assert _refusal('{\n"a": 1\n},\n{\n"a": 2\n}') == (
        "e.json, line 3: not JSON: expected a value, not ,"
    )


def test_a_number_that_json_has_not_is_told_what_to_write() -> None:
    wrong = _read(b'{"a": 1}\n{"a": NaN}\n')[1]
    with pytest.raises(InputFileError, match=r"line 2: not JSON: .*no NaN; write null"):
        json_object(_SOURCE, wrong)


def test_an_element_that_never_ends_is_refused() -> None:
    assert "e.json, line 2: longer than 16 MiB" in _refusal('[\n{"a": "' + "x" * (17 * 2**20))
