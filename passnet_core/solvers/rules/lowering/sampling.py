"""Images at other sizes, from their nearest elements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinates
from passnet_core.solvers.rules.dtypes import FLOAT32, INT64, DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.layouts import is_contiguous
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, size_of
from passnet_core.solvers.rules.sizes import ONE, ZERO, Size, derived
from passnet_core.solvers.rules.values import Counted, Gathered, Held, Number, Pointwise, Shape, Value

INT32 = DType("int32")


def interpolate(
    x: Value, size: Argument = None, scale_factor: Argument = None, mode: str = "nearest",
    align_corners: Argument = None, recompute_scale_factor: Argument = None, antialias: Argument = False,
) -> Value:  # fmt: skip
    """x with its last axes at another size. Raises Unsupported for modes other than nearest, and bilinear of images."""
    rank = len(x.shape) - 2
    known = mode == "nearest" or (mode == "bilinear" and rank == 2 and x.dtype.is_float)
    if antialias or not known or rank < 1 or x.dtype.is_wide or not is_contiguous(x):
        raise Unsupported(f"interpolation by {mode}")
    axes = [_Resized(axis, rank, *each) for axis, each in enumerate(sizes_wanted(x, size, scale_factor))]
    if recompute_scale_factor:
        axes = [_Resized(each.axis, rank, each.read, each.written, None) for each in axes]
    if any(each.written.is_one for each in axes):
        raise Unsupported("interpolation to a single element")
    shape = (*x.shape[:2], *(each.written for each in axes))
    image = Held(x.shape, x.dtype, x, name=x.name)
    if mode == "nearest":
        return _taken(image, shape, axes, [each.before() for each in axes])
    rows, columns = (each.between(bool(align_corners)) for each in axes)

    def along(row: Value) -> Value:
        first, second = (_taken(image, shape, axes, [row, column]) for column in (columns.first, columns.second))
        return _mixed(shape, FLOAT32, (columns.near, first, columns.far, second))

    return _mixed(shape, x.dtype, (rows.near, along(rows.first), rows.far, along(rows.second)))


def sizes_wanted(x: Value, size: Argument, scale_factor: Argument) -> list[tuple[Size, Size, float | None]]:
    """Of each axis behind the channels: its size, what it becomes, and the factor if that is given."""
    own = x.shape[2:]
    if size is not None:
        given = size if isinstance(size, tuple | list) else [size] * len(own)
        return [(one, size_of(wanted), None) for one, wanted in zip(own, given, strict=True)]
    factors = scale_factor if isinstance(scale_factor, tuple | list) else [scale_factor] * len(own)
    found: list[tuple[Size, Size, float | None]] = []
    for one, factor in zip(own, map(float, factors), strict=True):
        whole = factor.is_integer()
        wanted = one * int(factor) if whole else derived(f"int({{}} * {factor})", lambda n, by=factor: int(n * by), one)
        found.append((one, wanted, factor))
    return found


def _taken(image: Value, shape: Shape, axes: Sequence["_Resized"], indices: Sequence[Value]) -> Value:
    """The elements of an image at these indices, each along its axis."""
    chosen = tuple((2 + each.axis, index, each.where) for each, index in zip(axes, indices))
    return Gathered(shape, image.dtype, image, chosen, lambda places: places, wraps=False, name=image.name)


def _mixed(shape: Shape, dtype: DType, operands: tuple[Value, ...]) -> Value:
    """The sum of two products, the first of which nvcc contracts."""
    return Pointwise(shape, dtype, "tl.fma({0}, {1}, {2} * {3})", operands, dtype == FLOAT32, name="mixed")


@dataclass(frozen=True)
class _Between:
    """The indices of two elements, and the weight of each."""

    first: Value
    second: Value
    near: Value
    far: Value


@dataclass(frozen=True)
class _Resized:
    """One of the last axes of an image, of which there are `rank`. factor: how many times as long it becomes; None if
    only its new size is given."""

    axis: int
    rank: int
    read: Size
    written: Size
    factor: float | None

    @property
    def shape(self) -> Shape:
        """Of what depends on the place along this axis alone."""
        return (self.written, *[ONE] * (self.rank - 1 - self.axis))

    def where(self, places: Coordinates) -> Coordinates:
        """From places of the result to those of what depends on this axis alone."""
        return (places[2 + self.axis], *[ORIGIN] * (self.rank - 1 - self.axis))

    def before(self) -> Value:
        """The index of the element at or before each place."""
        form = "tl.minimum(({0} * {1}).to(tl.int32), {2} - 1)"
        return self._computed(INT32, form, self._place(), self._ratio(False), self._number(self.read))

    def between(self, corners: bool) -> _Between:
        """The elements that each place lies between. corners: the corners of the images lie on each other."""
        form = "{0} * {1}" if corners else "tl.maximum(tl.fma({0} + 0.5, {1}, -0.5), 0.0)"
        position = self._computed(FLOAT32, form, self._place(), self._ratio(corners))
        first = self._computed(INT32, "{0}.to(tl.int32)", position)
        second = self._computed(INT32, "tl.minimum({0} + 1, {1} - 1)", first, self._number(self.read))
        far = self._computed(FLOAT32, "{0} - {1}", position, first)
        return _Between(first, second, self._computed(FLOAT32, "1.0 - {0}", far), far)

    def _computed(self, dtype: DType, form: str, *operands: Value) -> Value:
        return Pointwise(self.shape, dtype, form, operands, exact=True, name="nearest" if dtype == INT32 else "weight")

    def _place(self) -> Value:
        return Counted(self.shape, FLOAT32, 0, ZERO, ONE, name="place")

    def _number(self, size: Size) -> Value:
        return Counted(self.shape, INT64, 0, size, ZERO)

    def _ratio(self, corners: bool) -> Value:
        """How many elements are read for each that is written."""
        if corners:
            least = derived("max({}, 1)", lambda count: max(count, 1), self.written - 1)
            return self._computed(FLOAT32, "({0} / {1})", self._number(self.read - 1), self._number(least))
        if self.factor is not None:
            return Number((), FLOAT32, repr(1.0 / self.factor))
        return self._computed(FLOAT32, "({0} / {1})", self._number(self.read), self._number(self.written))


SAMPLING: Mapping[str, Operation] = {"interpolate": interpolate}
"""Operations that take images to other sizes, by label."""
