"""Execute plans on a GPU. Of each plan a function of Python is written that allocates, launches and returns, and does
nothing else: what the plan says is known when it is written.

Kernels are compiled when a plan is learnt. Of an autotuner's configurations, calls that are watched take one after the
other, and all others the fastest."""

import functools
import itertools
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import triton
from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime import driver
from triton.runtime.errors import OutOfResources, PTXASError

from passnet_core.judge.numerics.bits import extent, same_bits
from passnet_core.judge.plan.describe import tensors_of
from passnet_core.judge.plan.execute import NONSENSE, Lent, NotExecuted, question, tensors_in
from passnet_core.judge.plan.kernel_loading import LoadedKernels
from passnet_core.judge.plan.record import ALIGNED_BYTES, Indescribable, PreparedWeight, value_of
from passnet_core.judge.plan.wanted import PlanWanted

Json = Mapping[str, Any]
Function = Callable[..., Any]

PASSED_OVER = (OutOfResources, CompileTimeAssertionFailure, PTXASError)
"""For what an autotuner passes over a configuration."""
AHEAD_CYCLES = 2_000_000
"""GPU cycles, about a millisecond, for which the GPU is kept busy while calls are queued, so that none waits for the
host."""
TRIED_CALLS, TRIES = 8, 5
RECOGNIZED = frozenset(
    {torch.Tensor, torch.nn.Parameter, PreparedWeight, torch.device, int, bool, float, str, type(None)}
)
"""The types of arguments that are recognized without describing them."""

try:
    # what Inductor allocates with
    from torch._C._dynamo.guards import TensorGuards, _empty_strided_cuda  # type: ignore[attr-defined]
except ImportError:  # pragma: no cover

    def _empty_strided_cuda(shape: Sequence[int], strides: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        return torch.empty_strided(shape, strides, dtype=dtype, device="cuda")

    TensorGuards = None  # type: ignore[misc,assignment]


@dataclass
class GpuPlans:
    """The plans of a bundle's replacement functions, and what stands in for these.

    unchanging: the replacement functions that must not change their arguments."""

    kernels: LoadedKernels
    unchanging: frozenset[str] = frozenset()
    known: dict[str, "ReadyPlan"] = field(default_factory=dict)
    """By their questions."""
    latest: list[list[Any]] = field(default_factory=list)
    """For each stand-in, a function that recognizes the arguments of the last call, and the plan that it had."""
    calls: int = field(default_factory=lambda: random.randrange(1 << 16))
    """Counts the calls of the graph that are watched."""
    used: list[str] = field(default_factory=list)
    """The questions of the plans that the present watched call has executed."""
    problems: list[str] = field(default_factory=list)
    """What its kernels did that is wrong whatever the values, in words."""
    copied: list[str] = field(default_factory=list)
    """Which results were what torch's copies alone make, in words."""

    def learn(self, asked: str, plan: Json, constants: Sequence[torch.Tensor]) -> None:
        """Take a plan, by the question that was asked."""
        triton.set_allocator(_scratch)
        self.known[asked] = ReadyPlan(self, asked, plan, constants)
        self._recognize_none()

    def renew(self, asked: str, plan: Json, constants: Sequence[torch.Tensor]) -> None:
        """Take a plan again, whose constants may have changed. Those of the same form stay where they are, since a CUDA
        graph may read them there."""
        before = self.known.get(asked)
        if before is not None and before.plan == plan and before.has_room_for(constants):
            for old, new in zip(before.constants, constants):
                old.copy_(new)
        else:
            self.learn(asked, plan, constants)

    def forget(self) -> None:
        """Drop all plans."""
        self.known.clear()
        self._recognize_none()

    def _recognize_none(self) -> None:
        for each in self.latest:
            each[:] = [_never, None]

    def functions(self, keys: Sequence[str]) -> dict[str, Function]:
        """A stand-in for each replacement function, by key, as fast as can be."""
        return {key: self.standing_in(key) for key in keys}

    def watching(self, keys: Sequence[str]) -> dict[str, Function]:
        """A stand-in for each replacement function, by key, in a call that is watched: memory that nobody has written
        holds nonsense, and it is seen what becomes of the arguments."""
        self.calls += 1
        self._recognize_none()
        self.used, self.problems, self.copied = [], [], []
        return {key: functools.partial(self._watched, key) for key in keys}

    def standing_in(self, key: str) -> Function:
        """A stand-in for a replacement function, as fast as can be. Raises PlanWanted."""
        latest: list[Any] = [_never, None]
        self.latest.append(latest)

        def stand_in(*arguments: Any) -> Any:
            alike, call = latest
            if alike(*arguments):
                return call(*arguments)
            found = self._found(key, arguments)
            if found.call is None:
                found.call = found.fastest(arguments)
            latest[:] = [recognizer(arguments), found.call]
            return found.call(*arguments)

        return stand_in

    def _found(self, key: str, arguments: Sequence[Any]) -> "ReadyPlan":
        try:
            asked = question(key, arguments)
        except Indescribable as error:
            raise NotExecuted(f"an argument {error}") from error
        if asked not in self.known:
            raise PlanWanted(asked)
        return self.known[asked]

    def _watched(self, key: str, *arguments: Any) -> Any:
        found = self._found(key, arguments)
        self.used.append(found.asked)
        lent: dict[int, Lent] = {}
        for name, value in tensors_in("argument", arguments):
            storage = value.untyped_storage()
            memory = torch.empty(0, dtype=torch.uint8, device=value.device).set_(storage)
            lent.setdefault(storage.data_ptr(), Lent(memory)).arguments[name] = value
        call = found.watched(self.calls)
        without = found.without_kernels(*_copied(arguments)) if found.without_kernels else None
        result = call(*arguments)
        if without is not None:
            self.copied += found.same_copies(result, without)
        for each in lent.values():
            each.changed |= each.memory != each.before
            self.problems += each.problems(unchanging=key in self.unchanging)
        return result


def _never(*arguments: Any) -> bool:
    return False


def _scratch(size: int, alignment: int, stream: int | None) -> torch.Tensor:
    """Memory that a kernel needs beside its arguments, as for descriptors that it makes itself."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


def recognizer(arguments: Sequence[Any]) -> Function:
    """A function that says whether arguments have the signature of these. It may say no to some that have."""
    tensors = [each for each in arguments if isinstance(each, torch.Tensor)]
    if TensorGuards is None or not tensors or any(type(each) not in RECOGNIZED for each in arguments):
        return _never
    space: dict[str, Any] = {
        "check": TensorGuards(*tensors, dynamic_dims_sizes=None, dynamic_dims_strides=None).check,
        # a tensor must not be kept: its memory may be that of a CUDA graph
        "then": [None if isinstance(each, torch.Tensor) else _exactly(each) for each in arguments],
        "exactly": _exactly,
    }
    names = [f"a{index}" for index in range(len(arguments))]
    given = [name for name, each in zip(names, arguments) if isinstance(each, torch.Tensor)]
    asked = [f"check({', '.join(given)})"]
    if any(each.data_ptr() % ALIGNED_BYTES for each in tensors):
        asked += [
            f"{name}.data_ptr() % {ALIGNED_BYTES} == {each.data_ptr() % ALIGNED_BYTES}"
            for name, each in zip(given, tensors)
        ]
    else:
        asked.append(f"not ({' | '.join(f'{name}.data_ptr()' for name in given)}) % {ALIGNED_BYTES}")
    asked += [f"exactly({name}) == then[{index}]" for index, name in enumerate(names) if name not in given]
    found: Function = eval(f"lambda {', '.join(names)}: {' and '.join(asked)}", space)
    return found


def _exactly(value: Any) -> Any:
    """A value that equals those of others that are the same: 1, 1.0 and True are not, nor are 0.0 and -0.0."""
    return type(value), value.hex() if type(value) is float else value


# --- one plan --------------------------------------------------------------------------------------------------------


@dataclass
class _TunedSteps:
    """The configurations of an autotuner that compile, as functions of all memory, and the one that is called."""

    functions: list[Function]
    taken: list[Function]


class ReadyPlan:
    """A plan whose kernels are compiled. call: executes it with the fastest configurations; None: they are not known
    yet."""

    def __init__(self, plans: GpuPlans, asked: str, plan: Json, constants: Sequence[torch.Tensor]) -> None:
        self.plans, self.asked, self.plan, self.given = plans, asked, plan, json.loads(asked)[1]
        self.call: Function | None = None
        self.choices: list[_TunedSteps] = []
        self.constants = [each.to("cuda") for each in constants]
        self._space: dict[str, Any] = {
            "empty": _empty_strided_cuda,
            "part": _part,
            "nonsense": self._nonsense,
            "stream": driver.active.get_current_stream,
        }
        self._names = itertools.count()
        self._turn = 0
        self._forms = self._formed()
        self.without_kernels: Function | None = None
        """What makes its fills and copies alone, if there are copies."""
        steps = [*self._lines(plan["steps"])]
        body = [*steps, f"return {self._value(plan['returned'])}"]
        parameters = ", ".join(f"a{index}" for index in range(len(self.given)))
        self._plain = self._function(parameters, [*self._made(watched=False), *body])
        self._watched = self._function(parameters, [*self._made(watched=True), *body])
        if copies := [each for each in plan["steps"] if "copy" in each]:
            others = [each for each in plan["steps"] if "copy" in each or "fill" in each]
            idle = [*self._made(watched=True), *self._lines(others), body[-1]]
            self.without_kernels = self._function(parameters, idle)
            self._targets = {each["to"]["tensor"]["in"] for each in copies}

    def watched(self, turn: int) -> Function:
        """What executes it with one configuration after the other, and nonsense in memory that nobody has written."""
        self._turn = turn
        for each in self.choices:
            each.taken[0] = each.functions[turn % len(each.functions)]
        self.call = None
        return self._watched

    def has_room_for(self, constants: Sequence[torch.Tensor]) -> bool:
        """Whether its own constants have the sizes of these."""
        return [each.shape for each in self.constants] == [each.shape for each in constants]

    def same_copies(self, result: Any, without: Any) -> Iterator[str]:
        """Say which results are what they also are if no kernel does anything, since copies have made them."""
        pairs = zip(*(each if isinstance(each, tuple | list) else (each,) for each in (result, without)))
        tensors = [(one, other) for one, other in pairs if isinstance(one, torch.Tensor)]
        for index, (place, (one, other)) in enumerate(zip(tensors_of(self.plan["returned"]), tensors)):
            if place["in"] in self._targets and one.numel() and same_bits(one, other):
                yield f"copies by PyTorch, not kernels, put all of result {index} of a replacement function in place"

    def fastest(self, arguments: Sequence[Any]) -> Function:
        """What executes it with the configurations that are the fastest for these arguments, which stay as they are."""
        for each in self.choices:
            if len(each.functions) > 1:
                each.taken[0] = min(each.functions, key=functools.partial(self._time_of, each, arguments))
            else:
                each.taken[0] = each.functions[0]
        return self._plain

    def _time_of(self, choice: _TunedSteps, arguments: Sequence[Any], function: Function) -> float:
        choice.taken[0] = function
        copies = _copied(arguments)
        self._plain(*copies)
        times = []
        for _ in range(TRIES):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(AHEAD_CYCLES)
            begin.record()
            for _ in range(TRIED_CALLS):
                self._plain(*copies)
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end))
        return min(times)

    # --- writing it ---

    def _function(self, parameters: str, lines: Sequence[str]) -> Function:
        name = self._named("function", None)
        text = f"def {name}({parameters}):\n" + "".join(f"    {line}\n" for line in lines or ["pass"])
        exec(compile(text, f"<{name}>", "exec"), self._space)
        found: Function = self._space[name]
        return found

    def _named(self, kind: str, value: Any) -> str:
        name = f"{kind}_{next(self._names)}"
        self._space[name] = value
        return name

    def _formed(self) -> dict[str, Json]:
        """For each piece of memory that the plan makes, the form in which it is allocated: that of a result, if it has
        all of it."""
        forms: dict[str, Json] = {}
        used = [*tensors_of(self.plan["returned"]), *_tensors(self.plan["steps"])]
        for place in used:
            kind, _, index = place["in"].partition(" ")
            if kind != "made" or place["in"] in forms:
                continue
            whole = int(self.plan["made"][int(index)]["bytes"])
            itemsize = getattr(torch, place["dtype"]).itemsize
            reach = extent(place["shape"], place["strides"])
            if not place["offset"] and (not reach or reach * itemsize == whole):
                forms[place["in"]] = place
        for index, each in enumerate(self.plan["made"]):
            whole = int(each["bytes"])
            flat = {"in": f"made {index}", "offset": 0, "dtype": "uint8", "shape": [whole], "strides": [1]}
            forms.setdefault(f"made {index}", flat)
        return forms

    def _made(self, *, watched: bool) -> Iterator[str]:
        for index, each in enumerate(self.plan["made"]):
            form = self._forms[f"made {index}"]
            shape, strides = (tuple(int(size) for size in form[name]) for name in ("shape", "strides"))
            dtype = self._named("dtype", getattr(torch, form["dtype"]))
            yield f"m{index} = empty({shape}, {strides}, {dtype})"
            if each["fill"] is not None:
                yield self._filling(f"m{index}", form, each["fill"])
            elif watched:
                yield f"nonsense(m{index})"
        for index in range(len(self.constants)):
            name = self._named("constant", self.constants[index])
            yield f"k{index} = {name}.clone()" if watched else f"k{index} = {name}"

    def _filling(self, name: str, form: Json, fill: Sequence[int]) -> str:
        """A line that fills a tensor of this form with these bytes of an element each."""
        if not any(fill):
            return f"{name}.zero_()"
        one = torch.tensor(list(fill), dtype=torch.uint8, device="cuda")
        dtype = getattr(torch, form["dtype"])
        if dtype.itemsize == len(fill):
            return f"{name}.copy_({self._named('one', one.view(dtype)[0])})"
        whole = self._named("form", (torch.uint8, None, None))
        return f"part({name}, 0, {whole}).view(-1, {len(fill)}).copy_({self._named('one', one)})"

    def _nonsense(self, made: torch.Tensor) -> None:
        _part(made, 0, (torch.uint8, None, None)).fill_(NONSENSE[self._turn % len(NONSENSE)])

    def _lines(self, steps: Sequence[Json]) -> Iterator[str]:
        for step in steps:
            if "launch" in step:
                yield self._launch(step)
            elif "fill" in step:
                place = step["fill"]["tensor"]
                yield self._filling(self._tensor(place), place, step["bytes"])
            elif "choices" in step:
                yield self._choice(step["choices"])
            else:
                yield f"{self._tensor(step['to']['tensor'])}.copy_({self._tensor(step['copy']['tensor'])})"

    def _choice(self, choices: Sequence[Sequence[Json]]) -> str:
        counts = {"a": len(self.given), "m": len(self.plan["made"]), "k": len(self.constants)}
        memory = ", ".join(f"{kind}{index}" for kind, count in counts.items() for index in range(count))
        functions, refused = [], None
        for steps in choices:
            try:
                functions.append(self._function(memory, list(self._lines(steps))))
            except PASSED_OVER as error:
                refused = refused or error
        if not functions:
            raise refused or NotExecuted("an autotuner has no configuration")
        choice = _TunedSteps(functions, [functions[0]])
        self.choices.append(choice)
        return f"{self._named('taken', choice.taken)}[0]({memory})"

    def _launch(self, step: Json) -> str:
        kernels = self.plans.kernels
        kernel = kernels.function(**step["launch"])
        for each in step.get("constants", ()):
            # as they were in the call: the bundle may have chosen them when it was loaded
            kernels.set_constant(each["file"], each["name"], self._held(each["value"]))
        described = {**dict(zip(kernel.arg_names, step["args"])), **step["kwargs"]}
        described = {name: described[name] for name in kernel.arg_names}
        options = {name: value_of(each) for name, each in step["options"].items()}
        examples = {name: self._held(each) for name, each in described.items()}
        found = kernel.warmup(**examples, grid=(1,), **options)
        grid = tuple(int(size) for size in step["grid"])
        begin, head, tail = _launcher(found, grid)
        given = ", ".join(self._given(each) for each in described.values())
        called = f"{self._named('launch', begin)}(stream(0), *{self._named('head', head)}, None, None"
        return f"{called}, {given})" if tail is None else f"{called}, *{self._named('tail', tail)}, ({given},))"

    def _given(self, described: Json) -> str:
        """An argument of a launch: of a tensor the address."""
        if "tensor" in described:
            place = described["tensor"]
            offset = int(place["offset"])
            return f"{_base(place['in'])}.data_ptr()" + (f" + {offset}" if offset else "")
        return self._value(described)

    def _value(self, described: Json) -> str:
        """An expression for what a recording describes."""
        match described:
            case {"tensor": place}:
                return self._tensor(place)
            case {"tuple": list(items)}:
                return f"({', '.join(map(self._value, items))}{',' * (len(items) == 1)})"
            case {"list": list(items)}:
                return f"[{', '.join(map(self._value, items))}]"
            case {"descriptor": fields}:
                from triton.tools.tensor_descriptor import TensorDescriptor

                said = ", ".join(f"{name}={self._value(each)}" for name, each in fields.items())
                return f"{self._named('descriptor', TensorDescriptor)}({said})"
        return self._named("value", self._held(described))

    def _tensor(self, place: Json) -> str:
        """An expression for a tensor."""
        base, form = _base(place["in"]), self._forms.get(place["in"]) or self._argument(place["in"])
        names = ("offset", "dtype", "shape", "strides")
        if form is not None and [form[name] for name in names] == [place[name] for name in names]:
            return base
        dtype = getattr(torch, place["dtype"])
        shape, strides = (tuple(int(size) for size in place[name]) for name in ("shape", "strides"))
        return f"part({base}, {int(place['offset'])}, {self._named('form', (dtype, shape, strides))})"

    def _argument(self, name: str) -> Json | None:
        """The form of an argument."""
        kind, _, path = name.partition(" ")
        if kind != "argument":
            return None
        found: Any = {"list": self.given}
        for index in map(int, path.split(".")):
            found = found.get("list", found.get("tuple"))[index]
        return {**found, "offset": 0}

    def _held(self, described: Json) -> Any:
        """A value for the compiler: a tensor is one that lies as it will."""
        match described:
            case {"tensor": place}:
                given = self._argument(place["in"])
                first = int(place["offset"]) + (given["address"] if given else 0)
                dtype = getattr(torch, place["dtype"])
                memory = torch.empty(2 * ALIGNED_BYTES + dtype.itemsize, dtype=torch.uint8, device="cuda")
                start = first % ALIGNED_BYTES // dtype.itemsize
                return torch.empty(0, dtype=dtype, device="cuda").set_(memory.untyped_storage(), start, (1,), (1,))
            case {"tuple": list(items)}:
                return tuple(map(self._held, items))
            case {"list": list(items)}:
                return list(map(self._held, items))
            case {"function": {"file": file, "name": name, "line": line}}:
                return self.plans.kernels.function(file, name, line)
            case {"descriptor": fields}:
                from triton.tools.tensor_descriptor import TensorDescriptor

                return TensorDescriptor(**{name: self._held(each) for name, each in fields.items()})
        return value_of(described)


LETTERS = {"argument": "a", "made": "m", "constant": "k"}


def _base(name: str) -> str:
    """The variable that holds this memory, or this argument."""
    kind, _, path = name.partition(" ")
    first, *rest = map(int, path.split("."))
    return f"{LETTERS[kind]}{first}" + "".join(f"[{each}]" for each in rest)


def _part(base: torch.Tensor, offset: int, form: tuple[torch.dtype, Any, Any]) -> torch.Tensor:
    """A tensor of this dtype, shape and strides that begins so many bytes after another one. Without a shape: all of
    the storage, as a vector."""
    dtype, shape, strides = form
    storage = base.untyped_storage()
    if shape is None:
        return torch.empty(0, dtype=dtype, device=base.device).set_(storage)
    start = base.storage_offset() * base.element_size() + offset
    reach = extent(shape, strides)
    # torch would let the storage grow
    if reach and (start < 0 or start % dtype.itemsize or start + reach * dtype.itemsize > storage.nbytes()):
        raise NotExecuted("a call uses memory beyond what it was given")
    return torch.empty(0, dtype=dtype, device=base.device).set_(storage, start // dtype.itemsize, shape, strides)


def _copied(arguments: Any) -> Any:
    """The same arguments in other memory."""
    found = []
    storages: dict[int, torch.Tensor] = {}
    for each in arguments:
        if isinstance(each, torch.Tensor):
            storage = each.untyped_storage()
            place = storage.data_ptr()
            if place not in storages:
                storages[place] = torch.empty(0, dtype=torch.uint8, device=each.device).set_(storage).clone()
            copy = torch.empty(0, dtype=each.dtype, device=each.device)
            found.append(copy.set_(storages[place].untyped_storage(), each.storage_offset(), each.shape, each.stride()))
        else:
            found.append(type(each)(_copied(each)) if type(each) in (tuple, list) else each)
    return found


def _launcher(compiled: Any, grid: tuple[int, ...]) -> tuple[Function, tuple[Any, ...], tuple[Any, ...] | None]:
    """How to launch a compiled kernel: a function, what it is given after the stream and before the hooks, and what
    after these, if the kernel's arguments are one of its arguments.

    Triton's own launcher is a function of Python, in Triton 3.6 and 3.7 around one of C that is called here."""
    run, function = compiled.run, compiled.function
    told = compiled.packed_metadata, None
    scratch = getattr(run, "global_scratch_size", 1) or getattr(run, "profile_scratch_size", 1)
    version = triton.__version__[:3]
    if type(run).__name__ != "CudaLauncher" or scratch or version not in ("3.6", "3.7"):
        return functools.partial(run, *grid), (function, *told), None
    head = function, run.launch_cooperative_grid, run.launch_pdl
    begin = functools.partial(run.launch, *grid)
    if version == "3.6":
        return begin, (*head, None, None, *told), None
    return begin, (*head, *told), (None, None, run.arg_annotations, run.kernel_signature)


def _tensors(steps: Any) -> Iterator[Json]:
    """The places of all tensors in these steps."""
    if isinstance(steps, Mapping):
        if "strides" in steps and "in" in steps:
            yield steps
        else:
            for each in steps.values():
                yield from _tensors(each)
    elif isinstance(steps, list):
        for each in steps:
            yield from _tensors(each)
