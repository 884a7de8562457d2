"""A real Kafka broker, through a function as the sink: each delivery once, by transactions.

``PREDICAST_TEST_KAFKA`` names a folder with JARs of a broker: ``org.slf4j:slf4j-simple:1.7.36``,
``org.apache.kafka:kafka_2.13:4.1.1`` and all that they depend on, as ``mvn
dependency:copy-dependencies`` puts them there. Spark's own connector is tried in
``test_pipeline.py``, where there is one.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from predicast import spark as ps
from predicast.errors import DeliveryStoppedError
from predicast.spark.java import ensure_java

JARS = os.environ.get("PREDICAST_TEST_KAFKA")

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
num.partitions=1
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[str]:
    """The address of a broker that ends with the test."""
    if JARS is None:
        pytest.skip("PREDICAST_TEST_KAFKA names no folder with the JARs of a Kafka broker")
    java = [str(ensure_java().home / "bin" / "java"), "-Xmx512m", "-cp", f"{JARS}/*"]
    folder = tmp_path / "broker"
    folder.mkdir()
    ports = {"broker": free_port(), "controller": free_port()}
    properties = folder / "server.properties"
    properties.write_text(PROPERTIES.format(folder=folder, **ports), encoding="utf-8")
    command = [*java, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg"]
    subprocess.run([*command, "-c", str(properties)], check=True, capture_output=True)
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [*java, "kafka.Kafka", str(properties)], stdout=log, stderr=log
        ) as process,
    ):
        try:
            wait_for(ports["broker"], process, folder / "log")
            address = f"127.0.0.1:{ports['broker']}"
            make_topics(address, "matches", "batches")
            yield address
        finally:
            process.terminate()


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert process.poll() is None, log.read_text(encoding="utf-8")
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(log.read_text(encoding="utf-8"))


def make_topics(servers: str, *names: str) -> None:
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    client = AdminClient({"bootstrap.servers": servers})  # which must outlive its futures
    made = client.create_topics(
        [NewTopic(name, num_partitions=1, replication_factor=1) for name in names]
    )
    for future in made.values():
        future.result(60)


def publishing(servers: str, fail_once: str) -> Callable[[int, DataFrame], None]:
    """Sends a batch, and which one it was, in one transaction; one that was sent is known by that.

    It fails once after it has sent a batch, as if it had been killed then.
    """

    def records(topic: str) -> list[Any]:
        from confluent_kafka import Consumer

        consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": topic,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
            }
        )
        consumer.subscribe([topic])
        found = []
        while True:
            message = consumer.poll(60)
            if message is None:
                raise RuntimeError("the broker says nothing")
            error = message.error()
            if error is not None and error.name() == "_PARTITION_EOF":
                break
            if error is not None:
                raise RuntimeError(error.str())
            found.append(message)
        consumer.close()
        return found

    def publish(number: int, frame: DataFrame) -> None:
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": servers, "transactional.id": "matches"})
        producer.init_transactions(120)  # which ends the transaction of whoever was killed
        if any(int(each.value()) == number for each in records("batches")):
            return
        producer.begin_transaction()
        for row in frame.toLocalIterator():
            producer.produce("matches", key=row.subscription, value=json.dumps(row.asDict()))
        producer.produce("batches", value=str(number))
        producer.commit_transaction(120)
        try:
            Path(fail_once).unlink()
        except FileNotFoundError:
            return
        raise RuntimeError("killed, say")

    publish.records = records  # type: ignore[attr-defined]
    return publish


def test_each_delivery_is_in_the_topic_once(
    spark: SparkSession, broker: str, tmp_path: Path
) -> None:
    table = ps.SubscriptionTable(tmp_path / "table")
    table.subscribe_many({"low": "x < 3", "high": "x > 7"})
    (tmp_path / "events").mkdir()
    for number in range(2):
        ids = range(number * 10, number * 10 + 10)
        rows = pa.table({"id": pa.array(ids), "x": pa.array([id % 10 for id in ids])})
        pq.write_table(rows, tmp_path / "events" / f"{number}.parquet")
    flag = tmp_path / "flag"
    flag.touch()
    publish = publishing(broker, str(flag))

    def deliver() -> bool:
        reader = spark.readStream.schema("id bigint, x bigint").option("maxFilesPerTrigger", "1")
        return ps.deliver(
            reader.parquet(str(tmp_path / "events")),
            table,
            publish,
            checkpoint=tmp_path / "checkpoint",
            trigger={"availableNow": True},
        ).wait(300)

    with pytest.raises(DeliveryStoppedError):
        deliver()
    assert deliver()
    found = [json.loads(each.value()) for each in publish.records("matches")]  # type: ignore[attr-defined]
    engine = table.engine()
    expected = [(id, each) for id in range(20) for each in engine.match({"x": id % 10})]
    assert sorted((each["id"], each["subscription"]) for each in found) == expected
