"""Tables, snapshots and files that cannot be used as they are."""

from __future__ import annotations

from predicast.errors.root import PredicastError


class TableError(PredicastError):
    """A table, or a column of one, that cannot be used as it is."""


class UnsupportedTableError(TableError, TypeError):
    """An argument that is no table, or one that Arrow cannot read."""

    type: str | None


class UnknownColumnError(TableError, ValueError):
    """A name that no column has."""

    column: str | None
    subscription: str | None
    suggestion: str | None


class ColumnClashError(TableError, ValueError):
    """A name that two columns have, or that an added column would have too."""

    column: str | None
    subscription: str | None


class UnsupportedColumnError(TableError, ValueError):
    """A column whose type has no counterpart among the model's values."""

    column: str | None
    subscription: str | None
    type: str | None


class SnapshotError(PredicastError):
    """A saved engine that cannot be read, or one that cannot be saved."""

    path: str | None


class DamagedSnapshotError(SnapshotError):
    """The file is truncated, altered, or not a snapshot at all."""


class SnapshotNotSavedError(SnapshotError, OSError):
    """The file could not be written, or not read back; what was there before is untouched."""

    errno: int | None


class SnapshotVersionError(SnapshotError):
    """The file was written by a Predicast whose format is another."""

    version: int | None


class InputFileError(PredicastError, ValueError):
    """A file given on the command line that cannot be read; ``line`` counts from 1."""

    path: str | None
    line: int | None
