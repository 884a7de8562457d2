"""``Engine``: subscriptions with ids and owners, and a matcher that finds those an event matches.

This is the library's front door, and the only place where ids meet the integer keys that matchers
work with. Every call is checked before anything changes: a call that refuses has changed nothing,
and one that is interrupted, by Ctrl-C say, has changed all that it was to change or nothing
(``store_of.py``). Calls from several threads look as if served one at a time, and a change is
visible to every call that starts after it returned. Changes do wait for each other; those who match
wait for nobody, and nobody for them, unless the algorithm is one of the papers'.

What subscriptions state is kept in columns where they came in bulk (``statements.py``): an
``Entry`` is made when somebody looks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace as replaced
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from predicast.engine.asking import (
    Asking,
    InvalidEvents,
    OnInvalid,
    checked_time,
    several,
)
from predicast.engine.entry import Entry
from predicast.engine.explanation import Explanation
from predicast.engine.judging import Explainer
from predicast.engine.operations import Subscribe
from predicast.engine.tables import EngineOfTables
from predicast.errors import (
    EngineError,
)
from predicast.language import Readable
from predicast.matching import DEFAULT, make_matcher
from predicast.model import Absent, Event, Value
from predicast.model.event_reader import names_of
from predicast.model.vocabulary import HasVocabulary, Vocabulary, checked_vocabulary

if TYPE_CHECKING:
    import numpy as np

    from predicast.arrow import TableLike
    from predicast.engine.backtest import Backtest
    from predicast.engine.bulk import Records
    from predicast.engine.lint import Finding
    from predicast.engine.profile import Profile
    from predicast.engine.snapshot import Snapshot
    from predicast.engine.store import SubscriptionStore
    from predicast.matching.matcher import Pairs

A = TypeVar("A")
R = TypeVar("R")


class Engine(EngineOfTables):
    """Standing subscriptions, and the events they match.

    >>> engine = Engine()
    >>> engine.subscribe("price < 10 AND symbol = 'IBM'", id="alice-1", owner="alice")
    'alice-1'
    >>> engine.match({"price": 9.5, "symbol": "IBM"})
    ['alice-1']

    ``matcher`` names the algorithm; all of them give the same answers. ``absent`` says what
    becomes of constraints on attributes that an event lacks: they fail, as in SQL, or pass.
    ``on_invalid`` says what becomes of an event whose attribute some subscription looks at and
    cannot be compared, such as a NaN: it is refused (``"raise"``), or the attribute counts as
    absent, or the event is skipped and matches nothing. The latter two are counted (``invalid``).
    By an ``ontology``, a ``predicast.graph.Ontology`` say, texts may name classes (``type IS A
    'Computer'``), and an attribute that is a property is given by those below it as well.
    """

    def __init__(
        self,
        *,
        matcher: str = DEFAULT,
        absent: Absent = "fails",
        on_invalid: OnInvalid = "raise",
        ontology: HasVocabulary | None = None,
    ) -> None:
        if absent not in {"fails", "passes"}:
            raise EngineError(f"absent is 'fails' or 'passes', not {absent!r}")
        from predicast.engine.store import SubscriptionStore  # imports NumPy, which takes its time

        vocabulary = None if ontology is None else checked_vocabulary(ontology)
        made = make_matcher(matcher, absent=absent)
        super().__init__(matcher, SubscriptionStore(made, vocabulary))
        self._absent: Absent = absent
        self._asking = Asking(on_invalid)

    # What there is.

    @property
    def absent(self) -> Absent:
        """What becomes of a constraint on an attribute that the event lacks."""
        return self._absent

    @property
    def on_invalid(self) -> OnInvalid:
        """What becomes of an event with something that cannot be compared."""
        return self._asking.on_invalid

    @property
    def invalid(self) -> InvalidEvents:
        """How many events had something that could not be compared, and was not refused."""
        return self._asking.invalid()

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The names of the ontology that it goes by, if there is one."""
        return self._store.vocabulary

    def get(self, id: str) -> Entry:
        """The subscription with this id."""
        with self._lock:
            store = self._whole()
            return store.entry(id, store.key(id))

    def subscriptions(self, *, owner: str | None = None) -> list[Entry]:
        """All subscriptions, or those of one owner, in the order in which they came."""
        with self._lock:
            store = self._whole()
            if owner is not None:
                return [store.entry(id, key) for id, key in store.owned(owner)]
            stated = dict(store.statements.items())
            return [store.entry(id, key, stated[key]) for id, key in store.ids.items()]

    def dialects(self) -> frozenset[str]:
        """The names of the dialects that some texts are of, beside ``where``."""
        with self._lock:
            return frozenset(self._whole().sources.dialects().values())

    def attributes(self) -> frozenset[str]:
        """The names of all attributes that some subscription looks at.

        Of a derived attribute, such as ``price * qty``, they are those it is computed from; of an
        ontology's property, all that give it a value.
        """
        with self._lock:
            return self._whole().view.reader.names

    def givers(self) -> dict[str, frozenset[str]]:
        """What some subscription looks at by name, each with the attributes that give it a value.

        Without an ontology those are the attributes of that name.
        """
        with self._lock:
            store = self._whole()
            names, vocabulary = store.statements.reader().names, store.vocabulary
        if vocabulary is None:
            return {name: frozenset({name}) for name in names}
        return {name: vocabulary.attribute_names(name) for name in names}

    @property
    def asks_for_now(self) -> bool:
        """Whether some subscription depends on when events arrive, by ``now()``."""
        with self._lock:
            return self._whole().statements.derivation().asks_for_now

    def warm_up(self) -> None:
        """Come back when matching is at full speed: what it needs is compiled, and in use.

        Nobody has to wait for that, but some want to. It takes some twenty seconds, once per
        machine: the result is kept on disk, where other processes find it. ``predicast warm-up``
        does the same when an image or an environment is built. ``NotCompiledError`` if it cannot be
        done.
        """
        from predicast.matching import make_matcher

        make_matcher(self._matcher_name).warm_up()  # one of its own: nobody has to wait for it

    # Changing it.

    def subscribe(
        self,
        expression: Readable,
        *,
        id: str | None = None,
        owner: str | None = None,
        parameters: Mapping[str, Value] | None = None,
        replace: bool = False,
        dialect: str | None = None,
    ) -> str:
        """Add a subscription and return its id, one of our own making if none is given.

        Where text may have parameters, ``x BETWEEN :x1 AND :x2``, whose values ``parameters``
        gives and ``change`` can set anew without parsing anything. An id that is taken is refused;
        with ``replace`` it gets the new expression and owner instead. ``dialect`` names the
        language of the text, if it is not ``where``.
        """
        store = self._store  # as _read_and_run does, without two functions for each subscription
        vocabulary, said = store.vocabulary, store.read(id, expression, parameters, dialect)
        with self._lock:
            store.recover()
            if store.still_reads_by(vocabulary):
                return store.subscribe(id, said, owner, replace=replace)
        return self.subscribe(
            expression,
            id=id,
            owner=owner,
            parameters=parameters,
            replace=replace,
            dialect=dialect,
        )

    def change(
        self,
        id: str,
        expression: Readable | None = None,
        *,
        parameters: Mapping[str, Value] | None = None,
        dialect: str | None = None,
    ) -> None:
        """Replace what a subscription states, or some of its parameters; id and owner stay."""
        store = self._store
        vocabulary = store.vocabulary
        said = store.read_change(id, expression, parameters, dialect)
        with self._lock:
            store.recover()
            if store.still_reads_by(vocabulary):
                return store.change(id, said, parameters)
        return self.change(id, expression, parameters=parameters, dialect=dialect)

    def subscribe_many(
        self,
        records: Records,
        *,
        owner: str | None = None,
        replace: bool = False,
        dialect: str | None = None,
    ) -> None:
        """Add many subscriptions: all of them or, if one is refused, none.

        Given as (id, expression) pairs, as a mapping of ids to expressions, or as records with
        ``id``, ``expression`` and perhaps ``owner``, ``parameters`` and ``dialect``; these may be
        the columns of a frame of pandas, Polars, DuckDB or PyArrow. ``owner`` is whose they are,
        and ``dialect`` the language of their texts, unless a record says otherwise. An id that is
        taken is refused; with ``replace`` it gets the new expression and owner instead.
        """
        from predicast.engine.bulk import read_records
        from predicast.engine.window_reports import read_all, run_together

        operations: Iterable[Subscribe] = read_records(records, owner, dialect)
        if self._store.vocabulary is not None:
            operations = list(operations)  # they may have to be read twice
        if not replace:
            self._read_and_run(
                lambda: self._store.read_all_new(operations),
                lambda store, bulk: store.add_many(bulk),
            )
            return
        given = [replaced(operation, replace=True) for operation in operations]
        self._read_and_run(
            lambda: read_all(given, "raise", self._store.read),
            lambda store, read: run_together(store, *read, "raise"),
        )

    def subscribe_arrow(self, table: TableLike, *, owner: str | None = None) -> None:
        """Add the subscriptions of a table with one row per constraint: all or none.

        The table is in any form that ``match_arrow`` takes; ``predicast.language.arrow_form``
        lists the columns. All are this owner's, if one is given.
        """
        from predicast.engine.bulk import bulk_from_arrow

        bulk = bulk_from_arrow(table, owner)
        with self._lock:
            self._whole().add_many(bulk)

    def change_ontology(self, ontology: HasVocabulary) -> None:
        """Go by this ontology from now on, an extended one say; all or nothing.

        Subscriptions whose texts name classes are read anew, and have changed if that makes a
        difference to them or not. Where one names a class that is gone, the ontology is refused.
        """
        vocabulary = checked_vocabulary(ontology)
        with self._lock:
            self._whole().understand(vocabulary)

    def _read_and_run(self, read: Callable[[], R], run: Callable[[SubscriptionStore, R], A]) -> A:
        while True:
            vocabulary, found = self._store.vocabulary, read()
            with self._lock:
                store = self._whole()
                if store.still_reads_by(vocabulary):
                    return run(store, found)

    # Asking it.

    def match(
        self,
        event: Event | Mapping[str, Any],
        *,
        on_invalid: OnInvalid | None = None,
        now: datetime | None = None,
    ) -> list[str]:
        """The ids of the subscriptions that the event matches, sorted.

        Here and below ``on_invalid`` takes the place of the engine's own for this call, and ``now``
        is when the events arrive, for subscriptions that ask ``now()``; unless given, the clock is
        read once per call.
        """
        if self._has_lasting_views and self._store.is_settled():
            return self._asking.match(self._store.view, event, on_invalid, now)
        return self._ask(lambda view: self._asking.match(view, event, on_invalid, now))

    def match_batch(
        self,
        events: Iterable[Event | Mapping[str, Any]],
        *,
        on_invalid: OnInvalid | None = None,
        now: datetime | None = None,
    ) -> list[list[str]]:
        """One sorted list of ids per event."""
        given = several(events)
        return self._ask(lambda view: self._asking.match_batch(view, given, on_invalid, now))

    def match_keys(self, events: Sequence[Event], *, now: datetime | None = None) -> Pairs:
        """The matches as pairs of numbers: an event's position, and a key (see ``key``).

        For whoever sorts many matches by something of their own, as routers do by neighbours.
        """
        return self._ask(lambda view: self._asking.match_keys(view, events, now))

    def explain(
        self, id: str, event: Event | Mapping[str, Any], *, now: datetime | None = None
    ) -> Explanation:
        """Why the subscription matches the event, or why not, part by part of what was written."""
        explainer = Explainer.of(self.get(id), self._absent, self._store.vocabulary)
        read = self._asking.explained(explainer.reader, event)
        return explainer.explanation(read, checked_time(now), names_of(event))

    def lint(
        self,
        events: Iterable[Event | Mapping[str, Any]] | TableLike | None = None,
        *,
        checks: Iterable[str] | None = None,
        across_owners: bool = False,
    ) -> list[Finding]:
        """What looks wrong with subscriptions, in the order in which they came.

        That is: what is never or always true, says what another says or less (of the same owner,
        unless ``across_owners``), or is tested with every event. By a sample of ``events``, in any
        form that ``match_batch`` or ``match_arrow`` takes, also attributes that do not occur and
        values of another kind; without one, names near those that many others have. ``checks``
        names those to make (``predicast.engine.lint.Check``), all unless given.
        """
        from predicast.engine.lint.linting import Linting, checked_checks

        asked = checked_checks(checks)
        with self._lock:
            reader, vocabulary = self._whole().view.reader, self._store.vocabulary
        givers = (lambda name: (name,)) if vocabulary is None else vocabulary.attribute_names
        linting = Linting(self.subscriptions(), reader, givers, self._absent)
        return linting.findings(events, asked, across_owners=across_owners)

    def backtest(
        self,
        events: Iterable[Event | Mapping[str, Any]] | TableLike,
        *,
        against: Engine | Records | None = None,
        samples: int = 3,
        on_invalid: OnInvalid | None = None,
        now: datetime | None = None,
    ) -> Backtest:
        """How often each subscription would have fired in these events of the past.

        Events are in any form that ``match_batch`` or ``match_arrow`` takes; a stream of them is
        read as it comes. ``against`` is another version of the subscriptions, an engine or what
        ``subscribe_many`` takes: which events each gains and loses is counted, too. ``samples`` is
        how many events are kept of each sort. ``predicast.spark.backtest`` does the same in Spark.
        """
        from predicast.engine.backtest import Versions, backtest

        return backtest(Versions.of(self, against, on_invalid), events, samples, now)

    def profile(
        self,
        events: Iterable[Event | Mapping[str, Any]] | TableLike,
        *,
        measured: int = 100,
        now: datetime | None = None,
    ) -> Profile:
        """How often each subscription matches these events, and what each costs.

        Events are in any form that ``match_batch`` or ``match_arrow`` takes. The time of so many as
        ``measured`` says is measured, those first that are likely to cost most. Nothing is counted
        while the engine is at work, so that who never asks pays nothing.
        """
        from predicast.engine.profile import profile

        return profile(self, events, measured, now)

    # Keeping it.

    def to_bytes(self) -> bytes:
        """The whole engine as a snapshot that travels to another process."""
        from predicast.engine import snapshot

        return snapshot.to_bytes(self._taken_apart())

    @classmethod
    def from_bytes(
        cls, data: bytes, *, matcher: str | None = None, on_invalid: OnInvalid = "raise"
    ) -> Self:
        """The engine of a snapshot."""
        import numpy as np

        # Copied: what was sent cannot be written to, and matchers write to what they hold.
        file = np.frombuffer(data, np.uint8).copy()
        return cls._from_file(file, None, matcher, on_invalid)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickles, copies and deep copies are snapshots. The lock and whoever follows the changes
        # belong to this engine and stay with it.
        return partial(type(self).from_bytes, on_invalid=self.on_invalid), (self.to_bytes(),)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the engine to a file, atomically: a crash leaves the old file or the new one.

        The engine goes on matching and changing meanwhile; the file holds what was there when
        ``save`` was called. It is read back before it replaces anything: after an error, a
        ``SnapshotNotSavedError``, there is the old file.
        """
        from predicast.engine import snapshot

        snapshot.save(self._taken_apart(), path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        matcher: str | None = None,
        on_invalid: OnInvalid = "raise",
    ) -> Self:
        """The engine in a file; a damaged file is refused, not half-read.

        The file is mapped into memory, which all processes that load it share. The checksum
        finds accidents, not forgeries: load only files that you trust. Replace a file
        by saving to it; whoever has loaded it keeps what it was. How events are read is not in the
        file: ``on_invalid`` says it anew.
        """
        from predicast.engine import snapshot

        return cls._from_file(snapshot.mapped(path), os.fspath(path), matcher, on_invalid)

    def _taken_apart(self) -> Snapshot:
        """All there is, untouched by later changes; written down after the lock is given back."""
        with self._lock:
            store = self._whole()
            view = store.view
            structure = None if self._has_lasting_views else view.matcher.stored()
            saved = store.taken_apart(self._matcher_name, structure)
        return saved._replace(structure=view.matcher.stored()) if self._has_lasting_views else saved

    @classmethod
    def _from_file(
        cls, file: np.ndarray, path: str | None, matcher: str | None, on_invalid: OnInvalid
    ) -> Self:
        from predicast.engine import snapshot
        from predicast.engine.snapshot.layout import naming

        with naming(path):
            saved = snapshot.decode(file)
            if matcher not in {None, saved.matcher}:
                saved = saved._replace(structure=None)  # another matcher's, of no use to this one
            matcher = matcher or saved.matcher
            engine = cls(matcher=matcher, absent=saved.absent, on_invalid=on_invalid)
            engine._store.restore(saved)
        return engine
