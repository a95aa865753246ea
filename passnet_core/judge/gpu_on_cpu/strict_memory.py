"""Check what interpreted kernels do to memory, since the interpreter runs programs in order, one after the other, and
lets each read and write wherever the process can.

Reported are accesses outside the memory of a launch's tensors, and races. Between programs: two of one launch touch the
same element, at least one of them changes it, and nothing orders them. An atomic operation orders, unless its scope is
the program: what a program did before one that releases is visible to a program after one that acquires, at the same
address. Of what other warps did it releases only what lies before a barrier. Programs that use atomic operations run at
once, and take turns before each of them. Within a program: lanes of one store write different values to one element, or
a lane touches what another lane has written, and no barrier lies between, nor an atomic operation on one element whose
result is used, for which all warps wait; or a pipelined loop loads what it stored a few turns before. What each launch
changed is kept as data. Runs wherever kernels are interpreted; nothing outside the context is changed."""

import contextlib
import functools
import random
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import triton.runtime.interpreter as interpreter

from passnet_core.judge.gpu_on_cpu import emulation, kernel_syntax, launching
from passnet_core.judge.gpu_on_cpu.guarded_memory import (
    NativeAccess,
    OutsideMemory,
    kernel_line,
    outside,
    place_text,
    tensors_in,
)
from passnet_core.judge.gpu_on_cpu.interleaving import Turns
from passnet_core.judge.gpu_on_cpu.launching import Place, Watcher
from passnet_core.judge.numerics.bits import extent

Range = tuple[int, int]
"""An address, and the address after the last byte."""

MOST_PROBLEMS = 20
"""Problems that are described per launch."""
MOST_PENDING = 1 << 23
"""Addresses of loads that are kept as they are. Most tensors are only read or only written, and cost no more."""
MOST_LANES, MOST_SHAPES = 1 << 20, 1 << 11
"""Lanes of a block, which Triton allows, and shapes of blocks, which are told apart."""
USUAL_STAGES = 3
"""How many stages a launch has on a GPU that says nothing of them."""
WARP_LANES = 32
"""Lanes of a block that a warp holds at least, if the block has so many."""

ACQUIRES = frozenset({"ACQUIRE", "ACQUIRE_RELEASE"})
RELEASES = frozenset({"RELEASE", "ACQUIRE_RELEASE"})

OWN_SCOPE = "CTA"
"""The scope of atomic operations that are atomic within a program only."""


@dataclass(frozen=True)
class ChangedMemory:
    """What a launch changed in one storage, at whatever moment. cells: for each so many bytes from start on, whether
    any change was made there. stored: whether anything was stored there, be it what was there before, or changed
    atomically. most: in how many bytes one program did either at most. atomic: whether any operation was atomic."""

    start: int
    size: int
    cells: np.ndarray
    stored: np.ndarray
    most: int
    atomic: bool

    def of_bytes(self) -> np.ndarray:
        """For each byte from start on, whether it was changed. There may be some bytes too many at the end."""
        return np.repeat(self.cells, self.size)

    def stored_bytes(self) -> np.ndarray:
        """For each byte from start on, whether it was stored to. There may be some bytes too many at the end."""
        return np.repeat(self.stored, self.size)


@dataclass(frozen=True)
class LaunchMemory:
    """What one launch did to memory. problems: sentences that name the kernel, the line, the argument and the
    programs. read: the addresses of the storages that were read. ran: how many of its programs have run."""

    kernel: str
    grid: Place
    changed: tuple[ChangedMemory, ...]
    problems: tuple[str, ...]
    read: tuple[int, ...]
    ran: int


@dataclass
class Memory:
    """What the launches in the context did, in their order. one_warp: whether the next launches have one warp per
    program, whose lanes need no barrier between them. stages: how many these launches have."""

    launches: list[LaunchMemory] = field(default_factory=list)
    one_warp: bool = False
    stages: int = USUAL_STAGES

    @property
    def problems(self) -> list[str]:
        return [problem for launch in self.launches for problem in launch.problems]


@contextlib.contextmanager
def watched(
    on_problem: Callable[[str], object] | None = None,
    *,
    seed: int | None = None,
    extent_of: Callable[[Any], Range] | None = None,
    chosen: Callable[[Sequence[Place]], Iterable[Place]] | None = None,
    noisy: bool = True,
    refusing: bool = False,
) -> Iterator[Memory]:
    """Check all launches in this context.

    on_problem: called with each problem, where it occurs; an exception that it raises ends the launch. seed: shuffle
    the order of each launch's programs by it, let them take turns, and put other nonsense into each lane that the mask
    of a load leaves out; None: as the interpreter does it. extent_of: the part of a tensor's storage that belongs to
    it; None: all. chosen: chooses the programs of each launch that run, one after the other; None: all. With a seed all
    run. noisy: without it, lanes that are left out hold what the interpreter puts there. refusing: raise OutsideMemory
    for what changes memory outside of a launch's tensors."""
    emulation.mend()
    checker = _Checker(on_problem, seed, extent_of or _whole, chosen or iter, refusing)
    with contextlib.ExitStack() as undoing:

        def replace(owner: Any, name: str, value: Any) -> None:
            undoing.enter_context(mock.patch.object(owner, name, value))

        replace(interpreter, "_interpreter", _CheckedAccess(interpreter._interpreter, checker))
        builder = interpreter.InterpreterBuilder
        replace(builder, "create_barrier", lambda self: checker.meet())
        for name in ("create_atomic_rmw", "create_atomic_cas"):
            replace(builder, name, _scoped(getattr(builder, name), checker))
        if seed is not None:
            if noisy:
                replace(emulation, "undefined", checker.undefined)
            replace(builder, "create_gather", _gathering_anywhere(builder.create_gather))
        replace(kernel_syntax.Operations, "pipelined", staticmethod(checker.pipelined))
        replace(kernel_syntax.Operations, "stages_of_launch", staticmethod(lambda: checker.memory.stages))
        replace(kernel_syntax.Operations, "in_order", staticmethod(checker.in_order))
        launching.watchers.append(checker)
        undoing.callback(launching.watchers.remove, checker)
        yield checker.memory


def _scoped(operation: Callable[..., Any], checker: "_Checker") -> Callable[..., Any]:
    """The atomic operation of the builder, of whose scope the checker is told, and of the use of its result."""

    def operated(self: Any, *args: Any) -> Any:
        checker.own_scope = args[-1].name == OWN_SCOPE
        found = operation(self, *args)
        return _Awaited(found, checker.meeting()) if found.data.size == 1 else found

    return operated


class _Awaited(interpreter.TensorHandle):  # type: ignore[misc]
    """The result of an atomic operation on one element, which one thread performs: if it is used, the others wait for
    it. used: called then."""

    def __init__(self, found: Any, used: Callable[[], object]) -> None:
        self.dtype, self.attr = found.dtype, found.attr
        self._found, self._used = found, used

    @functools.cached_property
    def data(self) -> Any:
        self._used()
        return self._found.data


def _gathering_anywhere(gather: Callable[..., Any]) -> Callable[..., Any]:
    """tl.gather that takes every index, since lanes that a load has left out may hold any."""

    def gathered(self: Any, source: Any, indices: Any, axis: int) -> Any:
        inside = np.clip(indices.data, 0, source.data.shape[axis] - 1)
        return gather(self, source, interpreter.TensorHandle(inside, indices.dtype), axis)

    return gathered


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


class _Cells:
    """What the programs of a launch did to one storage, by cell: so many bytes as its smallest elements have."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.arguments: list[_Argument] = []
        self.size = 16
        self.pending: list[tuple[int, int, np.ndarray, np.ndarray]] = []
        """Loads that the arrays do not hold yet: program, time, cells, and the mask of the block's lanes."""
        self.writers: np.ndarray | None = None
        self.write_times: np.ndarray = np.empty(0)
        self.lanes: np.ndarray = np.empty(0)
        self.changed: np.ndarray = np.empty(0)
        self.atomics: np.ndarray | None = None
        self.atomic_times: np.ndarray = np.empty(0)
        self.atomic_changes: np.ndarray = np.empty(0)
        self.readers: np.ndarray | None = None
        self.read_times: np.ndarray = np.empty(0)
        self.read_lanes: np.ndarray = np.empty(0)
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
            "writers", "write_times", "lanes", "changed", "atomics", "atomic_times", "atomic_changes", "readers",
            "read_times", "read_lanes", "other_readers", "other_times",
        ):  # fmt: skip
            held = getattr(self, name)
            if held is not None:
                setattr(self, name, np.repeat(held, times)[: self.count] if len(held) else held)

    def written(self) -> np.ndarray:
        """The arrays of writers, filled with -1 at first."""
        if self.writers is None:
            self.writers = np.full(self.count, -1, np.int32)
            self.write_times = np.zeros(self.count, np.int32)
            self.lanes = np.zeros(self.count, np.int32)
            self.changed = np.zeros(self.count, np.bool_)
        return self.writers

    def note_written(
        self, indices: np.ndarray, program: int, time: int, lanes: np.ndarray, changes: np.ndarray
    ) -> None:
        """Note that a program stores to these cells. changes: whether each gets another value."""
        self.written()[indices] = program
        self.write_times[indices] = time
        self.lanes[indices] = numbers(lanes, len(indices))
        self.changed[indices] |= changes

    def counted(self) -> np.ndarray:
        """The programs of the last atomic operations."""
        if self.atomics is None:
            self.atomics = np.full(self.count, -1, np.int32)
            self.atomic_times = np.zeros(self.count, np.int32)
            self.atomic_changes = np.zeros(self.count, np.bool_)
        return self.atomics

    def fold(self) -> None:
        """Note the pending loads in the cells: the last two different programs that read each."""
        if self.pending and self.readers is None:
            self.readers, self.other_readers = (np.full(self.count, -1, np.int32) for _ in range(2))
            self.read_times, self.read_lanes, self.other_times = (np.zeros(self.count, np.int32) for _ in range(3))
        for program, time, indices, lanes in self.pending:
            assert self.readers is not None
            before = self.readers[indices]
            moved = indices[(before != program) & (before >= 0)]
            self.other_readers[moved] = self.readers[moved]
            self.other_times[moved] = self.read_times[moved]
            self.readers[indices] = program
            self.read_times[indices] = time
            self.read_lanes[indices] = numbers(lanes, len(indices))
        self.pending.clear()

    def changes(self) -> ChangedMemory | None:
        """What stores and atomic operations changed. None: there were none."""
        atomic = self.atomics is not None
        if self.writers is None and not atomic:
            return None
        writers, programs = self.written(), self.counted()
        most = self.size * sum(int(np.bincount(each[each >= 0]).max(initial=0)) for each in (writers, programs))
        stored = (writers >= 0) | (programs >= 0)
        return ChangedMemory(self.start, self.size, self.atomic_changes | self.changed, stored, most, atomic)

    def described(self, cell: int) -> str:
        """An element, as "out_ptr[12]"."""
        address = self.start + cell * self.size
        holding = [each for each in self.arguments if each.start <= address < each.end] or self.arguments
        chosen = holding[0]
        return f"{chosen.name}[{(address - chosen.start) // chosen.itemsize}]"

    @property
    def name(self) -> str:
        return " or ".join(dict.fromkeys(each.name for each in self.arguments))


def numbers(lanes: np.ndarray, count: int) -> np.ndarray:
    """A number for each of the count cells that these lanes of a block access: different ones for different lanes, and
    for lanes of blocks of another shape. lanes: the block's mask."""
    shape = tuple(size for size in lanes.shape if size > 1)
    kind = hash(shape) % MOST_SHAPES
    return _repeated(
        (np.flatnonzero(lanes) + kind * MOST_LANES).astype(np.int32), count // int(np.count_nonzero(lanes))
    )


# --- checks ----------------------------------------------------------------------------------------------------------


@dataclass
class _Program:
    """A program of a launch. met: when its warps last met. acquired: when it last acquired, by a hash of the
    addresses. loops: how many loops it has begun. ahead: from when until when it stored what the loop that it is in may
    have loaded already."""

    number: int
    place: Place
    met: int = 0
    acquired: dict[int, int] = field(default_factory=dict)
    loops: int = 0
    ahead: tuple[int, int] = (0, 0)


NOBODY = _Program(-1, (0, 0, 0))


class _Release(NamedTuple):
    """When a program released, when its warps had last met, and how many lanes of blocks the warps hold that released:
    of what other lanes did, only what lies before the warps met is visible."""

    time: int
    met: int
    lanes: int


class _Checker(Watcher):
    """Sees the launches and every access in them."""

    def __init__(
        self,
        on_problem: Callable[[str], object] | None,
        seed: int | None,
        extent_of: Callable[[Any], Range],
        chosen: Callable[[Sequence[Place]], Iterable[Place]],
        refusing: bool,
    ) -> None:
        self.memory, self.refusing = Memory(), refusing
        self.on_problem, self.seed, self.extent_of, self.chosen = on_problem, seed, extent_of, chosen
        self.noise = np.random.default_rng(None if seed is None else abs(seed))
        self.own_scope = False
        """Whether the atomic operation that is performed now is atomic within its program only."""
        self._reset("", (0, 0, 0))

    def _reset(self, name: str, grid: Place) -> None:
        self.name, self.grid = name, grid
        self.places: list[Place] = []
        self.now, self.time = NOBODY, 0
        self.turns: Turns[_Program] | None = None
        self.storages: list[_Cells] = []
        self.pending = 0
        self.released: dict[int, dict[int, list[_Release]]] = {}
        """When which program released what, by a hash of the addresses, and by program."""
        self.problems: list[str] = []
        self.told: set[tuple[str, str, str]] = set()

    # launches

    def begin(self, name: str, grid: Place, arguments: dict[str, Any]) -> None:
        self._reset(name, grid)
        storages: dict[int, _Cells] = {}
        for argument, value in arguments.items():
            for tensor_name, tensor in tensors_in(argument, value):
                start, end = self.extent_of(tensor.untyped_storage())
                if end <= start:
                    continue
                cells = storages.setdefault(start, _Cells(start, end))
                itemsize, first = tensor.element_size(), tensor.data_ptr()
                behind = first + extent(tensor.shape, tensor.stride()) * itemsize
                cells.arguments.append(_Argument(tensor_name, first, behind, itemsize))
                cells.size = min(cells.size, itemsize)
        self.storages = [storages[start] for start in sorted(storages)]
        self.starts = np.array([each.start for each in self.storages], np.uint64)
        self.ends = np.array([each.end for each in self.storages], np.uint64)

    def run(self, places: Sequence[Place], program: Callable[[Place], None]) -> None:
        if self.seed is None:
            for number, place in enumerate(self.chosen(places)):
                self.places.append(place)
                self.now = _Program(number, place)
                program(place)
            return
        shuffled = list(places)
        seed = self.seed + len(self.memory.launches)
        random.Random(seed).shuffle(shuffled)
        self.turns = Turns(seed, self._resume)
        self.places = shuffled
        programs = [_Program(number, place) for number, place in enumerate(shuffled)]
        self.turns.run(programs, lambda each: program(each.place))

    def _resume(self, program: _Program) -> None:
        self.now = program
        interpreter.interpreter_builder.set_grid_idx(*program.place)

    def end(self) -> None:
        read = tuple(cells.start for cells in self.storages if cells.pending or cells.readers is not None)
        changed = tuple(found for cells in self.storages if (found := cells.changes()) is not None)
        launch = LaunchMemory(self.name, self.grid, changed, tuple(self.problems), read, len(self.places))
        self.memory.launches.append(launch)
        self.storages = []

    # accesses

    def load(self, pointers: np.ndarray, mask: np.ndarray, size: int) -> np.ndarray:
        """Check a load. Return the lanes that may be loaded."""
        self.time += 1
        mask, parts = self._located(pointers, mask, size, "loads")
        for cells, addresses, lanes in parts:
            indices = cells.indices(addresses, size)
            self._find_earlier_changes(cells, indices, "reads")
            self._find_other_lanes(cells, indices, lanes, None, "reads", "changed")
            self._find_loaded_ahead(cells, indices)
            cells.pending.append((self.now.number, self.time, indices, lanes))
            self.pending += indices.size
        if self.pending > MOST_PENDING:
            for cells in self.storages:
                cells.fold()
            self.pending = 0
        return mask

    def store(self, pointers: np.ndarray, values: np.ndarray, mask: np.ndarray, plain: Any) -> Any:
        """Check a store, and let it happen on the lanes that may be stored."""
        self.time += 1
        size = values.dtype.itemsize
        mask, parts = self._located(pointers, mask, size, "stores")
        for cells, addresses, lanes in parts:
            indices = cells.indices(addresses, size)
            changes = _repeated(_bits(values, lanes, size) != _held(plain, addresses, size), size // cells.size)
            self._find_writers(cells, indices, changes, "writes a different value to")
            self._find_atomic(cells, indices, changes, "writes")
            self._find_readers(cells, indices, changes, "writes")
            self._find_other_lanes(cells, indices, lanes, changes, "writes a different value to", "changed")
            self._find_other_lanes(cells, indices, lanes, changes, "writes a different value to", "read")
            cells.note_written(indices, self.now.number, self.time, lanes, changes)
        done = plain.store(pointers, values, mask)
        for cells, addresses, lanes in parts:
            self._find_duplicates(cells, addresses, values, lanes, plain)
        return done

    def atomic(
        self,
        pointers: np.ndarray,
        mask: np.ndarray,
        size: int,
        semantic: str,
        plain: Any,
        perform: Callable[[np.ndarray], tuple[np.ndarray, bool]],
    ) -> np.ndarray:
        """Check an atomic operation, and perform it on the lanes on which it may happen. perform: returns what was
        there before, and whether it wrote anything."""
        own_scope = self.own_scope
        if self.turns is not None:
            self.turns.hand_over()
        self.time += 1
        mask, parts = self._located(pointers, mask, size, "changes")
        for cells, addresses, _ in parts:
            indices = cells.indices(addresses, size)
            self._find_earlier_changes(cells, indices, "atomically changes", atomic=not own_scope)
            self._find_readers(cells, indices, None, "atomically changes")
        before, wrote = perform(mask)
        for cells, addresses, lanes in parts:
            indices = cells.indices(addresses, size)
            changes = _repeated(_bits(before, lanes, size) != _held(plain, addresses, size), size // cells.size)
            if own_scope:
                # to other programs it is a load and a store, and orders nothing
                cells.note_written(indices, self.now.number, self.time, lanes, changes)
                continue
            cells.counted()[indices] = self.now.number
            cells.atomic_times[indices] = self.time
            cells.atomic_changes[indices] |= changes
            place = hash(addresses.tobytes())
            if semantic in ACQUIRES:
                self.now.acquired[place] = self.time
            if semantic in RELEASES and wrote:
                last = MOST_LANES if self.memory.one_warp else int(np.flatnonzero(lanes)[-1])
                release = _Release(self.time, self.now.met, (last // WARP_LANES + 1) * WARP_LANES)
                self.released.setdefault(place, {}).setdefault(self.now.number, []).append(release)
        return before

    def exchanged(self, pointers: np.ndarray, values: np.ndarray, mask: np.ndarray, plain: Any) -> None:
        """Check an atomic exchange that has happened: lanes of one must not differ about one element."""
        _, parts = self._located(pointers, mask, values.dtype.itemsize, "changes")
        for cells, addresses, lanes in parts:
            self._find_duplicates(cells, addresses, values, lanes, plain)

    def meet(self) -> None:
        """The warps of the program that runs meet: what its lanes did before is visible to all of them."""
        self.time += 1
        self.now.met = self.time

    def meeting(self) -> Callable[[], object]:
        """What to call if it turns out that the warps of the program that runs have met now."""
        program, time = self.now, self.time

        def met() -> None:
            program.met = max(program.met, time)

        return met

    def pipelined(self, counters: Iterator[Any], stages: int) -> Iterator[Any]:
        """The counters of a loop. With several stages a GPU loads for so many turns at once, less one, unless the loop
        holds another one."""
        program, begun = self.now, deque[int](maxlen=stages)
        program.loops += 1
        own = program.loops
        try:
            for each in counters:
                if program.loops != own:
                    begun.clear()
                begun.append(self.time)
                program.ahead = (begun[0], begun[-1])
                yield each
        finally:
            program.ahead = (0, 0)

    def in_order(self, load: Callable[..., Any]) -> Callable[..., Any]:
        """The load, which is not pipelined although its loop is."""

        def loaded(*args: Any, **kwargs: Any) -> Any:
            ahead, self.now.ahead = self.now.ahead, (0, 0)
            try:
                return load(*args, **kwargs)
            finally:
                self.now.ahead = ahead

        return loaded

    def undefined(self, shape: tuple[int, ...], kind: np.dtype[Any]) -> np.ndarray:
        """What lanes hold that a load leaves out: some of them zeros, some all bits set, and some anything."""
        bits = self.noise.integers(0, 256, (*shape, kind.itemsize), np.uint8)
        chosen = self.noise.integers(0, 3, shape)
        bits[chosen == 0], bits[chosen == 1] = 0, 0xFF
        if kind == np.bool_:
            bits &= 1
        return bits.reshape(-1).view(kind).reshape(shape)

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
        beyond = mask & ~inside
        found = [
            (cells, pointers[lanes], lanes)
            for number, cells in enumerate(self.storages)
            if (lanes := inside & (owners == number)).any()
        ]
        if beyond.any():
            # of all tensors, those that the same operation touches are the likeliest
            touched = [cells for cells, _, _ in found]
            found_outside = outside(pointers[beyond], size, doing, touched or self.storages)
            if self.refusing and doing != "loads":
                raise OutsideMemory(f"program {place_text(self.now.place)} {found_outside[1]}")
            self._tell("outside", *found_outside)
        return inside, found

    # races

    def _find_earlier_changes(self, cells: _Cells, indices: np.ndarray, doing: str, *, atomic: bool = False) -> None:
        if cells.writers is not None:
            self._find_writers(cells, indices, cells.changed[indices], doing)
        if not atomic:
            self._find_atomic(cells, indices, None, doing)

    def _find_writers(self, cells: _Cells, indices: np.ndarray, where: np.ndarray, doing: str) -> None:
        programs, times = cells.written()[indices], cells.write_times[indices]
        self._find_conflict(cells, indices, programs, times, cells.lanes[indices], where, doing, "wrote")

    def _find_atomic(self, cells: _Cells, indices: np.ndarray, where: np.ndarray | None, doing: str) -> None:
        if cells.atomics is not None:
            programs, times = cells.atomics[indices], cells.atomic_times[indices]
            self._find_conflict(cells, indices, programs, times, None, where, doing, "changed atomically")

    def _find_readers(self, cells: _Cells, indices: np.ndarray, where: np.ndarray | None, doing: str) -> None:
        if where is not None and not where.any():
            return
        self.pending -= sum(each.size for _, _, each, _ in cells.pending)
        cells.fold()
        if cells.readers is None:
            return
        for readers, times in ((cells.readers, cells.read_times), (cells.other_readers, cells.other_times)):
            self._find_conflict(cells, indices, readers[indices], times[indices], None, where, doing, "read")

    def _find_conflict(
        self,
        cells: _Cells,
        indices: np.ndarray,
        programs: np.ndarray,
        times: np.ndarray,
        lanes: np.ndarray | None,
        where: np.ndarray | None,
        doing: str,
        did: str,
    ) -> None:
        """Tell of the first of these cells that another program accessed, unless an atomic operation lies between.
        lanes: the numbers of those that stored there; None: whatever warp it was, what it did counts as released."""
        conflicts = (programs >= 0) & (programs != self.now.number)
        if where is not None:
            conflicts &= where
        if not conflicts.any():
            return
        own = np.zeros_like(programs) if lanes is None else lanes % MOST_LANES
        conflicts[conflicts] = self._released_by(programs[conflicts], own[conflicts]) < times[conflicts]
        if conflicts.any():
            lane = int(np.argmax(conflicts))
            element, other = cells.described(int(indices[lane])), self.places[programs[lane]]
            self._tell(
                f"race {doing} {did}",
                cells.name,
                f"{doing} {element}, which program {place_text(other)} {did} in the same launch: a GPU runs programs in"
                " any order",
            )

    def _released_by(self, programs: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """For each of these programs, the time up to which what this lane of it did is visible now: by its last release
        before the present program acquired at the same address. -1: by none."""
        different, places = np.unique(programs, return_inverse=True)
        latest = np.full(programs.shape, -1, np.int64)
        for addresses, acquired in self.now.acquired.items():
            released = self.released.get(addresses, {})
            last = np.full((len(different), 3), -1, np.int64)
            for number, each in enumerate(different.tolist()):
                releases = released.get(each, ())
                earlier = bisect_left(releases, (acquired,))
                if earlier:
                    last[number] = releases[earlier - 1]
            time, met, reach = last[places].T
            latest = np.maximum(latest, np.where(lanes < reach, time, met))
        return latest

    # lanes

    def _find_other_lanes(
        self, cells: _Cells, indices: np.ndarray, lanes: np.ndarray, where: np.ndarray | None, doing: str, done: str
    ) -> None:
        """Tell of the first of these cells that another lane of this program has "changed" or "read" since its warps
        last met. Of lanes that read the same cell only the last is known."""
        written = done == "changed"
        programs = cells.writers if written else cells.readers
        if programs is None or self.memory.one_warp:
            return
        times, known = (cells.write_times, cells.lanes) if written else (cells.read_times, cells.read_lanes)
        own = (programs[indices] == self.now.number) & (times[indices] > self.now.met)
        if written:
            own &= cells.changed[indices]
        if where is not None:
            own &= where
        if not own.any():
            return
        own &= known[indices] != numbers(lanes, len(indices))
        if own.any():
            element = cells.described(int(indices[np.argmax(own)]))
            self._tell(
                f"lanes {doing} {done}",
                cells.name,
                f"{doing} {element}, which another of its lanes has {done} before: without a tl.debug_barrier()"
                " between, a GPU's warps may not have got that far",
            )

    def _find_loaded_ahead(self, cells: _Cells, indices: np.ndarray) -> None:
        """Tell of the first of these cells that this program changed in a turn of a pipelined loop before which a GPU
        may have loaded it."""
        first, last = self.now.ahead
        if cells.writers is None or first == last:
            return
        times = cells.write_times[indices]
        stale = (cells.writers[indices] == self.now.number) & cells.changed[indices]
        stale &= (times > max(first, self.now.met)) & (times <= last)
        if stale.any():
            element = cells.described(int(indices[np.argmax(stale)]))
            self._tell(
                "ahead",
                cells.name,
                f"reads {element}, which it stored a few iterations of the loop before: a GPU loads for several"
                " iterations at once in a loop with num_stages, or with a tl.dot of what it loads",
            )

    def _find_duplicates(
        self, cells: _Cells, addresses: np.ndarray, values: np.ndarray, lanes: np.ndarray, plain: Any
    ) -> None:
        """Tell of the first element to which lanes of one operation, which has happened, wrote different values."""
        if addresses.size < 2 or (addresses[1:] > addresses[:-1]).all():
            return
        size = values.dtype.itemsize
        lost = _bits(values, lanes, size) != _held(plain, addresses, size)
        if lost.any():
            place = cells.described(int(cells.indices(addresses[lost][:1], size)[0]))
            text = f"writes different values to {place} from several lanes at once: on a GPU, any of them may remain"
            self._tell("duplicates", cells.name, text)

    def _tell(self, kind: str, argument: str, text: str) -> None:
        place = kernel_line()
        line = f", {place[0]} line {place[1]}" if place else ""
        if (kind, argument, line) in self.told or len(self.problems) >= MOST_PROBLEMS:
            return
        self.told.add((kind, argument, line))
        problem = f"{self.name}{line}: program {place_text(self.now.place)} {text}."
        self.problems.append(problem)
        if self.on_problem is not None:
            self.on_problem(problem)


class _CheckedAccess(NativeAccess):
    """Has each access checked."""

    def __init__(self, plain: Any, checker: _Checker) -> None:
        super().__init__(plain)
        self._checker = checker

    def load(self, pointers: Any, mask: Any, other: Any, kind: Any) -> Any:
        lanes, size = np.asarray(mask, np.bool_), np.dtype(kind).itemsize
        allowed = self._checker.load(pointers, lanes, size)
        found = self._plain.load(pointers, allowed, other, kind)
        if (beyond := np.broadcast_to(lanes, pointers.shape) & ~allowed).any():
            found = np.array(found)
            found[beyond] = np.frombuffer(b"\xff" * size, kind)[0]
        return found

    def store(self, pointers: Any, values: Any, mask: Any) -> Any:
        return self._checker.store(pointers, values, np.asarray(mask), self._plain)

    def atomic_rmw(self, operation: Any, pointers: Any, values: Any, mask: Any, semantic: Any) -> Any:
        def perform(allowed: np.ndarray) -> tuple[Any, bool]:
            return self._plain.atomic_rmw(operation, pointers, values, allowed, semantic), True

        lanes = np.asarray(mask)
        result = self._checker.atomic(pointers, lanes, values.dtype.itemsize, semantic.name, self._plain, perform)
        if operation.name == "XCHG":
            self._checker.exchanged(pointers, values, lanes, self._plain)
        return result

    def atomic_cas(self, pointers: Any, expected: Any, values: Any, semantic: Any) -> Any:
        def perform(allowed: np.ndarray) -> tuple[Any, bool]:
            if not allowed.all():
                return expected, False
            found = self._plain.atomic_cas(pointers, expected, values, semantic)
            return found, bool((found == expected).any())

        everywhere = np.ones(pointers.shape, np.bool_)
        return self._checker.atomic(pointers, everywhere, values.dtype.itemsize, semantic.name, self._plain, perform)


def _bits(values: np.ndarray, lanes: np.ndarray, size: int) -> np.ndarray:
    """The bits of the values in these lanes of a block."""
    found: np.ndarray = np.ascontiguousarray(np.broadcast_to(values, lanes.shape)[lanes]).view(f"u{size}")
    return found


def _held(plain: Any, addresses: np.ndarray, size: int) -> np.ndarray:
    """The bits of the elements at these addresses."""
    kind = np.dtype(f"u{size}")
    found: np.ndarray = plain.load(addresses, np.ones(addresses.shape, np.bool_), np.zeros(addresses.shape, kind), kind)
    return found


def _repeated(of_elements: np.ndarray, times: int) -> np.ndarray:
    """For each cell what holds for its element, which has so many cells."""
    return np.repeat(of_elements, times) if times > 1 else of_elements
