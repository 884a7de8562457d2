"""``poset``: filters ordered by covering, changed in place and by shared windows (paper 3)."""

from predicast.matching.poset.poset import Poset

__all__ = ["Poset"]
