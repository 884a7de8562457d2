"""Operations for whoever runs a broker: counts and sizes.

A tenant's administrator sees the tenant's own. What all tenants come to together, and each by its
name, is for tokens that are for any tenant: nobody else learns even how many there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from starlette.responses import Response

from predicast.broker.latencies import Latencies
from predicast.broker.server.call import Call
from predicast.broker.server.publishing import answer
from predicast.errors import HttpError

if TYPE_CHECKING:
    from predicast.broker.server.state import ServerState

_PREFIX: Final = "predicast_"
# What only grows, among what a backend tells; all else is a size.
_COUNTS: Final = frozenset(
    {
        "events_published",
        "events_repeated",
        "events_unreadable",
        "events_damaged",
        "deliveries_acknowledged",
        "deliveries_repeated",
        "deliveries_dropped",
        "deliveries_dead",
        "commits",
    }
)
_SPANS: Final = 5  # of latencies in one bucket, which ends at three times the one before


async def statistics(call: Call) -> Response:
    """Counts since the start and sizes now, of the tenant."""
    return answer(dict(call.tenant.statistics()))


async def links(call: Call) -> Response:
    """The tenant's place in the tree of linked brokers."""
    if call.state.links is None:
        raise HttpError("this broker has no links", status=HTTPStatus.NOT_FOUND)
    return answer(call.state.links.status(call.tenant.name))


async def metrics(call: Call) -> Response:
    """The same for Prometheus; for a token of any tenant, all tenants."""
    tenants = [call.tenant.name]
    totals = None
    if call.grant.is_operator:
        tenants = sorted(await call.state.broker.backend.tenants())
        totals = call.state
    broker = call.state.broker
    by_tenant = {name: broker.backend.statistics(name) for name in tenants}
    latencies = {name: broker.tenant(name).publish_latencies for name in tenants}
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(by_tenant, latencies, totals))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


class _Figures(Collector):
    """What is known at the moment."""

    def __init__(
        self,
        by_tenant: Mapping[str, Mapping[str, float]],
        latencies: Mapping[str, Latencies],
        totals: ServerState | None,
    ) -> None:
        self._by_tenant = by_tenant
        self._latencies = latencies
        self._totals = totals

    def collect(self) -> Iterator[Metric]:
        names = sorted({name for figures in self._by_tenant.values() for name in figures})
        for name in names:
            family = _kind(name)(
                f"{_PREFIX}tenant_{name}", f"{name.replace('_', ' ')}, by tenant", labels=["tenant"]
            )
            for tenant, figures in self._by_tenant.items():
                if name in figures:
                    family.add_metric([tenant], figures[name])
            yield family
        yield self._publishing()
        if self._totals is not None:
            yield from _totals(self._totals)

    def _publishing(self) -> Metric:
        """How long events took from publish to acknowledgement."""
        family = HistogramMetricFamily(
            f"{_PREFIX}tenant_publish_seconds",
            "from when an event came until it was kept, by tenant",
            labels=["tenant"],
        )
        for tenant, found in self._latencies.items():
            buckets = [
                ("+Inf" if math.isinf(end) else f"{end:.6g}", count)
                for end, count in found.up_to(_SPANS)
            ]
            family.add_metric([tenant], buckets, found.total_s)
        return family


def _kind(name: str) -> type[CounterMetricFamily | GaugeMetricFamily]:
    return CounterMetricFamily if name in _COUNTS else GaugeMetricFamily


def _totals(state: ServerState) -> Iterator[Metric]:
    linked = {} if state.links is None else state.links.statistics()
    for name, value in sorted({**state.broker.statistics(), **linked}.items()):
        yield _kind(name)(_PREFIX + name, name.replace("_", " "), value=value)
    requests = CounterMetricFamily(
        f"{_PREFIX}http_requests",
        "requests that were answered",
        labels=["method", "path", "status"],
    )
    for (method, path, status), count in sorted(state.requests.items()):
        requests.add_metric([method, path, str(status)], count)
    yield requests
