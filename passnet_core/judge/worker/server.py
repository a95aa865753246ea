"""A worker's main loop: it answers the referee's requests one after the other until the channel closes.

In the candidate worker, the bundle shares this process, so the referee trusts no answer from here. This code has to be
right for honest bundles only."""

import gc
import itertools
import math
import os
import platform
import random
import re
import socket
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from passnet_core.fx import modules, tracing
from passnet_core.fx.loading import FOLDER, LoadProblem, make_importable
from passnet_core.fx.passes import UntraceablePattern, imported_passes
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.judge.gpu_on_cpu import interpreter
from passnet_core.judge.gpu_on_cpu.needs_gpu import need_of, root_of
from passnet_core.judge.numerics import timed_inputs
from passnet_core.judge.plan.wanted import PlanWanted
from passnet_core.judge.protocol import encoding, framing
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, Preparation, Returned
from passnet_core.judge.protocol.reference_bench import Computing
from passnet_core.judge.worker import building, error_places, timing, timing_loop
from passnet_core.judge.worker.staging import LARGE_BYTES, Staging
from passnet_core.records import Baseline, Bundle, Capture, Contender, Device, TensorForm, from_json, to_json

TEXT_LIMIT = 2_000
TRACE_LIMIT = 6_000

COLLECTED, LEFT_BYTES = 8, 64 << 20
"""After how many jobs at most a resident worker collects garbage, and how many bytes on the device may be left till
then."""

LANGUAGE = ("/triton/language/", "/triton/_utils.py")
"""Where Triton's interpreter checks what the compiler for a GPU checks, as that a block's size is a power of two, and
not too large."""

OWN_WORDS = frozenset({"plan", "alone", "gpu"})
"""The kinds of faults whose exceptions are the judge's own."""

COMPILERS = ("triton.compiler", "torch._dynamo", "torch._inductor", "triton.backends")
"""An exception whose class is in one of these modules means that something could not be compiled."""


if TYPE_CHECKING:
    from passnet_core.judge.plan.execute import Plans
    from passnet_core.judge.plan.on_gpu import GpuPlans
    from passnet_core.judge.plan.record import PlanRecorder
    from passnet_core.judge.worker.bench_server import ReferenceBenchServer
    from passnet_core.judge.worker.compiler_process import CompilerProcess


def serve(channel: socket.socket, device: Device, scratch: Path) -> None:
    """Answer requests until the channel closes."""
    worker = _WorkerServer(device, scratch, channel)
    while True:
        try:
            request = framing.receive(channel)
        except framing.WireClosed:
            return
        worker.nonce = request.fields.get("nonce")
        reply = worker.answer(request)
        try:
            framing.send(channel, worker.marked(reply))
        except framing.WireClosed:
            return


def load_compilers(device: Device, *, trusted: bool, capturing: bool) -> None:
    """Load in a new worker on CUDA, before its first job and without the device, what its first compiled call needs. A
    witness's compiler is loaded as it is primed. capturing: the first call may be captured by Dynamo."""
    if device is Device.CUDA and not trusted:
        from triton.runtime import driver

        from passnet_core.judge.worker import rehearsing  # loads Triton, which a witness does not need

        rehearsing.load_compilers(capturing=capturing)
        # Triton compiles a module of its own for each new cache
        assert driver.active.utils


def prime(device: Device, *, trusted: bool) -> None:
    """Initialise the device in a new worker, which takes seconds, before its first job. trusted: it is a witness."""
    if device is Device.CPU:
        return
    torch.cuda.init()
    timing.prime()
    if trusted:
        timing.memory()
        building.rehearse()
    else:
        from passnet_core.judge.worker import rehearsing

        rehearsing.rehearse()
    torch.cuda.synchronize()


def rehearse(device: Device, who: str) -> None:
    """Do once, before any worker exists, what every worker would have to do first. No candidate code runs."""
    if device is Device.CPU:
        interpreter.mend()
        _load_modules(who)
    tracing.trace_pattern(_rehearsed)
    tracing.trace_arguments(_rehearsed)


def _load_modules(who: str) -> None:
    """Load what the first request to a worker on the CPU would have it load."""
    if who == "witness":
        from passnet_core.judge.worker import bench_server  # noqa: F401
    elif who != "checker":
        import numpy.random  # noqa: F401
        import triton.experimental.gluon  # noqa: F401  Triton's interpreter loads it for its first launch
        from triton.runtime.cache import triton_key

        from passnet_core.judge.gpu_on_cpu import pretended_device, sampling  # noqa: F401
        from passnet_core.judge.plan import (  # noqa: F401
            execute,
            kernel_loading,
            record,
        )

        if who in ("executor", "compiler"):
            triton_key()
        else:
            record.rehearse()


def _rehearsed(a: Any, b: Any) -> Any:
    return torch.nn.functional.relu(a + b)


class _WorkerServer:
    """The state of one worker: the loaded passes, the prepared callables, the inputs."""

    def __init__(self, device: Device, scratch: Path, channel: socket.socket) -> None:
        self.device = device
        self.scratch = scratch
        self.channel = channel
        self.traced: tuple[TracedPass, ...] = ()
        self.prepared_weights: tuple[Any, ...] = ()
        """What the bundle's prepare(weights) returned. Planner only."""
        self.replacements: dict[str, Callable[..., Any]] = {}
        self.hooks: dict[str, modules.Hook] = {}
        self.calls: dict[str, building.Prepared] = {}
        self.inputs: list[Any] = []
        self.staging = Staging(device)
        self.buffers: timed_inputs.Buffers | None = None
        self.bench: ReferenceBenchServer | None = None
        self.forgotten = 0
        """How many jobs it has forgotten."""
        self.nonce: Any = None
        """What the answers to the present request must carry."""
        self.recorder: PlanRecorder | None = None
        """Records the bundle's plans. Planner only."""
        self.plans: Plans | None = None
        self.gpu_plans: GpuPlans | None = None
        """What is executed in place of the replacement functions, without a GPU and on one. Executor only."""
        self.compiler: CompilerProcess | None = None
        """Of the bundle whose plans are executed. Executor only."""

    def marked(self, reply: framing.WireMessage) -> framing.WireMessage:
        """The reply with the nonce of its request."""
        return replace(reply, fields={**reply.fields, "nonce": self.nonce})

    def answer(self, request: framing.WireMessage) -> framing.WireMessage:
        """The reply to one request: the result, or the fault as data."""
        operation = request.fields.get("do")
        handlers: Mapping[str, Callable[[framing.WireMessage], framing.WireMessage | None]] = {
            "load": self._load,
            "prepare": self._prepare,
            "give": self._give,
            "bench": self._bench,
            "run": self._run,
            "warm_up": self._warm_up,
            "fix": self._fix,
            "loops": self._loops,
            "timed_outputs": self._timed_outputs,
            "passnet_times": self._passnet_times,
            "recall": self._recall,
            "check": self._check,
            "kernels": self._kernels,
            "replay": self._replay,
            "forget": self._forget,
            "settle": lambda request: None,
            "load_kernels": self._load_kernels,
            "compile_kernels": self._compile_kernels,
            "plan": self._plan,
            "pack": self._pack,
            "pack weights": self._pack_weights,
            "learn": self._learn,
            "execute": self._execute,
            "launch at": self._launch_at,
            "facts": self._facts,
            "propagate": self._propagate,
            "generate": self._generate,
            "compiled": self._compiled,
            "traced": self._traced,
        }
        try:
            return handlers[operation](request) or framing.WireMessage({})  # type: ignore[index]
        except CandidateFault as fault:  # raised by the witness's bench
            return framing.WireMessage({"fault": fault.kind, "text": fault.text, "trace": fault.trace})
        except BaseException as error:  # candidate code may raise anything, SystemExit included
            return framing.WireMessage({"fault": _kind_of(error, str(operation)), **self._text_and_trace(error)})

    def _load(self, request: framing.WireMessage) -> framing.WireMessage:
        bundle = from_json(Bundle, request.fields["bundle"])
        folder = _folder(self.scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for file in bundle.files:
            (folder / Path(file.name).name).write_text(file.code)
        make_importable(folder)
        importing, pretended = self._pretence(request.fields["card"])
        found = imported_passes(bundle.passes, folder, importing=importing, calling=pretended, replacing=pretended)
        self.traced, self.replacements, self.hooks = found.passes, found.replacements, found.hooks
        return framing.WireMessage(
            {
                "passes": [encoding.traced_to_json(each) for each in found.passes],
                "replacements": list(self.replacements),
                "warnings": list(found.warnings),
                "renewed": list(found.renewed),
                "hooks": {key: list(hook.names) for key, hook in self.hooks.items()},
            }
        )

    def _pretence(
        self, card: Mapping[str, Any] | None = None
    ) -> tuple[Callable[[], AbstractContextManager[None]], Callable[[Any], Any]]:
        """On the CPU, a context and a decorator in which a bundle's code is told that it runs on a GPU. card: on which
        one, as plan/card.py says; None: on any."""
        if self.device is not Device.CPU:
            return nullcontext, lambda function: function
        from passnet_core.judge.gpu_on_cpu import pretended_device  # loads Triton, which a witness does not need

        pretended_device.install(card)
        return pretended_device.pretending, pretended_device.pretended

    def _prepare(self, request: framing.WireMessage) -> None:
        preparation = from_json(Preparation, request.fields["preparation"])
        hooks = self.hooks if preparation.contender is Contender.PASSES else {}
        call = building.prepared(preparation, self.traced, self.replacements, hooks)
        if self.plans is not None or self.gpu_plans is not None:
            call.packings = tuple(_standing_for(call.packings))
        self.calls[request.fields["name"]] = call

    def _give(self, request: framing.WireMessage) -> None:
        if sum(each.nbytes for each in self.inputs if isinstance(each, torch.Tensor)) > LARGE_BYTES:
            self.take([])
            gc.collect()
        given = framing.unpack_inputs(request.fields["inputs"], request.tensors)
        self.take([_on_device(each, self.device) if isinstance(each, torch.Tensor) else each for each in given])
        self._synchronise()

    def _bench(self, request: framing.WireMessage) -> framing.WireMessage:
        if self.bench is None:
            from passnet_core.judge.worker.bench_server import ReferenceBenchServer  # a candidate does not need it

            self.bench = ReferenceBenchServer(_OwnClient(self), self.device, self._on_cpu)
        return self.bench.answer(request)

    def _on_cpu(self, source: str) -> Computing:
        """A witness on the CPU in this process, with the forms of eager that are prepared here. source: placed there.
        Raises BadInput for source that must not be executed."""
        client = _OwnClient(_WorkerServer(Device.CPU, self.scratch, self.channel))
        eager = Preparation(Contender.EAGER, source, Capture.DIRECT, Device.CPU)
        forms = {
            CallableName.EAGER: eager,
            CallableName.FLOAT64: replace(eager, float64=True),
            CallableName.MOVED: replace(eager, moved=True),
        }
        for name, form in forms.items():
            if name in self.calls:
                client.prepare(name, form)
        return client

    def take(self, inputs: Sequence[Any]) -> None:
        """Use these inputs, which are on the device, in the next calls."""
        self.inputs = list(inputs)
        self.staging.give(self.inputs)
        if self.traced and self.device is Device.CPU:
            from passnet_core.judge.gpu_on_cpu import launching  # loads Triton, which a witness does not need

            launching.choose_anew()

    def _run(self, request: framing.WireMessage) -> framing.WireMessage:
        name = request.fields["name"]
        with ExitStack() as entered:
            counting = self._counting(entered)
            if self.traced:
                entered.enter_context(self._refusing(name))
            returned = self.called(name)
            work_s = counting()
        return framing.WireMessage(*encoding.packed(replace(returned, work_s=work_s)))

    def _counting(self, entered: ExitStack) -> Callable[[], float | None]:
        """In a candidate on the CPU, count what kernels do until the end. Return a function that gives the seconds of
        work so far."""
        if not self.traced or self.device is not Device.CPU:
            return lambda: None
        from passnet_core.judge.gpu_on_cpu.work import counted  # loads Triton, which a witness does not need

        work = entered.enter_context(counted())
        return lambda: work.seconds

    def _refusing(self, name: str) -> AbstractContextManager[None]:
        """A context in which a callable's replacement functions are given tensors that refuse operations."""
        from passnet_core.judge.worker.refusing_tensors import refusing  # loads Triton, which a witness does not need

        functions = {key: refusing(function) for key, function in self.replacements.items()}
        return self.calls[name].replaced(functions)

    def called(self, name: str) -> Returned:
        """Make one call. What it returned is not copied, so the next call may overwrite it."""
        call = self.calls[name]
        seen = self.staging.call(call)
        matches = getattr(call, "matches", None)
        return Returned(
            outputs=tuple(map(encoding.produced, encoding.listed(seen.returned), seen.shares)),
            container=_container(seen.returned),
            seconds=seen.seconds,
            matches=matches if isinstance(matches, int) else None,
            changed=seen.changed,
        )

    def _plan(self, request: framing.WireMessage) -> framing.WireMessage:
        """Record the plan of a replacement function for arguments of one signature."""
        from passnet_core.judge.plan.record import PlanRecorder  # loads Triton, which a witness does not need

        if self.recorder is None:
            self.recorder = PlanRecorder(str(_folder(self.scratch)))
        key, given = request.fields["key"], request.fields["signature"]
        found = self.recorder.planned(key, self.replacements[key], given, self.prepared_weights)
        return framing.WireMessage({"plan": found.plan, "launches": to_json([found.launches])}, found.constants)

    def _pack(self, request: framing.WireMessage) -> None:
        """Have the bundle's prepare(weights) prepare the weights among the inputs, for the plans to come."""
        call = self.calls[request.fields["name"]]
        with torch.no_grad():
            call.pack(self.inputs)
        self.prepared_weights = tuple(call.packed)

    def _pack_weights(self, request: framing.WireMessage) -> None:
        """Have the prepare(weights) of one replacement prepare the tensors that are sent, for the plans to come."""
        places = {name: place for place, name in enumerate(request.fields["names"])}
        packing = modules.Packing(self.hooks[request.fields["key"]].prepare, places)
        with torch.no_grad():
            self.prepared_weights = tuple(packing(request.tensors))

    def _load_kernels(self, request: framing.WireMessage) -> None:
        """Load the bundle's kernels alone, and its passes as they were traced elsewhere."""
        from passnet_core.judge.plan.execute import Plans, unchanging
        from passnet_core.judge.plan.kernel_loading import LoadedKernels

        fields = request.fields
        self.traced = tuple(map(encoding.traced_from_json, fields["passes"]))
        self.hooks = {key: modules.Hook(_not_here, tuple(names)) for key, names in fields["hooks"].items()}
        files, folder = from_json(Bundle, fields["bundle"]).files, _folder(self.scratch)
        keys = list(dict.fromkeys(each.replacement for each in self.traced))
        if self.device is Device.CUDA:
            from passnet_core.judge.plan.on_gpu import GpuPlans

            self.gpu_plans = GpuPlans(LoadedKernels(files, folder), unchanging(self.traced))
            self.replacements = self.gpu_plans.functions(keys)
            return
        from passnet_core.judge.worker.compiler_process import CompilerProcess

        # kernels may ask Triton for the target
        self._pretence()
        self.compiler = CompilerProcess(files, folder.parent / "compiling")
        self.plans = Plans(LoadedKernels(files, folder))
        self.replacements = dict.fromkeys(keys, _not_here)

    def _compile_kernels(self, request: framing.WireMessage) -> framing.WireMessage:
        """Compile launches of the bundle's kernels for a GPU, and tell which the compiler refuses."""
        assert self.compiler is not None
        found = self.compiler.compiled(request.fields["launches"], seconds=request.fields["seconds"])
        return framing.WireMessage(
            {"answers": [{name: each[name] for name in ("problem", "refusal") if name in each} for each in found]}
        )

    def _learn(self, request: framing.WireMessage) -> None:
        asked, plan = request.fields["asked"], request.fields["plan"]
        if self.gpu_plans is not None:
            self.gpu_plans.learn(asked, plan, request.tensors)
            return
        assert self.plans is not None
        self.plans.known[asked] = plan, request.tensors

    def _execute(self, request: framing.WireMessage) -> framing.WireMessage:
        """Make one call in which plans take the place of the replacement functions, or tell which plan is missing."""
        from passnet_core.judge.plan.execute import ChoiceRefused

        while True:
            try:
                return self._executed_on_gpu(request.fields) if self.gpu_plans else self._executed(request.fields)
            except PlanWanted as wanted:
                return framing.WireMessage({"wanted": wanted.asked})
            except ChoiceRefused:
                continue

    def _launch_at(self, request: framing.WireMessage) -> framing.WireMessage:
        """Launch at sizes at which no call is made, or tell which plan is missing."""
        from passnet_core.judge.gpu_on_cpu.sampling import MOST_S
        from passnet_core.judge.gpu_on_cpu.work import counted
        from passnet_core.judge.plan.full_size import FullSizeLaunches, NotLaunched

        call = self.calls[request.fields["name"]]
        assert self.plans is not None
        with counted(MOST_S) as work:
            launches = FullSizeLaunches(self.plans, work)
            try:
                with call.replaced(launches.functions(list(self.replacements))):
                    launches.call(call, _given(request.fields["forms"]))
            except PlanWanted as wanted:
                return framing.WireMessage({"wanted": wanted.asked})
            except NotLaunched:
                return framing.WireMessage({"unfilled": []})
        return framing.WireMessage({"unfilled": launches.unfilled})

    def _executed(self, fields: dict[str, Any]) -> framing.WireMessage:
        from passnet_core.judge.gpu_on_cpu import strict_memory
        from passnet_core.judge.gpu_on_cpu.sampling import MOST_S, Sampling
        from passnet_core.judge.gpu_on_cpu.work import counted
        from passnet_core.judge.plan.execute import Execution, unchanging

        call = self.calls[fields["name"]]
        assert self.plans is not None
        self.plans.calls += 1
        execution = Execution(self.plans, unchanging(self.traced), inputs=self.inputs)
        sampled, extent_of = fields["sampled"], self.staging.extent_of
        most_s = MOST_S if sampled else fields["most_s"] or math.inf
        with call.replaced(execution.functions(list(self.replacements))), counted(most_s) as work:
            chosen = Sampling(work, random.Random()).chosen if sampled else None
            asked = {"seed": fields["seed"], "noisy": fields["noisy"], "chosen": chosen}
            with strict_memory.watched(extent_of=extent_of, refusing=True, **asked) as memory:
                execution.memory = memory
                returned = self.called(fields["name"])
        described, tensors = encoding.packed(replace(returned, work_s=work.seconds))
        stored = [execution.stored(each.value) for each in returned.outputs] if sampled else []
        answer = {
            **described,
            "used": execution.used,
            "problems": [*execution.problems, *dict.fromkeys(memory.problems)],
            "copied": execution.copied,
            "stored": [count for _, count in stored],
            "atomic": any(each.atomic for launch in memory.launches for each in launch.changed),
        }
        return framing.WireMessage(answer, (*tensors, *(mask.to(torch.uint8) for mask, _ in stored)))

    def _executed_on_gpu(self, fields: dict[str, Any]) -> framing.WireMessage:
        call, plans = self.calls[fields["name"]], self.gpu_plans
        assert plans is not None
        with call.replaced(plans.watching(list(self.replacements))):
            returned = self.called(fields["name"])
        described, tensors = encoding.packed(returned)
        seen = {"used": plans.used, "problems": plans.problems, "copied": plans.copied, "stored": [], "atomic": False}
        return framing.WireMessage({**described, **seen}, tensors)

    def fault(self, error: BaseException) -> CandidateFault:
        """The fault that tells the referee about an exception in a call."""
        told = self._text_and_trace(error)
        return CandidateFault(_kind_of(error, "run"), told["text"], told["trace"])

    def _warm_up(self, request: framing.WireMessage) -> framing.WireMessage | None:
        fields = request.fields
        call, inputs = self._drawn(fields, 1)
        try:
            timing.warm_up(call, inputs, fields["seconds"], self.device)
        except PlanWanted as wanted:
            return framing.WireMessage({"wanted": wanted.asked})
        return None

    def _fix(self, request: framing.WireMessage) -> None:
        """Draw the inputs that are the same in all calls of the loops to come, and have the callables prepare them."""
        fields = request.fields
        fixed = self._buffers(fields["fills"]).fix(fields["weights"])
        for name in dict.fromkeys(fields["names"]):
            self.calls[name].pack(fixed)
        self._synchronise()

    def _loops(self, request: framing.WireMessage) -> framing.WireMessage:
        """Time loops of calls of some callables, in turns."""
        fields = request.fields
        calls = [self.calls[name] for name in fields["names"]]
        found = self._timed_loops(fields).times(calls, fields["counts"], fields["rounds"], fields["core"])
        return framing.WireMessage({"host_us": found.host_us, "device_us": found.device_us})

    def _timed_outputs(self, request: framing.WireMessage) -> framing.WireMessage:
        """What the first calls of a timed loop return."""
        fields = request.fields
        kept = self._timed_loops(fields).outputs(self.calls[fields["name"]])
        sizes = itertools.accumulate(map(_bytes_of, kept))
        fitting = sum(size <= fields["most_bytes"] for size in sizes)
        return self._returned_many(kept[: max(1, fitting)])

    def _timed_loops(self, fields: dict[str, Any]) -> timing_loop.TimedLoops:
        cold, fresh = fields.get("cold", False), fields["fresh"]
        return timing_loop.TimedLoops(self._fixed, self.device, fields["seed"], cold=cold, fresh=fresh)

    @property
    def _fixed(self) -> timed_inputs.Buffers:
        """The buffers for timed inputs, once "fix" has drawn those that stay the same."""
        assert self.buffers is not None, "the inputs must be fixed before"
        return self.buffers

    def _passnet_times(self, request: framing.WireMessage) -> framing.WireMessage:
        fields = request.fields
        inputs = self._fixed.drawn(fields["seed"], 0)
        call = self.calls[fields["name"]]
        both = timing_loop.passnet_times(call, inputs, fields["warm_up"], fields["calls"], fields["core"])
        return framing.WireMessage({"times": both})

    def _recall(self, request: framing.WireMessage) -> framing.WireMessage:
        fields = request.fields
        return self._returned_many(self.recalled(fields["name"], fields["fills"], fields["weights"], fields["seeds"]))

    def recalled(self, name: str, fills: list[Any], weights: int, seeds: Sequence[int]) -> list[Any]:
        """What a callable returns for the inputs of each seed; with an empty name, the inputs themselves."""
        buffers = self._buffers(fills)
        fixed = buffers.fix(weights)
        if name:
            self.calls[name].pack(fixed)
        found = []
        for seed in seeds:
            inputs = buffers.drawn(seed, 0)
            with torch.no_grad():
                returned = self.calls[name](inputs) if name else tuple(inputs)
            self._synchronise()
            found.append(timing_loop.copied(returned))
        return found

    def _check(self, request: framing.WireMessage) -> framing.WireMessage:
        """Check what a timed call of the candidate returned. Null if the device has too little memory for that."""
        from passnet_core.judge.numerics import rechecking  # a candidate does not need it

        fields = request.fields
        try:
            tensors = [each.to(self.device.value) for each in request.tensors]
            actual = encoding.unpacked(fields["actual"], tensors)
            found = rechecking.rechecked(_OwnClient(self), fields["fills"], fields["weights"], fields["seed"], actual)
            return framing.WireMessage({"checked": to_json(found)})
        except torch.cuda.OutOfMemoryError:
            pass
        except CandidateFault:
            raise
        except Exception:  # a bug in the judge, which must not be blamed on the subgraph
            return framing.WireMessage({"bug": traceback.format_exc()[-8000:]})
        # outside the handler, whose traceback would keep the tensors alive
        torch.cuda.empty_cache()
        return framing.WireMessage({"checked": None})

    def _buffers(self, fills: list[Any]) -> timed_inputs.Buffers:
        """The buffers for timed inputs. They are kept from block to block, so that inputs keep their addresses."""
        if self.buffers is None or self.buffers.fills != fills:
            # values have been compared by now: free the bench's tensors
            self.bench = None
            self.buffers = timed_inputs.Buffers(fills, self.inputs, self.device)
        return self.buffers

    def _returned_many(self, kept: Sequence[Any]) -> framing.WireMessage:
        described: list[Any] = []
        tensors: list[torch.Tensor] = []
        for returned in kept:
            produced = [encoding.produced(value) for value in encoding.listed(returned)]
            outputs, own = encoding.packed_outputs(produced, len(tensors))
            tensors += own
            described.append({"outputs": outputs, "container": _container(returned)})
        return framing.WireMessage({"returned": described}, tuple(tensors))

    def _kernels(self, request: framing.WireMessage) -> framing.WireMessage:
        fields = request.fields
        call, inputs = self._drawn(fields, fields["seed"])
        samples = timing.kernels(call, inputs, fields["calls"])
        return framing.WireMessage({"samples": [float(each) for each in samples]})

    def _replay(self, request: framing.WireMessage) -> framing.WireMessage:
        fields = request.fields
        call, inputs = self._drawn(fields, fields["seed"])
        return framing.WireMessage({"microseconds": timing.replay(call, inputs)})

    def _drawn(self, fields: dict[str, Any], seed: int) -> tuple[building.Prepared, list[Any]]:
        """The requested callable, and the inputs of this seed. If the callable prepares weights, it has done so."""
        call, buffers = self.calls[fields["name"]], self._buffers(fields["fills"])
        call.pack(buffers.fix(seed))
        return call, buffers.drawn(seed, 0)

    def _forget(self, request: framing.WireMessage) -> None:
        """Drop everything that belongs to a job, before the next one on the device. Garbage is collected, which takes
        a fifth of a second, only where much is left or has been left for several jobs."""
        self.calls.clear()
        if self.gpu_plans is not None:
            self.gpu_plans.forget()
        self.inputs = []
        self.staging = Staging(self.device)
        self.buffers = None
        self.bench = None
        self.forgotten += 1
        on_device = self.device is Device.CUDA
        if not on_device or self.forgotten % COLLECTED == 0 or torch.cuda.memory_allocated() > LEFT_BYTES:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        if on_device:
            torch.cuda.empty_cache()

    def _facts(self, request: framing.WireMessage) -> framing.WireMessage:
        found: dict[str, Any] = {"python": platform.python_version(), "torch": torch.__version__, "device": "cpu"}
        if self.device is Device.CUDA:
            properties = torch.cuda.get_device_properties(0)
            found["device"] = properties.name
            found["bytes_per_us"], found["l2_bytes"] = timing.memory()
            found["capability"] = f"{properties.major}.{properties.minor}"
            found["multiprocessors"] = properties.multi_processor_count
            found["memory_bytes"] = properties.total_memory
            from passnet_core.judge.plan.card import card

            found["card"] = card()
        return framing.WireMessage({"facts": found})

    def _propagate(self, request: framing.WireMessage) -> framing.WireMessage:
        from passnet_core.judge.worker import inspecting

        found = inspecting.propagated(request.fields["source"], _given(request.fields["given"]), self.device)
        return framing.WireMessage(to_json(found))

    def _generate(self, request: framing.WireMessage) -> framing.WireMessage:
        from passnet_core.judge.worker import inspecting

        fields = request.fields
        given, baseline = _given(fields["given"]), Baseline(fields["baseline"])
        found = inspecting.generated(fields["source"], given, self.device, baseline)
        if isinstance(found, str):
            return framing.WireMessage({"problem": self._without_scratch(found)})
        return framing.WireMessage({"code": to_json(replace(found, text=self._without_scratch(found.text)))})

    def _compiled(self, request: framing.WireMessage) -> framing.WireMessage:
        from passnet_core.judge.worker import compiling  # loads Triton, which a witness does not need

        once = self._once(request)
        return framing.WireMessage({"kernels": compiling.kernels(once, self.device, _folder(self.scratch))})

    def _traced(self, request: framing.WireMessage) -> framing.WireMessage:
        from passnet_core.judge.worker import kernel_steps  # loads Triton, which a witness does not need

        launches, left_out = kernel_steps.traced(self._once(request), dict(zip(request.fields["inputs"], self.inputs)))
        return framing.WireMessage({"launches": to_json(launches), "left_out": left_out})

    def _once(self, request: framing.WireMessage) -> Callable[[], object]:
        """A function that calls the requested callable on the given inputs. Its weights have been prepared."""
        call = self.calls[request.fields["name"]]
        call.pack(self.inputs)

        def once() -> object:
            with torch.no_grad():
                return call(list(self.inputs))

        return once

    def _without_scratch(self, text: str) -> str:
        """The text without the path of this worker's scratch folder, which differs from run to run."""
        return text.replace(f"{self.scratch}/", "")

    def _synchronise(self) -> None:
        if self.device is Device.CUDA:
            torch.cuda.synchronize()

    def _text_and_trace(self, error: BaseException) -> dict[str, Any]:
        """Message, frames and place of an exception for its author, cut to size. Hostile exceptions cannot break it."""
        text, trace, place = "", "", None
        try:
            folder = _folder(self.scratch)
            found = error_places.places(error, folder)
            place = error_places.at_fault(found) if found else getattr(error, "place", None)
            plain = isinstance(error, LoadProblem | UntraceablePattern) or _kind_of(error, "") in OWN_WORDS
            told = f"{error}{error_places.meant(error_places.causes(error)[-1])}" if plain else _named(error)
            described = need_of(error) or told
            text = error_places.without_paths(error_places.with_remedy(described), self.scratch)
            trace = error_places.without_paths(error_places.trace(error, folder), self.scratch)
        except BaseException:  # its __str__ is candidate code too
            text, trace = f"{type(error).__name__}, whose message cannot be read", ""
        words = {"text": _cut(text, TEXT_LIMIT), "trace": _cut(trace, TRACE_LIMIT)}
        return {**words, "file": place.file, "line": place.line, "function": place.function} if place else words


class _OwnClient:
    """The witness as a client of itself, so that what it computes and compares stays on the device."""

    def __init__(self, worker: _WorkerServer) -> None:
        self.worker = worker

    def prepare(self, name: str, preparation: Preparation) -> None:
        self.worker.calls[name] = building.prepared(preparation, (), {})

    def give(self, inputs: Sequence[Any]) -> None:
        self.worker.take(inputs)

    def run(self, name: str) -> Returned:
        try:
            found = self.worker.called(name)
            return encoding.placed(found, self.worker.device.value, copy=True)
        except BaseException as error:
            raise self.worker.fault(error) from error

    def recall(self, name: str, fills: Sequence[Any], weights: int, seeds: Sequence[int]) -> tuple[Returned, ...]:
        try:
            found = self.worker.recalled(name, list(fills), weights, seeds)
        except torch.cuda.OutOfMemoryError:
            raise
        except BaseException as error:
            raise self.worker.fault(error) from error
        returned = (
            Returned(tuple(map(encoding.produced, encoding.listed(each))), _container(each), 0.0) for each in found
        )
        return tuple(encoding.placed(each, self.worker.device.value, copy=False) for each in returned)


def _not_here(*args: Any) -> Any:
    """Stands for the bundle's functions, which an executor does not load."""
    raise RuntimeError("An executor has none of the bundle's functions.")


def _standing_for(packings: Sequence[modules.Packing]) -> Iterator[modules.Packing]:
    """What takes the place of hooks in an executor: something stands for each prepared weight, which a planner has."""
    from passnet_core.judge.plan.record import PreparedWeight

    first = 0
    for each in packings:
        found = {name: PreparedWeight(first + index) for index, name in enumerate(each.weights)}
        first += len(found)
        yield replace(each, prepare=lambda weights, found=found: found)


def _bytes_of(returned: Any) -> int:
    return sum(value.nbytes for value in encoding.listed(returned) if isinstance(value, torch.Tensor))


def _container(returned: Any) -> str:
    return type(returned).__name__ if isinstance(returned, tuple | list) else ""


def _given(described: Sequence[Any]) -> list[Any]:
    """The inputs of an inspection: TensorForm objects and plain numbers."""
    return [
        from_json(TensorForm, each) if isinstance(each, dict) else framing.number_from_json(each) for each in described
    ]


def _folder(scratch: Path) -> Path:
    """The folder of this worker's bundle files."""
    return scratch / f"bundle-{os.getpid()}" / FOLDER


def _named(error: BaseException) -> str:
    return f"It called sys.exit({error.code!r})." if isinstance(error, SystemExit) else error_places.message(error)


def _cut(text: str, limit: int) -> str:
    clean = re.sub(r"[\ud800-\udfff]", "?", text)
    return clean if len(clean) <= limit else clean[: limit // 2] + "\n…\n" + clean[-limit // 2 :]


def _kind_of(error: BaseException, operation: str) -> str:
    if isinstance(error, UntraceablePattern):
        return "pattern"
    if type(error).__name__ == "NotPlain" and type(error).__module__ == "passnet_core.judge.plan.operations":
        return "form"
    if type(error).__name__ == "NoPlan" and type(error).__module__ == "passnet_core.judge.plan.record":
        return "plan"
    if type(error).__name__ == "Unavailable" and type(error).__module__ == "passnet_core.judge.plan.kernel_loading":
        return "alone"
    if need_of(error):
        return "gpu"
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return "memory"
    if operation == "load":
        return "load"
    if operation == "prepare":
        return "compile"
    root = root_of(error)
    if (
        type(root).__name__ == "OutsideMemory"
        and type(root).__module__ == "passnet_core.judge.gpu_on_cpu.guarded_memory"
    ):
        return "outside"
    if type(root).__name__ == "LaunchRefused" and type(root).__module__ == "passnet_core.judge.gpu_on_cpu.launching":
        return "launch"
    kinds = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(root).__mro__]
    compiling = any(kind.startswith(COMPILERS) or kind.endswith("OutOfResources") for kind in kinds)
    if root is not error and (frames := traceback.extract_tb(root.__traceback__)):
        compiling |= any(each in frames[-1].filename for each in LANGUAGE)
    return "compile" if compiling else "runtime"


def _on_device(tensor: torch.Tensor, device: Device) -> torch.Tensor:
    return tensor if device is Device.CPU else tensor.to("cuda", copy=True)
