"""Compute a digest of what a call returned, equal on every device."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True)
class BegunDigest:
    """A digest whose sums may still be computed by the device. sums: weight and sum of each tensor. plain: the rest."""

    sums: tuple[tuple[int, torch.Tensor], ...]
    plain: int


def digest(outputs: Sequence[Any]) -> int:
    """Add up the bits of all outputs as integers, each output weighted by its position, to a signed 64-bit sum. It is
    exact on every device. Plain booleans, None and tensors that are not strided do not count."""
    return finished([begun(outputs)])[0]


def begun(outputs: Sequence[Any]) -> BegunDigest:
    """Begin a digest of these outputs, without waiting for the device."""
    sums: list[tuple[int, torch.Tensor]] = []
    plain = 0
    for position, value in enumerate(outputs, start=1):
        if isinstance(value, torch.Tensor) and value.layout is torch.strided:
            bits = torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
            sums.append((position, bits.detach().view(INTEGERS[bits.dtype.itemsize]).sum(dtype=torch.int64)))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            plain += int(struct.unpack("<q", struct.pack("<d", float(value)))[0]) * position
    return BegunDigest(tuple(sums), plain)


def finished(digests: Sequence[BegunDigest]) -> list[int]:
    """Wait for the device once, and return these digests, whatever devices the outputs are on."""
    sums = [each for digest in digests for _, each in digest.sums]
    home = max((each.device for each in sums), key=str, default=None)
    values = iter(torch.stack([each.to(home) for each in sums]).tolist() if sums else ())
    totals = [sum(weight * int(next(values)) for weight, _ in each.sums) + each.plain for each in digests]
    # as signed numbers of 64 bits
    return [(total + (1 << 63)) % (1 << 64) - (1 << 63) for total in totals]


def listed(returned: Any) -> Sequence[Any]:
    return returned if isinstance(returned, tuple | list) else (returned,)
