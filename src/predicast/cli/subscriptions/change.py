"""``predicast subscriptions change``: what subscriptions state from now on."""

from __future__ import annotations

from typing import Annotated

import typer

from predicast.cli.options import DialectOption, ExpressionField, IdField
from predicast.cli.subscriptions.options import (
    AsJson,
    Expression,
    FileForm,
    FromFile,
    Parameters,
    TablePath,
    check_one_way,
    opened,
    parameter_values,
)
from predicast.cli.subscriptions.showing import show_commit


def change(
    table: TablePath,
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Its id.", show_default=False)
    ] = None,
    expression: Expression = None,
    *,
    parameter: Parameters = None,
    file: FromFile = None,
    subscriptions_format: FileForm = None,
    dialect: DialectOption = None,
    id_field: IdField = "id",
    expression_field: ExpressionField = "expression",
    as_json: AsJson = False,
) -> None:
    """Change what a subscription states, or its parameters; or those of a file, all or none.

    Owners stay. Without an expression the text stays as well, and the parameters that are given
    take new values.
    """
    from predicast.engine import Change

    check_one_way(
        alone=id is not None or bool(parameter), file=file, what="ID and EXPRESSION or --parameter"
    )
    if file is not None:
        from predicast.cli.files.subscriptions import Fields, subscribes, subscriptions_in

        source = subscriptions_in(file, subscriptions_format, dialect)
        read = subscribes(source, Fields(id_field, expression_field))
        given = [Change(each.id, each.expression, each.parameters, each.dialect) for each in read]
    else:
        if id is None:
            raise typer.BadParameter("say which", param_hint="'ID'")
        given = [Change(id, expression, parameter_values(parameter), dialect)]
    committed = opened(table).apply(given)
    show_commit(committed.version, committed.counts._asdict(), as_json=as_json)
