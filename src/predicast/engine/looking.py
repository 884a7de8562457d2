"""What subscriptions expect of attributes, for whoever reads events from where types are not known.

Attributes have no declared types. But a subscription that compares one with a timestamp, or takes
its hour, expects timestamps; and one that compares two attributes expects both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from predicast.derived.functions import COMPARISONS, inputs_of_kind
from predicast.derived.tree import Call, Input
from predicast.language.derived_names import expression_of, is_derived
from predicast.model import Kind, Subscription

if TYPE_CHECKING:
    from predicast.engine.engine import Engine


def expected_kinds(engine: Engine) -> Counter[tuple[str, Kind]]:
    """How many constraints expect values of a kind of an attribute, or of one that gives it."""
    expected = _by_name(each.subscription for each in engine.subscriptions())
    vocabulary = engine.vocabulary
    if vocabulary is None:
        return expected
    by_giver: Counter[tuple[str, Kind]] = Counter()
    for (name, kind), count in expected.items():
        for giver in vocabulary.attribute_names(name):
            by_giver[giver, kind] += count
    return by_giver


def _by_name(subscriptions: Iterable[Subscription]) -> Counter[tuple[str, Kind]]:
    expected: Counter[tuple[str, Kind]] = Counter()
    for subscription in subscriptions:
        for constraint in subscription.constraints():
            if is_derived(constraint.attribute):
                tree = expression_of(constraint.attribute)
                for kind in (Kind.TIMESTAMP, Kind.STRING):
                    expected.update((name, kind) for name in inputs_of_kind(tree, kind))
                continue
            for part in constraint.plain():
                if part.kind is not None:
                    expected[part.attribute, part.kind] += 1
    return expected


def compared_attributes(subscriptions: Iterable[Subscription]) -> list[tuple[str, str]]:
    """The pairs of attributes that are compared with each other."""
    names = {name for each in subscriptions for name in each.attributes() if is_derived(name)}
    pairs = []
    for name in sorted(names):
        tree = expression_of(name)
        match tree:
            case Call(function, (Input(left), Input(right))) if function in COMPARISONS:
                pairs.append((left, right))
    return pairs
