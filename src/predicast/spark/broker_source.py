"""A running broker's events as DataFrames: all that are kept, or the deliveries of a subscription.

Positions are the offsets. A stream of kept events reads each range of positions again as it was,
for as long as the broker keeps it. A stream of deliveries pulls them on the driver, acknowledges a
batch when Spark has committed it. A query that was restarted first has given back what the one
before it had pulled: nothing newer comes before that, or it would be taken for older than its
batch. What it had planned is pulled again, so that each delivery is in one batch, whatever fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from predicast.spark.broker_http import BrokerAt, HttpBroker, KeptRow

SCHEMA: Final = (
    "position bigint, at timestamp, id string, publisher string, form string, body string"
)
_PLANNED_WAIT_S: Final = 5.0  # for the next delivery that was planned before a restart


class _Range(InputPartition):
    """Events after a position, up to another or to the last."""

    def __init__(self, after: int, up_to: int | None) -> None:
        super().__init__((after, up_to))
        self.after, self.up_to = after, up_to


class _Rows(InputPartition):
    """Deliveries that the driver has pulled."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        super().__init__(None)
        self.rows = rows


class KeptEventsReader(DataSourceReader):
    """Reads all events that are kept after a position."""

    def __init__(self, at: BrokerAt, after: int) -> None:
        self._at = at
        self._after = after

    def partitions(self) -> Sequence[InputPartition]:
        return [_Range(self._after, None)]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        assert isinstance(partition, _Range)
        return _events(self._at, partition)


class _PositionsStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A stream whose offsets are positions."""

    def __init__(self, at: BrokerAt, after: int, most: int) -> None:
        self._at = at
        self._after = after
        self._most = most
        self._target: int | None = None  # where a query ends that reads what there is

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"position": self._after}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        with HttpBroker(self._at) as broker:
            self._target = broker.last_position(self._after)

    def _within_target(self, position: int) -> int:
        return position if self._target is None else min(position, self._target)


class KeptEventsStream(_PositionsStream):
    """Reads the events that are kept, batch by batch."""

    def latestOffset(  # noqa: N802
        self, start: dict[str, int], limit: ReadLimit
    ) -> dict[str, int]:
        """So many events farther than the start, or as far as there are any."""
        position = start["position"]
        with HttpBroker(self._at) as broker:
            if not isinstance(limit, ReadMaxRows):
                return {"position": self._within_target(broker.last_position(position))}
            left = limit.max_rows
            while left > 0 and (found := broker.events(position, left)):
                position, left = found[-1].position, left - len(found)
        return {"position": max(self._within_target(position), start["position"])}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [] if start == end else [_Range(start["position"], end["position"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        assert isinstance(partition, _Range)
        return _events(self._at, partition)


class DeliveriesStream(_PositionsStream):
    """Reads the deliveries of a durable subscription, batch by batch."""

    def __init__(self, at: BrokerAt, subscription: str, after: int, most: int) -> None:
        super().__init__(at, after, most)
        self._subscription = subscription
        self._pulled: dict[int, KeptRow] = {}  # by position, until they are committed
        self._from: int | None = None  # what came after it has been pulled since the start

    def latestOffset(  # noqa: N802
        self, start: dict[str, int], limit: ReadLimit
    ) -> dict[str, int]:
        """As far as deliveries were pulled."""
        position = start["position"]
        with HttpBroker(self._at) as broker:
            if self._from is None:
                self._from = position
                broker.release(self._subscription)
            self._keep(broker.pull(self._subscription, self._most), position)
        end = max(self._pulled, default=position)
        return {"position": max(self._within_target(end), position)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        after, up_to = start["position"], end["position"]
        if after == up_to:
            return []
        if self._from is None or after < self._from:
            self._pull_again(after, up_to)
        rows = [
            each.row() for place, each in sorted(self._pulled.items()) if after < place <= up_to
        ]
        return [_Rows(rows)]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        assert isinstance(partition, _Rows)
        return iter(partition.rows)

    def commit(self, end: dict[str, int]) -> None:
        position = end["position"]
        with HttpBroker(self._at) as broker:
            broker.acknowledge(self._subscription, position)
        self._pulled = {place: row for place, row in self._pulled.items() if place > position}

    def _pull_again(self, after: int, up_to: int) -> None:
        """What was planned before a restart.

        As long as Spark had not committed it, it was not acknowledged. Only if the checkpoint is
        older than that does the broker have to match it again.
        """
        self._from, self._pulled = after, {}
        with HttpBroker(self._at) as broker:
            broker.release(self._subscription)
            if not self._pull_up_to(broker, after, up_to):
                broker.replay(self._subscription, after)
                self._pull_up_to(broker, after, up_to)

    def _pull_up_to(self, broker: HttpBroker, after: int, up_to: int) -> bool:
        """Whether all of it came; else the broker has not kept it."""
        while max(self._pulled, default=after) < up_to:
            found = broker.pull(self._subscription, self._most, _PLANNED_WAIT_S)
            if not found:
                return False
            self._keep(found, after)
        return True

    def _keep(self, found: list[KeptRow], after: int) -> None:
        """What was tried before is in an earlier batch already."""
        self._pulled.update({each.position: each for each in found if each.position > after})


def _events(at: BrokerAt, asked: _Range) -> Iterator[tuple[Any, ...]]:
    position = asked.after
    with HttpBroker(at) as broker:
        while asked.up_to is None or position < asked.up_to:
            found = broker.events(position)
            if not found:
                return
            for each in found:
                if asked.up_to is None or each.position <= asked.up_to:
                    yield each.row()
            position = found[-1].position
