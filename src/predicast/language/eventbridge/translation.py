"""Patterns into subscriptions: what a branch says of events with arrays, and of those without.

In EventBridge the fields of objects in an array belong together: of ``{"d": {"a": [1], "b": [2]}}``
both must be fields of one element, if ``d`` is an array. An event without arrays knows nothing of
that, and nearly all are such once an array of one element is taken for the element. So each branch
is two clauses:

- one for *single* values, ``d.a = 1 AND d.b = 2``, as ``where`` has it and as quick;
- one for events with arrays, which ``read_event`` (``events.py``) gives lists: ``d.a[]`` of all
  values at a path, however many arrays lead there, and ``d{}`` of all objects at a path, whose
  fields are such lists again. Paths that go the same way up to ``d`` are asked of one object of
  ``d{}``, within which those that go on together are asked of one object there.

``exists: false`` is about the objects that paths *before* it, in the order of their names, have led
to, and about the whole event if there was none; that is Event Ruler's rule, and kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from predicast.bounded_cache import remembered
from predicast.errors import NestingTooDeepError
from predicast.language.eventbridge.conditions import (
    absent,
    condition,
    exists,
    named,
    normal,
    some,
    some_value,
)
from predicast.language.eventbridge.pattern import ABSENT, EXISTS, Branch, Kind, Test
from predicast.model import And, Expression, Or, Subscription, subscription_of
from predicast.model.constraint import MAX_LISTS
from predicast.model.elements import FIELDS

VALUES: Final = "[]"  # behind a path: the list of all values there
OBJECTS: Final = "{}"  # behind a path: the list of all objects there

_MAX_BYTES: Final = 16 << 20  # of conditions on paths that are remembered, of either way
_BYTES: Final = 2_000  # of a test and what it comes to, generously
_PER_CHARACTER: Final = 20  # bytes, of regular expressions too


class Wanted(NamedTuple):
    """What is wanted at a path: a value that passes one of some tests, or perhaps none at all."""

    tests: tuple[Test, ...]
    may_be_absent: bool

    @classmethod
    def of(cls, tests: Sequence[Test]) -> Wanted:
        if EXISTS not in tests and ABSENT not in tests:
            return cls(tuple(tests), may_be_absent=False)
        present = tuple(test for test in tests if test is not ABSENT)
        return cls((EXISTS,) if EXISTS in present else present, ABSENT in tests)


Paths = Mapping[str, Wanted]


def subscription_of_branches(branches: Sequence[Branch]) -> Subscription:
    """The subscription that a pattern with these branches is."""
    ways = [_ways(wanted_of(branch)) for branch in branches]
    if len(ways) == 1:
        return normal(*ways[0])
    return subscription_of(Or(tuple([way for both in ways for way in both])))


def expression_of_branches(branches: Sequence[Branch]) -> Expression:
    """The same as it stands, for one event to be held against."""
    return _any([way for branch in branches for way in _ways(wanted_of(branch))])


def wanted_of(branch: Branch) -> Paths:
    """What is wanted at each path, in the order in which Event Ruler takes them."""
    key = None if all(map(str.isascii, branch)) else _in_java
    ordered = sorted(branch, key=key)
    return {path: Wanted.of(branch[path]) for path in ordered}


def _in_java(path: str) -> bytes:
    """What sorts as a path does by its UTF-16 units."""
    return path.encode("utf-16-be")


def _ways(paths: Paths) -> list[Expression]:
    """What a branch is of events without arrays, and of those with some."""
    single = of_singles(paths)
    if not any(wanted.tests for wanted in paths.values()):
        return [single]
    return [single, of_lists(paths)]


def of_singles(paths: Paths) -> Expression:
    """What single values are to be."""
    return _all([_of_single(path, wanted) for path, wanted in paths.items()])


# Patterns by the thousand ask about the same sources, and states, and types.
@remembered(_MAX_BYTES, lambda arguments, _: _cost(*arguments))
def _of_single(path: str, wanted: Wanted) -> Expression:
    ways: list[Expression] = []
    if wanted.tests:
        ways.append(condition(wanted.tests, named(path)))
    if wanted.may_be_absent:
        ways.append(_nothing_at(path, ""))
    return _any(ways)


def _cost(path: str, wanted: Wanted, prefix: str = "") -> int:
    return _BYTES + _PER_CHARACTER * (len(path) + len(prefix)) + sum(map(_test_cost, wanted.tests))


def _test_cost(test: Test) -> int:
    if test.kind is Kind.ANYTHING_BUT:
        return _BYTES + sum(map(_test_cost, test.operand))
    return _BYTES + (_PER_CHARACTER * len(test.operand) if isinstance(test.operand, str) else 0)


def _nothing_at(path: str, prefix: str) -> Expression:
    """That there is no value at a path, of an event with arrays or without."""
    in_lists = absent(_list(prefix, path, VALUES))
    return in_lists if prefix else And((absent(named(path)), in_lists))


def _list(prefix: str, path: str, of: str) -> str:
    name = f"{prefix}{path}{of}"
    return name if prefix else named(name)


def of_lists(paths: Paths, prefix: str = "", depth: int = 1) -> Expression:
    """What lists are to hold, of an event or of one object, whose fields have a prefix."""
    return _all([_of_group(group, prefix, depth) for group in _groups(paths)])


def _groups(paths: Paths) -> Iterator[dict[str, Wanted]]:
    """The paths that begin with the same name."""
    groups: dict[str, dict[str, Wanted]] = {}
    for path, wanted in paths.items():
        groups.setdefault(path.split(".", 1)[0], {})[path] = wanted
    yield from groups.values()


def _of_group(group: Paths, prefix: str, depth: int) -> Expression:
    if len(group) == 1:
        ((path, wanted),) = group.items()
        return _of_path(path, wanted, prefix)
    top = _common_path(list(group))
    own = group.get(top)  # the values beside the objects, in an array of both
    below = {path: wanted for path, wanted in group.items() if path != top}
    ways: list[Expression] = []
    before: list[Expression] = []
    for position, (path, wanted) in enumerate(below.items()):
        if wanted.tests:  # the first that leads to an object: those after it are about that
            after = dict(islice(below.items(), position, None))
            after[path] = wanted._replace(may_be_absent=False)
            ways += [And((*before, each)) for each in _of_object(top, own, after, prefix, depth)]
        if not wanted.may_be_absent:
            break
        before.append(_nothing_at(path, prefix))
    else:
        beside = [] if own is None else [_of_path(top, own, prefix)]
        ways.append(_all([*before, *beside]))
    return _any(ways)


def _of_object(
    top: str, own: Wanted | None, below: Paths, prefix: str, depth: int
) -> Iterator[Expression]:
    """What one object at a path is to hold, given what values beside it are."""
    if depth >= MAX_LISTS:
        raise NestingTooDeepError(
            f"the pattern asks of objects within objects more than {MAX_LISTS - 1} times",
            limit=MAX_LISTS,
            actual=depth + 1,
        )
    fields = {path[len(top) + 1 :]: wanted for path, wanted in below.items()}
    objects = _list(prefix, top, OBJECTS)
    inside = of_lists(fields, FIELDS, depth + 1)
    if own is None or own.tests:
        beside = [] if own is None else [_of_path("", own._replace(may_be_absent=False), FIELDS)]
        yield some(objects, _all([*beside, inside]))
    if own is not None and own.may_be_absent:
        yield And((_nothing_at(top, prefix), some(objects, inside)))


@remembered(_MAX_BYTES, lambda arguments, _: _cost(*arguments))
def _of_path(path: str, wanted: Wanted, prefix: str) -> Expression:
    name = _list(prefix, path, VALUES)
    ways: list[Expression] = []
    if EXISTS in wanted.tests:
        ways.append(exists(name))
    elif wanted.tests:
        ways.append(some_value(name, wanted.tests))
    if wanted.may_be_absent:
        ways.append(_nothing_at(path, prefix))
    return _any(ways)


def _common_path(paths: Sequence[str]) -> str:
    """The longest path that all of them begin with."""
    split = [path.split(".") for path in paths]
    steps = []
    for names in zip(*split, strict=False):
        if len(set(names)) > 1:
            break
        steps.append(names[0])
    return ".".join(steps)


def _all(parts: Sequence[Expression]) -> Expression:
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _any(parts: Sequence[Expression]) -> Expression:
    return parts[0] if len(parts) == 1 else Or(tuple(parts))
