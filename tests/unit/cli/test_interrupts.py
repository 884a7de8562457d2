"""Ctrl-C counts, whoever swallows the exception."""

import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from predicast.cli.files.output import result_stream
from predicast.cli.files.source import Source
from predicast.cli.interrupts import interrupts_held, interrupts_noted, stop_if_interrupted


def careless(reached: list[str]) -> None:
    """As libraries do that are just being imported."""
    with interrupts_noted():
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException:  # noqa: BLE001
            reached.append("swallowed")
        with pytest.raises(KeyboardInterrupt):
            stop_if_interrupted()


def test_a_swallowed_interrupt_is_raised_again() -> None:
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        careless(reached)
    assert reached == ["swallowed"]


def test_without_one_nothing_happens_and_the_handler_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts_noted():
        stop_if_interrupted()
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_while_a_file_is_made_leaves_nothing_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Path.open

    def make_and_be_interrupted(path: Path, mode: str) -> None:
        make(path, mode).close()
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "open", make_and_be_interrupted)
    with pytest.raises(KeyboardInterrupt), result_stream("out.jsonl"):
        pass
    assert list(folder.iterdir()) == []


def test_an_interrupt_that_is_held_counts_when_the_block_ends() -> None:
    reached: list[str] = []

    def run() -> None:
        with interrupts_noted():
            with interrupts_held():
                signal.raise_signal(signal.SIGINT)
                reached.append("the end of the block")
            reached.append("too far")

    with pytest.raises(KeyboardInterrupt):
        run()
    assert reached == ["the end of the block"]


def test_an_interrupt_while_a_pipe_gets_its_copy_leaves_nothing_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = tempfile.NamedTemporaryFile

    def make_and_be_interrupted(prefix: str) -> Any:
        signal.raise_signal(signal.SIGINT)
        made = make(prefix=prefix, dir=folder)
        signal.raise_signal(signal.SIGINT)
        return made

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", make_and_be_interrupted)

    def run() -> None:
        with interrupts_noted(), Source.of("-").kept():
            pytest.fail("it was interrupted")

    with pytest.raises(KeyboardInterrupt):
        run()
    assert list(folder.iterdir()) == []
