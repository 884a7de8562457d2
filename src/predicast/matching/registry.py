"""Matchers by name. A matcher's module is imported when the matcher is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Final, TypeVar

from predicast.errors import UnknownMatcherError, suggest
from predicast.matching.matcher import Matcher
from predicast.model import Absent

DEFAULT: Final = "columnar"
M = TypeVar("M")

_MATCHERS: Final[dict[str, str | type[Matcher]]] = {
    "brute-force": "predicast.matching.brute_force:BruteForce",
    "ceem": "predicast.matching.predicate_table:PredicateTable",
    "columnar": "predicast.matching.columnar:Columnar",
    "counting": "predicast.matching.counting:Counting",
    "filter-index": "predicast.matching.filter_index:FilterIndex",
    "improved-counting": "predicast.matching.counting:ImprovedCounting",
    "matching-tree": "predicast.matching.matching_tree:MatchingTree",
    "poset": "predicast.matching.poset:Poset",
    "redundant-attributes": "predicast.matching.counting:RedundantAttributes",
}


def matcher_names() -> list[str]:
    """The names that ``Engine(matcher=...)`` takes."""
    return sorted(_MATCHERS)


def register_matcher(name: str, matcher: type[Matcher]) -> None:
    """Make a matcher of your own available under a new name."""
    if name in _MATCHERS:
        raise UnknownMatcherError(f"the name {name!r} is taken", name=name)
    _MATCHERS[name] = matcher


def make_matcher(name: str, *, absent: Absent = "fails") -> Matcher:
    """A new, empty matcher."""
    return matcher_class(_MATCHERS, name, Matcher, "matcher")(absent=absent)  # type: ignore[type-abstract]


def matcher_class(
    matchers: dict[str, str | type[M]], name: str, kind: type[M], what: str
) -> type[M]:
    """The class of a name, whose module is imported now if it was not before."""
    known = matchers.get(name)
    if known is None:
        close = suggest(str(name), matchers)
        hint = f"did you mean {close!r}?" if close else f"known: {', '.join(sorted(matchers))}"
        raise UnknownMatcherError(
            f"there is no {what} {name!r}; {hint}", name=name, suggestion=close
        )
    if isinstance(known, str):
        module, _, attribute = known.partition(":")
        known = getattr(import_module(module), attribute)
        assert isinstance(known, type) and issubclass(known, kind)
        matchers[name] = known
    return known
