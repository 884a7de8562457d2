"""``Writer``: the one thread that writes, and what it has been given in one transaction.

Whatever waits when a commit ends goes into the next one, of all tenants and kinds together: putting
it on disk costs the same for one record and for a thousand (group commit). What was handed in first
is written first, and its outcome is told first, in the event loop.

When a transaction fails, each of its parts is tried alone: what has no room harms no other.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from predicast.broker.embedded.database import commits, connect, prepare, set_up, translated
from predicast.broker.embedded.folder_mark import FolderMark
from predicast.errors import BackendError, PredicastError

R = TypeVar("R")
Work = Callable[[sqlite3.Connection], R]
Done = Callable[[Any, PredicastError | None], None]

_MOST: Final = 4096  # parts of one transaction


class Writer:
    """Hand in with ``submit``, from the event loop."""

    def __init__(
        self, path: Path, mark: FolderMark, failed: Callable[[PredicastError], None]
    ) -> None:
        self._path = path
        self._mark = mark
        self._failed = failed
        self._given: SimpleQueue[tuple[Work[Any], Done] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.commits = 0

    def start(self) -> None:
        """Open the file, and begin."""
        self._connection = connect(self._path)
        try:
            prepare(self._connection, self._path.name)
            self.commits = commits(self._connection, self._path.name)
            self._mark.check(self.commits)
        except BaseException:
            self._connection.close()
            raise
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="predicast-writer", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Write what was handed in, and close the file."""
        if self._thread is None:
            return
        self._given.put(None)
        await asyncio.to_thread(self._thread.join)
        self._thread = None

    def submit(
        self, work: Work[R], done: Callable[[R | None, PredicastError | None], None]
    ) -> None:
        """Have it written; ``done`` is called in the event loop when it is on disk, or failed.

        Should it raise something, it is called again with that.
        """
        if self._thread is None:
            raise BackendError("the backend is not running")
        self._given.put((work, done))

    async def write(self, work: Work[R]) -> R:
        """Have it written, and wait until it is on disk."""
        outcome: asyncio.Future[R] = asyncio.get_running_loop().create_future()

        def done(result: Any, error: PredicastError | None) -> None:
            if outcome.done():
                return  # whoever asked has gone
            if error is None:
                outcome.set_result(result)
            else:
                outcome.set_exception(error)

        self.submit(work, done)
        return await outcome

    def _run(self) -> None:
        is_last = False
        while not is_last:
            parts, is_last = self._gathered()
            if parts:
                outcomes = self._outcomes(parts)
                self._tell(
                    [(done, *outcome) for (_, done), outcome in zip(parts, outcomes, strict=True)]
                )
        self._connection.close()

    def _gathered(self) -> tuple[list[tuple[Work[Any], Done]], bool]:
        """All that waits; at least one, unless it was the last."""
        first = self._given.get()
        if first is None:
            return [], True
        parts = [first]
        while len(parts) < _MOST and not self._given.empty():
            following = self._given.get()
            if following is None:
                return parts, True
            parts.append(following)
        return parts, False

    def _outcomes(
        self, parts: list[tuple[Work[Any], Done]]
    ) -> list[tuple[Any, PredicastError | None]]:
        try:
            return self._together(parts)
        except Exception as error:  # noqa: BLE001 - the thread must live, and whoever waits be told
            failure = _as_failure(error)
            return [(None, failure) for _ in parts]

    def _together(
        self, parts: list[tuple[Work[Any], Done]]
    ) -> list[tuple[Any, PredicastError | None]]:
        results, error = self._committed([work for work, _ in parts])
        if error is None:
            return [(result, None) for result in results]
        if len(parts) == 1:
            return [(None, error)]
        return [outcome for part in parts for outcome in self._together([part])]

    def _committed(self, works: list[Work[Any]]) -> tuple[list[Any], PredicastError | None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [work(self._connection) for work in works]
            self._connection.execute(
                "UPDATE about SET value = ? WHERE name = 'commits'", (str(self.commits + 1),)
            )
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            return [], translated(error, self._path.name)
        except PredicastError as error:
            self._roll_back()
            return [], error
        except Exception as error:  # noqa: BLE001 - the thread must live, and whoever waits be told
            self._roll_back()
            failure = BackendError(f"the store cannot be written: {error!r}")
            failure.__cause__ = error
            return [], failure
        self.commits += 1
        with suppress(OSError):  # the mark may be behind, never ahead
            self._mark.write(self.commits)
        return results, None

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._connection.close()  # what was begun goes with it
                self._connection = connect(self._path)
                set_up(self._connection)

    def _tell(self, outcomes: list[tuple[Done, Any, PredicastError | None]]) -> None:
        assert self._loop is not None
        with suppress(RuntimeError):  # a loop that was closed meanwhile has nobody to be told
            self._loop.call_soon_threadsafe(self._tell_all, outcomes)

    def _tell_all(self, outcomes: list[tuple[Done, Any, PredicastError | None]]) -> None:
        for done, result, error in outcomes:
            try:
                done(result, error)
            except Exception as problem:  # noqa: BLE001 - nobody may wait for ever
                failure = _as_failure(problem)
                self._failed(failure)
                done(None, failure)


def _as_failure(problem: Exception) -> PredicastError:
    """What whoever waits is told of what went wrong when something was written already."""
    if isinstance(problem, PredicastError):
        return problem
    failure = BackendError(f"what was written cannot be used: {problem!r}")
    failure.__cause__ = problem
    return failure
