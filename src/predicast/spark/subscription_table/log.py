"""The log of a subscription table: which files make up each version, and how one follows another.

The log is Delta Lake's, read and written by the ``deltalake`` library. A commit is made for the
version that follows the one its writer has seen, or not at all: whoever comes second learns so
(``Overtaken``), looks again, and decides anew. That is stricter than Delta Lake asks, which lets
writers that only append overtake each other: two could then subscribe under one id.

Whether a commit was made is read from the log and not concluded from an error: each one carries a
token. So one that was made and then failed, in tidying up on a full disk, counts as made.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from predicast.errors import (
    DamagedTableError,
    NotASubscriptionTableError,
    SubscriptionTableError,
    UnknownVersionError,
    suggest,
)
from predicast.spark.subscription_table.files import DataFile, not_written, statistics
from predicast.spark.subscription_table.rows import COLUMNS, DIALECT, schema

if TYPE_CHECKING:
    from deltalake import DeltaTable

_TOKEN: Final = "predicast.commit"
_READER: Final = 1  # the protocol's version for readers: files are what they seem, and no more
_WRITER: Final = 2  # and the one for writers that this program keeps to
_CHECKPOINT_EVERY: Final = 20  # commits; a reader begins with the latest checkpoint


class Version(NamedTuple):
    """One version of a table: the files that are in force."""

    number: int
    table_id: str  # of the table at this path: another one may take its place
    files: tuple[DataFile, ...]
    opened: DeltaTable  # as it was then; nobody moves it to another version


class Commit(NamedTuple):
    """An entry of the table's history."""

    version: int
    at: datetime
    operation: str
    facts: dict[str, Any]


class Overtaken(Exception):  # noqa: N818  # it is no error: the writer tries again
    """Somebody else has made the next version."""


class TableLog:
    """The versions of the table in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: int | None = None  # a version that there is

    # Reading.

    def exists(self) -> bool:
        """Whether there is a table."""
        from deltalake import DeltaTable

        return bool(DeltaTable.is_deltatable(str(self.folder)))

    def latest(self) -> Version:
        """The latest version, as the log has it now."""
        return self._version(self._opened())

    def latest_number(self) -> int:
        """The same, less the files: entries of the log follow each other without a gap."""
        number = self._known
        if number is None or not self._log_file(number).exists():  # removed in time, or replaced
            number = int(self._opened().version())
        while self._log_file(number + 1).exists():
            number += 1
        self._known = number
        return number

    def at(self, number: int) -> Version:
        """An earlier version."""
        if number < 0 or number > (latest := self.latest_number()):
            raise self.unknown(number, latest if number >= 0 else None)
        return self._version(self._opened(number))

    def unknown(self, number: int, latest: int | None = None) -> UnknownVersionError:
        """The error of a version that is not there."""
        latest = self.latest_number() if latest is None else latest
        return UnknownVersionError(
            f"the subscription table {self.folder} has no version {number}; its versions are "
            f"{self._first_number()} to {latest}",
            path=str(self.folder),
            version=number,
        )

    def number_at(self, moment: datetime) -> int:
        """The version that was the latest at a moment."""
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        first, last = self._first_number(), self.latest_number()
        begin, end = first, last + 1
        while begin < end:  # the first version that was made later
            middle = (begin + end) // 2
            if self.commit_of(middle).at <= moment:
                begin = middle + 1
            else:
                end = middle
        if begin == first:
            since = self.commit_of(first).at.isoformat()
            raise UnknownVersionError(
                f"the subscription table {self.folder} had no version at {moment.isoformat()}; "
                f"version {first} is of {since}",
                path=str(self.folder),
            )
        return begin - 1

    def commits(self, limit: int | None = None) -> Iterator[Commit]:
        """What was done to the table, the latest first."""
        last = self.latest_number()
        first = self._first_number()
        if limit is not None:
            first = max(first, last + 1 - limit)
        for number in range(last, first - 1, -1):
            yield self.commit_of(number)

    def commit_of(self, number: int) -> Commit:
        """What made a version."""
        info = self._info(number)
        if info is None:
            raise self._damaged(f"has no entry of version {number}", self._log_file(number).name)
        facts = {
            name.removeprefix("predicast."): value
            for name, value in sorted(info.items())
            if name.startswith("predicast.") and name != _TOKEN
        }
        at = datetime.fromtimestamp(int(info.get("timestamp", 0)) / 1000, UTC)
        operation = facts.pop("operation", None) or str(info.get("operation", "")).lower()
        return Commit(number, at, operation, facts)

    def _info(self, number: int) -> dict[str, Any] | None:
        """What the log says of a commit, or ``None`` if there is no such commit."""
        try:
            with self._log_file(number).open(encoding="utf-8") as lines:
                for line in lines:
                    action = json.loads(line)
                    if "commitInfo" in action:
                        found: dict[str, Any] = action["commitInfo"]
                        return found
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise self._damaged(f"cannot be read: {error}", self._log_file(number).name) from error
        return {}

    def _log_file(self, number: int) -> Path:
        return self.folder / "_delta_log" / f"{number:020}.json"

    def _first_number(self) -> int:
        """The earliest version that the log has an entry of; old ones are removed in time."""
        names = (each.stem for each in (self.folder / "_delta_log").glob("*.json"))
        return min((int(name) for name in names if name.isdigit()), default=0)

    def _opened(self, number: int | None = None) -> DeltaTable:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError, TableNotFoundError

        try:
            table = DeltaTable(str(self.folder), version=number)
        except DeltaError as error:
            if number is not None and not self._log_file(number).exists():  # removed in time
                raise self.unknown(number) from error
            if not isinstance(error, TableNotFoundError):
                raise self._damaged(f"cannot be read: {error}", "_delta_log") from error
            raise NotASubscriptionTableError(
                f"there is no table in {self.folder}; SubscriptionTable(path), or the command "
                "predicast subscriptions add, makes one",
                path=str(self.folder),
            ) from error
        self._check_entries(int(table.version()))
        self._check(table)
        return table

    def _check_entries(self, number: int) -> None:
        """Refuse an entry that is empty: its changes are lost, which the library does not mind."""
        with os.scandir(self.folder / "_delta_log") as entries:
            for entry in entries:
                stem, _, suffix = entry.name.partition(".")
                if suffix != "json" or not stem.isdigit() or int(stem) > number:
                    continue
                if entry.stat().st_size == 0:
                    raise self._damaged(
                        f"has an empty entry of version {int(stem)}; restore it from a copy",
                        entry.name,
                    )

    def _check(self, table: DeltaTable) -> None:
        """Refuse a table that is none of subscriptions, or that cannot be read file by file."""
        kinds = {field.name: field.type for field in table.schema().fields}
        for column in COLUMNS:
            if column not in kinds and column == DIALECT:
                continue  # of before there were any
            if column not in kinds:
                close = suggest(column, kinds)
                hint = f"; is it {close!r}?" if close else ""
                raise self._no_such_table(f"it has no column {column!r}{hint}", column)
            if getattr(kinds[column], "type", None) != "string":
                raise self._no_such_table(f"its column {column!r} does not hold strings", column)
        protocol = table.protocol()
        if protocol.min_reader_version > _READER or table.metadata().partition_columns:
            raise self._no_such_table(
                "it has partitions, deletion vectors, renamed columns or another feature that "
                "takes more than its files to be read"
            )

    def _no_such_table(self, why: str, column: str | None = None) -> NotASubscriptionTableError:
        return NotASubscriptionTableError(
            f"the table in {self.folder} cannot hold subscriptions: {why}. "
            f"Its columns are the strings {', '.join(COLUMNS)}",
            path=str(self.folder),
            column=column,
        )

    def _damaged(self, why: str, file: str) -> DamagedTableError:
        return DamagedTableError(
            f"the log of the subscription table {self.folder} {why}",
            path=str(self.folder),
            file=file,
        )

    def _version(self, table: DeltaTable) -> Version:
        import pyarrow as pa

        listed = pa.table(table.get_add_actions(flatten=True))
        columns = ("path", "size_bytes", "num_records", "min.id", "max.id")
        values = [
            listed[name].to_pylist() if name in listed.column_names else [None] * len(listed)
            for name in columns
        ]
        files = tuple(starmap(DataFile, zip(*values, strict=True)))
        return Version(int(table.version()), str(table.metadata().id), files, table)

    # Writing.

    def create(self) -> None:
        """Make an empty table, unless there is one."""
        from deltalake import CommitProperties, DeltaTable
        from deltalake.exceptions import DeltaError

        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            DeltaTable.create(
                str(self.folder),
                schema(),
                mode="ignore",
                name="subscriptions",
                description="Standing subscriptions of Predicast: one row each",
                # Whoever comes second would otherwise make it once more, as a version of its own.
                commit_properties=CommitProperties(max_commit_retries=0),
            )
        except DeltaError as error:
            if not self.exists():  # nor has anybody else made it meanwhile
                raise not_written(self.folder, OSError(str(error))) from error

    def check_writable(self, seen: Version) -> None:
        """Refuse a table that this program would write wrongly."""
        table = seen.opened
        if table.protocol().min_writer_version > _WRITER:
            raise self._no_such_table("it has features that only other writers know")
        for field in table.schema().fields:
            if field.name not in COLUMNS:
                raise self._no_such_table(
                    f"its column {field.name!r} would be lost in a change", field.name
                )

    def has_dialects(self, seen: Version) -> bool:
        """Whether a row of the table may be in a dialect."""
        return any(field.name == DIALECT for field in seen.opened.schema().fields)

    def add_dialects(self, seen: Version) -> None:
        """Make a version of a table of before there were any whose rows may be in a dialect."""
        from deltalake import CommitProperties, Field
        from deltalake.exceptions import DeltaError
        from deltalake.schema import PrimitiveType

        facts = {"predicast.operation": "add a column of dialects"}
        try:
            seen.opened.alter.add_columns(
                Field(DIALECT, PrimitiveType("string")),
                commit_properties=CommitProperties(custom_metadata=facts, max_commit_retries=0),
            )
        except DeltaError as error:
            if not self.has_dialects(self.latest()):  # nor has anybody else made it meanwhile
                raise not_written(self.folder, OSError(str(error))) from error

    def commit(
        self,
        seen: Version,
        added: Sequence[DataFile],
        removed: Sequence[DataFile],
        facts: dict[str, Any],
        *,
        changes_rows: bool = True,
    ) -> int:
        """Make the version after the one that was seen, and give its number; or ``Overtaken``."""
        number, token = seen.number + 1, uuid.uuid4().hex
        try:
            self._commit(seen, added, removed, {**facts, _TOKEN: token}, changes_rows)
        except BaseException as error:
            info = self._info(number)
            if info is None:
                raise self._failure(error) from error
            if info.get(_TOKEN) != token:
                raise Overtaken from error
            if not isinstance(error, Exception):
                raise  # the commit stands, and so does the interruption
        self._put_on_disk(number)
        if number % _CHECKPOINT_EVERY == 0:
            self._checkpoint()
        return number

    def _failure(self, error: BaseException) -> BaseException:
        from deltalake.exceptions import DeltaError

        if not isinstance(error, OSError | DeltaError):
            return error
        if isinstance(error, OSError):
            return not_written(self.folder, error)
        return not_written(self.folder, OSError(f"the commit failed: {error}"))

    def _commit(
        self,
        seen: Version,
        added: Sequence[DataFile],
        removed: Sequence[DataFile],
        facts: dict[str, Any],
        changes_rows: bool,
    ) -> None:
        from deltalake import CommitProperties, PostCommitHookProperties
        from deltalake.transaction import AddAction, RemoveAction

        now, table = time.time_ns() // 1_000_000, seen.opened
        actions: list[Any] = [
            AddAction(each.path, each.size, {}, now, changes_rows, statistics(each))
            for each in added
        ]
        actions += [RemoveAction(each.path, changes_rows, now, each.size) for each in removed]
        table.create_write_transaction(
            actions,
            "append",
            table.schema(),
            commit_properties=CommitProperties(custom_metadata=facts, max_commit_retries=0),
            post_commithook_properties=PostCommitHookProperties(
                create_checkpoint=False, cleanup_expired_logs=False
            ),
        )

    def _put_on_disk(self, number: int) -> None:
        """Have the commit outlive a power failure, where the system can promise that."""
        path = self._log_file(number)
        for each in (path, path.parent, self.folder):
            with suppress(OSError):  # Windows cannot with a folder, nor can every file system
                descriptor = os.open(each, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def _checkpoint(self) -> None:
        """Spare readers the entries up to here; without, they read more of them, no less."""
        from deltalake.exceptions import DeltaError

        with suppress(DeltaError, OSError):
            self._opened().create_checkpoint()

    def vacuum(self, retention_hours: int, *, enforce: bool, dry_run: bool) -> list[str]:
        """Remove the files that only versions before that many hours need; which they are."""
        with self._translated():
            table = self._opened()
            removed: list[str] = table.vacuum(
                retention_hours,
                dry_run=dry_run,
                enforce_retention_duration=enforce,
                full=True,
            )
        return removed

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from deltalake.exceptions import DeltaError

        try:
            yield
        except DeltaError as error:
            raise SubscriptionTableError(
                f"the subscription table {self.folder}: {error}", path=str(self.folder)
            ) from error
