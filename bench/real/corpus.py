"""The Sigma corpus: real detection rules, and events that real attacks left in logs.

It is not part of the repository. It is looked for in ``shared/cases`` beside the repository or
further up, or wherever the variable ``PREDICAST_CASES`` says; ``MissingCorpusError`` says so where
it is not there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import msgspec

from predicast.language.sigma import SigmaDialect
from predicast.model import Expression

VARIABLE: Final = "PREDICAST_CASES"
_ROOT: Final = Path(__file__).parents[2]
_SIGMA: Final = SigmaDialect()


class MissingCorpusError(Exception):
    """The corpus is not on this machine; the message says where it was looked for."""


class Rule(msgspec.Struct, frozen=True):
    """A detection rule; whoever shows a match of it names its author."""

    id: str
    title: str
    author: str
    logsource: dict[str, Any]
    detection: dict[str, Any]

    def text(self) -> str:
        """The rule as text of the dialect: JSON is YAML as well."""
        return msgspec.json.encode(self).decode()

    def expression(self) -> Expression:
        """What it asks of an event."""
        return _SIGMA.parse(self.text())


class Firing(msgspec.Struct, frozen=True):
    """An event, and the id of a rule that it must fire."""

    rule: str
    event: dict[str, Any]


class Corpus(msgspec.Struct, frozen=True):
    """Rules and events."""

    rules: list[Rule]
    firings: list[Firing]


def read_corpus() -> Corpus:
    """All of it."""
    folder = case_path("sigma")
    return Corpus(
        msgspec.json.Decoder(Rule).decode_lines((folder / "rules.jsonl").read_bytes()),
        msgspec.json.Decoder(Firing).decode_lines((folder / "events.jsonl").read_bytes()),
    )


def case_path(name: str) -> Path:
    """Where cases from outside are, by the name of their file or folder."""
    named = os.environ.get(VARIABLE)
    folders = [Path(named)] if named else [each / "shared" / "cases" for each in _ROOT.parents]
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    raise MissingCorpusError(
        f"{name} is neither in shared/cases beside the repository nor where {VARIABLE} says"
    )


def with_text(event: dict[str, Any]) -> dict[str, Any]:
    """The event with the attribute in which rules look for keywords: its values, a line each."""
    return dict(_SIGMA.read_event(event))
