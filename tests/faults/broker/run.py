"""Workers that are killed, paused and cut off, on a backend that is, too; then all is checked."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from tests.faults.broker.record import Record
from tests.faults.broker.worker import Plan
from tests.nats_servers import NatsServer, nats_cluster, nats_server
from tests.network import Network, Node, network, why_no_network
from tests.ports import reserved_ports
from tests.small_disk import small_disk

BACKENDS = ("embedded", "linked", "nats", "nats-cluster")
# What a run may take after its time on the slowest of machines: to start everybody once more, to
# deliver what waits, and to say what is there.
STARTING_S, DELIVERING_S, TELLING_S = 300.0, 300.0, 300.0


class Worker:
    """A process of the broker, and whoever listens to it."""

    def __init__(self, plan: Plan, record: Record, node: Node | None) -> None:
        self._plan = plan
        self.name = plan.name
        self.node = node
        self._record = record
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: threading.Thread | None = None
        self.has_started = threading.Event()
        self.has_settled = threading.Event()
        self.has_ended = threading.Event()

    def start(self, *, is_first: bool = False, is_last: bool = False) -> None:
        record, change = self._record, f"changing-{self.name}"
        plan = msgspec.structs.replace(
            self._plan,
            number=record.next_number[self.name],
            change=record.limits.get(change, -1) + 1,
            is_first=is_first,
            is_last=is_last,
        )
        prefix = self.node.prefix if self.node else []
        command = [*prefix, sys.executable, "-m", "tests.faults.broker.worker"]
        self.has_started.clear()
        self._process = subprocess.Popen(
            [*command, msgspec.json.encode(plan).decode()], stdout=subprocess.PIPE
        )
        self._listener = threading.Thread(target=self._listen, args=[self._process])
        self._listener.start()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            try:
                fact = msgspec.json.decode(line)
            except msgspec.DecodeError:
                continue  # the end of one that was killed while it spoke
            if "started" in fact:
                self.has_started.set()
            elif "settled" in fact:
                self.has_settled.set()
            elif "ended" in fact:
                self.has_ended.set()
            else:
                self._record.note(fact)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._listener is not None
            self._listener.join()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def signal(self, which: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(which)


class Place(NamedTuple):
    """What a run is made on."""

    workers: Sequence[Worker]
    servers: Sequence[NatsServer]

    @property
    def nodes(self) -> list[Node]:
        """What can be cut off: workers and servers."""
        found = [*(each.node for each in self.workers), *(each.node for each in self.servers)]
        return [node for node in found if node is not None]


class Faults:
    """What can go wrong here, and how often it did."""

    def __init__(self, place: Place, record: Record, disk: Path | None, seed: int) -> None:
        self._place = place
        self._record = record
        self._disk = disk
        self._random = random.Random(seed)
        self.counts: Counter[str] = Counter()

    def strike(self) -> None:
        """One of them; how long it takes until events are taken again is measured."""
        kinds: list[Callable[[], str]] = [self._kill_worker, self._kill_worker, self._pause_worker]
        if self._place.servers:
            kinds += [self._kill_server, self._pause_server]
        if self._place.nodes:
            kinds += [self._cut_off]
        if self._disk is not None:
            kinds.append(self._fill_disk)
        self.counts[self._random.choice(kinds)()] += 1

    def _kill_worker(self) -> str:
        worker = self._random.choice(self._place.workers)
        worker.kill()
        self._record.struck("workers killed", time.monotonic(), worker.name)
        worker.start()
        assert worker.has_started.wait(STARTING_S), f"worker {worker.name} does not start again"
        return "workers killed"

    def _pause_worker(self) -> str:
        worker = self._random.choice(self._place.workers)
        worker.signal(signal.SIGSTOP)
        time.sleep(self._random.uniform(0.2, 3.0))
        worker.signal(signal.SIGCONT)
        return "workers paused"

    def _kill_server(self) -> str:
        server = self._random.choice(self._place.servers)
        server.kill()
        self._record.struck("servers killed", time.monotonic())
        time.sleep(self._random.uniform(0.0, 2.0))
        server.start()
        return "servers killed"

    def _pause_server(self) -> str:
        server = self._random.choice(self._place.servers)
        server.pause()
        time.sleep(self._random.uniform(0.2, 3.0))
        server.resume()
        return "servers paused"

    def _cut_off(self) -> str:
        """A worker or a server, for longer than some leases last."""
        node = self._random.choice(self._place.nodes)
        node.cut()
        time.sleep(self._random.uniform(0.2, 6.0))
        node.mend()
        names = [worker.name for worker in self._place.workers if worker.node is node]
        self._record.struck("partitions mended", time.monotonic(), names[0] if names else None)
        return "partitions"

    def _fill_disk(self) -> str:
        assert self._disk is not None
        filler = self._disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
        time.sleep(self._random.uniform(0.2, 2.0))
        filler.unlink()
        for server in self._place.servers:  # which gives up for good when its disk is full
            server.kill()
            server.start()
        return "disks filled"


def run(
    backend: str, folder: Path, *, seconds: float, seed: int, has_small_disk: bool = False
) -> tuple[Record, Counter[str]]:
    """Run workers for so many seconds with faults all the time; what was told, what was done.

    A small disk is filled now and then; to mount one takes root, and so does a network to cut.
    """
    is_linked = backend == "linked"
    record = Record(("@a", "@b") if is_linked else ("",))
    with ExitStack() as stack:
        disk = None
        if has_small_disk:
            folder = disk = stack.enter_context(small_disk(folder / "disk", "256m"))
        place = stack.enter_context(places(backend, folder, record))
        for worker in place.workers:
            stack.callback(worker.kill)
        if is_linked:
            _settle(place.workers)
        _start(place.workers)
        faults = Faults(place, record, disk, seed)
        assert record.has_events.wait(STARTING_S), "nothing is published"
        rate, end = random.Random(seed), time.monotonic() + seconds
        while not faults.counts or time.monotonic() < end:
            faults.strike()
            time.sleep(rate.uniform(0.5, 3.0))
            for worker in place.workers:
                if not worker.is_running:
                    record.violations.append(f"worker {worker.name} has ended by itself")
                    worker.kill()
                    worker.start()
        for worker in place.workers:
            worker.kill()
        _finish(place.workers if is_linked else place.workers[:1], record)
    return record, faults.counts


def _start(workers: Sequence[Worker], *, is_first: bool = False, is_last: bool = False) -> None:
    for worker in workers:
        worker.start(is_first=is_first, is_last=is_last)
    for worker in workers:
        assert worker.has_started.wait(STARTING_S), f"worker {worker.name} does not start"


def _settle(workers: Sequence[Worker]) -> None:
    """Have linked brokers know what each wants, before anything is published."""
    _start(workers, is_first=True)
    for worker in workers:
        assert worker.has_settled.wait(STARTING_S), f"nobody knows what {worker.name} wants"
    for worker in workers:
        worker.kill()


def _finish(workers: Sequence[Worker], record: Record) -> None:
    """Have what waits delivered, and have everybody say what is there."""
    _start(workers, is_last=True)
    end = time.monotonic() + DELIVERING_S
    missing = record.missing()
    while missing and time.monotonic() < end:
        time.sleep(0.5)
        missing = record.missing(missing)
    for worker in workers:
        worker.signal(signal.SIGTERM)
    for worker in workers:
        if not worker.has_ended.wait(TELLING_S):
            record.violations.append(f"worker {worker.name} does not come to an end")


@contextmanager
def places(backend: str, folder: Path, record: Record) -> Iterator[Place]:
    """Workers that share a backend, or are linked, and its servers; each on a node of a network
    where there can be one.
    """
    with ExitStack() as stack:
        joined = None
        if backend != "embedded" and why_no_network() is None:
            joined = stack.enter_context(network())

        def worker(plan: Plan, node: Node | None) -> Worker:
            return Worker(plan, record, node)

        if backend == "embedded":
            yield Place([worker(Plan(str(folder / "embedded"), "a"), None)], [])
        elif backend == "linked":
            ports = stack.enter_context(reserved_ports(2))
            yield Place(_linked(folder, joined, ports, worker), [])
        elif backend == "nats":
            server = stack.enter_context(nats_server(folder / "nats", _node(joined)))
            where = f"{server.url}?lease_s=3"
            yield Place([worker(Plan(where, name), _node(joined)) for name in "ab"], [server])
        else:
            nodes = [joined.node() for _ in range(3)] if joined else []
            servers = stack.enter_context(nats_cluster(folder / "nats", nodes=nodes))
            where = ",".join(server.url for server in servers) + "?lease_s=3&replicas=3"
            yield Place([worker(Plan(where, name), _node(joined)) for name in "ab"], servers)


def _node(joined: Network | None) -> Node | None:
    return None if joined is None else joined.node()


def _linked(
    folder: Path,
    joined: Network | None,
    ports: Sequence[int],
    worker: Callable[[Plan, Node | None], Worker],
) -> list[Worker]:
    """A broker, and one that links to it."""
    nodes = [_node(joined) for _ in range(2)]
    listen = [
        f"{node.address if node else '127.0.0.1'}:{port}"
        for node, port in zip(nodes, ports, strict=True)
    ]
    core = Plan(str(folder / "a"), "a", mark="@a", listen=listen[0])
    leaf = Plan(str(folder / "b"), "b", mark="@b", listen=listen[1], parent=f"http://{listen[0]}")
    return [worker(core, nodes[0]), worker(leaf, nodes[1])]
