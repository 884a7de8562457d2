"""Ctrl-C counts, whoever swallows the exception."""

import signal

import pytest

from predicast.cli.interrupts import interrupts_noted, stop_if_interrupted


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
