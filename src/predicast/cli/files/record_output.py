"""Subscriptions written to a file or standard output, in any form in which they can be read."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

import msgspec
import typer

from predicast.cli.files.output import result_stream, sequential
from predicast.cli.files.source import SUBSCRIPTION_FORMS, Form

if TYPE_CHECKING:
    import pyarrow as pa

FIELDS: Final = ("id", "owner", "dialect", "expression")
Records: TypeAlias = Sequence[Mapping[str, str]]


def form_of_output(stated: str | None, target: str | None) -> Form:
    """The form that was stated, or that the file's suffix says; else JSON Lines."""
    if stated is not None:
        return Form(stated)
    if target is None:
        return Form.JSON_LINES
    suffixes = [suffix.lower() for suffix in Path(target).suffixes if suffix.lower() != ".gz"]
    form = SUBSCRIPTION_FORMS.get(suffixes[-1]) if suffixes else None
    if form is None:
        known = ", ".join(SUBSCRIPTION_FORMS)
        raise typer.BadParameter(
            f"{target} ends in none of {known}; say --format", param_hint="'--output'"
        )
    return form


def write_records(records: Records, target: str | None, form: Form) -> None:
    """Write all of them, or nothing."""
    with result_stream(target) as stream:
        _WRITERS[form](records, stream)
        stream.flush()


def _json_lines(records: Records, stream: BinaryIO) -> None:
    stream.writelines(msgspec.json.encode(record) + b"\n" for record in records)


def _cells(delimiter: str) -> Callable[[Records, BinaryIO], None]:
    def write(records: Records, stream: BinaryIO) -> None:
        text = io.StringIO()
        rows = csv.DictWriter(
            text, FIELDS, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC
        )
        rows.writeheader()
        rows.writerows(records)
        stream.write(text.getvalue().encode())

    return write


def _parquet(records: Records, stream: BinaryIO) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_table(records), sequential(stream))


def _arrow(records: Records, stream: BinaryIO) -> None:
    import pyarrow as pa

    table = _table(records)
    with pa.ipc.new_file(sequential(stream), table.schema) as file:
        file.write_table(table)


def _table(records: Records) -> pa.Table:
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in FIELDS])
    return pa.Table.from_pylist([*records], schema)


def _yaml(records: Records, stream: BinaryIO) -> None:
    import yaml

    text = yaml.safe_dump([dict(each) for each in records], sort_keys=False, allow_unicode=True)
    stream.write(text.encode())


_WRITERS: Final[dict[Form, Callable[[Records, BinaryIO], None]]] = {
    Form.JSON_LINES: _json_lines,
    Form.CSV: _cells(","),
    Form.TSV: _cells("\t"),
    Form.PARQUET: _parquet,
    Form.ARROW: _arrow,
    Form.YAML: _yaml,
}
