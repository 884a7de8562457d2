"""How the broker does: rates, latency, sizes."""

from __future__ import annotations

from typing import Any, Final

from nicegui import ui

from predicast.console.frame import every, nothing_yet, section
from predicast.console.place import Page, Place
from predicast.console.rates import DRAWN, Look, Rates, shown_rate, shown_seconds
from predicast.console.times import shown_clock

_EVERY: Final = 1.0  # seconds
_COLOURS: Final = ("#0d7d72", "#d9822b", "#7a5cc4", "#c0392b", "#5b6470")
_QUIET: Final = "#87919c"  # legible on light and on dark


async def _build(place: Place) -> None:
    if not place.tenant.statistics().get("events_published") and not len(place.tenant):
        token = ' -H "Authorization: Bearer $TOKEN"' if place.can_sign_out else ""
        nothing_yet(
            "Nobody has subscribed or published yet. Subscribe with an expression, then publish:",
            line=f'curl {place.address}/events{token} --json \'{{"price": 9.5, "symbol": "IBM"}}\'',
            link=("Write the first subscription", "/console/subscriptions/edit"),
        )
    shown = _Overview(place)
    shown.look()
    every(_EVERY, shown.look)


class _Overview:
    def __init__(self, place: Place) -> None:
        self._place = place
        with ui.element("div").classes("grid grid-cols-2 md:grid-cols-4 gap-3 w-full"):
            self._published = _figure("published a second")
            self._acknowledged = _figure("acknowledged a second")
            self._typical = _figure("publish to acknowledgement, half of them")
            self._slowest = _figure("publish to acknowledgement, 99 of 100")
        with ui.element("div").classes("grid grid-cols-1 lg:grid-cols-2 gap-3 w-full"):
            self._rates = _chart("Events and deliveries a second", list(DRAWN))
            self._latency = _chart("Publish to acknowledgement, ms", ["half", "99 of 100"])
        section("Since the start, and now")
        with ui.card().classes("w-full"):
            self._sizes = ui.element("div").classes(
                "grid grid-cols-2 md:grid-cols-4 gap-x-6 gap-y-2 w-full"
            )
        self._size_labels: dict[str, ui.label] = {}

    def look(self) -> None:
        tenant = self._place.tenant
        counts = tenant.statistics()
        now = self._place.broker.clock.wall()
        self._place.rates.look(now, counts, tenant.publish_latencies.counts)
        if self._place.rates.looks:
            self._show(self._place.rates.looks[-1])
        _draw_rates(self._rates, self._place.rates)
        _draw_latency(self._latency, self._place.rates)
        for name, value in counts.items():
            self._size(name).set_text(f"{value:,.0f}")

    def _show(self, look: Look) -> None:
        self._published.set_text(shown_rate(look.rates["published"]))
        self._acknowledged.set_text(shown_rate(look.rates["acknowledged"]))
        self._typical.set_text(shown_seconds(look.typical))
        self._slowest.set_text(shown_seconds(look.slowest))

    def _size(self, name: str) -> ui.label:
        if name not in self._size_labels:
            with self._sizes, ui.column().classes("gap-0"):
                ui.label(name.replace("_", " ")).classes("quiet text-sm")
                self._size_labels[name] = ui.label().classes("text-lg tabular-nums")
        return self._size_labels[name]


def _figure(title: str) -> ui.label:
    with ui.card().classes("gap-0 p-3"):
        number = ui.label("–").classes("number")
        ui.label(title).classes("quiet text-sm")
    return number


def _chart(title: str, names: list[str]) -> ui.echart:
    with ui.card().classes("w-full gap-1"):
        ui.label(title).classes("text-sm font-semibold")
        axis = {
            "axisLine": {"lineStyle": {"color": _QUIET}},
            "axisLabel": {"color": _QUIET},
            "splitLine": {"lineStyle": {"color": _QUIET, "opacity": 0.25}},
        }
        return (
            ui.echart(
                {
                    "animation": False,
                    "color": list(_COLOURS),
                    "textStyle": {"color": _QUIET},
                    "legend": {
                        "data": names,
                        "icon": "rect",
                        "itemWidth": 10,
                        "itemHeight": 4,
                        "itemGap": 9,
                        "textStyle": {"color": _QUIET},
                        "bottom": 0,
                    },
                    "grid": {"left": 48, "right": 16, "top": 16, "bottom": 56},
                    "tooltip": {"trigger": "axis"},
                    "xAxis": {"type": "category", "data": [], **axis},
                    "yAxis": {"type": "value", "min": 0, **axis},
                    "series": [
                        {"name": name, "type": "line", "showSymbol": False, "data": []}
                        for name in names
                    ],
                }
            )
            .classes("w-full h-56")
            .props(f'role=img aria-label="{title}"')
        )


def _draw_rates(chart: ui.echart, rates: Rates) -> None:
    series = [[round(look.rates[name], 1) for look in rates.looks] for name in DRAWN]
    _draw(chart, rates, series)


def _draw_latency(chart: ui.echart, rates: Rates) -> None:
    typical = [None if each.typical is None else each.typical * 1e3 for each in rates.looks]
    slowest = [None if each.slowest is None else each.slowest * 1e3 for each in rates.looks]
    _draw(chart, rates, [typical, slowest])


def _draw(chart: ui.echart, rates: Rates, series: list[list[Any]]) -> None:
    chart.options["xAxis"]["data"] = [shown_clock(look.at) for look in rates.looks]
    for drawn, data in zip(chart.options["series"], series, strict=True):
        drawn["data"] = data
    chart.update()


OVERVIEW = Page("/", "Overview", _build, "speed")
