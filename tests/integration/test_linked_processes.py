"""Linked brokers as processes: what was acknowledged arrives, whoever is killed or frozen."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from predicast.broker.access import TokenFile
from predicast.client import connect_sync
from tests.integration.serving import Serving, until


@pytest.fixture
def line(tmp_path: Path) -> Iterator[list[Serving]]:
    """Three brokers in a line: the core, a middle, a leaf."""
    brokers: list[Serving] = []
    try:
        for name in ("core", "middle", "leaf"):
            parents = ("--parent", brokers[-1].address) if brokers else ()
            made = Serving(tmp_path / name, "--name", name, *parents)
            brokers.append(made)
            made.start()
        yield brokers
    finally:
        for each in reversed(brokers):
            each.close()


def token(folder: Path, name: str, scope: str) -> str:
    """A token of the broker in a folder."""
    return TokenFile(folder / "tokens.json").add(name, "default", [scope], 0.0)


def test_links_need_a_token_that_is_for_them(tmp_path: Path) -> None:
    folder = tmp_path / "core"
    folder.mkdir()
    right, wrong = token(folder, "leaf", "link"), token(folder, "other", "publish")
    core, leaf = Serving(folder, "--name", "core"), Serving(tmp_path / "leaf", "--name", "leaf")
    core.start()
    try:
        leaf.options += ("--parent", core.address, "--parent-token", wrong)
        leaf.start()
        until(lambda: leaf.get("/links")["parents"][0]["problem"] is not None, "it is told")
        status = leaf.get("/links")
        assert "scope 'link'" in status["parents"][0]["problem"]
        assert not status["is_attached"]
        leaf.stop()
        leaf.options = (*leaf.options[:-1], right)
        leaf.start()
        until(lambda: bool(leaf.get("/links")["is_attached"]), "it is taken")
    finally:
        leaf.close()
        core.close()


def numbers(broker: Serving) -> list[int]:
    return [each["body"]["n"] for each in broker.kept()]


def test_what_is_acknowledged_arrives_through_a_middle_that_is_killed_and_frozen(
    line: list[Serving],
) -> None:
    core, middle, leaf = line
    for each in (core, leaf):
        each.post("/subscriptions", {"id": "all", "where": "n >= 0"})
    until(lambda: leaf.is_settled and core.is_settled, "wishes are known")
    with connect_sync(middle.address) as client:  # what `predicast top` shows
        linked = {(each.name, each.role) for each in client.statistics().brokers}
    assert linked == {("core", "parent"), ("leaf", "child")}
    leaf.publish([{"n": n} for n in range(10)], "a")
    core.publish([{"n": n} for n in range(100, 110)], "b")
    middle.kill()
    leaf.publish([{"n": n} for n in range(10, 20)], "c")
    core.publish([{"n": n} for n in range(110, 120)], "d")
    middle.start()
    until(lambda: len(leaf.kept()) >= 40 and len(core.kept()) >= 40, "all arrive")
    middle.signal(signal.SIGSTOP)
    leaf.publish([{"n": n} for n in range(20, 30)], "e")
    middle.signal(signal.SIGCONT)
    until(lambda: len(core.kept()) >= 50, "all arrive again")
    expected = [*range(30), *range(100, 120)]
    assert sorted(numbers(core)) == sorted(numbers(leaf)) == expected
    # What came over a link is in order, as it was published.
    assert [n for n in numbers(core) if n < 100] == list(range(30))
    assert middle.kept() == []
    until(lambda: middle.get("/links")["parent"] == "core", "it has found its parent again")
    status = middle.get("/links")
    assert (status["name"], status["level"]) == ("middle", 1)
    assert {each["name"]: each["role"] for each in status["neighbours"]} == {
        "core": "parent",
        "leaf": "child",
    }
