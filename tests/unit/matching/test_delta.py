"""Deltas: what every matcher does with one, and what becomes of one that is refused."""

from __future__ import annotations

import numpy as np
import pytest

from predicast.errors import UnsupportedByMatcherError
from predicast.language import to_subscription
from predicast.matching import make_matcher, matcher_names
from predicast.matching.brute_force import BruteForce
from predicast.matching.delta import Delta, Effect, Group
from predicast.model import Event, Subscription
from predicast.model.operand_columns import OperandColumns
from predicast.model.outline import outlined
from tests.deltas import delta

A, B, C = (to_subscription(f"x = {number}") for number in range(3))


def group(held: dict[int, Subscription]) -> Group:
    stated = [outlined(each) for each in held.values()]
    operands = OperandColumns.of(stated[0].outline, [each.operands for each in stated])
    return Group(np.array(list(held), np.int32), operands)


def answers(matcher: BruteForce) -> list[list[int]]:
    return [sorted(matcher.match(Event({"x": x}))) for x in range(3)]


def test_effects_add_up() -> None:
    assert Effect(2, 1, 1) + Effect(0, 1, 1) == Effect(2, 2, 2)


@pytest.mark.parametrize("name", matcher_names())
def test_every_matcher_applies_deltas(name: str) -> None:
    matcher = make_matcher(name)
    held = {1: A, 2: B}
    effect = matcher.apply(delta(added=held), held.__getitem__)
    assert effect == Effect(restructured=2)
    effect = matcher.apply(delta(changed={1: B}, removed=[2], added={3: C}), held.__getitem__)
    assert answers(matcher) == [[], [1], [3]]  # type: ignore[arg-type]
    assert sum(effect) == 3
    held = {1: B, 3: C}
    groups = Delta([3], added_groups=[group({4: A, 5: C})], changed_groups=[group({1: C})])
    effect = matcher.apply(groups, held.__getitem__)
    assert answers(matcher) == [[4], [], [1, 5]]  # type: ignore[arg-type]
    assert sum(effect) == 4
    assert matcher.statistics()["subscriptions"] == 3


class OnlyX(BruteForce):
    """Brute force that refuses whatever does not look at x."""

    def subscribe(self, key: int, subscription: Subscription) -> None:
        if "x" not in subscription.attributes():
            raise UnsupportedByMatcherError("only x", matcher="only-x")
        super().subscribe(key, subscription)


@pytest.mark.parametrize("where", ["added", "changed"])
def test_what_is_refused_is_undone(where: str) -> None:
    matcher = OnlyX()
    held = {1: A, 2: B, 3: C}
    matcher.apply(delta(added=held), held.__getitem__)
    y = to_subscription("y = 1")
    added, changed = {4: A}, {1: C}
    if where == "added":
        added[9] = y
    else:
        changed[2] = y
    with pytest.raises(UnsupportedByMatcherError):
        matcher.apply(delta(added=added, changed=changed, removed=[3]), held.__getitem__)
    assert answers(matcher) == [[1], [2], [3]]


def test_a_change_to_the_same_is_none() -> None:
    matcher = BruteForce()
    matcher.subscribe(1, A)
    assert matcher.apply(delta(changed={1: A}), {1: A}.__getitem__) == Effect()
