"""The streams that a pipeline's file can name.

Text may hold lines that cannot be read. Spark would make events of nulls of them, so the schema
gets a column for such lines, which ``deliver`` takes for dead letters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from predicast.spark.pipeline.settings import (
    CsvSource,
    DeltaSource,
    JsonSource,
    KafkaSource,
    ParquetSource,
    PipelineFile,
    RateSource,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNREADABLE: Final = "_corrupt_record"


def unreadable_column(file: PipelineFile) -> str | None:
    """The column that has what a source could not read."""
    text = JsonSource | CsvSource | KafkaSource
    return UNREADABLE if isinstance(file.settings.source, text) else None


def stream_of(spark: SparkSession, file: PipelineFile) -> DataFrame:
    """The stream that a pipeline reads."""
    source = file.settings.source
    options = {name: _option(value) for name, value in source.options.items()}
    reader = spark.readStream.options(**options)
    if isinstance(source, RateSource):
        return reader.format("rate").option("rowsPerSecond", source.rows_per_second).load()
    if isinstance(source, KafkaSource):
        return _from_kafka(reader, source)
    if not file.folder(source.path).exists():
        raise file.mistake(("source", "path"), f"there is no folder {file.folder(source.path)}")
    path = file.folder(source.path).as_uri()
    if isinstance(source, DeltaSource):
        from predicast.spark.delta_events import DeltaEvents

        spark.dataSource.register(DeltaEvents)
        return reader.format(DeltaEvents.name()).load(str(file.folder(source.path)))
    if isinstance(source, ParquetSource):
        schema: Any = source.schema or spark.read.parquet(path).schema
        return reader.schema(schema).parquet(path)
    schema = f"{source.schema}, {UNREADABLE} string"
    reader = reader.schema(schema).option("columnNameOfCorruptRecord", UNREADABLE)
    return reader.json(path) if isinstance(source, JsonSource) else reader.csv(path)


def _from_kafka(reader: Any, source: KafkaSource) -> DataFrame:
    from pyspark.sql.functions import col, from_json

    records: DataFrame = (
        reader.format("kafka")
        .option("kafka.bootstrap.servers", source.servers)
        .option("subscribe", source.topic)
        .load()
    )
    schema = f"{source.schema}, {UNREADABLE} string"
    event = from_json(
        col("value").cast("string"), schema, {"columnNameOfCorruptRecord": UNREADABLE}
    )
    return records.select(event.alias("event")).select("event.*")


def _option(value: object) -> Any:
    """An option as Spark has it."""
    return str(value).lower() if isinstance(value, bool) else value
