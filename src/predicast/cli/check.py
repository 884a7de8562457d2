"""``predicast check``: can these subscriptions be read?"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from predicast.cli.graphs import GraphOptions, Ontologies, Validate
from predicast.cli.options import (
    DialectOption,
    ExpressionField,
    IdField,
    Subscriptions,
    SubscriptionsForm,
)
from predicast.cli.terminal import output, print_error, progress

SOME_INVALID: Final = 1


def check(
    subscriptions: Subscriptions,
    *,
    ontology: Ontologies = None,
    subscriptions_format: SubscriptionsForm = None,
    dialect: DialectOption = None,
    id_field: IdField = "id",
    expression: ExpressionField = "expression",
    limit: Annotated[
        int, typer.Option("--limit", min=1, metavar="N", help="Spell out the first N mistakes.")
    ] = 20,
) -> None:
    """Read subscriptions, and say of each that is invalid what is wrong with it and where.

    The exit code is 0 if all are valid and 1 if some are not.
    """
    from predicast.cli.files.subscriptions import Fields, load, subscriptions_in
    from predicast.engine import Engine

    source = subscriptions_in(subscriptions, subscriptions_format, dialect)
    options = GraphOptions.of(ontology, False, None, Validate.OFF)
    engine = Engine(ontology=options.vocabulary())
    with progress("Reading subscriptions", source.size()) as report:
        fields = Fields(id_field, expression)
        invalid = load(engine, source, fields, drop_invalid=True, report=report)
    for error in invalid[:limit]:
        print_error(error.message)
    if len(invalid) > limit:
        print_error(f"… and {len(invalid) - limit:,} more")
    valid = f"{len(engine):,} valid subscription" + ("" if len(engine) == 1 else "s")
    output().print(f"{valid}, {len(invalid):,} invalid.", soft_wrap=True)
    if invalid:
        raise typer.Exit(SOME_INVALID)
