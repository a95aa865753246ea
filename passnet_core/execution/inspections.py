"""A cache of inspections: shapes and dtypes of a subgraph's nodes, TorchInductor's code, Triton's kernels and what they
access."""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, TypeVar

from passnet_core.errors import InfrastructureError, PlaygroundError
from passnet_core.execution.backends.base import CompileKernels, InspectSubgraph, TracePrograms
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Baseline, Bundle, Device, Inspection, PassKernels, PassTrace, Subgraph

KEPT = 200
"""How many inspections of subgraphs are remembered."""
KEPT_KERNELS = 20
"""How many inspections of kernels are remembered; their texts are long."""
KEPT_TRACES = 6
"""How many traces of kernels are remembered; each takes up to ten megabytes."""
LOOK_EVERY_S = 0.05

T = TypeVar("T")
B = TypeVar("B", PassKernels, PassTrace)
_Key = tuple[str, Device, str, Baseline | str | None]
"""Subgraph digest, device, environment digest, and the question: whose code (None: no code), or what about a bundle."""


class Inspections:
    """Requests inspections and remembers the answers. Safe to share between threads; call close() at the end."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._known: OrderedDict[_Key, Future[Inspection]] = OrderedDict()
        """Inspections of subgraphs, finished or requested; the least recently used first."""
        self._compiled: OrderedDict[_Key, Future[PassKernels]] = OrderedDict()
        """Inspections of kernels, in the same order."""
        self._traced: OrderedDict[_Key, Future[PassTrace]] = OrderedDict()
        """Traces of kernels, in the same order."""
        self._failed: dict[_Key, PlaygroundError] = {}
        """Errors of failed inspections that have yet to be raised."""
        self._closed = threading.Event()

    def of(
        self,
        subgraph: Subgraph,
        device: Device,
        *,
        with_code: bool = True,
        baseline: Baseline = Baseline.INDUCTOR,
        cancelled: threading.Event | None = None,
    ) -> Inspection:
        """Inspect a subgraph, and wait for its turn behind the jobs. with_code: with this baseline's code, in seconds.

        When cancelled, the inspection continues in the background, and the next caller finds its result. Raises
        BadInput if the subgraph cannot be run, InfrastructureError if no judge answers or when cancelled."""
        future = self._asked([subgraph], device, baseline if with_code else None)[0]
        self._wait([future], math.inf, cancelled)
        if not future.done():
            raise InfrastructureError("The wait for this inspection was cancelled. Ask for it again.")
        return future.result()

    def within(
        self,
        subgraphs: Sequence[Subgraph],
        device: Device,
        seconds: float,
        cancelled: threading.Event,
    ) -> Mapping[str, Inspection]:
        """The inspections that are ready within so many seconds, by subgraph id, without code. The others continue."""
        futures = self._asked(subgraphs, device, None)
        self._wait(futures, seconds, cancelled)
        found = zip(subgraphs, futures, strict=True)
        return {each.id: future.result() for each, future in found if future.done() and future.exception() is None}

    def known(self, subgraph: Subgraph, device: Device, *, baseline: Baseline = Baseline.INDUCTOR) -> Inspection | None:
        """The inspection with this baseline's code if it is known; otherwise None, and it is made in the background.
        Raises its error, once."""
        with self._lock:
            failed = self._failed.pop(self._key(subgraph, device, baseline), None)
        if failed is not None:
            raise failed
        future = self._asked([subgraph], device, baseline)[0]
        return future.result() if future.done() else None

    def kernels(self, subgraph: Subgraph, bundle: Bundle, device: Device, owner: str) -> PassKernels | None:
        """What Triton compiles of a bundle's kernels on a subgraph. Like known(): None until it is available. owner:
        whose turn it is, and whose quota."""
        return self._of_bundle(self._compiled, KEPT_KERNELS, CompileKernels(subgraph, bundle, device), owner)

    def programs(self, subgraph: Subgraph, bundle: Bundle, owner: str) -> PassTrace | None:
        """What the programs of a bundle's kernels access on a subgraph, like kernels()."""
        return self._of_bundle(self._traced, KEPT_TRACES, TracePrograms(subgraph, bundle), owner)

    def _of_bundle(
        self, asked: "OrderedDict[_Key, Future[B]]", kept: int, question: CompileKernels | TracePrograms, owner: str
    ) -> B | None:
        """The answer about a bundle, if it is known; otherwise None, and a thread asks for it. asked: the answers to
        such questions, of which so many are kept. Raises its error, once."""
        key = self._key(question.subgraph, question.device, f"{type(question).__name__} {question.bundle.digest}")
        with self._lock:
            if (failed := self._failed.pop(key, None)) is not None:
                raise failed
            future = asked.get(key)
            if future is None:
                future = asked[key] = Future()
                while len(asked) > kept:
                    asked.popitem(last=False)
                inspect: Any = partial(self._scheduler.inspect, question, self._closed, owner=owner)
                threading.Thread(target=self._ask, args=(asked, future, inspect), daemon=True).start()
            asked.move_to_end(key)
        return future.result() if future.done() and future.exception() is None else None

    def close(self) -> None:
        """Cancel all inspections."""
        self._closed.set()

    def _wait(self, futures: Sequence["Future[Inspection]"], seconds: float, cancelled: threading.Event | None) -> None:
        until = time.monotonic() + seconds
        while not all(each.done() for each in futures) and (left := until - time.monotonic()) > 0:
            if self._closed.is_set() or (cancelled is not None and cancelled.is_set()):
                return
            wait(futures, min(LOOK_EVERY_S, left))

    def _asked(
        self, subgraphs: Sequence[Subgraph], device: Device, code_of: Baseline | None
    ) -> list["Future[Inspection]"]:
        """The futures of these inspections, with the code of a baseline or without code. A thread requests the missing
        ones, one after another."""
        found = []
        new: list[tuple[Subgraph, Future[Inspection]]] = []
        with self._lock:
            for subgraph in subgraphs:
                # an inspection with code takes longer: use it for a caller without only if it is done
                others = Baseline if code_of is None else ()
                keys = [self._key(subgraph, device, each) for each in (code_of, *others)]
                known = [key for key in keys if key in self._known and (key is keys[0] or self._known[key].done())]
                if known:
                    self._known.move_to_end(known[0])
                else:
                    self._known[keys[0]] = Future()
                    new.append((subgraph, self._known[keys[0]]))
                found.append(self._known[(known or keys)[0]])
            while len(self._known) > KEPT:
                self._known.popitem(last=False)

        def ask() -> None:
            for subgraph, future in new:
                with_code = code_of is not None
                question = InspectSubgraph(subgraph, device, with_code, code_of or Baseline.INDUCTOR)
                inspect = partial(self._scheduler.inspect, question, self._closed)
                self._ask(self._known, future, inspect)

        if new:
            threading.Thread(target=ask, name="passnet-inspect", daemon=True).start()
        return found

    def _ask(self, asked: "MutableMapping[_Key, Future[T]]", future: "Future[T]", inspect: Callable[[], T]) -> None:
        try:
            future.set_result(inspect())
        except Exception as error:  # whatever fails in a backend: tell those who wait, and let the next caller retry
            words = f"The backend failed: {type(error).__name__}: {error}"
            told = error if isinstance(error, PlaygroundError) else InfrastructureError(words)
            with self._lock:
                for key in [key for key, each in asked.items() if each is future]:
                    del asked[key]
                    self._failed[key] = told
                while len(self._failed) > KEPT:
                    del self._failed[next(iter(self._failed))]
            future.set_exception(told)

    def _key(self, subgraph: Subgraph, device: Device, what: Baseline | str | None) -> _Key:
        environment = self._scheduler.here.environment
        return subgraph.digest, device, environment.digest if environment else "", what
