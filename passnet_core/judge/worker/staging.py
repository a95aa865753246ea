"""What surrounds a call whose values are compared: where its inputs lie, what memory holds before, what changed after.

Runs in the children, alike for every contender. Inputs are kept as given; a call sees buffers, whose content is either
put anew into the very tensors of the call before, or lies at addresses that it has not seen.
"""

import contextlib
import ctypes
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from passnet_core.records import Device

LARGE_BYTES = 256 << 20
"""Above it memory is spared: nothing is kept that could be dropped."""

POISON = 255
"""NaN in every floating dtype, -1 in the others."""

BESIDE_BYTES = 1 << 16
"""Before and behind every input."""

POISON_BLOCKS = 3
POISON_BYTES = {Device.CPU: 1 << 20, Device.CUDA: 1 << 30}
"""Largest block that is filled in advance. The CPU's larger ones the C library fills, see _malloc_poisoned."""

M_PERTURB = -6
LATE_CYCLES = 2_000_000
"""For about a millisecond the call's stream is busy, so that everything launched waits for its inputs."""

PERTURBATIONS = (0x01, 0x80)
"""The C library fills with the complement: numbers near the largest, below and above zero, NaN in half precision."""

INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

# as they were before any bundle was loaded
_equal = torch.equal
_now = time.perf_counter
_wait_for_device = torch.cuda.synchronize


@dataclass(frozen=True)
class Observed:
    """One call. changed: inputs that it changed, by index. overwrote: outputs of its call before that it changed.
    late: outputs that were not there yet when the stream of the call had done its work."""

    returned: Any
    seconds: float
    shares: tuple[tuple[str, ...], ...]
    """Per returned value with whose memory its own overlaps: "input 0", "output 1" (only those before it)."""
    changed: Mapping[int, torch.Tensor]
    overwrote: tuple[int, ...]
    late: tuple[int, ...]


class Staging:
    """The inputs of one child and what its calls returned last."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.inputs: list[Any] = []
        self.buffers: list[Any] = []
        self.places: list[int] = []
        self.sizes: set[int] = set()
        self.kept: dict[str, list[tuple[int, torch.Tensor, torch.Tensor]]] = {}
        self.calls = 0

    def give(self, inputs: Sequence[Any]) -> None:
        """What the next calls compute on: tensors on the device, and numbers."""
        self.inputs = list(inputs)
        if _bytes(self.inputs) > LARGE_BYTES:
            self.buffers, self.kept = [], {}

    def pack(self, function: Callable[[list[Any]], Any], *, fresh: bool) -> None:
        """Places the inputs, and has a bundle that does so prepare the weights among them: all that it sees of them."""
        self._place(fresh)
        pack, weights = getattr(function, "pack", None), getattr(function, "weights", ())
        if pack is not None and weights:
            others = [index for index in range(len(self.buffers)) if index not in weights]
            self._spoil(others)
            pack(list(self.buffers))
            self._fill(others)

    def call(self, name: str, function: Callable[[list[Any]], Any], *, fresh: bool, packed: bool = False) -> Observed:
        """One call. fresh: at new addresses, else with the tensors of the call before where they fit. packed: what
        weights the bundle prepares has been prepared."""
        if packed:
            self._place(fresh)
        else:
            self.pack(function, fresh=fresh)
        self._poison()
        self._come_late()
        self.calls += 1
        with torch.no_grad(), _malloc_poisoned(self.device, self.calls):
            start = _now()
            returned = function(list(self.buffers))
            outputs = returned if isinstance(returned, tuple | list) else (returned,)
            seen = self._seen_by_its_stream(outputs)
            self._synchronise()
            seconds = _now() - start
        late = tuple(index for index, before in seen.items() if not same_bits(outputs[index], before))
        overwrote = tuple(index for index, output, before in self.kept.get(name, ()) if not same_bits(output, before))
        observed = Observed(returned, seconds, self._shares(outputs), self._changed(), overwrote, late)
        self._keep(name, outputs, observed.shares)
        return observed

    # --- before the call ---

    def _place(self, fresh: bool) -> None:
        if not fresh and self._fit():
            self._fill(range(len(self.buffers)))
            return
        old, self.buffers = self.buffers, []
        if _bytes(self.inputs) > LARGE_BYTES:
            old.clear()
        self.buffers = [copied(each) if isinstance(each, torch.Tensor) else each for each in self.inputs]
        self.places = [each.data_ptr() if isinstance(each, torch.Tensor) else 0 for each in self.buffers]
        for each in old:
            # who still reads there reads nonsense
            if isinstance(each, torch.Tensor) and each.is_floating_point():
                each.data.fill_(math.nan)

    def _fit(self) -> bool:
        return len(self.buffers) == len(self.inputs) and all(
            _alike(buffer, value) and (not isinstance(value, torch.Tensor) or buffer.data_ptr() == place)
            for buffer, value, place in zip(self.buffers, self.inputs, self.places)
        )

    def _poison(self) -> None:
        """Fills memory that the next allocations may get, of the sizes of outputs."""
        sizes = self.sizes or {each.nbytes for each in self.inputs if isinstance(each, torch.Tensor)}
        wanted = [size for size in sorted(sizes) if 0 < size <= POISON_BYTES[self.device]]
        blocks: list[torch.Tensor] = []
        # a call that leaves no memory to spare is not to fail for it
        with contextlib.suppress(torch.cuda.OutOfMemoryError):
            for size in wanted * POISON_BLOCKS:
                blocks.append(torch.empty(size, dtype=torch.uint8, device=self.device.value).fill_(POISON))
        blocks.clear()

    def _come_late(self) -> None:
        """On CUDA, the inputs come from work that the stream of the call has yet to do, as in a model: who works on
        another stream and does not wait reads NaN."""
        if self.device is Device.CPU:
            return
        everything = range(len(self.buffers))
        self._spoil(everything)
        self._synchronise()
        torch.cuda._sleep(LATE_CYCLES)
        self._fill(everything)

    def _spoil(self, indices: Iterable[int]) -> None:
        """Whoever reads these inputs now reads nonsense."""
        for index in indices:
            buffer = self.buffers[index]
            if isinstance(buffer, torch.Tensor):
                buffer.data.fill_(math.nan if buffer.is_floating_point() else 0)

    def _fill(self, indices: Iterable[int]) -> None:
        """Puts the content of these inputs where it belongs; no tensor's version counts that as a change."""
        for index in indices:
            value = self.inputs[index]
            if isinstance(value, torch.Tensor):
                self.buffers[index].data.copy_(value)

    def _synchronise(self) -> None:
        if self.device is Device.CUDA:
            _wait_for_device()

    # --- after the call ---

    def _seen_by_its_stream(self, outputs: Sequence[Any]) -> dict[int, torch.Tensor]:
        """Copies of outputs as whoever goes on in the stream of the call would find them. On the CPU there is none."""
        if self.device is Device.CPU or _bytes(outputs) > LARGE_BYTES:
            return {}
        return {index: output.clone() for index, output in enumerate(outputs) if _plain(output)}

    def _changed(self) -> dict[int, torch.Tensor]:
        return {
            index: buffer.detach() if _plain(buffer) else torch.empty(0)
            for index, (buffer, value) in enumerate(zip(self.buffers, self.inputs))
            if isinstance(value, torch.Tensor) and not (_alike(buffer, value) and same_bits(buffer, value))
        }

    def _shares(self, outputs: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
        others = [(f"input {index}", each) for index, each in enumerate(self.buffers) if _plain(each)]
        found: list[tuple[str, ...]] = []
        for index, output in enumerate(outputs):
            if not _plain(output):
                found.append(())
                continue
            found.append(tuple(name for name, other in others if overlap(output, other)))
            others.append((f"output {index}", output))
        return tuple(found)

    def _keep(self, name: str, outputs: Sequence[Any], shares: Sequence[Sequence[str]]) -> None:
        """Holds on to outputs of their own, so that the next call must not write there."""
        own = [
            (index, output)
            for index, output in enumerate(outputs)
            if _plain(output) and not any(each.startswith("input") for each in shares[index])
        ]
        self.sizes |= {output.nbytes for _, output in own}
        affordable = _bytes(output for _, output in own) <= LARGE_BYTES
        self.kept[name] = [(index, output, output.clone()) for index, output in own] if affordable else []


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """The same content and strides at another address, as a tensor that counts no change yet. Before and behind it lies
    what nobody could take for data, so that who reads there always gets the same."""
    start, end = _extent(tensor) if tensor.numel() else (0, 0)
    held = torch.empty(BESIDE_BYTES + end - start + BESIDE_BYTES, dtype=torch.uint8, device=tensor.device)
    held[:BESIDE_BYTES].fill_(POISON)
    held[-BESIDE_BYTES:].fill_(POISON)
    bare = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    copy = bare.set_(held.untyped_storage(), BESIDE_BYTES // tensor.element_size(), tensor.shape, tensor.stride()).data
    copy.data.copy_(tensor)
    return copy


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether both have one shape and the same bits: NaN equals itself, and -0 is not 0."""
    return (one.shape, one.dtype) == (other.shape, other.dtype) and _equal(_bits(one), _bits(other))


def _alike(one: Any, other: Any) -> bool:
    if not isinstance(other, torch.Tensor):
        return not isinstance(one, torch.Tensor)
    return type(one) is type(other) and (one.shape, one.stride(), one.dtype) == (
        other.shape,
        other.stride(),
        other.dtype,
    )


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    plain = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return plain.detach().view(INTEGERS[plain.dtype.itemsize])


def _plain(value: Any) -> bool:
    return type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout is torch.strided


def _bytes(values: Any) -> int:
    return sum(each.nbytes for each in values if isinstance(each, torch.Tensor))


def overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether they have an element in common, and not only a storage."""
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
    """First address, and the one after the last."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    start = tensor.data_ptr()
    return start, start + (last + 1) * tensor.element_size()


def _mallopt() -> Callable[[int, int], int] | None:
    try:
        found: Callable[[int, int], int] = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        # another C library than GNU's
        return None
    return found


_set_malloc = _mallopt()


@contextlib.contextmanager
def _malloc_poisoned(device: Device, turn: int) -> Iterator[None]:
    """On the CPU, whatever the C library hands out meanwhile is filled with what nobody could take for a result."""
    if device is not Device.CPU or _set_malloc is None:
        yield
        return
    _set_malloc(M_PERTURB, PERTURBATIONS[turn % len(PERTURBATIONS)])
    try:
        yield
    finally:
        _set_malloc(M_PERTURB, 0)
