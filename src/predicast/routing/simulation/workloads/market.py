"""A market: quotes of symbols, few of them traded much, and ranges of prices that people wait for.

Symbols follow Zipf's law. A subscription is a symbol and a range of prices, at times with a least
volume, or a list of symbols with a ceiling. Now and then somebody moves a range, gives up a
subscription or asks for a new one.
"""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from random import Random
from typing import Final

from predicast.engine.operations import Change
from predicast.routing.simulation.options import SimulationOptions
from predicast.routing.simulation.workloads.workload import ComingAndGoing, Publication, Wish

_SYMBOLS: Final = 200
_RENEWED: Final = 0.25  # for each that changes, how many are given up and made anew


class Market(ComingAndGoing):
    """Quotes and those who wait for them."""

    name = "market"

    def __init__(self, options: SimulationOptions, random: Random) -> None:
        super().__init__(options, random)
        self._symbols = [f"S{number:03}" for number in range(_SYMBOLS)]
        self._weights = list(accumulate(1 / (rank + 1) for rank in range(_SYMBOLS)))
        self._prices = [10 * random.lognormvariate(1, 1) for _ in self._symbols]

    def _wishes(self) -> list[Wish]:
        random, ids = self._random, list(self._held)
        wishes = [
            Wish(self._held[id], Change(id, self._wanted()))
            for id in random.sample(ids, round(len(ids) * self._changes))
        ]
        for id in random.sample(ids, round(len(ids) * self._changes * _RENEWED)):
            wishes += self._renewed(id)
        return wishes

    def _wanted(self) -> str:
        random, number = self._random, self._symbol()
        price = self._prices[number]
        low = round(price * random.uniform(0.8, 1.1), 2)
        high = round(low + price * random.uniform(0.02, 0.2), 2)
        kind = random.random()
        if kind < 0.1:
            others = sorted({self._symbols[number], *(self._symbols[self._symbol()] for _ in "12")})
            listed = ", ".join(f"'{symbol}'" for symbol in others)
            return f"symbol IN ({listed}) AND price < {high}"
        wanted = f"symbol = '{self._symbols[number]}' AND price BETWEEN {low} AND {high}"
        return f"{wanted} AND volume >= {random.choice((100, 500, 1000))}" if kind < 0.4 else wanted

    def _publication(self, client: int) -> Publication:
        number, random = self._symbol(), self._random
        self._prices[number] *= random.lognormvariate(0, 0.01)
        price = round(self._prices[number] * random.uniform(0.95, 1.05), 2)
        event = {
            "symbol": self._symbols[number],
            "price": price,
            "volume": random.choice((50, 100, 200, 500, 1000, 5000)),
        }
        return Publication(client, event)

    def _symbol(self) -> int:
        return bisect(self._weights, self._random.random() * self._weights[-1])
