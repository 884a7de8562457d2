"""``SubscriptionStore``: everything an engine of flat events holds; see ``store_of.py``.

Its statements are held in columns where they came in bulk, and so the unit of change has groups of
those that are alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.engine.changes import Touched
from predicast.engine.delta import Arrivals, StoreDelta
from predicast.engine.derivation import Derivation
from predicast.engine.entry import Entry
from predicast.engine.ids import Ids, Lease, duplicate
from predicast.engine.operations import Subscribe
from predicast.engine.readings import ReadBatch, Readings
from predicast.engine.statements import Statements
from predicast.engine.store_of import StoreOf
from predicast.engine.windows import Said, Window, said_by
from predicast.language import Readable
from predicast.language.class_tests import may_test_classes, reading_with
from predicast.matching.delta import Delta, DeltaOf, Group
from predicast.matching.matcher import Matcher, Stored, View
from predicast.model import Subscription, Value
from predicast.model.event_reader import EventReader
from predicast.model.operand_columns import gathered
from predicast.model.outline import Stated
from predicast.model.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from predicast.engine.bulk import Bulk
    from predicast.engine.snapshot import Snapshot
    from predicast.matching.batches.interval_columns import IntervalColumns
    from predicast.matching.batches.refusals import Refusals
    from predicast.model.operand_columns import OperandColumns


class StoreView(NamedTuple):
    """What is asked: a matcher's view, and what is needed to ask it and to name what it finds."""

    matcher: View
    ids: Ids
    lease: Lease  # while it is held, ``ids`` knows the keys that the matcher may find
    reader: EventReader  # of what subscriptions look at
    derivation: Derivation
    readings: Readings | None  # by an ontology's properties, if some are looked at

    def columns(
        self,
        table: pa.Table,
        intervals: IntervalColumns | None,
        now: datetime | str | None,
        refusals: Refusals,
    ) -> Iterator[ReadBatch]:
        """What subscriptions look at in a table, derived attributes included.

        In pieces: so much is derived at a time as is still near when it is matched.
        """
        from predicast.matching.batches.event_batch import EventBatch

        wanted = self.reader.names
        if isinstance(now, str) and self.derivation.asks_for_now:
            wanted |= {now}
        batch = EventBatch.from_arrow(table, wanted, intervals, refusals)
        at = now or self.derivation.clock()  # once for all pieces
        whole = [ReadBatch(0, len(batch), batch)]
        for read in whole if self.readings is None else self.readings.batches(batch, refusals):
            if read.rows is not None:
                yield read._replace(batch=self.derivation.columns(read.batch, at))
                continue
            for start, piece in self.derivation.pieces(read.batch, at):
                yield ReadBatch(read.start + start, len(piece), piece)


class _Meaning(NamedTuple):
    """What a vocabulary makes of the names that subscriptions look at."""

    vocabulary: Vocabulary
    names: EventReader  # of what subscriptions look at by name
    reader: EventReader  # of all that gives it
    readings: Readings | None

    @classmethod
    def of(cls, vocabulary: Vocabulary, names: EventReader) -> _Meaning:
        readings = Readings(vocabulary, names.names)
        if not readings:
            return cls(vocabulary, names, names, None)
        return cls(vocabulary, names, EventReader(readings.names), readings)

    def is_of(self, vocabulary: Vocabulary, names: EventReader) -> bool:
        return self.vocabulary is vocabulary and self.names is names


_new: Final = tuple.__new__
_FEW: Final = 512  # subscriptions that are quicker put one by one than column by column


class SubscriptionStore(StoreOf[Stated, Matcher, Statements, StoreView]):
    """Subscriptions with all that belongs to them, by key."""

    def __init__(self, matcher: Matcher, vocabulary: Vocabulary | None = None) -> None:
        self.vocabulary = vocabulary  # what texts and the names of attributes mean, if anything
        self._meaning: _Meaning | None = None  # as of the latest view
        super().__init__(matcher, Statements())

    def _view(self) -> StoreView:
        ids, statements = self.ids, self.statements
        view, reader, readings = self.matcher.view(), statements.reader(), None
        if self.vocabulary is not None:
            meaning = self._meaning
            if meaning is None or not meaning.is_of(self.vocabulary, reader):
                meaning = self._meaning = _Meaning.of(self.vocabulary, reader)
            reader, readings = meaning.reader, meaning.readings
        # As StoreView(...) does, without a call of Python's own: every change makes one.
        return _new(StoreView, (view, ids, ids.lease, reader, statements.derivation(), readings))

    def entry(self, id: str, key: int, subscription: Subscription | None = None) -> Entry:
        """A subscription that is held, with all that belongs to it."""
        subscription = subscription or self.statements.get(key)
        owner, template = self.owners.get(key), self.templates.get(key)
        if template is None:
            text, dialect = self.sources.get(key), self.sources.dialect(key)
            return Entry(id, subscription, owner, text, None, dialect)
        values = MappingProxyType(dict(template.current(self.statements.stated(key))))
        return Entry(id, subscription, owner, template.parametric.text, values)

    def window(self) -> Window:
        """A window on what is held now."""
        return Window(self.ids, self.statements, self.templates, self.vocabulary)

    def taken_apart(self, matcher: str, structure: Stored | None) -> Snapshot:
        """All there is, untouched by later changes."""
        from predicast.engine.snapshot import Snapshot

        return Snapshot(
            matcher,
            self.matcher.absent,
            self.arrived,
            self.ids.held(),
            self.owners.copy(),
            self.statements.copy(),
            self.templates.copy(),
            self.sources.copy(),
            structure,
            self.vocabulary,
        )

    def restore(self, saved: Snapshot) -> None:
        """Become what a snapshot holds, being empty."""
        stored = saved.structure
        if stored is None or not self.matcher.restore(stored, len(saved.ids.texts)):
            fill(self.matcher, saved.statements)
        self.ids, self.owners = Ids.restored(saved.ids), saved.owners
        self.statements, self.arrived = saved.statements, saved.arrived
        self.templates, self.sources = saved.templates, saved.sources
        self.vocabulary = saved.vocabulary
        self.view = self._view()

    # Changing.

    def read(
        self,
        id: str | None,
        expression: Readable,
        parameters: Mapping[str, Value] | None,
        dialect: str | None,
        /,
    ) -> Said:
        if self.vocabulary is None:
            return said_by(id, expression, parameters, dialect)
        with reading_with(self.vocabulary):
            return said_by(id, expression, parameters, dialect)

    def still_reads_by(self, vocabulary: Vocabulary | None) -> bool:
        """Whether what was read by a vocabulary means the same now; if by none, it always does."""
        return vocabulary is None or vocabulary is self.vocabulary

    def read_all_new(self, operations: Iterable[Subscribe]) -> Bulk:
        """What many new subscriptions say."""
        from predicast.engine.bulk import bulk_of

        with reading_with(self.vocabulary):
            return bulk_of(operations)

    def understand(self, vocabulary: Vocabulary) -> None:
        """Go by another ontology from now on: texts that name classes are read anew by it."""
        window = self.window()
        for id, key in self.ids.items():
            text = self.sources.get(key) or self.templates.text(key)
            if self.sources.dialect(key) is not None:
                continue  # IS A is of ``where``
            if text is not None and may_test_classes(text):
                parameters = self.entry(id, key).parameters
                with reading_with(vocabulary):
                    window.change(id, said_by(id, text, parameters), None)
        self._change(self._delta(window)._replace(vocabulary=vocabulary))

    def _carry_out(self, delta: StoreDelta) -> None:
        super()._carry_out(delta)
        if delta.vocabulary is not None:
            self.vocabulary = delta.vocabulary

    def add_many(self, bulk: Bulk) -> None:
        """Add subscriptions whose ids are valid and different: all or, if one is refused, none."""
        taken = self.ids.first_held(bulk.ids)
        if taken is not None:
            raise duplicate(taken)
        self.ids.check_room(bulk.ids)
        import numpy as np

        keys = self.ids.free_keys(len(bulk.ids))
        by_position = np.array(keys, np.int32)
        groups = [Group(by_position[positions], operands) for positions, operands in bulk.groups]
        self._change(
            StoreDelta(
                self.arrived + len(keys),
                Delta(added_groups=groups),
                arrivals=Arrivals(
                    bulk.ids,
                    keys,
                    owners={keys[position]: owner for position, owner in bulk.owners.items()},
                    templates={keys[position]: each for position, each in bulk.templates.items()},
                    sources={keys[position]: text for position, text in bulk.sources.items()},
                    dialects={keys[position]: name for position, name in bulk.dialects.items()},
                ),
                touched=[Touched(id, False, None) for id in bulk.ids] if self.is_followed else (),
            )
        )

    def _stated_delta(
        self,
        removed: list[int],
        added: list[tuple[int, Stated]],
        changed: list[tuple[int, Stated]],
        moved: Sequence[tuple[np.ndarray, OperandColumns]],
    ) -> Delta:
        groups = [Group(*each) for each in moved] if moved else ()
        if len(removed) + len(added) + len(changed) < _FEW:
            return Delta(removed, added, changed, (), groups)
        return Delta(removed, (), (), _grouped(added), [*groups, *_grouped(changed)])

    def _put_stated(self, delta: DeltaOf[Stated, Subscription]) -> None:
        assert isinstance(delta, Delta)
        if delta.added_groups or delta.changed_groups:
            for group in (*delta.added_groups, *delta.changed_groups):
                self.statements.put_columns(group.keys, group.operands)
        super()._put_stated(delta)

    def _filled_anew(self) -> Matcher:
        matcher = type(self.matcher)(absent=self.matcher.absent)
        fill(matcher, self.statements)
        return matcher


def fill(matcher: Matcher, statements: Statements) -> None:
    """Have an empty matcher hold what is stated; it may refuse."""
    groups = [Group(*each) for each in statements.grouped()]
    matcher.apply(Delta(added_groups=groups), statements.get)


def _grouped(single: Sequence[tuple[int, Stated]]) -> list[Group]:
    """The same, those of one outline together."""
    return [Group(*each) for each in gathered(single)]
