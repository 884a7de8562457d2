"""``TableView``: one version of a subscription table, to be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from predicast.engine import Engine, Entry
from predicast.errors import UnknownIdError
from predicast.model.vocabulary import Vocabulary
from predicast.spark.compiled import CompiledSubscriptions
from predicast.spark.placement import Strategy, checked_strategy, refuse_folder
from predicast.spark.subscription_table.compiling import Compiling
from predicast.spark.subscription_table.engines import BuiltEngine
from predicast.spark.subscription_table.files import DataFiles
from predicast.spark.subscription_table.log import TableLog, Version
from predicast.spark.subscription_table.rows import (
    InvalidRow,
    Row,
    operation_of,
    rows_of,
    table_of,
)
from predicast.spark.subscription_table.writing import find

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


class TableView:
    """A version of a table, whatever becomes of the table; ``SubscriptionTable.at`` makes one."""

    def __init__(
        self,
        log: TableLog,
        files: DataFiles,
        version: Version,
        build: Callable[[Version], BuiltEngine],
        compiling: Compiling,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self._log = log
        self._files = files
        self._version = version
        self._build = build
        self._compiling = compiling
        self._vocabulary = vocabulary

    @property
    def version(self) -> int:
        """The number of the version."""
        return self._version.number

    @property
    def timestamp(self) -> datetime:
        """When it was committed."""
        return self._log.commit_of(self.version).at

    def __repr__(self) -> str:
        return f"<TableView: version {self.version} of {self._log.folder}, {len(self)} rows>"

    def __len__(self) -> int:
        """How many rows there are, of no subscription included."""
        counts = (
            len(self._files.read(file, ["id"])) if file.rows is None else file.rows
            for file in self._version.files
        )
        return sum(counts)

    def __bool__(self) -> bool:
        return True  # a version without rows is one as well

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and bool(find(self._files, self._version.files, [id]).rows)

    def get(self, id: str) -> Entry:
        """The subscription with this id."""
        rows = find(self._files, self._version.files, [id]).rows.get(id)
        if rows is None:
            raise UnknownIdError(
                f"version {self.version} of the subscription table {self._log.folder} "
                f"has no subscription {id!r}",
                id=id,
            )
        engine = Engine(matcher="brute-force", ontology=self._vocabulary)
        engine.apply(map(operation_of, rows))
        return engine.get(id)

    def to_arrow(self) -> pa.Table:
        """All rows, in the order of ids: id, owner, expression, parameters and dialect."""
        import pyarrow as pa

        tables = [self._files.read(file) for file in self._version.files]
        return pa.concat_tables([table_of(()), *tables]).sort_by("id").combine_chunks()

    def rows(self) -> list[Row]:
        """The same as Python objects, of no subscription included."""
        return rows_of(self.to_arrow())

    def engine(self) -> Engine:
        """A new engine of these subscriptions, which is the caller's.

        It is made of the nearest one that is kept beside the table and of what changed in between.
        """
        return self._build(self._version).engine

    def invalid(self) -> list[InvalidRow]:
        """The rows that are no subscriptions, which only another tool can have written."""
        return self._build(self._version).invalid

    def compiled(
        self, spark: SparkSession | None = None, *, strategy: Strategy = "auto"
    ) -> CompiledSubscriptions:
        """The same, ready to be matched on executors: what ``match`` and the others take.

        Of a version near the one that was compiled before, only what changed is compiled.
        ``strategy`` is that of ``compile``.
        """
        refuse_folder(checked_strategy(strategy))
        return replace(self._compiling.of(self._version, strategy), session=spark)
