"""``Verdict``: whether a paper's claim or a goal of ours holds, by which rule, on what evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Self

import msgspec
from rich.table import Table


class Finding(msgspec.Struct, frozen=True):
    """What one kind of measurement says about a claim."""

    holds: bool
    evidence: str

    @classmethod
    def joined(
        cls, parts: Iterable[Self], *, label: str = "", separator: str = "; "
    ) -> Self | None:
        """One finding that holds if all of them do; none if there is nothing to join.

        With a label, the parts that go against the claim are marked.
        """
        found = list(parts)
        if not found:
            return None
        evidence = separator.join(
            part.evidence + (" (no)" if label and not part.holds else "") for part in found
        )
        holds = all(part.holds for part in found)
        return cls(holds, f"{label}: {evidence}" if label else evidence)


class Verdict(msgspec.Struct, frozen=True):
    """A claim, the rule it is judged by, and the findings by time or memory and by steps."""

    claim: str
    rule: str
    measured: Finding | None
    counted: Finding | None  # by steps, which do not depend on the machine
    why_not: str = ""  # for the reader, if it does not hold
    unit: Literal["time", "memory"] = "time"  # what is measured

    @property
    def outcome(self) -> str:
        """What the findings amount to."""
        found = [each for each in (self.measured, self.counted) if each is not None]
        if not found:
            return "not measured"
        if all(each.holds for each in found):
            return "holds"
        if not any(each.holds for each in found):
            return "does not hold"
        assert self.measured is not None
        return f"holds by {self.unit} only" if self.measured.holds else "holds by steps only"


def verdict_table(title: str, rows: Iterable[tuple[Verdict, str, str]]) -> Table:
    """For the terminal: each verdict, what it is called there, and the evidence."""
    table = Table(title=title)
    for heading in ("claim", "verdict"):
        table.add_column(heading)
    table.add_column("evidence", style="dim")
    for verdict, word, evidence in rows:
        style = {"holds": "green", "not measured": "dim"}.get(verdict.outcome, "yellow")
        table.add_row(verdict.claim, f"[{style}]{word}[/]", evidence)
    return table
