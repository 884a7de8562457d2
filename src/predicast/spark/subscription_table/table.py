"""``SubscriptionTable``: subscriptions in a Delta Lake table, durable and versioned.

Changes are the engine's own: ``subscribe``, ``change``, ``unsubscribe``, and windows of them. Each
call is one commit, all of it or nothing, and makes one version; whoever asks for a version, by its
number or by a time, gets the same answers whenever that is. Several processes may change one table:
a writer that was overtaken looks at what is there now and decides anew, so that the outcome is that
of one after the other, in some order.

Cost: a change reads and writes the files that hold the subscriptions it names (``files.py``), not
the table. Limits: the table lies in a folder, on this machine or mounted; nobody holds a lock, so
that many writers of one table spend some of their time on deciding anew.
"""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace as replaced
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from predicast.engine import Change, Engine, Operation, Report, Subscribe, Unsubscribe
from predicast.engine.bulk import bulk_of, read_records
from predicast.engine.ids import duplicate
from predicast.errors import (
    InvalidOptionError,
    SubscriptionTableError,
    TableBusyError,
)
from predicast.language import Readable
from predicast.language.class_tests import reading_with
from predicast.matching import DEFAULT
from predicast.model import Absent, Value
from predicast.model.vocabulary import HasVocabulary, checked_vocabulary
from predicast.spark.options import check_choice
from predicast.spark.subscription_table.compiling import Compiling
from predicast.spark.subscription_table.difference import (
    RowChange,
    Unclear,
    operations,
    row_changes,
)
from predicast.spark.subscription_table.engines import FOLDER, BuiltEngine, Engines
from predicast.spark.subscription_table.files import (
    DataFile,
    DataFiles,
    folder_of,
    has_dialects,
)
from predicast.spark.subscription_table.log import Commit, Overtaken, TableLog, Version
from predicast.spark.subscription_table.reading import refusal
from predicast.spark.subscription_table.rows import Row, row_of_operation, table_of
from predicast.spark.subscription_table.view import TableView
from predicast.spark.subscription_table.writing import (
    Found,
    OnRefusal,
    Rewriting,
    find,
    named_by,
    net_effect,
    rewriting,
)

if TYPE_CHECKING:
    from predicast.engine.bulk import Records

_ATTEMPTS: Final = 100  # commits that are tried; each one that fails lets somebody else's pass
_PAUSE_S: Final = 0.005  # before the second attempt, on average; longer before later ones,
_LONGEST_PAUSE_S: Final = 0.2  # up to this

OnInvalidRows = Literal["raise", "quarantine"]


class Counts(NamedTuple):
    """The net effect of a window, in subscriptions."""

    subscribed: int
    changed: int
    unsubscribed: int


class Committed(NamedTuple):
    """The version in which a window holds, and what became of its operations."""

    version: int
    report: Report
    counts: Counts


class _Plan(NamedTuple):
    """What a writer has decided on, given a version."""

    rewriting: Rewriting
    facts: dict[str, Any]
    outcome: tuple[Report, Counts] | None = None


class SubscriptionTable:
    """Subscriptions in a Delta Lake table at a path.

    An empty table is made where there is none, unless ``create`` says no. ``matcher`` and
    ``absent`` are those of the engines that it makes. ``on_invalid`` says what becomes of rows that
    are no subscriptions, which only another tool can have written: an engine is refused
    (``"raise"``), or goes without them (``"quarantine"``, see ``TableView.invalid``). Engines are
    kept in the table's own folder, where whoever may write is trusted; ``engines`` names another.
    ``ontology`` is that of the engines as well: rows are texts, which may name its classes. It is
    not in the table, and whoever opens that gives it anew.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = True,
        matcher: str = DEFAULT,
        absent: Absent = "fails",
        on_invalid: OnInvalidRows = "raise",
        engines: str | os.PathLike[str] | None = None,
        ontology: HasVocabulary | None = None,
    ) -> None:
        check_choice("absent", absent, ("fails", "passes"))
        check_choice("on_invalid", on_invalid, ("raise", "quarantine"))
        Engine(matcher=matcher)  # refuses a name that is none
        _check_installed()
        self._path = folder_of(path)
        self._log = TableLog(self._path)
        self._files = DataFiles(self._path)
        kept_in = self._path / FOLDER if engines is None else Path(engines).absolute()
        self._vocabulary = None if ontology is None else checked_vocabulary(ontology)
        kept = self._log, self._files, kept_in
        self._engines = Engines(*kept, matcher, absent, self._vocabulary)
        self._options: dict[str, Any] = {
            "matcher": matcher,
            "absent": absent,
            "on_invalid": on_invalid,
            "engines": engines,
            "ontology": self._vocabulary,
        }
        self._on_invalid = on_invalid
        self._compiling = Compiling(
            self._files, self._built, quarantines=on_invalid == "quarantine"
        )
        if create and not self._log.exists():
            self._log.create()
        self._log.latest_number()  # refuses what is no such table

    @property
    def path(self) -> Path:
        """The folder of the table."""
        return self._path

    def __repr__(self) -> str:
        return f"<SubscriptionTable: {self._path}, version {self.version}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # A stream takes it along to the process that runs its batches.
        return partial(SubscriptionTable, create=False, **self._options), (self._path,)

    # What there is.

    @property
    def version(self) -> int:
        """The number of the latest version, as the log has it now."""
        return self._log.latest_number()

    def at(
        self, version: int | None = None, *, timestamp: datetime | str | None = None
    ) -> TableView:
        """A version of the table: the latest, one by its number, or the one of a time.

        Times without a zone are in UTC; text is in ISO 8601.
        """
        if timestamp is not None:
            if version is not None:
                raise InvalidOptionError(
                    "a version has a number or a timestamp, not both", option="timestamp"
                )
            version = self._log.number_at(_moment(timestamp))
        found = self._log.latest() if version is None else self._log.at(_number(version))
        where = self._log, self._files, found
        return TableView(*where, self._built, self._compiling, self._vocabulary)

    def engine(self, version: int | None = None) -> Engine:
        """A new engine of the latest version, or of another."""
        return self.at(version).engine()

    def history(self, limit: int | None = None) -> list[Commit]:
        """What was done to the table, the latest first."""
        return list(self._log.commits(limit))

    def diff(self, before: int, after: int) -> list[Operation]:
        """What makes one version of another: operations that an engine can apply.

        >>> import tempfile
        >>> table = SubscriptionTable(tempfile.mkdtemp())
        >>> table.subscribe("price < 10", id="a")
        'a'
        >>> table.diff(0, 1)  # doctest: +ELLIPSIS
        [Subscribe(id='a', expression='price < 10', owner=None, ..., dialect=None)]
        """
        return operations(self.row_changes(before, after))

    def row_changes(self, before: int, after: int) -> list[RowChange]:
        """The same row by row: what each id that differs was, and what it is."""
        there, here = self._log.at(_number(before)), self._log.at(_number(after))
        try:
            return row_changes(self._files, there, here)
        except Unclear:
            raise SubscriptionTableError(
                f"versions {before} and {after} of the subscription table {self._path} cannot be "
                "compared: one has rows without an id, or several with one id",
                path=str(self._path),
            ) from None

    def _built(self, version: Version) -> BuiltEngine:
        built = self._engines.of(version)
        if built.invalid and self._on_invalid == "raise":
            raise refusal(str(self._path), version.number, built.invalid)
        return built

    # Changing it.

    def subscribe(
        self,
        expression: Readable,
        *,
        id: str | None = None,
        owner: str | None = None,
        parameters: Mapping[str, Value] | None = None,
        replace: bool = False,
        dialect: str | None = None,
    ) -> str:
        """Add a subscription and return its id, as ``Engine.subscribe`` does."""
        id = f"s-{uuid.uuid4().hex}" if id is None else id  # nobody else makes the same one
        self.apply([Subscribe(id, expression, owner, parameters, replace, dialect)])
        return id

    def change(
        self,
        id: str,
        expression: Readable | None = None,
        *,
        parameters: Mapping[str, Value] | None = None,
        dialect: str | None = None,
    ) -> int:
        """Replace what a subscription states, or some of its parameters; the version since which
        it holds.
        """
        return self.apply([Change(id, expression, parameters, dialect)]).version

    def unsubscribe(self, id: str) -> int:
        """Remove a subscription; the version in which it is gone."""
        return self.apply([Unsubscribe(id)]).version

    def apply(
        self, operations: Iterable[Operation], *, on_refusal: OnRefusal = "raise"
    ) -> Committed:
        """Commit the net effect of a window of operations, as ``Engine.apply`` would run them.

        A window without any effect makes no version.
        """
        check_choice("on_refusal", on_refusal, ("raise", "report"))
        given = Engine.window_of(operations)
        return self._applied(lambda _: given, on_refusal)

    def unsubscribe_all(self, *, owner: str) -> Committed:
        """Remove all subscriptions of an owner, in one version."""

        def operations(seen: Version) -> list[Operation]:
            import pyarrow.compute as pc

            tables = (self._files.read(file, ["id", "owner"]) for file in seen.files)
            owned = (table.filter(pc.equal(table["owner"], owner))["id"] for table in tables)
            return [Unsubscribe(id) for ids in owned for id in dict.fromkeys(ids.to_pylist())]

        return self._applied(operations, "raise")

    def _applied(
        self, operations: Callable[[Version], Sequence[Operation]], on_refusal: OnRefusal
    ) -> Committed:
        """Commit what operations make of the version that they are decided on."""

        def plan(seen: Version) -> _Plan:
            given = operations(seen)
            found = find(self._files, seen.files, named_by(given))
            effect, report = net_effect(found, given, on_refusal, self._vocabulary)
            counts = _counts(found, effect)
            rewritten = rewriting(self._files, seen.files, found, effect)
            return _Plan(rewritten, _facts(counts), (report, counts))

        version, decided = self._commit(plan)
        assert decided.outcome is not None
        return Committed(version, *decided.outcome)

    def subscribe_many(
        self,
        records: Records,
        *,
        owner: str | None = None,
        replace: bool = False,
        dialect: str | None = None,
    ) -> int:
        """Add many subscriptions in one commit, given as to ``Engine.subscribe_many``; its version.

        They need not fit into a window, unless ids that are taken are to be replaced.
        """
        given = list(read_records(records, owner, dialect))
        if replace:
            return self.apply(replaced(each, replace=True) for each in given).version
        with reading_with(self._vocabulary):
            bulk_of(given)  # refuses what is no subscription, and ids that are given twice
        rows = {each.id: row_of_operation(each) for each in given}

        def plan(seen: Version) -> _Plan:
            found = find(self._files, seen.files, rows)
            if found.rows:
                raise duplicate(next(id for id in rows if id in found.rows))
            rewritten = rewriting(self._files, seen.files, found, rows)
            return _Plan(rewritten, _facts(_counts(found, rows)))

        return self._commit(plan)[0]

    def _commit(self, plan: Callable[[Version], _Plan]) -> tuple[int, _Plan]:
        """Decide and commit, again and again until nobody else was quicker."""
        for pause_s in _pauses():
            seen = self._log.latest()
            self._log.check_writable(seen)
            decided = plan(seen)
            removed, tables = decided.rewriting
            if not removed and not tables:
                return seen.number, decided
            if any(map(has_dialects, tables)) and not self._log.has_dialects(seen):
                self._log.add_dialects(seen)
                continue
            added = self._written(tables)
            try:
                return self._log.commit(seen, added, removed, decided.facts), decided
            except Overtaken:
                self._files.remove(added)
            except SubscriptionTableError:
                self._files.remove(added)
                raise
            time.sleep(pause_s)
        raise TableBusyError(
            f"others changed the subscription table {self._path} first, {_ATTEMPTS} times in a "
            "row; nothing was written: try again, or let fewer processes write to it",
            path=str(self._path),
        )

    def _written(self, tables: Iterable[Any]) -> list[DataFile]:
        written: list[DataFile] = []
        try:
            for table in tables:
                written += self._files.write(table)
        except BaseException:
            self._files.remove(written)
            raise
        return written

    # Keeping it in shape.

    def optimize(self) -> int:
        """Write all rows anew, in full files in the order of ids; the version since which it is so.

        Writers put small files together as they go. This is for tables to which other tools have
        added many, or whose ids come in no order at all.
        """

        def plan(seen: Version) -> _Plan:
            import pyarrow as pa

            tables = [self._files.read(file) for file in seen.files]
            whole = pa.concat_tables([table_of(()), *tables])
            return _Plan(
                Rewriting(list(seen.files), [whole] if len(whole) else []),
                {"predicast.operation": "optimize"},
            )

        return self._commit(plan)[0]

    def vacuum(
        self,
        retention_hours: int = 168,
        *,
        enforce_retention: bool = True,
        dry_run: bool = False,
    ) -> list[str]:
        """Remove files that only versions older than so many hours need; which those are.

        Such versions can then no longer be read. Less than the table's own retention, a week
        unless configured, is refused unless ``enforce_retention`` is off: somebody may be about to
        commit a file that looks like one that nobody needs.
        """
        return self._log.vacuum(retention_hours, enforce=enforce_retention, dry_run=dry_run)


def _check_installed() -> None:
    try:
        import deltalake  # noqa: F401
    except ImportError as error:
        raise SubscriptionTableError(
            "a subscription table needs the package deltalake: the extra 'table' has it"
        ) from error


def _moment(timestamp: datetime | str) -> datetime:
    if isinstance(timestamp, datetime):
        return timestamp
    try:
        return datetime.fromisoformat(timestamp)
    except (TypeError, ValueError):
        raise InvalidOptionError(
            f"timestamp is a datetime or text such as 2026-01-31T09:30:00Z, not {timestamp!r}",
            option="timestamp",
        ) from None


def _number(version: object) -> int:
    if isinstance(version, int) and not isinstance(version, bool):
        return version
    raise InvalidOptionError(f"version is a number, not {version!r}", option="version")


def _pauses() -> Iterator[float]:
    """How long to wait after each attempt that failed: at random, so that writers part."""
    for attempt in range(_ATTEMPTS):
        yield random.uniform(0, min(_LONGEST_PAUSE_S, _PAUSE_S * 2 ** min(attempt, 10)))


def _counts(found: Found, effect: Mapping[str, Row | None]) -> Counts:
    removed = sum(row is None for row in effect.values())
    changed = sum(row is not None and id in found.rows for id, row in effect.items())
    return Counts(len(effect) - removed - changed, changed, removed)


def _facts(counts: Counts) -> dict[str, Any]:
    """What the history says of a commit."""
    named = {f"predicast.{name}": count for name, count in counts._asdict().items()}
    return {"predicast.operation": "apply", **named}
