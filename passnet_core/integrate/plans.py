"""The plans of a bundle's passes: recorded in a sandbox when they are first wanted, executed in this process.

None of the bundle's host code runs here: of its files only the Triton functions are loaded."""

import atexit
import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import torch

from passnet_core.errors import BadInput
from passnet_core.fx.modules import Function
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.judge.gpu_on_cpu import interpreter
from passnet_core.judge.plan.card import card
from passnet_core.judge.plan.execute import ChoiceRefused, Execution, Plans, version_of
from passnet_core.judge.plan.kernel_loading import LoadedKernels
from passnet_core.judge.plan.on_gpu import GpuPlans
from passnet_core.judge.plan.record import PreparedWeight
from passnet_core.judge.plan.wanted import PlanWanted
from passnet_core.judge.protocol.messages import CandidateEnd, CandidateFault, CandidateTimeout
from passnet_core.judge.stages.census import foreign_work
from passnet_core.judge.supervisor import sandbox
from passnet_core.judge.supervisor.fork_server import WorkerPlace
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import Bundle, Device

T = TypeVar("T")

PATIENCE_S = 120.0
"""How long the bundle's host code may take to be imported, or to tell a plan."""
NOT_INTERPRETED = "without a GPU, Triton interprets its kernels if TRITON_INTERPRET=1 is set before it is imported"


def apart(function: Callable[[], T]) -> T:
    """Call a function whose tensors stay when the call ends, or may: in a thread of its own, since what this one
    allocates while a CUDA graph is warmed up must be the graph's."""
    if not torch.cuda.is_available():
        return function()
    stream, inference = torch.cuda.current_stream(), torch.is_inference_mode_enabled()

    def run() -> T:
        with torch.cuda.stream(stream), torch.inference_mode(inference), torch.no_grad():
            return function()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


class NotPlanned(Exception):
    """A replacement of which there is no plan. The message says why."""


class BundlePlans:
    """The passes of one bundle as they were traced in the sandbox, and where its plans come from."""

    def __init__(self, bundle: Bundle) -> None:
        """Import the bundle in the sandbox. Raises BadInput that names the file if that fails, and InfrastructureError
        if no process can be started."""
        self.bundle = bundle
        self._planner: WorkerProcess | None = None
        self._lock = Lock()
        try:
            self.loaded = self._asked(lambda planner: planner.load(bundle))
        except NotPlanned as error:
            raise BadInput(f"The bundle {bundle.digest[:12]} cannot be imported: {error}") from error
        folder = Path(tempfile.mkdtemp(prefix="passnet-kernels-", dir=_home()))
        # Triton reads the source of a kernel from its file, perhaps as late as in its first launch
        self.kernels = LoadedKernels(bundle.files, folder)
        self._known: dict[str, tuple[Any, Sequence[torch.Tensor]]] = {}

    @property
    def passes(self) -> Sequence[TracedPass]:
        return self.loaded.passes

    def plan(self, asked: str, weights: Mapping[str, torch.Tensor]) -> tuple[Any, Sequence[torch.Tensor]]:
        """The plan that answers an executor's question, and the bytes of its constants. weights: what prepare(weights)
        of the replacement gets. Raises NotPlanned."""
        if not weights and asked in self._known:
            return self._known[asked]
        key, signature = json.loads(asked)
        on_cpu = {name: each.detach().cpu() for name, each in weights.items()}

        def recorded(planner: WorkerProcess) -> Any:
            if on_cpu:
                planner.pack_weights(key, on_cpu)
            return planner.plan(key, signature)

        plan, constants, launches = self._asked(recorded)
        for each in foreign_work(self.bundle, [launches], {key: "the replacement"}):
            raise NotPlanned(f"it is not computed by the bundle's own kernels alone: {each}")
        if not weights:
            self._known[asked] = plan, constants
        return plan, constants

    def _asked(self, request: Callable[[WorkerProcess], T]) -> T:
        """What the planner answers; one that has ended is replaced once. Raises NotPlanned."""
        with self._lock:
            for is_last in (False, True):
                planner = self._planner = self._planner or self._started()
                planner.begin(PATIENCE_S, lambda text: None)
                try:
                    planner.load(self.bundle, _card())
                    return request(planner)
                except CandidateFault as fault:
                    raise NotPlanned(fault.text) from fault
                except CandidateEnd as end:
                    self._planner = None
                    planner.close()
                    planner.fork_server.stop()
                    if is_last or isinstance(end, CandidateTimeout):
                        raise NotPlanned(str(end)) from end
        raise AssertionError("unreachable")

    def _started(self) -> WorkerProcess:
        # what a thread has started ends with it
        fork_server = _starting().submit(lambda: _pool().fresh(Device.CPU)).result()
        atexit.register(fork_server.stop)
        return WorkerProcess(fork_server, "candidate", deadline_s=PATIENCE_S, lifetime_s=math.inf)


@cache
def plans_of(bundle: Bundle) -> BundlePlans:
    """The plans of a bundle, of which a process needs no second copy. Raises as BundlePlans does."""
    return BundlePlans(bundle)


@cache
def _card() -> Mapping[str, Any] | None:
    """What planners are told of the GPU."""
    return card() if torch.cuda.is_available() else None


@cache
def _home() -> Path:
    home = Path(tempfile.mkdtemp(prefix="passnet-integrate-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


@cache
def _starting() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1)


@cache
def _pool() -> WorkerPool:
    pool = WorkerPool(WorkerPlace(sandbox.chosen("auto"), _home()), spares=0)
    atexit.register(pool.close)
    return pool


class PlannedCall:
    """Stands in for the replacement function of one match. places: of the arguments that prepare(weights) gets, by
    name; it gets them once, and again when torch knows of a change."""

    def __init__(self, plans: BundlePlans, key: str, places: Mapping[str, int]) -> None:
        self.plans, self.key, self.places = plans, key, dict(places)
        self.executors: dict[torch.device, _OnCpu | _OnGpu] = {}
        self.weights: dict[str, torch.Tensor] = {}
        self.state: list[tuple[int, int]] = []

    def function(self) -> Function:
        """The function that is called. It raises NotPlanned, and what the kernels raise."""
        latest: list[Any] = [None, None]
        places = [(place, PreparedWeight(index)) for index, place in enumerate(self.places.values())]

        def call(*arguments: Any) -> Any:
            given: Sequence[Any] = arguments
            if places:
                self._look(arguments)
                given = list(arguments)
                for place, prepared in places:
                    given[place] = prepared
            device = _device_of(arguments)
            if device != latest[0]:
                latest[:] = device, self._executor(device).call
            while True:
                try:
                    return latest[1](*given)
                except PlanWanted as wanted:
                    self._learn(wanted.asked, device)

        return call

    def refresh(self) -> None:
        """Have the weights prepared again, into the memory of those prepared before."""
        if self.weights:
            self.state = _state_of(self.weights.values())
            for executor in self.executors.values():
                for asked in list(executor.plans.known):
                    executor.renew(asked, *self.plans.plan(asked, self.weights))

    def _look(self, arguments: Sequence[Any]) -> None:
        """Take the weights anew if torch knows of a change."""
        weights = {name: arguments[place] for name, place in self.places.items()}
        state = _state_of(weights.values())
        if state != self.state:
            self.weights, self.state = weights, state
            for executor in self.executors.values():
                executor.forget()

    def _executor(self, device: torch.device) -> "_OnCpu | _OnGpu":
        if device not in self.executors:
            kind = _OnGpu if device.type == "cuda" else _OnCpu
            self.executors[device] = kind(self.plans.kernels, self.key, device)
        return self.executors[device]

    def _learn(self, asked: str, device: torch.device) -> None:
        plan, constants = self.plans.plan(asked, self.weights)
        apart(lambda: self.executors[device].renew(asked, plan, constants))


class _OnCpu:
    """Executes the plans of one replacement by Triton's interpreter."""

    def __init__(self, kernels: LoadedKernels, key: str, device: torch.device) -> None:
        if not interpreter.is_on():
            raise NotPlanned(NOT_INTERPRETED)
        interpreter.mend()
        self.plans, self.key = Plans(kernels), key

    def call(self, *arguments: Any) -> Any:
        self.plans.calls += 1
        while True:
            try:
                return Execution(self.plans).functions([self.key])[self.key](*arguments)
            except ChoiceRefused:
                continue

    def renew(self, asked: str, plan: Any, constants: Sequence[torch.Tensor]) -> None:
        """As GpuPlans does."""
        self.plans.known[asked] = plan, constants

    def forget(self) -> None:
        """As GpuPlans does."""
        self.plans.known.clear()


class _OnGpu:
    """Executes the plans of one replacement on one GPU."""

    def __init__(self, kernels: LoadedKernels, key: str, device: torch.device) -> None:
        self.plans, self.device = GpuPlans(kernels), device
        stand_in = self.plans.standing_in(key)
        self.renew, self.forget = self.plans.renew, self.plans.forget
        self.call: Function = stand_in if torch.cuda.device_count() == 1 else self._elsewhere(stand_in)

    def _elsewhere(self, stand_in: Function) -> Function:
        def call(*arguments: Any) -> Any:
            # memory is made, and kernels launched, on the present GPU
            with torch.cuda.device(self.device):
                return stand_in(*arguments)

        return call


def _device_of(arguments: Iterable[Any]) -> torch.device:
    return next((each.device for each in arguments if isinstance(each, torch.Tensor)), torch.device("cpu"))


def _state_of(weights: Iterable[torch.Tensor]) -> list[tuple[int, int]]:
    """What tells most changes of the weights: where they are, and their versions."""
    return [(each.data_ptr(), version_of(each)) for each in weights]
