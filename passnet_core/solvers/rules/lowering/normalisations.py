"""Softmax and normalisations: reductions with what is done to each element by their results."""

from collections.abc import Mapping
from dataclasses import dataclass

from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinates, parted
from passnet_core.solvers.rules.dtypes import DType, wide_of
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, by_name, size_of
from passnet_core.solvers.rules.lowering.arithmetic import add, clamp, div, mul, power
from passnet_core.solvers.rules.lowering.conversions import converted_to
from passnet_core.solvers.rules.lowering.pointwise import binary, cast, pointwise
from passnet_core.solvers.rules.lowering.rearrangements import pad
from passnet_core.solvers.rules.lowering.reductions import averaged, mean, moments, moments_in_order, norm, reduced
from passnet_core.solvers.rules.lowering.unary import unary
from passnet_core.solvers.rules.lowering.views import per_channel, reshaped, view_of, without_axes
from passnet_core.solvers.rules.sizes import ONE, Size, product
from passnet_core.solvers.rules.values import ElementWriter, OfOne, Order, Value, View


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
    mean, variance = moments(x, tuple(range(2, len(x.shape))), 0, wide_of(x.dtype))
    return centred(x, mean, _scale(variance, eps, x.dtype), per_channel(weight, x), per_channel(bias, x))


def layer_norm(
    x: Value, shape: Argument, weight: Argument = None, bias: Argument = None, eps: Argument = 1e-5
) -> Value:
    """x with mean 0 and variance 1 over the last axes."""
    mean, variance = moments_in_order(x, _last_axes(x, shape), Order.LAYER)
    found = centred(x, mean, _scale(variance, eps, x.dtype), weight, bias)
    found.contiguous = True
    return found


def native_layer_norm(
    x: Value, shape: Argument, weight: Argument, bias: Argument, eps: Argument
) -> tuple[Value, Value, Value]:
    """layer_norm, the mean, and the inverse of the deviation."""
    mean, scale = (cast(each, x.dtype) for each in _moments_given(x, _last_axes(x, shape), eps))
    return layer_norm(x, shape, weight, bias, eps), mean, scale


def native_group_norm(
    x: Value, weight: Argument, bias: Argument, N: int, C: int, HxW: int, group: int, eps: Argument
) -> tuple[Value, Value, Value]:
    """group_norm, the means, and the inverses of the deviations."""
    apart = reshaped(x, (Size.of(N), Size.of(group), product(x.shape).divided(Size.of(N * group))))
    mean, scale = (cast(without_axes(each, (2,)), x.dtype) for each in _moments_given(apart, (2,), eps))
    return group_norm(x, group, weight, bias, eps), mean, scale


def _last_axes(x: Value, shape: Argument) -> tuple[int, ...]:
    return tuple(range(len(x.shape) - len(shape), len(x.shape)))


def _moments_given(x: Value, axes: tuple[int, ...], eps: Argument) -> tuple[Value, Value]:
    """The mean and the inverse of the deviation over some axes, kept. Raises Unsupported for half precision."""
    if x.dtype.name not in ("float32", "float64"):
        raise Unsupported("moments in half precision")
    mean, variance = moments(x, axes, 0, wide_of(x.dtype))
    return mean, _scale(variance, eps, x.dtype)


def local_response_norm(x: Value, size: int, alpha: Argument = 1e-4, beta: Argument = 0.75, k: Argument = 1.0) -> Value:
    """x divided by a power of the mean square of so many channels around each."""
    ends = (*[0, 0] * (len(x.shape) - 2), size // 2, (size - 1) // 2)
    squares = pad(mul(x, x), ends)
    windows = view_of(
        squares, (*x.shape, Size.of(size)), lambda places: (places[0], places[1] + places[-1], *places[2:-1])
    )
    near = mean(windows, -1)
    return div(x, power(add(mul(near, alpha), k), beta))


def _scale(variance: Value, eps: Argument, dtype: DType) -> Value:
    """The inverse of the deviation of what has this dtype, not rounded yet."""
    found = pointwise("libdevice.rsqrt({0} + {1})", variance, eps, dtype=wide_of(dtype), exact=True)
    found.name = "scale"
    return found


def centred(x: Value, mean: Value, scale: Value, weight: Argument, bias: Argument) -> Value:
    """How far x is from its mean, by a scale, times a weight, plus a bias."""
    return scaled("({0} - {1}) * {2}", (x, mean, scale), weight, bias)


def scaled(form: str, operands: tuple[Value, ...], weight: Argument, bias: Argument) -> Value:
    """The form, times a weight, plus a bias, as far as there are any, rounded once to the first operand's dtype."""
    given = [*operands, *(each for each in (weight, bias) if each is not None)]
    dtype = operands[0].dtype
    if weight is not None and bias is not None:
        form = f"tl.fma({form}, {{{len(given) - 2}}}, {{{len(given) - 1}}})"
    elif weight is not None or bias is not None:
        form = f"{form} {'+' if weight is None else '*'} {{{len(given) - 1}}}"
    return pointwise(form, *given, dtype=dtype, work=wide_of(dtype))


def rms_norm(x: Value, shape: Argument, weight: Argument = None, eps: Argument = None) -> Value:
    """x divided by the root of its mean square over the last axes."""
    if eps is None:
        raise Unsupported("rms_norm without eps")
    wide = wide_of(x.dtype)
    squares = pointwise("{0} * {0}", x, dtype=wide, exact=True)
    mean = averaged(squares, _last_axes(x, shape), True, wide)
    scale = pointwise("libdevice.rsqrt({0} + {1})", mean, eps, dtype=wide, exact=True)
    return scaled("{0} * {1}", (x, scale), weight, None)


def batch_norm(
    x: Value, mean: Argument, var: Argument, weight: Argument = None, bias: Argument = None,
    training: Argument = False, eps: Argument = 1e-5,
) -> Value:  # fmt: skip
    """x with mean 0 and variance 1 in each channel, by given moments, which must not change, or by its own."""
    if mean is not None and training is not False:
        raise Unsupported("batch_norm that learns")
    if len(x.shape) < 2:
        raise Unsupported("batch_norm without channels")
    if mean is None:
        mean, var = _moments_by_channel(x)
    else:
        mean, var = per_channel(mean, x), per_channel(var, x)
    scale, weight, bias = _scale(var, eps, x.dtype), per_channel(weight, x), per_channel(bias, x)
    if weight is None or bias is None:
        return centred(x, mean, scale, weight, bias)
    form = "tl.fma(({0} - {1}) * {3}, {2}, {4})"
    return pointwise(form, x, mean, scale, weight, bias, dtype=x.dtype, work=wide_of(x.dtype))


def _moments_by_channel(x: Value) -> tuple[Value, Value]:
    """Mean and variance of each channel, as operands beside x: of a single example in the order that eager has."""
    rank = len(x.shape)
    if rank < 3 or not x.shape[0].is_one:
        return moments(x, tuple(axis for axis in range(rank) if axis != 1), 0, wide_of(x.dtype))
    return moments_in_order(without_axes(x, (0,)), tuple(range(1, rank - 1)), Order.BATCH)


@dataclass(eq=False)
class Kept(OfOne):
    """A moment as eager has it between the kernels of group_norm, or eps: on a GPU in the dtype of x, named by a
    tensor."""

    tensor: str

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
        mean, scale = kept(mean), kept(_scale(variance, kept(eps), x.dtype))
    else:
        scale = _scale(variance, eps, x.dtype)

    def spread(each: Value) -> Value:
        whole = (x.shape[0], x.shape[1], *[ONE] * (len(x.shape) - 2))

        def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
            group, _ = parted(places[1], inner, writer)
            return (places[0], group, *[ORIGIN] * (len(shape) - 2))

        return View(whole, each.dtype, each, inside, name=each.name)

    weight, bias = per_channel(weight, x), per_channel(bias, x)
    mean, scale = spread(mean), spread(scale)
    if weight is None or bias is None:
        return centred(x, mean, scale, weight, bias)
    # eager has one factor and one summand for each channel; the compiler does not contract the latter
    factor = pointwise("{0} * {1}", scale, weight, dtype=wide, exact=True)
    summand = pointwise("{2} - {0} * {1}", factor, mean, bias, dtype=wide, exact=True)
    return pointwise("tl.fma({0}, {1}, {2})", x, factor, summand, dtype=x.dtype, work=wide)


NORMALISATIONS: Mapping[str, Operation] = {
    **by_name(normalize, softmax, log_softmax, softmin, layer_norm, native_layer_norm, group_norm, native_group_norm),
    **by_name(instance_norm, batch_norm, rms_norm, local_response_norm),
}
"""Normalisations, by label."""
