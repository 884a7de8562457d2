"""A table of subscriptions whose versions are files: what ``deliver`` needs of one, and no more."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from predicast import Engine
from predicast import spark as ps


@dataclass(frozen=True)
class Version:
    version: int
    subscriptions: dict[str, str]

    def engine(self) -> Engine:
        engine = Engine()
        for id, text in self.subscriptions.items():
            owner = id.partition("-")[0] if "-" in id else None
            engine.subscribe(text, id=id, owner=owner)
        return engine

    def compiled(self, spark: SparkSession) -> ps.CompiledSubscriptions:
        return ps.compile(self.engine())


@dataclass(frozen=True)
class VersionedFiles:
    """Owners are what stands before a hyphen in ids."""

    folder: Path

    @property
    def version(self) -> int:
        return max(int(each.stem) for each in self.folder.glob("*.json"))

    def at(self, version: int) -> Version:
        text = (self.folder / f"{version}.json").read_text(encoding="utf-8")
        return Version(version, json.loads(text))

    def commit(self, subscriptions: dict[str, str]) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        version = self.version + 1 if any(self.folder.iterdir()) else 0
        draft = self.folder / "draft"
        draft.write_text(json.dumps(subscriptions), encoding="utf-8")
        draft.rename(self.folder / f"{version}.json")
        return version
