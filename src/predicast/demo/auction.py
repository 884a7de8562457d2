"""An online auction: listings with nested attributes, and watchers who wait for the right one.

All of it is made up from one seed. A listing's ``item`` and ``seller`` are structs, whose fields
subscriptions address by dotted names. Prices are log-normal around the category's usual price;
watchers hope for less than that, so that a cheap listing has many takers and a dear one few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final, TypeAlias

import pyarrow as pa

from predicast.demo.world import World

LISTINGS: Final = 40_000
WATCHERS: Final = 2_000

_SEED: Final = 1744
_OPENING: Final = datetime(2026, 3, 1, tzinfo=UTC)
_DAYS: Final = 14


@dataclass(frozen=True, slots=True)
class _Goods:
    """What a category sells: how often, its usual price and spread, and the words of its titles."""

    share: int
    price: float
    spread: float
    brands: tuple[str, ...]
    things: tuple[str, ...]
    details: tuple[str, ...]


CATALOGUE: Final = {
    "cameras": _Goods(
        14, 260, 0.8,
        ("Lumina", "Argent", "Kestrel", "Halden"),
        ("rangefinder", "35 mm lens", "tripod", "field camera", "light meter"),
        ("boxed", "mint", "with case", "for parts", "serviced"),
    ),
    "bicycles": _Goods(
        12, 420, 0.7,
        ("Corvo", "Altair", "Pedersen", "Bastion"),
        ("road bike", "touring frame", "wheelset", "cargo bike", "saddle"),
        ("steel", "carbon", "size 56", "size 52", "with dynamo"),
    ),
    "watches": _Goods(
        12, 640, 1.0,
        ("Meridian", "Oberland", "Tidewell", "Sona"),
        ("diver", "chronograph", "dress watch", "pocket watch"),
        ("automatic", "with papers", "1968", "unworn", "serviced"),
    ),
    "guitars": _Goods(
        11, 540, 0.7,
        ("Calloway", "Rosewell", "Fenwick", "Duende"),
        ("dreadnought", "archtop", "bass", "twelve-string", "amplifier"),
        ("sunburst", "left-handed", "with case", "relic", "fretless"),
    ),
    "sneakers": _Goods(
        14, 95, 0.6,
        ("Volant", "Harrow", "Nimbus", "Strada"),
        ("runner", "high top", "trail shoe", "court shoe"),
        ("size 38", "size 41", "size 43", "size 45", "unworn"),
    ),
    "furniture": _Goods(
        10, 310, 0.9,
        ("Ekhaug", "Maison Roux", "Tove", "Larkin"),
        ("armchair", "sideboard", "desk lamp", "dining table", "bookcase"),
        ("teak", "oak", "walnut", "pair", "restored"),
    ),
    "books": _Goods(
        15, 18, 0.8,
        ("Aldgate", "Foxglove", "Quarto", "Penrose"),
        ("atlas", "novel", "cookbook", "field guide", "poems"),
        ("first edition", "signed", "illustrated", "ex-library", "slipcase"),
    ),
    "records": _Goods(
        12, 24, 0.7,
        ("Blue Heron", "Parallel", "Stax & Co", "Nocturne"),
        ("jazz LP", "soul 45", "string quartet LP", "soundtrack", "box set"),
        ("mono", "stereo", "sealed", "Japanese pressing", "test pressing"),
    ),
}  # fmt: skip
_COUNTRIES: Final = {"DE": 24, "GB": 20, "FR": 14, "IT": 11, "NL": 9, "PL": 8, "SE": 7, "JP": 7}
_CONDITIONS: Final = {"new": 15, "as new": 25, "used": 45, "worn": 15}

_Listing: TypeAlias = dict[str, Any]


def world(scale: float = 1.0) -> World:
    """Two weeks of listings and their watchers."""
    random = Random(_SEED)
    listings = [_listing(id, random) for id in range(max(400, round(LISTINGS * scale)))]
    watchers = _watchers(listings, max(40, round(WATCHERS * scale)), random)
    return World(
        name="auction",
        title="Two weeks of an online auction",
        event_id="listing",
        events=pa.Table.from_pylist(listings, schema=_SCHEMA),
        subscriptions=dict(watchers),
    )


# The events.

_SCHEMA: Final = pa.schema(
    [
        ("listing", pa.int64()),
        ("listed_at", pa.timestamp("us", "UTC")),
        (
            "item",
            pa.struct(
                [
                    ("category", pa.string()),
                    ("title", pa.string()),
                    ("brand", pa.string()),
                    ("condition", pa.string()),
                    ("price", pa.float64()),
                ]
            ),
        ),
        (
            "seller",
            pa.struct([("country", pa.string()), ("rating", pa.float64()), ("sales", pa.int64())]),
        ),
        ("free_shipping", pa.bool_()),
        ("reserve", pa.float64()),
    ]
)


def _listing(id: int, random: Random) -> _Listing:
    category = _draw({name: goods.share for name, goods in CATALOGUE.items()}, random)
    goods = CATALOGUE[category]
    brand, thing = random.choice(goods.brands), random.choice(goods.things)
    price = round(goods.price * random.lognormvariate(0, goods.spread), 2)
    sales = round(random.lognormvariate(3, 1.5))
    return {
        "listing": id,
        "listed_at": _OPENING + timedelta(seconds=random.randrange(_DAYS * 86_400)),
        "item": {
            "category": category,
            "title": f"{brand} {thing}, {random.choice(goods.details)}",
            "brand": brand,
            "condition": _draw(_CONDITIONS, random),
            "price": price,
        },
        "seller": {
            "country": _draw(_COUNTRIES, random),
            # A seller who has sold nothing has no rating yet.
            "rating": round(5 - random.expovariate(2.5), 1) if sales else None,
            "sales": sales,
        },
        "free_shipping": random.random() < 0.35,
        "reserve": round(price * 0.8, 2) if random.random() < 0.2 else None,
    }


def _draw(weights: dict[str, int], random: Random) -> str:
    return random.choices([*weights], [*weights.values()])[0]


# The subscriptions.


def _watchers(listings: list[_Listing], count: int, random: Random) -> Iterator[tuple[str, str]]:
    kinds = random.choices([*_KINDS], [weight for _, weight in _KINDS.values()], k=count)
    for number, kind in enumerate(kinds, 1):
        write, _ = _KINDS[kind]
        yield f"{kind}-{number:04}", write(random.choice(listings)["item"], random)


def _ceiling(item: _Listing, random: Random, hope: float = 0.6) -> int:
    """What a watcher would pay at most: less than usual."""
    usual = CATALOGUE[item["category"]].price
    return max(2, round(usual * hope * random.lognormvariate(0, 0.45)))


def _bargain(item: _Listing, random: Random) -> str:
    return f"item.category = '{item['category']}' AND item.price <= {_ceiling(item, random, 0.35)}"


def _collector(item: _Listing, random: Random) -> str:
    brands = CATALOGUE[item["category"]].brands
    wanted = ", ".join(f"'{brand}'" for brand in sorted(random.sample(brands, 2)))
    return (
        f"item.category = '{item['category']}' AND item.brand IN ({wanted}) "
        f"AND item.condition IN ('new', 'as new') AND item.price < {_ceiling(item, random, 0.9)}"
    )


def _seeker(item: _Listing, random: Random) -> str:
    goods = CATALOGUE[item["category"]]
    ceiling = _ceiling(item, random, 0.8)
    return (
        f"contains(item.title, '{random.choice(goods.things)}') "
        f"AND item.price BETWEEN {ceiling // 5} AND {ceiling}"
    )


def _connoisseur(item: _Listing, random: Random) -> str:
    goods = CATALOGUE[item["category"]]
    first, second = random.sample(goods.details, 2)
    return (
        f"item.brand = '{item['brand']}' AND item.title RLIKE '{first}|{second}' "
        f"AND seller.rating >= {random.choice((4.2, 4.5, 4.8))}"
    )


def _local(item: _Listing, random: Random) -> str:
    country = _draw(_COUNTRIES, random)
    return (
        f"item.category = '{item['category']}' AND item.price < {_ceiling(item, random)} "
        f"AND (seller.country = '{country}' OR free_shipping)"
    )


def _cautious(item: _Listing, random: Random) -> str:
    return (
        f"item.title LIKE '{item['brand']}%' AND seller.sales > {random.choice((50, 100, 200))} "
        f"AND NOT item.condition = 'worn' AND item.price <= {_ceiling(item, random, 0.8)}"
    )


def _sniper(item: _Listing, random: Random) -> str:
    day = _OPENING + timedelta(days=random.randrange(_DAYS))
    return (
        f"reserve IS NULL AND item.category = '{item['category']}' "
        f"AND item.price < {_ceiling(item, random, 0.7)} "
        f"AND listed_at BETWEEN TIMESTAMP '{day:%Y-%m-%d} 00:00:00' "
        f"AND TIMESTAMP '{day:%Y-%m-%d} 23:59:59'"
    )


# Who watches, how the subscription is written, and how many of a hundred are like that.
_KINDS: Final[dict[str, tuple[Callable[[_Listing, Random], str], int]]] = {
    "bargain": (_bargain, 18),
    "collector": (_collector, 18),
    "seeker": (_seeker, 20),
    "connoisseur": (_connoisseur, 10),
    "local": (_local, 14),
    "cautious": (_cautious, 10),
    "sniper": (_sniper, 10),
}
