"""What ``python -m bench real`` measured, as a file."""

from __future__ import annotations

import msgspec

from bench.measuring.machine import Machine
from bench.measuring.result_files import ResultFile


class Rate(msgspec.Struct, frozen=True):
    """How many events a second; of several rounds the median, in processor time."""

    rival: str
    batch: int  # events at a time; 1: one by one
    events_per_s: float


class SigmaResult(msgspec.Struct, frozen=True):
    """The corpus's rules against events like its own."""

    rules: int
    events: int
    fields: float  # of an event, on average
    matches: int
    rates: list[Rate]
    wrong: list[str]  # where answers differ
    left_out: dict[str, str]  # rivals, and why

    def rate(self, rival: str, batch: int) -> float | None:
        """Events a second, if it was measured."""
        found = (each for each in self.rates if (each.rival, each.batch) == (rival, batch))
        return next((each.events_per_s for each in found), None)


class SelectiveResult(msgspec.Struct, frozen=True):
    """Rules of which hardly any match, by what they are made of."""

    made_of: str
    rules: int
    matches: int  # per event
    batch_us: float  # per event of a batch
    single_us: float  # per event, one by one
    wrong: str = ""


class LoadingResult(msgspec.Struct, frozen=True):
    """Subscriptions from nothing to the first answer, in a process of their own."""

    given_as: str
    subscriptions: int
    read_s: float  # until they are expressions, or texts
    load_s: float
    growth_bytes: int
    peak_bytes: int


class DialectResult(msgspec.Struct, frozen=True):
    """Subscriptions of a dialect beside ``where`` text that means the same."""

    dialect: str
    subscriptions: int
    events: int
    matches: int
    load_s: float
    where_load_s: float
    batch_us: float  # per event of a batch
    where_batch_us: float
    single_us: float  # per event, one by one
    where_single_us: float
    wrong: str = ""


class RealReport(ResultFile):
    """All of one run."""

    machine: Machine
    seed: int
    batch: int  # of the selective rules
    sigma: SigmaResult | None = None
    selective: list[SelectiveResult] = msgspec.field(default_factory=list)
    loading: list[LoadingResult] = msgspec.field(default_factory=list)
    dialects: list[DialectResult] = msgspec.field(default_factory=list)

    def wrong(self) -> list[str]:
        """Whatever answers differ in."""
        selective = [
            f"{each.rules:,} rules of {each.made_of}: {each.wrong}"
            for each in self.selective
            if each.wrong
        ]
        spoken = [f"{each.dialect}: {each.wrong}" for each in self.dialects if each.wrong]
        return [*(self.sigma.wrong if self.sigma else ()), *selective, *spoken]
