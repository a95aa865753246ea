"""Elements by index: slices and pieces of axes, which are views, and elements that tensors choose."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from passnet_core.graphs.ir import Symbol
from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinate, Coordinates
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, axis_of, size_of
from passnet_core.solvers.rules.lowering.pointwise import broadcast
from passnet_core.solvers.rules.lowering.views import view_of
from passnet_core.solvers.rules.sizes import ONE, ZERO, Size, aligned, derived
from passnet_core.solvers.rules.values import Gathered, Value, broadcast_places


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
            pieces.append((None, _position(each, x.shape[axis]), ONE))

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
    first = _position(start, x.shape[axis])
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


def embedding(
    index: Value, weight: Value, padding_idx: Argument = None, max_norm: Argument = None, norm_type: Argument = 2.0,
    scale_grad_by_freq: Argument = False, sparse: Argument = False,
) -> Value:  # fmt: skip
    """The rows of a table that an index names. Raises Unsupported if they are changed by it."""
    if max_norm is not None:
        raise Unsupported("embedding that renormalises")
    rank = len(index.shape)
    shape = (*index.shape, weight.shape[1])
    indices = ((0, index, lambda places: places[:rank]),)
    return Gathered(shape, weight.dtype, weight, indices, lambda places: (ORIGIN, places[-1]), wraps=False)


def gather(x: Value, dim: int, index: Value) -> Value:
    """The elements at places along an axis that an index of the same rank names."""
    if not x.shape or len(index.shape) != len(x.shape):
        raise Unsupported("gather from or by a single number")
    axis = axis_of(dim, len(x.shape))
    return Gathered(
        index.shape, x.dtype, x, ((axis, index, lambda places: places),), lambda places: places, wraps=False
    )


def index_select(x: Value, dim: int, index: Value) -> Value:
    """The elements at places of an axis that a vector names."""
    axis = axis_of(dim, len(x.shape))
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    return Gathered(
        shape, x.dtype, x, ((axis, index, lambda places: (places[axis],)),), lambda places: places, wraps=False
    )


def _is_ellipsis(value: Argument) -> bool:
    return value is Ellipsis or (isinstance(value, Symbol) and value.path.endswith("Ellipsis"))


def _sliced(given: slice, size: Size) -> tuple[Size, Size, Size]:
    """Start, length and step of a slice of a dimension."""

    def bound(value: Argument, default: Size) -> Size:
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

    step = size_of(1 if given.step is None else given.step)
    start, stop = bound(given.start, ZERO), bound(given.stop, size)
    if step.is_one:
        return start, stop - start, step
    return start, derived("-(-{} // {})", lambda one, two: -(-one // two), stop - start, step), step


def _position(value: Argument, size: Size) -> Size:
    at = size_of(value)
    return size + at if all(each < 0 for each in at.values) else at


INDEXING: Mapping[str, Operation] = {
    "getitem": getitem,
    "select": select,
    "narrow": narrow,
    "chunk": chunk,
    "split": split,
    "unbind": unbind,
    "embedding": embedding,
    "gather": gather,
    "index_select": index_select,
    "split_with_sizes": split,
}
"""Operations that choose elements by index, by label."""
