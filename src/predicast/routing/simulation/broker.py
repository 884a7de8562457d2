"""A broker in the simulated network: a router, its disk, and the ways in which it may fall.

What a router hands out may only be sent once its state lasts. So each step ends in two acts: the
journal goes to disk, then the messages go out. A broker that is to fall does so before, within,
between or after them: the disk has the step, a part of it or nothing, the neighbours have heard of
it or they have not.

Nobody reads a disk but a broker that has fallen, so that none is written where none may fall.

A step takes its time. What arrives meanwhile waits, and is taken in the next step together: a
broker with little to do answers at once, and one with much to do has larger steps. What waits when
it falls is lost, as is whatever arrives while it is down.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from predicast.routing import Message, Router, RouterOptions, Send
from predicast.routing.journal import Journal, recovered
from predicast.routing.simulation.clock import Clock


class Fall(enum.Enum):
    """Where in a step a broker falls."""

    BEFORE_WRITING = enum.auto()
    WHILE_WRITING = enum.auto()
    BEFORE_SENDING = enum.auto()
    AFTER_SENDING = enum.auto()


class Broker:
    """One broker: up with a router, or down with nothing but its disk."""

    def __init__(
        self,
        options: RouterOptions,
        clock: Clock,
        send: Callable[[str, str, Message], None],
        *,
        step_s: float = 0.0,
        may_fall: bool = True,
    ) -> None:
        self.name = options.name
        self.router: Router | None = None
        self.counted: Counter[str] = Counter()  # statistics of routers that are no more
        self._options = options
        self._clock = clock
        self._send = send
        self._step_s = step_s
        self._waiting: list[tuple[Message, str]] = []  # for the next step, with their senders
        self._free_at = 0.0  # when a step may begin
        self._may_fall = may_fall
        self._disk: bytearray | None = None
        self._journal: Journal | None = None
        self._fall: Fall | None = None
        self._torn = 0.0  # how much of the last entry is written, if it falls while writing
        self._life = 0
        self._wake: float | None = None

    @property
    def was_started(self) -> bool:
        """Whether it was ever there."""
        return self._life > 0

    def start(self) -> None:
        """Come up with what is on the disk."""
        if self.router is None:
            self._life += 1
            self._wake = None
            kept = None if self._disk is None else recovered(bytes(self._disk))
            self.router = Router(self._options, kept)
            self._journal = Journal(self.router) if self._may_fall else None
            self._step(self.router.start(self._clock.now))

    def receive(self, sender: str, message: Message) -> None:
        """Take a message, now or in the next step; who is down does not hear it."""
        if self.router is None:
            return
        self._waiting.append((message, sender))
        if len(self._waiting) == 1:
            if self._free_at <= self._clock.now:
                self._take(self._life)
            else:
                self._clock.at(self._free_at, partial(self._take, self._life))

    def fall(self, where: Fall, torn: float = 0.5) -> None:
        """Crash in the next step; ``torn`` is the share that is written before it falls in that."""
        if self.router is not None:
            self._fall, self._torn = where, torn

    def crash(self) -> None:
        """Crash without another step, if it was to crash and has not yet."""
        if self._fall is not None:
            self._end()

    def recover(self) -> None:
        """Be up, and stay up."""
        self._fall = None
        self.start()

    def leave(self) -> None:
        """Say goodbye; what comes after it is a new life, with nothing known of this one."""
        if self.router is not None:
            self._step(self.router.leave(self._clock.now))

    def statistics(self) -> Counter[str]:
        """What its routers have counted, in all its lives."""
        return self.counted + Counter(self.router.statistics() if self.router else {})

    def _take(self, life: int) -> None:
        if life == self._life and self.router is not None:
            waiting, self._waiting = self._waiting, []
            self._free_at = self._clock.now + self._step_s
            self._step(self.router.receive_all(waiting, self._clock.now))

    def _step(self, sends: list[Send]) -> None:
        router, fall = self.router, self._fall
        assert router is not None
        if fall is Fall.BEFORE_WRITING:
            self._end()
            return
        self._write()
        if fall is Fall.WHILE_WRITING:
            self._end()
            return
        if fall is not Fall.BEFORE_SENDING:
            for interface, message in sends:
                self._send(self.name, interface, message)
        if fall is not None:
            self._end()
        elif router.is_gone:
            self._depart()
        else:
            self._set_timer()

    def _write(self) -> None:
        if self._journal is None:
            return
        data, is_whole = self._journal.entry()
        is_torn = self._fall is Fall.WHILE_WRITING
        if not is_whole:
            assert self._disk is not None
            self._disk += data[: int(len(data) * self._torn)] if is_torn else data
        elif not is_torn:  # or the file would not have been renamed yet
            self._disk = bytearray(data)

    def _set_timer(self) -> None:
        assert self.router is not None
        due = self.router.next_timer()
        if due is not None and (self._wake is None or due < self._wake):
            self._wake = due
            self._clock.at(due, partial(self._timer, self._life, due))

    def _timer(self, life: int, due: float) -> None:
        if life != self._life or self.router is None or due != self._wake:
            return  # of a former life, or overtaken by an earlier one
        self._wake = None
        wanted = self.router.next_timer()
        if wanted is not None and wanted <= self._clock.now:
            self._step(self.router.on_timer(self._clock.now))
        else:
            self._set_timer()

    def _end(self) -> None:
        if self.router is not None:
            self.counted += Counter(self.router.statistics())
        self.router = self._journal = None
        self._fall = None
        self._waiting = []

    def _depart(self) -> None:
        self._end()
        self._disk = None
        self._options = replace(self._options, epoch=self._options.epoch + 1)
