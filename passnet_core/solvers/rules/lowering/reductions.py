"""Sums, means, extremes, variances and norms over axes."""

import itertools
import math
from collections.abc import Mapping, Sequence

from passnet_core.solvers.rules.coordinates import Coordinate, Coordinates
from passnet_core.solvers.rules.dtypes import BOOL, INT64, DType, wide_of
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, axes_of
from passnet_core.solvers.rules.lowering.arithmetic import LARGER, SMALLER, maximum, minimum
from passnet_core.solvers.rules.lowering.conditions import isnan
from passnet_core.solvers.rules.lowering.conversions import converted_to
from passnet_core.solvers.rules.lowering.pointwise import binary, cast, in_dtype, pointwise
from passnet_core.solvers.rules.lowering.stages import in_stages
from passnet_core.solvers.rules.lowering.unary import unary
from passnet_core.solvers.rules.lowering.views import view_of, without_axes
from passnet_core.solvers.rules.sizes import ONE, Size, product
from passnet_core.solvers.rules.values import (
    ElementWriter,
    Moment,
    Number,
    Order,
    Pointwise,
    Reduction,
    Shape,
    Value,
    below,
)

MOST_UNROLLED = 9
"""So few elements, such as those of a window, are combined one by one instead of being a row of their own."""

_FOLDS = {
    "sum": "{0} + {1}",
    "max": LARGER,
    "min": SMALLER,
    "any": "{0} | {1}",
    "all": "{0} & {1}",
}


class Inverse(Number):
    """One divided by a size, as an operand: by the number of elements that a mean is over."""

    def __init__(self, shape: Shape, dtype: DType, size: Size) -> None:
        super().__init__(shape, dtype, "")
        self.size = size

    def code(self, writer: ElementWriter, places: Coordinates, mask: str) -> str:
        if self.size.constant is not None:
            return f"(1.0 / {self.size.constant})" if self.size.constant > 0 else 'float("nan")'
        count = self.size.text if min(self.size.values) > 0 else f"max({self.size.text}, 0)"
        return writer.constant(f"INVERSE_{writer.size(self.size)}", f"inverse({count})")


def reduced(
    kind: str,
    x: Value,
    dim: Argument,
    keepdim: Argument,
    dtype: DType,
    *,
    exact: bool = False,
    order: Order = Order.ANY,
) -> Value:
    """A reduction of this kind over the axes that `dim` names, or over all. order: of a sum."""
    axes = axes_of(x, dim)
    if not x.shape:
        return cast(x, dtype)
    found = unrolled(kind, x, axes, dtype, exact=exact)
    if found is None:
        # eager adds other numbers than float32 up in other orders
        found = in_stages(kind, x, axes, dtype, exact=exact, order=Order.ANY if x.dtype.rounds else order)
    return with_kept_axes(found, x, axes) if keepdim else found


def unrolled(kind: str, x: Value, axes: Sequence[int], dtype: DType, *, exact: bool) -> Value | None:
    """The reduction as operations between a few elements; None if they may be many, or how many is not known."""
    lengths = [x.shape[axis].constant for axis in axes]
    known = [length for length in lengths if length is not None]
    if kind not in _FOLDS or len(known) < len(lengths) or not 0 < math.prod(known) <= MOST_UNROLLED:
        return None
    elements = [_chosen(x, dict(zip(axes, index))) for index in itertools.product(*map(range, known))]
    work = dtype if not dtype.is_float else wide_of(x.dtype)
    found = cast(elements[0], work) if not work.is_float else in_dtype(elements[0], work)
    for each in elements[1:]:
        found = pointwise(_FOLDS[kind], found, each, dtype=work, exact=True)
        found.name = kind
    rounding = dtype.is_float and not exact
    found = pointwise("{0}", found, dtype=dtype, work=work, exact=not rounding)
    found.name, found.contiguous = kind, True
    return found


def _chosen(x: Value, index: Mapping[int, int]) -> Value:
    """The elements at these places of some axes, which are missing in the shape."""
    shape = tuple(size for axis, size in enumerate(x.shape) if axis not in index)

    def inside(places: Coordinates) -> Coordinates:
        left = iter(places)
        return tuple(
            Coordinate((), Size.of(index[axis])) if axis in index else next(left) for axis in range(len(x.shape))
        )

    return view_of(x, shape, inside)


def with_kept_axes(found: Value, x: Value, axes: Sequence[int]) -> Value:
    """The result of a reduction with the reduced axes as dimensions of size 1."""
    shape = tuple(ONE if axis in axes else size for axis, size in enumerate(x.shape))
    return view_of(found, shape, lambda places: tuple(p for axis, p in enumerate(places) if axis not in axes))


def summed(x: Value, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None) -> Value:
    """The sum of elements, of integers as int64."""
    if dtype is not None:
        x = converted_to(x, dtype)
    result = x.dtype if x.dtype.is_float else INT64
    return reduced("sum", x, dim, keepdim, result, order=Order.LANES)


def mean(x: Value, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None) -> Value:
    """The mean of elements."""
    if dtype is not None:
        x = converted_to(x, dtype)
    return averaged(x, dim, keepdim, x.dtype)


def averaged(x: Value, dim: Argument, keepdim: Argument, dtype: DType, order: Order = Order.LANES) -> Value:
    """The mean, computed in float32 at least and rounded to this dtype."""
    wide = wide_of(x.dtype)
    total = reduced("sum", x, dim, keepdim, wide, exact=True, order=order)
    count = product([x.shape[axis] for axis in axes_of(x, dim)])
    return pointwise("{0} * {1}", total, Inverse((), wide, count), dtype=dtype, work=wide)


def amax(x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
    """The largest element."""
    return extreme("max", x, dim, keepdim)


def amin(x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
    """The smallest element."""
    return extreme("min", x, dim, keepdim)


def extreme(kind: str, x: Value, dim: Argument, keepdim: Argument) -> Value:
    """The largest or smallest element; NaN if there is one, which Triton's own reductions may pass over."""
    found = reduced(kind, x, dim, keepdim, x.dtype, exact=True)
    if not x.dtype.is_float or not any(isinstance(each, Reduction) for each in below(found)):
        return found
    nan = reduced("any", isnan(x), dim, keepdim, BOOL)
    return Pointwise(found.shape, x.dtype, 'tl.where({0}, float("nan"), {1})', (nan, found), True)


def largest(x: Value, dim: Argument = None, keepdim: Argument = False) -> Argument:
    """The largest element, with its place if an axis is given; or the larger one of two."""
    if isinstance(dim, Value):
        return maximum(x, dim)
    if dim is None:
        return extreme("max", x, None, False)
    return (extreme("max", x, dim, keepdim), argmax(x, dim, keepdim))


def smallest(x: Value, dim: Argument = None, keepdim: Argument = False) -> Argument:
    """The smallest element, with its place if an axis is given; or the smaller one of two."""
    if isinstance(dim, Value):
        return minimum(x, dim)
    if dim is None:
        return extreme("min", x, None, False)
    return (extreme("min", x, dim, keepdim), argmin(x, dim, keepdim))


def argmax(x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
    """The place of the largest element along an axis."""
    return place_of("argmax", x, dim, keepdim)


def argmin(x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
    """The place of the smallest element along an axis."""
    return place_of("argmin", x, dim, keepdim)


def place_of(kind: str, x: Value, dim: Argument, keepdim: Argument) -> Value:
    """The place of the largest or smallest element along an axis: that of the first NaN if there is one."""
    if dim is None or not x.shape:
        raise Unsupported(f"{kind} over everything")
    found = reduced(kind, x, dim, keepdim, INT64)
    if not x.dtype.is_float:
        return found
    nan = isnan(x)
    operands = (reduced("any", nan, dim, keepdim, BOOL), reduced("argmax", nan, dim, keepdim, INT64), found)
    return Pointwise(found.shape, INT64, "tl.where({0}, {1}, {2})", operands, True)


def any_of(x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
    """Whether any element is not 0."""
    return _truth(reduced("any", cast(x, BOOL), dim, keepdim, BOOL), x)


def all_of(x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
    """Whether no element is 0."""
    return _truth(reduced("all", cast(x, BOOL), dim, keepdim, BOOL), x)


def _truth(found: Value, x: Value) -> Value:
    """A truth value of x in the dtype that eager gives it."""
    return cast(found, x.dtype) if x.dtype.name == "uint8" else found


def moments_in_order(x: Value, axes: tuple[int, ...], order: Order) -> tuple[Value, Value]:
    """Mean and variance over the last axes, kept, in a wide dtype: by Welford's method in this order, if rows are
    walked whole and neither their elements nor their sums are written out."""
    wide = wide_of(x.dtype)
    found = moments(x, axes, 0, wide)
    whole = any(isinstance(each, Reduction) and each.operand is x and each.axes == axes for each in below(found[0]))
    if x.dtype.is_wide or not whole:
        return found

    def moment(by_sums: Value) -> Value:
        otherwise, kind = without_axes(by_sums, axes), by_sums.name
        taken = Moment(otherwise.shape, wide, kind, x, axes, True, order, name=kind, otherwise=otherwise)
        return with_kept_axes(taken, x, axes)

    mean, variance = found
    return moment(mean), moment(variance)


def moments(x: Value, dim: Argument, correction: int, wide: DType) -> tuple[Value, Value]:
    """Mean and variance over some axes, kept, in a wide dtype."""
    mean = averaged(x, dim, True, wide, Order.ANY)
    mean.name = "mean"
    centred = pointwise("{0} - {1}", x, mean, dtype=wide, exact=True)
    centred.name = "centred"
    squares = pointwise("{0} * {0}", centred, dtype=wide, exact=True)
    squares.name = "squares"
    count = product([x.shape[axis] for axis in axes_of(x, dim)]) - correction
    total = reduced("sum", squares, dim, True, wide, exact=True)
    total.name = "total"
    found = pointwise("{0} * {1}", total, Inverse((), wide, count), dtype=wide, exact=True)
    found.name = "variance"
    return mean, found


def var(
    x: Value,
    dim: Argument = None,
    unbiased: Argument = True,
    keepdim: Argument = False,
    correction: Argument = None,
    *,
    wide: bool = False,
) -> Value:
    """The variance. correction: what the divisor is less than the number of elements. wide: not rounded yet."""
    by = correction if correction is not None else int(bool(unbiased))
    _, found = moments(x, dim, by, wide_of(x.dtype))
    found = found if wide else cast(found, x.dtype)
    return found if keepdim else without_axes(found, axes_of(x, dim))


def std(*args: Argument, **kwargs: Argument) -> Value:
    """The square root of the variance, rounded once."""
    found = var(*args, **kwargs, wide=True)
    return cast(unary("sqrt", found), args[0].dtype if args else kwargs["x"].dtype)


def norm(x: Value, p: Argument = 2, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None) -> Value:
    """The Euclidean norm. Raises Unsupported for others."""
    if p not in (2, 2.0, None, "fro"):
        raise Unsupported(f"a norm of order {p}")
    wide = wide_of(x.dtype)
    squares = pointwise("{0} * {0}", x, dtype=wide, exact=True)
    squares.name = "squares"
    total = reduced("sum", squares, dim, keepdim, wide, exact=True)
    return pointwise("tl.sqrt_rn({0})", total, dtype=x.dtype, work=wide)


def mse_loss(
    x: Value, y: Value, size_average: Argument = None, reduce: Argument = None, reduction: str = "mean"
) -> Value:
    """The mean of squared differences, or their sum, or all of them."""
    difference = binary("({0} - {1}) * ({0} - {1})", x, y)
    if reduction == "none":
        return difference
    return mean(difference) if reduction == "mean" else summed(difference)


REDUCTIONS: Mapping[str, Operation] = {
    "sum": summed,
    "mean": mean,
    "amax": amax,
    "amin": amin,
    "max": largest,
    "min": smallest,
    "argmax": argmax,
    "argmin": argmin,
    "any": any_of,
    "all": all_of,
    "var": var,
    "std": std,
    "norm": norm,
    "mse_loss": mse_loss,
    "vector_norm": norm,
    "linalg_vector_norm": norm,
}
"""Reductions, by label."""
