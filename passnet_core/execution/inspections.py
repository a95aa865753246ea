"""What eager, TorchInductor and Triton make of a subgraph and its passes, remembered: values and generated code."""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import TypeVar

from passnet_core.errors import InfrastructureError, PlaygroundError
from passnet_core.execution.backends.base import CompileKernels, InspectSubgraph
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Bundle, Device, Inspection, PassKernels, Subgraph

KEPT = 200
KEPT_KERNELS = 20
"""Their texts are long."""
LOOK_EVERY_S = 0.05

T = TypeVar("T")
_Key = tuple[str, Device, str, bool | str]
"""Of a subgraph, where, and what is asked: with code or without, or the digest of a bundle."""


class Inspections:
    """Asks for inspections, each once as long as it is remembered. Safe to share by threads; close() it at the end."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._known: OrderedDict[_Key, Future[Inspection]] = OrderedDict()
        """Those that are there, and those that somebody waits for."""
        self._compiled: OrderedDict[_Key, Future[PassKernels]] = OrderedDict()
        """Those of kernels."""
        self._failed: dict[_Key, PlaygroundError] = {}
        """Why an inspection failed that nobody has heard of yet."""
        self._closed = threading.Event()

    def of(
        self,
        subgraph: Subgraph,
        device: Device,
        *,
        with_code: bool = True,
        cancelled: threading.Event | None = None,
    ) -> Inspection:
        """Waits for it, behind the jobs that values and times are judged for. with_code: TorchInductor's code too,
        which takes seconds. Raises BadInput for a subgraph that cannot be run, InfrastructureError where nobody says.

        What is cancelled goes on in the background: the next that asks finds it done.
        """
        future = self._asked([subgraph], device, with_code)[0]
        self._wait([future], math.inf, cancelled)
        if not future.done():
            raise InfrastructureError("Nobody waits for this inspection any more. Ask again.")
        return future.result()

    def within(
        self,
        subgraphs: Sequence[Subgraph],
        device: Device,
        seconds: float,
        cancelled: threading.Event,
    ) -> Mapping[str, Inspection]:
        """By subgraph id, those that are known after so many seconds, without code. The others go on to be found in the
        background."""
        futures = self._asked(subgraphs, device, False)
        self._wait(futures, seconds, cancelled)
        found = zip(subgraphs, futures, strict=True)
        return {each.id: future.result() for each, future in found if future.done() and future.exception() is None}

    def known(self, subgraph: Subgraph, device: Device, *, with_code: bool = True) -> Inspection | None:
        """What is known by now; None: it goes on to be found in the background. Raises, once, what it failed with."""
        with self._lock:
            failed = self._failed.pop(self._key(subgraph, device, with_code), None)
        if failed is not None:
            raise failed
        future = self._asked([subgraph], device, with_code)[0]
        return future.result() if future.done() else None

    def kernels(self, subgraph: Subgraph, bundle: Bundle, device: Device) -> PassKernels | None:
        """What Triton makes of a bundle's kernels on a subgraph, as far as it is known, in the same way."""
        key = self._key(subgraph, device, bundle.digest)
        with self._lock:
            if (failed := self._failed.pop(key, None)) is not None:
                raise failed
            future = self._compiled.get(key)
            if future is None:
                future = self._compiled[key] = Future()
                while len(self._compiled) > KEPT_KERNELS:
                    self._compiled.popitem(last=False)
                compile_them = partial(self._scheduler.inspect, CompileKernels(subgraph, bundle, device), self._closed)
                asking = threading.Thread(target=self._ask, args=(self._compiled, future, compile_them), daemon=True)
                asking.start()
            self._compiled.move_to_end(key)
        return future.result() if future.done() and future.exception() is None else None

    def close(self) -> None:
        """Ends what is being asked."""
        self._closed.set()

    def _wait(self, futures: Sequence["Future[Inspection]"], seconds: float, cancelled: threading.Event | None) -> None:
        until = time.monotonic() + seconds
        while not all(each.done() for each in futures) and (left := until - time.monotonic()) > 0:
            if self._closed.is_set() or (cancelled is not None and cancelled.is_set()):
                return
            wait(futures, min(LOOK_EVERY_S, left))

    def _asked(self, subgraphs: Sequence[Subgraph], device: Device, with_code: bool) -> list["Future[Inspection]"]:
        """Those that nobody has asked for are asked for, one after the other."""
        found = []
        new: list[tuple[Subgraph, Future[Inspection]]] = []
        with self._lock:
            for subgraph in subgraphs:
                keys = [self._key(subgraph, device, code) for code in (with_code, True)]
                # one with code takes longer: who wants none does not wait for it
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
                question = InspectSubgraph(subgraph, device, with_code)
                inspect = partial(self._scheduler.inspect, question, self._closed)
                self._ask(self._known, future, inspect)

        if new:
            threading.Thread(target=ask, name="passnet-inspect", daemon=True).start()
        return found

    def _ask(self, asked: "MutableMapping[_Key, Future[T]]", future: "Future[T]", inspect: Callable[[], T]) -> None:
        try:
            future.set_result(inspect())
        except Exception as error:  # whatever a backend meets, who waits hears of it, and the next may ask again
            told = _in_a_sentence(error)
            with self._lock:
                for key in [key for key, each in asked.items() if each is future]:
                    del asked[key]
                    self._failed[key] = told
                while len(self._failed) > KEPT:
                    del self._failed[next(iter(self._failed))]
            future.set_exception(told)

    def _key(self, subgraph: Subgraph, device: Device, what: bool | str) -> _Key:
        environment = self._scheduler.here.environment
        return subgraph.digest, device, environment.digest if environment else "", what


def _in_a_sentence(error: Exception) -> PlaygroundError:
    if isinstance(error, PlaygroundError):
        return error
    return InfrastructureError(f"The place where jobs run failed: {type(error).__name__}: {error}")
