"""DuckDB's join, on one thread: a batch of events against the subscriptions as columns.

Every shape is a table of its own, and the matches are one join per shape, put together:

    SELECT e.event, s.id FROM events e JOIN shape0 s
      ON (e.e0 = s.e0 AND e.r0 > s.low0 AND e.r0 < s.high0)

The wide, sparse workload is a join on the attribute's name, counted per event and subscription.
A join that goes on for too long is interrupted, and DuckDB left out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from bench.matchers.redundant import BOOLEAN, FLOAT, STRING, SparseWorkload
from bench.matchers.rival import AnyWorkload, LeftOutError, Rival, Round
from bench.matchers.workload import Comparison, Shape, Workload
from bench.measuring.timing import timed
from bench.papers.workloads.redundant_attributes import OPERATORS

if TYPE_CHECKING:
    import duckdb

PATIENCE_S: Final = 60.0
_AGAIN_S: Final = 0.1  # between interruptions of a join that goes on

_SQL: Final = {
    "prefix": "starts_with({event}, {0})",
    "suffix": "ends_with({event}, {0})",
    "contains": "contains({event}, {0})",
    "like": "{event} LIKE {0} || '%' || {1}",
}


class DuckdbRival(Rival):
    """A join in an in-memory database."""

    name = "duckdb"

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._connection: duckdb.DuckDBPyConnection | None = None

    def load(self, workload: AnyWorkload) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise LeftOutError("duckdb is not installed") from error
        self._connection = duckdb.connect()
        self._connection.execute("SET threads = 1")
        self._query = (
            _load_sparse(self._connection, workload)
            if isinstance(workload, SparseWorkload)
            else _load_shapes(self._connection, workload)
        )

    def match(self, events: int) -> Round:
        assert self._connection is not None
        connection, query = self._connection, self._query
        with self._impatient(connection):
            seconds, table = timed(
                lambda: connection.sql(query, params={"events": events}).to_arrow_table()
            )
        return Round(seconds, int(table.num_rows))

    @contextmanager
    def _impatient(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        import duckdb

        over = threading.Event()

        def interrupt() -> None:
            pause = self._patience_s
            while not over.wait(pause):  # one that comes before the join has begun is forgotten
                connection.interrupt()
                pause = _AGAIN_S

        waiting = threading.Thread(target=interrupt, daemon=True)
        waiting.start()
        try:
            yield
        except duckdb.InterruptException as error:
            raise LeftOutError(f"its join takes longer than {self._patience_s:.0f} s") from error
        finally:
            over.set()
            waiting.join()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def shape_query(number: int, shape: Shape) -> str:
    """The join of the events with one shape."""
    clauses = [" AND ".join(map(_condition, clause)) for clause in shape.clauses]
    condition = " OR ".join(f"({clause})" for clause in clauses)
    return (
        f"SELECT e.event, s.id FROM events e JOIN shape{number} s ON {condition} "  # noqa: S608
        "WHERE e.event < $events"
    )


def _condition(comparison: Comparison) -> str:
    event = f"e.{comparison.compared}"
    operands = [f"s.{name}" for name in comparison.columns]
    if comparison.operator == "in":
        return f"{event} IN ({', '.join(operands)})"
    if comparison.operator in _SQL:
        return _SQL[comparison.operator].format(*operands, event=event)
    return f"{event} {comparison.operator} {operands[0]}"


def _load_shapes(connection: duckdb.DuckDBPyConnection, workload: Workload) -> str:
    events = workload.events.append_column("event", pa.array(np.arange(workload.event_count)))
    _create(connection, "events", pa.Table.from_batches([events]))
    for number, shape in enumerate(workload.shapes):
        columns = {name: pa.array(column) for name, column in shape.columns.items()}
        _create(connection, f"shape{number}", pa.table({"id": shape.rows, **columns}))
    return " UNION ALL ".join(map(shape_query, range(len(workload.shapes)), workload.shapes))


def _load_sparse(connection: duckdb.DuckDBPyConnection, workload: SparseWorkload) -> str:
    """Numbers, words and booleans are numbers; integers and floats are of one kind."""
    held = workload.constraints
    names = {name: number for number, name in enumerate(workload.names)}
    ranks = {word: rank for rank, word in enumerate(workload.words)}
    attributes = [
        (number, names[name], *_coded(value, ranks))
        for number, event in enumerate(workload.events)
        for name, value in event.items()
    ]
    event, name, kind, value = zip(*attributes, strict=True)
    _create(
        connection,
        "attributes",
        pa.table({"event": event, "name": name, "kind": kind, "value": value}),
    )
    _create(
        connection,
        "constraints",
        pa.table(
            {
                "id": held.subscription,
                "name": held.name.astype(np.int64),
                "kind": np.maximum(held.kind, FLOAT).astype(np.int64),
                "operator": held.operator,
                "operand": held.number,
            }
        ),
    )
    wanted = np.bincount(held.subscription, minlength=workload.subscriptions)
    _create(connection, "wanted", pa.table({"id": np.arange(len(wanted)), "wanted": wanted}))
    cases = " ".join(
        f"WHEN {code} THEN a.value {operator.value} c.operand"
        for code, operator in enumerate(OPERATORS)
    )
    return (
        "SELECT met.event, met.id FROM (SELECT a.event, c.id, count(*) AS met "  # noqa: S608
        "FROM attributes a JOIN constraints c ON a.name = c.name AND a.kind = c.kind "
        f"WHERE a.event < $events AND CASE c.operator {cases} END GROUP BY a.event, c.id) met "
        "JOIN wanted ON met.id = wanted.id AND met.met = wanted.wanted"
    )


def _coded(value: object, ranks: dict[str, int]) -> tuple[int, float]:
    if isinstance(value, bool):
        return BOOLEAN, float(value)
    if isinstance(value, str):
        return STRING, float(ranks[value])
    assert isinstance(value, int | float)
    return FLOAT, float(value)


def _create(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> None:
    """A table of DuckDB's own: its joins shall not be charged for reading Arrow."""
    connection.register("source", table)
    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM source")  # noqa: S608
    connection.unregister("source")
