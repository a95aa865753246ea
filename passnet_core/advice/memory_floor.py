"""Compute how many bytes a call on a subgraph has to move, and the least time that this takes."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from passnet_core.records import MEMORY_FLOOR, Accelerator, Outcome, OutputAccuracy, Subgraph, TensorForm, TensorSpec

_WIDTH = re.compile(r"(?:u?int|float|bfloat|complex)(\d+)")


@dataclass(frozen=True)
class Floor:
    """The bytes of all inputs and outputs, and the speed at which a copy moves bytes on the device."""

    moved_bytes: float
    bytes_per_us: float

    @property
    def us(self) -> float:
        """The least microseconds of a call whose data come from memory and not from a cache."""
        return self.moved_bytes / self.bytes_per_us


def bytes_of(shape: Sequence[int], dtype: str) -> int:
    """The bytes of a tensor. dtype: without "torch."; an unknown dtype counts as one byte per element."""
    width = _WIDTH.match(dtype)
    return math.prod(shape) * (max(1, int(width[1]) // 8) if width else 1)


def bytes_moved(
    inputs: Sequence[TensorSpec | TensorForm], outputs: Sequence[OutputAccuracy | TensorSpec | TensorForm]
) -> int:
    """The bytes of reading all inputs once and writing all outputs once."""
    return sum(bytes_of(each.shape, each.dtype) for each in (*inputs, *outputs))


def memory_floor(
    outcome: Outcome, subgraph: Subgraph | None = None, accelerator: Accelerator | None = None
) -> Floor | None:
    """The floor that the judge measured, or else the one of the recorded sizes on this accelerator; None if unknown."""
    match outcome.figures(MEMORY_FLOOR):
        case {"moved_bytes": moved, "bytes_per_us": speed} if speed > 0:
            return Floor(moved, speed)
    if subgraph is None or accelerator is None or accelerator.bytes_per_us <= 0:
        return None
    if outcome.accuracy is None or outcome.accuracy.reduced:
        return None
    return Floor(bytes_moved(subgraph.inputs, outcome.accuracy.outputs), accelerator.bytes_per_us)


def floor_words(floor: Floor) -> str:
    """Explain the floor: "No call that reads from memory can be faster than about 8.6 µs: it has to move 33 MB, …"."""
    return (
        f"No call that reads from memory can be faster than about {floor.us:.2g} µs: it has to move"
        f" {_size(floor.moved_bytes)}, and a copy on this device moves {floor.bytes_per_us / 1e3:,.0f} GB/s."
        " A call may be faster if its data are already in the cache."
    )


def nearness(kernels_us: float, floor: Floor) -> str:
    """How many times the floor the kernels take, as "1.7×"; a dash without a floor."""
    return f"{kernels_us / floor.us:.2g}×" if floor.us > 0 else "–"


def _size(size: float) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} bytes"
