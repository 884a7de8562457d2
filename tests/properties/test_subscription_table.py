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

from hypothesis import given, settings
from hypothesis import strategies as st

from predicast import Engine
from predicast import spark as ps
from predicast.engine.operations import Operation, Report
from predicast.spark.subscription_table.engines import FOLDER
from predicast.spark.subscription_table.log import TableLog
from tests.properties.test_windows import operations

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


def check_versions(table: ps.SubscriptionTable, versions: dict[int, Any]) -> None:
    for version, expected in versions.items():
        assert held(table.at(version=version).engine()) == expected
        assert held(table.at(version=version).compiled().engine()) == expected


def check_differences(table: ps.SubscriptionTable, versions: dict[int, Any]) -> None:
    engine, last = table.engine(0), table.version
    for before, after in [(0, last), (last, last // 2), (last // 2, 0)]:
        engine.apply(table.diff(before, after))
        assert held(engine) == versions[after]
