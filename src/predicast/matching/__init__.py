"""Matchers: the data structures that find which subscriptions an event matches."""

from predicast.matching.matcher import Matcher, Pairs
from predicast.matching.registry import DEFAULT, make_matcher, matcher_names, register_matcher

__all__ = ["DEFAULT", "Matcher", "Pairs", "make_matcher", "matcher_names", "register_matcher"]
