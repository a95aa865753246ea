"""Run functions at once, as far as one interpreter can: they take turns, each in a thread, where they hand over.

Only one of them runs at a time, and a seed decides which, so that the same seed gives the same order again. No thread
is started before one of them hands over."""

import random
import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")

AT_ONCE = 2
"""How many functions run at once, unless these wait for another one."""
MOST_TURNS = 600
"""After so many turns, the rest runs one after the other: a turn takes some 20 µs."""
STARVED = 0.5
"""At which share of seeds the first function has a turn only when another one begins. So whatever it expects of memory
that others change has become wrong, as often as there are others."""
PATIENCE = 60
"""Turns without an end after which those that run are taken to wait for one that has not begun."""


class _Ended(BaseException):
    """Ends a function because another one has failed. No exception of candidate code is its base."""


class _Runner(Generic[T]):
    """A thread that runs one function after the other while it has the turn."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.turn.acquire()
        self.job: T | None = None


class Turns(Generic[T]):
    """Runs a function for each of several jobs. resumed: called with a job whenever its function begins or goes on."""

    def __init__(self, seed: int, resumed: Callable[[T], object]) -> None:
        self.chance, self.resumed = random.Random(seed), resumed
        self.waiting: list[T] = []
        self.suspended: list[_Runner[T]] = []
        self.threads: list[threading.Thread] = []
        self.now = _Runner[T]()
        self.begun = self.turns = self.idle = 0
        self.in_order, self.bound = True, False
        self.starved: _Runner[T] | None = None
        self.error: BaseException | None = None

    def run(self, jobs: Sequence[T], function: Callable[[T], None]) -> None:
        """Run the function for each job. If one raises, the others end, and so does this, with what it raised."""
        self.waiting, self.function, own = list(reversed(jobs)), function, self.now
        self.starved = own if self.chance.random() < STARVED else None
        try:
            while self.waiting or self.suspended:
                self._work(own)
                if self.suspended:
                    self._pass_on(own, self.suspended[0])
        except BaseException as error:  # whatever a kernel raises: it is raised again when the threads have ended
            self.error, self.waiting = self.error or error, []
        while self.suspended:
            self._pass_on(own, self.suspended[0])
        for each in self.threads:
            each.join()
        if self.error is not None:
            raise self.error

    def hand_over(self) -> None:
        """Called by a function where another one may go on."""
        own = self.now
        self.idle += 1
        self.bound = self.bound or (self.idle > PATIENCE and bool(self.waiting))
        if self.waiting and (self.idle > PATIENCE or (len(self.suspended) < AT_ONCE - 1 and not self._tired())):
            self.idle = 0
            chosen = _Runner[T]()
            self.threads.append(threading.Thread(target=self._run, args=(chosen,), daemon=True))
            self.threads[-1].start()
        elif self.starved is not None and self.idle <= PATIENCE:
            begins = self.idle == 1
            others = self.suspended or [own]
            chosen = self.chance.choice(others) if own is self.starved else self.starved if begins else own
        elif self.in_order:
            chosen = self.suspended[0] if self.suspended else own
        else:
            chosen = self.chance.choice([own, *self.suspended])
        if chosen is own:
            return
        self._pass_on(own, chosen)
        if self.error is not None:
            raise _Ended
        if own.job is not None:
            self.resumed(own.job)

    def _tired(self) -> bool:
        return self.turns >= MOST_TURNS and not self.bound

    def _work(self, own: _Runner[T]) -> None:
        """Run functions that have not begun, unless there were turns enough and others have begun."""
        while self.waiting and self.error is None and not (self.suspended and self._tired()):
            self.idle, self.begun = 0, self.begun + 1
            # in order: each hands over to the next; otherwise any may go on
            self.in_order = self.begun <= AT_ONCE or self.chance.random() < 0.5
            own.job = self.waiting.pop()
            self.resumed(own.job)
            self.function(own.job)
            self.starved = None if own is self.starved else self.starved
        own.job = None

    def _run(self, own: _Runner[T]) -> None:
        # numpy keeps this by thread: it would warn where a GPU stays silent
        np.seterr(all="ignore")
        own.turn.acquire()
        try:
            self._work(own)
        except BaseException as error:  # whatever a kernel raises, which run raises again
            self.error, self.waiting = self.error or error, []
        self.now = self.suspended.pop(0)
        self.now.turn.release()

    def _pass_on(self, own: _Runner[T], chosen: _Runner[T]) -> None:
        """Let another thread go on, and wait until this one has the turn again."""
        self.turns += 1
        self.suspended = [each for each in self.suspended if each is not chosen] + [own]
        self.now = chosen
        chosen.turn.release()
        own.turn.acquire()
