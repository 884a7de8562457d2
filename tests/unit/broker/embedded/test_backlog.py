"""What waits as columns says what queues, one by one, would say."""

import random
from pathlib import Path

import numpy as np
import pytest

from predicast.broker.embedded import backlog_files
from predicast.broker.embedded.backlog import Arrived, Backlog, Special, State
from predicast.errors import DamagedStoreError
from tests.thorough import LONG

IDS = [f"s{number}" for number in range(12)]
CURSOR = Special({}, [], 7, None)


class Model:
    """A backlog as a dictionary, and what of it is open."""

    def __init__(self) -> None:
        self.states: dict[str, State] = {}
        self.open: set[str] = set()

    def pending(self) -> dict[str, int]:
        return {
            id: len(state.pending)
            for id, state in self.states.items()
            if state.pending and id not in self.open
        }

    def merge(self, captured: dict[str, State], arrived: list[Arrived]) -> None:
        for first, matches in arrived:
            for position, ids in enumerate(matches, first):
                for id in ids:
                    state = self.states.get(id)
                    reads = state and state.special and state.special.cursor is not None
                    if state is not None and id not in captured and not reads:
                        self.states[id] = state._replace(pending=[*state.pending, position])
        self.states |= captured
        self.open |= captured.keys()


@pytest.mark.parametrize("seed", range(200 if LONG else 20))
def test_any_history(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    backlog, model, position = Backlog(), Model(), 1
    for step in range(40):
        arrived = []
        for _ in range(source.randrange(3)):
            matches = [source.sample(IDS, source.randrange(5)) for _ in range(source.randrange(4))]
            arrived.append(Arrived(position, matches))
            position += len(matches)
        captured = {
            id: State(
                sorted(source.sample(range(1, position + 1), min(position, source.randrange(5)))),
                source.choice([None, None, CURSOR]),
            )
            for id in source.sample(IDS, source.randrange(4))
        }
        draft = backlog.draft(captured.items(), arrived, is_open=True)
        model.merge(captured, arrived)
        columns = draft.merged()
        file = backlog_files.save(tmp_path, f"1-{step}", draft.contents(columns))
        written = backlog_files.load(tmp_path, file)
        for id, state in model.states.items():
            empty = not state.pending and state.special is None
            assert empty if id not in written else written.state(id) == state
        # While it was worked out, something ended, and the log was cut.
        gone = source.choice(IDS)
        backlog.remove(gone)
        model.states.pop(gone, None)
        model.open.discard(gone)
        backlog.adopt(columns)
        assert {id: backlog.state(id) for id in backlog.rows} == model.states
        assert backlog.pending() == model.pending()
        assert backlog.waiting == sum(model.pending().values())
        looked_at = source.choice(IDS)
        assert backlog.open(looked_at) == model.states.get(looked_at)
        if looked_at in model.states:
            model.open.add(looked_at)
        if source.random() < 0.2:  # as after a start
            backlog, model.open = backlog_files.load(tmp_path, _saved(tmp_path, backlog)), set()
            model.states = {id: backlog.state(id) for id in backlog.rows}
        assert backlog.waiting == sum(model.pending().values())


def _saved(folder: Path, backlog: Backlog) -> backlog_files.BacklogFile:
    draft = backlog.draft([], [], is_open=True)
    return backlog_files.save(folder, "1-again", draft.contents(draft.merged()))


def test_what_is_cut_is_counted_where_nobody_has_looked() -> None:
    backlog = Backlog(["a", "b", "c"], [3, 2, 1], [1, 5, 9, 2, 3, 9])
    assert backlog.open("b") == State([2, 3], None)
    draft = backlog.draft([], [], is_open=True)
    assert backlog.cut(6) == 2  # of b's, its queue knows
    assert backlog.untold == {"a": 2}
    assert backlog.pending() == {"a": 1, "c": 1}
    assert backlog.waiting == 2
    backlog.adopt(draft.merged())  # which was begun before
    assert backlog.pending() == {"a": 1, "c": 1}
    assert backlog.cut(6) == 0
    assert backlog.state("a") == State([9], None)


def test_rows_are_used_again() -> None:
    backlog = Backlog()
    for number in range(50):
        draft = backlog.draft([(f"s{number}", State([number], None))], [], is_open=True)
        backlog.adopt(draft.merged())
        backlog.remove(f"s{number}")
    assert len(backlog.ids) == 1
    assert not backlog.rows


def test_a_file_that_is_not_what_was_written_is_refused(tmp_path: Path) -> None:
    draft = Backlog(["a"], [2], [1, 2]).draft([], [], is_open=False)
    file = backlog_files.save(tmp_path, "1-1", draft.contents(draft.merged()))
    path = tmp_path / file.name
    content = path.read_bytes()
    for place in range(len(content)):
        flipped = np.frombuffer(content, np.uint8).copy()
        flipped[place] ^= 4
        path.write_bytes(flipped.tobytes())
        with pytest.raises(DamagedStoreError, match="queues/1-1"):
            backlog_files.load(tmp_path, file)
    path.unlink()
    with pytest.raises(DamagedStoreError, match="is not there"):
        backlog_files.load(tmp_path, file)


def test_unfinished_and_older_files_are_removed(tmp_path: Path) -> None:
    for name in ("1-1", "1-2", ".1-3.abc.saving", "2-1"):
        (tmp_path / name).touch()
    backlog_files.tidy(tmp_path, 1, "1-2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1-2", "2-1"]
