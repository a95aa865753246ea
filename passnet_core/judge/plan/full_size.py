"""Launch the kernels of a call at sizes at which no call is made: few programs of each launch, in memory that is not
there. Loads give zeros.

The rest of the graph runs on fake tensors, and tells what is called with arguments of which form. Nothing is compared.
A kernel that leaves the memory of its launch at these sizes, as with offsets of 32 bits, raises OutsideMemory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import torch
import triton.runtime.interpreter as interpreter
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import _disable_current_modes

from passnet_core.judge.gpu_on_cpu import launching
from passnet_core.judge.gpu_on_cpu.guarded_memory import NEAR_BYTES, NativeAccess, OutsideMemory, guard
from passnet_core.judge.gpu_on_cpu.needs_gpu import root_of
from passnet_core.judge.plan.execute import Json, PlanMemory, Plans, question, tensors_in
from passnet_core.judge.plan.record import Indescribable
from passnet_core.judge.plan.wanted import PlanWanted
from passnet_core.records import TensorForm

APART = 1 << 42
"""How many bytes lie between the pieces of memory of a launch: offsets of 32 bits lead from none to another."""


REFUSED = (OutsideMemory, launching.LaunchRefused)
"""What a GPU would refuse as well."""


class NotLaunched(Exception):
    """The call cannot be made at these sizes."""


@dataclass
class FullSizeLaunches:
    """Stands in for the replacement functions. chosen: chooses the programs of a launch that run."""

    plans: Plans
    chosen: launching.Watcher

    def call(self, run: Callable[[list[Any]], Any], forms: Sequence[TensorForm | int]) -> None:
        """Run the graph on inputs of these forms. Raises PlanWanted, REFUSED, and NotLaunched."""
        try:
            with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
                run([_fake(each) if isinstance(each, TensorForm) else each for each in forms])
        except (PlanWanted, *REFUSED):
            raise
        except Exception as error:
            # what a tensor holds decides, or an operation knows no fake tensors
            raise NotLaunched from error

    def functions(self, keys: Sequence[str]) -> dict[str, Callable[..., Any]]:
        """A stand-in for each replacement function, by key."""
        return {key: self._standing_in(key) for key in keys}

    def _standing_in(self, key: str) -> Callable[..., Any]:
        def stand_in(*arguments: Any) -> Any:
            try:
                asked = question(key, arguments)
            except Indescribable as error:
                raise NotLaunched from error
            if asked not in self.plans.known:
                raise PlanWanted(asked)
            plan, constants = self.plans.known[asked]
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                memory = _VoidMemory(self.plans, plan, arguments, len(constants))
                launching.watchers.append(self.chosen)
                access = VoidAccess(interpreter._interpreter)
                try:
                    with mock.patch.object(interpreter, "_interpreter", access):
                        memory.launch_all(plan["steps"])
                except Exception as error:
                    if isinstance(root := root_of(error), REFUSED):
                        raise type(root)(f"{root}, at the recorded sizes") from error
                    # too much work, or something else that the zeros may have led to
                    raise NotLaunched from error
                finally:
                    launching.watchers.pop()
            return _returned(plan["returned"], dict(tensors_in("argument", arguments)))

        return stand_in


@dataclass(frozen=True)
class VoidStorage:
    """Memory that has an address and a size, and is not there."""

    address: int
    size: int

    def data_ptr(self) -> int:
        return self.address

    def nbytes(self) -> int:
        return self.size

    def cpu(self) -> "VoidStorage":
        return self

    def copy_(self, other: "VoidStorage") -> None:
        """Do nothing: nothing is there."""


@dataclass(frozen=True)
class VoidTensor:
    """A tensor in such memory, as far as a launch in Triton's interpreter asks. strides: in elements. offset: in
    bytes."""

    storage: VoidStorage
    dtype: torch.dtype
    shape: torch.Size
    strides: tuple[int, ...]
    offset: int

    def data_ptr(self) -> int:
        return self.storage.address + self.offset

    def untyped_storage(self) -> VoidStorage:
        return self.storage

    def storage_offset(self) -> int:
        return self.offset // self.dtype.itemsize

    def element_size(self) -> int:
        return self.dtype.itemsize

    def size(self) -> torch.Size:
        return self.shape

    def stride(self) -> tuple[int, ...]:
        return self.strides

    def new_empty(self, *sizes: int, device: str) -> "VoidTensor":
        return self

    def set_(self, *place: Any) -> "VoidTensor":
        return self


class VoidAccess(NativeAccess):
    """Loads zeros and stores nothing, within the memory of a launch; refuses the rest."""

    def load(self, pointers: Any, mask: Any, other: Any, kind: Any) -> Any:
        guard(pointers, mask, np.dtype(kind).itemsize, "loads", NEAR_BYTES)
        return np.zeros(pointers.shape, kind)

    def store(self, pointers: Any, values: Any, mask: Any) -> Any:
        guard(pointers, mask, values.dtype.itemsize, "stores")

    def atomic_rmw(self, operation: Any, pointers: Any, values: Any, mask: Any, semantic: Any) -> Any:
        guard(pointers, mask, values.dtype.itemsize, "changes memory")
        return np.zeros_like(values)

    def atomic_cas(self, pointers: Any, expected: Any, values: Any, semantic: Any) -> Any:
        guard(pointers, np.True_, values.dtype.itemsize, "changes memory")
        return expected


class _VoidMemory(PlanMemory):
    """The memory of a plan that is executed on arguments of this form."""

    def __init__(self, plans: Plans, plan: Json, arguments: Sequence[Any], constants: int) -> None:
        super().__init__(plans)
        sizes = {f"made {index}": int(told["bytes"]) for index, told in enumerate(plan["made"])}
        for name, value in tensors_in("argument", arguments):
            reach = 1 + sum((size - 1) * stride for size, stride in zip(value.shape, value.stride()))
            sizes[name] = value.element_size() * (0 if 0 in value.shape else reach)
        sizes |= {f"constant {index}": APART for index in range(constants)}
        self.storages = {name: VoidStorage(APART * (2 * place + 2), sizes[name]) for place, name in enumerate(sizes)}

    def launch_all(self, steps: Sequence[Json]) -> None:
        """The launches among the steps; of an autotuner's choices those of the first."""
        for step in steps:
            if "launch" in step:
                self.launch(step)
            elif "choices" in step:
                self.launch_all(step["choices"][0])

    def tensor(self, place: Json) -> Any:
        shape, strides = torch.Size(map(int, place["shape"])), tuple(map(int, place["strides"]))
        storage = self.storages[place["in"]]
        return VoidTensor(storage, getattr(torch, place["dtype"]), shape, strides, int(place["offset"]))


def _fake(form: TensorForm) -> torch.Tensor:
    return torch.empty(form.shape, dtype=getattr(torch, form.dtype))


def _returned(described: Json, arguments: dict[str, torch.Tensor]) -> Any:
    """What a plan returns, as fake tensors."""
    match described:
        case {"tensor": place}:
            if place["in"] in arguments:
                return arguments[place["in"]].as_strided(place["shape"], place["strides"])
            dtype = getattr(torch, place["dtype"])
            return torch.empty_strided(place["shape"], place["strides"], dtype=dtype)
        case {"tuple": list(items)}:
            return tuple(_returned(each, arguments) for each in items)
        case {"list": list(items)}:
            return [_returned(each, arguments) for each in items]
    raise NotLaunched
