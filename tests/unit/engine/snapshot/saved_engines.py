"""Engines to save, and the file that a save which fails must leave alone."""

from __future__ import annotations

from pathlib import Path

from predicast import Engine


def engine_of(count: int) -> Engine:
    """So many subscriptions, with a compiled structure to save."""
    engine = Engine(matcher="columnar")
    engine.subscribe_many((f"s{n}", f"a = {n} AND b < 'w{n}'") for n in range(count))
    engine.match({"a": 1})
    return engine


def old_file(folder: Path) -> Path:
    """A file that must survive."""
    path = folder / "engine"
    engine_of(3).save(path)
    return path


def check_kept(path: Path) -> None:
    """The old file is there, and nothing else."""
    assert list(path.parent.iterdir()) == [path]
    assert len(Engine.load(path)) == 3
