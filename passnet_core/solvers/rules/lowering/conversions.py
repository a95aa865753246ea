"""Dtypes and attributes of tensors, and operations that change no element."""

from collections.abc import Mapping
from functools import partial

from passnet_core.graphs.ir import DeviceLiteral
from passnet_core.operations.table import dtype
from passnet_core.solvers.rules.dtypes import DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import (
    CONTIGUOUS,
    SAME_LAYOUT,
    Argument,
    Operation,
    by_name,
    dtype_of,
    known_dtype,
)
from passnet_core.solvers.rules.lowering.pointwise import cast
from passnet_core.solvers.rules.lowering.views import contiguous, permute, transpose
from passnet_core.solvers.rules.values import Value

_CALLED_LIKE_DTYPES = ("bool", "bfloat16", "half", "float", "double", "short", "int", "long")
"""Methods that convert to what torch calls a dtype by the same name."""


def converted_to(
    x: Value, *given: Argument, dtype: Argument = None, other: Argument = None, memory_format: Argument = None
) -> Value:
    """x in the first dtype that the arguments name; devices change no element. Raises Unsupported for layouts of
    images."""
    for each in (*given, dtype, other):
        if isinstance(each, str) and not each.startswith(("cuda", "cpu")):
            raise Unsupported(f"a conversion to {each!r}")
        named = each.dtype if isinstance(each, Value) else dtype_of(each)
        if named is not None:
            x = cast(x, named)
            break
    if memory_format not in (*SAME_LAYOUT, CONTIGUOUS):
        raise Unsupported("another layout")
    return contiguous(x) if memory_format == CONTIGUOUS else x


def dropout(x: Value, p: Argument = 0.5, training: Argument = True) -> Value:
    """x, as dropout leaves it outside of training. Raises Unsupported in training."""
    if training is not False and p != 0.0:
        raise Unsupported("dropout in training")
    return x


def attribute(x: Argument, name: Argument) -> Argument:
    """An attribute of a tensor. Raises Unsupported for one that is not known."""
    if name == "shape":
        return tuple(x.shape)
    if name == "dtype":
        return x.dtype
    if name in ("mT", "mH") or (name in ("T", "H") and len(x.shape) == 2):
        return transpose(x, -2, -1)
    if name == "T":
        return permute(x, range(len(x.shape))[::-1])
    if name == "real":
        return x
    if name == "device":
        return DeviceLiteral("cuda")
    raise Unsupported(f"the attribute {name}")


def size(x: Value, dim: int | None = None) -> Argument:
    """The shape, or the size along a dimension."""
    return tuple(x.shape) if dim is None else x.shape[dim]


def unchanged(x: Value, *device: Argument) -> Value:
    """x itself."""
    return x


CONVERSIONS: Mapping[str, Operation] = {
    **by_name(size, dropout),
    **dict.fromkeys(("to", "type", "type_as"), converted_to),
    **dict.fromkeys(("dropout1d", "dropout2d", "dropout3d"), dropout),
    **dict.fromkeys(("alpha_dropout", "feature_dropout", "feature_alpha_dropout"), dropout),
    **{label: partial(cast, dtype=known_dtype(dtype(f"torch.{label}"))) for label in _CALLED_LIKE_DTYPES},
    "char": partial(cast, dtype=DType("int8")),
    "byte": partial(cast, dtype=DType("uint8")),
    **dict.fromkeys(
        ("detach", "cuda", "cpu", "alias", "positive", "real", "conj", "resolve_conj", "resolve_neg", "conj_physical"),
        unchanged,
    ),
}
"""Conversions to dtypes, and operations that change no element, by label."""
