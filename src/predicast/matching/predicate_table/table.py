"""The predicate table with early exit (``ceem``).

Chen, Ju, Pan, Zou and Gong, *Content-based effective event matching algorithm*, Journal on
Communications 32(6), 2011: the structure is section 3.2, subscribing 3.3, matching 3.4.

**Structure.** Three clauses, of which the last two belong together::

                         match
    predicate table      buckets

    k =   (hashed)        [ ]          1            1            4
                                       │            │            │
    x <   (descending)    [ ]          │            90           50
                                       │            │            │
    x >   (ascending)     [ ]          3            │            20
                                       │            │            │
    subscription list                  0            1            2
                                       │            └─────┬──────┘
    interface list                   key 7              key 8

- The *predicate table* has a row for each *family* of predicates: attribute, operator and kind of
  value (``rows.py``). A clause has at most one predicate in a row
  (``families.py``, which also has the order of the rows and its reasons).
- The predicates of a clause are linked from row to row, top to bottom; the last one points into the
  *subscription list*. (All of them know their entry there; removal needs it.)
- The subscription list has an entry for each clause, with its first predicate. The *interface
  list* says which entries belong to an interface. Here that is a key: the paper's interface is a
  subscriber with several subscriptions, a key is a subscription with several clauses, and either
  hears of an event once.
- A *match bucket* for each row holds, during one match, the predicates of that row still worth
  testing.

**Match.** Down the rows: of the predicates in the row's bucket, each that holds puts its successor
into its own row's bucket or, if it is the last, its clause into the result. One that fails drops
its clause there and then: the early exit. A row whose attribute the event lacks holds whole under
``absent="passes"`` and fails whole, which is an early exit too, under ``absent="fails"``.

**Invariants.** A predicate's successor is in a lower row. A row holds those predicates of its
family to which the links of some entry lead, and no others; its heads are those that an entry
names as its first. No row is empty.

**Cost.** Space: O(predicates). To subscribe or unsubscribe: a binary search for each predicate, and
part of its row moves by one place. To match: O(rows) and the predicates visited, at worst all of
them. A region event costs in addition a test of each threshold of an equality row in which clauses
begin, and a test of each clause that survives with several predicates on an interval.

**Where we depart from the paper, and why.**

- It begins by putting every clause's first predicate into a bucket, and so visits every clause. We
  go a step past that and take from a row only those first predicates that hold: a slice of a sorted
  row, one look-up in a hashed one. A clause whose first predicate fails costs nothing.
- Stable numbers instead of column indices, so that it can delete.
- Every operator and kind of the language, both ``absent`` policies (the paper's is ``"passes"``),
  the empty clause, several clauses under one key.
- Theorem 1 is necessary, but not sufficient: it never compares the bounds of a clause with each
  other (``x > 3 AND x < 2``), nor asks for *one* point, which among integers is more than each
  bound having its own (``x > 3 AND x < 4``). So it serves row by row for the early exit, and
  clauses that survive with several predicates on an interval are settled by the model: the domain
  of those predicates must meet the interval.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict

from predicast.matching.matcher import OneByOne
from predicast.matching.memory import deep_bytes
from predicast.matching.predicate_table.cells import Predicate, SubscriptionEntry
from predicast.matching.predicate_table.families import Family, predicates_of
from predicast.matching.predicate_table.rows import Row, Work, row_of
from predicast.model import Absent, Clause, Event, Interval, Subscription
from predicast.model.domain import domain_of
from predicast.model.normal_form import without_rests


class PredicateTable(OneByOne):
    """Clauses as chains of predicates through a table sorted by family and threshold."""

    name = "ceem"

    def __init__(self, *, absent: Absent = "fails") -> None:
        super().__init__(absent=absent)
        self._rows: list[Row] = []  # the predicate table, from top to bottom
        self._row_of: dict[Family, Row] = {}
        self._subscription_list: dict[int, SubscriptionEntry] = {}
        self._interface_list: dict[int, tuple[int, ...]] = {}
        self._empty_clauses: dict[int, SubscriptionEntry] = {}  # they are in no row
        self._next_number = 0
        self._work = Work()
        self._rows_walked = 0
        self._events = 0

    def subscribe(self, key: int, subscription: Subscription) -> None:
        clauses = without_rests(subscription, self.name).clauses
        self._interface_list[key] = tuple(self._add(key, each) for each in clauses)

    def unsubscribe(self, key: int) -> None:
        for number in self._interface_list.pop(key):
            self._drop(self._subscription_list.pop(number))

    def change(self, key: int, subscription: Subscription) -> None:
        subscription = without_rests(subscription, self.name)  # or it is refused before all else
        self.unsubscribe(key)
        self.subscribe(key, subscription)

    def match(self, event: Event) -> list[int]:
        self._events += 1
        self._rows_walked += len(self._rows)
        buckets: defaultdict[Row, list[Predicate]] = defaultdict(list)
        matched = list(self._empty_clauses.values())
        for row in self._rows:
            bucket = buckets.pop(row, [])
            if not bucket and not row.heads:
                continue
            for predicate in row.holding(event.get(row.family.attribute), bucket):
                successor = predicate.successor
                if successor is None:
                    matched.append(predicate.entry)
                else:
                    buckets[successor.row].append(successor)
        if event.is_region:
            matched = [entry for entry in matched if self._shares_a_point(entry, event)]
        return list(dict.fromkeys(entry.key for entry in matched))

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done.

        ``constraints_tested`` counts comparisons with a threshold: the steps of a binary search,
        a look-up in a hashed row, the two ends of a sorted row, each predicate of a bucket, and a
        region that has to meet several predicates at once. ``candidates`` counts the predicates
        that came into a bucket or were taken from a row as a clause's first. ``rows_walked`` counts
        the rows that each event was taken down, whether or not anything was in their buckets.
        """
        return {
            "subscriptions": len(self._interface_list),
            "clauses": len(self._subscription_list),
            "predicates": sum(len(row.predicates) for row in self._rows),
            "rows": len(self._rows),
            "events": self._events,
            "constraints_tested": self._work.tested,
            "candidates": self._work.candidates,
            "rows_walked": self._rows_walked,
            "bytes": deep_bytes(
                self._rows,
                self._row_of,
                self._subscription_list,
                self._interface_list,
                self._empty_clauses,
            ),
        }

    def _add(self, key: int, clause: Clause) -> int:
        """Enter a clause into the list and its predicates into the table, linked; its number."""
        entry = SubscriptionEntry(self._next_number, key)
        self._next_number += 1
        self._subscription_list[entry.number] = entry
        last: Predicate | None = None
        for family, threshold in predicates_of(clause):
            row = self._row_of.get(family) or self._new_row(family)
            predicate = Predicate(threshold, row, entry)
            row.insert(predicate, is_head=last is None)
            if last is None:
                entry.first = predicate
            else:
                last.successor = predicate
            last = predicate
        if entry.first is None:
            self._empty_clauses[entry.number] = entry
        return entry.number

    def _drop(self, entry: SubscriptionEntry) -> None:
        """Take a clause's predicates out of the table, and rows that are empty then."""
        self._empty_clauses.pop(entry.number, None)
        for predicate in entry.predicates():
            row = predicate.row
            row.remove(predicate, is_head=predicate is entry.first)
            if not row.predicates:
                del self._row_of[row.family]
                del self._rows[self._position(row.family)]
        entry.first = None  # cuts the circle of entry and predicates: their memory is free at once

    def _new_row(self, family: Family) -> Row:
        row = row_of(family, self.absent, self._work)
        self._rows.insert(self._position(family), row)
        self._row_of[family] = row
        return row

    def _position(self, family: Family) -> int:
        return bisect_left(self._rows, family.order(), key=lambda row: row.family.order())

    def _shares_a_point(self, entry: SubscriptionEntry, event: Event) -> bool:
        """Whether, on each interval, one point satisfies all predicates of the clause.

        Each predicate has a point of its own; the rows have seen to that.
        """
        for attribute, value in event.items():
            if not isinstance(value, Interval):
                continue
            together = [p for p in entry.predicates() if p.row.family.attribute == attribute]
            if len(together) > 1:
                self._work.tested += 1
                constraints = tuple(c for p in together for c in p.row.constraints(p))
                if not domain_of(constraints, self.absent).meets(value):
                    return False
        return True
