"""``matches``: the subscriptions that events match, as one more column of any query.

``match`` is a ``mapInArrow``, through which all kept columns travel to Python and back. Here only
what subscriptions look at does; the rest of a wide frame stays where it is. And a column can stand
where a DataFrame cannot be made of another: in SQL, in the functions of Declarative Pipelines.

The columns travel as the fields of one struct, because an Arrow function is told values but not the
names of its arguments, and a struct brings its names along. What they are is known only when the
query runs: a name that no column provides is found out then, not before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from predicast.engine.asking import OnInvalid
from predicast.errors import InvalidOptionError
from predicast.matching.batches.interval_columns import IntervalColumns
from predicast.spark.compiled import AnySubscriptions, CompiledSubscriptions
from predicast.spark.compiled import compile as compiled_from
from predicast.spark.compiled_patterns import CompiledPatterns
from predicast.spark.matching_graphs import COLUMN, checked_format, refuse_absent
from predicast.spark.options import check_choice, refuse_options
from predicast.spark.portable import portable
from predicast.spark.schemas import Schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql._typing import UserDefinedFunctionLike
    from pyspark.sql.types import StructType
    from pyspark.sql.udtf import UserDefinedTableFunction

    from predicast.spark.graph_workers import MatchingTexts
    from predicast.spark.workers import MatchingColumns


def matches(
    *columns: Column | str,
    subscriptions: AnySubscriptions,
    intervals: IntervalColumns | None = None,
    on_invalid: OnInvalid = "raise",
    format: str | None = None,
) -> Column:
    """The sorted ids of the subscriptions that each row matches, as an ``array<string>``.

    ``columns`` are those that subscriptions look at: by name (``"price"``, ``"order.total"``) or as
    expressions under an alias (``(col("cents") / 100).alias("price")``). Without any they are found
    by the attributes' names, unless an ontology lets several give one a value. ``intervals`` and
    ``on_invalid`` are as in ``match``; for subscriptions that ask ``now()`` there is ``match``
    alone. For SQL there is ``matches_udf``.

    Of graph patterns (``CompiledPatterns``, or a ``GraphEngine``) the one column is that of the
    events' texts, ``"graph"`` unless given; ``format`` is as in ``match``.
    """
    from pyspark.sql.functions import col, lit, struct

    compiled = compiled_from(subscriptions)
    if isinstance(compiled, CompiledPatterns):
        function = matches_udf(compiled, intervals=intervals, on_invalid=on_invalid, format=format)
        return function(_only_column(columns))
    if compiled.given_by and not columns:
        name, givers = next(iter(compiled.given_by.items()))
        raise InvalidOptionError(
            f"several columns may give {name!r} a value, such as {', '.join(givers[:3])}; name "
            "those that there are: matches('price', ..., subscriptions=...)",
            option="columns",
        )
    given: list[Any] = list(columns or _read(compiled, intervals or {}))
    # A struct would call the field of a field by its last name alone.
    named = [col(each).alias(each) if _is_name(each) else each for each in given]
    # Without any column a batch would have no rows.
    fields = named or [lit(True).alias("")]
    options = {"intervals": intervals, "on_invalid": on_invalid, "format": format}
    return matches_udf(compiled, **options)(struct(*fields))  # type: ignore[arg-type]


def matches_udf(
    subscriptions: AnySubscriptions,
    *,
    intervals: IntervalColumns | None = None,
    on_invalid: OnInvalid = "raise",
    format: str | None = None,
) -> UserDefinedFunctionLike:
    """The same as a function of one struct, to be registered and called from SQL.

    ``spark.udf.register("matches", matches_udf(subscriptions))``, then
    ``SELECT *, matches(struct(price, symbol)) FROM trades``. Of graph patterns it is a function of
    a text: ``matches(graph)``.
    """
    check_choice("on_invalid", on_invalid, ("raise", "absent", "skip"))
    compiled = compiled_from(subscriptions)
    if isinstance(compiled, CompiledPatterns):
        refuse_options("events are graphs", intervals=intervals)
        return _function(_matching_texts(compiled, on_invalid, format))
    refuse_options("these are not graph patterns", format=format)
    return _function(_matching_columns(compiled, intervals, on_invalid))


def match_udtf(
    subscriptions: AnySubscriptions,
    columns: DataFrame | StructType | str,
    *,
    intervals: IntervalColumns | None = None,
    on_invalid: OnInvalid = "raise",
) -> UserDefinedTableFunction:
    """``match`` as a function of a table, to be registered and called from SQL.

    ``spark.udtf.register("match", match_udtf(subscriptions, "trade int, price double"))``, then
    ``SELECT * FROM match(TABLE(trades))``: a row per match with these columns and
    ``subscription``. ``columns`` are a schema, as text or as Spark has it, or a frame that has it.
    ``intervals`` and ``on_invalid`` are as in ``match``.
    """
    from pyspark.sql.types import StructType

    from predicast.spark.table_function import MatchingRows, table_function

    check_choice("on_invalid", on_invalid, ("raise", "absent", "skip"))
    compiled = compiled_from(subscriptions)
    if isinstance(compiled, CompiledPatterns):
        raise InvalidOptionError(
            "events that are graphs are matched by match and matches", option="subscriptions"
        )
    given = columns if isinstance(columns, str | StructType) else columns.schema
    kept = StructType.fromDDL(given) if isinstance(given, str) else given
    if not isinstance(kept, StructType):
        raise InvalidOptionError(
            f"columns are a schema, such as 'trade int, price double', not {columns!r}",
            option="columns",
        )
    Schema(kept).check_free(range(len(kept.fields)), "subscription")
    matching = _matching_columns(compiled, intervals, on_invalid)
    return table_function(MatchingRows(matching, tuple(kept.fieldNames())), kept)


def _matching_texts(
    compiled: CompiledPatterns, on_invalid: OnInvalid, format: str | None
) -> MatchingTexts:
    from predicast.spark.graph_answers import AskedOfGraphs
    from predicast.spark.graph_workers import MatchingTexts

    refuse_absent(on_invalid)
    skips = on_invalid == "skip"
    asked = AskedOfGraphs(checked_format(format), compiled.validate, skips)
    return MatchingTexts(compiled.image, asked)


def _matching_columns(
    compiled: CompiledSubscriptions, intervals: IntervalColumns | None, on_invalid: OnInvalid
) -> MatchingColumns:
    from predicast.spark.answers import Asked
    from predicast.spark.workers import MatchingColumns

    if compiled.asks_for_now:
        raise InvalidOptionError(
            "a subscription asks now(), and a column cannot tell when its query began; use "
            "match, or compare with a column of times",
            option="subscriptions",
        )
    if compiled.placement.shards:
        raise InvalidOptionError(
            "a column is computed where its row is, and these subscriptions are in shards; use "
            "match, or compile with strategy='replicate'",
            option="subscriptions",
        )
    asked = Asked(dict(intervals or {}), on_invalid)
    given_by = {name: compiled.given_by.get(name, (name,)) for name in compiled.attributes}
    return MatchingColumns(compiled.image, given_by, asked)


def _function(task: MatchingColumns | MatchingTexts) -> UserDefinedFunctionLike:
    import pyarrow as pa
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]
    from pyspark.sql.types import ArrayType, StringType

    run = portable(task)
    # Spark reads from the types that whole batches go in, and that they may come out in pieces.
    run.__name__ = "matches"  # what plans call it
    run.__annotations__ = dict.fromkeys(("batches", "return"), Iterator[pa.Array])
    function: UserDefinedFunctionLike = arrow_udf(run, ArrayType(StringType(), containsNull=False))
    return function


def _read(compiled: CompiledSubscriptions, intervals: IntervalColumns) -> list[str]:
    """The columns that provide the attributes, and the ends of those that are intervals."""
    given = [intervals[name] for name in compiled.attributes if name in intervals]
    ends = [end for each in given for end in ([each] if isinstance(each, str) else each)]
    points = [name for name in compiled.attributes if name not in intervals]
    return list(dict.fromkeys([*points, *ends]))


def _only_column(columns: Sequence[Column | str]) -> Column | str:
    """The column of the events' texts."""
    if len(columns) > 1:
        raise InvalidOptionError(
            f"events that are graphs are the texts of one column, and {len(columns)} are given",
            option="columns",
        )
    return columns[0] if columns else COLUMN


def _is_name(column: Column | str) -> bool:
    return isinstance(column, str) and column != "*"
