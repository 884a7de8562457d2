"""Windows of two writers on one subscription table, against a plain engine.

Now and then one writer commits while the other has decided and not yet committed: then the other
must decide anew, as if it had come later. Every version must be the engine as it was then, built
from what is kept beside the table or from nothing.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from predicast import Engine
from predicast import spark as ps
from predicast.engine.operations import Operation, Report
from predicast.spark.subscription_table.engines import FOLDER
from predicast.spark.subscription_table.log import TableLog
from tests.properties.test_windows import IDS, operations

WINDOWS = st.lists(operations(), min_size=1, max_size=4)
# Windows by turns of the two writers; a pair is one that the second writer breaks into.
HISTORIES = st.lists(
    st.tuples(st.integers(0, 1), WINDOWS, st.none() | WINDOWS), min_size=1, max_size=5
)


class Interrupted(TableLog):
    """A log on which something else happens first."""

    before_commit: Callable[[], None] | None = None

    def commit(self, *args: Any, **kwargs: Any) -> int:
        if self.before_commit is not None:
            happening, self.before_commit = self.before_commit, None
            happening()
        return super().commit(*args, **kwargs)


class Writer:
    """A handle on the table, into whose commits another one can break."""

    def __init__(self, path: Path) -> None:
        self.table = ps.SubscriptionTable(path)
        self.log = Interrupted(path)
        self.table._log = self.log

    def apply(self, window: Sequence[Operation]) -> Report:
        return self.table.apply(window, on_refusal="report").report


def held(engine: Engine) -> dict[str, tuple[Any, ...]]:
    """What an engine holds; a table has a text for everything."""
    return {
        entry.id: (entry.subscription, entry.owner, entry.parameters)
        for entry in engine.subscriptions()
    }


def refused(report: Report) -> list[tuple[int, type, str]]:
    return [(each.position, type(each.error), each.error.message) for each in report.refused]


def same(table: Report, engine: Report) -> bool:
    """Of the reports, the matchers differ in what they call in place."""
    what = [(position, kind) for position, kind, _ in refused(engine)]
    return table.given == engine.given and what == [
        (position, kind) for position, kind, _ in refused(table)
    ]


@given(history=HISTORIES)
@settings(max_examples=max(10, settings.default.max_examples // 2))  # type: ignore[union-attr]
def test_a_table_is_an_engine_with_versions(history: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        writers = [Writer(path), Writer(path)]
        engine = Engine(matcher="brute-force")
        versions = {0: held(engine)}

        def run(writer: Writer, window: Sequence[Operation]) -> None:
            report = writer.apply(window)
            assert same(report, engine.apply(window, on_refusal="report"))
            versions[writer.table.version] = held(engine)

        for turn, window, interruption in history:
            writer, other = writers[turn], writers[1 - turn]
            if interruption is not None:
                writer.log.before_commit = lambda o=other, w=interruption: run(o, w)
            run(writer, window)
            if writer.log.before_commit is not None:  # there was nothing to commit
                writer.log.before_commit = None
        table = writers[0].table
        assert set(versions) == set(range(table.version + 1))
        check_versions(table, versions)
        shutil.rmtree(path / FOLDER)
        check_versions(table, dict(reversed(versions.items())))
        check_differences(table, versions)


FOREIGN = st.lists(
    st.tuples(
        st.sampled_from([*IDS, "foreign"]),
        st.sampled_from(["x = 1", "x <", "x < :a", "{"]),
        st.sampled_from([None, "me"]),
        st.sampled_from([None, None, '{"a": 1}', "[]"]),
    ),
    min_size=1,
    max_size=2,
)


@given(history=st.lists(st.tuples(st.none() | FOREIGN, WINDOWS), min_size=1, max_size=4))
@settings(max_examples=max(10, settings.default.max_examples // 4))  # type: ignore[union-attr]
def test_what_goes_without_bad_rows_is_the_same_built_step_by_step_or_at_once(history: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        stepwise = ps.SubscriptionTable(path, on_invalid="quarantine")
        for number, (foreign, window) in enumerate(history):
            if foreign is not None:
                add_rows(path, foreign)
            check_steps(stepwise, Path(folder) / f"a{number}")
            stepwise.apply(window, on_refusal="report")
            check_steps(stepwise, Path(folder) / f"b{number}")


def add_rows(path: Path, rows: list[tuple[str | None, ...]]) -> None:
    from deltalake import DeltaTable, write_deltalake

    ids, expressions, owners, parameters = (list(column) for column in zip(*rows, strict=True))
    columns = [ids, owners, expressions, parameters, [None] * len(ids)]
    arrays = [pa.array(column, pa.string()) for column in columns]
    schema = pa.schema(DeltaTable(str(path)).schema().to_arrow())
    write_deltalake(str(path), pa.table(arrays, schema), mode="append")


def check_steps(stepwise: ps.SubscriptionTable, elsewhere: Path) -> None:
    """An engine from what is kept, and one from nothing."""
    at_once = ps.SubscriptionTable(stepwise.path, on_invalid="quarantine", engines=elsewhere).at()
    view = stepwise.at()
    expected, invalid = held(at_once.engine()), sorted(map(repr, at_once.invalid()))
    assert held(view.engine()) == expected
    assert sorted(map(repr, view.invalid())) == invalid
    compiled = view.compiled()
    assert held(compiled.engine()) == expected
    assert compiled.left_out == len(invalid)


def check_versions(table: ps.SubscriptionTable, versions: dict[int, Any]) -> None:
    for version, expected in versions.items():
        assert held(table.at(version=version).engine()) == expected
        compiled = table.at(version=version).compiled()
        assert held(compiled.engine()) == expected
        with compiled.image.lent() as answers:
            assert held(answers.engine) == expected


def check_differences(table: ps.SubscriptionTable, versions: dict[int, Any]) -> None:
    engine, last = table.engine(0), table.version
    for before, after in [(0, last), (last, last // 2), (last // 2, 0)]:
        engine.apply(table.diff(before, after))
        assert held(engine) == versions[after]
