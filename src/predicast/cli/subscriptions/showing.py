"""What these commands print: a table on a terminal, JSON Lines in a pipe or where asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import typer

from predicast.cli.terminal import output, visible

if TYPE_CHECKING:
    from predicast.spark.subscription_table.rows import Row

_JSON_FORM: Final = "{"  # how an expression that is no text begins


def show(
    documents: Iterable[dict[str, Any]],
    columns: Sequence[str],
    cells: Callable[[dict[str, Any]], Sequence[str]],
    *,
    as_json: bool,
    summary: str,
) -> None:
    """Print documents, one per line or row."""
    if as_json or not sys.stdout.isatty():
        import msgspec

        for document in documents:
            typer.echo(msgspec.json.encode(document).decode())
        return
    from rich import box
    from rich.table import Column, Table

    table = Table(*(Column(name, overflow="fold") for name in columns), box=box.SIMPLE_HEAD)
    for document in documents:
        table.add_row(*map(visible, cells(document)))
    console = output()
    if table.row_count:
        console.print(table)
    console.print(summary, soft_wrap=True)


def show_commit(version: int, counts: dict[str, int], *, as_json: bool) -> None:
    """Print what a change has made of the table."""
    if as_json or not sys.stdout.isatty():
        import msgspec

        typer.echo(msgspec.json.encode({"version": version, **counts}).decode())
        return
    done = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    output().print(f"Version {version}: {done or 'nothing to change'}.", soft_wrap=True)


def document_of(row: Row) -> dict[str, Any]:
    """A row as the files have it that ``predicast match`` reads."""
    import msgspec

    document: dict[str, Any] = {"id": row.id}
    if row.owner is not None:
        document["owner"] = row.owner
    if row.dialect is not None:
        document["dialect"] = row.dialect
    is_text = row.expression is None or not row.expression.startswith(_JSON_FORM)
    if row.expression is not None and row.dialect is None and not is_text:
        document["subscription"] = msgspec.Raw(row.expression.encode())
    else:
        document["expression"] = row.expression
    if row.parameters is not None:
        document["parameters"] = msgspec.Raw(row.parameters.encode())
    return document


def shown_expression(row: Row | None) -> str:
    """What a row states, with the values of its parameters."""
    if row is None:
        return ""
    said = row.expression or ""
    if row.dialect is not None:
        said = f"{row.dialect}: {said}"
    return said if row.parameters is None else f"{said}  {row.parameters}"
