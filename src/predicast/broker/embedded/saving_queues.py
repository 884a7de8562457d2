"""``SavingQueues``: what waits for a tenant's subscriptions is written down from time to time.

The moment is chosen in the event loop: changed queues are captured there, and all else is worked
out and written in a thread, while queues go on. When the file is on disk, the checkpoint names it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from predicast.broker.embedded import backlog_files, queue_states
from predicast.broker.embedded.backlog import Columns, Draft
from predicast.broker.embedded.backlog_files import BacklogFile
from predicast.broker.embedded.queue_states import Checkpoint

if TYPE_CHECKING:
    from predicast.broker.embedded.held_tenant import HeldTenant


class SavingQueues:
    """One tenant's. ``written`` is the last checkpoint."""

    def __init__(self, tenant: HeldTenant, folder: Path, most_in_log: int) -> None:
        self._tenant = tenant
        self._folder = folder / backlog_files.FOLDER
        self._most_in_log = most_in_log
        self._settled = 0  # what was settled or new by then
        self._number = 0  # of the last file
        self.written = Checkpoint(0, 0, 0, 0, None)

    def recover(self, written: Checkpoint) -> None:
        """Go on behind a checkpoint."""
        self.written = written
        name = None if written.file is None else written.file.name
        if name is not None:
            self._number = int(name.rpartition("-")[2])
        backlog_files.tidy(self._folder, self._tenant.number, name)

    def is_due(self) -> bool:
        """Whether the logs have grown as long as they should; much takes longer to write."""
        most = max(self._most_in_log, self._tenant.queues.backlog.waiting // 4)
        return self._activity() - self._settled >= most

    def _activity(self) -> int:
        tenant = self._tenant
        return tenant.publishing.kept + tenant.queues.delivered + tenant.acknowledged

    async def save(self) -> None:
        """Write down what waits, so that the logs before are not needed."""
        tenant, queues = self._tenant, self._tenant.queues
        publishing, before = tenant.publishing, self.written
        dirty = [queue for queue in queues.held.values() if queue.is_dirty and queue.is_durable]
        position, settlement = publishing.head, tenant.settlements.applied
        if not dirty and (position, settlement) == (before.position, before.settlement):
            return
        self._number += 1  # also if it comes to nothing: it may still be written meanwhile
        name = f"{tenant.number}-{self._number}"
        arrived, queues.arrived = queues.arrived, []
        captured = [(queue.id, queue_states.captured(queue)) for queue in dirty]
        draft = queues.backlog.draft(captured, arrived, is_open=True)
        checkpoint = Checkpoint(position, settlement, publishing.events, publishing.size, None)
        self._settled = self._activity()
        for queue in dirty:
            queue.is_dirty = False
        try:
            merged, file = await tenant.readers.run(lambda: _saved(self._folder, name, draft))
            checkpoint = checkpoint._replace(file=file)
            await tenant.writer.write(lambda c: queue_states.write(c, tenant.number, checkpoint))
        except BaseException:
            queues.arrived[:0] = arrived
            for queue in dirty:
                queue.is_dirty = True
            raise
        self.written = checkpoint
        queues.backlog.adopt(merged)
        queues.forget_idle(dirty)
        await tenant.readers.run(lambda: backlog_files.tidy(self._folder, tenant.number, file.name))


def _saved(folder: Path, name: str, draft: Draft) -> tuple[Columns, BacklogFile]:
    merged = draft.merged()
    return merged, backlog_files.save(folder, name, draft.contents(merged))
