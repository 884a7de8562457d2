"""Errors that point: line, column and a caret under the spot."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from predicast.errors.language import ParseError

_CONTEXT: Final = 60  # characters shown on either side of the spot

E = TypeVar("E", bound=ParseError)


def error_at(
    cls: type[E], text: str, offset: int, message: str, *, hint: str | None = None, **fields: Any
) -> E:
    """An error about ``text[offset:]``: where, what, the line with a caret, and the hint."""
    offset = min(offset, len(text))
    line_start = text.rfind("\n", 0, offset) + 1
    line_end = text.find("\n", offset)
    line_end = len(text) if line_end < 0 else line_end
    line = text.count("\n", 0, offset) + 1
    column = offset - line_start + 1
    first, last = max(line_start, offset - _CONTEXT), min(line_end, offset + _CONTEXT)
    shown = text[first:last].expandtabs(1)
    shown = "".join(c if c.isprintable() else "\ufffd" for c in shown)
    before = "..." if first > line_start else ""
    after = "..." if last < line_end else ""
    caret = " " * (len(before) + offset - first) + "^"
    lines = [f"line {line}, column {column}: {message}", f"  {before}{shown}{after}", f"  {caret}"]
    if hint:
        lines.append(f"  {hint}")
    return cls("\n".join(lines), text=text, line=line, column=column, hint=hint, **fields)
