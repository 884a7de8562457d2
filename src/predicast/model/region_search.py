"""Whether one point of a region event satisfies an expression of AND and OR over its intervals.

Each attribute chooses its point freely, and that point must satisfy all that is asked of it. So it
is known at any time what is *left* of each interval. A constraint holds of all of that, of none of
it, or of a part; an expression of which some parts are decided so is a smaller one::

    x in [0, 9], y in [0, 9]      (x < 3 OR y > 5) AND (x > 6 OR y < 2)
    assume x < 3: x in [0, 3)      y < 2                            y in [0, 2): it holds

What must hold in any case narrows what is left. When nothing must, one constraint is assumed to
hold and, if that leads nowhere, not to. Parts that share no attribute are searched one by one, and
those that are about one attribute are sets of values: AND is what they have in common, OR
all of them.

Cost: of one interval linear. Each assumption cuts what is left of an interval at an end of a
constraint: so of two intervals there are as many steps as constraints on one of them, of more at
most the product of these. No way is known that is quicker in the worst case, since with many
intervals this is the question whether a propositional formula can be satisfied. So the looks that
are taken at constraints are counted, and there is an end to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Final, TypeAlias

from predicast.errors import TooManyAlternativesError
from predicast.model.constraint import Absent, Constraint
from predicast.model.domain import domain_of
from predicast.model.expression import And, Expression, Leaf, Not, Or, leaves_of
from predicast.model.interval import Interval
from predicast.model.spans import EVERYTHING, SpanSet, complement, intersection, united
from predicast.model.values import Kind

MOST_LOOKS: Final = 1 << 18  # at constraints: at worst some seconds
_MOST_SPLITS: Final = 32  # of parts that share no attribute, inside one another
_KINDS: Final = (Kind.NUMBER, Kind.TIMESTAMP)  # of which there are intervals

_Said: TypeAlias = dict[Kind, SpanSet]


def decided(
    node: Expression, decide: Callable[[Leaf[Constraint]], bool | Expression]
) -> bool | Expression:
    """Whether an expression of AND and OR holds, or what is left of it where leaves are in doubt.

    Leaves are decided in order, and no more of them than it takes.
    """
    if isinstance(node, Leaf):
        return decide(node)
    assert not isinstance(node, Not), "the rest of a clause has no NOT"
    is_or = isinstance(node, Or)
    doubtful: list[Expression] = []
    for part in node.parts:
        found = decide(part) if isinstance(part, Leaf) else decided(part, decide)
        if not isinstance(found, bool):
            doubtful.append(found)
        elif found is is_or:
            return is_or
    if len(doubtful) < 2:
        return doubtful[0] if doubtful else not is_or
    return Or(tuple(doubtful)) if is_or else And(tuple(doubtful))


class _Left:
    """What is left of an interval, by kind; never changed, so that it is known by its identity."""

    __slots__ = ("_discrete", "values")

    def __init__(self, values: _Said, discrete: frozenset[Kind]) -> None:
        self.values = values
        self._discrete = discrete  # the kinds of which only integers count

    @classmethod
    def of(cls, interval: Interval) -> _Left:
        """All of an interval."""
        kinds = _KINDS if interval.kind is None else (interval.kind,)
        discrete = {Kind.TIMESTAMP} | ({Kind.NUMBER} if interval.is_discrete() else set())
        return cls({kind: (interval.span(),) for kind in kinds}, frozenset(discrete))

    def __bool__(self) -> bool:
        return bool(self.values)

    def both(self, said: _Said) -> tuple[_Left, _Left]:
        """What of it satisfies a constraint, and what does not."""
        inside: _Said = {}
        outside: _Said = {}
        for kind, spans in self.values.items():
            allowed = said.get(kind, ())
            for made, among in ((inside, allowed), (outside, complement(allowed))):
                common = intersection(spans, among)
                if kind in self._discrete:
                    common = tuple([each for each in common if not each.is_empty_of_integers()])
                if common:
                    made[kind] = common
        return _Left(inside, self._discrete), _Left(outside, self._discrete)


_Lefts: TypeAlias = Mapping[str, _Left]
# Whether a constraint is decided and, if it is not, what is left where it holds and where not.
_Look: TypeAlias = tuple[bool | None, _Left, _Left]


def some_point(
    expression: Expression,
    constraints: Sequence[Constraint],
    intervals: Mapping[str, Interval],
    absent: Absent,
) -> bool:
    """Whether one point satisfies the expression, and constraints beside it, all on intervals."""
    search = _Search(absent)
    left = search.narrowed({name: _Left.of(each) for name, each in intervals.items()}, constraints)
    return left is not None and search.finds(expression, left, _MOST_SPLITS)


class _Search:
    """One search, and the looks that it has taken."""

    def __init__(self, absent: Absent) -> None:
        self._absent: Absent = absent
        self._said: dict[int, _Said] = {}
        self._known: dict[tuple[int, int], tuple[_Look, _Left]] = {}
        self._looks = 0

    def narrowed(self, left: _Lefts, constraints: Sequence[Constraint]) -> _Lefts | None:
        """What is left where constraints hold, ``None`` if that is nothing of some interval."""
        for constraint in constraints:
            inside = self._look(constraint, left)[1]
            if not inside:
                return None
            left = {**left, constraint.attribute: inside}
        return left

    def finds(self, expression: Expression, left: _Lefts, splits: int) -> bool:
        """Whether some point of what is left satisfies the expression."""
        untried = [(expression, left)]
        while untried:
            node, left = untried.pop()
            simpler, left = self._simplified(node, left)
            if isinstance(simpler, bool):
                if simpler:
                    return True
                continue
            apart = _components(simpler) if splits else [simpler]
            if len(apart) > 1:
                if all(self.finds(each, left, splits - 1) for each in apart):
                    return True
                continue
            names = {constraint.attribute for constraint in leaves_of(simpler)}
            if len(names) == 1:
                if left[names.pop()].both(self._values(simpler))[0]:
                    return True
                continue
            constraint = _to_assume(simpler)
            _, inside, outside = self._look(constraint, left)
            untried += [
                (simpler, {**left, constraint.attribute: each}) for each in (outside, inside)
            ]
        return False

    def _simplified(self, node: Expression, left: _Lefts) -> tuple[bool | Expression, _Lefts]:
        """What is still to be decided, when all that must hold narrows what is left."""
        while True:
            found = self._decided(node, left)
            if isinstance(found, bool):
                return found, left
            parts = found.parts if isinstance(found, And) else (found,)
            forced = [part.constraint for part in parts if isinstance(part, Leaf)]
            if not forced:
                return found, left
            narrowed = self.narrowed(left, forced)
            if narrowed is None:
                return False, left
            node, left = found, narrowed

    def _decided(self, node: Expression, left: _Lefts) -> bool | Expression:
        """Whether the expression holds of all that is left, or of nothing; or the part in doubt."""

        def decide(leaf: Leaf[Constraint]) -> bool | Expression:
            outcome = self._look(leaf.constraint, left)[0]
            return leaf if outcome is None else outcome

        return decided(node, decide)

    def _look(self, constraint: Constraint, left: _Lefts) -> _Look:
        self._looks += 1
        if self._looks > MOST_LOOKS:
            raise TooManyAlternativesError(
                "a region event has more ways to satisfy a subscription than are tried: its "
                f"constraints were looked at {MOST_LOOKS} times. Give single values instead of "
                "some intervals, or divide the subscription",
                limit=MOST_LOOKS,
            )
        here = left[constraint.attribute]
        key = id(constraint), id(here)
        known = self._known.get(key)
        if known is None:
            inside, outside = here.both(self._spans(constraint))
            look = (None if inside and outside else bool(inside)), inside, outside
            known = self._known[key] = look, here  # which lives as long as its identity is known
        return known[0]

    def _values(self, node: Expression) -> _Said:
        """The values that satisfy an expression about one attribute."""
        if isinstance(node, Leaf):
            return self._spans(node.constraint)
        assert not isinstance(node, Not)
        found = [self._values(part) for part in node.parts]
        if isinstance(node, Or):
            return {kind: united([each.get(kind, ()) for each in found]) for kind in _KINDS}
        return {
            kind: reduce(intersection, [each.get(kind, ()) for each in found]) for kind in _KINDS
        }

    def _spans(self, constraint: Constraint) -> _Said:
        """The values of each kind that satisfy a constraint."""
        said = self._said.get(id(constraint))
        if said is None:
            domain = domain_of((constraint,), self._absent)
            if domain.kind is None:  # presence alone
                said = dict.fromkeys(_KINDS, EVERYTHING if domain.spans else ())
            else:
                said = {each.kind: each.spans for each in domain.by_kind() if each.kind in _KINDS}
            self._said[id(constraint)] = said
        return said


def _components(node: Expression) -> list[Expression]:
    """The parts of a conjunction, those together that share an attribute."""
    if not isinstance(node, And):
        return [node]
    group_of: dict[str, list[Expression]] = {}
    names_of: dict[int, set[str]] = {}  # of each group
    for part in node.parts:
        names, parts = {leaf.attribute for leaf in leaves_of(part)}, [part]
        groups = {id(each): each for name in names if (each := group_of.get(name)) is not None}
        if groups:  # the largest takes in what the others have
            largest = max(groups, key=lambda group: len(names_of[group]))
            for group, others in groups.items():
                if group != largest:
                    names |= names_of.pop(group)
                    parts += others
            groups[largest] += parts
            parts = groups[largest]
        names_of.setdefault(id(parts), set()).update(names)
        group_of.update(dict.fromkeys(names, parts))
    together = {id(parts): parts for parts in group_of.values()}.values()
    return [parts[0] if len(parts) == 1 else And(tuple(parts)) for parts in together]


def _to_assume(node: Expression) -> Constraint:
    """A constraint that decides much: one of the shortest OR."""
    while not isinstance(node, Leaf):
        assert not isinstance(node, Not)
        node = min(node.parts, key=_width)
    return node.constraint


def _width(node: Expression) -> int:
    return len(node.parts) if isinstance(node, And | Or) else 0
