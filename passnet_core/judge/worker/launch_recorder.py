"""Watch what replacement functions do in a call, without judging it. Runs in the candidate worker.

Every call of VERIFY is watched, and all in the same way, so that no call looks like one that matters. Only what happens
while a replacement function runs is recorded:
    kernel      launches of Triton kernels, through the interpreter's run or, on CUDA, Triton's launch hook
    operation   every operation of torch below autograd, whoever calls it
    read        every read of a tensor's values or address into Python
    measured    every operation of torch that ran where the bundle took times (Always), in whatever call
    unwatched   CPU: every function of torch that computes and was called when no call was watched
    device      CUDA: every kernel, copy and fill in the driver's trace
    trace       CPU: every innermost operation of torch, on any thread
On the CPU the launches, fills and copies are recorded as steps as well (memory_steps.py), which the judge repeats in
another process. The recorder runs in the process that it observes: a bundle that knows this module, and that the static
rules let pass, can silence or falsify it. What it cannot change is what its kernels compute when they are repeated."""

import contextlib
import functools
import inspect
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import torch
import triton
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from passnet_core.judge.protocol.messages import Launches, Seen, Watched
from passnet_core.judge.protocol.operation_names import ALLOCATIONS, FILLS, MOVES, bare
from passnet_core.judge.worker.dispatching import EagerDispatchMode
from passnet_core.judge.worker.memory_steps import StepRecorder
from passnet_core.operations.kinds import named
from passnet_core.records import Device

Function = Callable[..., Any]
Key = tuple[str, str, str, str]
"""(kind, name, where, remark)"""

READS = frozenset(
    {
        "numpy", "__array__", "tolist", "__dlpack__", "apply_", "map_", "map2_", "storage", "untyped_storage",
        "_typed_storage", "__reduce_ex__", "data_ptr",
    }
)  # fmt: skip
LAUNCH_READS = frozenset({"data_ptr", "untyped_storage", "storage"})
"""Reads that a Triton launch makes itself."""
PROPERTIES = {
    id(getattr(torch.Tensor, name)): name for name in ("__cuda_array_interface__",) if hasattr(torch.Tensor, name)
}
CONVERTS = "converts"
PARTS = "parts"
"""The remark on a copy, fill or view with which elements are put together from parts of elements, or taken apart."""
ONE_NUMBER = "one number"
"""The remark on a read of a tensor whose storage holds a single number."""

COMPUTING = named("computing")

MOST_DEPTH = 80


class NotPlain(TypeError):
    """A replacement function returned something else than plain tensors."""


@dataclass
class LaunchCounts:
    """What was recorded in the calls of one replacement function. fresh: how many calls returned memory that is not
    their arguments'."""

    calls: int = 0
    fresh: int = 0
    seen: Counter[Key] = field(default_factory=Counter)


class LaunchRecorder:
    """Records one call of the graph: what happens between the start and the end of its replacement functions.

    packed: gives what the bundle's prepare(weights) returned. always: what was seen in other calls."""

    def __init__(
        self,
        device: Device,
        folder: str,
        packed: Callable[[], Sequence[Any]] = tuple,
        always: "Always | None" = None,
    ) -> None:
        self.device = device
        self.folder = folder
        self.packed = packed
        self.always = always
        self.counts: dict[str, LaunchCounts] = {}
        self.current: LaunchCounts | None = None
        self.launching = False
        """Whether a compiled kernel is being launched: then what is read is read by the launch itself."""
        self.steps: StepRecorder | None = None
        """The steps of the replacement function that runs now. On CUDA none are recorded."""
        self.calls: list[tuple[dict[str, Any], list[torch.Tensor]]] = []
        """The steps of each call of a replacement function, as data, and the memory that it had kept."""

    def wrapped(self, key: str, function: Function) -> Function:
        """The function, recorded while it runs. A replacement that another one calls counts as part of that one.

        It raises NotPlain if the function returns anything but plain tensors, alone or in a tuple or list: an object
        that computes its values later would do so unseen."""
        counts = self.counts.setdefault(key, LaunchCounts())

        def recorded(*args: Any, **kwargs: Any) -> Any:
            if self.current is not None:
                return function(*args, **kwargs)
            self._synchronise()
            self.current = counts
            arguments = (*args, *kwargs.values())
            self.steps = StepRecorder(key, arguments, self.packed()) if self.device is Device.CPU else None
            try:
                with self._recording():
                    result = function(*args, **kwargs)
                    self._synchronise()
            finally:
                self.current, steps, self.steps = None, self.steps, None
            _require_plain(result)
            if steps is not None:
                self.calls.append((steps.returned(result), steps.kept))
            counts.calls += 1
            counts.fresh += not _storages(result) <= _storages((args, kwargs))
            return result

        return recorded

    def note(self, kind: str, name: str, remark: str = "", where: str | None = None) -> None:
        if self.current is not None:
            self.current.seen[kind, name, bundle_line(self.folder) if where is None else where, remark] += 1

    def watched(self) -> Watched:
        """Everything that was recorded."""
        always = self.always.seen if self.always is not None else Counter[Key]()
        launches = (
            Launches(
                function,
                counts.calls,
                counts.fresh,
                tuple(Seen(*key, count) for key, count in (counts.seen + always).items()),
            )
            for function, counts in self.counts.items()
            if counts.calls
        )
        steps, kept = zip(*self.calls) if self.calls else ((), ())
        return Watched(tuple(launches), tuple(steps), tuple(tuple(each) for each in kept))

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Listen for launches of Triton kernels."""
        with contextlib.ExitStack() as undoing:
            if self.device is Device.CPU:
                undoing.enter_context(_interpreted_launches(self))
            else:
                undoing.enter_context(compiled_launches(self._launch_begins))
                undoing.enter_context(hooked("launch_exit_hook", self._launch_ends))
            yield

    def _launch_begins(self, name: str) -> None:
        self.note("kernel", name)
        self.launching = True

    def _launch_ends(self, metadata: Any) -> None:
        self.launching = False

    @contextlib.contextmanager
    def _recording(self) -> Iterator[None]:
        profile = _profile(self.device)
        with _silent_stderr():
            profile.__enter__()
        try:
            unwatched = self.always.paused() if self.always is not None else contextlib.nullcontext()
            with unwatched, _Reads(self), DispatchedOperations(self.device, self._note_operation):
                yield
        finally:
            with _silent_stderr():
                profile.__exit__(None, None, None)
        for event in profile.function_events or ():
            self._note_event(event)

    def _note_operation(self, seen: "DispatchedOperation") -> None:
        if self.steps is not None and seen.caller != _INTERPRETER:
            with torch._C.DisableTorchFunction():
                _note_step(self.steps, bare(seen.name), seen.args, seen.kwargs, seen.result)
        if not seen.is_housekeeping:
            self.note("operation", seen.name, seen.remark)

    def _note_event(self, event: Any) -> None:
        if event.device_type == torch.autograd.DeviceType.CUDA:
            if not getattr(event, "is_user_annotation", False) and not event.name.startswith("ProfilerStep"):
                self.note("device", event.name, where="")
        elif self.device is Device.CPU and "::" in event.name and not any("::" in e.name for e in event.cpu_children):
            self.note("trace", event.name, where="")

    def _synchronise(self) -> None:
        if self.device is Device.CUDA:
            torch.cuda.synchronize()


def bundle_line(folder: str) -> str:
    """The innermost line of a bundle in this folder on the stack, as "file.py:12"; empty if there is none."""
    frame: FrameType | None = sys._getframe(1)
    depth = 0
    while frame is not None and depth < MOST_DEPTH:
        name = frame.f_code.co_filename
        if name.startswith(folder):
            return f"{name.rpartition('/')[2]}:{frame.f_lineno}"
        frame, depth = frame.f_back, depth + 1
    return ""


class Always:
    """What is seen of a bundle without a GPU, whether a call is watched or not. What ran where it took times: in
    do_bench, whenever that was; and while it was loaded, if it asked for the time between two events then. Who measures
    torch's operators means to use them. And functions of torch that compute, in replacement functions: they are seen by
    the mode that tells the bundle of its GPU, which is there in every call."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.seen: Counter[Key] = Counter()
        self.calling = False

    def replacement(self, function: Function) -> Function:
        """The replacement function, seen while it runs."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with mock.patch.object(self, "calling", True):
                return function(*args, **kwargs)

        return call

    def paused(self) -> contextlib.AbstractContextManager[object]:
        """See nothing meanwhile of replacement functions, which are watched more closely."""
        return mock.patch.object(self, "calling", False)

    def told(self, function: Any) -> None:
        """A function of torch is called."""
        name = getattr(function, "__name__", "").strip("_")
        if self.calling and name in COMPUTING and _calling_file().startswith(self.folder):
            self.seen["unwatched", name, bundle_line(self.folder), ""] += 1

    def benching(self) -> contextlib.AbstractContextManager[object]:
        """Note what runs in this context."""
        return DispatchedOperations(Device.CPU, lambda seen: self._note(self.seen, seen))

    @contextlib.contextmanager
    def loading(self) -> Iterator[None]:
        """Note what runs in this context, in which a bundle is loaded, if it takes times there."""
        from passnet_core.judge.worker.pretended_streams import times_asked

        found: Counter[Key] = Counter()
        before = times_asked[0]
        with DispatchedOperations(Device.CPU, lambda seen: self._note(found, seen)):
            yield
        if times_asked[0] != before:
            self.seen |= found

    def _note(self, into: "Counter[Key]", seen: "DispatchedOperation") -> None:
        where = bundle_line(self.folder)
        if where and not seen.is_housekeeping:
            into["measured", seen.name, where, seen.remark] += 1


@dataclass(frozen=True)
class DispatchedOperation:
    """An operation of torch that has run. caller: as _calling_file gives it. is_housekeeping: Triton's own."""

    name: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    result: Any
    caller: str
    remark: str
    is_housekeeping: bool


class DispatchedOperations(EagerDispatchMode):
    """Tells of every operation. A copy to another dtype gets the remark CONVERTS, one of parts of elements PARTS."""

    def __init__(self, device: Device, told: Callable[[DispatchedOperation], object]) -> None:
        super().__init__()
        self.device, self.told = device, told
        self.scattered: dict[int, int] = {}
        """The size of the elements that were copied here and there into a storage, by its address."""
        self.own: dict[int, int] = {}
        """The size of a storage's own elements, by its address."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        result = func(*args, **named)
        name, caller = func.name(), _calling_file()
        with torch._C.DisableTorchFunction():
            remark = self._remark(name, args, named, result)
        housekeeping = _is_housekeeping(name, args, caller, self.device)
        self.told(DispatchedOperation(name, args, named, result, caller, remark, housekeeping))
        return result

    def _remark(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> str:
        if name in ("aten::_local_scalar_dense", "aten::item"):
            return _single(args)
        if name.startswith(COPIES) and len(_dtypes((args, kwargs, result))) > 1:
            return CONVERTS
        return PARTS if _is_strided(result) and self._of_parts(name, args, result) else ""

    def _of_parts(self, name: str, args: Sequence[Any], result: torch.Tensor) -> bool:
        """Whether an operation copies or fills parts of a memory's elements, or takes for elements what was copied
        here and there in smaller ones."""
        given = [each for each in args if _is_strided(each)]
        for each in given:
            self.own.setdefault(_place(each), _size(each))
        place, size = _place(result), _size(result)
        if place not in map(_place, given):
            self.own[place] = size
            self.scattered.pop(place, None)
        if name == "aten::view.dtype":
            return size > self.scattered.get(place, size)
        if name.startswith(COPIES):
            if bare(name) in ("cat", "stack") or result.nbytes < result.untyped_storage().nbytes():
                self.scattered[place] = min(size, self.scattered.get(place, size))
            return any(_size(each) < self.own[_place(each)] for each in given)
        return name.startswith(("aten::fill_", "aten::zero_")) and size < self.own[place]


COPIES = ("aten::copy", "aten::_to_copy", "aten::clone", "aten::cat", "aten::stack")


class _Reads(TorchFunctionMode):
    """Records reads of values or addresses of tensors."""

    def __init__(self, recorder: LaunchRecorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        name = PROPERTIES.get(id(getattr(func, "__self__", None)), name)
        reads = name in READS or name in PROPERTIES.values()
        launches = name in LAUNCH_READS and (self.recorder.launching or _calling_file().startswith(_TRITON))
        if reads and not launches:
            self.recorder.note("read", name, _single(args))
        return func(*args, **(kwargs or {}))


# --- traces ----------------------------------------------------------------------------------------------------------


def _profile(device: Device) -> Any:
    # torch.profiler.profile would load Inductor first, which takes seconds
    settings = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    if device is Device.CUDA:
        return torch.autograd.profiler.profile(
            use_cpu=False, use_device="cuda", use_kineto=True, experimental_config=settings
        )
    return torch.autograd.profiler.profile(use_kineto=True, experimental_config=settings)


@contextlib.contextmanager
def _silent_stderr() -> Iterator[None]:
    """Silence standard error: the profiler's notes of its start and end do not belong in the bundle's log."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _note_step(steps: StepRecorder, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    """Note what an operation does to memory, if it allocates, fills or copies. Other operations leave no step."""
    if not isinstance(result, torch.Tensor) or result.layout is not torch.strided:
        return
    if name in ALLOCATIONS:
        steps.made_memory(result)
    elif name in FILLS and not name.startswith("lift"):
        steps.filled(result)
    elif name == "cat":
        axis = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        if all(each.dtype == result.dtype for each in args[0]):
            steps.joined(args[0], axis, result)
    elif name in MOVES:
        source = args[1] if name in ("copy_", "copy") else args[0]
        if isinstance(source, torch.Tensor) and source.dtype == result.dtype:
            steps.copied(source, result)


# --- launches --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _interpreted_launches(recorder: LaunchRecorder) -> Iterator[None]:
    from triton.runtime.interpreter import InterpretedFunction, InterpreterBuilder

    from passnet_core.judge.worker.launching import OPTIONS, tuned

    run, set_grid_dim = InterpretedFunction.run, InterpreterBuilder.set_grid_dim
    launching: list[dict[str, Any] | None] = [None]

    @functools.wraps(run)
    def noted(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        steps = recorder.steps
        # passed on, so that nobody who repeats or compiles this evaluates them once more
        kwargs |= _defaults(self, args, kwargs)
        if not warmup:
            recorder.note("kernel", str(self.fn.__name__))
            if steps is not None:
                with _unwatched():
                    own = {name: value for name, value in kwargs.items() if name in self.arg_names}
                    options = {name: value for name, value in kwargs.items() if name in OPTIONS}
                    launching[0] = steps.launching(self.fn, args, own, options, tuned=bool(tuned))
        try:
            return run(self, *args, grid=grid, warmup=warmup, **kwargs)
        except BaseException:  # a kernel is candidate code, and the bundle may go on with what the launch has left
            if steps is not None:
                steps.problem = steps.problem or "one of its launches failed"
            raise
        finally:
            launching[0] = None

    def with_grid(self: Any, x: int, y: int, z: int) -> Any:
        # the grid may be a function of the arguments: here it is known
        if launching[0] is not None and "grid" not in launching[0]:
            launching[0]["grid"] = [int(x), int(y), int(z)]
        return set_grid_dim(self, x, y, z)

    with (
        mock.patch.object(InterpretedFunction, "run", noted),
        mock.patch.object(InterpreterBuilder, "set_grid_dim", with_grid),
    ):
        yield


def _defaults(kernel: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the parameters that a launch does not pass."""
    parameters = inspect.signature(kernel.fn).parameters
    left = [name for name in kernel.arg_names[len(args) :] if name not in kwargs]
    return {name: value for name in left if (value := parameters[name].default) is not inspect.Parameter.empty}


@contextlib.contextmanager
def _unwatched() -> Iterator[None]:
    """Hide what the recorder itself does with tensors from its modes."""
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        yield


def compiled_launches(told: Callable[[str], object]) -> contextlib.AbstractContextManager[None]:
    """Tell the name of each kernel that is launched, by Triton's hook, which knows those compiled before as well."""
    return launch_hook(lambda fields: told(str(fields.get("name", ""))))


def launch_hook(told: Callable[[Mapping[str, Any]], object]) -> contextlib.AbstractContextManager[None]:
    """Tell what Triton tells of each launch of a compiled kernel, such as its name and function."""
    return hooked("launch_enter_hook", lambda metadata: told(metadata.get() if metadata is not None else {}))


@contextlib.contextmanager
def hooked(name: str, hook: Callable[[Any], object]) -> Iterator[None]:
    """Have Triton call this hook as well, at the start or at the end of each launch."""
    knobs = triton.knobs.runtime
    chain = getattr(knobs, name)
    if hasattr(chain, "add"):
        chain.add(hook)
        try:
            yield
        finally:
            chain.remove(hook)
    else:
        setattr(knobs, name, hook)
        try:
            yield
        finally:
            setattr(knobs, name, chain)


# --- callers ---------------------------------------------------------------------------------------------------------

_OWN = (
    __file__,
    *(str(Path(__file__).with_name(f"{name}.py")) for name in ("pretended_device", "launching", "strict_memory")),
)
"""Files of this package whose frames lie between an operation and the one who asks for it."""
_TORCH = torch.__path__[0] + "/"
_TRITON = triton.__path__[0] + "/"
_INTERPRETER = _TRITON + "runtime/interpreter.py"
MACHINERY = frozenset(
    {
        "aten::new_empty", "aten::set_.source_Storage_storage_offset", "aten::set_.source_Storage", "aten::copy_",
        "aten::detach", "aten::alias", "aten::empty.memory_format", "aten::zero_", "aten::fill_.Scalar", "aten::clone",
        "aten::_to_copy",
    }
)  # fmt: skip
"""Operations that the interpreter's launch and the autotuner perform themselves."""


def _calling_file() -> str:
    """The innermost file on the stack that is neither this module nor a part of torch. Code made from a string is
    skipped, since Triton binds the arguments of launches with such code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name not in _OWN and not name.startswith(_TORCH) and name != "<string>":
            return name
        frame = frame.f_back
    return ""


def _is_housekeeping(name: str, args: Any, caller: str, device: Device) -> bool:
    """Whether an operation is Triton's own housekeeping around a launch, or in its autotuner's statistics."""
    if not caller.startswith(_TRITON):
        return False
    if name in MACHINERY:
        return True
    on_host = all(each.device.type == "cpu" for each in tree_leaves(args) if isinstance(each, torch.Tensor))
    return caller == f"{_TRITON}testing.py" and device is Device.CUDA and on_host


# --- tensors ---------------------------------------------------------------------------------------------------------


def _is_strided(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided


def _size(tensor: torch.Tensor) -> int:
    """The size of an element; of a complex number, that of its parts."""
    return tensor.element_size() // (2 if tensor.is_complex() else 1)


def _place(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _single(args: Sequence[Any]) -> str:
    """ONE_NUMBER if the first argument is a tensor of one number that is not part of a larger one; else empty."""
    first = args[0] if args else None
    if isinstance(first, torch.Tensor) and first.numel() == 1 and first.layout is torch.strided:
        with torch._C.DisableTorchFunction():
            whole = first.untyped_storage().nbytes() <= max(first.element_size(), 1)
        return ONE_NUMBER if whole else ""
    return ""


def _dtypes(values: Any) -> set[torch.dtype]:
    return {each.dtype for each in tree_leaves(values) if isinstance(each, torch.Tensor)}


def _storages(values: Any) -> set[int]:
    return {
        each.untyped_storage().data_ptr()
        for each in tree_leaves(values)
        if isinstance(each, torch.Tensor) and each.layout is torch.strided
    }


def _require_plain(result: Any) -> None:
    """Raise NotPlain unless this is a plain tensor, a number or None, or a plain tuple or list of these."""
    for each in result if type(result) in (tuple, list) else (result,):
        if type(each) not in PLAIN:
            raise NotPlain(
                f"A replacement function returned {type(each).__module__}.{type(each).__qualname__}. Return plain"
                " tensors (torch.Tensor), alone or in a tuple or list."
            )


PLAIN = (torch.Tensor, torch.nn.Parameter, int, float, bool, type(None))
"""The types of what a replacement function may return, alone or in a tuple or list."""
