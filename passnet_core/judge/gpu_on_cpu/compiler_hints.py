"""Hints to Triton's compiler, which Triton's interpreter keeps and ignores: here they are held against the values.

A compiler believes them, and loads several elements at once where they say that these lie beside each other. A hint
that lies raises WrongHint, which ends the kernel."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import triton.language as tl


class WrongHint(ValueError):
    """A hint that the values contradict."""


def multiple_of(input: Any, values: Any) -> Any:
    """tl.multiple_of. The compiler takes it to hold for the first of each run of neighbours: 16 for arange(0, 16)."""

    def holds(along: np.ndarray, step: int, value: int) -> bool:
        begins = np.ones(along.shape, np.bool_)
        begins[1:] = along[1:] - along[:-1] != step
        return not (along[begins] % value).any()

    return _held("multiple_of", input, values, holds)


def max_contiguous(input: Any, values: Any) -> Any:
    """tl.max_contiguous: each group of so many values is a run of neighbours, which may begin again at zero, as the
    remainder of a division by the number of rows does."""

    def holds(along: np.ndarray, step: int, value: int) -> bool:
        group = along.reshape(-1, min(value, len(along)), *along.shape[1:])
        return bool(((group[:, 1:] - group[:, :-1] == step) | (group[:, 1:] == 0)).all())

    return _held("max_contiguous", input, values, holds)


def max_constancy(input: Any, values: Any) -> Any:
    """tl.max_constancy: the values of each group of so many are equal."""

    def holds(along: np.ndarray, step: int, value: int) -> bool:
        group = along.reshape(-1, min(value, len(along)), *along.shape[1:])
        return bool((group == group[:, :1]).all())

    return _held("max_constancy", input, values, holds)


HINTS: dict[str, Callable[[Any, Any], Any]] = {
    each.__name__: each for each in (multiple_of, max_contiguous, max_constancy)
}


def _held(name: str, input: Any, values: Any, holds: Callable[[np.ndarray, int, int], bool]) -> Any:
    """The input, of which the hint is true. holds: whether it is, of values along their first axis, of which neighbours
    differ by a step, and of the number in the hint."""
    # a number that is known when compiling has no attributes
    if not isinstance(input, tl.tensor):
        return input
    given = [getattr(each, "value", each) for each in _listed(values)]
    data = np.atleast_1d(input.handle.data)
    if len(given) != data.ndim:
        raise ValueError(f"tl.{name} needs a number for each of {data.ndim} axes")
    # an address counts bytes; of anything but integers and addresses nothing is hinted
    step = input.dtype.element_ty.primitive_bitwidth // 8 if input.dtype.is_ptr() else 1
    for axis, value in _told(given):
        along = np.moveaxis(data, axis, 0).astype(np.int64)
        if not holds(along, step, value):
            raise WrongHint(f"tl.{name}({value}) is not true of its values along axis {axis}: {_shown(along)}")
    return input


def _listed(values: Any) -> Sequence[Any]:
    plain = getattr(values, "value", values)
    return plain if isinstance(plain, list | tuple) else [plain]


def _told(values: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The axes of which a hint says anything, and what."""
    return ((axis, value) for axis, value in enumerate(values) if value > 1)


def _shown(along: np.ndarray, most: int = 6) -> str:
    first = along.reshape(len(along), -1)[:, 0]
    return ", ".join(map(str, first[:most])) + (", …" if len(first) > most else "")
