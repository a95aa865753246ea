"""Cumulative sums and products of integers, which are the same in any order of additions."""

from collections.abc import Mapping
from functools import partial

from passnet_core.solvers.rules.dtypes import INT64
from passnet_core.solvers.rules.kernels import MOST_COLUMNS, Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, axis_of, dtype_of
from passnet_core.solvers.rules.lowering.pointwise import cast
from passnet_core.solvers.rules.values import Copied, Scan, Value


def scanned(kind: str, x: Value, dim: Argument, dtype: Argument = None) -> Value:
    """The sums or products of the elements up to each place along an axis, as int64 unless a dtype is given. Raises
    Unsupported for floats, which eager combines in an order of its own, and for rows that no tile holds."""
    result = dtype_of(dtype) if dtype is not None else x.dtype if x.dtype.is_float else INT64
    if result is None or result.is_float or result.is_bool:
        raise Unsupported("a cumulative sum or product of floats")
    x = cast(x, result)
    axis = axis_of(dim, len(x.shape))
    if not x.shape or x.shape[axis].is_one:
        return Copied(x.shape, x.dtype, x, contiguous=True)
    if max(x.shape[axis].values) > MOST_COLUMNS:
        raise Unsupported(f"a cumulative sum or product of more than {MOST_COLUMNS} elements")
    return Scan(x.shape, x.dtype, kind, x, (axis,), name=kind)


SCANS: Mapping[str, Operation] = {kind: partial(scanned, kind) for kind in ("cumsum", "cumprod")}
"""Operations that keep the axis along which they reduce, by label."""
