"""Record what replacement functions launch in a call, without judging it. Runs in the candidate worker.

Two calls are recorded by different means, since a bundle can see by which it is recorded. Only what happens while a
replacement function runs is recorded. In the call under the trace:
    kernel      launches of Triton kernels, through the interpreter's run or, on CUDA, Triton's launch hook
    device      CUDA: every kernel, copy and fill in the driver's trace
    trace       CPU: every innermost operation of torch, on any thread
In the call under torch's modes:
    operation   every operation of torch below autograd, whoever calls it
    read        every read of a tensor's values or address into Python
The recorder runs in the process that it observes: a bundle that knows this module, and that the static rules let pass,
can silence or falsify it. The referee compares the two lists with each other and with the sources. The recorder does
not see what Python or native code computes on the CPU from addresses."""

import contextlib
import enum
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import triton
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

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
ONE_NUMBER = "one number"
"""The remark on a read of a tensor whose storage holds a single number."""

MOST_DEPTH = 80


@dataclass
class LaunchCounts:
    """What was recorded in the calls of one replacement function. fresh: how many calls returned memory that is not
    their arguments'."""

    calls: int = 0
    fresh: int = 0
    launches: int = 0
    """How many Triton kernels were launched in the call under the modes."""
    seen: Counter[Key] = field(default_factory=Counter)


class Means(enum.Enum):
    TRACE = "trace"
    MODES = "modes"


class LaunchRecorder:
    """Records what happens between the start and the end of replacement functions."""

    def __init__(self, device: Device, folder: str) -> None:
        self.device = device
        self.folder = folder
        self.means = Means.TRACE
        self.counts: dict[str, LaunchCounts] = {}
        self.current: LaunchCounts | None = None

    def wrapped(self, key: str, function: Function) -> Function:
        """The function, recorded while it runs. A replacement that another one calls counts as part of that one."""
        counts = self.counts.setdefault(key, LaunchCounts())

        def recorded(*args: Any, **kwargs: Any) -> Any:
            if self.current is not None:
                return function(*args, **kwargs)
            self._synchronise()
            self.current = counts
            try:
                with self._recording():
                    result = function(*args, **kwargs)
                    self._synchronise()
            finally:
                self.current = None
            if self.means is Means.TRACE:
                counts.calls += 1
                counts.fresh += not _storages(result) <= _storages((args, kwargs))
            return result

        return recorded

    def note(self, kind: str, name: str, remark: str = "", where: str | None = None) -> None:
        if self.current is not None:
            self.current.seen[kind, name, self.bundle_line() if where is None else where, remark] += 1

    def note_launch(self, name: str) -> None:
        if self.current is not None and self.means is Means.MODES:
            self.current.launches += 1
        else:
            self.note("kernel", name)

    def bundle_line(self) -> str:
        """The innermost line of the bundle on the stack, as "file.py:12"; empty if there is none."""
        frame: FrameType | None = sys._getframe(1)
        depth = 0
        while frame is not None and depth < MOST_DEPTH:
            name = frame.f_code.co_filename
            if name.startswith(self.folder):
                return f"{name.rpartition('/')[2]}:{frame.f_lineno}"
            frame, depth = frame.f_back, depth + 1
        return ""

    def rows(self) -> list[dict[str, Any]]:
        """Everything that was recorded, as data."""
        return [
            {
                "function": function,
                "calls": counts.calls,
                "fresh": counts.fresh,
                "launches": counts.launches,
                "seen": [
                    {"kind": kind, "name": name, "where": where, "remark": remark, "count": count}
                    for (kind, name, where, remark), count in counts.seen.items()
                ],
            }
            for function, counts in self.counts.items()
            if counts.calls
        ]

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Listen for launches of Triton kernels."""
        with contextlib.ExitStack() as undoing:
            if self.device is Device.CPU:
                undoing.enter_context(_interpreted_launches(self))
            else:
                undoing.enter_context(_compiled_launches(self))
            yield

    @contextlib.contextmanager
    def _recording(self) -> Iterator[None]:
        if self.means is Means.MODES:
            with _Reads(self), _Operations(self):
                yield
            return
        profile = _profile(self.device)
        with _silent_stderr():
            profile.__enter__()
        try:
            yield
        finally:
            with _silent_stderr():
                profile.__exit__(None, None, None)
        for event in profile.function_events or ():
            self._note_event(event)

    def _note_event(self, event: Any) -> None:
        if event.device_type == torch.autograd.DeviceType.CUDA:
            if not getattr(event, "is_user_annotation", False) and not event.name.startswith("ProfilerStep"):
                self.note("device", event.name, where="")
        elif self.device is Device.CPU and "::" in event.name and not any("::" in e.name for e in event.cpu_children):
            self.note("trace", event.name, where="")

    def _synchronise(self) -> None:
        if self.device is Device.CUDA:
            torch.cuda.synchronize()


class _Operations(TorchDispatchMode):
    """Records every operation. A copy to another dtype gets the remark CONVERTS."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # nothing is compiled inside; with True, torch would load Dynamo first, which takes seconds
        return False

    def __init__(self, recorder: LaunchRecorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.name()
        if not _is_housekeeping(name, args, self.recorder.device):
            remark = ""
            if name in ("aten::_local_scalar_dense", "aten::item"):
                remark = _single(args)
            elif name.startswith(COPIES):
                remark = CONVERTS if len(_dtypes((args, kwargs, result))) > 1 else ""
            self.recorder.note("operation", name, remark)
        return result


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
        if reads and not (name in LAUNCH_READS and _calling_file().startswith(_TRITON)):
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


# --- launches --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _interpreted_launches(recorder: LaunchRecorder) -> Iterator[None]:
    from triton.runtime.interpreter import InterpretedFunction

    run = InterpretedFunction.run

    def noted(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        if not warmup:
            recorder.note_launch(str(self.fn.__name__))
        return run(self, *args, grid=grid, warmup=warmup, **kwargs)

    InterpretedFunction.run = noted
    try:
        yield
    finally:
        InterpretedFunction.run = run


@contextlib.contextmanager
def _compiled_launches(recorder: LaunchRecorder) -> Iterator[None]:
    """Use the hook that Triton's launcher calls, also for kernels that were compiled before."""
    knobs = triton.knobs.runtime

    def hook(metadata: Any) -> None:
        fields = metadata.get() if metadata is not None else {}
        recorder.note_launch(str(fields.get("name", "")))

    chain = knobs.launch_enter_hook
    if hasattr(chain, "add"):
        chain.add(hook)
        try:
            yield
        finally:
            chain.remove(hook)
    else:
        knobs.launch_enter_hook = hook
        try:
            yield
        finally:
            knobs.launch_enter_hook = chain


# --- callers ---------------------------------------------------------------------------------------------------------

_OWN = (
    __file__,
    *(str(Path(__file__).with_name(f"{name}.py")) for name in ("pretended_device", "launching", "strict_memory")),
)
"""Files of this package whose frames lie between an operation and the one who asks for it."""
_TORCH = torch.__path__[0] + "/"
_TRITON = triton.__path__[0] + "/"
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


def _is_housekeeping(name: str, args: Any, device: Device) -> bool:
    """Whether an operation is Triton's own housekeeping around a launch, or in its autotuner's statistics."""
    caller = _calling_file()
    if not caller.startswith(_TRITON):
        return False
    if name in MACHINERY:
        return True
    on_host = all(each.device.type == "cpu" for each in tree_leaves(args) if isinstance(each, torch.Tensor))
    return caller == f"{_TRITON}testing.py" and device is Device.CUDA and on_host


# --- tensors ---------------------------------------------------------------------------------------------------------


def _single(args: tuple[Any, ...]) -> str:
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
