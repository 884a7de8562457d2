"""What is no JSON is told with what to write instead."""

import msgspec
import pytest

from predicast.language.not_json import why_not_json


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": NaN}', "invalid character (byte 6); JSON has no NaN; write null"),
        ('{"a": Infinity}', "JSON has no Infinity"),
        ('{"a": [1, -Infinity]}', "JSON has no Infinity"),
        ('{"a": True}', "JSON writes true"),
        ('{"a": None}', "JSON writes null"),
        ("{'a': 1}", "JSON has strings in double quotes"),
        ('{"a": "\\ud83d!"}', "half of a character"),
        ('{"ä": "\\uD83D"}', "\\uD83D (byte 8) is half of a character"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_habits_of_other_languages_are_told_what_to_write(text: str, said: str) -> None:
    for form in (text, text.encode()):
        assert said in _why(form)


@pytest.mark.parametrize(
    "text", ["", '{"a": 1', '{"a": "\\ud83d\\ude00"', "{a: 1}", "nan", "\ud800"]
)
def test_of_all_else_the_reason_is_the_readers(text: str) -> None:
    assert "JSON" not in _why(text)
    assert "half" not in _why(text)


def _why(text: str | bytes) -> str:
    with pytest.raises((msgspec.DecodeError, UnicodeError, RecursionError)) as refused:
        msgspec.json.decode(text)
    return why_not_json(text, refused.value)
