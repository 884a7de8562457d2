"""Tokens: what a filter must have for another to cover it, found by looking it up.

Sketches compare ends of ranges. They say little of filters that ask for one value each of hundreds
of attributes, and nothing of substrings and regular expressions. But there covering asks for
something that is easy to look up:

- a filter that asks for one value of an attribute covers only those that ask for the same one;
- one that asks for ``'%abc%'`` covers only those in whose own texts ``abc`` occurs;
- any other test of strings or lists covers only those that have the same test, or ask for some
  strings one by one;
- one that leaves out a value of all covers only those that leave it out, or that have an end;
- the rest of a clause covers only clauses that have it as well.

So a clause *demands* one of a few tokens, and another *offers* some. These are necessary and not
sufficient: what they leave is tested exactly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

from predicast.covering.filter import Domains, Filter
from predicast.covering.ranges import Range
from predicast.covering.sketches import end_of_one
from predicast.model.constraint import Constraint
from predicast.model.domain import Domain
from predicast.model.operators import Operator

_Token: TypeAlias = tuple[Any, ...]
_RARE: Final = 64  # beyond so many that demand a token, sketches tell more
_TEXTS: Final = frozenset({Operator.CONTAINS, Operator.SUFFIX})
_WITHOUT: Final = frozenset({Operator.NOT_CONTAINS, Operator.NOT_SUFFIX})  # shorter covers longer


class TokenTable:
    """Clauses of filters by a token that they demand: the one that fewest demand."""

    def __init__(self, filters: Sequence[Filter]) -> None:
        demands = [[list(_demanded(clause)) for clause in each.clauses] for each in filters]
        counts = Counter(token for each in demands for clause in each for token in clause)
        self._chosen = [[_rarest(clause, counts) for clause in each] for each in demands]
        self._members: defaultdict[Hashable, list[int]] = defaultdict(list)
        # Lengths of the texts that are demanded of an attribute: no others are looked for.
        self._lengths: defaultdict[str, set[int]] = defaultdict(set)
        # Which demand the same test of an attribute, and which that a value is left out.
        self._alike: defaultdict[tuple[str, str], list[int]] = defaultdict(list)

    def add(self, place: int, clause: int) -> bool:
        """Take in a clause of a filter, by its number, unless it demands nothing that is rare."""
        token = self._chosen[place][clause]
        if token is None:
            return False
        self._members[token].append(place)
        if token[0] == "text":
            self._lengths[token[1]].add(len(token[2]))
        elif token[0] in {"test", "without"}:
            self._alike[token[0], token[1]].append(place)
        return True

    def may_cover(self, clause: Domains) -> Iterator[int]:
        """The filters of which a clause here may cover this one."""
        for attribute, domain in clause.items():
            if not isinstance(attribute, str):
                yield from self._members.get(("rest", attribute), ())
                continue
            point = _point(domain)
            if point is not None:
                yield from self._members.get(("value", attribute, *point), ())
            if isinstance(domain, Domain):
                yield from self._by_strings(attribute, domain)
            left_out = _left_out(domain)
            if left_out is None:
                yield from self._alike.get(("without", attribute), ())
            for value in left_out or ():
                yield from self._members.get(("without", attribute, value), ())

    def _by_strings(self, attribute: str, domain: Domain) -> Iterator[int]:
        for test in domain.rest:
            yield from self._members.get(("test", attribute, test), ())
        if _lists_strings(domain):
            yield from self._alike.get(("test", attribute), ())
        lengths = self._lengths.get(attribute)
        if lengths:
            texts = {part for text in _texts(domain) for part in _parts(text, lengths)}
            for text in texts:
                yield from self._members.get(("text", attribute, text), ())


def _rarest(demands: Sequence[_Token], counts: Counter[_Token]) -> _Token | None:
    found = min(demands, key=counts.__getitem__, default=None)
    return None if found is None or counts[found] > _RARE else found


def _demanded(clause: Domains) -> Iterator[_Token]:
    """The tokens each of which whatever the clause covers must offer."""
    for attribute, domain in clause.items():
        if not isinstance(attribute, str):
            yield "rest", attribute
            continue
        if domain[4] if isinstance(domain, tuple) else domain.absent:
            continue  # it covers those that ask for absence, and offer nothing
        point = _point(domain)
        if point is not None:
            yield "value", attribute, *point
        elif isinstance(domain, Domain) and not domain.others:
            yield from (_demand(attribute, each) for each in domain.rest if _is_demanding(each))
            yield from (("without", attribute, value) for value in _left_out(domain) or ())


def _is_demanding(test: Constraint) -> bool:
    return test.operator not in _WITHOUT


def _demand(attribute: str, test: Constraint) -> _Token:
    if test.operator in _TEXTS:
        return "text", attribute, test.operand
    return "test", attribute, test


def _point(domain: Range | Domain) -> tuple[Any, ...] | None:
    """The one value that a domain has, with its kind; ``None`` if there are several."""
    if isinstance(domain, tuple):
        return ("number", domain[0]) if domain[0] == domain[2] else None
    if domain.others or len(domain.spans) != 1 or domain.kind is None:
        return None
    (span,) = domain.spans
    if span.lo is None or span.hi is None:
        return None
    is_one = span.hi == end_of_one(domain.kind, span.lo)
    return (domain.kind.value, span.lo) if is_one else None


def _left_out(domain: Range | Domain) -> list[Any] | None:
    """The values that a domain leaves out, if those are a few and it has all others of its kind."""
    if isinstance(domain, tuple) or domain.others or domain.kind is None or not domain.spans:
        return None
    if domain.spans[0].lo not in {None, ""} or domain.spans[-1].hi is not None:
        return None
    values = [
        before.hi
        for before, after in pairwise(domain.spans)
        if after.lo == end_of_one(domain.kind, before.hi)
    ]
    return values if len(values) == len(domain.spans) - 1 else None


def _lists_strings(domain: Domain) -> bool:
    return any(
        isinstance(span.lo, str) and isinstance(span.hi, str) and span.hi.startswith(span.lo)
        for each in domain.by_kind()
        for span in each.spans
    )


def _texts(domain: Domain) -> Iterator[str]:
    """Texts, in one of which whatever is contained in all of its strings is contained."""
    for each in domain.by_kind():
        yield from (str(test.operand) for test in each.rest if test.operator in _TEXTS)
        for span in each.spans[:1]:
            yield from (end for end in (span.lo, span.hi) if isinstance(end, str))


def _parts(text: str, lengths: set[int]) -> Iterator[str]:
    for length in lengths:
        for begin in range(len(text) - length + 1):
            yield text[begin : begin + length]
