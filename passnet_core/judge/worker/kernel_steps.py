"""Record which elements of which tensors the programs of a bundle's kernels load and store, access by access.

This is done in Triton's interpreter, in a candidate worker that does nothing else. The candidate reports this about
itself, so the referee treats and shows it as a claim. Of a large grid only a few programs run, the last one among them,
where masks matter most."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from unittest import mock

import numpy as np
import torch
import triton.runtime.interpreter as interpreter

from passnet_core.judge.gpu_on_cpu import emulation, launching
from passnet_core.judge.gpu_on_cpu.guarded_memory import FAR_BYTES, NativeAccess, kernel_line, tensors_in
from passnet_core.judge.gpu_on_cpu.launching import Place, Watcher
from passnet_core.judge.gpu_on_cpu.sampling import ZeroedMemory
from passnet_core.judge.protocol.messages import (
    MOST_ACCESSES,
    MOST_ARGUMENTS,
    MOST_LANES,
    MOST_LAUNCHES,
    MOST_PROGRAMS,
    MOST_TRACED_LANES,
    VALUE_CHARACTERS,
)
from passnet_core.records import AccessKind, MemoryAccess, TracedLaunch, TracedProgram, TracedTensor

WHOLE = 256
"""Of a grid of so many programs all run, so that later kernels find complete results."""
RUNNING_S = 10.0
"""After how many seconds no further program of a launch runs that is not needed."""
NAME_CHARACTERS = 100


def traced(call: Callable[[], object], inputs: Mapping[str, Any]) -> tuple[list[TracedLaunch], int]:
    """The first launches of a call, and how many more there were. inputs: the call's, by their names in the subgraph.

    Raises what the call raises, unless programs were left out: the call then works on incomplete results."""
    recorder = _Recorder({name: each for name, each in inputs.items() if isinstance(each, torch.Tensor)})
    with _recording(recorder):
        try:
            call()
        except Exception:  # candidate code
            if all(each.ran == each.size for each in recorder.launches):
                raise
    return recorder.launches, recorder.left_out


@contextlib.contextmanager
def _recording(recorder: "_Recorder") -> Iterator[None]:
    """Tell the recorder of every access in this context, and let it choose the programs of each launch."""
    emulation.mend()
    with contextlib.ExitStack() as undoing:
        undoing.enter_context(ZeroedMemory())
        seen = _SeenAccess(interpreter._interpreter, recorder)
        undoing.enter_context(mock.patch.object(interpreter, "_interpreter", seen))
        undoing.enter_context(mock.patch.object(emulation, "undefined", seen.undefined(emulation.undefined)))
        launching.watchers.append(recorder)
        undoing.callback(launching.watchers.remove, recorder)
        yield


class _Recorder(Watcher):
    """Keeps what the programs of launches access."""

    def __init__(self, inputs: Mapping[str, torch.Tensor]) -> None:
        self.inputs = inputs
        self.launches: list[TracedLaunch] = []
        self.left_out = 0
        self.left = MOST_TRACED_LANES
        """How many lanes all launches to come may keep."""
        self.accesses: list[MemoryAccess] | None = None
        """Those of the program that runs; None: it is not recorded."""
        self.further = self.kept = self.most = 0
        """Of that program: how many accesses are not kept, how many lanes are, and how many may be."""
        self.tensors: dict[str, torch.Tensor] = {}
        self.storages: list[tuple[int, int]] = []

    def begin(self, name: str, grid: Place, arguments: dict[str, Any]) -> None:
        self.name, self.grid = name, grid
        self.tensors, constants = {}, []
        for argument, value in arguments.items():
            found = dict(tensors_in(argument, value))
            self.tensors |= found
            if not found:
                constants.append((argument[:NAME_CHARACTERS], _constant(value)))
        self.constants = tuple(constants[:MOST_ARGUMENTS])
        storages = {each.untyped_storage().data_ptr(): each.untyped_storage() for each in self.tensors.values()}
        self.storages = [(start, start + each.nbytes()) for start, each in storages.items()]
        self.shown = {name[:NAME_CHARACTERS]: each for name, each in list(self.tensors.items())[:MOST_ARGUMENTS]}
        self.elements = {name: _Elements(each) for name, each in self.shown.items()}

    def run(self, places: Sequence[Place], program: Callable[[Place], None]) -> None:
        recorded: list[TracedProgram] = []
        recording = not launching.trials and len(self.launches) < MOST_LAUNCHES
        ran, until, left, first = 0, time.monotonic() + RUNNING_S, self.left // 2, 0
        try:
            for number in _chosen(len(places)):
                needed = ran < 2
                if not needed and time.monotonic() > until:
                    break
                if recording and len(recorded) < MOST_PROGRAMS and (needed or left >= first):
                    self.accesses, self.further, self.kept, self.most = [], 0, 0, left if ran else left // 2
                program(places[number])
                ran += 1
                if self.accesses is not None:
                    recorded.append(TracedProgram(places[number], tuple(self.accesses), self.further))
                    left, self.left = left - self.kept, self.left - self.kept
                    first = first or self.kept
                    self.accesses = None
        finally:
            self.accesses = None
            if recording:
                self._keep(recorded, ran)
            elif not launching.trials:
                self.left_out += 1

    def _keep(self, recorded: list[TracedProgram], ran: int) -> None:
        tensors = tuple(self._described(name, each) for name, each in self.shown.items())
        recorded.sort(key=lambda each: each.ids)
        name = self.name[:NAME_CHARACTERS]
        self.launches.append(TracedLaunch(name, self.grid, self.constants, tensors, tuple(recorded), ran))

    def _described(self, name: str, tensor: torch.Tensor) -> TracedTensor:
        address = tensor.data_ptr()
        held = (each for each, given in self.inputs.items() if 0 <= address - given.data_ptr() < max(given.nbytes, 1))
        return TracedTensor(
            name=name,
            shape=tuple(tensor.shape),
            strides=tuple(tensor.stride()),
            dtype=str(tensor.dtype).removeprefix("torch."),
            source=next(held, "")[:NAME_CHARACTERS],
        )

    # accesses

    def inside(self, pointers: np.ndarray, lanes: np.ndarray, size: int) -> np.ndarray:
        """These lanes without those that would access memory of no tensor of the launch."""
        held = np.zeros(pointers.shape, np.bool_)
        for start, end in self.storages:
            held |= (pointers >= start) & (pointers + np.uint64(size) <= end)
        return lanes & held

    def note(self, kind: AccessKind, pointers: np.ndarray, lanes: np.ndarray, values: np.ndarray, spare: bool) -> None:
        """Keep an access of the program that runs. lanes: those that the mask does not leave out. spare: whether the
        values of the others are not defined."""
        if self.accesses is None:
            return
        count = min(pointers.size, MOST_LANES)
        place = kernel_line()
        if len(self.accesses) >= MOST_ACCESSES or self.kept + count > self.most or place is None:
            self.further += 1
            return
        self.kept += count
        masked = ~lanes.reshape(-1)[:count]
        tensor, elements = self._located(pointers.reshape(-1)[:count], ~masked)
        dtype = self.elements[tensor].dtype if tensor else ""
        texts = _texts(np.broadcast_to(values, pointers.shape).reshape(-1)[:count], dtype)
        hidden = masked & spare
        access = MemoryAccess(
            kind=kind,
            file=place[0],
            line=place[1],
            tensor=tensor,
            shape=tuple(pointers.shape),
            elements=tuple(elements.tolist()),
            masked=tuple(masked.tolist()),
            values=tuple("?" if hide else text for hide, text in zip(hidden.tolist(), texts)),
        )
        self.accesses.append(access)

    def _located(self, addresses: np.ndarray, lanes: np.ndarray) -> tuple[str, np.ndarray]:
        """The tensor that most lanes address, or else the last one before them, and the element of each lane."""
        found = {name: each.at(addresses) for name, each in self.elements.items()}
        chosen = max(found, key=lambda name: _hits(found[name], lanes), default="")
        if chosen and _hits(found[chosen], lanes) == (0, 0):
            first = int(addresses[0])
            before = {name: first - each.start for name, each in self.elements.items()}
            near = [name for name, distance in before.items() if 0 <= distance < FAR_BYTES]
            chosen = min(near, key=lambda name: before[name], default="")
        return chosen, found[chosen] if chosen else np.full(addresses.shape, -1)


def _hits(elements: np.ndarray, lanes: np.ndarray) -> tuple[int, int]:
    """How many lanes, of those in use and of all, address an element."""
    known = elements >= 0
    return int(np.count_nonzero(known & lanes)), int(np.count_nonzero(known))


def _chosen(count: int) -> Sequence[int]:
    """The numbers of the programs that run: the first one, the last one, and those after the first."""
    if count < 3:
        return range(count)
    return [0, count - 1, *range(1, count - 1 if count <= WHOLE else MOST_PROGRAMS - 1)]


class _Elements:
    """Finds the elements of a tensor by their addresses."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.start, self.itemsize = tensor.data_ptr(), tensor.element_size()
        self.dtype = str(tensor.dtype).removeprefix("torch.")
        self.empty = tensor.numel() == 0
        weights, weight = [], 1
        for size in reversed(tensor.shape):
            weights.append(weight)
            weight *= size
        axes = zip(tensor.stride(), tensor.shape, reversed(weights))
        self.axes = sorted((each for each in axes if each[0] and each[1] > 1), reverse=True)

    def at(self, addresses: np.ndarray) -> np.ndarray:
        """The row-major position of the element at each address; -1: there is none."""
        left, inner = np.divmod(addresses.astype(np.int64) - self.start, self.itemsize)
        known = (inner == 0) & (left >= 0) & (not self.empty)
        found = np.zeros(addresses.shape, np.int64)
        for stride, size, weight in self.axes:
            index = left // stride
            known &= index < size
            found += index * weight
            left = left - index * stride
        return np.where(known & (left == 0), found, -1)


def _constant(value: Any) -> str:
    try:
        return str(getattr(value, "value", value))[:VALUE_CHARACTERS]
    except Exception:  # its __str__ is candidate code
        return type(value).__name__[:VALUE_CHARACTERS]


def _texts(values: np.ndarray, dtype: str) -> list[str]:
    """The values as texts. dtype: that of the tensor in which they lie, which numpy may not know."""
    if dtype == "bfloat16" and values.dtype == np.uint16:
        values = emulation.from_bits(values)
    elif dtype.startswith("float8") and values.dtype == np.uint8:
        values = torch.from_numpy(values.copy()).view(getattr(torch, dtype)).to(torch.float32).numpy()
    numbers = values.tolist()
    return [f"{each:.6g}" if isinstance(each, float) else str(each)[:VALUE_CHARACTERS] for each in numbers]


class _SeenAccess(NativeAccess):
    """Has each access recorded."""

    def __init__(self, plain: Any, recorder: _Recorder) -> None:
        super().__init__(plain)
        self._recorder = recorder
        self._spare = False
        """Whether the next load leaves the lanes that it leaves out undefined."""

    def undefined(self, fill: Callable[..., Any]) -> Callable[..., Any]:
        """What gives a load its undefined values, and remembers that it did."""

        def filled(*args: Any) -> Any:
            self._spare = True
            return fill(*args)

        return filled

    def load(self, pointers: Any, mask: Any, other: Any, kind: Any) -> Any:
        lanes = np.broadcast_to(np.asarray(mask), pointers.shape)
        allowed = self._recorder.inside(pointers, lanes, np.dtype(kind).itemsize)
        found = self._plain.load(pointers, allowed, other, kind)
        self._recorder.note(AccessKind.LOAD, pointers, lanes, found, self._spare)
        self._spare = False
        return found

    def store(self, pointers: Any, values: Any, mask: Any) -> Any:
        lanes = np.broadcast_to(np.asarray(mask), pointers.shape)
        self._recorder.note(AccessKind.STORE, pointers, lanes, values, False)
        return self._plain.store(pointers, values, self._recorder.inside(pointers, lanes, values.dtype.itemsize))

    def atomic_rmw(self, operation: Any, pointers: Any, values: Any, mask: Any, semantic: Any) -> Any:
        lanes = np.broadcast_to(np.asarray(mask), pointers.shape)
        self._recorder.note(AccessKind.ATOMIC, pointers, lanes, values, False)
        allowed = self._recorder.inside(pointers, lanes, values.dtype.itemsize)
        return self._plain.atomic_rmw(operation, pointers, values, allowed, semantic)

    def atomic_cas(self, pointers: Any, expected: Any, values: Any, semantic: Any) -> Any:
        everywhere = np.ones(pointers.shape, np.bool_)
        self._recorder.note(AccessKind.ATOMIC, pointers, everywhere, values, False)
        if not self._recorder.inside(pointers, everywhere, values.dtype.itemsize).all():
            return expected
        return self._plain.atomic_cas(pointers, expected, values, semantic)
