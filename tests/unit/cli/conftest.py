"""The command line run in this process, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main
import typer.testing
from typer.testing import CliRunner, Result

from predicast.cli import app

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which commands run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session", autouse=True)
def built_once() -> Iterator[None]:
    """Commands are made of their functions once: for each call, that would be most of its work."""
    with pytest.MonkeyPatch.context() as patch:
        made_once = cache(typer.main.get_command)
        patch.setattr(typer.testing, "_get_command", made_once)
        patch.setattr(typer.main, "get_command", made_once)
        yield


@pytest.fixture(scope="session")
def run() -> Run:
    """Run the command with these arguments."""

    def run(*arguments: object, input: str | bytes | None = None, code: int = 0) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception  # a traceback is never an answer
        assert result.exit_code == code, result.output
        return result

    return run
