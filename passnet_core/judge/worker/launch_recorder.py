"""Watch what replacement functions do in a call on CUDA, without judging it. Runs in the candidate worker.

Every call of VERIFY is watched, and all in the same way, so that no call looks like one that matters. Only what happens
while a replacement function runs is recorded:
    kernel      launches of Triton kernels, through Triton's launch hook
    operation   every operation of torch below autograd, whoever calls it
    read        every read of a tensor's values or address into Python
    device      every kernel, copy and fill in the driver's trace
The recorder runs in the process that it observes: a bundle that knows this module, and that the static rules let pass,
can silence or falsify it."""

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import triton
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from passnet_core.judge.plan.operations import (
    LAUNCH_READS,
    PROPERTIES,
    READS,
    DispatchedOperation,
    DispatchedOperations,
    Function,
    asked_by_triton,
    bundle_line,
    require_plain,
    single,
)
from passnet_core.judge.protocol.messages import Launches, Seen, Watched
from passnet_core.records import Device

Key = tuple[str, str, str, str]
"""(kind, name, where, remark)"""


@dataclass
class LaunchCounts:
    """What was recorded in the calls of one replacement function. fresh: how many calls returned memory that is not
    their arguments'."""

    calls: int = 0
    fresh: int = 0
    seen: Counter[Key] = field(default_factory=Counter)


class LaunchRecorder:
    """Records one call of the graph: what happens between the start and the end of its replacement functions.

    folder: of the bundle."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.counts: dict[str, LaunchCounts] = {}
        self.current: LaunchCounts | None = None
        self.launching = False
        """Whether a compiled kernel is being launched: then what is read is read by the launch itself."""

    def wrapped(self, key: str, function: Function) -> Function:
        """The function, recorded while it runs. A replacement that another one calls counts as part of that one.

        It raises NotPlain if the function returns anything but plain tensors, alone or in a tuple or list: an object
        that computes its values later would do so unseen."""
        counts = self.counts.setdefault(key, LaunchCounts())

        def recorded(*args: Any, **kwargs: Any) -> Any:
            if self.current is not None:
                return function(*args, **kwargs)
            torch.cuda.synchronize()
            self.current = counts
            try:
                with self._recording():
                    result = function(*args, **kwargs)
                    torch.cuda.synchronize()
            finally:
                self.current = None
            require_plain(result)
            counts.calls += 1
            counts.fresh += not _storages(result) <= _storages((args, kwargs))
            return result

        return recorded

    def note(self, kind: str, name: str, remark: str = "", where: str | None = None) -> None:
        if self.current is not None:
            self.current.seen[kind, name, bundle_line(self.folder) if where is None else where, remark] += 1

    def watched(self) -> Watched:
        """Everything that was recorded."""
        return Watched(
            tuple(
                Launches(function, counts.calls, counts.fresh, tuple(Seen(*key, n) for key, n in counts.seen.items()))
                for function, counts in self.counts.items()
                if counts.calls
            )
        )

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Listen for launches of Triton kernels."""
        with compiled_launches(self._launch_begins), hooked("launch_exit_hook", self._launch_ends):
            yield

    def _launch_begins(self, name: str) -> None:
        self.note("kernel", name)
        self.launching = True

    def _launch_ends(self, metadata: Any) -> None:
        self.launching = False

    @contextlib.contextmanager
    def _recording(self) -> Iterator[None]:
        profile = _profile()
        with _silent_stderr():
            profile.__enter__()
        try:
            with _Reads(self), DispatchedOperations(Device.CUDA, self._note_operation):
                yield
        finally:
            with _silent_stderr():
                profile.__exit__(None, None, None)
        for event in profile.function_events or ():
            self._note_event(event)

    def _note_operation(self, seen: DispatchedOperation) -> None:
        if not seen.is_housekeeping:
            self.note("operation", seen.name, seen.remark)

    def _note_event(self, event: Any) -> None:
        if (
            event.device_type == torch.autograd.DeviceType.CUDA
            and not getattr(event, "is_user_annotation", False)
            and not event.name.startswith("ProfilerStep")
        ):
            self.note("device", event.name, where="")


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
        if reads and not (name in LAUNCH_READS and self.recorder.launching) and not asked_by_triton(name):
            self.recorder.note("read", name, single(args))
        return func(*args, **(kwargs or {}))


# --- traces ----------------------------------------------------------------------------------------------------------


def _profile() -> Any:
    # torch.profiler.profile would load Inductor first, which takes seconds
    settings = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    return torch.autograd.profiler.profile(
        use_cpu=False, use_device="cuda", use_kineto=True, experimental_config=settings
    )


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


# --- tensors ---------------------------------------------------------------------------------------------------------


def _storages(values: Any) -> set[int]:
    return {
        each.untyped_storage().data_ptr()
        for each in tree_leaves(values)
        if isinstance(each, torch.Tensor) and each.layout is torch.strided
    }
