"""Keep interpreted kernels from storing outside the memory of their launch's tensors, which would damage the process.

Unpatched, the interpreter stores wherever a pointer says: the process ends without a word about the kernel, or hangs,
perhaps long after the store."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
import triton
import triton.runtime.interpreter as interpreter
from triton.runtime.jit import TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

FAR_BYTES = 1 << 30
"""An address that is farther away belongs to no argument."""
NEAR_BYTES = 1 << 20
"""Loads that are not farther outside happen: what is there is of no use, but mostly harmless."""

_LIBRARIES = (triton.__path__[0] + "/", str(Path(np.__file__).parent) + "/", str(Path(__file__).parents[1]) + "/")


class OutsideMemory(RuntimeError):
    """A kernel accesses memory outside of its tensors, as a GPU may refuse with "an illegal memory access"."""


class Extent(Protocol):
    """Memory of a launch, from an address to the one after its last byte. name: that of the argument it belongs to."""

    @property
    def name(self) -> str: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


class _Storage(NamedTuple):
    name: str
    start: int
    end: int


def mend() -> None:
    """Guard the memory accesses of this process. Call once."""
    interpreter._interpreter = _GuardedAccess(interpreter._interpreter)


def begin(arguments: dict[str, Any]) -> None:
    """Let the kernels from now on access the memory of these arguments."""
    storages: dict[int, _Storage] = {}
    # whoever watches the replacement function must not take this for its work
    with torch._C.DisableTorchFunction():
        for argument, value in arguments.items():
            for name, tensor in tensors_in(argument, value):
                storage = tensor.untyped_storage()
                start = storage.data_ptr()
                known = storages.get(start)
                both = name if known is None else f"{known.name} or {name}"
                storages[start] = _Storage(both, start, start + storage.nbytes())
    _held[:] = storages.values()


_held: list[_Storage] = []
"""The memory of the present launch."""


def tensors_in(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The tensors in an argument of a launch, with their names."""
    if isinstance(value, tuple | list):
        for index, each in enumerate(value):
            yield from tensors_in(f"{name}[{index}]", each)
    elif isinstance(value, TensorDescriptor | TensorWrapper):
        yield from tensors_in(name, value.base)
    elif hasattr(value, "untyped_storage"):
        yield name, value


def outside(addresses: np.ndarray, size: int, doing: str, extents: Sequence[Extent]) -> tuple[str, str]:
    """Describe accesses outside of all extents: which one is nearest, and a sentence without its subject.

    doing: a verb. size: of each element, in bytes."""
    nearest: list[tuple[int, str, str]] = []
    for address in {int(addresses.min()), int(addresses.max())}:
        sides = [
            (each.start - address, each.name, "before the first")
            if address < each.start
            else (address + size - each.end, each.name, "after the last")
            for each in extents
        ]
        nearest += sorted(sides)[:1]
    far, name, side = max(nearest, default=(FAR_BYTES, "", ""))
    if far >= FAR_BYTES:
        return "", f"{doing} at an address that belongs to none of its arguments"
    return name, f"{doing} outside {name}, up to {far} bytes {side} byte of its memory"


def place_text(place: Sequence[int]) -> str:
    """A program's place in the grid, as "(3, 0, 0)"."""
    return f"({', '.join(map(str, place))})"


def kernel_line() -> tuple[str, int] | None:
    """The file's name and the line that the kernel has reached. None: no kernel runs."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((*_LIBRARIES, "<")):
        frame = frame.f_back
    return (Path(frame.f_code.co_filename).name, frame.f_lineno) if frame is not None else None


class NativeAccess:
    """Stands for Triton's native module of memory accesses. plain: does what this does not."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)


class _GuardedAccess(NativeAccess):
    """Refuses accesses outside the memory of a launch."""

    def load(self, pointers: Any, mask: Any, other: Any, kind: Any) -> Any:
        guard(pointers, mask, np.dtype(kind).itemsize, "loads", NEAR_BYTES)
        return self._plain.load(pointers, mask, other, kind)

    def store(self, pointers: Any, values: Any, mask: Any) -> Any:
        guard(pointers, mask, values.dtype.itemsize, "stores")
        return self._plain.store(pointers, values, mask)

    def atomic_rmw(self, operation: Any, pointers: Any, values: Any, mask: Any, semantic: Any) -> Any:
        guard(pointers, mask, values.dtype.itemsize, "changes memory")
        return self._plain.atomic_rmw(operation, pointers, values, mask, semantic)

    def atomic_cas(self, pointers: Any, expected: Any, values: Any, semantic: Any) -> Any:
        guard(pointers, np.True_, values.dtype.itemsize, "changes memory")
        return self._plain.atomic_cas(pointers, expected, values, semantic)


def _in_one(addresses: np.ndarray, size: int, near: int) -> bool:
    """Whether all elements at these addresses lie in one of the launch's tensors, or so many bytes beside it."""
    if not addresses.size:
        return True
    first, last = int(addresses.min()), int(addresses.max()) + size
    return any(each.start - near <= first and last <= each.end + near for each in _held)


def guard(pointers: np.ndarray, mask: Any, size: int, doing: str, near: int = 0) -> None:
    """Raise OutsideMemory if a lane of the mask is farther than so many bytes outside of the launch's memory."""
    # mostly even the lanes that the mask leaves out are inside
    if _in_one(pointers, size, near):
        return
    addresses = pointers[np.broadcast_to(np.asarray(mask, np.bool_), pointers.shape)]
    if _in_one(addresses, size, near):
        return
    inside = np.zeros(addresses.shape, np.bool_)
    for each in _held:
        inside |= (addresses >= max(0, each.start - near)) & (addresses + np.uint64(size) <= each.end + near)
    if not inside.all():
        _, text = outside(addresses[~inside], size, doing, _held)
        place = interpreter.interpreter_builder.grid_idx
        raise OutsideMemory(f"program {place_text(place)} {text}")
