"""Operations of torch, as they happen, and who asks for them."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import triton
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_leaves

from passnet_core.judge.gpu_on_cpu.dispatching import EagerDispatchMode
from passnet_core.judge.protocol.operation_names import bare

Function = Callable[..., Any]
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
COPIES = ("aten::copy", "aten::_to_copy", "aten::clone", "aten::cat", "aten::stack")
MOST_DEPTH = 80
PLAIN = (torch.Tensor, torch.nn.Parameter, FakeTensor, int, float, bool, type(None))
"""The types of what a replacement function may return, alone or in a tuple or list."""


class NotPlain(TypeError):
    """A replacement function returned something else than plain tensors."""


def require_plain(result: Any) -> None:
    """Raise NotPlain unless this is a plain tensor, a number or None, or a plain tuple or list of these."""
    for each in result if type(result) in (tuple, list) else (result,):
        if type(each) not in PLAIN:
            raise NotPlain(
                f"A replacement function returned {type(each).__module__}.{type(each).__qualname__}. Return plain"
                " tensors (torch.Tensor), alone or in a tuple or list."
            )


@dataclass(frozen=True)
class DispatchedOperation:
    """An operation of torch that has run. caller: the file that asked for it."""

    name: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    result: Any
    caller: str
    remark: str


class DispatchedOperations(EagerDispatchMode):
    """Tells of every operation. A copy to another dtype gets the remark CONVERTS, one of parts of elements PARTS."""

    def __init__(self, told: Callable[[DispatchedOperation], object]) -> None:
        super().__init__()
        self.told = told
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
        self.told(DispatchedOperation(name, args, named, result, caller, remark))
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


def defaults(
    function: Function, names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of the parameters that a launch does not pass. names: of all parameters."""
    parameters = inspect.signature(function).parameters
    left = [name for name in names[len(args) :] if name not in kwargs]
    return {name: value for name in left if (value := parameters[name].default) is not inspect.Parameter.empty}


_TORCH = torch.__path__[0] + "/"
_TRITON = triton.__path__[0] + "/"
_JUDGE = Path(__file__).parents[1]
_OWN = tuple(
    str(_JUDGE / place)
    for place in (
        "gpu_on_cpu/launching.py", "gpu_on_cpu/pretended_device.py", "gpu_on_cpu/strict_memory.py",
        "plan/operations.py", "plan/record.py",
    )
)  # fmt: skip
"""Files of this package whose frames lie between an operation and the one who asks for it."""


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


def asked_by_triton(read: str) -> bool:
    """Whether a read is one that a Triton launch makes itself, and it is Triton that asks."""
    return read in LAUNCH_READS and _calling_file().startswith(_TRITON)


def _is_strided(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided


def _size(tensor: torch.Tensor) -> int:
    """The size of an element; of a complex number, that of its parts."""
    return tensor.element_size() // (2 if tensor.is_complex() else 1)


def _place(tensor: torch.Tensor) -> int:
    # not its address: a fake tensor has none
    return tensor.untyped_storage()._cdata


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
