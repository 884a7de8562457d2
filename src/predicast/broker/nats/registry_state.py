"""``RegistryState``: what windows come to, one after the other. No network here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from predicast.broker.nats.registry_entries import (
    Entry,
    FoldedEntry,
    Held,
    IdEntry,
    LeaseStep,
    OrphansStep,
    PutStep,
    RefusedEntry,
    RemoveStep,
    Step,
    WindowEntry,
    operation_of,
    with_parameters,
)
from predicast.broker.subscriptions import Subscriptions, changed_meanwhile, next_revision
from predicast.engine import Report
from predicast.errors import DamagedStoreError, PredicastError
from predicast.protocol.records import Adjust, Put, RegistryOperation


class _Window(NamedTuple):
    """One that was applied: where its entries stand, what it named, when it was read."""

    sequences: list[int]
    ids: list[str]
    read_at: float
    was_refused: bool


class _Tombstone(NamedTuple):
    """The entry of an id that is gone."""

    sequence: int
    as_of: int  # the last window that it knows


class RegistryState:
    """Definitions, and engines with those of them that ``holds`` says are this process's share."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        holds: Callable[[str], bool],
        make: Callable[[], Subscriptions] = Subscriptions,
    ) -> None:
        self.subscriptions = subscriptions
        self.held: dict[str, Held] = {}
        self.key_sequences: dict[str, int] = {}  # where the entry of an id stands
        self.folded_at = 0  # where it stands up to where windows were folded
        self.refused_at = 0  # where it stands which were refused
        self._windows: dict[int, _Window] = {}  # by place, those that are not folded
        self._folded = FoldedEntry(0, 0)
        self._tombstones: dict[str, _Tombstone] = {}  # entries of ids that are gone
        self._as_of: dict[str, int] = {}  # while loading: the last window that an entry knows
        self._parts: dict[str, dict[int, tuple[int, list[Step]]]] = {}
        self._holds = holds
        self._make = make

    # Loading.

    def load(self, entries: Iterable[tuple[int, str, Entry]], now: float) -> None:
        """Begin with these, in the order in which they stand."""
        windows: list[tuple[int, str, WindowEntry]] = []
        latest: dict[str, IdEntry] = {}
        refused: list[int] = []
        for sequence, name, entry in entries:
            if isinstance(entry, WindowEntry):
                windows.append((sequence, name, entry))
                continue
            self.note(sequence, name, entry)
            if isinstance(entry, IdEntry):
                latest[entry.id] = entry
            elif isinstance(entry, RefusedEntry):
                refused = entry.windows
        self._load_held(latest.values())
        self._as_of = {id: entry.as_of for id, entry in latest.items()}
        for sequence, name, entry in windows:
            if sequence <= self._folded.as_of or sequence in refused:
                continue  # whoever folded or refused them did not come to remove them
            try:
                self.apply(sequence, name, entry, now)
            except DamagedStoreError:
                raise
            except PredicastError:
                continue  # whoever asked for it was told
        self._as_of = {}

    def _load_held(self, entries: Iterable[IdEntry]) -> None:
        puts = []
        for entry in entries:
            held = entry.held
            if held is None:
                continue
            definition = with_parameters(held.definition, held.parameters)
            self.held[entry.id] = msgspec.structs.replace(
                held, definition=definition, parameters=None
            )
            if self._holds(entry.id):
                puts.append(Put(definition))
        if puts:
            self.subscriptions.apply(puts)

    def note(self, sequence: int, name: str, entry: Entry) -> bool:
        """Remember what is no window; whether nothing was missed before it."""
        if isinstance(entry, IdEntry):
            self.key_sequences[entry.id] = sequence
            self._tombstones.pop(entry.id, None)
            if entry.held is None:
                self._tombstones[entry.id] = _Tombstone(sequence, entry.as_of)
        elif isinstance(entry, FoldedEntry):
            seen = sum(place <= entry.as_of for place in self._windows_accepted())
            complete = self._folded.windows + seen == entry.windows
            self.folded_at = sequence
            if entry.as_of > self._folded.as_of:
                for place in [place for place in self._windows if place <= entry.as_of]:
                    del self._windows[place]
                self._folded = entry
            return complete
        elif isinstance(entry, RefusedEntry):
            self.refused_at = sequence
        elif isinstance(entry, list):
            window, _, number = name.partition(".")
            self._parts.setdefault(window, {})[int(number)] = (sequence, entry)
        return True

    def _windows_accepted(self) -> list[int]:
        return [place for place, window in self._windows.items() if not window.was_refused]

    # Applying.

    def apply(
        self, sequence: int, name: str, entry: WindowEntry, now: float
    ) -> tuple[Report, list[str]]:
        """Apply a window, or raise what it is refused for; also the ids that it named."""
        sequences, steps = self._steps(sequence, name, entry)
        steps = self._expanded(steps)
        named = list(dict.fromkeys(_id_of(step) for step in steps))
        steps = [step for step in steps if self._as_of.get(_id_of(step), 0) < sequence]
        operations = [operation_of(step) for step in steps]
        try:
            report = self._run([each for each in operations if each is not None])
        except PredicastError:
            self._windows[sequence] = _Window(sequences, named, now, was_refused=True)
            raise
        self._windows[sequence] = _Window(sequences, named, now, was_refused=False)
        for step, operation in zip(steps, operations, strict=True):
            if isinstance(step, LeaseStep):
                self._lease(step)
            elif operation is not None:
                self._hold(sequence, entry, operation)
        return report, named

    def _run(self, operations: list[RegistryOperation]) -> Report:
        """Change the engines; every process comes to the same verdict, whatever its share is."""
        self._check_revisions(operations)
        mine: list[RegistryOperation] = []
        others: list[RegistryOperation] = []
        for operation in operations:
            (mine if self._holds(operation.id) else others).append(operation)
        if others:
            given = {operation.id: self.held.get(operation.id) for operation in others}
            there = [Put(held.definition) for held in given.values() if held is not None]
            self._make().apply([*there, *others])
        return self.subscriptions.apply(mine)

    def _check_revisions(self, operations: list[RegistryOperation]) -> None:
        """Refuse what was made from a definition that has been changed since."""
        for operation in operations:
            if isinstance(operation, Put) and operation.over is not None:
                id = operation.definition.id
                held = self.held.get(id)
                if held is None:
                    raise self.subscriptions.unknown(id)
                if held.definition.revision != operation.over:
                    raise changed_meanwhile(id)

    def _steps(self, sequence: int, name: str, entry: WindowEntry) -> tuple[list[int], list[Step]]:
        if not entry.parts:
            return [sequence], list(entry.steps)
        parts = self._parts.pop(name, {})
        if set(parts) != set(range(entry.parts)):
            raise DamagedStoreError(
                f"of the {entry.parts} parts of a window of subscriptions {len(parts)} are there",
                where=name,
            )
        found: list[Step] = []
        for number in range(entry.parts):
            found += parts[number][1]
        return [sequence, *(place for place, _ in parts.values())], found

    def _expanded(self, steps: list[Step]) -> list[Step]:
        """With the ids of those whose process is gone."""
        found: list[Step] = []
        for step in steps:
            if isinstance(step, OrphansStep):
                found += [
                    RemoveStep(id)
                    for id, held in self.held.items()
                    if held.process == step.process and not held.definition.settings.durable
                ]
            else:
                found.append(step)
        return found

    def _lease(self, step: LeaseStep) -> None:
        held = self.held.get(step.id)
        if held is not None:
            self.held[step.id] = msgspec.structs.replace(held, process=step.process)

    def _hold(self, sequence: int, entry: WindowEntry, operation: RegistryOperation) -> None:
        if isinstance(operation, Put):
            definition = operation.definition
            before = self.held.get(definition.id)
            if before is not None:
                definition = next_revision(definition, before.definition)
            is_durable = definition.settings.durable
            if before is None or before.definition.settings.durable is not is_durable:
                held = Held(definition, sequence, entry.after, entry.process)
            else:
                held = msgspec.structs.replace(before, definition=definition)
            self.held[definition.id] = held
        elif isinstance(operation, Adjust):
            held = self.held[operation.id]
            parameters = {**(held.definition.parameters or {}), **operation.parameters}
            adjusted = msgspec.structs.replace(held.definition, parameters=parameters)
            definition = next_revision(adjusted, held.definition)
            self.held[operation.id] = msgspec.structs.replace(held, definition=definition)
        else:
            del self.held[operation.id]

    # Folding.

    def older_than(self, when: float) -> list[int]:
        """The windows that were read before that, from the first one on."""
        found = []
        for place, window in self._windows.items():
            if window.read_at > when:
                break
            found.append(place)
        return found

    def refused(self) -> list[int]:
        """The windows that changed nothing."""
        return [place for place, window in self._windows.items() if window.was_refused]

    def now(self) -> int:
        """The last window that was applied."""
        return max(self._windows, default=self._folded.as_of)

    def to_fold(self, as_of: int) -> tuple[list[str], FoldedEntry]:
        """The ids that windows up to there have named, and what is said when they are folded."""
        windows = [place for place in self._windows_accepted() if place <= as_of]
        ids = dict.fromkeys(id for place in windows for id in self._windows[place].ids)
        # What came and went in between was never written down, and need not be now, unless a
        # window that stays names it: that one would be refused where nobody knows the id.
        staying = [window for place, window in self._windows.items() if place > as_of]
        known = {*self.key_sequences, *(id for window in staying for id in window.ids)}
        written = [id for id in ids if id in self.held or id in known]
        return written, FoldedEntry(as_of, self._folded.windows + len(windows))

    def forget(self, folded_entry: FoldedEntry) -> list[int]:
        """Where the entries stand that are not needed any more."""
        self._folded = folded_entry
        folded = [place for place in self._windows if place <= folded_entry.as_of]
        found = [each for place in folded for each in self._windows.pop(place).sequences]
        # Windows that an entry knows of, and that are not folded, must not meet an unknown id.
        ended = [id for id, each in self._tombstones.items() if each.as_of <= folded_entry.as_of]
        gone = [self._tombstones.pop(id).sequence for id in ended]
        for id in ended:
            self.key_sequences.pop(id, None)
        return [*found, *gone]


def _id_of(step: Step) -> str:
    assert not isinstance(step, OrphansStep)
    return step.definition.id if isinstance(step, PutStep) else step.id
