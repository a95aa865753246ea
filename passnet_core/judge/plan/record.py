"""Record what a replacement function does for arguments of one signature: its plan.

The function runs here once, in the planner, on torch's fake tensors: they have a dtype, a shape, strides, and an
address that is made up, but no content. No kernel runs. So a plan depends on nothing but the signature, and whatever
the host would compute cannot get into a result. A plan is data:
    made        for each piece of memory that the function allocates its bytes, and what fills it, if anything does
    constants   how many tensors it has from elsewhere, with their content: of Python's numbers, or prepared weights
    steps       in order: launches of Triton kernels, fills with one value, copies, and choices of an autotuner among
                lists of steps
    returned    what it returns
A tensor in it is a part of an argument, of what was made, or of a constant. Memory that a function keeps from call to
call is made anew in each call, and filled as it was when the function made it."""

import inspect
import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import triton.language as tl
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only
from triton.runtime import _allocation
from triton.runtime.autotuner import Autotuner
from triton.runtime.interpreter import InterpretedFunction

from passnet_core.judge.gpu_on_cpu import launching, pretended_device
from passnet_core.judge.numerics.bits import extent
from passnet_core.judge.plan.describe import tensors_of
from passnet_core.judge.plan.operations import (
    PROPERTIES,
    READS,
    DispatchedOperation,
    DispatchedOperations,
    Function,
    asked_by_triton,
    bundle_line,
    defaults,
    require_plain,
)
from passnet_core.judge.protocol.messages import Launches, Seen
from passnet_core.judge.protocol.operation_names import ALLOCATIONS, FILLS, MOVES, NUMBERS, bare

Json = dict[str, Any]

ALIGNED_BYTES = 16
"""Triton compiles other code for pointers that this divides, and a signature tells which are."""
MOST_BEFORE = 64
"""Of how many times ALIGNED_BYTES fewer lie before an argument."""
PAGE_BYTES = 512
"""Memory that is allocated begins at a multiple of this."""
MOST_CONSTANT_BYTES = 256 << 20
"""How many bytes all constants of a plan have at most."""

DESCRIBING, ADDING = "make_tensor_descriptor", "atomic_add"
SETTING = "use triton.set_allocator, since they need memory on a GPU"

CONSTANTS = (bool, int, float, str, tl.constexpr, tl.dtype)
"""The types of what a kernel may name as a constant."""


class Indescribable(Exception):
    """A value that cannot be described to another process."""


READS_CONTENT = "it reads what a tensor holds, which is not known before the call"


class NoPlan(Exception):
    """A replacement function of which no plan can be recorded. The message says why."""


def signature(arguments: Sequence[Any]) -> list[Json]:
    """What of these arguments a plan depends on: of a tensor dtype, shape, strides and the last bits of its address; of
    anything else all."""
    return [_signature(each) for each in arguments]


def _signature(value: Any) -> Json:
    if isinstance(value, torch.Tensor):
        return {
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": list(value.shape),
            "strides": list(value.stride()),
            # a fake one has no address, and stands for one that was allocated
            "address": 0 if isinstance(value, FakeTensor) else value.data_ptr() % ALIGNED_BYTES,
        }
    if type(value) in (tuple, list):
        return {"list" if type(value) is list else "tuple": [_signature(each) for each in value]}
    if isinstance(value, PreparedWeight):
        return {"prepared": value.index}
    return plain(value)


def plain(value: Any) -> Json:
    """A value other than a tensor as data. Raises Indescribable for what is none."""
    # exact types: a subclass could tell that it is described, and be something else the next time
    if type(value) is tl.constexpr:
        return {"constexpr": plain(value.value)}
    if value is None or type(value) in (bool, int, str):
        return {"value": value}
    if type(value) is float:
        return {"float": value.hex()}
    if isinstance(value, tl.dtype):
        return {"type": value.name}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {"device": value.type}
    if type(value) in (tuple, list, torch.Size):
        return {"list" if type(value) is list else "tuple": [plain(each) for each in value]}
    if hasattr(value, "fn") and hasattr(value.fn, "__code__"):
        return {"function": function_of(value.fn)}
    raise Indescribable(f"has a {type(value).__name__}")


@dataclass(frozen=True)
class PreparedWeight:
    """Stands for what the bundle's prepare(weights) returned, among the arguments that an executor sees."""

    index: int


@dataclass(frozen=True)
class Planned:
    """A plan, the content of its constants as bytes, and what was seen while it was recorded."""

    plan: Json
    constants: tuple[torch.Tensor, ...]
    launches: Launches


@dataclass
class _Region:
    """One storage. base: its address, which is made up. start: how many bytes of it lie before an argument, which may
    be a part of a tensor. fill: the bytes of each element with which it was filled when it was made. content: of a
    constant, its bytes. is_made: whether a plan makes it; otherwise it is an argument's."""

    name: str
    base: int
    storage: torch.UntypedStorage
    start: int = 0
    fill: list[int] | None = None
    content: torch.Tensor | None = None
    is_made: bool = True


class PlanRecorder:
    """Records the plans of one bundle. folder: where it lies."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.kept: dict[int, _Region] = {}
        """What was made in earlier calls, by what torch calls a storage; each is held, so that this stays its own."""
        self.asked: set[str] = set()
        """The calls that were recorded before: once more, their arguments require gradients, as a model's do."""
        self._names = itertools.count()

    def name(self) -> str:
        """A name for memory that no other memory has."""
        return f"memory {next(self._names)}"

    def planned(self, key: str, function: Function, given: Sequence[Json], prepared: Sequence[Any] = ()) -> Planned:
        """The plan of a replacement function for arguments of this signature. prepared: what the bundle's
        prepare(weights) returned.

        Raises NoPlan, NotPlain, and what the function raises."""
        asked = json.dumps([key, list(given)])
        recording = _Recording(self, prepared, with_gradients=asked in self.asked)
        self.asked.add(asked)
        try:
            with recording.listening():
                arguments = [recording.argument(f"argument {index}", each) for index, each in enumerate(given)]
                recording.calling = True
                result = function(*arguments)
                with torch._C.DisableTorchFunction():
                    require_plain(result)
                    results = [each for each in tree_leaves(result) if isinstance(each, torch.Tensor)]
                    if any(map(pretended_device.on_host, results)):
                        raise NoPlan("it returns a tensor on the CPU")
                    returned = recording.described(result)
            return recording.planned(key, returned)
        except DataDependentOutputException as error:
            raise NoPlan(READS_CONTENT).with_traceback(error.__traceback__) from error
        except Indescribable as error:
            raise NoPlan(f"it {error}").with_traceback(error.__traceback__) from error


def rehearse() -> None:
    """Load what the first plan would have torch load."""
    with FakeTensorMode():
        torch.empty(1)


@dataclass
class _Recording:
    """One call of a replacement function."""

    recorder: PlanRecorder
    prepared: Sequence[Any]
    with_gradients: bool = False
    calling: bool = False
    """Whether the function has its arguments."""
    steps: list[Json] = field(default_factory=list)
    regions: dict[int, _Region] = field(default_factory=dict)
    """By what torch calls a storage."""
    used: set[str] = field(default_factory=set)
    """The names of the memory that steps use."""
    seen: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    chance: random.Random = field(default_factory=random.SystemRandom)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Record what happens in this context, in which tensors are fake."""
        with ExitStack() as entered:
            entered.enter_context(torch.no_grad())
            entered.enter_context(self.recorder.mode)
            entered.enter_context(_Operations(self))
            entered.enter_context(_Answers(self))
            entered.enter_context(mock.patch.object(Autotuner, "run", self._tuned()))
            entered.enter_context(mock.patch.object(InterpretedFunction, "run", self._launched()))
            entered.enter_context(mock.patch.object(launching, "recording", [self]))
            yield

    # --- memory ---

    def argument(self, name: str, given: Json) -> Any:
        """A fake argument of this signature."""
        if "dtype" in given and "shape" in given:
            shape, strides, dtype = given["shape"], given["strides"], getattr(torch, given["dtype"])
            start = self.chance.randrange(1, MOST_BEFORE) * ALIGNED_BYTES
            before = start // dtype.itemsize
            tensor = torch.empty(before + extent(shape, strides), dtype=dtype).as_strided(shape, strides, before)
            with torch._C.DisableTorchFunction():
                region = self._region(name, tensor.untyped_storage(), given["address"])
                region.is_made, region.start = False, start
            return tensor.requires_grad_(self.with_gradients and tensor.is_floating_point())
        if "prepared" in given:
            return self.prepared[given["prepared"]]
        for kind, container in (("list", list), ("tuple", tuple)):
            if kind in given:
                return container(self.argument(f"{name}.{place}", each) for place, each in enumerate(given[kind]))
        return value_of(given)

    def _region(self, name: str, storage: torch.UntypedStorage, offset: int = 0) -> _Region:
        base = PAGE_BYTES * self.chance.randrange(1 << 20, 1 << 32) + offset
        found = self.regions[storage._cdata] = _Region(name, base, storage)
        return found

    def _made(self, tensor: torch.Tensor, fill: list[int] | None = None) -> bool:
        """Memory was allocated, and filled with this. Return whether it was not known before."""
        storage = tensor.untyped_storage()
        if storage._cdata in self.regions or storage._cdata in self.recorder.kept:
            return False
        self._region(self.recorder.name(), storage).fill = fill
        return True

    def fake(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor that stands for one with content, which is a constant of the plan."""
        if isinstance(tensor, FakeTensor):
            return tensor
        with _real():
            found: torch.Tensor = self.recorder.mode.from_tensor(tensor)
        if pretended_device.on_host(tensor):
            pretended_device.put_on_host(found)
        if (storage := found.untyped_storage())._cdata not in self.regions:
            with _real():
                content = torch.empty(0, dtype=torch.uint8).set_(tensor.detach().untyped_storage()).clone()
            self._region(self.recorder.name(), storage).content = content
        return found

    def _found(self, tensor: torch.Tensor) -> _Region:
        storage = self.fake(tensor).untyped_storage()
        found = self.regions.get(storage._cdata)
        if found is None and (found := self.recorder.kept.get(storage._cdata)) is not None:
            self.regions[storage._cdata] = found
        if found is None:
            raise NoPlan("it uses memory that it has from elsewhere")
        return found

    def number(self, tensor: torch.Tensor) -> Any:
        """The number that a constant holds. None: it is no constant."""
        place = tensor.untyped_storage()._cdata
        found = self.regions.get(place) or self.recorder.kept.get(place)
        if found is None or found.content is None:
            return None
        with _real():
            whole = torch.empty(0, dtype=tensor.dtype).set_(found.content.untyped_storage())
            return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).item()

    def address(self, tensor: torch.Tensor) -> int:
        """Where a tensor lies."""
        return self._found(tensor).base + tensor.storage_offset() * tensor.element_size()

    def described(self, value: Any) -> Json:
        """A value as data. Raises Indescribable and NoPlan."""
        if isinstance(value, torch.Tensor):
            return {"tensor": self._located(value)}
        if type(value).__name__ == "TensorDescriptor" and isinstance(getattr(value, "base", None), torch.Tensor):
            fields = ("shape", "strides", "block_shape", "padding")
            return {"descriptor": {name: self.described(getattr(value, name)) for name in ("base", *fields)}}
        if type(value) in (tuple, list):
            return {"list" if type(value) is list else "tuple": [self.described(each) for each in value]}
        return plain(value)

    def _located(self, tensor: torch.Tensor) -> Json:
        region = self._found(tensor)
        self.used.add(region.name)
        return {
            "in": region.name,
            "offset": tensor.storage_offset() * tensor.element_size() - region.start,
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
            "strides": list(tensor.stride()),
        }

    # --- what happens ---

    def note(self, kind: str, name: str, remark: str = "") -> None:
        self.seen[kind, name, bundle_line(self.recorder.folder), remark] += 1

    def operation(self, seen: DispatchedOperation) -> None:
        _require_one_stream()
        # a fake tensor is asked for its device
        if seen.name.startswith("prim::") or not self.calling:
            return
        with torch._C.DisableTorchFunction():
            self._effect(bare(seen.name), seen.args, seen.kwargs, seen.result)
        self.note("operation", seen.name, seen.remark)

    def _effect(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """Note what an operation does to memory, if it allocates, fills or copies. Others leave no step."""
        if not isinstance(result, torch.Tensor):
            for each in tree_leaves(result):
                if isinstance(each, torch.Tensor):
                    self._made(each)
            return
        if name.startswith("lift"):
            if self._made(result):
                self._found(result).content = self._found(args[0]).content
        elif name in ALLOCATIONS:
            self._made(result)
        elif name in FILLS:
            fill = _filling(name, args, kwargs, result.dtype)
            if not self._made(result, fill) and result.numel():
                found = self._found(result)
                whole = result.nbytes == found.storage.nbytes()
                # what one configuration's hook fills is no concern of the others
                if found.name not in self.used and found.is_made and whole and not launching.tuned:
                    found.fill, found.content = fill, None
                else:
                    self.steps.append({"fill": self.described(result), "bytes": fill})
        elif name == "cat":
            self._made(result)
            axis = kwargs.get("dim", args[1] if len(args) > 1 else 0)
            if all(each.dtype == result.dtype for each in args[0]):
                self._join(args[0], axis, result)
        elif name in MOVES:
            source = args[1] if name in ("copy_", "copy") else args[0]
            self._made(result)
            if isinstance(source, torch.Tensor) and source.dtype == result.dtype:
                self._copy(source, result)
        else:
            # what torch computes, no step makes, and nothing is defined in it
            self._made(result)

    def _copy(self, source: torch.Tensor, target: torch.Tensor) -> None:
        self.steps.append({"copy": self.described(source), "to": self.described(target)})

    def _join(self, sources: Sequence[torch.Tensor], axis: int, result: torch.Tensor) -> None:
        start = 0
        for each in sources:
            # torch.cat ignores empty vectors of any other rank
            if each.numel():
                self._copy(each, result.narrow(axis, start, each.shape[axis]))
                start += each.shape[axis]

    def _launched(self) -> Function:
        """What takes the place of a kernel's run: the kernel does not run."""

        def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
            if warmup:
                return
            _require_one_stream()
            function = kernel.fn
            self.note("kernel", str(function.__name__))
            kwargs |= defaults(function, kernel.arg_names, args, kwargs)
            sizes, own, options = launching.resolved(function, grid, args, kwargs)
            inspect.getcallargs(function, *args, **own)  # raises TypeError for an argument that is missing
            for name, each in (*zip(kernel.arg_names, args), *own.items()):
                if isinstance(each, torch.Tensor) and pretended_device.on_host(each):
                    raise ValueError(
                        f"{function.__name__} is launched with {name} on the CPU, where no kernel finds it"
                    )
            if any(DESCRIBING in each.__code__.co_names for each in functions_of(function)) and _no_allocator():
                raise RuntimeError(f"{function.__name__} makes descriptors, and no allocator was set: {SETTING}")
            for hook in kernel.pre_run_hooks:
                hook(*args, **own)
            with torch._C.DisableTorchFunction():
                self.steps.append(
                    {
                        "launch": function_of(function),
                        "args": [self.described(each) for each in args],
                        "kwargs": {name: self.described(each) for name, each in own.items()},
                        "options": {name: plain(each) for name, each in options.items()},
                        "tuned": bool(launching.tuned),
                        "grid": list(sizes),
                        "constants": [
                            {"file": file, "name": name, "value": plain(each)}
                            for file, name, each in constants_of(function)
                        ],
                    }
                )

        return run

    def _tuned(self) -> Function:
        """What takes the place of an autotuner's run: each configuration that it would try makes steps of its own."""

        def run(tuner: Any, *args: Any, **kwargs: Any) -> None:
            tuner.nargs = dict(zip(tuner.arg_names, args))
            configs = tuner.prune_configs(kwargs) if len(tuner.configs) > 1 else tuner.configs
            if len(configs) > 1:
                _require_reset(tuner)
            choices: list[list[Json]] = []
            before = self.steps
            launching.tuned.append(tuner)
            try:
                for config in configs:
                    self.steps = []
                    chosen = {**kwargs, **config.all_kwargs()}
                    if config.pre_hook is not None:
                        config.pre_hook({**tuner.nargs, **chosen})
                    tuner.fn.run(*args, **chosen)
                    choices.append(self.steps)
            finally:
                launching.tuned.pop()
                self.steps, tuner.nargs = before, None
            self.steps.append({"choices": choices})

        return run

    def planned(self, key: str, returned: Json) -> Planned:
        """The plan, once the function has returned this."""
        made = [each for each in self.regions.values() if each.is_made]
        for each in made:
            self.recorder.kept[each.storage._cdata] = each
        # by their first use, since what is kept from earlier calls is met there
        order = dict.fromkeys(_places(self.steps)) | dict.fromkeys(_places(returned))
        by_name = {each.name: each for each in made}
        used = [by_name[name] for name in order if name in by_name]
        constants = [each.content for each in used if each.content is not None]
        if sum(each.nbytes for each in constants) > MOST_CONSTANT_BYTES:
            raise NoPlan(f"it uses more than {MOST_CONSTANT_BYTES >> 20} MiB that are no arguments")
        own = [each for each in used if each.content is None]
        named = {each.name: f"made {index}" for index, each in enumerate(own)}
        named |= {
            each.name: f"constant {index}"
            for index, each in enumerate(each for each in used if each.content is not None)
        }
        plan = {
            "function": key,
            "made": [{"bytes": each.storage.nbytes(), "fill": each.fill} for each in own],
            "constants": len(constants),
            "steps": _renamed(self.steps, named),
            "returned": _renamed(returned, named),
        }
        fresh = any(place["in"].startswith("made") for place in tensors_of(plan["returned"]))
        seen = tuple(Seen(*each, count) for each, count in self.seen.items())
        return Planned(plan, tuple(constants), Launches(key, 1, int(fresh), seen))


def _places(described: Any) -> Iterator[str]:
    """The names of the memory that a part of a plan uses, in order."""
    if isinstance(described, dict):
        if "strides" in described and "in" in described:
            yield described["in"]
        for each in described.values():
            yield from _places(each)
    elif isinstance(described, list):
        for each in described:
            yield from _places(each)


def _renamed(described: Any, names: Mapping[str, str]) -> Any:
    """The same part of a plan with other names of memory."""
    if isinstance(described, dict):
        found = {name: _renamed(each, names) for name, each in described.items()}
        is_place = "strides" in described and "in" in described
        return found | {"in": names.get(described["in"], described["in"])} if is_place else found
    return [_renamed(each, names) for each in described] if isinstance(described, list) else described


class _Operations(DispatchedOperations):
    """Tells a recording of every operation, and has fake tensors take the place of others in it."""

    def __init__(self, recording: _Recording) -> None:
        super().__init__(recording.operation)
        self.recording = recording

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        with torch._C.DisableTorchFunction():
            args, kwargs = tree_map_only(torch.Tensor, self.recording.fake, (args, kwargs or {}))
            if bare(func.name()) in NUMBERS and (number := self.recording.number(args[0])) is not None:
                return number
        return super().__torch_dispatch__(func, types, args, kwargs)


class _Answers(TorchFunctionMode):
    """Answers for the addresses of fake tensors, and notes reads of what tensors hold."""

    def __init__(self, recording: _Recording) -> None:
        super().__init__()
        self.recording = recording

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        name = PROPERTIES.get(id(getattr(func, "__self__", None)), name)
        if (name in READS or name in PROPERTIES.values()) and not asked_by_triton(name):
            if name != "data_ptr":
                raise NoPlan(f"{READS_CONTENT}, by {name}")
            self.recording.note("read", name)
        if func is torch.Tensor.data_ptr and isinstance(args[0], FakeTensor):
            return self.recording.address(args[0])
        return func(*args, **(kwargs or {}))


@contextmanager
def _real() -> Iterator[None]:
    """In this context tensors are real, and nothing is recorded."""
    from torch.utils._python_dispatch import _disable_current_modes

    with torch._C.DisableTorchFunction(), _disable_current_modes():
        yield


def _require_one_stream() -> None:
    if pretended_device.current() is not pretended_device.caller:
        raise NoPlan("it works on a stream of its own, and a plan has one, the caller's")


def _require_reset(tuner: Autotuner) -> None:
    """Raise NoPlan if what an autotuner tries would stay in what its kernel adds to."""
    kernel = tuner.fn
    while not hasattr(kernel, "__code__"):
        kernel = kernel.fn
    resets = tuner.reset_to_zero or tuner.restore_value or tuner.user_defined_pre_hook
    if resets or any(each.pre_hook for each in tuner.configs):
        return
    if any(ADDING in each.__code__.co_names for each in functions_of(kernel)):
        raise NoPlan(
            f"{kernel.__name__} adds by atomics, also in each configuration that its autotuner tries: name what it adds"
            " to in reset_to_zero"
        )


def _filling(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], dtype: torch.dtype) -> list[int]:
    """The bytes of each element when an operation has filled memory."""
    places = {"full": 1, "full_like": 1, "new_full": 2, "fill": 1, "fill_": 1, "scalar_tensor": 0}
    value: Any = 1 if "ones" in name else 0
    if name in places:
        keyword = next((each for each in ("fill_value", "value", "s") if each in kwargs), None)
        value = kwargs[keyword] if keyword else args[places[name]]
    if isinstance(value, torch.Tensor):
        held = getattr(value, "constant", None)
        if held is None:
            raise NoPlan("it fills memory with what a tensor holds")
        value = held.item()
    with _real():
        return torch.full((1,), value, dtype=dtype).view(torch.uint8).tolist()  # type: ignore[no-any-return]


def value_of(given: Mapping[str, Any]) -> Any:
    """The inverse of plain, but for functions."""
    match given:
        case {"value": value}:
            return value
        case {"float": str(text)}:
            return float.fromhex(text)
        case {"constexpr": inner}:
            return tl.constexpr(value_of(inner))
        case {"type": str(name)}:
            return tl.dtype(name)
        case {"dtype": str(name)}:
            return getattr(torch, name)
        case {"device": str()}:
            # a graph has one, whatever it is called where a plan is recorded or executed
            return torch.device("cuda")
        case {"tuple": list(items)}:
            return tuple(value_of(each) for each in items)
        case {"list": list(items)}:
            return [value_of(each) for each in items]
    raise NoPlan(f"it is given what no plan can hold: {str(given)[:80]}")


def constants_of(function: Any) -> Iterator[tuple[str, str, Any]]:
    """The constants at the top level of files that a function written in Triton names, and those that the Triton
    functions which it names do: file, name, and value at present."""
    for each in functions_of(function):
        names = each.__globals__
        for name in each.__code__.co_names:
            if type(value := names.get(name)) in CONSTANTS:
                yield Path(names["__file__"]).name, name, value


def functions_of(function: Any) -> Iterator[Any]:
    """A function written in Triton, and those of files that it names, and that these do."""
    pending, seen = [function], set()
    while pending:
        code, names = (each := pending.pop()).__code__, each.__globals__
        if code in seen or not isinstance(names.get("__file__"), str):
            continue
        seen.add(code)
        yield each
        values = (names.get(name) for name in code.co_names)
        pending += [value.fn for value in values if hasattr(value, "fn") and hasattr(value.fn, "__code__")]


def _no_allocator() -> bool:
    """Whether a launch that needs memory of its own would fail on a GPU."""
    return isinstance(_allocation._allocator.get(), _allocation.NullAllocator)


def function_of(function: Any) -> Json:
    """A function written in Triton: its file, its name there, and the line of its first decorator."""
    code = function.__code__
    return {"name": code.co_name, "file": Path(code.co_filename).name, "line": code.co_firstlineno}
