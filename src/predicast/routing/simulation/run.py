"""A run from its options to its report: begin in peace, then rounds of work and faults, all healed.

When a round has healed, all that was under way has arrived and the tables of all brokers agree;
then the judge looks at what was published in it. What the network keeps although nobody needs it
any more is looked for in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from statistics import median
from typing import Any, Final

from predicast.engine import Operation
from predicast.routing import Host, Message
from predicast.routing.codec import decode, encode
from predicast.routing.simulation.broker import Broker
from predicast.routing.simulation.checkers import Judge, Verdict
from predicast.routing.simulation.client import Client
from predicast.routing.simulation.clock import Clock
from predicast.routing.simulation.convergence import leaks, table_size, unrest
from predicast.routing.simulation.drawing import Picture
from predicast.routing.simulation.ledger import Ledger
from predicast.routing.simulation.mischief import Mischief
from predicast.routing.simulation.network import Network
from predicast.routing.simulation.options import SimulationOptions
from predicast.routing.simulation.population import (
    FORGET_AFTER_S,
    TTL_S,
    broker_name,
    client_name,
    leavers,
    link_options,
    newcomers,
    placed,
    router_options,
)
from predicast.routing.simulation.randomness import random_of
from predicast.routing.simulation.report import SimulationReport, TableSizes, summed
from predicast.routing.simulation.trace import Trace
from predicast.routing.simulation.tree import drawn_tree
from predicast.routing.simulation.workloads import Turn, make_workload

TURNS: Final = 10  # in a round
_LOOK_EVERY_S: Final = 0.02  # how often it is looked at whether the network has converged


def simulate(
    options: SimulationOptions, progress: Callable[[int], None] = lambda _: None
) -> SimulationReport:
    """Run a simulation; ``progress`` is told how many turns are over, of ``rounds * TURNS``."""
    return Simulation(options).run(progress)


class Simulation:
    """A network under way."""

    def __init__(self, options: SimulationOptions) -> None:
        self.options = options
        seed, faults = options.seed, options.faults
        self.clock = Clock()
        self.ledger = Ledger()
        self.trace = Trace()
        self.tree = drawn_tree(options.brokers, options.fan_out, random_of(seed, "tree"))
        self._workload = make_workload(options)
        self._random = random_of(seed, "turns")
        self._network: Network[Message] = Network(
            self.clock, options.link_s, faults, random_of(seed, "network"), self._receive
        )
        self._network.calm = True
        self._mischief = Mischief(self.clock, self._network, faults, random_of(seed, "mischief"))
        self.brokers = [
            Broker(
                each,
                self.clock,
                self._send,
                step_s=options.step_s,
                may_fall=faults.crash_rate > 0,
            )
            for each in router_options(self.tree, options)
        ]
        leaving = leavers(options, random_of(seed, "leavers"))
        self._leavers = [self.brokers[number] for number in leaving]
        self._joins_in = newcomers(self.tree, options, random_of(seed, "newcomers"))
        self.homes = placed(self.tree, options, self._workload, leaving)
        self.clients = [
            Client(
                number,
                Host(client_name(number), broker_name(home), options=link_options(options)),
                self.clock,
                self.ledger,
                self._send,
            )
            for number, home in enumerate(self.homes)
        ]
        self._by_name: dict[str, Callable[[str, Message], None]] = {
            **{broker.name: broker.receive for broker in self.brokers},
            **{client.name: client.receive for client in self.clients},
        }
        self._round = -1
        self._judge = Judge(self.ledger)
        self._converged: list[float] = []
        self._verdicts: list[Verdict] = []
        self._violations: list[str] = []

    def run(self, progress: Callable[[int], None]) -> SimulationReport:
        """Go through all rounds."""
        self._begin()
        for number in range(self.options.rounds):
            self._work(number, progress)
            self._heal()
            if self._violations:
                break  # what follows would only be about the same
            self._look_at_deliveries()
        if not self._violations:
            self._look_for_leaks()
        return self._report()

    # The rounds.

    def _begin(self) -> None:
        for broker in self._there():
            broker.start()
        for client in self.clients:
            client.start()
        wanted: dict[int, list[Operation]] = {}
        for number, operation in self._workload.begin():
            wanted.setdefault(number, []).append(operation)
        for number, operations in wanted.items():
            self.clients[number].announce(operations)
        self._wait()

    def _work(self, number: int, progress: Callable[[int], None]) -> None:
        options, before, self._round = self.options, self._there(), number
        there = self._there()
        self._network.disturb()
        links = [(broker, parent) for broker, parent in self._parents() if parent is not None]
        links += [(client.name, broker_name(home)) for client, home in self._at_home()]
        leavers = [broker for broker in self._leavers if broker in there]
        coming = [broker for broker in there if broker not in before]
        self._mischief.plan(there, leavers, coming, links, options.round_s)
        begin, turn_s = self.clock.now, options.round_s / TURNS
        for turn in range(TURNS):
            done, turns = number * TURNS + turn, options.rounds * TURNS
            events = options.events * (done + 1) // turns - options.events * done // turns
            self._act(self._workload.turn(events), turn_s)
            self.clock.run_until(begin + (turn + 1) * turn_s)
            progress(done + 1)

    def _send(self, sender: str, receiver: str, message: Message) -> None:
        self.trace.sends(sender, receiver, message, self.clock.now)
        arriving = decode(encode(message)) if self.options.encoded else message
        self._network.send(sender, receiver, arriving)

    def _receive(self, sender: str, receiver: str, message: Message) -> None:
        self._by_name[receiver](sender, message)

    def _act(self, turn: Turn, turn_s: float) -> None:
        """Have the clients do what the turn says, each at a time of its own."""
        wishes: dict[int, list[Operation]] = {}
        for client, operation in turn.wishes:
            wishes.setdefault(client, []).append(operation)
        for client, operations in wishes.items():
            act = partial(self.clients[client].announce, operations)
            self.clock.after(self._random.random() * turn_s * 0.9, act)
        events: dict[int, list[Mapping[str, Any]]] = {}
        absent = {number for number, home in enumerate(self.homes) if not self._is_there(home)}
        for client, event in turn.publications:
            if client not in absent:  # what waits for its broker would be judged in another round
                events.setdefault(client, []).append(event)
        batch = self.options.batch
        for client, published in events.items():
            for first in range(0, len(published), batch):
                act = partial(self.clients[client].publish, published[first : first + batch])
                self.clock.after(self._random.random() * turn_s * 0.9, act)

    def _heal(self) -> None:
        self._mischief.end()
        self._network.heal()
        healed = self.clock.now
        self._wait()
        self._converged.append(round(self.clock.now - healed, 3))

    def _wait(self) -> None:
        """Go on until the network has converged, or for as long as there is patience."""
        begin = self.clock.now
        while (why := self._unrest()) is not None:
            if self.clock.now - begin > self.options.patience_s:
                self._violations.append(f"not converged after {self.options.patience_s:g} s: {why}")
                return
            self.clock.run_until(self.clock.now + _LOOK_EVERY_S)

    def _unrest(self) -> str | None:
        there = self._there()
        for broker in there:
            broker.recover()
        clients = [client for client, home in self._at_home() if self._is_there(home)]
        return unrest(there, clients)

    def _there(self) -> list[Broker]:
        """The brokers that have come, or come in this round."""
        return [each for number, each in enumerate(self.brokers) if self._is_there(number)]

    def _is_there(self, number: int) -> bool:
        return self._joins_in.get(number, -1) <= self._round

    # What is looked at.

    def _look_at_deliveries(self) -> None:
        moved = self._counted()["moved"]  # what is on two ways at once may change places
        verdict = self._judge.judge(once=True, in_order=not moved)
        self._verdicts.append(verdict)
        self._violations += verdict.violations
        for client in self.clients:
            self._violations += [f"{client.name} was refused: {each}" for each in client.refused]

    def _look_for_leaks(self) -> None:
        """Nothing is left of interfaces that were lost, once their time is over."""
        self.clock.run_until(self.clock.now + 2 * (FORGET_AFTER_S + TTL_S))
        there = {(broker_name(home), client.name) for client, home in self._at_home()}
        for broker, parent in self._parents():
            if parent is not None:
                there |= {(broker, parent), (parent, broker)}
        self._violations += leaks(self.brokers, there)

    def _at_home(self) -> Iterable[tuple[Client, int]]:
        return zip(self.clients, self.homes, strict=True)

    def _parents(self) -> list[tuple[str, str | None]]:
        """Who hangs from whom by now."""
        return [
            (broker.name, broker.router.parent if broker.router is not None else None)
            for broker in self.brokers
        ]

    # What is told.

    def _report(self) -> SimulationReport:
        verdict, counted = summed(self._verdicts), self._counted()
        names = {broker.name for broker in self.brokers}
        carried = {link: count for link, count in self.trace.carried.items() if names >= {*link}}
        return SimulationReport(
            options=self.options,
            expected=verdict.expected,
            delivered=verdict.delivered,
            received=sum(client.received for client in self.clients),
            lost=verdict.lost,
            duplicated=verdict.duplicated,
            spurious=verdict.spurious,
            disordered=verdict.disordered,
            messages=dict(sorted(self.trace.sent.items())),
            carried=sum(carried.values()),
            false_forwards=counted["unwanted"],
            tables=self._tables(),
            moved=counted["moved"],
            converged_s=self._converged,
            faults=self._faults(),
            simulated_s=round(self.clock.now, 3),
            digest=self.trace.digest(),
            violations=self._violations,
            picture=self._picture(carried, verdict),
        )

    def _counted(self) -> Counter[str]:
        """What all brokers together have counted."""
        counted: Counter[str] = Counter()
        for broker in self.brokers:
            counted += broker.statistics()
        return counted

    def _faults(self) -> dict[str, int]:
        found = {**self._mischief.done, "messages lost": self._network.lost}
        return {name: count for name, count in sorted(found.items()) if count}

    def _tables(self) -> TableSizes:
        sizes = [table_size(broker) for broker in self.brokers if broker.router is not None]
        return TableSizes(sum(sizes), int(median(sizes)) if sizes else 0, max(sizes, default=0))

    def _picture(self, carried: Mapping[tuple[str, str], int], verdict: Verdict) -> Picture:
        numbers = {broker.name: number for number, broker in enumerate(self.brokers)}
        delivered = [0] * len(self.brokers)
        for client, home in self._at_home():
            delivered[home] += client.received
        return Picture(
            parents=[None if each is None else numbers[each] for _, each in self._parents()],
            names=[broker.name for broker in self.brokers],
            carried={(numbers[a], numbers[b]): count for (a, b), count in carried.items()},
            delivered=delivered,
            title=f"{self.options.events:,} events through {len(self.brokers):,} brokers",
            note=(
                f"{verdict.delivered:,} deliveries. The wider and brighter a link, the more events "
                "it carried; the larger a broker, the more its clients were given."
            ),
        )
