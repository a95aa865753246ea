"""Softmax and normalisations: reductions with what is done to each element by their results."""

from collections.abc import Mapping
from dataclasses import dataclass

from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinates, parted
from passnet_core.solvers.rules.dtypes import DType, wide_of
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, size_of
from passnet_core.solvers.rules.lowering.arithmetic import add, clamp, div, mul, power
from passnet_core.solvers.rules.lowering.conversions import converted_to
from passnet_core.solvers.rules.lowering.pointwise import binary, cast, pointwise
from passnet_core.solvers.rules.lowering.rearrangements import pad
from passnet_core.solvers.rules.lowering.reductions import averaged, mean, moments, moments_in_order, norm, reduced
from passnet_core.solvers.rules.lowering.unary import unary
from passnet_core.solvers.rules.lowering.views import per_channel, reshaped, view_of, without_axes
from passnet_core.solvers.rules.sizes import ONE, Size, product
from passnet_core.solvers.rules.values import ElementWriter, Order, Value, View


def normalize(x: Value, p: Argument = 2.0, dim: Argument = 1, eps: Argument = 1e-12) -> Value:
    """x divided by its norm along an axis, or by eps where that is larger."""
    length = norm(x, p, dim, True)
    return binary("divided({0}, {1})", x, clamp(length, eps, None))


def softmax(x: Value, dim: Argument, dtype: Argument = None) -> Value:
    """Exponentials along an axis, divided by their sum."""
    x, _, powers, total = _exponentials(x, dim, dtype)
    found = pointwise("divided({0}, {1})", powers, total, dtype=x.dtype, work=total.dtype)
    found.contiguous = True
    return found


def log_softmax(x: Value, dim: Argument, dtype: Argument = None) -> Value:
    """The logarithm of softmax."""
    x, largest, _, total = _exponentials(x, dim, dtype)
    found = pointwise("{0} - {1} - libdevice.log({2})", x, largest, total, dtype=x.dtype, work=total.dtype)
    found.contiguous = True
    return found


def _exponentials(x: Value, dim: Argument, dtype: Argument) -> tuple[Value, Value, Value, Value]:
    """x in the dtype, its largest elements along an axis, the exponentials beside those, and their sums."""
    if dtype is not None:
        x = converted_to(x, dtype)
    if not x.shape:
        raise Unsupported("softmax of a single number")
    wide = wide_of(x.dtype)
    largest = reduced("max", x, dim, True, x.dtype, exact=True)
    largest.name = "largest"
    powers = pointwise("libdevice.exp({0} - {1})", x, largest, dtype=wide, exact=True)
    powers.name = "powers"
    total = reduced("sum", powers, dim, True, wide, exact=True, order=Order.WARP)
    total.name = "total"
    return x, largest, powers, total


def softmin(x: Value, dim: Argument, dtype: Argument = None) -> Value:
    """softmax of the negative elements."""
    return softmax(unary("neg", x), dim, dtype)


def instance_norm(
    x: Value, mean: Argument, var: Argument, weight: Argument = None, bias: Argument = None,
    use_input_stats: Argument = True, eps: Argument = 1e-5,
) -> Value:  # fmt: skip
    """x with mean 0 and variance 1 in each channel of each example, or by given moments."""
    if mean is not None:
        return batch_norm(x, mean, var, weight, bias, use_input_stats, eps)
    if use_input_stats is not True or len(x.shape) < 3:
        raise Unsupported("instance_norm without a batch or moments")
    wide = wide_of(x.dtype)
    mean, variance = moments(x, tuple(range(2, len(x.shape))), 0, wide)
    operands, weight, bias = (x, mean, _scale(variance, eps, wide)), per_channel(weight, x), per_channel(bias, x)
    return scaled("({0} - {1}) * {2}", operands, weight, bias, x.dtype, wide)


def layer_norm(
    x: Value, shape: Argument, weight: Argument = None, bias: Argument = None, eps: Argument = 1e-5
) -> Value:
    """x with mean 0 and variance 1 over the last axes."""
    dims = tuple(range(len(x.shape) - len(shape), len(x.shape)))
    wide = wide_of(x.dtype)
    mean, variance = moments_in_order(x, dims, Order.LAYER)
    scale = _scale(variance, eps, wide)
    found = scaled("({0} - {1}) * {2}", (x, mean, scale), weight, bias, x.dtype, wide)
    found.contiguous = True
    return found


def native_layer_norm(
    x: Value, shape: Argument, weight: Argument, bias: Argument, eps: Argument
) -> tuple[Value, Value, Value]:
    """layer_norm, the mean, and the inverse of the deviation."""
    if not x.dtype.is_wide and x.dtype.name != "float32":
        raise Unsupported("moments in half precision")
    mean, variance = moments(x, tuple(range(len(x.shape) - len(shape), len(x.shape))), 0, wide_of(x.dtype))
    scale = _scale(variance, eps, wide_of(x.dtype))
    return layer_norm(x, shape, weight, bias, eps), cast(mean, x.dtype), cast(scale, x.dtype)


def native_group_norm(
    x: Value, weight: Argument, bias: Argument, N: int, C: int, HxW: int, group: int, eps: Argument
) -> tuple[Value, Value, Value]:
    """group_norm, the means, and the inverses of the deviations."""
    if x.dtype.name not in ("float32", "float64"):
        raise Unsupported("moments in half precision")
    apart = reshaped(x, (Size.of(N), Size.of(group), product(x.shape).divided(Size.of(N * group))))
    mean, variance = moments(apart, (2,), 0, wide_of(x.dtype))
    scale = without_axes(_scale(variance, eps, wide_of(x.dtype)), (2,))
    return group_norm(x, group, weight, bias, eps), cast(without_axes(mean, (2,)), x.dtype), cast(scale, x.dtype)


def local_response_norm(x: Value, size: int, alpha: Argument = 1e-4, beta: Argument = 0.75, k: Argument = 1.0) -> Value:
    """x divided by a power of the mean square of so many channels around each."""
    ends = (*[0, 0] * (len(x.shape) - 2), size // 2, (size - 1) // 2)
    squares = pad(mul(x, x), ends)
    windows = view_of(
        squares, (*x.shape, Size.of(size)), lambda places: (places[0], places[1] + places[-1], *places[2:-1])
    )
    near = mean(windows, -1)
    return div(x, power(add(mul(near, alpha), k), beta))


def _scale(variance: Value, eps: Argument, wide: DType) -> Value:
    found = pointwise("libdevice.rsqrt({0} + {1})", variance, eps, dtype=wide, exact=True)
    found.name = "scale"
    return found


def scaled(
    form: str, operands: tuple[Value, ...], weight: Argument, bias: Argument, dtype: DType, wide: DType
) -> Value:
    """The form, times a weight, plus a bias, as far as there are any, rounded once."""
    given = [*operands, *(each for each in (weight, bias) if each is not None)]
    if weight is not None and bias is not None:
        form = f"tl.fma({form}, {{{len(given) - 2}}}, {{{len(given) - 1}}})"
    elif weight is not None or bias is not None:
        form = f"{form} {'+' if weight is None else '*'} {{{len(given) - 1}}}"
    return pointwise(form, *given, dtype=dtype, work=wide)


def rms_norm(x: Value, shape: Argument, weight: Argument = None, eps: Argument = None) -> Value:
    """x divided by the root of its mean square over the last axes."""
    if eps is None:
        raise Unsupported("rms_norm without eps")
    dims, wide = tuple(range(len(x.shape) - len(shape), len(x.shape))), wide_of(x.dtype)
    squares = pointwise("{0} * {0}", x, dtype=wide, exact=True)
    mean = averaged(squares, dims, True, wide)
    scale = pointwise("libdevice.rsqrt({0} + {1})", mean, eps, dtype=wide, exact=True)
    return scaled("{0} * {1}", (x, scale), weight, None, x.dtype, wide)


def batch_norm(
    x: Value, mean: Argument, var: Argument, weight: Argument = None, bias: Argument = None,
    training: Argument = False, eps: Argument = 1e-5,
) -> Value:  # fmt: skip
    """x with mean 0 and variance 1 in each channel, by given moments, which must not change, or by its own."""
    if mean is not None and training is not False:
        raise Unsupported("batch_norm that learns")
    if len(x.shape) < 2:
        raise Unsupported("batch_norm without channels")
    wide = wide_of(x.dtype)
    if mean is None:
        mean, var = _moments_by_channel(x)
    else:
        mean, var = per_channel(mean, x), per_channel(var, x)
    scale = _scale(var, eps, wide)
    weight, bias = per_channel(weight, x), per_channel(bias, x)
    if weight is None or bias is None:
        return scaled("({0} - {1}) * {2}", (x, mean, scale), weight, bias, x.dtype, wide)
    return pointwise("tl.fma(({0} - {1}) * {3}, {2}, {4})", x, mean, scale, weight, bias, dtype=x.dtype, work=wide)


def _moments_by_channel(x: Value) -> tuple[Value, Value]:
    """Mean and variance of each channel, as operands beside x: of a single example in the order that eager has."""
    rank = len(x.shape)
    if rank < 3 or not x.shape[0].is_one:
        return moments(x, tuple(axis for axis in range(rank) if axis != 1), 0, wide_of(x.dtype))
    return moments_in_order(without_axes(x, (0,)), tuple(range(1, rank - 1)), Order.BATCH)


@dataclass(eq=False)
class Kept(Value):
    """A moment as eager has it between the kernels of group_norm, or eps: on a GPU in the dtype of x, named by a
    tensor."""

    operand: Value
    tensor: str

    @property
    def parts(self) -> tuple[Value, ...]:
        return (self.operand,)

    def code(self, writer: ElementWriter, places: Coordinates, mask: str) -> str:
        kept = writer.constant("KEPT", f"kept_dtype({self.tensor})")
        return writer.put(self.name, f"rounded({writer.element(self.operand, places, mask)}, {kept})")


def group_norm(
    x: Value, groups: Argument, weight: Argument = None, bias: Argument = None, eps: Argument = 1e-5
) -> Value:
    """x with mean 0 and variance 1 in each group of channels."""
    count = size_of(groups)
    inner = x.shape[1].divided(count)
    shape = (x.shape[0], count, inner, *x.shape[2:])
    apart = view_of(x, shape, lambda places: (places[0], places[1] * inner + places[2], *places[3:]))
    wide = wide_of(x.dtype)
    dims = tuple(range(2, len(shape)))
    mean, variance = moments_in_order(apart, dims, Order.GROUP)
    if x.dtype.source and (not isinstance(weight, Value) or weight.dtype.name == x.dtype.name):

        def kept(each: Value) -> Value:
            return Kept(each.shape, wide, each, x.dtype.source, name=each.name)

        eps = pointwise("tl.zeros_like({0}) + {1}", variance, eps, dtype=wide, exact=True)
        eps.name = "eps"
        mean, scale = kept(mean), kept(_scale(variance, kept(eps), wide))
    else:
        scale = _scale(variance, eps, wide)

    def spread(each: Value) -> Value:
        whole = (x.shape[0], x.shape[1], *[ONE] * (len(x.shape) - 2))

        def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
            group, _ = parted(places[1], inner, writer)
            return (places[0], group, *[ORIGIN] * (len(shape) - 2))

        return View(whole, each.dtype, each, inside, name=each.name)

    weight, bias = per_channel(weight, x), per_channel(bias, x)
    mean, scale = spread(mean), spread(scale)
    if weight is None or bias is None:
        return scaled("({0} - {1}) * {2}", (x, mean, scale), weight, bias, x.dtype, wide)
    # eager has one factor and one summand for each channel; the compiler does not contract the latter
    factor = pointwise("{0} * {1}", scale, weight, dtype=wide, exact=True)
    summand = pointwise("{2} - {0} * {1}", factor, mean, bias, dtype=wide, exact=True)
    return pointwise("tl.fma({0}, {1}, {2})", x, factor, summand, dtype=x.dtype, work=wide)


NORMALISATIONS: Mapping[str, Operation] = {
    "normalize": normalize,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "layer_norm": layer_norm,
    "native_layer_norm": native_layer_norm,
    "native_group_norm": native_group_norm,
    "local_response_norm": local_response_norm,
    "rms_norm": rms_norm,
    "batch_norm": batch_norm,
    "group_norm": group_norm,
    "instance_norm": instance_norm,
    "softmin": softmin,
}
"""Normalisations, by label."""
