"""Rearrangements: elements in other places, in memory of their own."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinate, Coordinates, Term, parted
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.layouts import dense, sizes_of, strides_of
from passnet_core.solvers.rules.lowering.arguments import (
    CONTIGUOUS,
    SAME_LAYOUT,
    Argument,
    Literal,
    Operation,
    axis_of,
    by_name,
    flat_items,
    size_of,
)
from passnet_core.solvers.rules.lowering.indexing import narrow, position
from passnet_core.solvers.rules.lowering.pointwise import cast, joined, operand, pointwise, single
from passnet_core.solvers.rules.lowering.views import (
    at_least,
    copied,
    flatten,
    laid_out,
    reshaped,
    transpose,
    unsqueeze,
    view_of,
)
from passnet_core.solvers.rules.lowering.views import diagonal as diagonal_of
from passnet_core.solvers.rules.sizes import ONE, ZERO, Size, derived, product
from passnet_core.solvers.rules.values import Chosen, Copied, ElementWriter, Value, View


def clone(x: Value, memory_format: Argument = None) -> Value:
    """x, in memory of its own. Raises Unsupported for layouts of images."""
    if memory_format not in (*SAME_LAYOUT, CONTIGUOUS):
        raise Unsupported("a copy in another layout")
    return Copied(x.shape, x.dtype, x, contiguous=memory_format == CONTIGUOUS)


def cat(tensors: Argument, dim: int = 0) -> Value:
    """Tensors, one after the other along an axis."""
    given = [each for each in tensors if each.shape]
    axis = axis_of(dim, len(given[0].shape))
    dtype = joined(given)
    starts = [ZERO]
    for each in given:
        starts.append(starts[-1] + each.shape[axis])
    shape = (*given[0].shape[:axis], starts[-1], *given[0].shape[axis + 1 :])

    def chooser(index: int) -> Callable[[ElementWriter, Coordinates], str] | None:
        if index == len(given) - 1:
            return None
        end = starts[index + 1]

        def test(writer: ElementWriter, places: Coordinates) -> str:
            upper = f"{writer.place(places[axis])} < {writer.size(end)}"
            lower = f"({writer.place(places[axis])} >= {writer.size(starts[index])})"
            return f"{lower} & ({upper})" if index else upper

        return test

    def mover(start: Size) -> Callable[[ElementWriter, Coordinates], Coordinates]:
        return lambda _, places: (*places[:axis], places[axis] + -start, *places[axis + 1 :])

    operands = [cast(each, dtype) if each.dtype.name != dtype.name else each for each in given]
    pieces = tuple((chooser(index), each, mover(starts[index])) for index, each in enumerate(operands))
    if len(pieces) == 1:
        return pointwise("{0}", given[0], dtype=dtype, exact=True)
    return Chosen(shape, dtype, pieces)


def stack(tensors: Argument, dim: int = 0) -> Value:
    """Tensors, one after the other along a new axis."""
    at = dim + len(tensors[0].shape) + 1 if dim < 0 else dim
    return cat([unsqueeze(each, at) for each in tensors], at)


def pad(x: Value, pad: Argument, mode: str = "constant", value: Argument = None) -> Value:
    """x with more elements at the ends of axes."""
    given = flat_items((pad,))
    if mode != "constant":
        return mirrored(x, given, mode)
    ends = _ends(x, given)
    shape = tuple(size + sum(ends[axis], ZERO) if axis in ends else size for axis, size in enumerate(x.shape))

    def test(writer: ElementWriter, places: Coordinates) -> str:
        found = []
        for axis, (before, after) in ends.items():
            place = writer.place(places[axis])
            if before != ZERO:
                found.append(f"({place} >= {writer.size(before)})")
            if after != ZERO:
                found.append(f"({place} < {writer.size(before + x.shape[axis])})")
        return " & ".join(sorted(found)) or f"{writer.place(places[-1])} >= 0"

    def moved(_: ElementWriter, places: Coordinates) -> Coordinates:
        return tuple(place + -ends[axis][0] if axis in ends else place for axis, place in enumerate(places))

    fill = operand(0 if value is None else value, x.dtype)
    return Chosen(shape, x.dtype, ((test, x, moved), (None, fill, single)))


def _ends(x: Value, pad: Sequence[Argument]) -> dict[int, tuple[Size, Size]]:
    """By axis, how many elements come before and after: the last axis is given first."""
    pairs = zip(pad[::2], pad[1::2], strict=True)
    return {len(x.shape) - 1 - place: (size_of(one), size_of(other)) for place, (one, other) in enumerate(pairs)}


_MIRRORS: Mapping[str, str] = {
    "reflect": "{last} - tl.abs({last} - tl.abs({place}))",
    "replicate": "tl.minimum(tl.maximum({place}, 0), {last})",
    "circular": "({place} + {last} + 1) % ({last} + 1)",
}
"""By the mode of padding, which element stands at a place."""


def mirrored(x: Value, pad: Sequence[Argument], mode: str) -> Value:
    """Padding by the elements inside: in reverse, without the one at the border, or by that one, or from the other end.
    Raises Unsupported for another mode."""
    crops = any(isinstance(each, int) and each < 0 for each in pad)
    if mode not in _MIRRORS or (crops and mode != "replicate"):
        raise Unsupported(f"padding of mode {mode}")
    ends = _ends(x, pad)
    shape = tuple(size + sum(ends.get(axis, ()), ZERO) for axis, size in enumerate(x.shape))

    def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
        found = list(places)
        for axis, (before, _) in ends.items():
            last = writer.size(x.shape[axis] - 1)
            text = _MIRRORS[mode].format(last=last, place=writer.place(places[axis] + -before))
            found[axis] = Coordinate(
                ((Term(text, places[axis].variables, x.shape[axis], read=places[axis].read), ONE),)
            )
        return tuple(found)

    return laid_out(View(shape, x.dtype, x, inside, name=x.name))


def roll(x: Value, shifts: Argument, dims: Argument = ()) -> Value:
    """x with the elements of axes moved on, the last ones to the front."""
    by = flat_items((shifts,))
    if not dims:
        return copied(reshaped(rolled(flatten(x), int(by[0]), 0), x.shape)) if x.shape else x
    axes = [axis_of(each, len(x.shape)) for each in flat_items((dims,))]
    found = x
    for shift, axis in zip(by, axes):
        found = rolled(found, int(shift), axis)
    return found


def rolled(x: Value, shift: int, axis: int) -> Value:
    """x[(i - shift) % size]: the last elements come first."""
    size = x.shape[axis]
    front = Size.of(shift) if shift >= 0 else size + shift
    if any(abs(shift) > each for each in size.values):
        front = derived(f"{shift} % max({{}}, 1)", lambda length: shift % max(length, 1), size)

    def test(writer: ElementWriter, places: Coordinates) -> str:
        return f"{writer.place(places[axis])} < {writer.size(front)}"

    def wrapped(_: ElementWriter, places: Coordinates) -> Coordinates:
        return (*places[:axis], places[axis] + (size - front), *places[axis + 1 :])

    def plain(_: ElementWriter, places: Coordinates) -> Coordinates:
        return (*places[:axis], places[axis] + -front, *places[axis + 1 :])

    return Chosen(x.shape, x.dtype, ((test, x, wrapped), (None, x, plain)))


def flip(x: Value, dims: Argument) -> Value:
    """x with the elements of axes in reverse."""
    axes = {axis_of(each, len(x.shape)) for each in flat_items((dims,))}
    if not x.shape:
        return clone(x)

    def inside(places: Coordinates) -> Coordinates:
        return tuple(
            Coordinate((), x.shape[axis] - 1) + place * -1 if axis in axes else place
            for axis, place in enumerate(places)
        )

    found = Copied(x.shape, x.dtype, view_of(x, x.shape, inside))
    # the strides of x, which those of the view are not
    found.known_strides = dense(sizes_of(x), [strides_of(x)])
    return found


def repeat(x: Value, repeats: Sequence[Argument]) -> Value:
    """x, several times along each axis."""
    given = [size_of(each) for each in repeats]
    more = len(given) - len(x.shape)
    own = (*[ONE] * more, *x.shape)
    shape = tuple(each * size for each, size in zip(given, own))
    if any(0 in each.values for each in shape):
        raise Unsupported("repeat of nothing")

    def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
        return tuple(
            place if each.is_one else ORIGIN if size.is_one else parted(place, size, writer)[1]
            for place, each, size in zip(places[more:], given[more:], x.shape)
        )

    return laid_out(View(shape, x.dtype, x, inside, name=x.name))


def tile(x: Value, repeats: Sequence[Argument]) -> Value:
    """x, several times along its last axes, and along new ones before them."""
    return repeat(x, (*[1] * (len(x.shape) - len(repeats)), *repeats))


def turned(x: Value, k: int = 1, dims: Sequence[int] = (0, 1)) -> Value:
    """x, turned by so many right angles in the plane of two axes."""
    first, second = dims
    match k % 4:
        case 0:
            return clone(x)
        case 1:
            return transpose(flip(x, second), first, second)
        case 2:
            return flip(x, dims)
    return flip(transpose(x, first, second), second)


def stacked(rank: int, axis: int, tensors: Sequence[Value]) -> Value:
    """Tensors, with so many axes at least, one after the other along one."""
    given = [at_least(rank, each) for each in tensors]
    return cat(given, axis if len(given[0].shape) > axis else 0)


def column_stack(tensors: Sequence[Value]) -> Value:
    """Vectors as columns, and matrices, beside each other."""
    return cat([each if len(each.shape) > 1 else reshaped(each, (product(each.shape), ONE)) for each in tensors], 1)


def block_diag(*tensors: Value) -> Value:
    """Matrices along the diagonal of one that has zeros elsewhere."""
    given = [at_least(2, each) for each in tensors]
    widths = [each.shape[1] for each in given]
    rows = [pad(each, (sum(widths[:place], ZERO), sum(widths[place + 1 :], ZERO))) for place, each in enumerate(given)]
    return cat(rows, 0)


def diag(x: Value, diagonal: int = 0) -> Value:
    """A matrix with a vector on a diagonal, or the diagonal of a matrix."""
    return diag_embed(x, diagonal) if len(x.shape) == 1 else clone(diagonal_of(x, diagonal))


def diag_embed(x: Value, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Value:
    """Matrices with the elements of the last axis on a diagonal, and zeros elsewhere."""
    if (dim1, dim2) != (-2, -1):
        raise Unsupported("a diagonal of other axes")
    size = x.shape[-1] + abs(offset)

    def test(writer: ElementWriter, places: Coordinates) -> str:
        return f"{writer.place(places[-1] + places[-2] * -1)} == {offset}"

    def inside(_: ElementWriter, places: Coordinates) -> Coordinates:
        return (*places[:-2], places[-1] + -max(offset, 0))

    zero = operand(0, x.dtype)
    return Chosen((*x.shape[:-1], size, size), x.dtype, ((test, x, inside), (None, zero, single)))


def select_scatter(x: Value, src: Value, dim: int, index: Argument) -> Value:
    """x with another tensor at one place of an axis."""
    axis = axis_of(dim, len(x.shape))
    at = position(index, x.shape[axis])

    def test(writer: ElementWriter, places: Coordinates) -> str:
        return f"{writer.place(places[axis])} == {writer.size(at)}"

    def inside(_: ElementWriter, places: Coordinates) -> Coordinates:
        return (*places[:axis], *places[axis + 1 :])

    return Chosen(x.shape, x.dtype, ((test, cast(src, x.dtype), inside), (None, x, lambda _, places: places)))


def repeat_interleave(x: Value, repeats: Argument, dim: int | None = None, output_size: Argument = None) -> Value:
    """x with each element of an axis several times. output_size says only how long the axis becomes."""
    if isinstance(repeats, Value):
        raise Unsupported("repeat_interleave by a tensor")
    if dim is None:
        return repeat_interleave(flatten(x), repeats, 0)
    axis, times = axis_of(dim, len(x.shape)), size_of(repeats)
    shape = (*x.shape[:axis], x.shape[axis] * times, *x.shape[axis + 1 :])

    def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
        return (*places[:axis], parted(places[axis], times, writer)[0], *places[axis + 1 :])

    return laid_out(View(shape, x.dtype, x, inside, name=x.name))


def diff(x: Value, n: int = 1, dim: int = -1, prepend: Argument = None, append: Argument = None) -> Value:
    """The differences of neighbours along an axis. Raises Unsupported for repeated ones."""
    if n != 1:
        raise Unsupported(f"{n} differences")
    whole = [each for each in (prepend, x, append) if each is not None]
    given = cat(whole, dim) if len(whole) > 1 else x
    axis = axis_of(dim, len(given.shape))
    last = given.shape[axis] - 1
    after, before = narrow(given, axis, ONE, last), narrow(given, axis, ZERO, last)
    sign = "!=" if given.dtype.is_bool else "-"
    return pointwise(f"{{0}} {sign} {{1}}", after, before, dtype=given.dtype)


def triangle(sign: str, x: Value, diagonal: Argument = 0) -> Value:
    """The elements of matrices up to a diagonal, or from there on, elsewhere 0."""
    by = size_of(diagonal) if isinstance(diagonal, Literal) else Size.of(int(diagonal))

    def test(writer: ElementWriter, places: Coordinates) -> str:
        bound = by.text if by.constant is not None else writer.size(by)
        return f"{writer.place(places[-1] + places[-2] * -1)} {sign} {bound}"

    zero = operand(0, x.dtype)
    return Chosen(x.shape, x.dtype, ((test, x, lambda _, p: p), (None, zero, single)))


REARRANGEMENTS: Mapping[str, Operation] = {
    **by_name(clone, stack, roll, flip, repeat, repeat_interleave, tile, column_stack, block_diag, diag, diag_embed),
    **by_name(diff, select_scatter),
    **dict.fromkeys(("cat", "concat", "concatenate"), cat),
    **dict.fromkeys(("pad", "constant_pad_nd"), pad),
    "tril": partial(triangle, "<="),
    "triu": partial(triangle, ">="),
    "fliplr": partial(flip, dims=1),
    "flipud": partial(flip, dims=0),
    "rot90": turned,
    "hstack": partial(stacked, 1, 1),
    **dict.fromkeys(("vstack", "row_stack"), partial(stacked, 2, 0)),
    "dstack": partial(stacked, 3, 2),
    "diagflat": lambda x, offset=0: diag_embed(flatten(x), offset),
}
"""Rearrangements, by label."""
