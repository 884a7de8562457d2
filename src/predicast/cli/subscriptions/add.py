"""``predicast subscriptions add``: one more subscription, or a file of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from predicast.cli.options import DialectOption, ExpressionField, IdField
from predicast.cli.subscriptions.options import (
    AsJson,
    Expression,
    FileForm,
    FromFile,
    Owner,
    Parameters,
    TablePath,
    check_one_way,
    opened,
    parameter_values,
)
from predicast.cli.subscriptions.showing import show_commit

if TYPE_CHECKING:
    from predicast.cli.files.source import Source
    from predicast.cli.files.subscriptions import Fields
    from predicast.engine import Subscribe


def add(  # noqa: PLR0913  # an option is a parameter
    table: TablePath,
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Its id.", show_default=False)
    ] = None,
    expression: Expression = None,
    *,
    owner: Owner = None,
    parameter: Parameters = None,
    file: FromFile = None,
    subscriptions_format: FileForm = None,
    dialect: DialectOption = None,
    id_field: IdField = "id",
    expression_field: ExpressionField = "expression",
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace those whose ids are taken.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a subscription to a table, or a file of them in one version: all or none.

    A table is made where there is none.
    """
    from dataclasses import replace as replaced

    from predicast.cli.files.subscriptions import Fields, subscriptions_in
    from predicast.engine import Subscribe

    check_one_way(alone=id is not None or bool(parameter), file=file, what="ID and EXPRESSION")
    if file is not None:
        source = subscriptions_in(file, subscriptions_format, dialect)
        given = _from_file(source, Fields(id_field, expression_field), owner)
    else:
        if id is None or expression is None:
            raise typer.BadParameter("say what it states", param_hint="'EXPRESSION'")
        given = [Subscribe(id, expression, owner, parameter_values(parameter), dialect=dialect)]
    into = opened(table, create=True)
    if replace:
        committed = into.apply(replaced(each, replace=True) for each in given)
        show_commit(committed.version, committed.counts._asdict(), as_json=as_json)
    else:
        version = into.subscribe_many(given)
        show_commit(version, {"subscribed": len(given)}, as_json=as_json)


def _from_file(source: Source, fields: Fields, owner: str | None) -> list[Subscribe]:
    from dataclasses import replace

    from predicast.cli.files.subscriptions import subscribes
    from predicast.cli.terminal import progress

    with progress("Reading subscriptions", source.size()) as report:
        given = list(subscribes(source, fields, report))
    if owner is None:
        return given
    return [each if each.owner else replace(each, owner=owner) for each in given]
