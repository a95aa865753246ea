"""Describe as plain data how the inputs of a timed call are drawn, and draw them into buffers on the device."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from passnet_core.judge.numerics.draws.drawing import (
    LEAST_VARIANCE,
    RECORDED_LIMIT,
    RECORDED_SPREAD,
    dtype_of,
    spread_of,
    whole_range,
)
from passnet_core.judge.numerics.input_draws import index_limit
from passnet_core.judge.protocol.reference_bench import PLAIN_ROLE, InputRole
from passnet_core.records import Device, Profile, TensorSpec

Fill = Mapping[str, Any]

SLOTS = 3
"""How many input sets timed calls take in turn: what a call has left in the caches, or in memory that the next one is
given, belongs to another set."""


def fills(specs: Sequence[TensorSpec], roles: Mapping[str, InputRole], profile: Profile = Profile.STRICT) -> list[Fill]:
    """How each input of a timed call is drawn: its recorded mean with a typical spread, or, in the passnet profile, as
    recorded. Raises BadInput for a dtype that torch does not know."""
    sizes = {spec.name: spec.shape for spec in specs}
    found: list[Fill] = []
    for spec in specs:
        role = roles.get(spec.name, PLAIN_ROLE)
        dtype = dtype_of(spec)
        common = {"shape": list(spec.shape), "dtype": spec.dtype}
        if role.number or (spec.data is not None and math.prod(spec.shape) == len(spec.data)):
            found.append({"kind": "given"})
        elif dtype is torch.bool:
            found.append({**common, "kind": "whole", "low": 0, "high": 1})
        elif dtype.is_floating_point or dtype.is_complex:
            found.append({**common, **(_recorded(spec) if profile is Profile.PASSNET else _floats(spec, role))})
        else:
            low, high = whole_range(spec, index_limit(role, sizes))
            found.append({**common, "kind": "whole", "low": low, "high": high})
    return found


def _floats(spec: TensorSpec, role: InputRole) -> Fill:
    mean = spec.mean or 0.0
    if role.variance:
        return {"kind": "variance", "mean": mean if mean > 0 else 1.0}
    return {"kind": "float", "mean": mean, "spread": spread_of(spec, role), "low": spec.low, "high": spec.high}


def _recorded(spec: TensorSpec) -> Fill:
    mean, std = spec.mean or 0.0, 1.0 if spec.std is None else spec.std
    low = -RECORDED_LIMIT if spec.low is None else spec.low
    high = RECORDED_LIMIT if spec.high is None else spec.high
    return {"kind": "float", "mean": mean, "spread": std * RECORDED_SPREAD, "low": low, "high": high}


class Buffers:
    """Buffers for the inputs of timed calls, drawn anew on the device for each call. There are several sets (slots);
    fixed inputs, which stay the same for a block of calls, are shared by all sets."""

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
        """Draw the fixed inputs. Return the inputs of the first slot; those that are not fixed have any content."""
        self.generator.manual_seed(seed)
        for fill, tensor in zip(self.fills, self.slots[0]):
            if fixed(fill):
                _fill(tensor, fill, self.generator)
        return list(self.slots[0])

    def drawn(self, seed: int, slot: int) -> list[Any]:
        """Draw the inputs of this seed into this slot: the same bits on all devices of one type."""
        self.generator.manual_seed(seed)
        inputs = self.slots[slot % len(self.slots)]
        for fill, tensor in zip(self.fills, inputs):
            if not fixed(fill):
                _fill(tensor, fill, self.generator)
        return list(inputs)


def fixed(fill: Fill) -> bool:
    return bool(fill.get("fixed"))


def fixing(fills: Sequence[Fill], specs: Sequence[TensorSpec], weights: Sequence[str]) -> list[Fill]:
    """The same fills, with the inputs named in weights fixed for a block of calls."""
    return [
        {**fill, "fixed": True} if spec.name in weights and fill["kind"] != "given" else fill
        for fill, spec in zip(fills, specs)
    ]


def bytes_of(fill: Fill) -> int:
    """The bytes of one such input; 0 if it is given instead of drawn."""
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
