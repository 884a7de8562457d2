"""``predicast simulate``: a table or JSON, a picture, and a broken promise as an exit code."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from predicast.routing import Events, Message, Router, Send
from predicast.routing.simulation import broker
from tests.unit.cli.conftest import Run

FEW = ("--brokers", 3, "--clients", 4, "--subscriptions", 12, "--events", 20, "--rounds", 1)


def test_a_run_is_told_as_a_table(run: Run) -> None:
    shown = run("simulate", *FEW, "--seed", 7).stdout
    for words in ("expected", "delivered", "lost", "messages: announce", "seconds to converge"):
        assert words in shown


def test_a_run_is_told_as_json_and_is_the_same_again(run: Run) -> None:
    options = ("simulate", *FEW, "--seed", 7, "--faults", "loss,reorder", "--json")
    one = run(*options).stdout
    assert one == run(*options).stdout
    told = json.loads(one)
    assert told["seed"] == 7
    assert told["lost"] == told["spurious"] == told["duplicated"] == 0
    assert told["violations"] == []
    assert told["faults"]["messages lost"] > 0


def test_the_tree_is_drawn(run: Run, folder: Path) -> None:
    run("simulate", *FEW, "--draw", "tree.svg")
    drawn = ET.parse(folder / "tree.svg").getroot()
    names = {"svg": "http://www.w3.org/2000/svg"}
    assert len(drawn.findall("svg:circle", names)) == 3


def test_a_picture_that_cannot_be_written_is_refused_before_the_run(run: Run) -> None:
    result = run("simulate", "--brokers", 10**9, "--draw", "nowhere/tree.svg", code=2)
    assert "nowhere/tree.svg: No such file or directory" in result.stderr


def test_all_faults_include_the_others(run: Run) -> None:
    options = ("simulate", *FEW, "--json", "--faults")
    assert run(*options, "all").stdout == run(*options, "loss, all").stdout


def test_a_broken_promise_is_told_with_its_seed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Losing(Router):
        def receive_all(self, arrivals: Iterable[tuple[Message, str]], now: float) -> list[Send]:
            return super().receive_all(
                [(emptied(message), name) for message, name in arrivals], now
            )

    def emptied(message: Message) -> Message:
        if isinstance(message, Events):
            return replace(message, events=(), matched=None)
        return message

    monkeypatch.setattr(broker, "Router", Losing)
    result = run("simulate", *FEW, "--seed", 11, code=1)
    assert "seed 11 breaks a promise" in result.stderr
    assert "lost: event" in result.stderr
    (again,) = (line for line in result.stderr.splitlines() if "predicast simulate" in line)
    command = again.split("predicast ", 1)[1].split()
    assert command[:3] == ["simulate", "--brokers", "3"]
    assert run(*command, code=1).stdout == result.stdout


def test_an_unknown_fault_is_refused(run: Run) -> None:
    result = run("simulate", *FEW, "--faults", "los", code=2)
    assert "there is no fault 'los'" in result.stderr
    assert "did you mean 'loss'?" in result.stderr
