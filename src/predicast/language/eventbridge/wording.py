"""The wording of a pattern: its own tree, with each path beside its tests as they are written.

The fields of an object belong together, in an array of objects as well, so an object is a phrase of
its own, and its fields stand under it: it may be false though each of them is true, of different
elements. Every part is true of the events that it would match if it were the whole pattern.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from predicast.language.eventbridge.conditions import named
from predicast.language.eventbridge.parser import OR, PatternReader, parse_pattern
from predicast.language.eventbridge.pattern import Branch
from predicast.language.eventbridge.translation import (
    VALUES,
    expression_of_branches,
    subscription_of_branches,
)
from predicast.language.json_text import Members, Numeral, read_json
from predicast.language.wording import Phrase, Wording, wording_of
from predicast.model import And, Expression, Leaf, Or

# A test is true or else false, and nothing asks for what is false: a pattern has no NOT.
_OTHERWISE: Final[Expression] = And(())


class _Part(NamedTuple):
    """A part of a pattern: its wording, and the branches that it would have alone."""

    wording: Wording
    branches: list[Branch]


class _ReplacedError(Exception):
    """A path is given again, and replaces what was said of it: the tree is not what is meant."""


def wording_of_pattern(text: str, reader: PatternReader, what: str = "pattern") -> Wording:
    """The wording of a pattern; its clauses, if a part of it replaces another."""
    branches = parse_pattern(text, reader, what)
    try:
        return _Worder(reader).object(read_json(text, what), "").wording
    except _ReplacedError:
        return wording_of(subscription_of_branches(branches))


class _Worder:
    """Words the parts of a tree, whose tests a reader reads."""

    def __init__(self, reader: PatternReader) -> None:
        self._reader = reader

    def object(self, members: Members, path: str) -> _Part:
        """What an object says of the fields at a path."""
        parts = [self._member(name, value, path) for name, value in members]
        if len(parts) == 1:
            return parts[0]
        fields = f"{{{', '.join(name for name, _ in members)}}}"
        branches = _combined(part.branches for part in parts)
        together = And(tuple(part.wording for part in parts))
        return _worded(f"{path}: {fields}" if path else fields, branches, part=together)

    def _member(self, name: str, value: Any, path: str) -> _Part:
        below = f"{path}.{name}" if path else name
        if name == OR:
            alternatives = [self.object(each, path) for each in value]
            branches = [branch for each in alternatives for branch in each.branches]
            either = Or(tuple(each.wording for each in alternatives))
            return _worded(below, branches, part=either)
        if isinstance(value, Members):
            return self.object(value, below)
        return self._tests(below, value)

    def _tests(self, path: str, values: Sequence[Any]) -> _Part:
        written = [_written(value) for value in values]
        if len(values) == 1:
            return _worded(f"{path}: {written[0]}", self._read(path, values), path=path)
        choices = tuple(
            _phrase(text, self._read(path, [value]))
            for text, value in zip(written, values, strict=True)
        )
        shown = f"{path}: [{', '.join(written)}]"
        return _worded(shown, self._read(path, values), path=path, choices=choices)

    def _read(self, path: str, values: Sequence[Any]) -> list[Branch]:
        return self._reader.branches(Members([(path, list(values))]))


def _worded(text: str, branches: list[Branch], *, path: str | None = None, **more: Any) -> _Part:
    if path is not None:
        more |= {"attributes": (named(path),), "stand_ins": (named(f"{path}{VALUES}"),)}
    return _Part(Leaf(_phrase(text, branches, **more)), branches)


def _phrase(text: str, branches: list[Branch], **more: Any) -> Phrase:
    return Phrase(text, expression_of_branches(branches), _OTHERWISE, **more)


def _combined(several: Iterable[list[Branch]]) -> list[Branch]:
    """Every branch of each beside every branch of the others."""
    found: list[Branch] = [{}]
    for branches in several:
        if any(path in before for before in found for branch in branches for path in branch):
            raise _ReplacedError
        found = [before | branch for before in found for branch in branches]
    return found


def _written(value: Any) -> str:
    """A value as JSON, on one line."""
    if isinstance(value, Members):
        return f"{{{', '.join(f'{_written(name)}: {_written(each)}' for name, each in value)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return str(value) if isinstance(value, Numeral) else json.dumps(value, ensure_ascii=False)
