"""Which outputs one kernel computes: as many as walk the same variables.

What reductions need at places that differ along a tile is computed by a kernel of its own before."""

from collections.abc import Sequence

from passnet_core.graphs.spelling import Names
from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinate, Coordinates, Split, variables
from passnet_core.solvers.rules.kernels import (
    MOST_COLUMNS,
    Code,
    KernelWriter,
    NeedsMemory,
    Output,
    Space,
    Unsupported,
    atom,
    same_sizes,
)
from passnet_core.solvers.rules.sizes import Size, product
from passnet_core.solvers.rules.values import Number, PassedNumber, Reduction, Stored, Value, below

MOST_TEMPORARIES = 12
"""Values that are kept in memory only because a reduction needs them."""

MOST_SPLITS = 24
"""How often variables of a kernel are taken apart."""


def planned(outputs: Sequence[Output], name: str) -> list[Code]:
    """The kernels that compute these outputs, in the order in which they must run. Raises Unsupported."""
    left = list(outputs)
    names = Names(taken=[each.tensor for each in outputs])
    held: set[int] = set()
    while True:
        try:
            return _kernels(left, name)
        except NeedsMemory as needed:
            if id(needed.value) in held or len(held) > MOST_TEMPORARIES:
                raise Unsupported("reductions that need each other along the same rows") from None
            held.add(id(needed.value))
            place = next(index for index, each in enumerate(left) if _needs(each.value, needed.value))
            left.insert(place, Output(names.free(f"{needed.value.name}_held"), needed.value))


def _needs(value: Value, other: Value) -> bool:
    return any(each is other for each in below(value))


def _reduces(value: Value) -> bool:
    return any(isinstance(each, Reduction) for each in below(value))


def _kernels(outputs: Sequence[Output], name: str) -> list[Code]:
    """One kernel after the other, each for as many outputs as walk the same variables."""
    codes: list[Code] = []
    left, stored = list(outputs), dict[int, Stored]()
    while left:
        title = f"{name}_{len(codes) + 1}" if codes else name
        group, others = [left[0]], left[1:]
        code = _written(group, title, stored)
        for each in others:
            waiting = [other for other in others if other is not each and other not in group]
            if any(_needs(each.value, other.value) and _reduces(other.value) for other in waiting):
                continue
            try:
                code = _written([*group, each], title, stored)
            except (_Apart, NeedsMemory):
                continue
            group.append(each)
        codes.append(code)
        left = [each for each in left if each not in group]
        for each in group:
            stored[id(each.value)] = Stored(each.value.shape, each.value.dtype, each.tensor, name=each.tensor)
    return codes


class _Apart(Exception):
    """These outputs do not walk the same variables."""


def _written(outputs: list[Output], name: str, stored: dict[int, Stored]) -> Code:
    splits: dict[str, Size] = {}
    for _ in range(MOST_SPLITS):
        try:
            return _Kernel(outputs, name, splits, stored).code()
        except Split as found:
            splits[found.variable] = found.inner
    raise Unsupported("views that take dimensions apart again and again")


class _Kernel:
    """Writes the kernel of some outputs with given splits of variables."""

    def __init__(self, outputs: list[Output], name: str, splits: dict[str, Size], stored: dict[int, Stored]) -> None:
        self.outputs, self.name, self.splits, self.stored = outputs, name, splits, stored

    def code(self) -> Code:
        outer = self._outer_axes()
        looped = self._longest(outer) > MOST_COLUMNS
        writer = KernelWriter(f"{self.name}_kernel", self.splits, self.stored, looped)
        first = max(self.outputs, key=lambda each: len(each.value.shape)).value
        whole = first.shape
        axes = [axis for axis, size in enumerate(whole) if not size.is_one]
        shared = [axis for axis in axes if outer is None or axis in outer]
        places: dict[int, Coordinate] = {
            axis: writer.variable(writer.outer, f"i{axis}", whole[axis]) for axis in shared
        }
        writer.tiled = outer is not None
        targets: list[tuple[Output, Coordinates, Space | None]] = []
        for each in self.outputs:
            shape = each.value.shape
            lengths = [size for size in shape if not size.is_one]
            rest = [axis for axis in axes if axis not in shared]
            if same_sizes(lengths, [whole[axis] for axis in axes]):
                walked: dict[int, Coordinate] = dict(places)
                space = None
                if rest:
                    space, found = writer.space_of(tuple(whole[axis] for axis in rest))
                    walked |= dict(zip(rest, found))
                order = iter(axes)
            elif same_sizes(lengths, [whole[axis] for axis in shared]):
                walked, space, order = dict(places), None, iter(shared)
            else:
                raise _Apart
            targets.append((each, tuple(ORIGIN if size.is_one else walked[next(order)] for size in shape), space))
        # spaces of all reductions must be known before anything is written
        for each, where, _ in targets:
            self._open_spaces(writer, each.value, where)
        for each, where, space in targets:
            self._write(writer, each, where, space)
        return self._finished(writer)

    def _outer_axes(self) -> set[int] | None:
        """Which axes of the largest output programs share out; None if there is no reduction: all of them."""
        first = max(self.outputs, key=lambda each: len(each.value.shape))
        probe = KernelWriter("probe", self.splits, self.stored, False)
        shape = first.value.shape
        places = tuple(probe.variable(probe.outer, f"i{axis}", size) for axis, size in enumerate(shape))
        by_variable = {name: axis for axis, place in enumerate(places) for name in place.variables}
        needed: set[int] = set()
        reductions = 0
        for each in self.outputs:
            where = places
            if len(each.value.shape) != len(shape) or any(
                not a.is_same(b) for a, b in zip(each.value.shape, shape) if not a.is_one
            ):
                lengths = [size for size in each.value.shape if not size.is_one]
                axes = [axis for axis, size in enumerate(shape) if not size.is_one]
                found: list[Coordinate] = []
                left = list(axes)
                for size in each.value.shape:
                    if size.is_one:
                        found.append(ORIGIN)
                        continue
                    while left and not shape[left[0]].is_same(size):
                        left.pop(0)
                    if not left:
                        raise _Apart
                    axis = left.pop(0)
                    found.append(places[axis])
                    if len(lengths) != len(axes):
                        needed.add(axis)
                where = tuple(found)
            for _, kept in probe.probe(each.value, where):
                reductions += 1
                needed |= {by_variable[name] for name in variables(kept) if name in by_variable}
        if not reductions:
            if needed and any(
                len([s for s in each.value.shape if not s.is_one]) != len([s for s in shape if not s.is_one])
                for each in self.outputs
            ):
                raise _Apart
            return None
        return needed

    def _longest(self, outer: set[int] | None) -> int:
        """The largest number of elements in a row, in any of the subgraphs."""
        if outer is None:
            return 1
        rows = [tuple(size for axis, size in enumerate(each.value.shape) if axis not in outer) for each in self.outputs]
        for each in self.outputs:
            rows += [value.reduced for value in below(each.value) if isinstance(value, Reduction)]
        return max(max(product(each).values) for each in rows)

    def _open_spaces(self, writer: KernelWriter, value: Value, places: Coordinates) -> None:
        for reduction, kept in writer.probe(value, places):
            _, walked = writer.space_of(reduction.reduced)
            self._open_spaces(writer, reduction.operand, reduction.inside(kept, walked))

    def _write(self, writer: KernelWriter, output: Output, places: Coordinates, space: Space | None) -> None:
        for reduction, kept in writer.probe(output.value, places):
            writer.reduce(reduction, kept, "")
        if space is not None and writer.looped:
            writer.open_loop(space)
        code = writer.element(output.value, places)
        access = writer.access(output.tensor, places)
        condition = writer.mask(variables(places))
        constant = isinstance(output.value, Number | PassedNumber) or _is_number(code) or output.value.dtype.is_bool
        stored = code if constant else f"{atom(code)}.to({output.tensor}_ptr.dtype.element_ty)"
        address = writer.address(access)
        if not variables(places):
            # a single element: only the first row or index is inside
            address += " + row" if writer.tiled else " + index"
            condition = "rows" if writer.tiled else "inside"
        writer.lines.append(f"{writer.indent}tl.store({address}, {stored}, mask={condition})")
        if space is not None and writer.looped:
            writer.close_loop()

    def _finished(self, writer: KernelWriter) -> Code:
        tiled = writer.tiled
        head: list[str] = []
        block = "ROWS" if tiled else "BLOCK"
        count = f"tl.program_id(0).to(INDEX) * {block} + tl.arange(0, {block})"
        if tiled:
            count = f"({count})[:, None]"
        head += writer.space_lines(writer.outer, count)
        if not writer.looped:
            for space in writer.spaces:
                head += writer.space_lines(space, f"tl.arange(0, {writer.width(space)})")
        constants = ["OUTER", *(space.name.upper() for space in writer.spaces)]
        labels = [each.label for each in writer.accesses.values()]
        tiles = ["ROWS", *(writer.width(space) for space in writer.spaces)] if tiled else ["BLOCK"]
        names = [*constants, *labels, *writer.constants, "INDEX", *tiles]
        parameters = [f"{each}_ptr" for each in writer.tensors] + [f"{each}: tl.constexpr" for each in names]
        lines = ["@triton.jit", f"def {writer.name}("]
        line = "    "
        for each in parameters:
            if len(line) + len(each) + 2 > 116:
                lines.append(line.rstrip())
                line = "    "
            line += f"{each}, "
        lines += [line.rstrip(), "):  # fmt: skip"]
        body = [f"    {each}" for each in head] + writer.lines
        return Code(
            writer.name, "\n".join([*lines, *body]), list(writer.tensors), writer.outer, writer.spaces,
            list(writer.accesses.values()), dict(writer.constants), set(writer.pinned), self.outputs, writer.looped,
            writer.tiled,
        )  # fmt: skip


def _is_number(code: str) -> bool:
    try:
        float(code)
    except ValueError:
        return False
    return True
