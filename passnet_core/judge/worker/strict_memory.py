"""Check what interpreted kernels do to memory, since the interpreter runs programs in order, one after the other, and
lets each read and write wherever the process can.

Reported are accesses outside the memory of a launch's tensors, and races: two programs of one launch touch the same
element, at least one of them changes it, and nothing orders them. An atomic operation orders: what a program did before
one that releases is visible to a program after one that acquires, on the same tensor. What each launch wrote is kept
as data. Runs wherever kernels are interpreted; nothing outside the context is changed."""

import contextlib
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import triton
import triton.runtime.interpreter as interpreter
from triton.runtime.jit import TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

from passnet_core.judge.worker import emulation, launching
from passnet_core.judge.worker.launching import Place

Range = tuple[int, int]
"""An address, and the address after the last byte."""

MOST_PROBLEMS = 20
"""Problems that are described per launch."""
MOST_PENDING = 1 << 23
"""Addresses of loads that are kept as they are. Most tensors are only read or only written, and cost no more."""
FAR_BYTES = 1 << 30
"""An address that is farther away belongs to no argument."""

_LIBRARIES = (triton.__path__[0] + "/", str(Path(np.__file__).parent) + "/", str(Path(__file__).parent) + "/")

ACQUIRES = frozenset({"ACQUIRE", "ACQUIRE_RELEASE"})
RELEASES = frozenset({"RELEASE", "ACQUIRE_RELEASE"})


@dataclass(frozen=True)
class LaunchMemory:
    """What one launch did to memory. written: the bytes that its programs stored to, whether they changed or not.
    problems: sentences that name the kernel, the line, the argument and the programs."""

    kernel: str
    grid: Place
    written: tuple[Range, ...]
    problems: tuple[str, ...]


@dataclass
class Memory:
    """What the launches in the context did, in their order."""

    launches: list[LaunchMemory] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        return [problem for launch in self.launches for problem in launch.problems]


@contextlib.contextmanager
def watched(
    on_problem: Callable[[str], object] | None = None,
    *,
    seed: int | None = None,
    extent_of: Callable[[Any], Range] | None = None,
) -> Iterator[Memory]:
    """Check all launches in this context.

    on_problem: called with each problem, where it occurs; an exception that it raises ends the launch. seed: shuffle
    the order of each launch's programs by it; None: as the interpreter runs them. A program that waits for another one
    may wait forever if they are shuffled. extent_of: the part of a tensor's storage that belongs to it; None: all."""
    emulation.mend()
    checker = _Checker(on_problem, seed, extent_of or _whole)
    plain = interpreter._interpreter
    interpreter._interpreter = _CheckedAccess(plain, checker)
    launching.watchers.append(checker)
    try:
        yield checker.memory
    finally:
        launching.watchers.remove(checker)
        interpreter._interpreter = plain


def _whole(storage: Any) -> Range:
    start = storage.data_ptr()
    return start, start + storage.nbytes()


# --- arguments -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Argument:
    """A tensor among the arguments of a launch."""

    name: str
    start: int
    end: int
    itemsize: int


def _tensors(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The tensors in an argument, with their names."""
    if isinstance(value, tuple | list):
        for index, each in enumerate(value):
            yield from _tensors(f"{name}[{index}]", each)
    elif isinstance(value, TensorDescriptor | TensorWrapper):
        yield from _tensors(name, value.base)
    elif hasattr(value, "untyped_storage"):
        yield name, value


class _Cells:
    """What the programs of a launch did to one storage, by cell: so many bytes as its smallest elements have."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.arguments: list[_Argument] = []
        self.size = 16
        self.pending: list[tuple[int, int, np.ndarray]] = []
        self.writers: np.ndarray | None = None
        self.write_times: np.ndarray = np.empty(0)
        self.changed: np.ndarray = np.empty(0)
        self.atomics: np.ndarray | None = None
        self.atomic_times: np.ndarray = np.empty(0)
        self.readers: np.ndarray | None = None
        self.read_times: np.ndarray = np.empty(0)
        self.other_readers: np.ndarray = np.empty(0)
        self.other_times: np.ndarray = np.empty(0)

    @property
    def count(self) -> int:
        return -(-(self.end - self.start) // self.size)

    def indices(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """The cells of elements of this size at these addresses."""
        if size < self.size:
            self._divide(size)
        found = ((addresses - np.uint64(self.start)) // np.uint64(self.size)).astype(np.int64)
        if size > self.size:
            found = (found[:, None] + np.arange(size // self.size)).reshape(-1)
        return found

    def _divide(self, size: int) -> None:
        """Use smaller cells from now on."""
        self.fold()
        times, self.size = self.size // size, size
        for name in (
            "writers", "write_times", "changed", "atomics", "atomic_times", "readers", "read_times", "other_readers",
            "other_times",
        ):  # fmt: skip
            held = getattr(self, name)
            if held is not None:
                setattr(self, name, np.repeat(held, times)[: self.count] if len(held) else held)

    def written(self) -> np.ndarray:
        """The arrays of writers, filled with -1 at first."""
        if self.writers is None:
            self.writers = np.full(self.count, -1, np.int32)
            self.write_times = np.zeros(self.count, np.int32)
            self.changed = np.zeros(self.count, np.bool_)
        return self.writers

    def counted(self) -> np.ndarray:
        """The programs of the last atomic operations."""
        if self.atomics is None:
            self.atomics = np.full(self.count, -1, np.int32)
            self.atomic_times = np.zeros(self.count, np.int32)
        return self.atomics

    def fold(self) -> None:
        """Note the pending loads in the cells: the last two different programs that read each."""
        if self.pending and self.readers is None:
            self.readers, self.other_readers = (np.full(self.count, -1, np.int32) for _ in range(2))
            self.read_times, self.other_times = (np.zeros(self.count, np.int32) for _ in range(2))
        for program, time, indices in self.pending:
            assert self.readers is not None
            before = self.readers[indices]
            moved = indices[(before != program) & (before >= 0)]
            self.other_readers[moved] = self.readers[moved]
            self.other_times[moved] = self.read_times[moved]
            self.readers[indices] = program
            self.read_times[indices] = time
        self.pending.clear()

    def ranges(self) -> list[Range]:
        """The bytes that were written, by stores or atomic operations."""
        cells = np.zeros(self.count + 2, np.bool_)
        for programs in (self.writers, self.atomics):
            if programs is not None:
                cells[1:-1] |= programs >= 0
        edges = np.flatnonzero(cells[1:] != cells[:-1])
        starts, ends = edges[::2] * self.size + self.start, edges[1::2] * self.size + self.start
        return [(int(start), min(int(end), self.end)) for start, end in zip(starts, ends)]

    def described(self, cell: int) -> str:
        """An element, as "out_ptr[12]"."""
        address = self.start + cell * self.size
        holding = [each for each in self.arguments if each.start <= address < each.end] or self.arguments
        chosen = holding[0]
        return f"{chosen.name}[{(address - chosen.start) // chosen.itemsize}]"

    @property
    def name(self) -> str:
        return " or ".join(dict.fromkeys(each.name for each in self.arguments))


# --- checks ----------------------------------------------------------------------------------------------------------


class _Checker:
    """Sees the launches and every access in them."""

    def __init__(
        self, on_problem: Callable[[str], object] | None, seed: int | None, extent_of: Callable[[Any], Range]
    ) -> None:
        self.memory = Memory()
        self.on_problem, self.seed, self.extent_of = on_problem, seed, extent_of
        self._reset("", (0, 0, 0))

    def _reset(self, name: str, grid: Place) -> None:
        self.name, self.grid = name, grid
        self.places: list[Place] = []
        self.program, self.time = -1, 0
        self.storages: list[_Cells] = []
        self.pending = 0
        self.acquired: set[int] = set()
        self.released: dict[int, np.ndarray] = {}
        self.problems: list[str] = []
        self.told: set[tuple[str, str, str]] = set()

    # launches

    def begin(self, name: str, grid: Place, arguments: dict[str, Any]) -> None:
        self._reset(name, grid)
        storages: dict[int, _Cells] = {}
        for argument, value in arguments.items():
            for tensor_name, tensor in _tensors(argument, value):
                start, end = self.extent_of(tensor.untyped_storage())
                if end <= start:
                    continue
                cells = storages.setdefault(start, _Cells(start, end))
                itemsize, first = tensor.element_size(), tensor.data_ptr()
                last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
                cells.arguments.append(_Argument(tensor_name, first, first + (last + 1) * itemsize, itemsize))
                cells.size = min(cells.size, itemsize)
        self.storages = [storages[start] for start in sorted(storages)]
        self.starts = np.array([each.start for each in self.storages], np.uint64)
        self.ends = np.array([each.end for each in self.storages], np.uint64)

    def ordered(self, places: Sequence[Place]) -> Iterable[Place]:
        shuffled = list(places)
        if self.seed is not None:
            random.Random(self.seed + len(self.memory.launches)).shuffle(shuffled)
        for place in shuffled:
            self.program += 1
            self.places.append(place)
            self.acquired.clear()
            yield place

    def end(self) -> None:
        written = tuple(each for cells in self.storages for each in cells.ranges())
        self.memory.launches.append(LaunchMemory(self.name, self.grid, written, tuple(self.problems)))
        self.storages = []

    # accesses

    def load(self, pointers: np.ndarray, mask: np.ndarray, size: int) -> np.ndarray:
        """Check a load. Return the lanes that may be loaded."""
        self.time += 1
        mask, parts = self._located(pointers, mask, size, "loads")
        for cells, addresses, _ in parts:
            indices = cells.indices(addresses, size)
            self._find_earlier_changes(cells, indices, "reads")
            cells.pending.append((self.program, self.time, indices))
            self.pending += indices.size
        if self.pending > MOST_PENDING:
            for cells in self.storages:
                cells.fold()
            self.pending = 0
        return mask

    def store(self, pointers: np.ndarray, values: np.ndarray, mask: np.ndarray, plain: Any) -> np.ndarray:
        """Check a store before it happens. Return the lanes that may be stored."""
        self.time += 1
        size = values.dtype.itemsize
        mask, parts = self._located(pointers, mask, size, "stores")
        for cells, addresses, lanes in parts:
            indices = cells.indices(addresses, size)
            new = np.broadcast_to(values, pointers.shape)[lanes]
            kind = np.dtype(f"u{size}")
            old = plain.load(addresses, np.ones(addresses.shape, np.bool_), np.zeros(addresses.shape, kind), kind)
            changes = np.ascontiguousarray(new).view(kind) != old
            if size > cells.size:
                changes = np.repeat(changes, size // cells.size)
            writers = cells.written()
            self._find_conflict(
                cells,
                indices,
                writers[indices],
                cells.write_times[indices],
                changes,
                "writes another value to",
                "wrote",
            )
            self._find_atomic(cells, indices, changes, "writes")
            self._find_readers(cells, indices, changes, "writes")
            writers[indices] = self.program
            cells.write_times[indices] = self.time
            cells.changed[indices] |= changes
        return mask

    def atomic(self, pointers: np.ndarray, mask: np.ndarray, size: int, semantic: str) -> np.ndarray:
        """Check an atomic operation. Return the lanes on which it may happen."""
        self.time += 1
        mask, parts = self._located(pointers, mask, size, "changes")
        for cells, addresses, _ in parts:
            indices = cells.indices(addresses, size)
            self._find_earlier_changes(cells, indices, "atomically changes", atomic=True)
            self._find_readers(cells, indices, None, "atomically changes")
            cells.counted()[indices] = self.program
            cells.atomic_times[indices] = self.time
            lock = cells.start
            if semantic in RELEASES:
                if lock not in self.released:
                    x, y, z = self.grid
                    self.released[lock] = np.full(x * y * z, -1, np.int32)
                self.released[lock][self.program] = self.time
            if semantic in ACQUIRES:
                self.acquired.add(lock)
        return mask

    def _located(
        self, pointers: np.ndarray, mask: np.ndarray, size: int, doing: str
    ) -> tuple[np.ndarray, list[tuple[_Cells, np.ndarray, np.ndarray]]]:
        """The lanes inside the launch's tensors, and for each storage its cells, addresses and lanes."""
        if mask.shape != pointers.shape:
            mask = np.broadcast_to(mask, pointers.shape)
        addresses = pointers.reshape(-1) if mask.all() else pointers[mask]
        if not addresses.size:
            return mask, []
        first, last = int(addresses.min()), int(addresses.max()) + size
        for cells in self.storages:
            if cells.start <= first and last <= cells.end:
                return mask, [(cells, addresses, mask)]
        owners = np.searchsorted(self.starts, pointers, side="right") - 1
        ends = self.ends[owners] if self.storages else np.zeros(pointers.shape, np.uint64)
        inside = mask & (owners >= 0) & (pointers <= ends - np.uint64(size))
        outside = mask & ~inside
        found = [
            (cells, pointers[lanes], lanes)
            for number, cells in enumerate(self.storages)
            if (lanes := inside & (owners == number)).any()
        ]
        if outside.any():
            self._tell_outside(pointers[outside], size, doing, [cells for cells, _, _ in found])
        return inside, found

    def _tell_outside(self, addresses: np.ndarray, size: int, doing: str, touched: Sequence[_Cells]) -> None:
        """Describe accesses outside. Of all tensors, those that the same operation touches are the likeliest."""

        nearest: list[tuple[int, str, str]] = []
        for address in {int(addresses.min()), int(addresses.max())}:
            sides = [
                (each.start - address, each.name, "before the first")
                if address < each.start
                else (address + size - each.end, each.name, "behind the last")
                for each in touched or self.storages
            ]
            nearest += sorted(sides)[:1]
        far, name, side = max(nearest, default=(FAR_BYTES, "", ""))
        if far >= FAR_BYTES:
            self._tell("outside", "", f"{doing} at an address that belongs to none of its arguments")
            return
        self._tell("outside", name, f"{doing} outside {name}, up to {far} bytes {side} byte of its memory")

    # races

    def _find_earlier_changes(self, cells: _Cells, indices: np.ndarray, doing: str, *, atomic: bool = False) -> None:
        if cells.writers is not None:
            self._find_conflict(
                cells,
                indices,
                cells.writers[indices],
                cells.write_times[indices],
                cells.changed[indices],
                doing,
                "wrote",
            )
        if not atomic:
            self._find_atomic(cells, indices, None, doing)

    def _find_atomic(self, cells: _Cells, indices: np.ndarray, where: np.ndarray | None, doing: str) -> None:
        if cells.atomics is not None:
            programs, times = cells.atomics[indices], cells.atomic_times[indices]
            self._find_conflict(cells, indices, programs, times, where, doing, "changed atomically")

    def _find_readers(self, cells: _Cells, indices: np.ndarray, where: np.ndarray | None, doing: str) -> None:
        if where is not None and not where.any():
            return
        self.pending -= sum(each.size for _, _, each in cells.pending)
        cells.fold()
        if cells.readers is None:
            return
        for readers, times in ((cells.readers, cells.read_times), (cells.other_readers, cells.other_times)):
            self._find_conflict(cells, indices, readers[indices], times[indices], where, doing, "read")

    def _find_conflict(
        self,
        cells: _Cells,
        indices: np.ndarray,
        programs: np.ndarray,
        times: np.ndarray,
        where: np.ndarray | None,
        doing: str,
        did: str,
    ) -> None:
        """Tell of the first of these cells that another program accessed, unless an atomic operation lies between."""
        conflicts = (programs >= 0) & (programs != self.program)
        if where is not None:
            conflicts &= where
        if not conflicts.any():
            return
        for lock in self.acquired & self.released.keys():
            conflicts &= self.released[lock][programs] < times
        if conflicts.any():
            lane = int(np.argmax(conflicts))
            element, other = cells.described(int(indices[lane])), self.places[programs[lane]]
            self._tell(
                f"race {doing} {did}",
                cells.name,
                f"{doing} {element}, which program {_place(other)} {did} in the same launch: a GPU runs programs in any"
                " order",
            )

    def _tell(self, kind: str, argument: str, text: str) -> None:
        line = _line()
        if (kind, argument, line) in self.told or len(self.problems) >= MOST_PROBLEMS:
            return
        self.told.add((kind, argument, line))
        problem = f"{self.name}{line}: program {_place(self.places[-1])} {text}."
        self.problems.append(problem)
        if self.on_problem is not None:
            self.on_problem(problem)


def _place(place: Place) -> str:
    return f"({', '.join(map(str, place))})"


def _line() -> str:
    """Where the kernel is, as ", pass.py line 12"."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((*_LIBRARIES, "<")):
        frame = frame.f_back
    return f", {Path(frame.f_code.co_filename).name} line {frame.f_lineno}" if frame is not None else ""


class _CheckedAccess:
    """Stands for Triton's native module of memory accesses."""

    def __init__(self, plain: Any, checker: _Checker) -> None:
        self._plain, self._checker = plain, checker

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)

    def load(self, pointers: Any, mask: Any, other: Any, kind: Any) -> Any:
        allowed = self._checker.load(pointers, np.asarray(mask), np.dtype(kind).itemsize)
        return self._plain.load(pointers, allowed, other, kind)

    def store(self, pointers: Any, values: Any, mask: Any) -> Any:
        allowed = self._checker.store(pointers, values, np.asarray(mask), self._plain)
        return self._plain.store(pointers, values, allowed)

    def atomic_rmw(self, operation: Any, pointers: Any, values: Any, mask: Any, semantic: Any) -> Any:
        allowed = self._checker.atomic(pointers, np.asarray(mask), values.dtype.itemsize, semantic.name)
        return self._plain.atomic_rmw(operation, pointers, values, allowed, semantic)

    def atomic_cas(self, pointers: Any, expected: Any, values: Any, semantic: Any) -> Any:
        everywhere = np.ones(pointers.shape, np.bool_)
        if not self._checker.atomic(pointers, everywhere, values.dtype.itemsize, semantic.name).all():
            return expected
        return self._plain.atomic_cas(pointers, expected, values, semantic)
