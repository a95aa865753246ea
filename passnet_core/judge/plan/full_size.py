"""Launch the kernels of a call at sizes at which no call is made: few programs of each launch, in memory that is not
there. Loads give zeros.

The rest of the graph runs on fake tensors, and tells what is called with arguments of which form. No values are
compared. A kernel that leaves the memory of its launch at these sizes, as with offsets of 32 bits, raises
OutsideMemory. How much of its memory all programs can read and store is compared with other sizes: a grid that ends
too early leaves out a part of an argument, or of what the next launch reads, that none left out there."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
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
from passnet_core.judge.gpu_on_cpu.sampling import Sampling
from passnet_core.judge.gpu_on_cpu.work import InterpreterWork
from passnet_core.judge.numerics.bits import extent
from passnet_core.judge.plan.describe import distinct_elements, flat, tensors_of
from passnet_core.judge.plan.execute import Json, PlanMemory, Plans, question, tensors_in
from passnet_core.judge.plan.record import Indescribable
from passnet_core.judge.plan.wanted import PlanWanted
from passnet_core.records import TensorForm

APART = 1 << 42
"""How many bytes lie between the pieces of memory of a launch: offsets of 32 bits lead from none to another."""
READS, STORES = "reads", "stores"
Use = tuple[str, int]
"""What is done to a piece of memory: READS or STORES, and the number of the memory."""


REFUSED = (OutsideMemory, launching.LaunchRefused)
"""What a GPU would refuse as well."""


class NotLaunched(Exception):
    """The call cannot be made at these sizes."""


@dataclass
class FullSizeLaunches:
    """Stands in for the replacement functions. work: what the interpreter has done so far.

    unfilled: results that all programs together cannot fill, if each stores as much as the one of those that ran which
    stored most, and what they cannot read or store, although they could at all sizes before; in words. covered: as in
    Plans, for this call. calls: how many calls of replacement functions there were."""

    plans: Plans
    work: InterpreterWork
    unfilled: list[str] = field(default_factory=list)
    covered: dict[str, bool] = field(default_factory=dict)
    calls: int = 0

    def call(self, run: Callable[[list[Any]], Any], forms: Sequence[TensorForm | int]) -> None:
        """Run the graph on inputs of these forms. Raises PlanWanted, REFUSED, and NotLaunched."""
        try:
            with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
                run([_fake(each) if isinstance(each, TensorForm) else each for each in forms])
        except PlanWanted:
            raise
        except Exception as error:
            self.plans.covered.append({})
            if isinstance(error, REFUSED):
                raise
            # what a tensor holds decides, or an operation knows no fake tensors
            raise NotLaunched from error
        before = self.plans.covered
        missing = [what for what, whole in self.covered.items() if not whole]
        self.unfilled += [
            f"{what}, but not all of it, as at smaller sizes"
            for what in missing
            if before and all(each.get(what) for each in before)
        ]
        before.append(self.covered)

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
            self.calls += 1
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                memory = _VoidMemory(self.plans, plan, arguments, len(constants))
                access = VoidAccess(interpreter._interpreter)
                programs = _FewPrograms(self.work, access)
                launching.watchers.append(programs)
                try:
                    with mock.patch.object(interpreter, "_interpreter", access):
                        memory.launch_all(plan["steps"])
                    together = memory.together(plan, programs.launches)
                    self.unfilled += memory.unfilled(plan, together)
                    for what, whole in memory.covered(programs.launches, together):
                        self.covered[f"call {self.calls}: {what}"] = whole
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
    """Loads zeros and stores nothing, within the memory of a launch; refuses the rest.

    used: how many bytes the present program has read and stored."""

    def __init__(self, plain: Any) -> None:
        super().__init__(plain)
        self.used: Counter[Use] = Counter()

    def _note(self, doing: str, pointers: Any, count: int) -> None:
        # a lane that a mask leaves out may lie before the memory
        self.used[doing, (int(pointers.flat[0]) + APART // 2) // APART] += count

    def load(self, pointers: Any, mask: Any, other: Any, kind: Any) -> Any:
        guard(pointers, mask, np.dtype(kind).itemsize, "loads", NEAR_BYTES)
        self._note(READS, pointers, _lanes(pointers, mask) * np.dtype(kind).itemsize)
        return np.zeros(pointers.shape, kind)

    def store(self, pointers: Any, values: Any, mask: Any) -> Any:
        guard(pointers, mask, values.dtype.itemsize, "stores")
        self._note(STORES, pointers, _lanes(pointers, mask) * values.dtype.itemsize)

    def atomic_rmw(self, operation: Any, pointers: Any, values: Any, mask: Any, semantic: Any) -> Any:
        guard(pointers, mask, values.dtype.itemsize, "changes memory")
        self._note(STORES, pointers, APART)
        return np.zeros_like(values)

    def atomic_cas(self, pointers: Any, expected: Any, values: Any, semantic: Any) -> Any:
        guard(pointers, np.True_, values.dtype.itemsize, "changes memory")
        self._note(STORES, pointers, APART)
        return expected


def _lanes(pointers: Any, mask: Any) -> int:
    """How many lanes an access has; where the zeros leave out everything, numbers may not."""
    return int(np.broadcast_to(mask, pointers.shape).sum()) or int(pointers.size)


class _FewPrograms(Sampling):
    """Some programs of each launch. launches: for each its kernel, and how many bytes all its programs can read and
    store at most, if each does as much as the one of those that ran which did most."""

    def __init__(self, work: InterpreterWork, access: VoidAccess) -> None:
        super().__init__(work, random.Random())
        self.access = access
        self.launches: list[tuple[str, Counter[Use]]] = []

    def begin(self, name: str, grid: launching.Place, arguments: dict[str, Any]) -> None:
        self.launches.append((name, Counter()))

    def run(self, places: Sequence[launching.Place], program: Callable[[launching.Place], None]) -> None:
        most: Counter[Use] = Counter()
        for place in self.chosen(places):
            self.access.used.clear()
            program(place)
            most |= self.access.used
        _, reach = self.launches[-1]
        reach.update({use: size * len(places) for use, size in most.items()})


class _VoidMemory(PlanMemory):
    """The memory of a plan that is executed on arguments of this form."""

    def __init__(self, plans: Plans, plan: Json, arguments: Sequence[Any], constants: int) -> None:
        super().__init__(plans)
        sizes = {f"made {index}": int(told["bytes"]) for index, told in enumerate(plan["made"])}
        self.wholes = dict(sizes)
        """How many bytes there are to read and store of what is made and of arguments."""
        for name, value in tensors_in("argument", arguments):
            sizes[name] = value.element_size() * extent(value.shape, value.stride())
            distinct = distinct_elements({"shape": value.shape, "strides": value.stride()})
            self.wholes[name] = value.element_size() * distinct
        sizes |= {f"constant {index}": APART for index in range(constants)}
        self.storages = {name: VoidStorage(APART * (2 * place + 2), sizes[name]) for place, name in enumerate(sizes)}

    def launch_all(self, steps: Sequence[Json]) -> None:
        """The launches among the steps; of an autotuner's choices those of the first."""
        for step in steps:
            if "launch" in step:
                self.launch(step)
            elif "choices" in step:
                self.launch_all(step["choices"][0])

    def together(self, plan: Json, launches: Sequence[tuple[str, Counter[Use]]]) -> Counter[Use]:
        """How many bytes all steps together can read and store."""
        found = sum((reach for _, reach in launches), Counter[Use]())
        for step in flat(plan["steps"]):
            for doing, place in ((READS, step.get("copy")), (STORES, step.get("to", step.get("fill")))):
                if place:
                    found[doing, self._number(place["tensor"]["in"])] += _bytes_of(place["tensor"])
        return found

    def unfilled(self, plan: Json, together: Counter[Use]) -> Iterator[str]:
        """Say which results nothing can fill."""
        for index, place in enumerate(tensors_of(plan["returned"])):
            kind, _, which = place["in"].partition(" ")
            if kind == "made" and plan["made"][int(which)]["fill"] is None:
                known, size = together[STORES, self._number(place["in"])], _bytes_of(place)
                if known < size:
                    yield f"result {index} of {size} bytes, of which all programs together store {known}"

    def covered(
        self, launches: Sequence[tuple[str, Counter[Use]]], together: Counter[Use]
    ) -> Iterator[tuple[str, bool]]:
        """What each launch, and all steps together, read and store, in words, and whether it can be all of it. What no
        program touched here is left out: a condition may decide."""
        doers = [(f"launch {index} of {len(launches)}, {name},", reach) for index, (name, reach) in enumerate(launches)]
        for who, reach in (*doers, ("the function", together)):
            for name, whole in self.wholes.items():
                for doing in (READS, STORES):
                    if known := reach[doing, self._number(name)]:
                        yield f"{who} {doing} {name}", known >= whole

    def _number(self, name: str) -> int:
        """The number of this memory."""
        return self.storages[name].address // APART

    def tensor(self, place: Json) -> Any:
        shape, strides = torch.Size(map(int, place["shape"])), tuple(map(int, place["strides"]))
        storage = self.storages[place["in"]]
        return VoidTensor(storage, getattr(torch, place["dtype"]), shape, strides, int(place["offset"]))


def _bytes_of(place: Json) -> int:
    """How many bytes a tensor has; those that lie in one place are counted once."""
    return distinct_elements(place) * int(getattr(torch, place["dtype"]).itemsize)


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
