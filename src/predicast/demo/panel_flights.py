"""The panel of flights: where the alerts came from, on a map, and when, on a strip of days.

The map needs no map data. The package's own airports, drawn as faint dots, are dense enough to
show the shape of the country.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import PowerNorm

from predicast.demo import flights
from predicast.demo.palette import (
    FAINT,
    GLOW,
    HOT,
    INK,
    LABEL_PT,
    MUTED,
    TITLE_PT,
    Corner,
    bare,
    head,
    outline,
    place_labels,
)
from predicast.demo.world import Outcome

_NEW_YORK: Final = (40.70, -73.95)
_FIRST_DAY: Final = date(2013, 1, 1)
_DAYS: Final = 365
# What the map shows, in kilometres from its centre: the mainland and Puerto Rico.
_X_KM: Final = (-2_600, 3_330)
_Y_KM: Final = (-1_960, 1_560)
_LABELLED: Final = 10


def draw(map_axes: Axes, days_axes: Axes, outcome: Outcome, corner: Corner) -> None:
    """Draw both parts, the head at a place in the figure."""
    _map(map_axes, outcome, corner)
    _days(days_axes, outcome)


def _map(axes: Axes, outcome: Outcome, corner: Corner) -> None:
    known = flights.airports()
    place = dict(
        zip(
            known["faa"].to_pylist(),
            zip(*_albers(known["lat"].to_numpy(), known["lon"].to_numpy()), strict=True),
            strict=True,
        )
    )
    alerts = _by_destination(outcome)
    most = list(alerts.items())
    names = _named(outcome)
    head(
        axes,
        corner,
        f"Flights to {names[most[0][0]]} and {names[most[1][0]]} set off the most alerts",
        f"Deliveries by destination: {outcome.world.events.num_rows:,} flights from New York in "
        f"2013, {len(outcome.world.subscriptions):,} alerts",
        outcome,
    )
    bare(axes)
    axes.set(xlim=_X_KM, ylim=_Y_KM, aspect="equal", xticks=[], yticks=[], anchor="W")
    dots = np.array(list(place.values()))
    axes.scatter(dots[:, 0], dots[:, 1], s=3.4, color=FAINT, linewidths=0, zorder=1)

    home = np.array(_albers(*map(np.array, _NEW_YORK)))
    norm = PowerNorm(0.5, 0, most[0][1])
    rising = [(np.array(place[code]), count) for code, count in reversed(most)]
    arcs = [_arc(home, spot) for spot, _ in rising]
    counts = np.array([count for _, count in rising])
    widths = 0.5 + 3.2 * np.sqrt(counts / counts.max())
    for width, alpha in ((widths * 3.5, 0.07), (widths, 0.85)):
        lines = LineCollection(arcs, cmap=GLOW, norm=norm, linewidths=width, alpha=alpha, zorder=3)
        lines.set_array(counts)
        lines.set_capstyle("round")
        axes.add_collection(lines)
    spots = np.array([spot for spot, _ in rising])
    axes.scatter(
        spots[:, 0], spots[:, 1], s=8 + 110 * counts / counts.max(), c=counts, cmap=GLOW, norm=norm,
        edgecolors="none", zorder=4,
    )  # fmt: skip
    axes.scatter(home[0], home[1], s=46, color=INK, zorder=5, linewidths=0)
    _label(axes, home, place, most)


def _label(axes: Axes, home: Any, place: dict[str, Any], most: list[tuple[str, int]]) -> None:
    axes.annotate(
        "New York",
        home,
        (11, 5),
        textcoords="offset points",
        fontsize=LABEL_PT + 2,
        weight="bold",
        color=INK,
        path_effects=outline(),
        zorder=9,
    )
    shown = [(code, count) for code, count in most if _X_KM[0] < place[code][0] < _X_KM[1]]
    shown = [*shown[:_LABELLED], *(each for each in shown[_LABELLED:] if each[0] == "SJU")]
    place_labels(axes, [(*place[code], f"{code} {count:,}") for code, count in shown])
    for code, count in most:
        if code == "HNL":
            # Honolulu lies beyond the edge: the label stands where the route leaves the map.
            x, y = _arc(home, np.array(place[code])).T
            axes.annotate(
                f"to HNL {count:,}",
                (_X_KM[0], y[np.argmax(x < _X_KM[0])]),
                (4, 5),
                textcoords="offset points",
                fontsize=LABEL_PT,
                color=MUTED,
                path_effects=outline(),
                zorder=9,
            )


def _days(axes: Axes, outcome: Outcome) -> None:
    """Deliveries on each day of the year."""
    events = outcome.world.events
    local = pc.local_timestamp(events["scheduled"].cast(pa.timestamp("us", "America/New_York")))
    day = pc.subtract(pc.day_of_year(local), 1).to_numpy()
    per_day = np.bincount(day, outcome.by_event(), _DAYS).astype(int)
    bare(axes)
    axes.bar(
        np.arange(_DAYS), per_day, width=0.86, color=GLOW(PowerNorm(0.8, 0, per_day.max())(per_day))
    )
    axes.set(xlim=(-1, _DAYS), ylim=(0, per_day.max() * 1.18), yticks=[])
    firsts = [(date(2013, month, 1) - _FIRST_DAY).days for month in range(1, 13)]
    names = [(_FIRST_DAY + timedelta(first)).strftime("%b") for first in firsts]
    axes.set_xticks([first + 15 for first in firsts], names)
    top = int(per_day.argmax())
    axes.set_title(
        f"The worst day, {_day(top)}, set off {per_day[top]:,} alerts; the median day, "
        f"{int(np.median(per_day)):,}",
        loc="left",
        fontsize=TITLE_PT - 2,
        color=INK,
        weight="bold",
        pad=6,
    )
    _label_peaks(axes, per_day)


def _label_peaks(axes: Axes, per_day: np.ndarray) -> None:
    labelled: list[int] = []
    for day in np.argsort(per_day)[::-1]:
        if len(labelled) == 6:
            return
        if all(abs(day - other) > 22 for other in labelled):
            labelled.append(int(day))
            axes.annotate(
                _day(day),
                (day, per_day[day]),
                (0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=LABEL_PT,
                color=MUTED if len(labelled) > 1 else HOT,
            )


def _day(number: int) -> str:
    day = _FIRST_DAY + timedelta(int(number))
    return f"{day.day} {day:%b}"


def _by_destination(outcome: Outcome) -> dict[str, int]:
    destinations = np.array(outcome.world.events["dest"].to_pylist())
    codes, inverse = np.unique(destinations, return_inverse=True)
    totals = np.bincount(inverse, outcome.by_event()).astype(int)
    order = np.lexsort((codes, -totals))
    return {str(codes[i]): int(totals[i]) for i in order if totals[i]}


def _named(outcome: Outcome) -> dict[str, str]:
    """The busy destinations as people call them; the others by their code."""
    cities = {
        "ATL": "Atlanta", "BOS": "Boston", "CLT": "Charlotte", "DCA": "Washington",
        "DEN": "Denver", "DFW": "Dallas", "FLL": "Fort Lauderdale", "IAH": "Houston",
        "LAX": "Los Angeles", "MCO": "Orlando", "MIA": "Miami", "ORD": "Chicago",
        "SFO": "San Francisco",
    }  # fmt: skip
    codes = pc.unique(outcome.world.events["dest"]).to_pylist()
    return {code: cities.get(code, code) for code in codes}


def _albers(latitude: Any, longitude: Any) -> tuple[Any, Any]:
    """Degrees to kilometres: Albers' equal-area conic, the usual one for the United States."""
    first, second, origin, centre = np.radians((29.5, 45.5, 37.5, -96.0))
    cone = (np.sin(first) + np.sin(second)) / 2
    constant = np.cos(first) ** 2 + 2 * cone * np.sin(first)
    radius = 6371 / cone
    rho = radius * np.sqrt(constant - 2 * cone * np.sin(np.radians(latitude)))
    rho_origin = radius * np.sqrt(constant - 2 * cone * np.sin(origin))
    angle = cone * (np.radians(longitude) - centre)
    return rho * np.sin(angle), rho_origin - rho * np.cos(angle)


def _arc(start: Any, end: Any) -> Any:
    """A curve that bows to the north, so that routes fan out instead of lying on one another."""
    part = np.linspace(0, 1, 60)[:, None]
    across = np.array([start[1] - end[1], end[0] - start[0]])
    across = across if across[1] > 0 else -across
    bend = (start + end) / 2 + 0.16 * across
    return (1 - part) ** 2 * start + 2 * part * (1 - part) * bend + part**2 * end
