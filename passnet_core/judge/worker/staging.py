"""Calls whose values are compared: place their inputs, poison free memory before, and see what they changed after.

Runs in the workers, in the same way for every contender. The given inputs stay untouched. A call gets copies of them,
either in the same tensors as the previous call, or relocated to addresses that it has not seen."""

import contextlib
import ctypes
import math
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from passnet_core.judge.numerics.bits import bits, same_bits
from passnet_core.records import Device

LARGE_BYTES = 256 << 20
"""Above this size, inputs and outputs are dropped as soon as possible instead of being kept for checks."""

VIEWS = 0.7
"""The share of kept outputs of which only a view is kept."""

MOST_KEPT = 12
"""The outputs of how many calls are kept at most."""

POISON = 255
"""The byte that poisons memory: NaN in every floating dtype, -1 in signed integers."""

PADDING_BYTES = 1 << 16
"""How many poisoned bytes lie before and after each input."""

POISON_BLOCKS = 3
POISON_BYTES = {Device.CPU: 1 << 20, Device.CUDA: 1 << 30}
"""Blocks poisoned per size, and the largest of them. On a CPU, the C library fills larger ones: _malloc_poisoned."""

M_PERTURB = -6
LATE_CYCLES = 2_000_000
"""GPU cycles, about a millisecond, for which the call's stream is kept busy before it writes the inputs."""

MALLOC_FILLS = (0x01, 0x80)
"""The C library fills with their complements: numbers of either sign near the largest, NaN in half precision."""


# bound before any bundle is loaded, so that no bundle can replace them
_now = time.perf_counter
_wait_for_device = torch.cuda.synchronize


KeptOutputs: TypeAlias = list[tuple[int, torch.Tensor, torch.Tensor]]
"""Outputs of a call, or views of them, by index, each with a copy of the bits that it held: copying a bool would
normalise it."""


@dataclass(frozen=True)
class Observed:
    """One call. changed: the inputs that it changed, by index. overwrote: indices of earlier calls' outputs that
    it overwrote, or whose memory it returned again. late: indices of outputs that were still unfinished when the call's
    stream had done its work."""

    returned: Any
    seconds: float
    shares: tuple[tuple[str, ...], ...]
    """For each returned value, the inputs and earlier outputs that its memory overlaps: "input 0", "output 1"."""
    changed: Mapping[int, torch.Tensor]
    overwrote: tuple[int, ...]
    late: tuple[int, ...]


class Staging:
    """The inputs of one worker, and the latest outputs of its callables."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.inputs: list[Any] = []
        self.buffers: list[Any] = []
        self.addresses: list[int] = []
        self.output_sizes: set[int] = set()
        self.kept: dict[str, list[KeptOutputs]] = {}
        self.packed: tuple[Callable[[list[Any]], Any], dict[int, Any], dict[int, int]] | None = None
        """The callable whose weights were last prepared, with their content and addresses, by index."""
        self.chance = random.Random()
        self.calls = self.idle_calls = 0
        self.turn: int | None = None
        """What chooses the nonsense in free memory during a call, if it is not the number of the call."""

    def give(self, inputs: Sequence[Any]) -> None:
        """Set the inputs of the next calls: tensors on the device, and numbers."""
        self.inputs = list(inputs)
        if _bytes(self.inputs) > LARGE_BYTES:
            self.buffers, self.kept = [], {}

    def _pack(self, function: Callable[[list[Any]], Any], *, fresh: bool) -> None:
        """Place the inputs, and run the bundle's prepare(weights) if it has one, with only the weights readable. It is
        not run anew for the same weights in the same tensors, as it is not in a model."""
        self._place(fresh)
        pack, weights = getattr(function, "pack", None), getattr(function, "weights", ())
        if pack is not None and weights and not self._is_packed(function, weights):
            others = [index for index in range(len(self.buffers)) if index not in weights]
            self._spoil(others)
            self.packed = None
            pack(list(self.buffers))
            self._fill(others)
            held = {index: self.inputs[index] for index in weights}
            if _bytes(held.values()) <= LARGE_BYTES:
                self.packed = function, held, {index: self.addresses[index] for index in weights}

    def _is_packed(self, function: Callable[[list[Any]], Any], weights: Iterable[int]) -> bool:
        if self.packed is None or self.packed[0] is not function:
            return False
        _, held, addresses = self.packed
        return all(
            addresses.get(index) == self.addresses[index] and _alike(held[index], self.inputs[index])
            for index in weights
        )

    def call(self, name: str, function: Callable[[list[Any]], Any], *, fresh: bool, trusted: bool = False) -> Observed:
        """Make one call. fresh: relocate the inputs; otherwise reuse the previous call's tensors if they fit.

        trusted: it is torch's own code, of which nobody asks what it overwrote or left unfinished: its inputs do not
        come late, and its outputs are not kept."""
        self._pack(function, fresh=fresh)
        self._poison()
        if not trusted:
            self._delay_inputs()
        self.calls += 1
        with torch.no_grad(), _malloc_poisoned(self.device, self.calls if self.turn is None else self.turn):
            start = _now()
            returned = function(list(self.buffers))
            outputs = returned if isinstance(returned, tuple | list) else (returned,)
            seen = {} if trusted else self._seen_by_stream(outputs)
            self._synchronise()
            seconds = _now() - start
        late = tuple(index for index, before in seen.items() if not same_bits(outputs[index], before))
        earlier = [] if trusted else [each for call in self.kept.get(name, ()) for each in call]
        overwrote = {index for index, output, before in earlier if not same_bits(bits(output), before)}
        overwrote |= {
            index for index, output, _ in earlier if any(_is_plain(o) and overlap(o, output) for o in outputs)
        }
        observed = Observed(returned, seconds, self._shares(outputs), self._changed(), tuple(sorted(overwrote)), late)
        own = self._own(outputs, observed.shares)
        if not trusted:
            self._keep(name, own)
        return observed

    @contextlib.contextmanager
    def idle(self, *, again: bool) -> Iterator[None]:
        """Kernels do nothing meanwhile, and what they leave unwritten is the nonsense in free memory. Once more
        (`again`), calls find the same; otherwise another: after a saturating operation, some is right by chance."""
        self.idle_calls += not again
        self.turn = self.idle_calls
        try:
            yield
        finally:
            self.turn = None

    def extent_of(self, storage: torch.UntypedStorage) -> tuple[int, int]:
        """The addresses of the part of a storage that holds values: of an input's, without what lies around it."""
        start = storage.data_ptr()
        for each in self.buffers:
            if isinstance(each, torch.Tensor) and each.numel() and each.untyped_storage().data_ptr() == start:
                return _extent(each)
        return start, start + storage.nbytes()

    # --- before the call ---

    def _place(self, fresh: bool) -> None:
        if not fresh and self._buffers_fit():
            self._fill(range(len(self.buffers)))
            return
        old, self.buffers = self.buffers, []
        if _bytes(self.inputs) > LARGE_BYTES:
            old.clear()
        self.buffers = [copied(each) if isinstance(each, torch.Tensor) else each for each in self.inputs]
        self.addresses = [each.data_ptr() if isinstance(each, torch.Tensor) else 0 for each in self.buffers]
        for each in old:
            # a callable that still reads the old addresses reads NaN
            if isinstance(each, torch.Tensor) and each.is_floating_point():
                each.data.fill_(math.nan)

    def _buffers_fit(self) -> bool:
        return len(self.buffers) == len(self.inputs) and all(
            _same_form(buffer, value) and (not isinstance(value, torch.Tensor) or buffer.data_ptr() == address)
            for buffer, value, address in zip(self.buffers, self.inputs, self.addresses)
        )

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

    def _delay_inputs(self) -> None:
        """On CUDA, let the call's stream write the inputs late, as the layers before it would in a model. Work on
        another stream that does not wait for them reads NaN."""
        if self.device is Device.CPU:
            return
        everything = range(len(self.buffers))
        self._spoil(everything)
        self._synchronise()
        torch.cuda._sleep(LATE_CYCLES)
        self._fill(everything)

    def _spoil(self, indices: Iterable[int]) -> None:
        """Overwrite these inputs with NaN, or zero in integers."""
        for index in indices:
            buffer = self.buffers[index]
            if isinstance(buffer, torch.Tensor):
                buffer.data.fill_(math.nan if buffer.is_floating_point() else 0)

    def _fill(self, indices: Iterable[int]) -> None:
        """Copy the content of these inputs into the buffers, without raising the tensors' version counters."""
        for index in indices:
            value = self.inputs[index]
            if isinstance(value, torch.Tensor):
                self.buffers[index].data.copy_(value)

    def _synchronise(self) -> None:
        if self.device is Device.CUDA:
            _wait_for_device()

    # --- after the call ---

    def _seen_by_stream(self, outputs: Sequence[Any]) -> dict[int, torch.Tensor]:
        """Copy the outputs in the call's stream, without waiting for other streams. Empty on a CPU, or if large."""
        if self.device is Device.CPU or _bytes(outputs) > LARGE_BYTES:
            return {}
        return {index: output.clone() for index, output in enumerate(outputs) if _is_plain(output)}

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

    def _own(self, outputs: Sequence[Any], shares: Sequence[Sequence[str]]) -> list[tuple[int, torch.Tensor]]:
        """The outputs that are not views of inputs, by index. Their sizes are those to poison before the next call."""
        own = [
            (index, output)
            for index, output in enumerate(outputs)
            if _is_plain(output) and not any(each.startswith("input") for each in shares[index])
        ]
        self.output_sizes |= {output.nbytes for _, output in own}
        return own

    def _keep(self, name: str, own: Sequence[tuple[int, torch.Tensor]]) -> None:
        """Keep outputs, to see whether a later call overwrites them. Of some only a view is kept, as in a model that
        goes on with a view. If there are too many, those of a random call are dropped, so that no call is known to be
        forgotten."""
        calls = self.kept.setdefault(name, [])
        if _bytes(output for _, output in own) <= LARGE_BYTES:
            calls.append([(index, self._one_or_view(output), bits(output).clone()) for index, output in own])
        while sum(output.nbytes for call in calls for _, output, _ in call) > LARGE_BYTES or len(calls) > MOST_KEPT:
            del calls[self.chance.randrange(len(calls))]

    def _one_or_view(self, output: torch.Tensor) -> torch.Tensor:
        return output.detach() if self.chance.random() < VIEWS else output


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


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return _same_form(one, other) and same_bits(one, other)
    return type(one) is type(other) and one == other


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
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    start = tensor.data_ptr()
    return start, start + (last + 1) * tensor.element_size()


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
