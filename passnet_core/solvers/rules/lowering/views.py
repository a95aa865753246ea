"""Views: the same elements at other places, in other shapes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinates, flattened, unflattened
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.layouts import is_contiguous, strides_of
from passnet_core.solvers.rules.lowering.arguments import (
    Argument,
    Operation,
    axes_of,
    axis_of,
    by_name,
    flat_items,
    size_of,
)
from passnet_core.solvers.rules.lowering.pointwise import broadcast
from passnet_core.solvers.rules.sizes import ONE, Size, aligned, assume, derived, product
from passnet_core.solvers.rules.values import Copied, ElementWriter, Shape, Value, View, broadcast_places


def view_of(x: Value, shape: Shape, inside: Callable[[Coordinates], Coordinates]) -> Value:
    """The elements of x at other places."""
    return View(shape, x.dtype, x, lambda _, places: inside(places), name=x.name)


def with_origins(places: Coordinates, axes: Collection[int]) -> Coordinates:
    """Coordinates with the origin put in at these axes."""
    left = iter(places)
    return tuple(ORIGIN if axis in axes else next(left) for axis in range(len(places) + len(axes)))


def transpose(x: Value, dim0: int, dim1: int) -> Value:
    """x with two axes exchanged."""
    order = list(range(len(x.shape)))
    one, other = axis_of(dim0, len(order)), axis_of(dim1, len(order))
    order[one], order[other] = order[other], order[one]
    return permute(x, order)


def permute(x: Value, dims: Sequence[Argument]) -> Value:
    """x with its axes in another order."""
    order = [axis_of(each, len(x.shape)) for each in dims]
    shape = tuple(x.shape[axis] for axis in order)
    return view_of(x, shape, lambda places: tuple(places[order.index(axis)] for axis in range(len(order))))


def movedim(x: Value, source: Argument, destination: Argument) -> Value:
    """x with some axes at other positions."""
    rank = len(x.shape)
    taken, put = ([axis_of(each, rank) for each in flat_items((axes,))] for axes in (source, destination))
    order = [axis for axis in range(rank) if axis not in taken]
    for to, axis in sorted(zip(put, taken, strict=True)):
        order.insert(to, axis)
    return permute(x, order)


def diagonal(x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """The elements on a diagonal of two axes, in a new last axis."""
    rank = len(x.shape)
    one, other = axis_of(dim1, rank), axis_of(dim2, rank)
    down, across = max(-offset, 0), max(offset, 0)
    length = derived(
        f"max(min({{}} - {down}, {{}} - {across}), 0)",
        lambda a, b: max(min(a - down, b - across), 0),
        x.shape[one],
        x.shape[other],
    )
    kept = [axis for axis in range(rank) if axis not in (one, other)]

    def inside(places: Coordinates) -> Coordinates:
        starts = {one: places[-1] + down, other: places[-1] + across}
        return tuple(starts[axis] if axis in starts else places[kept.index(axis)] for axis in range(rank))

    return view_of(x, (*(x.shape[axis] for axis in kept), length), inside)


def as_strided(x: Value, size: Sequence[int], stride: Sequence[int], storage_offset: Argument = None) -> Value:
    """The elements at steps of these lengths in memory. Raises Unsupported unless that is in row-major order."""
    if not is_contiguous(x) or not x.shape:
        raise Unsupported("as_strided of what lies in another order")

    def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
        flat = ORIGIN + Size.of(storage_offset or 0)
        for place, step in zip(places, stride, strict=True):
            flat = flat + place * step
        return tuple(unflattened(flat, x.shape, writer))

    return View(tuple(map(size_of, size)), x.dtype, x, inside, name=x.name)


def at_least(rank: int, *tensors: Value) -> Argument:
    """Tensors with axes of size 1 put around theirs, so that they have so many."""
    if not all(isinstance(each, Value) for each in tensors):
        raise Unsupported("tensors in a list")
    found: list[Value] = []
    for each in tensors:
        while len(each.shape) < rank:
            each = unsqueeze(each, -1 if len(each.shape) == 2 else 0)
        found.append(each)
    return tuple(found) if len(found) > 1 else found[0]


def broadcast_tensors(*tensors: Value) -> tuple[Value, ...]:
    """Tensors, each repeated to the shape that they have together."""
    shape = broadcast([each.shape for each in tensors])
    return tuple(expand(each, shape) for each in tensors)


def laid_out(x: Value) -> Value:
    """The elements in memory of their own, in row-major order."""
    return Copied(x.shape, x.dtype, x, contiguous=True)


def contiguous(x: Value) -> Value:
    """x, in memory in row-major order."""
    return x if is_contiguous(x) else laid_out(x)


def copied(x: Value) -> Value:
    """The value of reshape: a view where strides can tell it, a copy elsewhere."""
    return x if strides_of(x) is not None else laid_out(x)


def channels_in_order(x: Value, parts: Argument, order: Sequence[int], shape: Shape) -> Value:
    """x with its axes taken apart, the parts in another order, in a shape: in memory of its own."""
    return Copied(shape, x.dtype, reshaped(permute(reshaped(x, parts), order), shape), contiguous=True)


def pixel_shuffle(x: Value, upscale_factor: int) -> Value:
    """Images with blocks of pixels in the place of channels."""
    (*lead, channels, high, wide), r = x.shape, Size.of(upscale_factor)
    n, count = len(lead), channels.divided(r * r)
    order = [*range(n), n, n + 3, n + 1, n + 4, n + 2]
    return channels_in_order(x, (*lead, count, r, r, high, wide), order, (*lead, count, high * r, wide * r))


def pixel_unshuffle(x: Value, downscale_factor: int) -> Value:
    """Images with channels in the place of blocks of pixels."""
    (*lead, channels, high, wide), r = x.shape, Size.of(downscale_factor)
    n, low, thin = len(lead), high.divided(r), wide.divided(r)
    order = [*range(n), n, n + 2, n + 4, n + 1, n + 3]
    return channels_in_order(x, (*lead, channels, low, r, thin, r), order, (*lead, channels * r * r, low, thin))


def channel_shuffle(x: Value, groups: Argument) -> Value:
    """The channels of groups, in turn."""
    (batch, channels, *rest), count = x.shape, size_of(groups)
    order = [0, 2, 1, *range(3, len(rest) + 3)]
    return channels_in_order(x, (batch, count, channels.divided(count), *rest), order, x.shape)


def matrix_transposed(x: Value) -> Value:
    """A matrix with its axes exchanged; anything smaller as it is."""
    return transpose(x, 0, 1) if len(x.shape) == 2 else x


def unsqueeze(x: Value, dim: int) -> Value:
    """x with a new axis of size 1."""
    at = dim + len(x.shape) + 1 if dim < 0 else dim
    shape = (*x.shape[:at], ONE, *x.shape[at:])
    return view_of(x, shape, lambda places: (*places[:at], *places[at + 1 :]))


def squeeze(x: Value, dim: Argument = None) -> Value:
    """x without axes of size 1."""
    named = () if dim == () else axes_of(x, dim)
    return without_axes(x, {axis for axis in named if x.shape[axis].seems_one})


def without_axes(x: Value, axes: Collection[int]) -> Value:
    """x without these axes, which are of size 1."""
    for axis in axes:
        assume(x.shape[axis], ONE)
    shape = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    return view_of(x, shape, lambda places: with_origins(places, axes))


def expand(x: Value, size: Sequence[Argument]) -> Value:
    """x, repeated along axes of size 1 and along new ones."""
    given = list(size)
    more = len(given) - len(x.shape)
    shape = tuple(x.shape[axis - more] if each == -1 else size_of(each) for axis, each in enumerate(given))
    shape = tuple(
        x.shape[axis - more] if axis >= more and size.seems(x.shape[axis - more]) else size
        for axis, size in enumerate(shape)
    )
    return view_of(x, shape, lambda places: broadcast_places(x.shape, shape, places))


def expand_as(x: Value, other: Value) -> Value:
    """x, repeated to the shape of another tensor."""
    return expand(x, other.shape)


def reshape(x: Value, size: Sequence[Argument]) -> Value:
    """x in another shape: a view if it can be one, and a copy otherwise."""
    given = list(size)
    known = [size_of(each) for each in given if each != -1]
    return copied(reshaped(x, tuple(_rest(x, known) if each == -1 else size_of(each) for each in given)))


def viewed(x: Value, size: Sequence[Argument]) -> Value:
    """x in another shape, in the same memory."""
    found = reshape(x, size)
    return found.operand if isinstance(found, Copied) else found


def view_as(x: Value, other: Value) -> Value:
    """x in the shape of another tensor, in the same memory."""
    return reshaped(x, other.shape)


def reshape_as(x: Value, other: Value) -> Value:
    """x in the shape of another tensor."""
    return copied(reshaped(x, other.shape))


def flatten(x: Value, start_dim: int = 0, end_dim: int = -1) -> Value:
    """x with several axes as one."""
    if not x.shape:
        return reshaped(x, (ONE,))
    first, last = axis_of(start_dim, len(x.shape)), axis_of(end_dim, len(x.shape))
    return copied(reshaped(x, (*x.shape[:first], product(x.shape[first : last + 1]), *x.shape[last + 1 :])))


def unflatten(x: Value, dim: int, size: Sequence[Argument]) -> Value:
    """x with one axis as several."""
    axis = axis_of(dim, len(x.shape))
    given = list(size)
    known = [size_of(each) for each in given if each != -1]
    found = [x.shape[axis].divided(product(known)) if each == -1 else size_of(each) for each in given]
    return reshaped(x, (*x.shape[:axis], *found, *x.shape[axis + 1 :]))


def reshaped(x: Value, shape: Shape) -> Value:
    """The elements in row-major order in another shape. Dimensions are taken apart and put together in groups."""
    groups = _groups(x.shape, shape)
    _assume_groups(x.shape, shape, groups)

    def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
        found = [ORIGIN] * len(x.shape)
        for before, after in groups:
            if not before:
                continue
            if len(before) == 1 and len(after) == 1:
                found[before[0]] = places[after[0]]
                continue
            flat = flattened([places[axis] for axis in after], [shape[axis] for axis in after])
            for axis, place in zip(before, unflattened(flat, [x.shape[axis] for axis in before], writer)):
                found[axis] = place
        return tuple(found)

    # the size of a dimension that stays is that of the operand: it is known by fewer names
    sizes = list(shape)
    for before, after in groups:
        if len(before) == 1 and len(after) == 1 and shape[after[0]].constant is None:
            sizes[after[0]] = x.shape[before[0]]
    return View(tuple(sizes), x.dtype, x, inside, name=x.name)


def per_channel(each: Value | None, x: Value) -> Value | None:
    """One value for each channel, as an operand beside x."""
    if each is None:
        return None
    rank = len(x.shape)
    shape = (ONE, *each.shape, *[ONE] * (rank - 2)) if rank > 1 else each.shape
    return view_of(each, shape, lambda places: (places[1],))


def meshgrid(*tensors: Argument, indexing: str = "ij") -> tuple[Value, ...]:
    """Each of several vectors, repeated along the axes of the others."""
    given = [each if each.shape else unsqueeze(each, 0) for each in flat_items(tensors)]
    shape = tuple(each.shape[0] for each in given)

    def along(axis: int) -> Callable[[Coordinates], Coordinates]:
        return lambda places: (places[axis],)

    grids = tuple(view_of(each, shape, along(axis)) for axis, each in enumerate(given))
    return tuple(transpose(each, 0, 1) for each in grids) if indexing == "xy" and len(given) > 1 else grids


def _rest(x: Value, known: Sequence[Size]) -> Size:
    """The size for -1. Equal sizes on both sides are left out first, so that it stays simple."""
    left, right = list(x.shape), list(known)
    for each in list(right):
        for own in left:
            if own == each or own.seems(each):
                left.remove(own)
                right.remove(each)
                break
    return product(left).divided(product(right))


def _assume_groups(before: Shape, after: Shape, groups: Sequence[tuple[list[int], list[int]]]) -> None:
    """Assume that dimensions belong together as they do in the subgraphs. One of the groups needs no assumption, since
    a view keeps the number of elements: the one that would be the longest to say."""
    equal = [
        (product([before[axis] for axis in one]), product([after[axis] for axis in other])) for one, other in groups
    ]
    open_ones = [each for each in equal if not each[0].is_same(each[1])]
    longest = max(open_ones, key=lambda each: len(each[0].text) + len(each[1].text), default=None)
    for each in open_ones:
        if each is not longest:
            assume(*each)


def _groups(before: Shape, after: Shape) -> list[tuple[list[int], list[int]]]:
    """Dimensions that belong together when a shape becomes another, by their sizes in the subgraphs."""
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(before) or j < len(after):
        one, other = ([i] if i < len(before) else []), ([j] if j < len(after) else [])
        if one and other and before[i].seems(after[j]):
            found.append((one, other))
            i, j = i + 1, j + 1
            continue
        if one and before[i].seems_one and not (other and after[j].seems_one):
            found.append((one, []))
            i += 1
            continue
        if other and after[j].seems_one:
            found.append(([], other))
            j += 1
            continue
        if not one or not other:
            raise Unsupported("a view whose sizes do not fit")
        left, right = before[i], after[j]
        while not left.seems(right):
            counts = aligned(left, right)
            if all(a <= b for a, b in counts) and one[-1] + 1 < len(before):
                one.append(one[-1] + 1)
                left = left * before[one[-1]]
            elif other[-1] + 1 < len(after):
                other.append(other[-1] + 1)
                right = right * after[other[-1]]
            else:
                raise Unsupported("a view whose sizes do not fit")
        found.append((one, other))
        i, j = one[-1] + 1, other[-1] + 1
    return found


VIEWS: Mapping[str, Operation] = {
    **by_name(transpose, permute, diagonal, as_strided, broadcast_tensors, pixel_shuffle, pixel_unshuffle),
    **by_name(channel_shuffle, unsqueeze, squeeze, expand, expand_as, reshape, view_as, reshape_as, flatten, unflatten),
    **by_name(meshgrid, contiguous),
    **dict.fromkeys(("movedim", "moveaxis"), movedim),
    **dict.fromkeys(("swapaxes", "swapdims"), transpose),
    "t": matrix_transposed,
    "adjoint": partial(transpose, dim0=-2, dim1=-1),
    "torch.linalg.diagonal": lambda x, *, offset=0, dim1=-2, dim2=-1: diagonal(x, offset, dim1, dim2),
    "view": viewed,
    "ravel": flatten,
    "broadcast_to": expand,
    **{f"atleast_{rank}d": partial(at_least, rank) for rank in (1, 2, 3)},
}
"""Views, by label."""
