"""Elements by index: slices and pieces of axes, which are views, and elements that tensors choose."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from passnet_core.graphs.ir import Symbol
from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinate, Coordinates
from passnet_core.solvers.rules.dtypes import BOOL, INT64
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, axis_of, by_name, size_of
from passnet_core.solvers.rules.lowering.conditions import masked_fill
from passnet_core.solvers.rules.lowering.pointwise import broadcast, pointwise
from passnet_core.solvers.rules.lowering.views import expand, flatten, view_of
from passnet_core.solvers.rules.sizes import ONE, ZERO, Size, aligned, derived
from passnet_core.solvers.rules.values import Counted, Gathered, Reduction, Value, broadcast_places


def getitem(x: Argument, index: Argument) -> Argument:
    """One of several results, or the elements of a tensor at an index."""
    if isinstance(x, tuple | list):
        return x[index]
    return indexed(x, index)


def indexed(x: Value, index: Argument) -> Value:
    """The elements at an index as Python has it, which may hold tensors. Raises Unsupported."""
    if isinstance(index, list):
        raise Unsupported("an index that is a list")
    given = _filled(list(index) if isinstance(index, tuple) else [index], len(x.shape))
    tensors = [each for each in given if isinstance(each, Value)]
    positions = [place for place, each in enumerate(given) if isinstance(each, Value)]
    if tensors and positions[-1] - positions[0] + 1 != len(positions):
        raise Unsupported("indices with a slice between them")
    if any(each.dtype.is_bool for each in tensors):
        raise Unsupported("an index of truth values")
    together = broadcast([each.shape for each in tensors]) if tensors else ()
    shape: list[Size] = []
    pieces: list[_Piece] = []
    chosen: list[tuple[int, Value]] = []
    put = -1
    for each in given:
        if each is None:
            shape.append(ONE)
            continue
        axis = len(pieces)
        if isinstance(each, slice):
            start, length, step = _sliced(each, x.shape[axis])
            pieces.append((len(shape), start, step))
            shape.append(length)
        elif isinstance(each, Value):
            if put < 0:
                put = len(shape)
                shape.extend(together)
            chosen.append((axis, each))
            pieces.append((None, ZERO, ONE))
        else:
            pieces.append((None, position(each, x.shape[axis]), ONE))

    def inside(places: Coordinates) -> Coordinates:
        return tuple(
            Coordinate((), start) if place is None else places[place] * step + start for place, start, step in pieces
        )

    if not chosen:
        return view_of(x, tuple(shape), inside)

    def asker(value: Value) -> Callable[[Coordinates], Coordinates]:
        return lambda places: broadcast_places(value.shape, together, places[put : put + len(together)])

    indices = tuple((axis, value, asker(value)) for axis, value in chosen)
    return Gathered(tuple(shape), x.dtype, x, indices, inside)


_Piece: TypeAlias = tuple[int | None, Size, Size]
"""For an axis of the tensor: the axis of the result that walks it, none if its place is fixed; start and step."""


def _filled(index: list[Argument], rank: int) -> list[Argument]:
    """The index with a slice for each axis that it leaves out."""
    used = sum(each is not None and not _is_ellipsis(each) for each in index)
    whole = [slice(None)] * (rank - used)
    at = next((place for place, each in enumerate(index) if _is_ellipsis(each)), None)
    return [*index, *whole] if at is None else [*index[:at], *whole, *index[at + 1 :]]


def select(x: Value, dim: int, index: Argument) -> Value:
    """The elements at one place of an axis."""
    return indexed(x, (*[slice(None)] * axis_of(dim, len(x.shape)), index))


def narrow(x: Value, dim: int, start: Argument, length: Argument) -> Value:
    """A piece of an axis, from a place on."""
    axis = axis_of(dim, len(x.shape))
    first = position(start, x.shape[axis])
    shape = (*x.shape[:axis], size_of(length), *x.shape[axis + 1 :])
    return view_of(x, shape, lambda places: (*places[:axis], places[axis] + first, *places[axis + 1 :]))


def chunk(x: Value, chunks: int, dim: int = 0) -> tuple[Value, ...]:
    """A number of pieces along an axis, as equal as they can be."""
    axis = axis_of(dim, len(x.shape))
    whole = x.shape[axis]
    if not any(each % chunks for each in whole.values):
        return pieces_of(x, axis, [whole.divided(Size.of(chunks))] * chunks)
    size = derived("-(-{} // {})", lambda one, two: -(-one // two), whole, Size.of(chunks))
    count = -(-whole.value // size.value) if size.value else chunks
    return pieces_of(x, axis, [size] * (count - 1) + [whole - size * (count - 1)])


def split(x: Value, size: Argument, dim: int = 0) -> tuple[Value, ...]:
    """Pieces of a size, or of several sizes, along an axis."""
    axis = axis_of(dim, len(x.shape))
    if isinstance(size, tuple | list):
        return pieces_of(x, axis, [size_of(each) for each in size])
    each = size_of(size)
    counts = {-(-one // two) for one, two in aligned(x.shape[axis], each)}
    if len(counts) != 1:
        raise Unsupported("a split into pieces whose number differs")
    count = counts.pop()
    last = x.shape[axis] - each * (count - 1)
    return pieces_of(x, axis, [each] * (count - 1) + [each if last.seems(each) else last])


def tensor_split(x: Value, sections: Argument = None, indices: Argument = None, dim: int = 0) -> tuple[Value, ...]:
    """A number of pieces along an axis, the first ones longer by one; or those between places."""
    axis = axis_of(dim, len(x.shape))
    whole = x.shape[axis]
    if isinstance(sections, int):
        longer = {each % sections for each in whole.values}
        if len(longer) > 1:
            raise Unsupported("a split into unequal pieces")
        each = whole.divided(Size.of(sections))
        return pieces_of(x, axis, [each + (place < max(longer)) for place in range(sections)])
    ends = [_bound(each, whole, whole) for each in indices]
    starts = [ZERO, *ends]
    return pieces_of(x, axis, [end - start for start, end in zip(starts, [*ends, whole])])


def split_on(axis: int, x: Value, sections: Argument = None, indices: Argument = None) -> tuple[Value, ...]:
    """Equal pieces along an axis, or those between places; a vector along its only one."""
    return tensor_split(x, sections, indices, axis if len(x.shape) > 1 else 0)


def pieces_of(x: Value, axis: int, sizes: Sequence[Size]) -> tuple[Value, ...]:
    """Pieces of these sizes along an axis, one after the other."""
    found: list[Value] = []
    start = ZERO
    for size in sizes:
        found.append(narrow(x, axis, start, size))
        start = start + size
    return tuple(found)


def unbind(x: Value, dim: int = 0) -> tuple[Value, ...]:
    """The elements at each place of an axis."""
    axis = axis_of(dim, len(x.shape))
    if x.shape[axis].constant is None and len(set(x.shape[axis].values)) > 1:
        raise Unsupported("unbind into pieces whose number differs")
    return tuple(select(x, axis, index) for index in range(x.shape[axis].value))


def embedding(x: Value, weight: Value) -> Value:
    """The rows of a table that x, an index, names."""
    rank = len(x.shape)
    shape = (*x.shape, weight.shape[1])
    indices = ((0, x, lambda places: places[:rank]),)
    return Gathered(shape, weight.dtype, weight, indices, lambda places: (ORIGIN, places[-1]), wraps=False)


def gather(x: Value, dim: int, index: Value, *, wraps: bool = False) -> Value:
    """The elements at places along an axis that an index of the same rank names. wraps: they may be negative."""
    if not x.shape or len(index.shape) != len(x.shape):
        raise Unsupported("gather from or by a single number")
    axis = axis_of(dim, len(x.shape))
    return Gathered(
        index.shape, x.dtype, x, ((axis, index, lambda places: places),), lambda places: places, wraps=wraps
    )


def take_along_dim(x: Value, indices: Value, dim: int | None = None) -> Value:
    """The elements at places along an axis, in the shape that both have together."""
    if dim is None:
        return gather(flatten(x), 0, flatten(indices), wraps=True)
    axis = axis_of(dim, len(x.shape))
    shape = broadcast([(*each.shape[:axis], ONE, *each.shape[axis + 1 :]) for each in (x, indices)])
    table, places = (expand(each, (*shape[:axis], each.shape[axis], *shape[axis + 1 :])) for each in (x, indices))
    return gather(table, axis, places, wraps=True)


def take(x: Value, index: Value) -> Value:
    """The elements at places in row-major order."""
    rank = len(index.shape)
    return Gathered(index.shape, x.dtype, flatten(x), ((0, index, lambda places: places[:rank]),), lambda _: (ORIGIN,))


def index_fill(x: Value, dim: int, index: Value, value: Argument) -> Value:
    """The elements, and a number at the places of an axis that a vector names."""
    if not x.shape:
        raise Unsupported("index_fill of a single number")
    axis = axis_of(dim, len(x.shape))
    size = x.shape[axis]
    place = Counted((size, ONE), INT64, 0, ZERO, ONE)
    places = pointwise(
        "tl.where({0} < 0, {0} + {1}, {0})", flatten(index), Counted((ONE,), INT64, 0, size, ZERO), dtype=INT64
    )
    met = pointwise("{0} == {1}", place, places, dtype=BOOL, work=INT64, exact=True)
    named = Reduction((size,), BOOL, "any", met, (1,), name="named")
    mask = view_of(named, tuple(size if each == axis else ONE for each in range(len(x.shape))), lambda p: (p[axis],))
    return masked_fill(x, mask, value)


def index_select(x: Value, dim: int, index: Value) -> Value:
    """The elements at places of an axis that a vector names."""
    if not x.shape:
        raise Unsupported("index_select from a single number")
    axis = axis_of(dim, len(x.shape))
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    return Gathered(
        shape, x.dtype, x, ((axis, index, lambda places: (places[axis],)),), lambda places: places, wraps=False
    )


def _is_ellipsis(value: Argument) -> bool:
    return value is Ellipsis or (isinstance(value, Symbol) and value.path.endswith("Ellipsis"))


def _sliced(given: slice, size: Size) -> tuple[Size, Size, Size]:
    """Start, length and step of a slice of a dimension."""

    step = size_of(1 if given.step is None else given.step)
    start, stop = _bound(given.start, size, ZERO), _bound(given.stop, size, size)
    if step.is_one:
        return start, stop - start, step
    return start, derived("-(-{} // {})", lambda one, two: -(-one // two), stop - start, step), step


def _bound(value: Argument, size: Size, default: Size) -> Size:
    """An end of a slice, within a dimension of this size."""
    if value is None:
        return default
    wanted = size_of(value)
    if all(each < 0 for each in wanted.values):
        wanted = size + wanted
    lows, highs = zip(*aligned(wanted, size))
    if all(a >= b for a, b in zip(lows, highs)):
        return size
    if any(a > b for a, b in zip(lows, highs)):
        return derived("min({}, {})", min, wanted, size)
    return wanted


def position(value: Argument, size: Size) -> Size:
    """A place along an axis of this size, which may be counted from its end."""
    at = size_of(value)
    return size + at if all(each < 0 for each in at.values) else at


INDEXING: Mapping[str, Operation] = {
    **by_name(getitem, select, narrow, unbind, embedding, gather, index_select, tensor_split, take_along_dim, take),
    **by_name(index_fill),
    **dict.fromkeys(("chunk", "unsafe_chunk"), chunk),
    **dict.fromkeys(("split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes"), split),
    "hsplit": partial(split_on, 1),
    "vsplit": partial(split_on, 0),
    "dsplit": partial(split_on, 2),
}
"""Operations that choose elements by index, by label."""
