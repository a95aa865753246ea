"""Timed calls, one at a time: the referee names a seed, the child draws fresh inputs from it, and says so; told to go,
it calls, and answers at once how long that took, and then with a digest of what was returned.

Both children run this same loop for every contender. What it claims is not trusted: the referee has its own clock for
each of the three steps, and asks at random for what a call returned, which must have the digest that was sent.
"""

import gc
import math
import os
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from passnet_core.judge.inputs import (
    LEAST_VARIANCE,
    PARAMETER_SPREAD,
    PLAIN,
    RECORDED_LIMIT,
    RECORDED_SPREAD,
    Role,
    dtype_of,
    index_limit,
    is_parameter,
)
from passnet_core.records import Clock, Device, Profile, TensorSpec

ASKED = struct.Struct("<QBB6x")
"""What the referee sends for a call: seed, slot, and what to do."""
ANSWERED = struct.Struct("<dq")
"""What comes back after each step: claimed microseconds, digest; 0 where one is not known yet. NaN: the step failed."""
GO = b"g"
"""What the referee sends once the inputs are drawn."""

CALL, KEEP, END = 1, 2, 4
"""KEEP: hold what the previous call returned, to be sent at the end."""

SPIN_S = 1.0
"""How long the next seed is polled for before the wait may sleep."""

SLOTS = 3
"""Sets of input buffers. Content moves from one to another, and each sees ever new content."""

Callee = Callable[[list[Any]], Any]
Fill = Mapping[str, Any]

INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


# --- what is drawn ---------------------------------------------------------------------------------------------------


def fills(specs: Sequence[TensorSpec], roles: Mapping[str, Role], profile: Profile = Profile.STRICT) -> list[Fill]:
    """How each input is drawn for a timed call, as plain data: its recorded mean with a real spread, or in PassNet's
    profile as recorded. Raises BadInput for a dtype that torch does not know."""
    sizes = {spec.name: spec.shape for spec in specs}
    found: list[Fill] = []
    for spec in specs:
        role = roles.get(spec.name, PLAIN)
        dtype = dtype_of(spec)
        common = {"shape": list(spec.shape), "dtype": spec.dtype}
        if role.number or (spec.data is not None and math.prod(spec.shape) == len(spec.data)):
            found.append({"kind": "given"})
        elif dtype is torch.bool:
            found.append({**common, "kind": "whole", "low": 0, "high": 1})
        elif dtype.is_floating_point or dtype.is_complex:
            found.append({**common, **(_recorded(spec) if profile is Profile.PASSNET else _floats(spec, role))})
        else:
            low, high = _range(spec, index_limit(role, sizes), torch.iinfo(dtype))
            found.append({**common, "kind": "whole", "low": low, "high": high})
    return found


def _floats(spec: TensorSpec, role: Role) -> Fill:
    mean, std = spec.mean or 0.0, 1.0 if spec.std is None else spec.std
    if role.variance:
        return {"kind": "variance", "mean": mean if mean > 0 else 1.0}
    spread = std if std > 0 else PARAMETER_SPREAD * max(abs(mean), 1.0) if is_parameter(spec) else 1.0
    return {"kind": "float", "mean": mean, "spread": spread, "low": spec.low, "high": spec.high}


def _recorded(spec: TensorSpec) -> Fill:
    mean, std = spec.mean or 0.0, 1.0 if spec.std is None else spec.std
    low = -RECORDED_LIMIT if spec.low is None else spec.low
    high = RECORDED_LIMIT if spec.high is None else spec.high
    return {"kind": "float", "mean": mean, "spread": std * RECORDED_SPREAD, "low": low, "high": high}


def _range(spec: TensorSpec, below: int | None, info: torch.iinfo) -> tuple[int, int]:
    """The recorded range, kept below the size of what is indexed; without either, 0 or 1."""
    known = spec.low is not None and spec.high is not None
    low = max(int(spec.low), info.min) if known and spec.low is not None else 0
    high = min(int(spec.high), info.max) if known and spec.high is not None else 1
    if below is not None:
        high = max(min(high if known else below - 1, below - 1), 0)
    return min(low, high), high


class Buffers:
    """The inputs of timed calls, in several places, drawn anew on the device for each call; fixed ones, which stay the
    same for a while, have one place only."""

    def __init__(self, fills: Sequence[Fill], given: Sequence[Any], device: Device, slots: int = SLOTS) -> None:
        self.generator = torch.Generator(device=device.value)
        self.fills = fills
        first = [_buffer(fill, value, device) for fill, value in zip(fills, given)]
        others = [
            [kept if fixed(fill) else _buffer(fill, value, device) for kept, fill, value in zip(first, fills, given)]
            for _ in range(slots - 1)
        ]
        self.slots = [first, *others]

    def fix(self, seed: int) -> list[Any]:
        """Draws the fixed ones; the inputs of the first slot, whose others may hold anything."""
        self.generator.manual_seed(seed)
        for fill, tensor in zip(self.fills, self.slots[0]):
            if fixed(fill):
                _fill(tensor, fill, self.generator)
        return list(self.slots[0])

    def drawn(self, seed: int, slot: int) -> list[Any]:
        """The inputs of this seed, in this slot: the same bits on every device of one kind."""
        self.generator.manual_seed(seed)
        inputs = self.slots[slot % len(self.slots)]
        for fill, tensor in zip(self.fills, inputs):
            if not fixed(fill):
                _fill(tensor, fill, self.generator)
        return list(inputs)


def fixed(fill: Fill) -> bool:
    return bool(fill.get("fixed"))


def fixing(fills: Sequence[Fill], specs: Sequence[TensorSpec], weights: Sequence[str]) -> list[Fill]:
    """The same, with these inputs fixed while a block of calls lasts."""
    return [
        {**fill, "fixed": True} if spec.name in weights and fill["kind"] != "given" else fill
        for fill, spec in zip(fills, specs)
    ]


def bytes_of(fill: Fill) -> int:
    """What one such input takes; 0 where it is given as it is."""
    if fill["kind"] == "given":
        return 0
    dtype: torch.dtype = getattr(torch, fill["dtype"])
    return math.prod(fill["shape"]) * dtype.itemsize


def _buffer(fill: Fill, given: Any, device: Device) -> Any:
    if fill["kind"] == "given":
        return given.clone() if isinstance(given, torch.Tensor) else given
    return torch.empty(fill["shape"], dtype=getattr(torch, fill["dtype"]), device=device.value)


def _fill(tensor: Any, fill: Fill, generator: torch.Generator) -> None:
    match fill["kind"]:
        case "whole":
            tensor.random_(fill["low"], fill["high"] + 1, generator=generator)
        case "variance":
            tensor.normal_(0.0, 0.5, generator=generator).exp_().mul_(fill["mean"]).clamp_(min=LEAST_VARIANCE)
        case "float":
            if tensor.dtype.itemsize == 1:
                wide = torch.empty(tensor.shape, dtype=torch.float32, device=tensor.device)
                tensor.copy_(wide.normal_(fill["mean"], fill["spread"], generator=generator))
                return
            flat = torch.view_as_real(tensor) if tensor.is_complex() else tensor
            flat.normal_(fill["mean"], fill["spread"], generator=generator)
            if fill["low"] is not None or fill["high"] is not None:
                flat.clamp_(min=fill["low"], max=fill["high"])


# --- what came out ---------------------------------------------------------------------------------------------------


def digest(outputs: Sequence[Any]) -> int:
    """A sum over all bits of all outputs, exact and the same on every device; 64 bits, signed."""
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


# --- the loop --------------------------------------------------------------------------------------------------------


def serve(
    receive: Callable[[int], bytes],
    send: Callable[[bytes], None],
    call: Callee,
    buffers: Buffers,
    clock: Clock,
    device: Device,
    core: int | None,
) -> list[Any]:
    """Answers calls until told to end; what the kept calls returned, in order. Exceptions of the call pass through,
    after the answer that says so: a time that is no number."""
    timed = _Timed(clock, device)
    kept: list[Any] = []
    previous: Any = None
    with torch.no_grad(), _on_core(core):
        while True:
            seed, slot, what = ASKED.unpack(receive(ASKED.size))
            if what & KEEP:
                kept.append(copied(previous))
            if what & END:
                return kept
            try:
                inputs = buffers.drawn(seed, slot)
                timed.synchronise()
                send(ANSWERED.pack(0.0, 0))
                receive(len(GO))
                microseconds, previous = timed(call, inputs)
                send(ANSWERED.pack(microseconds, 0))
                answer = ANSWERED.pack(0.0, digest(listed(previous)))
            except BaseException:  # the call is candidate code; the referee waits for an answer, then for the reason
                send(ANSWERED.pack(math.nan, 0))
                raise
            send(answer)


def copied(returned: Any) -> Any:
    """What was returned, safe from what later calls write."""
    if isinstance(returned, tuple | list):
        return tuple(copied(each) for each in returned)
    return returned.clone() if type(returned) is torch.Tensor else returned


class _Timed:
    """One call on one clock."""

    def __init__(self, clock: Clock, device: Device) -> None:
        self.synchronise: Callable[[], object] = torch.cuda.synchronize if device is Device.CUDA else _nothing
        self.flush: torch.Tensor | None = None
        self.events = clock in (Clock.EVENT, Clock.COLD)
        if self.events:
            self.start = torch.cuda.Event(enable_timing=True)
            self.end = torch.cuda.Event(enable_timing=True)
        if clock is Clock.COLD:
            size = 4 * torch.cuda.get_device_properties(0).L2_cache_size
            self.flush = torch.empty(max(size, 1 << 26), dtype=torch.uint8, device="cuda")

    def __call__(self, call: Callee, inputs: list[Any]) -> tuple[float, Any]:
        if self.flush is not None:
            self.flush.zero_()
        self.synchronise()
        if self.events:
            self.start.record()
            returned = call(inputs)
            self.end.record()
            self.synchronise()
            return self.start.elapsed_time(self.end) * 1e3, returned
        start = time.perf_counter_ns()
        returned = call(inputs)
        self.synchronise()
        return (time.perf_counter_ns() - start) / 1e3, returned


def _nothing() -> None:
    return None


@contextmanager
def _on_core(core: int | None) -> Iterator[None]:
    """Keeps this thread on one core, where the system allows it, and collects no garbage."""
    before = os.sched_getaffinity(0)
    collecting = gc.isenabled()
    gc.disable()
    try:
        if core is not None and core in before:
            os.sched_setaffinity(0, {core})
        yield
    finally:
        os.sched_setaffinity(0, before)
        if collecting:
            gc.enable()
