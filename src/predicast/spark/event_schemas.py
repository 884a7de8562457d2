"""Subscriptions against the schema of events: what can be found out before any event is there.

A subscription that looks at a column which is not there, or compares it with what it never holds
(``price = '2.5'`` where prices are numbers), is mistaken, and nothing else would tell: it would
match nothing. Whether it does depends on its outline alone, of which a million subscriptions have a
few; so that is looked at once per outline.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from predicast.engine.derivation import Derivation
from predicast.errors import ColumnClashError, UnknownColumnError, UnsupportedColumnError
from predicast.matching.batches.interval_columns import IntervalColumns
from predicast.model import Kind, Operator
from predicast.model.operators import JOINED, SET
from predicast.model.outline import KINDS, Outline, Slot, Stated
from predicast.model.values import kind_of
from predicast.model.vocabulary import Vocabulary
from predicast.spark.schemas import GivenBy, LeafField, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from predicast.spark.compiled import CompiledSubscriptions

Mistake = UnknownColumnError | UnsupportedColumnError | ColumnClashError

_COMPARED_WITH: Final = {
    Kind.NUMBER: "a number",
    Kind.STRING: "a string",
    Kind.BOOLEAN: "a boolean",
    Kind.TIMESTAMP: "a timestamp",
    Kind.LIST: "a list",
}


class EventSchema:
    """The schema that subscriptions are checked against."""

    def __init__(
        self,
        events: DataFrame | StructType,
        intervals: IntervalColumns | None,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        from pyspark.sql.types import StructType

        self._schema = Schema(events if isinstance(events, StructType) else events.schema)
        self._intervals = dict(intervals or {})
        self._vocabulary = vocabulary
        # For as long as one call takes.
        self._mistakes: dict[Outline, Mistake | None] = {}
        self._inside: dict[Outline, list[tuple[int, Slot, list[LeafField]]]] = {}

    def check(self, stated: Stated) -> None:
        """Refuse what no event with such a schema can be asked."""
        outline = stated.outline
        if outline not in self._mistakes:
            self._mistakes[outline] = self._mistake(outline)
        mistake = self._mistakes[outline]
        if mistake is not None:
            raise mistake.with_traceback(None)  # which would grow each time
        for place, slot, columns in self._inside[outline]:
            for kinds in _kinds_inside(slot, stated.operands[place]):
                _check_kinds(kinds, slot, columns)

    def _mistake(self, outline: Outline) -> Mistake | None:
        attributes = outline.attributes()
        read = Derivation(attributes).read(attributes)
        inside = self._inside[outline] = []  # what is compared with is in the operand alone
        place = 0
        try:
            given_by = self._given_by(read)
            names = self._schema.providing(sorted(read), given_by, self._intervals)
            intervals = self._schema.intervals(names, self._intervals)
            leaves = self._schema.leaves(names, intervals)
            for slot in outline.slots():
                givers = given_by.get(slot.attribute, (slot.attribute,))
                columns = [leaves[each] for each in givers if each in leaves]
                if not columns or any(each in intervals for each in givers):
                    pass  # it is derived, or an interval: whatever it is compared with
                elif slot.operator in SET | JOINED:
                    inside.append((place, slot, columns))
                else:
                    compared = {KINDS[each] for each in slot.operands if each in KINDS}
                    _check_kinds(compared or slot.operator.kinds, slot, columns)
                place += len(slot.operands)
        except (UnknownColumnError, UnsupportedColumnError, ColumnClashError) as error:
            return error
        return None

    def _given_by(self, names: Collection[str]) -> GivenBy:
        vocabulary = self._vocabulary
        if vocabulary is None:
            return {}
        return {name: tuple(sorted(vocabulary.attribute_names(name))) for name in names}


def _kinds_inside(slot: Slot, operand: Any) -> Iterator[Collection[Kind]]:
    """The kinds one of which a value must be of: of a set, of any, of each that all joins."""
    if slot.operator in SET:
        yield {kind_of(each) for each in operand}
        return
    for parts in [operand] if slot.operator is Operator.ANY else [[part] for part in operand]:
        kinds = {each.kind for part in parts for each in part.plain()}
        yield () if None in kinds else {kind for kind in kinds if kind is not None}


def _check_kinds(kinds: Collection[Kind], slot: Slot, columns: Sequence[LeafField]) -> None:
    """Refuse a comparison with what the column never holds, or none of those that give it."""
    if not kinds or any(leaf.kind is None or leaf.kind in kinds for leaf in columns):
        return
    what = " or ".join(sorted(_COMPARED_WITH[kind] for kind in kinds))
    kind = columns[0].type.simpleString()
    raise UnsupportedColumnError(
        f"{slot.attribute!r} is compared with {what}, and the column is of type {kind}, so that it "
        "can never match; compare it with a value of that type, or cast the column",
        column=slot.attribute,
        type=kind,
    )


def say_which(mistake: Mistake, compiled: CompiledSubscriptions) -> None:
    """Name the subscriptions that look at a column; it takes a look at all of them."""
    ids = [
        entry.id
        for entry in compiled.entries()
        if mistake.column in Derivation(names := entry.subscription.attributes()).read(names)
    ]
    if not ids:  # it is the end of an interval
        return
    others = f" (and {len(ids) - 1:,} {'other' if len(ids) == 2 else 'others'})" * (len(ids) > 1)
    mistake.subscription = ids[0]
    mistake.message = mistake.message.replace(
        "a subscription looks at", f"subscription {ids[0]!r}{others} looks at"
    )
    mistake.args = (mistake.message,)
