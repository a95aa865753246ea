"""The bits of tensors' elements, and the memory that these take."""

from collections.abc import Sequence

import torch

INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

# as it is before any candidate code runs
_equal = torch.equal


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors have the same shape, dtype and bits: NaN equals itself, and -0 differs from 0."""
    return (one.shape, one.dtype) == (other.shape, other.dtype) and _equal(bits(one), bits(other))


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The elements as integers with the same bits, which share the tensor's memory."""
    plain = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return plain.detach().view(INTEGERS[plain.dtype.itemsize])


def extent(shape: Sequence[int], strides: Sequence[int]) -> int:
    """How many elements of memory lie between the first and the last one, these included."""
    return 0 if 0 in shape else 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))
