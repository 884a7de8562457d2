"""Detection rules as a stream over log events, and beside it as one SQL statement.

The rules are those of the Sigma corpus that look at nothing but what its Windows events have, as
text in a subscription table. In the middle of the stream half of them are added and some removed,
in one change. All deliveries are compared with the engine's matches.

What people do without a matcher is one statement with an expression per rule. It is given more and
more rules, and a sample of the events, beside ``match`` on the same ones; when it fails, or takes
too long for more to be of any use, that is the last one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.real.corpus import Corpus, read_corpus
from bench.real.events import event_table, like
from bench.real.where_text import expression_text
from bench.spark.file_stream import FileStream
from bench.spark.results import SigmaStreamResult, StatementResult
from predicast import Engine, Subscribe, Unsubscribe
from predicast import spark as ps
from predicast.engine.derivation import Derivation
from predicast.language import to_subscription

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_REMOVED: Final = 10  # one of so many early rules goes when the others come
_LONGEST_S: Final = 120.0  # a statement that takes longer is the last
_NOT_IN_SPARK: Final = "ip_in("  # a function of ours alone
_SAID: Final = 120  # characters of what Spark says of a failure


@dataclass(frozen=True)
class SigmaStream:
    """How much is streamed, and what is asked in one statement."""

    events: int = 50_000  # that differ
    copies: int = 40  # how often they come
    batches: int = 40
    statements: tuple[int, ...] = (10, 100, 300, 1_000)  # rules
    sample: int = 2_000  # events that statements are given

    def steps(self) -> int:
        """What ``measure_sigma`` reports on."""
        return 1 + self.batches + len(self.statements)


def measure_sigma(
    spark: SparkSession,
    effort: SigmaStream,
    *,
    seed: int,
    corpus: Corpus | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> SigmaStreamResult:
    """The stream, then the statements."""
    progress("Sigma: rules and events")
    corpus = corpus or read_corpus()
    made = event_table(like([each.event for each in corpus.firings], effort.events, seed=seed))
    rules = rules_on(made.column_names, corpus)
    half = len(rules) // 2
    early, late = dict(list(rules.items())[:half]), dict(list(rules.items())[half:])
    removed = list(early)[::_REMOVED]
    after = {id: text for id, text in rules.items() if id not in removed}
    times: list[float] = []
    expected: list[pa.Table] = []
    middle = effort.batches // 2
    with (
        tempfile.TemporaryDirectory() as scratch,
        FileStream(spark, Path(scratch), ["number"]) as stream,
    ):
        stream.table.subscribe_many(early.items())
        engines = _engine(early), _engine(after)
        for number, batch in enumerate(_batches(made, effort)):
            progress(f"Sigma: batch {number + 1} of {effort.batches}")
            if number == middle:
                stream.table.apply(
                    [
                        *map(Unsubscribe, removed),
                        *(Subscribe(id, text) for id, text in late.items()),
                    ]
                )
            times.append(stream.deliver(batch)[0])
            expected.append(_pairs(engines[number >= middle], batch))
        found = stream.deliveries()
    right = pa.concat_tables(expected)
    return SigmaStreamResult(
        rules=len(rules),
        events=effort.events * effort.copies,
        batches=effort.batches,
        matches=right.num_rows,
        clock_s=median(times[1:]),
        changed_clock_s=times[middle],
        statements=list(_statements(spark, effort, rules, made, progress)),
        wrong=[] if _ordered(found).equals(_ordered(right)) else ["other deliveries than matches"],
    )


def rules_on(columns: Sequence[str], corpus: Corpus) -> dict[str, str]:
    """The texts of rules that look at nothing but these columns, by id."""
    texts = {}
    for rule in corpus.rules:
        expression = rule.expression()
        names = to_subscription(expression).attributes()
        if Derivation(names).read(names) <= set(columns):
            texts[rule.id] = expression_text(expression)
    return texts


def _engine(rules: Mapping[str, str]) -> Engine:
    engine = Engine()
    engine.subscribe_many(rules.items())
    return engine


def _batches(made: pa.Table, effort: SigmaStream) -> Iterator[pa.Table]:
    """The events, each under a number, so many times and in so many batches."""
    cuts = np.linspace(0, effort.events * effort.copies, effort.batches + 1).astype(int)
    for first, end in pairwise(cuts):
        numbers = np.arange(first, end)
        batch = made.take(pa.array(numbers % effort.events))
        yield batch.append_column("number", pa.array(numbers))


def _pairs(engine: Engine, batch: pa.Table) -> pa.Table:
    found = engine.match_arrow(batch)
    numbers = batch["number"].take(found["event"])
    return pa.table({"number": numbers, "subscription": found["subscription"].cast(pa.string())})


def _ordered(pairs: pa.Table) -> pa.Table:
    both = [("number", "ascending"), ("subscription", "ascending")]
    return pairs.select(["number", "subscription"]).sort_by(both).combine_chunks()


def _statements(
    spark: SparkSession,
    effort: SigmaStream,
    rules: Mapping[str, str],
    made: pa.Table,
    progress: Callable[[str], None],
) -> Iterator[StatementResult]:
    with tempfile.TemporaryDirectory() as scratch:
        path = f"{scratch}/sample.parquet"
        sample = made.slice(0, effort.sample)
        pq.write_table(sample, path)
        events = spark.read.parquet(path)
        # Rules of one kind stand together in the corpus; those that are chosen are of all kinds.
        spread = [(id, text) for id, text in rules.items() if _NOT_IN_SPARK not in text]
        for count in effort.statements:
            progress(f"Sigma: {count:,} rules as one statement")
            chosen = dict(spread[:: max(len(spread) // count, 1)][:count])
            result = _statement(events, chosen, sample.num_rows)
            yield result
            if result.failure is not None or result.clock_s > _LONGEST_S:
                return


def _statement(events: DataFrame, rules: Mapping[str, str], sample: int) -> StatementResult:
    start = perf_counter()
    ours = ps.match(events, ps.compile(rules), columns=[]).count()
    ours_clock = perf_counter() - start
    each = ", ".join(f"IF({text}, '{id}', NULL)" for id, text in rules.items())
    failure, found = None, ours
    start = perf_counter()
    try:
        counted = events.selectExpr(f"size(filter(array({each}), id -> id IS NOT NULL)) AS found")
        found = int(counted.selectExpr("sum(found)").head()[0])  # type: ignore[index]
    except Exception as error:  # noqa: BLE001  # whatever Spark fails with is the result
        failure = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:_SAID]}"
    return StatementResult(
        rules=len(rules),
        events=sample,
        clock_s=perf_counter() - start,
        ours_clock_s=ours_clock,
        failure=failure,
        wrong=[] if found == ours else [f"one statement finds {found:,}, match {ours:,}"],
    )
