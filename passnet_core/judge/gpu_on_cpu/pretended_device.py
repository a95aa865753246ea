"""Let code that was written for a GPU run in a process without one: while a bundle's code runs, it is told that its
tensors lie on a GPU, the one on which its kernels will run or one of compute capability 9.0.

Tensors stay what they are, ordinary tensors on the CPU, and only the bundle is told: torch's own code, Triton's and the
judge's get true answers. Which device an output is on, the judge asks afterwards. Only for a candidate's worker."""

import contextlib
import functools
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import torch
import triton
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode

from passnet_core.judge.gpu_on_cpu import launching
from passnet_core.judge.gpu_on_cpu.needs_gpu import NeedsGpu

Function = Callable[..., Any]


@dataclass(frozen=True)
class Properties:
    """What torch.cuda.get_device_properties gives for a card of compute capability 9.0."""

    name: str
    multi_processor_count: int
    total_memory: int
    L2_cache_size: int
    clock_rate: int
    memory_clock_rate: int
    memory_bus_width: int
    major: int = 9
    minor: int = 0
    warp_size: int = 32
    max_threads_per_block: int = 1024
    max_threads_per_multi_processor: int = 2048
    regs_per_multiprocessor: int = 65_536
    shared_memory_per_block: int = 49_152
    shared_memory_per_block_optin: int = 232_448
    shared_memory_per_multiprocessor: int = 233_472
    is_integrated: bool = False
    is_multi_gpu_board: bool = False

    @property
    def gcnArchName(self) -> str:
        return self.name


CARDS = (
    Properties("NVIDIA H100 80GB HBM3", 132, 85_045_739_520, 52_428_800, 1_980_000, 2_619_000, 5120),
    Properties("NVIDIA H100 PCIe", 114, 84_942_979_072, 52_428_800, 1_755_000, 1_593_000, 5120),
    Properties("NVIDIA H200", 132, 150_122_397_696, 62_914_560, 1_980_000, 3_201_000, 6144),
    Properties("NVIDIA H20", 78, 101_958_156_288, 62_914_560, 1_980_000, 2_619_000, 6144),
)
"""Cards, as a bundle may meet them."""
FEWEST_MULTIPROCESSORS = 16
"""How many multiprocessors a process sees at least. It may have a part of a card."""


def some_card() -> Properties:
    """A random card, or a random part of one: what is right on one card alone is wrong on another."""
    chance = random.SystemRandom()
    card = chance.choice(CARDS)
    seen = chance.randrange(FEWEST_MULTIPROCESSORS, card.multi_processor_count + 1, 2)
    return replace(card, multi_processor_count=seen)


_installed: list[Properties] = []


def properties() -> Properties:
    """Those of the card that this process is told of."""
    return _installed[0]


CUDA_VERSION = "12.8"

_TORCH = torch.__path__[0] + "/"
_MODES = (__file__, _TORCH + "utils/_device.py", _TORCH + "overrides.py", _TORCH + "utils/_contextlib.py")
"""Files whose frames lie between a question and the one who asks it."""
_LIBRARIES = (_TORCH, triton.__path__[0] + "/")
_here = torch.device("cpu")

ELAPSED_MS = 0.01
"""The time between two events: no time without a GPU means anything."""


def install(card: Mapping[str, Any] | None = None) -> None:
    """Give Triton a driver that answers for a card: this one, or any. Call once, before a bundle is loaded. card: the
    fields of Properties."""
    _installed[:] = [some_card() if card is None else Properties(**card)]
    triton.runtime.driver.set_active(_Driver())


@contextlib.contextmanager
def pretending() -> Iterator[None]:
    """While the context lasts, code of a bundle gets the answers of a GPU, and "cuda" means this machine's memory."""
    if _active:
        yield
        return
    kept = [(owner, name, vars(owner).get(name, _MISSING)) for owner, names in REPLACED for name in names]
    for owner, names in REPLACED:
        for name, value in names.items():
            setattr(owner, name, value)
    _active.append(True)
    try:
        with _Devices():
            yield
    finally:
        _active.clear()
        entered.clear()
        for owner, name, value in kept:
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


def pretended(function: Function) -> Function:
    """The function, called while this process pretends."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with pretending():
            return function(*args, **kwargs)

    return call


_active: list[bool] = []
_MISSING = object()


# --- tensors ---------------------------------------------------------------------------------------------------------


class _Devices(TorchFunctionMode):
    """Answers for the device of tensors, and creates tensors for "cuda" in this machine's memory."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        is_getter = getattr(func, "__name__", "") == "__get__"
        answer = ANSWERS.get(getattr(func, "__self__", func) if is_getter else func)
        if answer is not None:
            return answer(args[0]) if asked_by_bundle() else func(*args, **(kwargs or {}))
        named = dict(kwargs or {})
        if func in FACTORIES and not _is_device(named.get("device")) and asked_by_bundle():
            pinned = named.pop("pin_memory", False)
            made = func(*args, **named)
            if not pinned and str(torch.get_default_device()) == "cpu":
                put_on_host(made)
            return made
        if func in MOVING and on_host(args[0]) and any(map(_is_on_gpu, (*args[1:2], *named.values()))):
            args = (args[0].clone(), *args[1:])
        if isinstance(named.get("device"), int):
            named["device"] = _here
        named.pop("pin_memory", None)
        given = [_placed(each) for each in args]
        if func is torch.Tensor.to and len(given) > 1 and type(given[1]) is int:
            given[1] = _here
        named = {key: _placed(value) for key, value in named.items()}
        return func(*given, **named)


def _is_device(value: Any) -> bool:
    """Whether this names the GPU."""
    return isinstance(value, int) or _placed(value) is not value


def _is_on_gpu(value: Any) -> bool:
    """Whether this names the GPU, or is a tensor there."""
    return not on_host(value) if isinstance(value, torch.Tensor) else _is_device(value) and type(value) is not bool


MOVING = (torch.Tensor.to, torch.Tensor.type_as)

_on_host: dict[int, torch.UntypedStorage] = {}
"""The memory that a bundle has made without naming the GPU, by what torch calls it. It is held, so that it stays its
own."""


def put_on_host(tensor: torch.Tensor) -> None:
    """Note that a tensor lies in memory that no kernel on a GPU could use."""
    with torch._C.DisableTorchFunction():
        storage = tensor.untyped_storage()
        _on_host[storage._cdata] = storage


def on_host(tensor: torch.Tensor) -> bool:
    """Whether a tensor lies in such memory."""
    with torch._C.DisableTorchFunction():
        return tensor.untyped_storage()._cdata in _on_host


def _onto_gpu(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.clone() if on_host(tensor) else tensor


FACTORIES = frozenset(
    {
        torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn, torch.randint, torch.arange,
        torch.linspace, torch.eye, torch.tensor, torch.scalar_tensor, torch.empty_strided, torch.from_numpy,
    }
)  # fmt: skip
"""What makes a tensor on the CPU unless a device is named."""


def _placed(value: Any) -> Any:
    """A device as it is here; anything else unchanged."""
    if isinstance(value, torch.device):
        return _here if value.type == "cuda" else value
    if isinstance(value, str) and value.split(":")[0] == "cuda":
        return _here
    return value


def _unchanged(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


ANSWERS: Mapping[Any, Function] = {
    torch.Tensor.is_cuda: lambda tensor: True,
    torch.Tensor.is_cpu: lambda tensor: False,
    torch.Tensor.device: lambda each: torch.device("cuda", 0) if each.device.type == "cpu" else each.device,
    torch.Tensor.get_device: lambda tensor: 0,
    torch.Tensor.cuda: _onto_gpu,
    torch.Tensor.pin_memory: _unchanged,
}
"""What a bundle is told of a tensor."""


def asked_by_bundle() -> bool:
    """Whether the innermost code on the stack, other than this module and torch's modes, is not a library's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in _MODES:
        frame = frame.f_back
    return frame is not None and not frame.f_code.co_filename.startswith(_LIBRARIES)


# --- streams ---------------------------------------------------------------------------------------------------------


class Stream(contextlib.AbstractContextManager["Stream"]):
    """A CUDA stream that a bundle finds. What is launched on it happens at once; no plan works on another than the
    caller's."""

    cuda_stream = stream_id = device_index = 0

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.device = torch.device("cuda", 0)

    def wait_stream(self, stream: Any) -> None:
        """Nothing is to be waited for."""

    def wait_event(self, event: Any) -> None:
        """Nothing is to be waited for."""

    def synchronize(self) -> None:
        """Nothing is to be waited for."""

    def record_event(self, event: Any = None) -> Any:
        return event or Event()

    def query(self) -> bool:
        return True

    def __enter__(self) -> "Stream":
        entered.append(self)
        return self

    def __exit__(self, *_error: object) -> None:
        if entered:
            entered.pop()


class Event:
    """A CUDA event that a bundle finds."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        """It takes what torch.cuda.Event takes."""

    def record(self, stream: Any = None) -> None:
        """There is nothing to record."""

    wait = synchronize = record

    def query(self) -> bool:
        return True

    def elapsed_time(self, end_event: Any) -> float:
        return ELAPSED_MS


def entering(stream: Stream | None) -> Stream:
    """torch.cuda.stream(…): what is launched meanwhile goes there. None: where it went before."""
    return stream or current()


caller = Stream()
entered: list[Stream] = []
"""The streams that were entered, the last one innermost."""


def current() -> Stream:
    """The stream on which is launched now."""
    return entered[-1] if entered else caller


# --- torch.cuda ------------------------------------------------------------------------------------------------------


def _answering(name: str, answer: Function) -> Function:
    true_answer = getattr(torch.cuda, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        return answer(*args, **kwargs) if asked_by_bundle() else true_answer(*args, **kwargs)

    return call


class Here(contextlib.AbstractContextManager["Here"]):
    """torch.cuda.device and the like: there is one device."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.idx = 0

    def __exit__(self, *_error: object) -> None:
        """Nothing to restore."""


_TOLD: Mapping[str, Function] = {
    "is_available": lambda: True,
    "is_initialized": lambda: True,
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    "set_device": lambda device: None,
    "synchronize": lambda device=None: None,
    "get_device_properties": lambda device=None: properties(),
    "get_device_capability": lambda device=None: (properties().major, properties().minor),
    "get_device_name": lambda device=None: properties().name,
    "is_bf16_supported": lambda including_emulation=True: True,
    "current_stream": lambda device=None: current(),
    "default_stream": lambda device=None: caller,
    "get_arch_list": lambda: [f"sm_{properties().major}{properties().minor}"],
    "empty_cache": lambda: None,
}
CUDA: Mapping[str, Any] = {
    **{name: _answering(name, answer) for name, answer in _TOLD.items()},
    "Stream": Stream,
    "Event": Event,
    "stream": entering,
    "device": Here,
    "device_of": Here,
}
"""torch.cuda, as a bundle sees it."""

_true_device: property = FakeTensor.device  # type: ignore[assignment]


def _device_told(tensor: Any) -> torch.device:
    return torch.device("cuda", 0) if asked_by_bundle() else _true_device.__get__(tensor)


REPLACED: tuple[tuple[Any, Mapping[str, Any]], ...] = (
    (torch.cuda, CUDA),
    (torch.version, {"cuda": CUDA_VERSION}),
    # asks no mode
    (FakeTensor, {"device": property(_device_told)}),
    # refuses a stream that is none before a mode is asked
    (torch.Tensor, {"record_stream": lambda tensor, stream: None}),
)
"""What bundles find under these names, instead of what is there, while this process pretends."""


# --- Triton's driver -------------------------------------------------------------------------------------------------


class _Utilities:
    """driver.active.utils: the properties of the device, and no way to load a kernel."""

    def get_device_properties(self, device: int = 0) -> dict[str, int]:
        return {
            "max_shared_mem": properties().shared_memory_per_block_optin,
            "max_num_regs": properties().regs_per_multiprocessor,
            "multiprocessor_count": properties().multi_processor_count,
            "warpSize": properties().warp_size,
            "sm_clock_rate": properties().clock_rate,
            "mem_clock_rate": properties().memory_clock_rate,
            "mem_bus_width": properties().memory_bus_width,
        }

    def __getattr__(self, name: str) -> Any:
        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            raise NeedsGpu(f"a kernel that is compiled and loaded by {name}")

        return refuse


class _Interface:
    """driver.active.get_device_interface(): torch.cuda as a bundle sees it."""

    Event, Stream = Event, Stream

    def synchronize(self, device: Any = None) -> None:
        """Nothing is to be waited for."""

    def current_device(self) -> int:
        return 0

    def is_available(self) -> bool:
        return True


class _Driver:
    """Triton's driver for a GPU that is not there."""

    def __init__(self) -> None:
        self.utils = _Utilities()
        self.launcher_cls = self.utils.load_binary

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 10 * properties().major + properties().minor, properties().warp_size)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> _Interface:
        return _Interface()

    def get_benchmarker(self) -> Function:
        return launching.run_once

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return (properties().major, properties().minor)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        """Do nothing: there is one device."""

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        return torch.empty(0)

    def clear_cache(self, cache: torch.Tensor) -> None:
        """Do nothing: no time is taken."""

    def map_python_to_cpp_type(self, ty: str) -> str:
        from triton.backends.nvidia.driver import ty_to_cpp

        return str(ty_to_cpp(ty))
