"""Losses: what each element differs by, and the mean or the sum of that."""

from collections.abc import Mapping
from functools import partial

from passnet_core.solvers.rules.dtypes import INT64
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, by_name
from passnet_core.solvers.rules.lowering.arithmetic import add, clamp, div, mul, sub
from passnet_core.solvers.rules.lowering.conditions import compared, where
from passnet_core.solvers.rules.lowering.creation import filled
from passnet_core.solvers.rules.lowering.indexing import gather, take
from passnet_core.solvers.rules.lowering.normalisations import log_softmax
from passnet_core.solvers.rules.lowering.pointwise import binary
from passnet_core.solvers.rules.lowering.reductions import mean, norm, summed
from passnet_core.solvers.rules.lowering.unary import unary
from passnet_core.solvers.rules.lowering.views import broadcast_tensors, squeeze, unsqueeze
from passnet_core.solvers.rules.values import Value

REDUCTIONS = ("none", "mean", "sum")
"""What is made of the losses of all elements, as aten numbers it."""


def of_all(each: Value, reduction: Argument) -> Value:
    """The losses of all elements, or their mean, or their sum. Raises Unsupported for another reduction."""
    kind = REDUCTIONS[reduction] if isinstance(reduction, int) else reduction
    if kind not in REDUCTIONS:
        raise Unsupported(f"the reduction {kind}")
    return each if kind == "none" else mean(each) if kind == "mean" else summed(each)


def of_difference(form: str, x: Value, y: Value, reduction: Argument = "mean") -> Value:
    """A loss that is computed from the difference of two elements."""
    return of_all(binary(form, x, y), reduction)


def smooth_l1_loss(x: Value, y: Value, reduction: Argument = "mean", beta: Argument = 1.0) -> Value:
    """Half the squared differences in units of beta, the absolute ones from beta on."""
    form = f"tl.where(D < {beta}, 0.5 * D * D / {beta}, D - {0.5 * beta})" if beta else "D"
    return of_difference(form.replace("D", "tl.abs({0} - {1})"), x, y, reduction)


def huber_loss(x: Value, y: Value, reduction: Argument = "mean", delta: Argument = 1.0) -> Value:
    """Half the squared differences, the absolute ones times delta from delta on."""
    form = f"tl.where(D <= {delta}, 0.5 * D * D, {delta} * (D - {0.5 * delta}))"
    return of_difference(form.replace("D", "tl.abs({0} - {1})"), x, y, reduction)


def binary_cross_entropy(x: Value, y: Value, reduction: Argument = "mean") -> Value:
    """The cross entropy of probabilities and truths, with logarithms of at least -100."""
    one, other = (f"tl.maximum(libdevice.{each}, -100.0)" for each in ("log1p(-{0})", "log({0})"))
    return of_all(binary(f"({{1}} - 1.0) * {one} - {{1}} * {other}", x, y), reduction)


def binary_cross_entropy_with_logits(x: Value, y: Value, reduction: Argument = "mean") -> Value:
    """The cross entropy of logits and truths."""
    return of_all(sub(mul(sub(1, y), x), unary("logsigmoid", x)), reduction)


def kl_div(x: Value, y: Value, reduction: Argument = "mean", log_target: Argument = False) -> Value:
    """The divergence of probabilities from those whose logarithms x are."""
    if log_target:
        each = binary("libdevice.exp({1}) * ({1} - {0})", x, y)
    else:
        each = binary("tl.where({1} == 0, 0.0, {1} * libdevice.log({1})) - {1} * {0}", x, y)
    return of_all(each, reduction)


def nll_loss(
    x: Value, y: Value, weight: Argument = None, ignore_index: Argument = -100, reduction: Argument = "mean"
) -> Value:
    """The negative elements of x at the classes y, along the axis of the channels, times the weights of classes."""
    if len(x.shape) < 2 or y.dtype != INT64:
        raise Unsupported("a loss of a single example, or of probabilities")
    ignored = compared("==", y, ignore_index)
    classes = where(ignored, 0, y)
    weights = where(ignored, 0.0, filled(1, (), x.dtype) if weight is None else take(weight, classes))
    losses = mul(unary("neg", squeeze(gather(x, 1, unsqueeze(classes, 1)), 1)), weights)
    return div(summed(losses), summed(weights)) if reduction in ("mean", 1) else of_all(losses, reduction)


def cross_entropy(
    x: Value, y: Value, weight: Argument = None, ignore_index: Argument = -100, reduction: Argument = "mean"
) -> Value:
    """nll_loss of log_softmax."""
    if len(x.shape) < 2:
        raise Unsupported("a loss of a single example")
    return nll_loss(log_softmax(x, 1), y, weight, ignore_index, reduction)


def pairwise_distance(
    x1: Value, x2: Value, p: Argument = 2.0, eps: Argument = 1e-6, keepdim: Argument = False
) -> Value:
    """The norms of differences along the last axis."""
    return norm(add(sub(x1, x2), eps), p, -1, keepdim)


def cosine_similarity(x1: Value, x2: Value, dim: Argument = 1, eps: Argument = 1e-8) -> Value:
    """The sums of products along an axis, by the norms of the factors."""
    both = broadcast_tensors(x1, x2)
    one, other = (div(each, clamp(norm(each, 2, dim, True), eps)) for each in both)
    return summed(mul(one, other), dim)


_DIFFERENCES: Mapping[str, str] = {"mse_loss": "({0} - {1}) * ({0} - {1})", "l1_loss": "tl.abs({0} - {1})"}

LOSSES: Mapping[str, Operation] = {
    **{label: partial(of_difference, form) for label, form in _DIFFERENCES.items()},
    **by_name(smooth_l1_loss, huber_loss, binary_cross_entropy, binary_cross_entropy_with_logits, kl_div),
    **by_name(nll_loss, cross_entropy, pairwise_distance, cosine_similarity),
}
"""Losses and distances, by label."""
