"""Objects that move on a map, and regions of interest that wait for them.

The map is a strait, 120 km by 70 km, with ports on its two shores. Ferries shuttle between ports,
cargo ships follow the two lanes, fishing boats wander about their grounds, sailing boats tack,
patrols sweep. A report is a *region event*: it gives not a point but the box in which the object
moved since its last report, widened by the error of the measurement. A subscription is a
rectangle, with conditions on the kind and speed of what enters it. The two match when box and
rectangle share a point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from predicast.demo.world import World

OBJECTS: Final = 240
REPORTS_EACH: Final = 120
REGIONS: Final = 500
WIDTH_KM: Final = 120.0
HEIGHT_KM: Final = 70.0

_SEED: Final = 2718
_ERROR_KM: Final = 0.25
_REPORT_EVERY_S: Final = 240
_MIDNIGHT: Final = np.datetime64("2026-06-21T00:00:00", "us")
# Place names are invented; positions in kilometres from the map's south-west corner.
_NORTHERN: Final = {
    "Aldness": (14.0, 57.0),
    "Brack": (47.0, 62.0),
    "Corrie": (86.0, 60.0),
    "Dunmore": (110.0, 52.0),
}
_SOUTHERN: Final = {"Eyrie": (22.0, 10.0), "Farne": (63.0, 7.0), "Gulland": (99.0, 13.0)}
PORTS: Final = {**_NORTHERN, **_SOUTHERN}
_NORTH_SHORE: Final = ((0.0, 55.0), (30.0, 62.5), (66.0, 65.5), (120.0, 48.0))
_SOUTH_SHORE: Final = ((0.0, 6.0), (42.0, 5.0), (80.0, 5.5), (120.0, 17.0))
_CROSSINGS: Final = (
    ("Aldness", "Eyrie"),
    ("Brack", "Farne"),
    ("Corrie", "Gulland"),
    ("Brack", "Eyrie"),
    ("Dunmore", "Gulland"),
)
_GROUNDS: Final = ((34.0, 44.0), (75.0, 47.0), (84.0, 22.0), (41.0, 19.0))
# How many of a hundred objects are of each kind.
_SHARES: Final = {"cargo": 30, "ferry": 20, "fishing": 25, "sailing": 15, "patrol": 10}

Track: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of interest."""

    id: str
    x: tuple[float, float]
    y: tuple[float, float]
    condition: str

    def where(self) -> str:
        """The region as a subscription."""
        return (
            f"x BETWEEN {self.x[0]} AND {self.x[1]} AND y BETWEEN {self.y[0]} AND {self.y[1]}"
            f"{self.condition}"
        )


def world(scale: float = 1.0) -> World:
    """A day of reports, and the regions that wait for them."""
    return World(
        name="moving-objects",
        title="A day of traffic in a strait",
        event_id="report",
        events=_reports(tracks(scale)),
        subscriptions={region.id: region.where() for region in regions(scale)},
        intervals={"x": ("x_min", "x_max"), "y": ("y_min", "y_max")},
    )


def shores() -> tuple[Track, Track]:
    """The northern and the southern shore, from west to east, through their ports."""
    return _shore(_NORTH_SHORE, _NORTHERN, 0), _shore(_SOUTH_SHORE, _SOUTHERN, 1)


def _shore(
    bends: tuple[tuple[float, float], ...], ports: dict[str, tuple[float, float]], seed: int
) -> Track:
    """A line through ports and bends, made rugged by displacing midpoints, again and again."""
    random = np.random.default_rng([_SEED, seed])
    line = np.array(sorted([*bends, *ports.values()]))
    rugged = 0.12
    for _ in range(6):
        middle = (line[:-1] + line[1:]) / 2
        lengths = np.hypot(*(line[1:] - line[:-1]).T)
        middle[:, 1] += random.normal(0, rugged, len(middle)) * lengths
        line = np.insert(line, np.arange(1, len(line)), middle, axis=0)
    return line


# The events.


def tracks(scale: float = 1.0) -> dict[str, Track]:
    """Where each object was at each report and before the first: an array of x and y by name."""
    random = Random(_SEED)
    count = max(10, round(OBJECTS * scale))
    kinds = random.choices([*_SHARES], [*_SHARES.values()], k=count)
    moves = {
        "cargo": _cargo,
        "ferry": _ferry,
        "fishing": _fishing,
        "sailing": _sailing,
        "patrol": _patrol,
    }
    return {
        f"{kind}-{number:03}": moves[kind](np.random.default_rng([_SEED, number]))
        for number, kind in enumerate(kinds, 1)
    }


def _cargo(random: np.random.Generator) -> Track:
    """Through the strait in the northern lane, or back in the southern one."""
    eastward = random.random() < 0.5
    length = random.uniform(0.75, 1.0)  # the rest of the way lies before midnight or after eight
    start = random.uniform(0, 1 - length)
    along = np.linspace(start, start + length, REPORTS_EACH + 1)
    if not eastward:
        along = 1 - along
    side = (2.6 if eastward else -2.6) + random.normal(0, 0.8)
    middle = 33 + 9 * np.sin(2 * np.pi * (along * 0.9 + 0.08)) + 4 * along
    wander = _smooth(random.normal(0, 0.6, len(along)), 15)
    return np.column_stack([along * WIDTH_KM, middle + side + wander])


def _ferry(random: np.random.Generator) -> Track:
    """To and fro between two ports, on a curve that keeps clear of those going the other way."""
    a, b = (np.array(PORTS[name]) for name in _CROSSINGS[random.integers(len(_CROSSINGS))])
    turns = random.uniform(1.5, 3.5)
    phase = (random.random() + np.linspace(0, turns, REPORTS_EACH + 1)) % 2
    there = phase < 1
    part = np.where(there, phase, 2 - phase)
    part = part * part * (3 - 2 * part)  # slow near the ports
    across = np.array([a[1] - b[1], b[0] - a[0]]) / np.hypot(*(b - a))
    bulge = np.sin(np.pi * part) * np.where(there, 1.2, -1.2) * random.uniform(0.8, 1.2)
    track: Track = a + part[:, None] * (b - a) + bulge[:, None] * across
    return track


def _fishing(random: np.random.Generator) -> Track:
    """Round and round a fishing ground."""
    ground = np.array(_GROUNDS[random.integers(len(_GROUNDS))])
    heading = np.cumsum(_smooth(random.normal(0, 0.9, REPORTS_EACH + 1), 5))
    steps = 0.45 * np.column_stack([np.cos(heading), np.sin(heading)])
    place = ground + random.normal(0, 3.0, 2)
    track = np.empty_like(steps)
    for row, step in enumerate(steps):
        place = place + step + 0.02 * (ground - place)
        track[row] = place
    return track


def _sailing(random: np.random.Generator) -> Track:
    """From one port towards another against the wind, in tacks."""
    shores = [[*_NORTHERN.values()], [*_SOUTHERN.values()]]
    a, b = (np.array(shore[random.integers(len(shore))]) for shore in shores)
    part = np.linspace(0.04, 0.96, REPORTS_EACH + 1)
    tack = np.abs((part * random.uniform(5, 9) + random.random()) % 2 - 1) - 0.5
    across = np.array([a[1] - b[1], b[0] - a[0]]) / np.hypot(*(b - a))
    swing = tack * random.uniform(4, 7) * np.sin(np.pi * part) ** 0.5
    track: Track = a + part[:, None] * (b - a) + swing[:, None] * across
    return track


def _patrol(random: np.random.Generator) -> Track:
    """Lane by lane over a rectangle."""
    corner = random.uniform((8, 17), (WIDTH_KM - 40, HEIGHT_KM - 36))
    width, height = random.uniform((14, 8), (30, 16))
    lanes = int(random.integers(4, 8))
    phase = np.linspace(0, lanes, REPORTS_EACH + 1)
    lane = np.minimum(phase.astype(int), lanes - 1)
    part = phase - lane
    part = np.clip(part * 1.15, 0, 1)  # the rest of the time goes into changing lanes
    climb = np.clip((phase - lane - 1 / 1.15) * (1 / (1 - 1 / 1.15)), 0, 1)
    x = np.where(lane % 2 == 0, part, 1 - part)
    y = (lane + np.where(lane < lanes - 1, climb, 0)) / (lanes - 1)
    track: Track = corner + np.column_stack([x * width, y * height])
    return track


def _smooth(noise: np.ndarray, width: int) -> np.ndarray:
    return np.convolve(noise, np.ones(width) / width**0.5, mode="same")


def _reports(paths: dict[str, Track]) -> pa.Table:
    starts = np.concatenate([path[:-1] for path in paths.values()])
    ends = np.concatenate([path[1:] for path in paths.values()])
    low = np.round(np.minimum(starts, ends) - _ERROR_KM, 3)
    high = np.round(np.maximum(starts, ends) + _ERROR_KM, 3)
    knots = np.round(np.hypot(*(ends - starts).T) / (_REPORT_EVERY_S / 3600) / 1.852, 1)
    number = np.tile(np.arange(REPORTS_EACH), len(paths))
    names = np.repeat([*paths], REPORTS_EACH)
    order = np.argsort(number, kind="stable")  # as they come in: all objects' first reports first
    columns = {
        "at": _MIDNIGHT + (number + 1) * np.timedelta64(_REPORT_EVERY_S, "s"),
        "object": names,
        "kind": [name.partition("-")[0] for name in names],
        "knots": knots,
        "x_min": low[:, 0],
        "x_max": high[:, 0],
        "y_min": low[:, 1],
        "y_max": high[:, 1],
    }
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    at = table["at"].cast(pa.timestamp("us", "UTC"))
    table = table.set_column(0, "at", at).take(pa.array(order))
    return table.add_column(0, "report", pa.array(range(table.num_rows), pa.int64()))


# The subscriptions.


def regions(scale: float = 1.0) -> list[Region]:
    """The rectangles of interest."""
    return list(_regions(max(20, round(REGIONS * scale)), Random(_SEED + 1)))


def _regions(count: int, random: Random) -> Iterator[Region]:
    for number in range(1, count + 1):
        who, (x, y), (width, height) = _place(random)
        left = min(max(x - width / 2, 0), WIDTH_KM - width)
        bottom = min(max(y - height / 2, 0), HEIGHT_KM - height)
        yield Region(
            f"{who}-{number:03}",
            (round(left, 1), round(left + width, 1)),
            (round(bottom, 1), round(bottom + height, 1)),
            _condition(who, random),
        )


def _place(random: Random) -> tuple[str, tuple[float, float], tuple[float, float]]:
    """Who is interested, around which point, and how far."""
    chance = random.random()
    if chance < 0.3:
        x, y = random.choice([*PORTS.values()])
        centre = (random.gauss(x, 2), random.gauss(y, 2))
        return "harbour", centre, (random.uniform(2, 6), random.uniform(2, 6))
    if chance < 0.5:
        x, y = random.choice(_GROUNDS)
        centre = (random.gauss(x, 4), random.gauss(y, 4))
        return "warden", centre, (random.uniform(3, 9), random.uniform(3, 9))
    centre = (random.uniform(0, WIDTH_KM), random.uniform(14, HEIGHT_KM - 16))
    if chance < 0.75:
        return "buoy", centre, (random.uniform(1.5, 4), random.uniform(1.5, 4))
    return "coastguard", centre, (random.uniform(5, 14), random.uniform(4, 10))


def _condition(who: str, random: Random) -> str:
    if who == "warden":
        return " AND kind = 'fishing' AND knots < 8"
    if who == "buoy":
        return ""
    if who == "harbour":
        return random.choice(("", " AND kind IN ('cargo', 'ferry')", " AND kind != 'patrol'"))
    return random.choice(("", " AND knots >= 10", " AND kind IN ('cargo', 'fishing')"))
