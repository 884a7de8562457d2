"""Near names: which known name somebody is likely to have meant.

For a message about a single name ``errors.suggest`` is enough. Here each of thousands is compared
with thousands, and a wrong guess is a wrong finding: near is what differs by one slip of a hand
(a letter too many, too few, another, or two exchanged), or in case and separators only. Names that
differ in their digits alone are meant to: ``x1`` and ``x2``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

_SHORTEST: Final = 4  # letters; of shorter names many are one slip apart
_SEPARATORS: Final = re.compile(r"[_\-. ]")
_DIGITS: Final = re.compile(r"\d+")


class NearNames:
    """Known names, found by others that are near them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        for name in sorted(names):
            folded = _folded(name)
            for key in {folded, *_shortened(folded)}:
                self._names[key].append(name)

    def near(self, name: str) -> list[str]:
        """The known names that are near a name and are not the same, the likeliest first."""
        folded = _folded(name)
        found: dict[str, int] = {}
        for key in (folded, *_shortened(folded)):
            for known in self._names.get(key, ()):
                if known != name and known not in found and _is_near(name, known):
                    found[known] = _folded(known) != folded
        return sorted(found, key=lambda known: (found[known], known))


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name.casefold())


def _shortened(text: str) -> Iterator[str]:
    """The text without one of its letters: two that are one slip apart have one in common."""
    if len(text) >= _SHORTEST:
        yield from (text[:place] + text[place + 1 :] for place in range(len(text)))


def _is_near(name: str, known: str) -> bool:
    a, b = _folded(name), _folded(known)
    if a == b:
        return True
    if min(len(a), len(b)) < _SHORTEST or _DIGITS.sub("", a) == _DIGITS.sub("", b):
        return False
    return _one_slip(a, b)


def _one_slip(a: str, b: str) -> bool:
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    left, right = a[start : len(a) - end], b[start : len(b) - end]
    if len(left) <= 1 and len(right) <= 1:
        return True
    return len(left) == 2 and left == right[::-1]
