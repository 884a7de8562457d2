"""Names and types of columns: what is kept, what is found, and what is refused before a job."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from predicast import spark as ps
from predicast.errors import (
    ColumnClashError,
    InvalidOptionError,
    UnknownColumnError,
    UnsupportedColumnError,
    UnsupportedTableError,
)

EVERY_TYPE = """
    SELECT 1 AS `with space`, 2L AS `with.dot`, CAST(3 AS TINYINT) AS tiny, CAST(1.5 AS FLOAT) AS f,
        CAST(1.5 AS DECIMAL(20, 3)) AS price, array(1, NULL) AS items, map('a', 1) AS map,
        TIMESTAMP '2024-01-01 00:00:00' AS ts, TIMESTAMP_NTZ '2024-01-01 00:00:00' AS tn,
        DATE '2024-01-01' AS day, X'00ff' AS raw, INTERVAL '1' DAY AS span, NULL AS nothing,
        named_struct('a', 1, 'b.c', named_struct('m', TIMESTAMP '2024-01-01 00:00:00')) AS nested,
        'x' COLLATE UNICODE_CI AS collated, if(id = 0, 'y', NULL) AS maybe, 'z' AS s, 'z' AS s
    FROM range(2)
"""


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [(1, 5.0, "IBM", (1.5, "x")), (2, 15.0, "XYZ", None)],
        "event int, price double, symbol string, o struct<total: double, `q.r`: string>",
    )


@pytest.mark.parametrize("output", ["rows", "array"])
def test_types_names_and_nullability_are_kept(spark: SparkSession, output: Any) -> None:
    events = spark.sql(EVERY_TYPE)
    result = ps.match(
        events, {"a": "tiny = 3 AND with.dot = 2", "b": "`with space` = 1"}, output=output
    )
    assert result.schema.fields[:-1] == events.schema.fields
    assert result.schema.fields[-1].nullable is False
    rows = {tuple(map(repr, row[:-1])) for row in result.collect()}
    assert rows == {tuple(map(repr, row)) for row in events.collect()}


def test_events_with_plain_names_are_sent_as_they_are(
    events: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renamed(*_: object) -> None:
        raise AssertionError("of a thousand columns that is two thousand calls")

    monkeypatch.setattr(type(events), "toDF", renamed)
    result = ps.match(events, {"a": "price < 9 AND o.total > 1"})
    assert result.columns == [*events.columns, "subscription"]
    assert [(row.event, row.o.total, row.subscription) for row in result.collect()] == [
        (1, 1.5, "a")
    ]


@pytest.mark.parametrize("strategy", ["replicate", ps.Partition(2)])
def test_names_that_are_used_on_the_way(spark: SparkSession, strategy: Any) -> None:
    events = spark.sql("SELECT 1 AS Matched, 2 AS number, 3 AS shard, 4 AS value, 5 AS `select`")
    compiled = ps.compile(
        {"a": "Matched = 1", "b": "value = 4", "c": "shard = 4"}, strategy=strategy
    )
    result = ps.match(events, compiled, output="array", how="left")
    assert result.columns == [*events.columns, "subscriptions"]
    assert [tuple(row) for row in result.collect()] == [(1, 2, 3, 4, 5, ["a", "b"])]
    plain = events.selectExpr("Matched AS `order`", "shard AS `select`", "value AS v")
    compiled = ps.compile({"a": "order = 1", "b": "v = 4", "c": "v = 3"}, strategy=strategy)
    result = ps.match(plain, compiled, output="array", how="left")
    assert [row.asDict() for row in result.collect()] == [
        {"order": 1, "select": 3, "v": 4, "subscriptions": ["a", "b"]}
    ]


def test_instants_are_instants_and_wall_clocks_are_utc(spark: SparkSession) -> None:
    # The session's zone is UTC+05:30: that is when its midnight is.
    events = spark.sql(
        "SELECT TIMESTAMP '2024-01-01 00:00:00' AS ts, "
        "TIMESTAMP_NTZ '2024-01-01 00:00:00' AS tn, DATE '2024-01-01' AS day"
    )
    result = ps.match(
        events,
        {
            "instant": "ts = TIMESTAMP '2023-12-31 18:30:00Z'",
            "wall clock": "tn = TIMESTAMP '2024-01-01 00:00:00'",
            "day": "day = DATE '2024-01-01' AND day < TIMESTAMP '2024-01-01 00:00:00.000001'",
            "none": "ts = TIMESTAMP '2024-01-01 00:00:00' OR tn != TIMESTAMP '2024-01-01'",
        },
        output="array",
    )
    assert result.head()["subscriptions"] == ["day", "instant", "wall clock"]  # type: ignore[index]


def test_timestamps_of_the_sessions_zone(spark: SparkSession) -> None:
    """As Spark's own WHERE reads them."""
    test = "ts = TIMESTAMP '2024-01-01 00:00:00'"
    events = spark.sql("SELECT TIMESTAMP '2024-01-01 00:00:00' AS ts")
    assert events.where(test).count() == 1
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert ps.match(events, ps.compile({"a": test}, time_zone=zone)).count() == 1
    assert ps.match(events, ps.compile({"a": test})).count() == 0


@pytest.mark.parametrize("zone", ["GMT+8", "+05:30", "Europe/Lisbon", "UTC"])
def test_any_zone_of_the_session(spark: SparkSession, zone: str) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        events = spark.sql("SELECT TIMESTAMP '2024-07-01 00:00:00Z' AS ts")
        subscriptions = {
            "point": "ts = TIMESTAMP '2024-07-01 00:00:00Z'",
            "region": "t BETWEEN TIMESTAMP '2024-07-01' AND TIMESTAMP '2024-07-01'",
        }
        result = ps.match(events, subscriptions, intervals={"t": ("ts", "ts")}, columns=[])
        assert sorted(row.subscription for row in result.collect()) == ["point", "region"]
    finally:
        assert before is not None
        spark.conf.set("spark.sql.session.timeZone", before)


def test_only_needed_columns_are_sent(spark: SparkSession) -> None:
    # Spark cannot send a year-month interval to Python, so it would fail if it were.
    events = spark.sql(
        "SELECT 1 AS event, named_struct('n', 5, 'hidden', INTERVAL '1' MONTH) AS s, "
        "INTERVAL '1' YEAR AS hidden"
    )
    result = ps.match(events, {"a": "s.n = 5"}, columns=["event"])
    assert [tuple(row) for row in result.collect()] == [(1, "a")]
    for column in ("s", "hidden"):
        with pytest.raises(UnsupportedColumnError, match="cannot exchange") as caught:
            ps.match(events, {"a": "s.n = 5"}, columns=[column])
        assert caught.value.column == column


def test_columns_to_keep(events: DataFrame) -> None:
    everything = {"a": "TRUE"}
    assert ps.match(events, everything, columns=["symbol", "event"]).columns == [
        "symbol",
        "event",
        "subscription",
    ]
    assert ps.match(events, everything, columns=["o"], event_id="event").columns == [
        "event",
        "o",
        "subscription",
    ]
    with pytest.raises(UnknownColumnError, match="did you mean 'symbol'") as caught:
        ps.match(events, everything, columns=["symbl"])
    assert (caught.value.column, caught.value.suggestion) == ("symbl", "symbol")
    with pytest.raises(UnknownColumnError, match=r"no column 'o\.total'"):
        ps.match(events, everything, event_id="o.total", output="pairs")


def test_attributes_that_no_column_provides(events: DataFrame) -> None:
    with pytest.raises(UnknownColumnError, match=r"'o\.totl'.*did you mean 'o\.total'") as caught:
        ps.match(events, {"a": "price < 3 AND o.totl = 1"})
    assert (caught.value.column, caught.value.suggestion) == ("o.totl", "o.total")
    with pytest.raises(UnknownColumnError, match="did you mean 'price'"):
        ps.match(events, {"a": "Price < 3"})
    with pytest.raises(UnknownColumnError, match=r"'zzz'.*there are: event, price"):
        ps.match(events, {"a": "price < 3"}, intervals={"x": ("zzz", "price")})


@pytest.mark.parametrize(
    ("attribute", "hint"),
    [
        ("raw", "cast it to string"),
        ("map", "each key"),
        ("collated", "UTF8_BINARY"),
        ("span", "cast it or leave it out"),
        ("nested", r"such as nested\.a or nested\.b\.c"),
    ],
)
def test_attributes_of_unusable_type(spark: SparkSession, attribute: str, hint: str) -> None:
    with pytest.raises(UnsupportedColumnError, match=hint) as caught:
        ps.match(spark.sql(EVERY_TYPE), {"a": f"{attribute} = 1"})
    assert caught.value.column == attribute


@pytest.mark.parametrize(
    ("column", "made"),
    [
        ('parse_json(\'{"a": {"b": 1.5}}\')', r"variant_get\(v, '\$\.a\.b', 'double'\)"),
        ("map('a.b', 1.5D)", r"v\['a\.b'\]"),
    ],
)
def test_parts_of_what_has_no_fields(spark: SparkSession, column: str, made: str) -> None:
    events = spark.sql(f"SELECT {column} AS v")
    with pytest.raises(UnsupportedColumnError, match=made) as caught:
        ps.match(events, {"a": "v.a.b = 1.5"})
    assert caught.value.message.startswith("subscription 'a' looks at 'v.a.b', and 'v' is a ")
    [advice] = re.findall(r"withColumn\('v\.a\.b', expr\(\"(.*)\"\)\)", caught.value.message)
    followed = events.withColumn("v.a.b", sf.expr(advice))
    assert ps.match(followed, {"a": "v.a.b = 1.5"}, columns=[]).count() == 1


def test_a_name_that_two_columns_have(spark: SparkSession) -> None:
    for query in (
        "SELECT 1 AS x, 2 AS x",
        "SELECT 1 AS `a.b`, named_struct('b', 2) AS a",
        "SELECT named_struct('b', 2) AS a, named_struct('c', 1) AS `a.b`",
    ):
        attribute = "x" if "AS x" in query else "a.b"
        with pytest.raises(ColumnClashError) as caught:
            ps.match(spark.sql(query), {"a": f"{attribute} = 1"})
        assert caught.value.column == attribute
    with pytest.raises(ColumnClashError, match="several columns are named 'x'"):
        ps.match(spark.sql("SELECT 1 AS x, 2 AS x"), {"a": "TRUE"}, columns=["x"])


def test_a_column_called_like_the_added_one(spark: SparkSession) -> None:
    events = spark.sql("SELECT 1 AS event, 2 AS Subscription, 3 AS subscriptions")
    with pytest.raises(ColumnClashError, match="withColumnRenamed") as caught:
        ps.match(events, {"a": "TRUE"})
    assert caught.value.column == "Subscription"
    with pytest.raises(ColumnClashError, match="'subscriptions'"):
        ps.match(events, {"a": "TRUE"}, output="array")
    assert ps.match(events, {"a": "Subscription = 2"}, columns=["event"]).count() == 1
    assert ps.match(events, {"a": "Subscription = 3"}, how="anti").columns == events.columns
    renamed = events.withColumnRenamed("Subscription", "event_Subscription")
    assert ps.match(renamed, {"a": "event_Subscription = 2"}).count() == 1


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"output": "row"}, "output"),
        ({"how": "outer"}, "how"),
        ({"output": "pairs"}, "event_id"),
        ({"output": "pairs", "event_id": "event", "columns": ["price"]}, "columns"),
        ({"columns": "price"}, "columns"),
        ({"columns": [], "how": "anti"}, "columns"),
        ({"intervals": {"x": 5}}, "intervals"),
        ({"intervals": {"x": ("price",)}}, "intervals"),
    ],
)
def test_options_that_make_no_sense(
    events: DataFrame, options: dict[str, Any], option: str
) -> None:
    with pytest.raises(InvalidOptionError) as caught:
        ps.match(events, {"a": "price < 10"}, **options)
    assert caught.value.option == option


def test_ends_of_an_interval_are_of_one_kind(events: DataFrame) -> None:
    for ends in (("price", "symbol"), ("symbol", "symbol")):
        with pytest.raises(UnsupportedColumnError, match="two numbers or two timestamps"):
            ps.match(events, {"a": "x < 10"}, intervals={"x": ends})
    with pytest.raises(UnknownColumnError, match="no struct with the fields lo and hi"):
        ps.match(events, {"a": "x < 10"}, intervals={"x": "price"})


def test_events_that_are_no_frame_of_spark(events: DataFrame) -> None:
    given: list[Any] = [None, events.toPandas(), [{"price": 5.0}]]
    for wrong in given:
        with pytest.raises(UnsupportedTableError, match="events are a Spark DataFrame, not"):
            ps.match(wrong, {"a": "price < 10"})
        with pytest.raises(UnsupportedTableError, match="events are a Spark DataFrame, not"):
            ps.explain(wrong, {"a": "price < 10"}, "a")


def test_columns_are_named_not_computed(events: DataFrame) -> None:
    with pytest.raises(InvalidOptionError, match="columns is a list of names") as caught:
        ps.match(events, {"a": "price < 10"}, columns=[events["price"]])  # type: ignore[list-item]
    assert caught.value.option == "columns"


def test_fields_that_differ_in_case_alone(spark: SparkSession) -> None:
    events = spark.sql(
        "SELECT 1 AS event, named_struct('a', 1, 'A', 2, 'deep', named_struct('b', 3, 'B', 4)) AS s"
    )
    subscriptions = {"lower": "s.a = 1 AND s.deep.b = 3", "upper": "s.A = 2 AND s.deep.B = 4"}
    for columns in (["event"], None):
        rows = ps.match(events, subscriptions, columns=columns).collect()
        assert sorted(row.subscription for row in rows) == ["lower", "upper"]


def test_texts_of_a_fixed_length(spark: SparkSession) -> None:
    name = "spark.sql.preserveCharVarcharTypeInfo"
    spark.conf.set(name, "true")
    try:
        events = spark.sql(
            "SELECT CAST('ab' AS CHAR(4)) AS c, CAST('xy' AS VARCHAR(4)) AS v, "
            "array(CAST('z' AS CHAR(2))) AS inside"
        )
        assert events.schema["c"].dataType.simpleString() == "char(4)"
        result = ps.match(events, {"a": "c = 'ab  '", "b": "v = 'xy'", "none": "c = 'ab'"})
        assert result.schema.fields[:-1] == events.schema.fields
        assert [tuple(row) for row in result.collect()] == [
            ("ab  ", "xy", ["z "], "a"),
            ("ab  ", "xy", ["z "], "b"),
        ]
        assert ps.match(events, {"a": "c = 'ab  '"}, columns=["v"]).count() == 1
    finally:
        spark.conf.unset(name)


def test_what_workers_send_is_what_they_said(spark: SparkSession) -> None:
    """Spark compares names and nullability if it is told to, those inside lists included."""
    name = "spark.sql.execution.arrow.pyspark.validateSchema.enabled"
    spark.conf.set(name, "true")
    try:
        events = spark.sql(
            "SELECT 1 AS n, CAST(NULL AS STRING) AS s, array(1, NULL) AS items, 1.5BD AS d, "
            "named_struct('p', 1, 'q', CAST(NULL AS INT)) AS o, TIMESTAMP '2024-01-01' AS ts"
        )
        subscriptions = {"a": "n = 1", "b": "n = 2"}
        assert [row.subscription for row in ps.match(events, subscriptions).collect()] == ["a"]
        for how, expected in (("left", ["a"]), ("inner", ["a"])):
            found = ps.match(events, subscriptions, output="array", how=how).collect()  # type: ignore[arg-type]
            assert [row.subscriptions for row in found] == [expected]
        assert ps.match(events, {"b": "n = 2"}, how="anti").count() == 1
        assert ps.explain(events, subscriptions, "a").head().matched  # type: ignore[union-attr]
        column = ps.matches(subscriptions=subscriptions).alias("ids")
        assert [row.ids for row in events.select(column).collect()] == [["a"]]
    finally:
        spark.conf.unset(name)


def test_what_is_wrong_with_a_column_is_said_of_a_subscription(events: DataFrame) -> None:
    subscriptions = {"fine": "price < 3", "first": "prise < 3", "second": "prise > 5 OR price = 1"}
    with pytest.raises(
        UnknownColumnError, match=r"subscription 'first' \(and 1 other\) looks at 'prise'"
    ) as caught:
        ps.match(events, subscriptions)
    assert caught.value.subscription == "first"
    with pytest.raises(UnsupportedColumnError, match="subscription 'a' looks at 'o'") as refused:
        ps.match(events, {"a": "o = 1", "b": "price < 3"})
    assert refused.value.subscription == "a"


@pytest.mark.parametrize("value", ["nan", "infinity"])
def test_a_value_that_is_not_finite_fails_the_job_with_its_name(
    spark: SparkSession, value: str
) -> None:
    events = spark.sql(f"SELECT CAST('{value}' AS DOUBLE) AS price, 1 AS size")
    assert ps.match(events, {"a": "size = 1"}).count() == 1
    with pytest.raises(
        PythonException, match=r"InvalidValueError: attribute 'price', row \d+: (nan|inf)"
    ):
        ps.match(events, {"a": "price < 10"}).collect()
