"""Which outputs one kernel computes: as many as walk the same variables.

What reductions need at places that differ along a tile is computed by a kernel of its own before."""

from collections.abc import Sequence
from dataclasses import replace

from passnet_core.graphs.spelling import Names
from passnet_core.solvers.rules.contractions import product_kernel, uncomputed
from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinate, Coordinates, Split, replaced, variables
from passnet_core.solvers.rules.kernels import (
    LOOPED,
    MOST_BESIDE,
    MOST_COLUMNS,
    MOST_SPLITS,
    Code,
    KernelWriter,
    NeedsMemory,
    Output,
    Space,
    Unsupported,
    atom,
    same_sizes,
    with_ones,
    with_parameters,
)
from passnet_core.solvers.rules.layouts import strides_of
from passnet_core.solvers.rules.sharing import SIDE_BY_SIDE, starved
from passnet_core.solvers.rules.sizes import Size, product
from passnet_core.solvers.rules.values import Number, PassedNumber, Reduction, Scan, Shape, Stored, Value, below
from passnet_core.solvers.rules.walking import Walk, rows_beside, walk_of

MOST_TEMPORARIES = 12
"""Values that are kept in memory only because a reduction needs them."""


def planned(outputs: Sequence[Output], name: str, *, ordered: bool) -> list[Code]:
    """The kernels that compute these outputs, in the order in which they must run. Raises Unsupported."""
    left = list(outputs)
    names = Names(taken=[each.tensor for each in outputs])
    held: set[int] = set()
    while True:
        try:
            return _kernels(left, name, ordered)
        except NeedsMemory as needed:
            if id(needed.value) in held or len(held) > MOST_TEMPORARIES:
                raise Unsupported("reductions that need each other along the same rows") from None
            held.add(id(needed.value))
            place = next(index for index, each in enumerate(left) if _needs(each.value, needed.value))
            left.insert(place, Output(names.free(f"{needed.value.name}_held"), needed.value, held=True))


def _needs(value: Value, other: Value) -> bool:
    return any(each is other for each in below(value))


def _reduces(value: Value) -> bool:
    return any(isinstance(each, Reduction) for each in below(value))


def _kernels(outputs: Sequence[Output], name: str, ordered: bool) -> list[Code]:
    """One kernel after the other, each for as many outputs as walk the same variables."""
    codes: list[Code] = []
    left, stored = list(outputs), dict[int, Stored]()
    while left:
        title = f"{name}_{len(codes) + 1}" if codes else name
        group, others = [left[0]], left[1:]
        code = _written(group, title, stored, ordered)
        for each in others:
            waiting = [other for other in others if other is not each and other not in group]
            if any(_needs(each.value, other.value) and _reduces(other.value) for other in waiting):
                continue
            try:
                code = _written([*group, each], title, stored, ordered)
            except (_Apart, NeedsMemory):
                continue
            group.append(each)
        codes.append(code)
        left = [each for each in left if each not in group]
        for each in group:
            value = each.value
            stored[id(value)] = Stored(value.shape, value.dtype, each.tensor, strides_of(value), name=each.tensor)
    return codes


class _Apart(Exception):
    """These outputs do not walk the same variables."""


def _written(outputs: list[Output], name: str, stored: dict[int, Stored], ordered: bool) -> Code:
    splits: dict[str, Size] = {}
    for _ in range(MOST_SPLITS):
        try:
            product = product_kernel(outputs, name, splits, stored)
            return product or _Kernel(outputs, name, splits, stored, ordered).code()
        except Split as found:
            splits[found.variable] = found.inner
    raise Unsupported("views that take dimensions apart again and again")


class _Kernel:
    """Writes the kernel of some outputs with given splits of variables."""

    def __init__(
        self, outputs: list[Output], name: str, splits: dict[str, Size], stored: dict[int, Stored], ordered: bool
    ) -> None:
        self.outputs, self.name, self.splits, self.stored, self.ordered = outputs, name, splits, stored, ordered
        self.reductions: list[Reduction] = []

    def code(self) -> Code:
        """The kernel. It is written once to see where it reads, and again if it must walk otherwise."""
        needed = self._shared_out()
        longest = self._longest(needed)
        found = self._code(needed, None, longest > MOST_COLUMNS)
        accesses = [each.lying for each in found.accesses]
        sizes = {name: size.value for space in (found.outer, *found.spaces) for name, size in space.sizes.items()}
        rows = tuple(found.outer.sizes)
        if needed is None:
            walk = walk_of(sizes, accesses)
            return found if walk == Walk(rows) else self._code(None, walk, False)
        order = rows_beside(sizes, accesses, rows, [name for space in found.spaces for name in space.sizes])
        if order is None:
            return found
        self._not_starved(needed, SIDE_BY_SIDE)
        looped = longest > (MOST_BESIDE if self._can_loop() else MOST_COLUMNS)
        return replace(self._code(needed, Walk(order), looped), beside=True)

    def _can_loop(self) -> bool:
        """Whether rows can be walked in several tiles."""
        reached = uncomputed(self.outputs, self.stored)
        return all(value.kind in LOOPED for value in reached if isinstance(value, Reduction))

    def _code(self, needed: set[str] | None, walk: Walk | None, looped: bool) -> Code:
        writer = KernelWriter(f"{self.name}_kernel", self.splits, self.stored, looped)
        writer.tiled = needed is not None
        whole, places, walked = self._walked(writer)
        writer.walk(walk or Walk(tuple(name for name in walked if needed is None or name in needed)), walked)
        rest = {name: size for name, size in walked.items() if needed is not None and name not in needed}
        space, found = writer.space_of(tuple(rest.values())) if rest else (None, ())
        # a sum of a row that is not needed afterwards is rounded once, which another order hardly changes
        further = space is not None or any(each.held for each in self.outputs)
        disturbs = self._disturbs()
        writer.ordered = self.ordered and walk is None and not looped and further
        writer.followed = not (looped or writer.crossed)
        if looped and len(self.outputs) > 1 and disturbs:
            raise _Apart
        inside = dict(zip(rest, found))
        axes = [axis for axis, size in enumerate(whole) if not size.is_one]
        shared = [axis for axis in axes if places[axis].variables <= writer.outer.sizes.keys()]
        targets: list[tuple[Output, Coordinates, Space | None]] = []
        for each in self.outputs:
            lengths = [size for size in each.value.shape if not size.is_one]
            if same_sizes(lengths, [whole[axis] for axis in axes]):
                order, own = axes, space
            elif same_sizes(lengths, [whole[axis] for axis in shared]):
                order, own = shared, None
            else:
                raise _Apart
            where = with_ones((replaced(places[axis], inside) for axis in order), each.value.shape)
            targets.append((each, where, own))
        # spaces of all reductions must be known before anything is written
        for each, where, _ in targets:
            self._open_spaces(writer, each.value, where)
        if disturbs and not looped:
            self._write_at_last(writer, [(each, where) for each, where, _ in targets])
            return self._finished(writer)
        for each, where, own in targets:
            self._write(writer, each, where, own)
        return self._finished(writer)

    def _disturbs(self) -> bool:
        """Whether an output is written into a tensor that is read: what reads it again finds other values."""
        read = {each.tensor for out in self.outputs for each in below(out.value) if isinstance(each, Stored)}
        return any(each.tensor in read for each in self.outputs)

    def _walked(self, writer: KernelWriter) -> tuple[Shape, Coordinates, dict[str, Size]]:
        """The largest shape among the outputs, with the places of its element and the variables that walk it."""
        whole = max((each.value.shape for each in self.outputs), key=len)
        all_of_them = Space("all", {})
        places = tuple(writer.variable(all_of_them, f"i{axis}", size) for axis, size in enumerate(whole))
        return whole, places, all_of_them.sizes

    def _shared_out(self) -> set[str] | None:
        """Which variables of the largest output programs share out; None if there is no reduction: all of them."""
        probe = KernelWriter("probe", self.splits, self.stored, False)
        whole, places, walked = self._walked(probe)
        probe.outer.sizes.update(walked)
        needed: set[str] = set()
        reductions: list[Reduction] = []
        for each in self.outputs:
            where = self._within(each.value.shape, whole, places)
            if len([place for place in where if place.terms]) < len([place for place in places if place.terms]):
                needed |= variables(where)
            for reduction, kept in probe.probe(each.value, where):
                reductions.append(reduction)
                needed |= variables(kept) & walked.keys()
        if not reductions and needed:
            raise _Apart
        self.reductions = reductions
        self._not_starved(needed, 1)
        return needed if reductions else None

    def _not_starved(self, needed: set[str], together: int) -> None:
        """Raise NeedsMemory if too few programs would walk too much: what only looks at finished reductions can be
        shared out among more programs than there are rows. A scan that is a result cannot."""
        _, _, walked = self._walked(KernelWriter("probe", self.splits, self.stored, False))
        rows = product([size for name, size in walked.items() if name in needed])
        rest = product([size for name, size in walked.items() if name not in needed])
        if self.reductions and not rest.is_one and starved(rows, rest, together):
            first = self.reductions[0]
            if not isinstance(first, Scan) or all(each.value is not first for each in self.outputs):
                raise NeedsMemory(first)

    def _within(self, shape: Shape, whole: Shape, places: Coordinates) -> Coordinates:
        """Places of an output's element: its dimensions are some of the largest output's, in order."""
        left = [axis for axis, size in enumerate(whole) if not size.is_one]
        found: list[Coordinate] = []
        for size in shape:
            while not size.is_one and left and not whole[left[0]].is_same(size):
                left.pop(0)
            if not size.is_one and not left:
                raise _Apart
            found.append(ORIGIN if size.is_one else places[left.pop(0)])
        return tuple(found)

    def _longest(self, needed: set[str] | None) -> int:
        """The largest number of elements in a row, in any of the subgraphs."""
        if needed is None:
            return 1
        _, _, walked = self._walked(KernelWriter("probe", self.splits, self.stored, False))
        rows: list[Shape] = [tuple(size for name, size in walked.items() if name not in needed)]
        reached = uncomputed(self.outputs, self.stored)
        rows += [value.reduced for value in reached if isinstance(value, Reduction)]
        return max(max(product(each).values) for each in rows)

    def _open_spaces(self, writer: KernelWriter, value: Value, places: Coordinates) -> None:
        for reduction, kept in writer.probe(value, places):
            _, walked = writer.space_for(reduction)
            self._open_spaces(writer, reduction.operand, reduction.inside(kept, walked))

    def _write(self, writer: KernelWriter, output: Output, places: Coordinates, space: Space | None) -> None:
        self._reduce(writer, output, places)
        if space is not None and writer.looped:
            writer.open_loop(space)
        self._store(writer, output, places, writer.element(output.value, places))
        if space is not None and writer.looped:
            writer.close_loop()

    def _write_at_last(self, writer: KernelWriter, targets: Sequence[tuple[Output, Coordinates]]) -> None:
        """Write outputs after everything is read, since one is a tensor that others read."""
        for each, where in targets:
            self._reduce(writer, each, where)
        codes = [writer.element(each.value, where) for each, where in targets]
        if any(space.ordered for space in writer.spaces):
            # other threads than those that write have read the rows in eager's order
            writer.lines.append("    tl.debug_barrier()")
        for (each, where), code in zip(targets, codes):
            self._store(writer, each, where, code)

    def _reduce(self, writer: KernelWriter, output: Output, places: Coordinates) -> None:
        """Write the reductions that an output needs."""
        for reduction, kept in writer.probe(output.value, places):
            writer.reduce(reduction, kept, "")

    def _store(self, writer: KernelWriter, output: Output, places: Coordinates, code: str) -> None:
        access = writer.access(output.tensor, output.value, places)
        condition = writer.mask(variables(places))
        constant = isinstance(output.value, Number | PassedNumber) or _is_number(code) or output.value.dtype.is_bool
        stored = code if constant else f"{atom(code)}.to({output.tensor}_ptr.dtype.element_ty)"
        address = writer.address(access)
        if not variables(places):
            # a single element: only the first row or index is inside
            address += " + row" if writer.tiled else " + index"
            condition = "rows" if writer.tiled else "inside"
        writer.lines.append(f"{writer.indent}tl.store({address}, {stored}, mask={condition})")

    def _finished(self, writer: KernelWriter) -> Code:
        tiled = writer.tiled
        head: list[str] = []
        block = "ROWS" if tiled else "BLOCK"
        count = f"tl.program_id(0).to(INDEX) * {block} + tl.arange(0, {block})"
        if tiled:
            count = f"({count})[:, None]"
        held = [space for space in writer.spaces if not space.ordered]
        if writer.crossed:
            head += writer.tile_lines()
        else:
            head += writer.space_lines(writer.outer, count)
        if not writer.looped and not writer.crossed:
            for space in held:
                head += writer.space_lines(space, f"tl.arange(0, {writer.width(space)})")
        constants = ["OUTER", *(space.name.upper() for space in writer.spaces)]
        labels = [each.label for each in writer.accesses.values()]
        tiles = ["ROWS", *(writer.width(space) for space in held)] if tiled else ["BLOCK"]
        for space in (each for each in writer.spaces if each.ordered):
            tiles += [each.upper() for each in space.counts]
        if writer.crossed:
            tiles = ["TILES", "ROWS", "COLUMNS"]
        names = [*constants, *labels, *writer.constants, "INDEX", *tiles]
        lines = with_parameters(writer.name, writer.tensors, names)
        body = [f"    {each}" for each in head] + writer.lines
        return Code(
            writer.name, "\n".join([*lines, *body]), list(writer.tensors), writer.outer, writer.spaces,
            list(writer.accesses.values()), dict(writer.constants), set(writer.pinned), self.outputs, writer.looped,
            writer.tiled, writer.crossed, False,
        )  # fmt: skip


def _is_number(code: str) -> bool:
    try:
        float(code)
    except ValueError:
        return False
    return True
