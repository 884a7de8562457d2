"""The normal form of an expression: clauses while they are few, and as it was written past that.

1. NOT is pushed down to the constraints by De Morgan's laws, which hold in three-valued logic.
2. *What OR says of one attribute becomes one constraint*, at whatever depth: 300 equalities are a
   set, 5,000 patterns are *any* of them. So does the negation of an OR, and what else AND says of
   one attribute once there is much of it; a few tests stand side by side.
3. AND is distributed over what OR is left, so long as that makes few clauses of little more than
   was written. An OR at the top may have any number of alternatives: those are in the text.
4. Past that the expression is kept, as the *rest* of a clause, behind conditions that any match
   must meet: the constraints that stand beside it; what all alternatives of an OR say about an
   attribute, joined by *any*; and if none of them is a condition to be found by, the alternatives
   of one of the ORs, one for each clause.

So a subscription takes time and memory that grow with its text, whatever the text says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Final, Generic, NamedTuple, Protocol, Self, TypeVar

from predicast.errors import NestingTooDeepError, TooManyClausesError
from predicast.model.clause import Clause
from predicast.model.constraint import MAX_NESTING, Constraint
from predicast.model.expression import And, Expression, Leaf, Node, Not, Or, leaves_of, mapped
from predicast.model.operators import ORDER, Operator
from predicast.model.subscription import Subscription

# Distributing AND over OR makes at most so many clauses, of so many times the tests that were
# written. More would have to be tested one by one, where a rest is tested once.
_MOST_CLAUSES: Final = 16
_GROWTH: Final = 4
_SMALL: Final = 64  # tests that are few, however many times more than were written
_SIDE_BY_SIDE: Final = 8  # tests of one attribute under AND that stay constraints of their own

# For matchers that need clauses: there are at most so many, of so many constraints in all.
MAX_CLAUSES: Final = 256
MAX_CONSTRAINTS: Final = 65_536


class Test(Protocol):
    """What expressions are made of: a constraint, or a constraint with values yet to come."""

    @property
    def attribute(self) -> str: ...

    @property
    def operator(self) -> Operator: ...

    @property
    def parts(self) -> Sequence[Self]:
        """The tests that any and all join."""
        ...

    @property
    def size(self) -> int:
        """How many tests it is made of."""
        ...

    def negated(self) -> Self: ...

    def joined(self, operator: Operator, others: Sequence[Self]) -> Self:
        """Any or all of this and others on the same attribute."""
        ...


T = TypeVar("T", bound=Test)


class NormalClause(NamedTuple, Generic[T]):
    """Tests that must all hold, and what else must."""

    tests: list[T]
    rest: Node[T] | None = None

    def leaves(self) -> Iterator[T]:
        """The tests, and those of the rest."""
        yield from self.tests
        if self.rest is not None:
            yield from leaves_of(self.rest)


def subscription_of(expression: Expression) -> Subscription:
    """The subscription that an expression states."""
    return subscription_from(normalised(expression), lambda constraint: constraint)


def in_normal_form(subscription: Subscription) -> Subscription:
    """The same in the clauses that an expression which says it would have."""
    return subscription_of(expression_of_clauses(subscription))


def expression_of_clauses(subscription: Subscription) -> Expression:
    """An expression that says what the clauses of a subscription do."""
    return Or(tuple([_conjunction_of(clause) for clause in subscription.clauses]))


def _conjunction_of(clause: Clause) -> Expression:
    tests: list[Expression] = [Leaf(constraint) for constraint in clause.constraints]
    return And(tuple(tests if clause.rest is None else [*tests, clause.rest]))


def subscription_from(
    clauses: Iterable[NormalClause[T]], filled: Callable[[T], Constraint]
) -> Subscription:
    """The subscription of clauses whose tests are made into constraints."""
    made: dict[int, Constraint] = {}  # distributing AND repeats a test in many clauses

    def constraint(test: T) -> Constraint:
        if id(test) not in made:
            made[id(test)] = filled(test)
        return made[id(test)]

    return Subscription.of(
        Clause(tuple(map(constraint, tests)), None if rest is None else mapped(rest, constraint))
        for tests, rest in clauses
    )


def normalised(node: Node[T]) -> list[NormalClause[T]]:
    """The clauses of an expression, of which one must match."""
    folded = _folded(node)
    alternatives = folded.parts if isinstance(folded, Or) else (folded,)
    return _tidied([clause for each in alternatives for clause in _clauses(each) or ()])


# NOT pushed down, and what is said of one attribute folded.


def _folded(node: Node[T]) -> Node[T]:
    """The expression without NOT: AND and OR take turns, and an OR speaks of several attributes.

    Iterative, since the depth of an expression is the caller's choice; that of the result is not.
    """
    pending: list[tuple[Node[T], bool, bool]] = [(node, True, False)]
    done: list[tuple[Node[T], int]] = []  # with their depths
    while pending:
        current, positive, parts_are_done = pending.pop()
        if isinstance(current, Leaf):
            done.append((current if positive else Leaf(current.constraint.negated()), 1))
        elif isinstance(current, Not):
            pending.append((current.part, not positive, False))
        elif not parts_are_done:
            pending.append((current, positive, True))
            pending.extend((part, positive, False) for part in reversed(current.parts))
        else:
            first = len(done) - len(current.parts)
            is_and = isinstance(current, And) is positive
            done[first:] = [_combined(done[first:], is_and=is_and, inverted=not positive)]
    return done[0][0]


def _combined(
    parts: Sequence[tuple[Node[T], int]], *, is_and: bool, inverted: bool
) -> tuple[Node[T], int]:
    """AND or OR of parts that are folded already; and how deep that is."""
    mine, other = (And, Or) if is_and else (Or, And)
    flat: list[Node[T]] = []
    depth = 1
    for part, part_depth in parts:
        if isinstance(part, mine):
            flat += part.parts
            depth = max(depth, part_depth)
        elif isinstance(part, other) and not part.parts:
            return part, 1  # FALSE under AND, TRUE under OR: whatever else there is
        else:
            flat.append(part)
            depth = max(depth, part_depth + 1)
    if depth > MAX_NESTING:
        raise NestingTooDeepError(
            f"AND and OR nest deeper than {MAX_NESTING}", limit=MAX_NESTING, actual=depth
        )
    operator = Operator.ALL if is_and else Operator.ANY
    flat = _joined(flat, operator, _SIDE_BY_SIDE if is_and and not inverted else 1)
    return (flat[0] if len(flat) == 1 else mine(tuple(flat))), depth


def _joined(parts: list[Node[T]], operator: Operator, side_by_side: int) -> list[Node[T]]:
    """The parts of which more than so many speak of one attribute alone, as one leaf each."""
    places: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        attribute = _only_attribute(part)
        if attribute is not None:
            places.setdefault(attribute, []).append(place)
    kept: list[Node[T] | None] = [*parts]
    for here in places.values():
        if len(here) > side_by_side:
            first, *others = (_all([*leaves_of(parts[place])]) for place in here)
            for place in here:
                kept[place] = None
            kept[here[0]] = Leaf(first.joined(operator, others))
    return [part for part in kept if part is not None]


def _only_attribute(node: Node[T]) -> str | None:
    """The attribute that all of it is about, if it is one; an OR about one is a leaf already."""
    if isinstance(node, Leaf):
        return node.constraint.attribute
    if not isinstance(node, And):
        return None
    names = {part.constraint.attribute if isinstance(part, Leaf) else None for part in node.parts}
    return names.pop() if len(names) == 1 else None


def _all(tests: Sequence[T]) -> T:
    """Tests on one attribute as one."""
    return tests[0].joined(Operator.ALL, tests[1:]) if len(tests) > 1 else tests[0]


# Clauses.


def _clauses(node: Node[T]) -> list[NormalClause[T]] | None:
    """The clauses of a part of an expression; ``None`` if they are not few."""
    if isinstance(node, Leaf):
        return [NormalClause([node.constraint])]
    if isinstance(node, And):
        return _conjunction(node)
    assert isinstance(node, Or)
    found: list[NormalClause[T]] = []
    for part in node.parts:
        found += _clauses(part) or ()
        if len(found) > _MOST_CLAUSES:
            return None
    return found


def _conjunction(node: And[T]) -> list[NormalClause[T]]:
    choices = [_clauses(part) for part in node.parts]
    few = [each for each in choices if each is not None]
    if len(few) == len(choices) and _is_little(_written(node), [*map(_sizes, few)]):
        return [_together(chosen) for chosen in product(*few)]
    return _kept(node, choices)


def _written(node: Node[T]) -> int:
    """How many tests an expression is made of."""
    return sum([test.size for test in leaves_of(node)])


def _sizes(clauses: Sequence[NormalClause[T]]) -> list[int]:
    """How many tests each clause is made of."""
    return [sum([test.size for test in clause.leaves()]) for clause in clauses]


def _is_little(written: int, sizes: Sequence[Sequence[int]]) -> bool:
    """Whether distributing AND over clauses of these sizes makes few of little more tests."""
    count = prod(map(len, sizes))
    if count > _MOST_CLAUSES:
        return False
    tests = sum(sum(each) * (count // len(each)) for each in sizes if each)
    return tests <= _GROWTH * written + _SMALL


def _together(clauses: Iterable[NormalClause[T]]) -> NormalClause[T]:
    """All of several clauses as one."""
    tests: list[T] = []
    rests: list[Node[T]] = []
    for clause in clauses:
        tests += clause.tests
        if clause.rest is not None:
            rests += clause.rest.parts if isinstance(clause.rest, And) else (clause.rest,)
    return NormalClause(tests, _rest(rests))


def _rest(parts: Sequence[Node[T]]) -> Node[T] | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return And(tuple(parts))


def _kept(node: And[T], choices: Sequence[list[NormalClause[T]] | None]) -> list[NormalClause[T]]:
    """The conjunction as it was written, behind conditions that any match must meet."""
    tests = [part.constraint for part in node.parts if isinstance(part, Leaf)]
    ors = {place: part for place, part in enumerate(node.parts) if isinstance(part, Or)}
    for each in ors.values():
        tests += [test for test in _implied(each).values() if _reach(test) < _NOT_FOUND_BY]
    kept = NormalClause(tests, _rest([*ors.values()]))
    if any(_reach(test) < _NOT_FOUND_BY for test in tests):
        return [kept]
    written, beside = _written(node), _sizes([kept])
    found = {
        place: max(_reach_of(clause) for clause in choice)
        for place in ors
        if (choice := choices[place]) is not None and _is_little(written, [_sizes(choice), beside])
    }
    best = min(found, key=found.__getitem__, default=None)
    if best is None or found[best] >= _NOT_FOUND_BY:
        return [kept]
    others = NormalClause(tests, _rest([each for place, each in ors.items() if place != best]))
    return [_together([others, clause]) for clause in choices[best] or ()]


def _implied(node: Node[T]) -> dict[str, T]:
    """What must hold of single attributes wherever the expression does."""
    if isinstance(node, Leaf):
        return {node.constraint.attribute: node.constraint}
    assert not isinstance(node, Not)
    said = [_implied(part) for part in node.parts]
    is_or = isinstance(node, Or)
    names = dict.fromkeys(name for each in said for name in each)
    implied = {}
    for name in names:
        tests = [each[name] for each in said if name in each]
        if is_or and len(tests) < len(said):
            continue  # some alternative says nothing of it
        first, *others = tests
        operator = Operator.ANY if is_or else Operator.ALL
        implied[name] = first.joined(operator, others) if others else first
    return implied


# How well a condition is found by: as many events satisfy the one as the other, at a guess.
_NOT_FOUND_BY: Final = 4
_REACH: Final = {
    Operator.EQ: 0,
    Operator.IN: 1,
    Operator.PREFIX: 1,
    Operator.SUFFIX: 1,
    Operator.CONTAINS: 1,
    Operator.LIKE: 1,
    Operator.MATCHES: 2,
    Operator.BETWEEN: 2,
    **dict.fromkeys(ORDER, 3),
}


def _reach(test: T) -> int:
    if test.parts:
        judge = max if test.operator is Operator.ANY else min
        return judge(map(_reach, test.parts))
    return _REACH.get(test.operator, _NOT_FOUND_BY)


def _reach_of(clause: NormalClause[T]) -> int:
    return min(map(_reach, clause.tests), default=_NOT_FOUND_BY)


def _tidied(clauses: Iterable[NormalClause[T]]) -> list[NormalClause[T]]:
    """The same, with what distributing has brought together about one attribute folded as well."""
    tidied: list[NormalClause[T] | None] = []
    alone: dict[str, list[int]] = {}  # the clauses that are about one attribute
    for tests, rest in clauses:
        leaves = _joined([Leaf(test) for test in tests], Operator.ALL, _SIDE_BY_SIDE)
        names = {test.attribute for test in tests}
        if rest is None and len(names) == 1:
            alone.setdefault(names.pop(), []).append(len(tidied))
        tidied.append(NormalClause([test for leaf in leaves for test in leaves_of(leaf)], rest))
    for here in alone.values():
        if len(here) > 1:
            first, *others = (_all(clause.tests) for n in here if (clause := tidied[n]))
            for place in here:
                tidied[place] = None
            tidied[here[0]] = NormalClause([first.joined(Operator.ANY, others)])
    return [clause for clause in tidied if clause is not None]


# For matchers that need clauses.


def without_rests(subscription: Subscription, matcher: str) -> Subscription:
    """The same in clauses alone, however many those are up to a limit."""
    if all(clause.rest is None for clause in subscription.clauses):
        return subscription
    alternatives: list[list[list[Constraint]]] = []
    for clause in subscription.clauses:
        beside = [[list(clause.constraints)]]
        if clause.rest is not None:
            beside.append(_multiplied(clause.rest, matcher))
        alternatives.append(_all_of(beside, matcher))
    return Subscription.of(_any_of(alternatives, matcher))


def _multiplied(node: Expression, matcher: str) -> list[list[Constraint]]:
    if isinstance(node, Leaf):
        return [[node.constraint]]
    assert not isinstance(node, Not)
    combine = _all_of if isinstance(node, And) else _any_of
    return combine([_multiplied(part, matcher) for part in node.parts], matcher)


def _any_of(parts: list[list[list[Constraint]]], matcher: str) -> list[list[Constraint]]:
    _check_size(sum(map(len, parts)), sum(map(_constraints, parts)), matcher)
    return [clause for part in parts for clause in part]


def _all_of(parts: list[list[list[Constraint]]], matcher: str) -> list[list[Constraint]]:
    count = prod(map(len, parts))
    constraints = sum(_constraints(part) * (count // len(part)) for part in parts if part)
    _check_size(count, constraints, matcher)
    return [[each for clause in chosen for each in clause] for chosen in product(*parts)]


def _constraints(clauses: Sequence[Sequence[Constraint]]) -> int:
    return sum(map(len, clauses))


def _check_size(clauses: int, constraints: int, matcher: str) -> None:
    for what, actual, limit in (
        ("clauses", clauses, MAX_CLAUSES),
        ("constraints", constraints, MAX_CONSTRAINTS),
    ):
        if actual > limit:
            raise TooManyClausesError(
                f"the matcher {matcher!r} needs clauses, and in disjunctive normal form the "
                f"expression has {actual} {what} or more; the limit is {limit}. "
                "The matcher 'columnar' takes it as it is; or split it into several subscriptions",
                limit=limit,
                actual=actual,
                matcher=matcher,
            )
