"""What replacement functions launch in a call: lists it, judges nothing. Runs in the child that holds the bundle.

Two calls are watched by different means, since a bundle can see by which it is watched. Only what happens while a
replacement function runs is noted. Under the trace:
    kernel      launches of Triton kernels, through the interpreter's run or, on CUDA, Triton's hook for launches
    device      CUDA: every kernel, copy and fill in the driver's trace
    trace       CPU: every innermost operation of torch, on whatever thread
Under torch's modes:
    operation   of torch, below autograd, whoever asked for it
    read        of a tensor's values or address into Python
All of it is noted by the process that it is about: a bundle that knows this module, and is not stopped by the static
rules, can silence or falsify it. The referee compares the lists with one another and with the sources. What Python or
native code computes on the CPU from addresses is not seen.
"""

import contextlib
import enum
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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
TRITONS_READS = frozenset({"data_ptr", "untyped_storage", "storage"})
"""What a launch does itself."""
PROPERTIES = {
    id(getattr(torch.Tensor, name)): name for name in ("__cuda_array_interface__",) if hasattr(torch.Tensor, name)
}
CONVERTS = "converts"
ONE_NUMBER = "one number"
"""Of a read: the tensor's memory holds no other."""

MOST_DEPTH = 80


@dataclass
class LaunchCounts:
    """What was seen in the calls of one replacement function. fresh: calls with a result in other memory than that of
    their arguments."""

    calls: int = 0
    fresh: int = 0
    launches: int = 0
    """Of Triton kernels, in the call under the modes."""
    seen: Counter[Key] = field(default_factory=Counter)


class Means(enum.Enum):
    TRACE = "trace"
    MODES = "modes"


class LaunchRecorder:
    """Notes what happens between the start and the end of replacement functions."""

    def __init__(self, device: Device, folder: str) -> None:
        self.device = device
        self.folder = folder
        self.means = Means.TRACE
        self.tallies: dict[str, LaunchCounts] = {}
        self.current: LaunchCounts | None = None

    def wrapped(self, key: str, function: Function) -> Function:
        """The function, watched. A replacement that calls another one is watched as one."""
        tally = self.tallies.setdefault(key, LaunchCounts())

        def watched(*args: Any, **kwargs: Any) -> Any:
            if self.current is not None:
                return function(*args, **kwargs)
            self._synchronise()
            self.current = tally
            try:
                with self._watching():
                    result = function(*args, **kwargs)
                    self._synchronise()
            finally:
                self.current = None
            if self.means is Means.TRACE:
                tally.calls += 1
                tally.fresh += not _memory(result) <= _memory((args, kwargs))
            return result

        return watched

    def note(self, kind: str, name: str, remark: str = "", where: str | None = None) -> None:
        if self.current is not None:
            self.current.seen[kind, name, self.place() if where is None else where, remark] += 1

    def note_launch(self, name: str) -> None:
        if self.current is not None and self.means is Means.MODES:
            self.current.launches += 1
        else:
            self.note("kernel", name)

    def place(self) -> str:
        """ "file.py:12" of the innermost line of the bundle that is being executed; empty where there is none."""
        frame: FrameType | None = sys._getframe(1)
        depth = 0
        while frame is not None and depth < MOST_DEPTH:
            name = frame.f_code.co_filename
            if name.startswith(self.folder):
                return f"{name.rpartition('/')[2]}:{frame.f_lineno}"
            frame, depth = frame.f_back, depth + 1
        return ""

    def rows(self) -> list[dict[str, Any]]:
        """All that was seen, as data."""
        return [
            {
                "function": function,
                "calls": tally.calls,
                "fresh": tally.fresh,
                "launches": tally.launches,
                "seen": [
                    {"kind": kind, "name": name, "where": where, "remark": remark, "count": count}
                    for (kind, name, where, remark), count in tally.seen.items()
                ],
            }
            for function, tally in self.tallies.items()
            if tally.calls
        ]

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """While it lasts, launches of Triton kernels are heard."""
        with contextlib.ExitStack() as undoing:
            if self.device is Device.CPU:
                undoing.enter_context(_interpreted_launches(self))
            else:
                undoing.enter_context(_compiled_launches(self))
            yield

    @contextlib.contextmanager
    def _watching(self) -> Iterator[None]:
        if self.means is Means.MODES:
            with _Reads(self), _Operations(self):
                yield
            return
        profile = _profile(self.device)
        with _without_remarks():
            profile.__enter__()
        try:
            yield
        finally:
            with _without_remarks():
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
    """Notes every operation, with the remark CONVERTS where a copy changes the type of its elements."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # nothing is compiled inside, and to keep Dynamo out, torch would load it first, which takes seconds
        return False

    def __init__(self, recorder: LaunchRecorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.name()
        if not _of_triton(name, args, self.recorder.device):
            remark = ""
            if name in ("aten::_local_scalar_dense", "aten::item"):
                remark = _single(args)
            elif name.startswith(COPIES):
                remark = CONVERTS if len(_dtypes((args, kwargs, result))) > 1 else ""
            self.recorder.note("operation", name, remark)
        return result


COPIES = ("aten::copy", "aten::_to_copy", "aten::clone", "aten::cat", "aten::stack")


class _Reads(TorchFunctionMode):
    """Notes where values or addresses of tensors are taken out of torch."""

    def __init__(self, recorder: LaunchRecorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        name = PROPERTIES.get(id(getattr(func, "__self__", None)), name)
        takes = name in READS or name in PROPERTIES.values()
        if takes and not (name in TRITONS_READS and _asker().startswith(_TRITON)):
            self.recorder.note("read", name, _single(args))
        return func(*args, **(kwargs or {}))


# --- traces ----------------------------------------------------------------------------------------------------------


def _profile(device: Device) -> Any:
    # torch.profiler's own class loads Inductor first, which takes seconds
    settings = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    if device is Device.CUDA:
        return torch.autograd.profiler.profile(
            use_cpu=False, use_device="cuda", use_kineto=True, experimental_config=settings
        )
    return torch.autograd.profiler.profile(use_kineto=True, experimental_config=settings)


@contextlib.contextmanager
def _without_remarks() -> Iterator[None]:
    """The profiler says on standard error that it starts and stops, which nobody wants in the bundle's log."""
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
    """Through the hook that Triton's launcher calls, also for kernels that were compiled before."""
    knobs = triton.knobs.runtime

    def hook(metadata: Any) -> None:
        told = metadata.get() if metadata is not None else {}
        recorder.note_launch(str(told.get("name", "")))

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


# --- who asked -------------------------------------------------------------------------------------------------------

_OWN = (__file__,)
_TORCH = torch.__path__[0] + "/"
_TRITON = triton.__path__[0] + "/"
MACHINERY = frozenset(
    {
        "aten::new_empty", "aten::set_.source_Storage_storage_offset", "aten::set_.source_Storage", "aten::copy_",
        "aten::detach", "aten::alias", "aten::empty.memory_format", "aten::zero_", "aten::fill_.Scalar", "aten::clone",
        "aten::_to_copy",
    }
)  # fmt: skip
"""What the interpreter's launch and the autotuner do themselves."""


def _asker() -> str:
    """The file of the innermost code that is neither this module's nor torch's. Code made from a string, as Triton
    makes to bind the arguments of a launch, stands for who called it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name not in _OWN and not name.startswith(_TORCH) and name != "<string>":
            return name
        frame = frame.f_back
    return ""


def _of_triton(name: str, args: Any, device: Device) -> bool:
    """Whether it is Triton's own housekeeping: around a launch, or the statistics of its autotuner."""
    asker = _asker()
    if not asker.startswith(_TRITON):
        return False
    if name in MACHINERY:
        return True
    on_host = all(each.device.type == "cpu" for each in tree_leaves(args) if isinstance(each, torch.Tensor))
    return asker == f"{_TRITON}testing.py" and device is Device.CUDA and on_host


# --- tensors ---------------------------------------------------------------------------------------------------------


def _single(args: tuple[Any, ...]) -> str:
    """ONE_NUMBER for a tensor that is no part of a larger one."""
    first = args[0] if args else None
    if isinstance(first, torch.Tensor) and first.numel() == 1 and first.layout is torch.strided:
        with torch._C.DisableTorchFunction():
            whole = first.untyped_storage().nbytes() <= max(first.element_size(), 1)
        return ONE_NUMBER if whole else ""
    return ""


def _dtypes(values: Any) -> set[torch.dtype]:
    return {each.dtype for each in tree_leaves(values) if isinstance(each, torch.Tensor)}


def _memory(values: Any) -> set[int]:
    return {
        each.untyped_storage().data_ptr()
        for each in tree_leaves(values)
        if isinstance(each, torch.Tensor) and each.layout is torch.strided
    }
