"""``BoundedCache``: what was made before, up to a number of bytes.

A cache bounded by a count of entries is as large as the largest entry that somebody can think of,
times that count. So each entry has a cost, an estimate of the bytes that it keeps alive, and it is
the sum that is bounded. An entry that would fill half of the cache by itself is not kept at all.

Entries live in two generations. New ones, and old ones that are asked for again, go into the young
generation; when that has half of the bytes it becomes the old one, and what was old is forgotten.
So what goes is what has not been asked for since about half of the bytes were written: least
recently used, to within a generation.

The young generation is the dictionary itself, so that a hit there, the usual case, is as quick as
a dictionary is and takes no lock. Any thread may ask and put at any time.

Rejected: an exact order of use, which has to be written down, under a lock, at each hit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import Any, Final, Generic, TypeVar, TypeVarTuple

from predicast.locks import new_lock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Arguments = TypeVarTuple("Arguments")

_ENTRY: Final = 200  # bytes that the cache itself spends on an entry: places in a dictionary, a key


class BoundedCache(dict[K, V]):
    """Values by key, whose costs together stay below ``max_bytes``.

    Read it with ``cache[key]``, which finds what is kept or raises ``KeyError``; write it with
    ``put`` alone. As a dictionary it shows the young generation.
    """

    def __init__(self, max_bytes: int, cost_of: Callable[[K, V], int]) -> None:
        """``cost_of`` gives the same for the same entry whenever it is asked."""
        super().__init__()
        self._generation_bytes = max_bytes // 2
        self._cost_of = cost_of
        self._old: dict[K, V] = {}
        self._costs = (0, 0)  # of the young and the old generation
        self._lock = new_lock()

    @property
    def cost(self) -> int:
        """The cost of all that is kept; what is in both generations counts twice."""
        return sum(self._costs)

    def __missing__(self, key: K) -> V:
        return self.put(key, self._old[key])

    def put(self, key: K, value: V) -> V:
        """Keep the value, and give it back; or the one that another thread has put meanwhile."""
        cost = _ENTRY + self._cost_of(key, value)
        if cost > self._generation_bytes:
            return value
        with self._lock:
            if key in self:
                return dict.get(self, key, value)
            young, old = self._costs
            if young + cost > self._generation_bytes:
                self._old = dict(self)
                super().clear()
                young, old = 0, young
            self[key] = value
            self._costs = (young + cost, old)
        return value

    def replace(self, key: K, value: V) -> None:
        """Keep the value instead of what was kept under the key, if anything was."""
        with self._lock:
            before = dict.get(self, key)
            if before is not None:
                young, old = self._costs
                self._costs = (young - _ENTRY - self._cost_of(key, before), old)
                del self[key]
            self.put(key, value)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            super().clear()
            self._old, self._costs = {}, (0, 0)


class Remembered(Generic[*Arguments, V]):
    """A function whose results are kept in a cache, by its arguments."""

    def __init__(
        self,
        function: Callable[[*Arguments], V],
        cache: BoundedCache[tuple[*Arguments], V],
    ) -> None:
        self._function = function
        self.cache = cache
        update_wrapper(self, function)

    def __call__(self, *arguments: *Arguments) -> V:
        try:
            return self.cache[arguments]
        except KeyError:
            pass  # outside of this block, so that an error of the function has no other behind it
        return self.cache.put(arguments, self._function(*arguments))

    def __reduce__(self) -> str:
        return self._function.__qualname__  # as functions do, it travels by its name


def remembered(
    max_bytes: int, cost_of: Callable[[Any, Any], int]
) -> Callable[[Callable[[*Arguments], V]], Remembered[*Arguments, V]]:
    """Keep a function's results, up to so many bytes; the cost is that of arguments and result.

    >>> @remembered(1_000_000, lambda _, text: len(text))
    ... def repeated(word: str, times: int) -> str:
    ...     return word * times
    >>> repeated("ab", 2) is repeated("ab", 2)
    True
    """
    return lambda function: Remembered(function, BoundedCache(max_bytes, cost_of))
