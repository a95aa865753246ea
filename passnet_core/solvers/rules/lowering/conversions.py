"""Dtypes and attributes of tensors, and operations that change no element."""

from collections.abc import Mapping
from functools import partial

from passnet_core.graphs.ir import DeviceLiteral
from passnet_core.solvers.rules.dtypes import BOOL, DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.layouts import is_contiguous
from passnet_core.solvers.rules.lowering.arguments import (
    CONTIGUOUS,
    SAME_LAYOUT,
    SHORT_DTYPES,
    Argument,
    Operation,
    dtype_of,
)
from passnet_core.solvers.rules.lowering.pointwise import cast
from passnet_core.solvers.rules.lowering.views import permute, transpose
from passnet_core.solvers.rules.values import Copied, Value


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
    return laid_out(x, memory_format)


def laid_out(x: Value, memory_format: Argument) -> Value:
    """x, in row-major order if this format says so. Raises Unsupported for layouts of images."""
    if memory_format not in (*SAME_LAYOUT, CONTIGUOUS):
        raise Unsupported("another layout")
    if memory_format != CONTIGUOUS or is_contiguous(x):
        return x
    return Copied(x.shape, x.dtype, x, contiguous=True)


def to_bool(x: Value) -> Value:
    """Whether the elements are not 0."""
    return cast(x, BOOL)


def to_bfloat16(x: Value) -> Value:
    """x in bfloat16."""
    return cast(x, DType("bfloat16"))


def type_as(x: Value, other: Value) -> Value:
    """x in the dtype of another tensor."""
    return cast(x, other.dtype)


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


def to_named(name: str, x: Value) -> Value:
    """x in the dtype of this name."""
    return cast(x, DType(name))


def unchanged(x: Value, *device: Argument) -> Value:
    """x itself."""
    return x


CONVERSIONS: Mapping[str, Operation] = {
    "to": converted_to,
    "bool": to_bool,
    "bfloat16": to_bfloat16,
    "type_as": type_as,
    "dropout": dropout,
    "size": size,
    "type": converted_to,
    "real": unchanged,
    "dropout1d": dropout,
    "dropout2d": dropout,
    "dropout3d": dropout,
    **dict.fromkeys(("alpha_dropout", "feature_dropout", "feature_alpha_dropout"), dropout),
    **{label: partial(to_named, name) for label, name in (*SHORT_DTYPES.items(), ("char", "int8"), ("byte", "uint8"))},
    **dict.fromkeys(
        ("detach", "cuda", "cpu", "alias", "positive", "conj", "resolve_conj", "resolve_neg", "conj_physical"),
        unchanged,
    ),
}
"""Conversions to dtypes, and operations that change no element, by label."""
