"""What goes wrong in a round, drawn before it begins: crashes, cut links, who leaves and who joins.

Only brokers without clients leave: clients have nobody else to go to. Everything is mended when the
round ends, however long it was to last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from random import Random

from predicast.routing import Message
from predicast.routing.simulation.broker import Broker, Fall
from predicast.routing.simulation.clock import Action, Clock
from predicast.routing.simulation.network import Network
from predicast.routing.simulation.options import Faults


class Mischief:
    """Whoever makes things go wrong."""

    def __init__(
        self, clock: Clock, network: Network[Message], faults: Faults, random: Random
    ) -> None:
        self._clock = clock
        self._network = network
        self._faults = faults
        self._random = random
        self._round = 0
        self.done: Counter[str] = Counter()

    def plan(
        self,
        brokers: Sequence[Broker],
        leavers: Sequence[Broker],
        newcomers: Sequence[Broker],
        links: Sequence[tuple[str, str]],
        round_s: float,
    ) -> None:
        """Draw what happens in the round that begins now."""
        faults, self._round = self._faults, self._round + 1
        for broker in brokers:
            for moment, length in self._moments(faults.crash_rate, faults.down_s, round_s):
                self._later(moment, partial(self._crash, broker, length))
        for broker in leavers:
            for moment, length in self._moments(faults.leave_rate, faults.down_s, round_s):
                self._later(moment, partial(self._leave, broker, length))
        for broker in newcomers:
            self._later(self._random.random() * round_s, partial(self._join, broker))
        for one, other in links:
            for moment, length in self._moments(faults.partition_rate, faults.cut_s, round_s):
                self._later(moment, partial(self._cut, one, other, length))

    def end(self) -> None:
        """Let nothing of what was planned happen any more."""
        self._round += 1

    def _later(self, delay_s: float, action: Action) -> None:
        """Do this later, if the round has not ended by then."""
        planned = self._round

        def act() -> None:
            if planned == self._round:
                action()

        self._clock.after(delay_s, act)

    def _moments(self, rate: float, longest_s: float, round_s: float) -> list[tuple[float, float]]:
        """When something of this rate happens, and how long each time lasts."""
        found: list[tuple[float, float]] = []
        moment = self._random.expovariate(rate) if rate else round_s
        while moment < round_s:
            found.append((moment, self._random.uniform(0.1, 1.0) * longest_s))
            moment += self._random.expovariate(rate)
        return found

    def _crash(self, broker: Broker, down_s: float) -> None:
        if broker.router is None:
            return
        self.done["crashes"] += 1
        broker.fall(self._random.choice(tuple(Fall)), self._random.random())
        # A broker that has nothing to do falls all the same.
        self._later(down_s / 4, broker.crash)
        self._later(down_s, broker.start)

    def _leave(self, broker: Broker, down_s: float) -> None:
        if broker.router is not None:
            self.done["leaves"] += 1
            broker.leave()
        self._later(down_s, broker.start)

    def _join(self, broker: Broker) -> None:
        if not broker.was_started:
            self.done["joins"] += 1
        broker.start()

    def _cut(self, one: str, other: str, cut_s: float) -> None:
        self.done["partitions"] += 1
        self._network.cut(one, other)
        self._later(cut_s, partial(self._network.mend, one, other))
