"""An auction: listings with titles and prices, and people who wait for words, brands and bargains.

Subscriptions are of many kinds: patterns in titles, alternatives, values computed from others. What
cannot be covered or merged has to find its way all the same.
"""

from __future__ import annotations

from typing import Final

from predicast.engine.operations import Change
from predicast.routing.simulation.workloads.workload import ComingAndGoing, Publication, Wish

_BRANDS: Final = ("Acme", "Boreal", "Corvo", "Delta", "Elm")
_THINGS: Final = ("camera", "lamp", "bicycle", "watch", "guitar", "chair")
_STATES: Final = ("new", "as new", "used", "worn")


class Auction(ComingAndGoing):
    """Listings and those who wait for them."""

    name = "auction"

    def _wishes(self) -> list[Wish]:
        random, wishes = self._random, []
        ids = list(self._held)
        for id in random.sample(ids, round(len(ids) * self._changes)):
            if random.random() < 0.7:
                wishes.append(Wish(self._held[id], Change(id, self._wanted())))
            else:
                wishes += self._renewed(id)
        return wishes

    def _wanted(self) -> str:
        random = self._random
        thing, brand = random.choice(_THINGS), random.choice(_BRANDS)
        price = random.randrange(20, 400)
        return random.choice(
            (
                f"contains(title, '{thing}') AND price < {price}",
                f"title LIKE '{brand}%' AND NOT state = 'worn' AND price <= {price}",
                f"brand = '{brand}' AND price BETWEEN {price // 3} AND {price}",
                f"price * quantity < {price} AND brand IN ('{brand}', 'Elm')",
                f"title RLIKE '{thing}|{brand}' AND rating >= {random.choice((3.5, 4.0, 4.5))}",
                f"(brand = '{brand}' AND state = 'new') OR price < {price // 10}",
                f"reserve IS NULL AND price < {price}",
            )
        )

    def _publication(self, client: int) -> Publication:
        random = self._random
        brand, thing = random.choice(_BRANDS), random.choice(_THINGS)
        event: dict[str, object] = {
            "title": f"{brand} {thing}",
            "brand": brand,
            "state": random.choice(_STATES),
            "price": round(random.lognormvariate(4, 1), 2),
            "quantity": random.randrange(1, 6),
            "rating": round(random.uniform(2, 5), 1),
        }
        if random.random() < 0.5:
            event["reserve"] = random.randrange(10, 100)
        return Publication(client, event)
