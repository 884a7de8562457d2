"""On which line of a TOML file a key stands.

Python's own reader tells a line only where the text is no TOML. What it does tell is whether a text
is complete: a line begins a key, and is not in the middle of a string or an array, if all that
comes before it can be read by itself.
"""

from __future__ import annotations

import re
import tomllib
from typing import Final

Path = tuple[str | int, ...]

_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]")
_KEY: Final = re.compile(r"\s*((?:\"[^\"]*\"|'[^']*'|[\w-]+)(?:\s*\.\s*[\w\"'-]+)*)\s*=")
_PART: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")


def lines_of(text: str) -> dict[Path, int]:
    """The line of every key, from 1, by the way to it: ``("sinks", 0, "path")``."""
    found: dict[Path, int] = {}
    inside: Path = ()
    count: dict[Path, int] = {}
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if (header or key) and _is_whole(before):
            if header:
                inside = _parts(header[2])
                if header[1] == "[[":
                    count[inside] = count.get(inside, -1) + 1
                    inside = (*inside, count[inside])
                found.setdefault(inside, number)
            elif key:
                found.setdefault((*inside, *_parts(key[1])), number)
        before += line + "\n"
    return found


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of a key, or of the nearest one around it."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _parts(name: str) -> Path:
    return tuple(next(filter(None, each), "") for each in _PART.findall(name))


def _is_whole(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
