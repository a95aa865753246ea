"""Dtypes and attributes of tensors, and operations that change no element."""

from collections.abc import Mapping
from functools import partial

from passnet_core.graphs.ir import DeviceLiteral, Symbol
from passnet_core.solvers.rules.dtypes import BOOL, DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import SHORT_DTYPES, Argument, Operation, dtype_of
from passnet_core.solvers.rules.lowering.pointwise import cast
from passnet_core.solvers.rules.lowering.views import transpose
from passnet_core.solvers.rules.values import Value


def converted_to(x: Value, *args: Argument, **kwargs: Argument) -> Value:
    """x in the first dtype that the arguments name; devices and layouts change no element."""
    for each in (*args, *kwargs.values()):
        if isinstance(each, str) and not each.startswith(("cuda", "cpu")):
            raise Unsupported(f"a conversion to {each!r}")
        if isinstance(each, Symbol) and (dtype := dtype_of(each)) is not None:
            return cast(x, dtype)
        if isinstance(each, DType):
            return cast(x, each)
        if isinstance(each, Value):
            return cast(x, each.dtype)
    return x


def to_bool(x: Value) -> Value:
    """Whether the elements are not 0."""
    return cast(x, BOOL)


def to_bfloat16(x: Value) -> Value:
    """x in bfloat16."""
    return cast(x, DType("bfloat16"))


def type_as(x: Value, other: Value) -> Value:
    """x in the dtype of another tensor."""
    return cast(x, other.dtype)


def dropout(x: Value, p: Argument = 0.5, training: Argument = True, inplace: Argument = False) -> Value:
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
    if name in ("T", "mT"):
        return transpose(x, -2, -1)
    if name == "device":
        return DeviceLiteral("cuda")
    raise Unsupported(f"the attribute {name}")


def size(x: Value, dim: int | None = None) -> Argument:
    """The shape, or the size along a dimension."""
    return tuple(x.shape) if dim is None else x.shape[dim]


def to_named(name: str, x: Value, memory_format: Argument = None) -> Value:
    """x in the dtype of this name."""
    return cast(x, DType(name))


def unchanged(
    x: Value, device: Argument = None, non_blocking: Argument = False, memory_format: Argument = None
) -> Value:
    """x itself, whatever the other arguments are."""
    return x


CONVERSIONS: Mapping[str, Operation] = {
    "to": converted_to,
    "bool": to_bool,
    "bfloat16": to_bfloat16,
    "type_as": type_as,
    "dropout": dropout,
    "size": size,
    "type": converted_to,
    "dropout1d": dropout,
    "dropout2d": dropout,
    "dropout3d": dropout,
    **{label: partial(to_named, name) for label, name in SHORT_DTYPES.items()},
    **dict.fromkeys(("detach", "cuda", "cpu", "alias"), unchanged),
}
"""Conversions to dtypes, and operations that change no element, by label."""
