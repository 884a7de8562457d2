"""Expressions over the columns of a batch: what ``predicast.derived.rows`` gives row by row.

Numbers and times are computed as whole arrays, and so are the cases and lengths of strings. What
has no function of arrays, such as a cast of numbers to text, runs once per combination of its
arguments (of strings, once per word), as the very function that single events use.

An expression over an attribute that is an interval in some row has no value there; a list has one
only in what is said of lists.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.arrays import Words
from predicast.derived import (
    NOW,
    Call,
    Case,
    Constant,
    Each,
    Input,
    Span,
    Test,
    Tree,
    asks_for_now,
    inputs_of,
)
from predicast.derived.cesql.texts import is_of_present, of_strings
from predicast.derived.functions import COMPARISONS, FUNCTIONS
from predicast.derived.times import FIELDS
from predicast.derived.tree import Condition
from predicast.matching.batches.derived import numbers, texts, times
from predicast.matching.batches.derived.casting import cast
from predicast.matching.batches.derived.columns import (
    Column,
    aligned,
    are_same,
    constant,
    from_values,
    kept,
    kept_rows,
    made,
    merged,
    ranked_together,
    rows_of,
    with_values,
)
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.lists import Lists, PartsOnDemand, Store
from predicast.matching.batches.typed_values import (
    Booleans,
    Floats,
    Integers,
    Intervals,
    Mask,
    Rows,
    Strings,
    Timestamps,
    TypedValues,
)
from predicast.model import And, Leaf, Not, Operator
from predicast.model.operators import PRESENCE

_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "%"})
_OF_ONE: Final = frozenset({"negative", "abs", "floor", "ceil"})


def with_derived(
    batch: EventBatch, trees: Mapping[str, Tree], hidden: Container[str] | None = None
) -> EventBatch:
    """The batch with the attributes that expressions make, in place of any of their names.

    What it has under other ``hidden`` names is not seen either.
    """
    hidden = trees if hidden is None else hidden
    parts = {name: batch.parts(name) for name in batch.attributes() if name not in hidden}
    _change_cases(batch, trees.values())
    for name, tree in trees.items():
        parts[name] = _root(batch, tree)
    return EventBatch(len(batch), parts)


def _change_cases(batch: EventBatch, trees: Iterable[Tree]) -> None:
    """Change the case of all columns of strings together: most of what rules derive is that."""
    wanted: dict[str, list[Words]] = {case: [] for case in texts.CASES}
    for tree in trees:
        # No pattern: there may be hundreds, and most often there is nothing to do.
        if isinstance(tree, Call) and tree.function in wanted:
            [subject] = tree.arguments
            for part in batch.parts(subject.name) if isinstance(subject, Input) else ():
                if isinstance(part, Strings) and part.words.whole is None:
                    wanted[tree.function].append(part.words)
    for case, words in wanted.items():
        texts.change_together(case, words)


def at_times(batch: EventBatch, now: datetime | str) -> EventBatch:
    """The batch with the time at which its events arrive: one for all, or a column of its own."""
    parts = {name: batch.parts(name) for name in batch.attributes()}
    if isinstance(now, str):
        arrivals = [part for part in batch.parts(now) if isinstance(part, Timestamps)]
        return EventBatch(len(batch), {**parts, NOW: arrivals})
    return EventBatch(len(batch), {**parts, NOW: [constant(now, len(batch))]})


def _each(batch: EventBatch, lists: Lists, trees: Mapping[str, Tree]) -> Lists:
    """The same lists with what is computed from their elements."""
    first, elements = lists.store
    if any(map(asks_for_now, trees.values())):
        elements = _arriving(batch, lists)

    def part(name: str) -> Sequence[TypedValues]:
        tree = trees.get(name)
        return elements.parts(name) if tree is None else _root(elements, tree)

    parts = PartsOnDemand([*elements.attributes(), *trees], part)
    return Lists(lists.values, lists.rows, Store(first, EventBatch(len(elements), parts)))


def _arriving(batch: EventBatch, lists: Lists) -> EventBatch:
    """The elements of lists, each of which arrives when its event does."""
    first, elements = lists.store
    row = np.full(len(first) - 1, -1)
    row[lists.values] = rows_of(lists)
    row = np.repeat(row, np.diff(first))

    def arrivals() -> Iterator[TypedValues]:
        for part in batch.parts(NOW):
            place = np.full(len(batch) + 1, -1)  # the last is that of no row
            place[rows_of(part)] = np.arange(len(part))
            there = np.flatnonzero(place[row] >= 0)
            yield made(Timestamps, part.values[place[row[there]]], there)

    def parts(name: str) -> Sequence[TypedValues]:
        return list(arrivals()) if name == NOW else elements.parts(name)

    return EventBatch(len(elements), PartsOnDemand([*elements.attributes(), NOW], parts))


def _root(batch: EventBatch, tree: Tree) -> Sequence[TypedValues]:
    match tree:
        case Input(name):
            return batch.parts(name)
        case Call("lower" | "upper" as case, (Input(name),)):
            return [_in_case(case, part) for part in batch.parts(name) if isinstance(part, Strings)]
        case Each(name):
            trees, parts = dict(tree.computed), batch.parts(name)
            return [
                _each(batch, each, trees) if isinstance(each, Lists) else each for each in parts
            ]
    column = _column(batch, tree)
    for name in inputs_of(tree):
        for part in batch.parts(name):
            if isinstance(part, Intervals):
                points = np.ones(len(batch), bool)
                points[rows_of(part)] = False
                column = [kept_rows(each, points) for each in column]
    return [_frozen(part) for part in column if len(part)]


def _frozen(part: TypedValues) -> TypedValues:
    """Read-only, as what comes from Arrow is: kernels are compiled for either apart."""
    if isinstance(part, Strings):
        return part
    values = part.values.view()
    values.flags.writeable = False
    return with_values(part, values, part.rows)


def _column(batch: EventBatch, tree: Tree) -> Column:
    match tree:
        case Input(name):
            return [each for each in batch.parts(name) if not isinstance(each, Intervals | Lists)]
        case Call("size", (Input(name),)):
            lists = [part for part in batch.parts(name) if isinstance(part, Lists)]
            return [made(Integers, part.lengths(), part.rows) for part in lists]
        case Constant(value):
            return [constant(value, len(batch))]
        case Case():
            return _case(batch, tree)
        case Call("now"):
            return list(batch.parts(NOW))
        case Call("shift", (subject, Span() as span)):
            return _shifted(_column(batch, subject), span)
        case Call("<=>", (left, right)):
            return _same(batch, _column(batch, left), _column(batch, right))
        case Call("coalesce", arguments):
            return _first(batch, [_column(batch, each) for each in arguments])
        case Call("greatest" | "least" as function, arguments):
            return _extreme(batch, function, [_column(batch, each) for each in arguments])
        case Call("cesql", (Constant(text), *inputs)):
            return _cesql(batch, str(text), [_column(batch, each) for each in inputs])
        case Call(function, arguments):
            return _strict(function, [_column(batch, each) for each in arguments])
    raise AssertionError(f"{tree} is no expression by itself")


def _strict(function: str, arguments: list[Column]) -> Column:
    """A function that has a value only where all its arguments have one."""
    found: Column = []
    for parts in product(*arguments):
        together = aligned(parts)
        if together is not None:
            found += _applied(function, together)
    return merged(found)


def _applied(function: str, parts: list[TypedValues]) -> Column:
    """A function of parts that stand in the same rows."""
    if function in _ARITHMETIC:
        return _placed(numbers.arithmetic(function, *parts), parts[0].rows)
    if function in COMPARISONS:
        return _compared(function, *parts)
    if function in _OF_ONE:
        return _placed(numbers.of_one(function, parts[0]), parts[0].rows)
    if function == "round":
        return _rounded(parts)
    if function in FIELDS or function == "date_trunc":
        return _of_time(function, parts)
    if function in texts.CASES and isinstance(parts[0], Strings):
        return [_in_case(function, parts[0])]
    if function == "length" and isinstance(parts[0], Strings):
        lengths = texts.lengths(parts[0].words)[parts[0].values]
        return [made(Integers, lengths, parts[0].rows)]
    if function.startswith("cast "):
        found = cast(function.split()[1], parts[0])
        if found is not None:
            return [found]
    return _by_distinct(function, parts)


def _in_case(case: str, part: Strings) -> Strings:
    return part.with_words(texts.in_case(case, part.words))


def _placed(result: numbers.Result | None, rows: Rows | None) -> Column:
    if result is None:
        return []
    cls, values, valid = result
    part = made(cls, values, rows)
    return [part if valid is None else kept(part, valid)]


def _rounded(parts: list[TypedValues]) -> Column:
    number, *digits = parts
    if not digits:
        return _placed(numbers.of_one("round", number), number.rows)
    if not isinstance(number, Floats):
        return _by_distinct("round", parts)
    values = numbers.rounded(number.values, int(digits[0].values[0]))
    return _placed((Floats, values, np.isfinite(values)), number.rows)


def _of_time(function: str, parts: list[TypedValues]) -> Column:
    at = parts[-1]
    if not isinstance(at, Timestamps):
        return []
    if function == "date_trunc":
        [unit] = {parts[0].value(0)}
        return [with_values(at, times.truncated(str(unit), at.values), at.rows)]
    return [made(Integers, times.field(function, at.values), at.rows)]


def _shifted(column: Column, span: Span) -> Column:
    found = []
    for part in column:
        if isinstance(part, Timestamps) and len(part):
            values, valid = times.shifted(part.values, span)
            found.append(kept(with_values(part, values, part.rows), valid))
    return found


# Comparisons.


def _compared(function: str, left: TypedValues, right: TypedValues) -> Column:
    truth = _comparison(function, left, right)
    return [] if truth is None else [made(Booleans, truth, left.rows)]


def _comparison(function: str, left: TypedValues, right: TypedValues) -> Mask | None:
    if isinstance(left, Strings) and isinstance(right, Strings):
        if function == "=":
            return are_same(left, right)
        return numbers.DIRECT[function](*ranked_together(left, right))
    if type(left) is type(right) and not (isinstance(left, Booleans) and function != "="):
        return numbers.DIRECT[function](left.values, right.values)
    return numbers.compared(function, left, right)


# Functions that have a value though some arguments have none.


def _same(batch: EventBatch, left: Column, right: Column) -> Column:
    """Equal where both are there, otherwise whether neither is."""
    here = [_present(batch, column) for column in (left, right)]
    lacking = np.flatnonzero(~(here[0] & here[1]))
    neither = ~(here[0] | here[1])
    return merged([*_strict("=", [left, right]), made(Booleans, neither[lacking], lacking)])


def _present(batch: EventBatch, column: Column) -> Mask:
    mask = np.zeros(len(batch), bool)
    for part in column:
        mask[rows_of(part)] = True
    return mask


def _first(batch: EventBatch, arguments: list[Column]) -> Column:
    left = np.ones(len(batch), bool)  # rows that have no value yet
    found: Column = []
    for column in arguments:
        found += [kept_rows(part, left) for part in column]
        for part in column:
            left[rows_of(part)] = False
    return merged(found)


def _extreme(batch: EventBatch, function: str, arguments: list[Column]) -> Column:
    kinds = {part.kind for column in arguments for part in column if len(part)}
    if len(kinds) > 1 or any(isinstance(part, Booleans) for c in arguments for part in c):
        return _by_row(batch, function, arguments)
    best = arguments[0]
    for column in arguments[1:]:
        best = _better(batch, function, best, column)
    return best


def _better(batch: EventBatch, function: str, left: Column, right: Column) -> Column:
    """Of each row the better of two, the first of equal ones, or the one that is there."""
    from_right = np.ones(len(batch), bool)
    for part in left:
        from_right[rows_of(part)] = False
    for a, b in product(left, right):
        together = aligned([a, b])
        if together is None:
            continue
        x, y = together
        wins = _comparison("<", *((x, y) if function == "greatest" else (y, x)))
        assert wins is not None
        from_right[rows_of(x)[wins]] = True
    parts = [kept_rows(part, ~from_right) for part in left]
    return merged([*parts, *(kept_rows(part, from_right) for part in right)])


def _cesql(batch: EventBatch, text: str, inputs: list[Column]) -> Column:
    """A test or value of CESQL: once per combination of its inputs, if it reads all of them."""
    words = constant(text, len(batch))
    function = of_strings(text)
    if function is not None:
        strings: Column = [part for part in inputs[0] if isinstance(part, Strings)]
        others = [part for part in inputs[0] if not isinstance(part, Strings)]
        found = _strict(function, [strings]) if function else strings
        return merged([*found, *_strict("cesql", [[words], others])])
    given = [[words], *inputs]
    return _strict("cesql", given) if is_of_present(text) else _by_row(batch, "cesql", given)


def _by_row(batch: EventBatch, function: str, arguments: list[Column]) -> Column:
    """A function of each row's own arguments, of which some may be absent."""
    values: list[list[Any]] = []
    for column in arguments:
        row: list[Any] = [None] * len(batch)
        for part in column:
            for position, place in enumerate(rows_of(part).tolist()):
                row[place] = part.value(position)
        values.append(row)
    apply = FUNCTIONS[function].apply
    found = [apply(*each) for each in zip(*values, strict=True)]
    return from_values(found, np.arange(len(batch)), None)


def _by_distinct(function: str, parts: list[TypedValues]) -> Column:
    """Once per distinct combination of the arguments."""
    coded = [_coded(part) for part in parts]
    places, inverse = _combinations([(codes, len(values)) for codes, values in coded])
    arguments = [[values[code] for code in codes[places].tolist()] for codes, values in coded]
    return from_values(list(map(FUNCTIONS[function].apply, *arguments)), inverse, parts[0].rows)


def _coded(part: TypedValues) -> tuple[npt.NDArray[Any], list[Any]]:
    """A number for each value, and the values by number."""
    if isinstance(part, Strings):
        part = part.numbered()
        return part.values, list(part.words)
    if (part.values == part.values[0]).all():
        return np.zeros(len(part), np.int64), [part.value(0)]
    distinct, codes = np.unique(part.values, return_inverse=True)
    some = made(type(part), distinct, None)
    return codes, [some.value(place) for place in range(len(distinct))]


def _combinations(
    coded: list[tuple[npt.NDArray[Any], int]],
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Where each combination of codes stands once, and which of them each row has.

    Codes of some size each are made one number, which is made small again whenever it grows.
    """
    length = len(coded[0][0])
    together, most = np.zeros(length, np.int64), 1
    for codes, size in coded:
        together, most = together * size + codes, most * size
        if most > 4 * length + 4096:
            distinct, together = np.unique(together, return_inverse=True)
            most = len(distinct)
    last = np.full(most, -1)
    last[together] = np.arange(length)
    occurs = last >= 0
    return last[occurs], (np.cumsum(occurs) - 1)[together]


# CASE.


class _Truth(NamedTuple):
    """In which rows a condition is true, and in which false; it is unknown in the others."""

    true: Mask
    false: Mask


def _case(batch: EventBatch, tree: Case) -> Column:
    left = np.ones(len(batch), bool)  # rows that no branch has taken yet
    found: Column = []
    for condition, result in tree.branches:
        chosen = _condition(batch, condition).true & left
        found += [kept_rows(part, chosen) for part in _column(batch, result)]
        left &= ~chosen
    if tree.otherwise is not None:
        found += [kept_rows(part, left) for part in _column(batch, tree.otherwise)]
    return merged(found)


def _condition(batch: EventBatch, condition: Condition) -> _Truth:
    if isinstance(condition, Leaf):
        return _test(batch, condition.constraint)
    if isinstance(condition, Not):
        true, false = _condition(batch, condition.part)
        return _Truth(false, true)
    all_of = isinstance(condition, And)
    true, false = np.full(len(batch), all_of), np.full(len(batch), not all_of)
    for part in condition.parts:
        truth = _condition(batch, part)
        if all_of:
            true, false = true & truth.true, false | truth.false
        else:
            true, false = true | truth.true, false & truth.false
    return _Truth(true, false)


def _test(batch: EventBatch, test: Test) -> _Truth:
    constraint = test.constraint
    true, false = np.zeros(len(batch), bool), np.zeros(len(batch), bool)
    subject = test.subject
    column: Sequence[TypedValues]
    if isinstance(subject, Input | Each):
        column = [each for each in _root(batch, subject) if not isinstance(each, Intervals)]
    else:
        column = _column(batch, subject)
    if constraint.operator in PRESENCE:
        for part in column:
            true[rows_of(part)] = True
        return (
            _Truth(true, ~true) if constraint.operator is Operator.EXISTS else _Truth(~true, true)
        )
    for part in column:
        if part.kind is constraint.kind and len(part):
            rows, held = rows_of(part), part.test(constraint)
            is_list = isinstance(part, Lists)  # of which more may be unknown
            true[rows], false[rows] = held, part.test(constraint.negated()) if is_list else ~held
    return _Truth(true, false)
