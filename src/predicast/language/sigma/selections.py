"""What a Sigma rule says, of what pySigma made of it: a condition on selections, made of items.

An *item* is one line of a selection, ``CommandLine|contains|all: ['/priv', '/all']``: a field with
modifiers, and values of which one must fit, or all. Values without a field, *keywords*, may stand
anywhere in an event; they are looked for in one attribute that holds the text of all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from sigma.conditions import ConditionAND
from sigma.rule.detection import SigmaDetection, SigmaDetectionItem
from sigma.types import SigmaNull, SigmaType

from predicast.errors import LimitError, PredicastError
from predicast.language.sigma.values import (
    Test,
    all_of,
    any_of,
    none_of,
    tests_of_any,
    tests_of_text,
)
from predicast.model import And, Expression, Leaf, Not, Or
from predicast.model.expression import Node, leaves_of

MAX_TESTS: Final = 100_000  # of all selections, each as often as the condition names it


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a selection, as pySigma has it, and the tests that it makes."""

    written: SigmaDetectionItem
    tests: Node[Test]


@dataclass(frozen=True, slots=True)
class Selection:
    """Items under a name."""

    name: str
    items: Node[Item]


Condition: TypeAlias = Node[Selection]


class ItemError(Exception):
    """An item that cannot be a test: why, and the positions that lead to it in its selection."""

    selection: str

    def __init__(self, error: PredicastError, path: tuple[int, ...]) -> None:
        super().__init__(str(error))
        self.error = error
        self.path = path


def selection_of(name: str, detection: SigmaDetection, text: str) -> Selection:
    """A selection; keywords are looked for in the attribute ``text``."""
    try:
        return Selection(name, _items(detection, text, ()))
    except ItemError as error:
        error.selection = name
        raise


def _items(detection: SigmaDetection, text: str, path: tuple[int, ...]) -> Node[Item]:
    parts: list[Node[Item]] = []
    for position, each in enumerate(detection.detection_items):
        here = (*path, position)
        if isinstance(each, SigmaDetection):
            parts.append(_items(each, text, here))
            continue
        try:
            parts.append(Leaf(Item(each, tests_of_item(each, each.value, text))))
        except PredicastError as error:
            raise ItemError(error, here) from error
    if len(parts) == 1:
        return parts[0]
    return And(tuple(parts)) if detection.item_linking is ConditionAND else Or(tuple(parts))


def tests_of_item(item: SigmaDetectionItem, values: Sequence[SigmaType], text: str) -> Node[Test]:
    """What an item asks for, with all of its values or some."""
    given = list(values) or [SigmaNull()]
    groups = [[each] for each in given] if item.value_linking is ConditionAND else [given]
    parts = [_some(_tests(item.field, group, text)) for group in groups]
    node = parts[0] if len(parts) == 1 else And(tuple(parts))
    return Not(node) if item.negated else node


def _tests(field: str | None, values: Sequence[SigmaType], text: str) -> list[Test]:
    return tests_of_text(text, values) if field is None else tests_of_any(field, values)


def _some(tests: Sequence[Test]) -> Node[Test]:
    leaves: tuple[Node[Test], ...] = tuple(Leaf(test) for test in tests)
    return leaves[0] if len(leaves) == 1 else Or(leaves)


# As expressions.


def check_size(condition: Condition) -> None:
    """Refuse a condition that names selections so often that they are too much."""
    sizes: dict[str, int] = {}
    total = 0
    for selection in leaves_of(condition):
        if selection.name not in sizes:
            sizes[selection.name] = sum(1 for _ in _tests_in(selection))
        total += sizes[selection.name]
        if total > MAX_TESTS:
            raise LimitError(
                f"the condition names selections of more than {MAX_TESTS:,} tests in all",
                limit=MAX_TESTS,
                actual=total,
            )


def _tests_in(selection: Selection) -> Iterator[Test]:
    for item in leaves_of(selection.items):
        yield from leaves_of(item.tests)


def expression_of(condition: Condition) -> Expression:
    """Where a condition holds."""
    return expression_of_tests(_tests_of(condition), wanted=True)


def _tests_of(condition: Condition) -> Node[Test]:
    """A condition with tests for selections."""
    match condition:
        case Leaf(selection):
            return tests_of_items(selection.items)
        case Not(part):
            return Not(_tests_of(part))
        case And(parts):
            return And(tuple(map(_tests_of, parts)))
        case Or(parts):
            return Or(tuple(map(_tests_of, parts)))


def tests_of_items(items: Node[Item]) -> Node[Test]:
    """Items with their tests."""
    match items:
        case Leaf(item):
            return item.tests
        case Not(part):
            return Not(tests_of_items(part))
        case And(parts):
            return And(tuple(map(tests_of_items, parts)))
        case Or(parts):
            return Or(tuple(map(tests_of_items, parts)))


def expression_of_tests(node: Node[Test], *, wanted: bool) -> Expression:
    """Where tests hold or, if that is wanted, where they do not."""
    match node:
        case Leaf(test):
            return test.true if wanted else none_of([test])
        case Not(part):
            return expression_of_tests(part, wanted=not wanted)
        case And(parts):
            made = [expression_of_tests(part, wanted=wanted) for part in parts]
            return all_of(made) if wanted else any_of(made)
        case Or(parts) if wanted:
            return any_of([expression_of_tests(part, wanted=True) for part in parts])
        case Or(parts):
            tests = [part.constraint for part in parts if isinstance(part, Leaf)]
            others = [
                expression_of_tests(part, wanted=False)
                for part in parts
                if not isinstance(part, Leaf)
            ]
            return all_of([*([none_of(tests)] if tests else []), *others])
