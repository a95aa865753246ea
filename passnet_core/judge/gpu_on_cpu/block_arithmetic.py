"""Patches of what Triton's interpreter makes of a whole block, where a GPU does it in another order or precision.

Unpatched, reductions and scans go from element to element, also with functions that are not associative; float16 is
summed in float32, also by a tl.dot that is to add in float16; tl.dot never rounds to TF32; blocks are concatenated and
reshaped in order; and a histogram leaves out numbers beyond its bins. A GPU scans neighbours in a tree, reduces
elements that lie far apart first, adds float16 in float16, multiplies float32 in TF32 unless it is told not to,
concatenates blocks as their lanes lie, reshapes them so if it may, and looks at the low bits of a number."""

import functools
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import triton.runtime.interpreter as interpreter

TF32_BITS_LOST = 13
"""How many of float32's 23 bits of a mantissa TF32 does not have."""

DOT_STEP = 16
"""How many products of float16 an instruction adds before the sum is rounded to float16."""

Blocks = list[np.ndarray]


def mend() -> None:
    """Patch the interpreter of this process."""
    _mend_reductions()
    _mend_dot()
    _mend_elements()
    interpreter.InterpreterBuilder.create_histogram = _histogram
    interpreter.InterpreterBuilder.create_cat = _concatenated
    interpreter.InterpreterBuilder.create_reshape = _reshaped


def rounded_to_tf32(values: np.ndarray) -> np.ndarray:
    """float32 values, rounded to the nearest of TF32 as by the instruction cvt.rna.tf32. Shape as given."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    half, kept = np.uint32(1 << (TF32_BITS_LOST - 1)), np.uint32(0xFFFFFFFF << TF32_BITS_LOST & 0xFFFFFFFF)
    return np.where(np.isfinite(values), ((bits + half) & kept).view(np.float32), values)


def _mend_reductions() -> None:
    reducing, scanning = interpreter.ReduceOps, interpreter.ScanOps
    plain_sum = reducing.sum

    def total(self: Any, block: Any) -> Any:
        if block.handle.data.dtype != np.float16:
            return plain_sum(self, block)
        added = _tree([block.handle.data], self.axis, lambda one, other: [one[0] + other[0]])
        return self.to_tensor(shaped(self, added[0], block.handle.data.ndim), block.dtype)

    def reduce(self: Any, blocks: Sequence[Any]) -> list[Any]:
        data = [each.handle.data for each in blocks]
        combined = _tree(data, self.axis, _combining(self, blocks))
        return [self.to_tensor(shaped(self, found, data[0].ndim), each.dtype) for found, each in zip(combined, blocks)]

    def shaped(self: Any, found: np.ndarray, rank: int) -> Any:
        """The result of a tree, whose axis has length 1, in the shape that was asked for."""
        if self.keep_dims:
            return found if self.axis is not None else found.reshape([1] * rank)
        return found.item() if self.axis is None else found.squeeze(self.axis)

    def scan(self: Any, blocks: Sequence[Any]) -> list[Any]:
        found = scanned(self, [each.handle.data for each in blocks], _combining(self, blocks))
        return [self.to_tensor(each, block.dtype) for each, block in zip(found, blocks)]

    def running(operation: Any) -> Callable[[Any, Any], list[Any]]:
        def scan_one(self: Any, block: Any) -> list[Any]:
            (found,) = scanned(self, [block.handle.data], lambda one, other: [operation(one[0], other[0])])
            return [self.to_tensor(found, block.dtype)]

        return scan_one

    def scanned(self: Any, data: Blocks, combine: Callable[[Blocks, Blocks], Blocks]) -> Blocks:
        length, step = data[0].shape[self.axis], 1
        place = np.arange(length).reshape([length if axis == self.axis else 1 for axis in range(data[0].ndim)])
        while step < length:
            combined = combine([np.roll(each, step, self.axis) for each in data], data)
            data = [np.where(place < step, before, here) for before, here in zip(data, combined)]
            step *= 2
        return data

    reducing.sum, reducing.generic_reduce, scanning.generic_scan = total, reduce, scan
    scanning.cumsum, scanning.cumprod = running(np.add), running(np.multiply)


def _combining(operation: Any, blocks: Sequence[Any]) -> Callable[[Blocks, Blocks], Blocks]:
    """The function that a reduction or a scan combines with, on arrays."""

    def combine(one: Blocks, other: Blocks) -> Blocks:
        given = [operation.to_tensor(each, block.dtype) for each, block in zip((*one, *other), (*blocks, *blocks))]
        found = operation.combine_fn.fn(*given)
        many = found if isinstance(found, tuple | list) else (found,)
        arrays = [getattr(getattr(each, "handle", None), "data", each) for each in many]
        return [
            np.broadcast_to(np.asarray(each, dtype=before.dtype), before.shape) for each, before in zip(arrays, one)
        ]

    return combine


def _tree(blocks: Sequence[np.ndarray], axis: int | None, combine: Callable[[Blocks, Blocks], Blocks]) -> Blocks:
    """Combine the halves of an axis until one element is left; None: of all elements. The length is a power of two. A
    GPU's warps exchange lanes in this way, so that only functions that commute reduce to what is asked for."""
    data = [each.reshape(-1) if axis is None else each for each in blocks]
    along = axis or 0
    while data[0].shape[along] > 1:
        half = data[0].shape[along] // 2
        first, second = ([_part(each, along, part) for each in data] for part in (slice(half), slice(half, None)))
        data = combine(first, second)
    return data


def _part(block: np.ndarray, axis: int, part: slice) -> np.ndarray:
    return block[tuple(part if each == axis % block.ndim else slice(None) for each in range(block.ndim))]


def _mend_dot() -> None:
    builder = interpreter.InterpreterBuilder
    dot = builder.create_dot

    def multiplied(self: Any, a: Any, b: Any, sums: Any, precision: Any, *rest: Any) -> Any:
        if getattr(precision, "name", "") == "TF32" and a.dtype.scalar.is_fp32() and b.dtype.scalar.is_fp32():
            a, b = (interpreter.TensorHandle(rounded_to_tf32(each.data), each.dtype) for each in (a, b))
        if not (sums.dtype.scalar.is_fp16() and a.dtype.scalar.is_fp16()):
            return dot(self, a, b, sums, precision, *rest)
        total = sums.data
        for start in range(0, a.data.shape[-1], DOT_STEP):
            some = slice(start, start + DOT_STEP)
            one, other = a.data[..., some].astype(np.float32), b.data[..., some, :].astype(np.float32)
            total = (np.matmul(one, other) + total).astype(np.float16)
        return interpreter.TensorHandle(total, sums.dtype.scalar)

    builder.create_dot = multiplied


def _mend_elements() -> None:
    """Let booleans be added as bits, and the least and the greatest of a number and NaN be the number."""
    builder = interpreter.InterpreterBuilder
    add, clamp = builder.create_add, builder.create_clampf

    def added(self: Any, one: Any, other: Any) -> Any:
        return self.binary_op(one, other, np.bitwise_xor) if one.data.dtype == np.bool_ else add(self, one, other)

    def clamped(self: Any, value: Any, least: Any, most: Any, propagate: Any) -> Any:
        if propagate.name == "ALL":
            return clamp(self, value, least, most, propagate)
        return self.binary_op(self.binary_op(value, least, np.fmax), most, np.fmin)

    builder.create_add, builder.create_clampf = added, clamped
    builder.create_maxnumf = lambda self, one, other: self.binary_op(one, other, np.fmax)
    builder.create_minnumf = lambda self, one, other: self.binary_op(one, other, np.fmin)


def _histogram(self: Any, data: Any, bins: int, mask: Any) -> Any:
    kept = data.data if mask is None else data.data[np.broadcast_to(mask.data, data.data.shape)]
    counted = np.bincount(kept.reshape(-1).astype(np.int64) & (bins - 1), minlength=bins)
    return interpreter.TensorHandle(counted.astype(np.int32), interpreter.tl.int32)


def _concatenated(self: Any, one: Any, other: Any) -> Any:
    """tl.cat, which may put the elements into any order."""
    order = _order(one.data.size + other.data.size, one.dtype.scalar.name)
    return interpreter.TensorHandle(np.concatenate([one.data, other.data])[order], one.dtype.scalar)


def _reshaped(self: Any, block: Any, shape: Sequence[int], allow_reorder: bool) -> Any:
    """tl.reshape, tl.view and tl.ravel, which may reorder the elements if they are told so."""
    data, new = block.data, tuple(shape)
    if allow_reorder and new != data.shape:
        data = data.reshape(-1)[_order(data.size, f"{data.shape} {new}")]
    return interpreter.TensorHandle(data.reshape(new), block.dtype.scalar)


@functools.cache
def _order(length: int, of: str) -> np.ndarray:
    """An order of so many elements. of: a dtype, or two shapes. It stays the same in this process, so that a call can
    be repeated."""
    return np.array(random.SystemRandom().sample(range(length), length))
