"""Reductions in two stages: many programs reduce parts of a few long rows, and another kernel their results.

The parts lie in memory in between. Their order does not depend on which program ends first."""

import math

from passnet_core.solvers.rules.coordinates import Coordinates
from passnet_core.solvers.rules.dtypes import DType, wide_of
from passnet_core.solvers.rules.kernels import LOOPED, neutral
from passnet_core.solvers.rules.lowering.pointwise import single
from passnet_core.solvers.rules.lowering.views import view_of
from passnet_core.solvers.rules.sharing import parts_wanted, rows_together, starved
from passnet_core.solvers.rules.sizes import Size, product
from passnet_core.solvers.rules.values import Chosen, ElementWriter, Number, Order, Reduction, Value

LEAST = 32
"""A part has so many elements at least."""

MOST_PARTS = 1 << 13
"""Parts of a row that one program still folds."""


def in_stages(kind: str, x: Value, axes: tuple[int, ...], dtype: DType, *, exact: bool, order: Order) -> Reduction:
    """A reduction over these axes, in two stages if there are few rows, and long ones. order: of a sum in one stage."""
    kept = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    rows, columns = product(kept), product([x.shape[axis] for axis in axes])
    together = rows_together(x, axes)
    if kind not in LOOPED or not starved(rows, columns, together):
        return Reduction(kept, dtype, kind, x, axes, exact, order, name=kind)
    wanted = parts_wanted(rows, together)
    x, axes, leading = _in_parts(kind, x, tuple(sorted(axes)), wanted)
    within = tuple(axis for axis in axes if axis not in leading)
    work = wide_of(dtype) if kind == "sum" and dtype.is_float else dtype
    partial = tuple(size for axis, size in enumerate(x.shape) if axis not in within)
    parts = Reduction(partial, work, kind, x, within, True, name=f"{kind}_of_parts")
    left = [axis for axis in range(len(x.shape)) if axis not in within]
    return Reduction(kept, dtype, kind, parts, tuple(left.index(axis) for axis in leading), exact, name=kind)


def _in_parts(
    kind: str, x: Value, axes: tuple[int, ...], wanted: int
) -> tuple[Value, tuple[int, ...], tuple[int, ...]]:
    """The operand, the axes to reduce, and those of them that tell parts apart: whole axes if some are of a good
    length, otherwise a new one."""
    lengths = [max(x.shape[axis].values) for axis in axes]
    whole = [(math.prod(lengths[:count]), count) for count in range(1, len(axes))]
    whole = [(parts, count) for parts, count in whole if math.prod(lengths[count:]) >= LEAST and parts <= MOST_PARTS]
    for parts, count in whole:
        if wanted <= 4 * parts:
            return x, axes, axes[:count]
    longest = max(range(len(axes)), key=lambda place: lengths[place])
    before = math.prod(lengths[:longest])
    leading = axes[:longest] if before <= wanted else ()
    before = before if leading else 1
    others = math.prod(lengths) // (lengths[longest] * before)
    least = max(LEAST / others, lengths[longest] * before / wanted, 1)
    length = 1 << math.ceil(math.log2(least))
    if whole and max(whole)[0] * 2 >= before * lengths[longest] / length:
        return x, axes, axes[: max(whole)[1]]
    axis = axes[longest]
    x = _taken_apart(kind, x, axis, length)
    moved = tuple(each + (each > axis) for each in axes)
    return x, tuple(sorted((*moved, axis + 1))), (*leading, axis)


def _taken_apart(kind: str, x: Value, axis: int, length: int) -> Value:
    """x with an axis as two, the inner one of this length; where the last part has no elements, what changes no
    result."""
    size = x.shape[axis]
    parts = (size + (length - 1)).divided(Size.of(length))
    shape = (*x.shape[:axis], parts, Size.of(length), *x.shape[axis + 1 :])

    def inside(places: Coordinates) -> Coordinates:
        return (*places[:axis], places[axis] * length + places[axis + 1], *places[axis + 2 :])

    if size.over(Size.of(length)) is not None:
        return view_of(x, shape, inside)

    def test(writer: ElementWriter, places: Coordinates) -> str:
        return f"{writer.place(inside(places)[axis])} < {writer.size(size)}"

    nothing = Number((), x.dtype, neutral(kind, x.dtype))
    return Chosen(shape, x.dtype, ((test, x, lambda _, places: inside(places)), (None, nothing, single)))
