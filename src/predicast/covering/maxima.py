r"""``Maxima``: which wishes have to be told to somebody, and what the others are covered by.

A listener is told what others want, unless that is covered by something else that others want. So
what is told to a listener are the maxima of what is *wanted for* it, and these differ from listener
to listener only by what one of them alone has asked for: that is wanted for all but itself. ::

        price < 20     asked for by a         told to b and c, and carries the next two
           |    \
        price < 9    price < 8                told to a alone: for it, nothing covers them
        by b         by c

A wish that is covered *leans on* one that covers it, which *carries* it. One is enough if it is
wanted for all for whom the other is. If a listener alone has asked for it, it leaves out that one,
and two that leave out different ones do for everybody. A wish that leans on enough is told to
nobody, and need not be known to anybody: what it covers, or might, is covered likewise by what is
told instead. So the index (``predicast.covering.index``) holds nothing but what is told to
somebody. And what is wanted for no listener, as all that the only neighbour wants, is *idle*: in a
tree most brokers are leaves, and that is most of what they hold.

When a wish comes, it is looked for something that it may lean on. Only if there is not enough, it
enters the index, and those that it covers there may lean on it. When one goes, those that leaned on
it are looked at again. All of this is put off until somebody asks (``settle``), and then done for
all of them together.

**Invariants**, once it is settled, for every listener and every wish that is wanted for it:

1. If another one that is wanted for it covers the wish, then one of those that the wish leans on is
   wanted for it and covers the wish.
2. If none does, the wish is in the index.

Whoever covers a wish for a listener is covered by a maximum of that listener's or is one; that is
in the index, so the index answers for all wishes.

**Cost.** A wish that comes: a question to the index and, if it is told to somebody, a second one;
covering tests until it leans on enough. One that goes: the same for each that leaned on it.

Rejected: the covering graph (``predicast.covering.graph``), on which this was built first. It knows
of all wishes which covers which, and pays for that with every change: with all coverers found, all
covered ones, and bridges where a wish goes. Of those it is only ever asked for the nearest.
"""

from __future__ import annotations

from collections.abc import Collection

from predicast.covering.index import SketchIndex
from predicast.covering.sketches import Sketch
from predicast.covering.wish import Wish


class Maxima:
    """Wishes with a filter, and what each of them leans on."""

    def __init__(self, listeners: Collection[str]) -> None:
        """``listeners`` are those that are told, at any time."""
        self._listeners = listeners
        self._index = SketchIndex()
        self._by_number: list[Wish | None] = []
        # Dictionaries for their order, which makes runs reproducible.
        self._unsettled: dict[Wish, None] = {}
        self._idle: dict[Wish, None] = {}

    def widened(self, wish: Wish) -> None:
        """A wish is new, or wanted for one listener more."""
        self._unsettle(wish)
        for each in list(wish.carries):
            if each.number >= 0:  # it did not lean on enough, and does now
                self._unsettle(each)

    def narrowed(self, wish: Wish) -> None:
        """A wish is wanted for one listener less."""
        if not self._is_wanted(wish):
            self._unsettle(wish)
        for each in list(wish.carries):
            if not self._leans_on_enough(each):
                self._unsettle(each)

    def removed(self, wish: Wish) -> None:
        """A wish is gone."""
        for each in list(wish.carries):
            self._unsettle(each)
        self._unsettle(wish)
        del self._unsettled[wish]
        self._take_out(wish)

    def listened(self) -> None:
        """There is another listener: what was wanted for none may be wanted for it."""
        self._unsettled |= self._idle
        self._idle.clear()

    def settle(self) -> dict[Wish, None]:
        """See to all that was put off; returns the wishes of which more or less may be told."""
        if not self._unsettled or not self._listeners:
            return {}
        unsettled, self._unsettled = self._unsettled, {}
        wanted: list[Wish] = []
        for wish in unsettled:
            if self._is_wanted(wish):
                wanted.append(wish)
            else:
                self._take_out(wish)
                self._idle[wish] = None
        maxima = self._told(wanted)
        for wish in maxima:
            self._put_in(wish)
        below = self._index.may_be_covered_each([self._sketch(wish) for wish in maxima])
        for wish, numbers in zip(maxima, below, strict=True):
            for number in numbers:
                each = self._by_number[number]
                if each is not None and each is not wish and self._lean(each, wish):
                    unsettled[each] = None
                    if self._leans_on_enough(each):
                        self._take_out(each)
        return unsettled

    def _told(self, wanted: list[Wish]) -> list[Wish]:
        """Those of some wishes that find not enough in the index to lean on."""
        above = self._index.may_cover_each([self._sketch(wish) for wish in wanted])
        told: list[Wish] = []
        for wish, numbers in zip(wanted, above, strict=True):
            for number in numbers:
                each = self._by_number[number]
                if each is None or each is wish:
                    continue
                if self._lean(wish, each) and self._leans_on_enough(wish):
                    self._take_out(wish)
                    break
            else:
                told.append(wish)
        return told

    def _lean(self, wish: Wish, on: Wish) -> bool:
        """Have a wish lean on another, if that covers it and it does not lean on enough so far."""
        left_out = on.only_source(self._listeners)
        is_enough = left_out is None or left_out == wish.only_source(self._listeners)
        before = wish.leans_on
        if before and (
            self._leans_on_enough(wish)
            or (not is_enough and before[0].only_source(self._listeners) == left_out)
        ):
            return False
        assert wish.filter is not None
        assert on.filter is not None
        if not on.filter.covers(wish.filter):
            return False
        if is_enough:
            self._stand_alone(wish)
        wish.leans_on = (*wish.leans_on, on)
        on.carries[wish] = None
        return True

    def _leans_on_enough(self, wish: Wish) -> bool:
        """Whether it is covered for all for whom it is wanted."""
        left_out = {each.only_source(self._listeners) for each in wish.leans_on}
        return (
            len(left_out) > 1 or None in left_out or wish.only_source(self._listeners) in left_out
        )

    def _is_wanted(self, wish: Wish) -> bool:
        """Whether it is wanted for some listener."""
        least = 1 if wish.only_source(self._listeners) is None else 2
        return len(self._listeners) >= least

    def _unsettle(self, wish: Wish) -> None:
        self._stand_alone(wish)
        self._idle.pop(wish, None)
        self._unsettled[wish] = None

    def _stand_alone(self, wish: Wish) -> None:
        for each in wish.leans_on:
            del each.carries[wish]
        wish.leans_on = ()

    # The index.

    def _put_in(self, wish: Wish) -> None:
        if wish.number < 0:
            wish.number = self._index.add(self._sketch(wish))
            if wish.number == len(self._by_number):
                self._by_number.append(wish)
            else:
                self._by_number[wish.number] = wish

    def _take_out(self, wish: Wish) -> None:
        if wish.number >= 0:
            self._index.remove(wish.number)
            self._by_number[wish.number] = None
            wish.number = -1

    def _sketch(self, wish: Wish) -> Sketch:
        if wish.sketch is None:
            assert wish.filter is not None
            wish.sketch = self._index.sketch(wish.filter)
        return wish.sketch
