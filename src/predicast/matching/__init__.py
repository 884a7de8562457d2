"""Matchers: the data structures that find which subscriptions an event matches."""

from predicast.matching.delta import Before, Delta, Effect, Group
from predicast.matching.matcher import Matcher, OneByOne, Pairs
from predicast.matching.registry import DEFAULT, make_matcher, matcher_names, register_matcher

__all__ = [
    "DEFAULT",
    "Before",
    "Delta",
    "Effect",
    "Group",
    "Matcher",
    "OneByOne",
    "Pairs",
    "make_matcher",
    "matcher_names",
    "register_matcher",
]
