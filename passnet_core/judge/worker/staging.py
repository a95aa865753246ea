"""Calls whose values are compared: place their inputs, poison free memory before, and see what they changed after.

Runs in the workers, in the same way for every contender. The given inputs stay untouched: a call gets copies of them,
at addresses that it has not seen."""

import contextlib
import ctypes
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from passnet_core.judge.numerics.bits import extent, same_bits
from passnet_core.records import Device

LARGE_BYTES = 256 << 20
"""Above this size, inputs are dropped as soon as possible."""

POISON = 255
"""The byte that poisons memory: NaN in every floating dtype, -1 in signed integers."""

PADDING_BYTES = 1 << 16
"""How many poisoned bytes lie before and after each input."""

POISON_BLOCKS = 3
POISON_BYTES = {Device.CPU: 1 << 20, Device.CUDA: 1 << 30}
"""Blocks poisoned per size, and the largest of them. On a CPU, the C library fills larger ones: _malloc_poisoned."""

M_PERTURB = -6
MALLOC_FILLS = (0x01, 0x80)
"""The C library fills with their complements: numbers of either sign near the largest, NaN in half precision."""


# bound before any bundle is loaded, so that no bundle can replace them
_now = time.perf_counter
_wait_for_device = torch.cuda.synchronize


@dataclass(frozen=True)
class Observed:
    """One call. changed: the inputs that it changed, by index."""

    returned: Any
    seconds: float
    shares: tuple[tuple[str, ...], ...]
    """For each returned value, the inputs and earlier outputs that its memory overlaps: "input 0", "output 1"."""
    changed: Mapping[int, torch.Tensor]


class Staging:
    """The inputs of one worker."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.inputs: list[Any] = []
        self.buffers: list[Any] = []
        self.output_sizes: set[int] = set()
        self.calls = 0

    def give(self, inputs: Sequence[Any]) -> None:
        """Set the inputs of the next calls: tensors on the device, and numbers."""
        self.inputs = list(inputs)
        if _bytes(self.inputs) > LARGE_BYTES:
            self.buffers = []

    def call(self, function: Callable[[list[Any]], Any]) -> Observed:
        """Make one call. What it returned is not copied."""
        self._place()
        pack, weights = getattr(function, "pack", None), getattr(function, "weights", ())
        if pack is not None and weights:
            pack(list(self.buffers))
        self._poison()
        self.calls += 1
        with torch.no_grad(), _malloc_poisoned(self.device, self.calls):
            start = _now()
            returned = function(list(self.buffers))
            self._synchronise()
            seconds = _now() - start
        outputs = returned if isinstance(returned, tuple | list) else (returned,)
        observed = Observed(returned, seconds, self._shares(outputs), self._changed())
        self._note_sizes(outputs, observed.shares)
        return observed

    def extent_of(self, storage: torch.UntypedStorage) -> tuple[int, int]:
        """The addresses of the part of a storage that holds values: of an input's, without what lies around it."""
        start = storage.data_ptr()
        for each in self.buffers:
            if isinstance(each, torch.Tensor) and each.numel() and each.untyped_storage().data_ptr() == start:
                return _extent(each)
        return start, start + storage.nbytes()

    # --- before the call ---

    def _place(self) -> None:
        old, self.buffers = self.buffers, []
        if _bytes(self.inputs) > LARGE_BYTES:
            old.clear()
        self.buffers = [copied(each) if isinstance(each, torch.Tensor) else each for each in self.inputs]
        for each in old:
            # a callable that still reads the old addresses reads NaN
            if isinstance(each, torch.Tensor) and each.is_floating_point():
                each.data.fill_(math.nan)

    def _poison(self) -> None:
        """Poison free memory that the next allocations of the outputs' sizes may get."""
        sizes = self.output_sizes or {each.nbytes for each in self.inputs if isinstance(each, torch.Tensor)}
        wanted = [size for size in sorted(sizes) if 0 < size <= POISON_BYTES[self.device]]
        blocks: list[torch.Tensor] = []
        # if memory is short, poison less: the call itself may still fit
        with contextlib.suppress(torch.cuda.OutOfMemoryError):
            for size in wanted * POISON_BLOCKS:
                blocks.append(torch.empty(size, dtype=torch.uint8, device=self.device.value).fill_(POISON))
        blocks.clear()

    def _synchronise(self) -> None:
        if self.device is Device.CUDA:
            _wait_for_device()

    # --- after the call ---

    def _changed(self) -> dict[int, torch.Tensor]:
        return {
            index: buffer.detach() if _is_plain(buffer) else torch.empty(0)
            for index, (buffer, value) in enumerate(zip(self.buffers, self.inputs))
            if isinstance(value, torch.Tensor) and not (_same_form(buffer, value) and same_bits(buffer, value))
        }

    def _shares(self, outputs: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
        others = [(f"input {index}", each) for index, each in enumerate(self.buffers) if _is_plain(each)]
        found: list[tuple[str, ...]] = []
        for index, output in enumerate(outputs):
            if not _is_plain(output):
                found.append(())
                continue
            found.append(tuple(name for name, other in others if overlap(output, other)))
            others.append((f"output {index}", output))
        return tuple(found)

    def _note_sizes(self, outputs: Sequence[Any], shares: Sequence[Sequence[str]]) -> None:
        """Note the sizes of the outputs that are not views of inputs, to poison before the next call."""
        self.output_sizes |= {
            output.nbytes
            for output, shared in zip(outputs, shares)
            if _is_plain(output) and not any(each.startswith("input") for each in shared)
        }


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """Relocate a tensor: the same content and strides at a new address, at the beginning of a storage, with its version
    counter at zero. The memory around it is poisoned, so that reads out of bounds always give the same nonsense."""
    start, end = _extent(tensor) if tensor.numel() else (0, 0)
    held = torch.empty(PADDING_BYTES + end - start + PADDING_BYTES, dtype=torch.uint8, device=tensor.device)
    held[:PADDING_BYTES].fill_(POISON)
    held[-PADDING_BYTES:].fill_(POISON)
    bare = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    # a storage of its own, since as_strided counts from the beginning of one
    inside = held.untyped_storage()[PADDING_BYTES : PADDING_BYTES + end - start]
    copy = bare.set_(inside, 0, tensor.shape, tensor.stride()).data
    copy.data.copy_(tensor)
    return copy


def _same_form(one: Any, other: Any) -> bool:
    if not isinstance(other, torch.Tensor):
        return not isinstance(one, torch.Tensor)
    return type(one) is type(other) and (one.shape, one.stride(), one.dtype) == (
        other.shape,
        other.stride(),
        other.dtype,
    )


def _is_plain(value: Any) -> bool:
    return type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout is torch.strided


def _bytes(values: Any) -> int:
    return sum(each.nbytes for each in values if isinstance(each, torch.Tensor))


def overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors have an element in common, and not merely a storage."""
    if not one.numel() or not other.numel() or one.device != other.device:
        return False
    (first, first_end), (second, second_end) = _extent(one), _extent(other)
    if first >= second_end or second >= first_end:
        return False
    size = one.element_size()
    start, end = min(first, second), max(first_end, second_end)
    if other.element_size() != size or (first - second) % size:
        return True
    taken = torch.zeros((end - start) // size, dtype=torch.bool, device=one.device)
    taken.as_strided(one.shape, one.stride(), (first - start) // size).fill_(True)
    return bool(taken.as_strided(other.shape, other.stride(), (second - start) // size).any())


def _extent(tensor: torch.Tensor) -> tuple[int, int]:
    """The address of a tensor's first byte, and the address after its last byte."""
    start = tensor.data_ptr()
    return start, start + extent(tensor.shape, tensor.stride()) * tensor.element_size()


def _mallopt() -> Callable[[int, int], int] | None:
    try:
        found: Callable[[int, int], int] = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        # not GNU's C library
        return None
    return found


_set_malloc = _mallopt()


@contextlib.contextmanager
def _malloc_poisoned(device: Device, turn: int) -> Iterator[None]:
    """On the CPU, have the C library fill all memory that it allocates meanwhile with nonsense."""
    if device is not Device.CPU or _set_malloc is None:
        yield
        return
    _set_malloc(M_PERTURB, MALLOC_FILLS[turn % len(MALLOC_FILLS)])
    try:
        yield
    finally:
        _set_malloc(M_PERTURB, 0)
