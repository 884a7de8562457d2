"""Why a text is no JSON, in words that say what to write instead.

Most such texts come from programs that print values in a language of their own: Python writes
``NaN`` even when it is asked for JSON, and ``{'a': None}`` when it is not.
"""

from __future__ import annotations

import re
from typing import Final

_PLACE: Final = re.compile(r"\(byte (\d+)\)$")
_WORD: Final = re.compile(rb"'|-?[A-Za-z]+")
_HALF: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"  # a first half without a second
)
_INSTEAD: Final = {
    b"NaN": "JSON has no NaN; write null, or leave the attribute out",
    b"Infinity": "JSON has no Infinity; write null, or leave the attribute out",
    b"True": "JSON writes true",
    b"False": "JSON writes false",
    b"None": "JSON writes null",
    b"'": "JSON has strings in double quotes",
}


def why_not_json(text: str | bytes | bytearray, error: Exception) -> str:
    """What is wrong with a text that msgspec does not read, and what would be right.

    >>> import msgspec
    >>> try:
    ...     msgspec.json.decode('{"a": NaN}')
    ... except msgspec.DecodeError as error:
    ...     print(why_not_json('{"a": NaN}', error))
    invalid character (byte 6); JSON has no NaN; write null, or leave the attribute out
    """
    if isinstance(error, RecursionError):
        return "nested too deeply"
    reason = str(error).removeprefix("JSON is malformed: ")
    raw = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    place = _PLACE.search(reason)
    if place is None:
        half = _HALF.search(raw)
        if half is None or "truncated" not in reason:
            return reason
        return f"{half[0].decode()} (byte {half.start()}) is half of a character"
    at = int(place[1])
    if raw[at - 1 : at] == b"-":  # -Infinity: the sign alone is still right
        at -= 1
    word = _WORD.match(raw, at)
    instead = _INSTEAD.get(bytes(word[0]).lstrip(b"-")) if word else None
    return f"{reason}; {instead}" if instead else reason
