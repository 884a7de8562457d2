"""Operations for whoever runs a broker: counts and sizes.

A tenant's administrator sees the tenant's own. What all tenants come to together, and each by its
name, is for tokens that are for any tenant: nobody else learns even how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from starlette.responses import Response

from predicast.broker.server.call import Call
from predicast.broker.server.publishing import answer
from predicast.errors import HttpError

if TYPE_CHECKING:
    from predicast.broker.server.state import ServerState

_PREFIX: Final = "predicast_"


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
    by_tenant = {name: call.state.broker.backend.statistics(name) for name in tenants}
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(by_tenant, totals))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


class _Figures(Collector):
    """What is known at the moment."""

    def __init__(
        self, by_tenant: Mapping[str, Mapping[str, float]], totals: ServerState | None
    ) -> None:
        self._by_tenant = by_tenant
        self._totals = totals

    def collect(self) -> Iterator[Metric]:
        names = sorted({name for figures in self._by_tenant.values() for name in figures})
        for name in names:
            family = GaugeMetricFamily(
                f"{_PREFIX}tenant_{name}", f"{name.replace('_', ' ')}, by tenant", labels=["tenant"]
            )
            for tenant, figures in self._by_tenant.items():
                if name in figures:
                    family.add_metric([tenant], figures[name])
            yield family
        if self._totals is not None:
            yield from _totals(self._totals)


def _totals(state: ServerState) -> Iterator[Metric]:
    linked = {} if state.links is None else state.links.statistics()
    for name, value in sorted({**state.broker.statistics(), **linked}.items()):
        yield GaugeMetricFamily(_PREFIX + name, name.replace("_", " "), value=value)
    requests = CounterMetricFamily(
        f"{_PREFIX}http_requests",
        "requests that were answered",
        labels=["method", "path", "status"],
    )
    for (method, path, status), count in sorted(state.requests.items()):
        requests.add_metric([method, path, str(status)], count)
    yield requests
