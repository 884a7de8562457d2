"""``Summary``: what a task has done, in the one row that it sends back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from predicast.spark.delivery.drafts import DraftFile

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_MOST_MATCHED: Final = 20  # subscriptions that a task names
_MATCHED: Final = pa.struct([("id", pa.string()), ("matches", pa.int64())])
_FILE: Final = pa.struct(
    [("draft", pa.int32()), ("name", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())]
)
SUMMARY: Final = pa.schema(
    [
        ("events", pa.int64()),
        ("matches", pa.int64()),
        ("dead_letters", pa.int64()),
        ("invalid", pa.int64()),
        ("most_matched", pa.list_(pa.field("element", _MATCHED))),
        ("files", pa.list_(pa.field("element", _FILE))),
    ]
)


def summary_type() -> StructType:
    """The same as Spark has it."""
    from pyspark.sql.types import ArrayType, StructType

    matched = StructType().add("id", "string").add("matches", "long")
    file = StructType().add("draft", "integer").add("name", "string")
    file = file.add("rows", "long").add("bytes", "long")
    found = StructType()
    for count in ("events", "matches", "dead_letters", "invalid"):
        found = found.add(count, "long")
    return found.add("most_matched", ArrayType(matched)).add("files", ArrayType(file))


@dataclass(slots=True)
class Summary:
    """Counts of one attempt of a task."""

    events: int = 0
    matches: int = 0
    dead_letters: int = 0
    invalid: int = 0
    most_matched: Counter[str] = field(default_factory=Counter)

    def count(self, ids: pa.StringArray) -> None:
        """Count matches, and note the subscriptions that most events match, of each piece a few."""
        self.matches += len(ids)
        if not len(ids):
            return
        counts = pa.RecordBatch.from_struct_array(pc.value_counts(ids))
        first = pc.select_k_unstable(counts, _MOST_MATCHED * 5, [("counts", "descending")])
        for each in counts.take(first).to_pylist():
            self.most_matched[each["values"]] += each["counts"]

    def told(self, files: Iterable[DraftFile]) -> dict[str, Any]:
        """All of it, and the files that were written."""
        return {
            "events": self.events,
            "matches": self.matches,
            "dead_letters": self.dead_letters,
            "invalid": self.invalid,
            "most_matched": [
                {"id": id, "matches": count}
                for id, count in self.most_matched.most_common(_MOST_MATCHED)
            ],
            "files": [file._asdict() for file in files],
        }


def sent_back(*told: dict[str, Any]) -> pa.RecordBatch:
    """What tasks have told, in rows."""
    return pa.RecordBatch.from_pylist(told, SUMMARY)
