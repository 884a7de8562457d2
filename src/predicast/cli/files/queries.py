"""Files of SPARQL: one query, or several under lines that name them.

::

    PREFIX : <http://shop.example/>

    # id: laptops
    # owner: alice
    ASK { _:H :target ?x . ?x a :Laptop }

    # id: cheap
    ASK { _:H :price/rdf:value ?p FILTER(?p < 100) }

To SPARQL such a line is a comment. What stands before the first of them, prefixes say, is said to
every query. A file without one is a single query, whose id is the file's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from predicast.cli.files.source import OpenFile, Source

_HEAD: Final = re.compile(r"\s*#\s*(id|owner)\s*:\s*(.*?)\s*", re.IGNORECASE)
_SAYS_NOTHING: Final = re.compile(r"\s*(?:#.*)?")


class TextLines(NamedTuple):
    """Which line of the file a line of the text is, which may begin with those of all queries."""

    first: int  # the first line in the file of what is the query's own
    shared: int = 0  # lines before it, from the beginning of the file

    def of(self, line: int) -> int:
        """The line of the file."""
        return line if line <= self.shared else self.first + line - self.shared - 1


class Query(NamedTuple):
    """A query as the file has it."""

    id: str
    owner: str | None
    text: str
    lines: TextLines


def queries(source: Source, opened: OpenFile) -> Iterator[Query]:
    """The queries of a file, in order."""
    lines = source.text_of(opened).splitlines()
    heads = [number for number, line in enumerate(lines) if _stated(line, "id") is not None]
    if not heads:
        if any(not _SAYS_NOTHING.fullmatch(line) for line in lines):
            yield Query(Path(source.path).name.split(".")[0], None, "\n".join(lines), TextLines(1))
        return
    shared = lines[: heads[0]]
    if all(_SAYS_NOTHING.fullmatch(line) for line in shared):
        shared = []
    for head, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        yield _query(source, lines, head, end, shared)


def _query(
    source: Source, lines: Sequence[str], head: int, end: int, shared: Sequence[str]
) -> Query:
    id = _stated(lines[head], "id")
    if not id:
        raise source.refuse("an id is missing; write it as in # id: laptops", head + 1)
    begin = head + 1
    owner = _stated(lines[begin], "owner") if begin < end else None
    if owner is not None:
        begin += 1
    own = "\n".join(lines[begin:end]).rstrip()
    text = "\n".join([*shared, own])
    return Query(id, owner or None, text, TextLines(begin + 1, len(shared)))


def _stated(line: str, what: str) -> str | None:
    """What a line states as the id or the owner; ``None`` if it is no such line."""
    found = _HEAD.fullmatch(line)
    return found[2] if found is not None and found[1].lower() == what else None
