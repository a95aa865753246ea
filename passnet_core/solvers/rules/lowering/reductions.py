"""Sums, means, extremes, variances and norms over axes, and cumulative sums and products along one."""

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import partial

from passnet_core.solvers.rules.coordinates import Coordinate, Coordinates
from passnet_core.solvers.rules.dtypes import BOOL, INT64, DType, wide_of
from passnet_core.solvers.rules.kernels import MOST_COLUMNS, Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, axes_of, axis_of, by_name, dtype_of
from passnet_core.solvers.rules.lowering.arithmetic import LARGER, SMALLER, add, div, sub
from passnet_core.solvers.rules.lowering.conditions import inverted, tested, where
from passnet_core.solvers.rules.lowering.conversions import converted_to
from passnet_core.solvers.rules.lowering.creation import filled
from passnet_core.solvers.rules.lowering.pointwise import binary, cast, in_dtype, in_floats, joined, pointwise
from passnet_core.solvers.rules.lowering.stages import in_stages
from passnet_core.solvers.rules.lowering.unary import unary
from passnet_core.solvers.rules.lowering.views import diagonal, flatten, laid_out, unsqueeze, view_of, without_axes
from passnet_core.solvers.rules.sizes import ONE, Size, product
from passnet_core.solvers.rules.values import (
    ElementWriter,
    Moment,
    Number,
    Order,
    Pointwise,
    Reduction,
    Scan,
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
    "prod": "{0} * {1}",
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
    x = converted_to(x, dtype)
    result = x.dtype if x.dtype.is_float else INT64
    return reduced("sum", x, dim, keepdim, result, order=Order.LANES)


def prod(x: Value, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None) -> Value:
    """The product of elements, of integers as int64."""
    x = converted_to(x, dtype)
    return reduced("prod", x, dim, keepdim, x.dtype if x.dtype.is_float else INT64)


def nansum(x: Value, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None) -> Value:
    """The sum of the elements that are numbers."""
    return summed(where(tested("isnan", x), 0, x), dim, keepdim, dtype)


def nanmean(x: Value, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None) -> Value:
    """The mean of the elements that are numbers."""
    return div(nansum(x, dim, keepdim, dtype), summed(inverted(tested("isnan", x)), dim, keepdim))


def count_nonzero(x: Value, dim: Argument = None) -> Value:
    """How many elements are not 0."""
    return summed(cast(x, BOOL), dim)


def logsumexp(x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
    """The logarithm of the sum of exponentials, beside the largest element."""
    x = in_floats(x)
    most = extreme("max", x, dim, True)
    most = where(tested("isinf", most), 0.0, most)
    total = unary("log", summed(unary("exp", sub(x, most)), dim, True))
    found = add(total, most)
    return found if keepdim else without_axes(found, axes_of(x, dim))


def trace(x: Value) -> Value:
    """The sum of the elements on the diagonal of a matrix."""
    return summed(diagonal(x))


def mean(x: Value, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None) -> Value:
    """The mean of elements."""
    x = converted_to(x, dtype)
    return averaged(x, dim, keepdim, x.dtype)


def averaged(x: Value, dim: Argument, keepdim: Argument, dtype: DType, order: Order = Order.LANES) -> Value:
    """The mean, computed in float32 at least and rounded to this dtype."""
    wide = wide_of(x.dtype)
    total = reduced("sum", x, dim, keepdim, wide, exact=True, order=order)
    count = product([x.shape[axis] for axis in axes_of(x, dim)])
    return pointwise("{0} * {1}", total, Inverse((), wide, count), dtype=dtype, work=wide)


def extreme(kind: str, x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
    """The largest or smallest element; NaN if there is one, which Triton's own reductions may pass over."""
    found = reduced(kind, x, dim, keepdim, x.dtype, exact=True)
    if not x.dtype.is_float or not any(isinstance(each, Reduction) for each in below(found)):
        return found
    nan = reduced("any", tested("isnan", x), dim, keepdim, BOOL)
    return Pointwise(found.shape, x.dtype, 'tl.where({0}, float("nan"), {1})', (nan, found), True)


def either_extreme(
    kind: str, x: Value, dim: Argument = None, keepdim: Argument = False, y: Argument = None
) -> Argument:
    """The largest or smallest element, with its place if an axis is given; or the larger or smaller one of two."""
    if y is not None:
        return binary(_FOLDS[kind], x, y, exact=True)
    found = extreme(kind, x, dim, dim is not None and keepdim)
    return found if dim is None else (found, place_of(f"arg{kind}", x, dim, keepdim))


def aminmax(x: Value, dim: Argument = None, keepdim: Argument = False) -> tuple[Value, Value]:
    """The smallest and the largest element."""
    return extreme("min", x, dim, keepdim), extreme("max", x, dim, keepdim)


def place_of(kind: str, x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
    """The place of the largest or smallest element along an axis, or of all: that of the first NaN if there is one."""
    if not x.shape:
        return filled(0, (), INT64)
    if dim is None:
        found = place_of(kind, flatten(x), 0, False)
        return with_kept_axes(found, x, range(len(x.shape))) if keepdim else found
    found = reduced(kind, x, dim, keepdim, INT64)
    if not x.dtype.is_float:
        return found
    nan = tested("isnan", x)
    operands = (reduced("any", nan, dim, keepdim, BOOL), reduced("argmax", nan, dim, keepdim, INT64), found)
    return Pointwise(found.shape, INT64, "tl.where({0}, {1}, {2})", operands, True)


def truth_of(kind: str, x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
    """Whether any element is not 0, or all of them: as a number where eager gives one."""
    found = reduced(kind, cast(x, BOOL), dim, keepdim, BOOL)
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


def with_mean(
    spread: Operation,
    x: Value,
    dim: Argument = None,
    unbiased: Argument = True,
    keepdim: Argument = False,
    correction: Argument = None,
) -> tuple[Value, Value]:
    """The variance, or its square root, and the mean."""
    return spread(x, dim, unbiased, keepdim, correction), mean(x, dim, keepdim)


def std(
    x: Value, dim: Argument = None, unbiased: Argument = True, keepdim: Argument = False, correction: Argument = None
) -> Value:
    """The square root of the variance, rounded once."""
    return cast(unary("sqrt", var(x, dim, unbiased, keepdim, correction, wide=True)), x.dtype)


def norm(x: Value, p: Argument = 2, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None) -> Value:
    """The norm of some order. Raises Unsupported for norms of matrices."""
    x = converted_to(x, dtype)
    p = 2.0 if p is None or p == "fro" else p
    if isinstance(p, str) or not x.dtype.is_float:
        raise Unsupported(f"a norm of order {p}")
    if math.isinf(p):
        return extreme("max" if p > 0 else "min", unary("abs", x), dim, keepdim)
    wide = wide_of(x.dtype)
    power, root = _POWERS.get(p, (f"libdevice.pow(tl.abs({{0}}), {p})", f"libdevice.pow({{0}}, {1 / (p or 1)})"))
    powers = pointwise(power, x, dtype=wide, exact=True)
    powers.name = "squares" if p == 2 else "powers"
    total = reduced("sum", powers, dim, keepdim, wide, exact=True)
    return pointwise(root, total, dtype=x.dtype, work=wide)


_POWERS: Mapping[float, tuple[str, str]] = {
    0: ("({0} != 0).to({work})", "{0}"),
    1: ("tl.abs({0})", "{0}"),
    2: ("{0} * {0}", "tl.sqrt_rn({0})"),
}
"""By the order of a norm, what is summed of each element, and what the norm is of the sum."""


def linalg_norm(
    x: Value, p: Argument = None, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None
) -> Value:
    """The norm of a vector. Raises Unsupported for one of a matrix."""
    if p is not None and not (isinstance(dim, int) or (len(dim) if dim else len(x.shape)) == 1):
        raise Unsupported("a norm of matrices")
    return norm(x, p, dim, keepdim, dtype)


def matrix_norm(x: Value, p: Argument = "fro", dim: Sequence[int] = (-2, -1), keepdim: Argument = False) -> Value:
    """The norm of matrices, by squares, or by sums of rows or columns. Raises Unsupported for others."""
    if p == "fro":
        return norm(x, 2, dim, keepdim)
    if p not in (1, -1, math.inf, -math.inf):
        raise Unsupported(f"a norm of matrices of order {p}")
    added, left = dim if abs(p) == 1 else dim[::-1]
    found = extreme("max" if p > 0 else "min", norm(x, 1, added, True), left, True)
    return found if keepdim else without_axes(found, axes_of(x, dim))


def searched(x: Value, boundaries: Value, right: Argument) -> Value:
    """How many boundaries are smaller than each element, or not larger if `right` says so."""
    if not isinstance(x, Value) or len(boundaries.shape) != 1:
        raise Unsupported("a search for a number, or in several rows")
    dtype = joined((boundaries, x))
    sides = (unsqueeze(x, -1), boundaries)
    met = pointwise("{1} <= {0}" if right else "{1} < {0}", *sides, dtype=BOOL, work=dtype, exact=True)
    return summed(met, -1)


def dist(x: Value, y: Value, p: Argument = 2) -> Value:
    """The norm of the difference."""
    return norm(sub(x, y), p)


def scanned(kind: str, x: Value, dim: Argument, dtype: Argument = None) -> Value:
    """The sums or products of the elements up to each place along an axis, as int64 unless a dtype is given. Raises
    Unsupported for floats, which eager combines in an order of its own, and for rows that no tile holds."""
    result = dtype_of(dtype) if dtype is not None else x.dtype if x.dtype.is_float else INT64
    if result is None or result.is_float or result.is_bool:
        raise Unsupported("a cumulative sum or product of floats")
    x = cast(x, result)
    axis = axis_of(dim, len(x.shape))
    if not x.shape or x.shape[axis].is_one:
        return laid_out(x)
    if max(x.shape[axis].values) > MOST_COLUMNS:
        raise Unsupported(f"a cumulative sum or product of more than {MOST_COLUMNS} elements")
    return Scan(x.shape, x.dtype, kind, x, (axis,), name=kind)


REDUCTIONS: Mapping[str, Operation] = {
    **by_name(mean, var, std, prod, nansum, nanmean, count_nonzero, logsumexp, trace, aminmax, matrix_norm, dist),
    "sum": summed,
    **{kind: partial(either_extreme, kind) for kind in ("max", "min")},
    **{f"a{kind}": partial(extreme, kind) for kind in ("max", "min")},
    **{kind: partial(place_of, kind) for kind in ("argmax", "argmin")},
    **{kind: partial(truth_of, kind) for kind in ("any", "all")},
    **{kind: partial(scanned, kind) for kind in ("cumsum", "cumprod")},
    **{f"{label}_mean": partial(with_mean, spread) for label, spread in (("var", var), ("std", std))},
    **dict.fromkeys(("norm", "vector_norm", "linalg_vector_norm"), norm),
    "torch.linalg.norm": linalg_norm,
    "bucketize": lambda x, boundaries, right=False: searched(x, boundaries, right),
    "searchsorted": lambda sorted_sequence, x, right=False: searched(x, sorted_sequence, right),
}
"""Reductions, by label."""
