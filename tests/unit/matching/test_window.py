"""Windows: what collapses into what, and what the default does with the rest."""

from __future__ import annotations

import pytest

from predicast.errors import UnsupportedByMatcherError
from predicast.language import to_subscription
from predicast.matching import make_matcher, matcher_names
from predicast.matching.brute_force import BruteForce
from predicast.matching.window import Added, Operation, Removed, Replaced, Saved, collapsed
from predicast.model import Event, Subscription

A, B, C = (to_subscription(f"x = {number}") for number in range(3))


@pytest.mark.parametrize(("given", "net"), [
    ([], []),
    ([Added(1, A), Replaced(1, B)], [Added(1, B)]),
    ([Added(1, A), Replaced(1, B), Replaced(1, C)], [Added(1, C)]),
    ([Added(1, A), Removed(1)], []),
    ([Added(1, A), Removed(1), Added(1, B)], [Added(1, B)]),
    ([Replaced(1, A), Replaced(1, B)], [Replaced(1, B)]),
    ([Replaced(1, B, A), Replaced(1, C, B)], [Replaced(1, C, A)]),
    ([Replaced(1, A), Removed(1)], [Removed(1)]),
    ([Replaced(1, B, A), Removed(1, B)], [Removed(1, A)]),
    ([Removed(1), Added(1, A)], [Replaced(1, A)]),
    ([Removed(1, A), Added(1, B)], [Replaced(1, B, A)]),
    ([Removed(1, A), Added(1, A)], []),
    ([Removed(1), Added(1, A), Removed(1)], [Removed(1)]),
    ([Replaced(1, A, A)], []),
    ([Replaced(1, B, A), Replaced(1, A, B)], []),
    ([Replaced(1, B), Replaced(1, A, B)], [Replaced(1, A)]),
    ([Added(1, A), Removed(2), Added(3, A), Removed(1)], [Removed(2), Added(3, A)]),
])  # fmt: skip
def test_collapses_by_key_in_order(given: list[Operation], net: list[Operation]) -> None:
    assert collapsed(given) == net


def test_savings_add_up() -> None:
    assert Saved(5, 1, 2, 1, 1) + Saved(2, 0, 0, 1, 1) == Saved(7, 1, 2, 2, 2)


@pytest.mark.parametrize("name", matcher_names())
def test_every_matcher_runs_windows(name: str) -> None:
    matcher = make_matcher(name)
    matcher.subscribe(1, A)
    matcher.subscribe(2, B)
    window: list[Operation] = [Replaced(1, B, A), Removed(2, B), Added(3, C)]
    window += [Added(4, A), Removed(4)]
    saved = matcher.run_window(window)
    assert [sorted(matcher.match(Event({"x": x}))) for x in range(3)] == [[], [1], [3]]
    assert saved.given == 5 == sum(saved[1:])
    assert saved.collapsed == 2


class OnlyX(BruteForce):
    """Brute force that refuses whatever does not look at x."""

    def subscribe(self, key: int, subscription: Subscription) -> None:
        if "x" not in subscription.attributes():
            raise UnsupportedByMatcherError("only x", matcher="only-x")
        super().subscribe(key, subscription)


@pytest.mark.parametrize("refused", [
    Added(9, to_subscription("y = 1")),
    Replaced(2, to_subscription("y = 1"), B),
])  # fmt: skip
def test_a_refused_operation_undoes_the_window(refused: Operation) -> None:
    matcher = OnlyX()
    matcher.subscribe(1, A)
    matcher.subscribe(2, B)
    matcher.subscribe(3, C)
    with pytest.raises(UnsupportedByMatcherError):
        matcher.run_window([Replaced(1, C, A), Removed(3, C), Added(4, A), refused])
    assert [sorted(matcher.match(Event({"x": x}))) for x in range(3)] == [[1], [2], [3]]
