"""Compute a digest of what a call returned, equal on every device."""

import struct
from collections.abc import Sequence
from typing import Any

import torch

INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def digest(outputs: Sequence[Any]) -> int:
    """Add up the bits of all outputs as integers, each output weighted by its position, to a signed 64-bit sum. It is
    exact on every device. Plain booleans, None and tensors that are not strided do not count."""
    parts: list[torch.Tensor] = []
    weights: list[int] = []
    plain = 0
    for index, value in enumerate(outputs):
        if isinstance(value, torch.Tensor) and value.layout is torch.strided:
            bits = torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
            parts.append(bits.detach().view(INTEGERS[bits.dtype.itemsize]).sum(dtype=torch.int64))
            weights.append(index + 1)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            plain += int(struct.unpack("<q", struct.pack("<d", float(value)))[0]) * (index + 1)
    sums = [parts[0].item()] if len(parts) == 1 else torch.stack(parts).tolist() if parts else []
    total = sum(weight * int(each) for weight, each in zip(weights, sums))
    return (total + plain + (1 << 63)) % (1 << 64) - (1 << 63)


def listed(returned: Any) -> Sequence[Any]:
    return returned if isinstance(returned, tuple | list) else (returned,)
