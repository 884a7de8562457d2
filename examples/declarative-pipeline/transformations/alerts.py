"""Trades with the alerts that they raise, as a materialised view and as a streaming table."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from predicast import spark as ps

spark = SparkSession.active()

# Once, when the pipeline is defined: the functions below are called whenever Spark likes.
alerts = ps.compile({"cheap": "price < 10", "computers": "symbol IN ('IBM', 'AAPL')"})


@dp.materialized_view
def trades() -> DataFrame:
    """What has been traded; in earnest it would be read from somewhere."""
    return spark.sql(
        "SELECT * FROM VALUES (1, 'IBM', 9.5D), (2, 'XYZ', 30D), (3, 'AAPL', 200D) "
        "AS made(trade, symbol, price)"
    )


@dp.materialized_view
def alerted() -> DataFrame:
    """All trades, each with the ids of its alerts."""
    raised = ps.matches("price", "symbol", subscriptions=alerts)
    return spark.table("trades").withColumn("alerts", raised)


@dp.table
def alerted_as_they_come() -> DataFrame:
    """The same of a stream."""
    raised = ps.matches("price", "symbol", subscriptions=alerts)
    return spark.readStream.table("trades").withColumn("alerts", raised)
