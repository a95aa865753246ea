"""Encode traced passes and the result of a call as messages, and decode them. The decoders trust nothing: any part may
be malformed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from passnet_core.graphs.ir import graph_from_json, graph_to_json
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.judge.protocol import framing
from passnet_core.judge.protocol.messages import Launches, Produced, Returned, Seen

TEXTS_LIMIT = 100


def texts(values: Any) -> tuple[str, ...]:
    """The first TEXTS_LIMIT values as strings of at most 1000 characters."""
    return tuple(str(each)[:1000] for each in values[:TEXTS_LIMIT])


def traced_to_json(traced: TracedPass) -> dict[str, Any]:
    """A pass as data: graphs have a form of their own."""
    graphs = {"pattern": graph_to_json(traced.pattern), "arguments": graph_to_json(traced.arguments)}
    return {"name": traced.name, "replacement": traced.replacement, **graphs}


def traced_from_json(told: Any) -> TracedPass:
    """The inverse of traced_to_json. Malformed data raises whatever reading it raises."""
    return TracedPass(
        name=str(told["name"])[:200],
        pattern=graph_from_json(told["pattern"]),
        arguments=graph_from_json(told["arguments"]),
        replacement=str(told["replacement"])[:200],
    )


def produced(value: Any, shares: Sequence[str] = ()) -> Produced:
    """The description of one returned value, with the tensor itself (not a copy) or the plain number."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    if isinstance(value, torch.Tensor):
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            # use nothing but the type's name: the methods of a subclass are candidate code
            return Produced(f"subclass {kind} of torch.Tensor", shares=tuple(shares))
        dtype = str(value.dtype).removeprefix("torch.")
        strided = value.layout is torch.strided
        return Produced(
            type="torch.Tensor",
            value=value.detach() if strided and dtype in framing.DTYPES else None,
            dtype=dtype,
            shape=tuple(value.shape),
            strides=tuple(value.stride()) if strided else (),
            device=str(value.device),
            shares=tuple(shares),
        )
    return Produced(kind, value if framing.plain_number(value) else None, shares=tuple(shares))


def placed(returned: Returned, device: str, *, copy: bool) -> Returned:
    """The result with all values on this device, so that they can be compared: those of torch.arange(5) lie elsewhere,
    and what is told of them does not change. copy: in new memory, which no later call overwrites."""
    outputs = (
        replace(each, value=each.value.to(device, copy=copy)) if isinstance(each.value, torch.Tensor) else each
        for each in returned.outputs
    )
    changed = {index: tensor.to(device, copy=copy) for index, tensor in returned.changed.items()}
    return replace(returned, outputs=tuple(outputs), changed=changed)


def packed(returned: Returned) -> tuple[dict[str, Any], tuple[torch.Tensor, ...]]:
    """The fields of a message, and the tensors that belong to it."""
    outputs, tensors = packed_outputs(returned.outputs)
    fields = {
        "outputs": outputs,
        "container": returned.container,
        "seconds": returned.seconds,
        "matches": returned.matches,
        "changed": list(returned.changed),
        "work_s": returned.work_s,
    }
    tensors += returned.changed.values()
    return fields, tuple(tensors)


def packed_outputs(outputs: Sequence[Produced], first: int = 0) -> tuple[list[dict[str, Any]], list[torch.Tensor]]:
    """As packed, for outputs alone. first: the index of the first tensor in the message."""
    described: list[dict[str, Any]] = []
    tensors: list[torch.Tensor] = []
    for each in outputs:
        entry: dict[str, Any] = {"type": each.type, "shares": list(each.shares)}
        if each.dtype:
            entry |= {
                "dtype": each.dtype,
                "shape": list(each.shape),
                "strides": list(each.strides),
                "device": each.device,
            }
            if isinstance(each.value, torch.Tensor):
                entry["tensor"] = first + len(tensors)
                tensors.append(each.value)
        elif each.value is not None and not isinstance(each.value, torch.Tensor):
            entry["number"] = framing.number_to_json(each.value)
        described.append(entry)
    return described, tensors


def unpacked(fields: dict[str, Any], tensors: Sequence[torch.Tensor]) -> Returned:
    """The inverse of packed. Malformed fields raise whatever reading them raises."""
    matches = fields["matches"]
    indices = fields["changed"]
    changed = tensors[len(tensors) - len(indices) :]
    return Returned(
        outputs=tuple(unpacked_output(each, tensors) for each in fields["outputs"]),
        container=str(fields["container"])[:40],
        seconds=float(fields["seconds"]),
        matches=matches if isinstance(matches, int) else None,
        changed={int(index): tensor for index, tensor in zip(indices, changed, strict=True)},
        work_s=None if fields.get("work_s") is None else float(fields["work_s"]),
    )


def launches(told: Any) -> Launches:
    seen = tuple(
        Seen(
            kind=str(each["kind"])[:20],
            name=str(each["name"])[:400],
            where=str(each["where"])[:200],
            remark=str(each["remark"])[:40],
            count=int(each["count"]),
        )
        for each in told["seen"]
    )
    return Launches(str(told["function"])[:100], int(told["calls"]), int(told["fresh"]), seen)


def unpacked_output(described: Any, tensors: Sequence[torch.Tensor]) -> Produced:
    """One output. If its tensor was sent, dtype and shape are the tensor's, whatever the description claims."""
    kind = str(described["type"])[:200]
    if "number" in described:
        return Produced(kind, framing.number_from_json(described["number"]))
    if "dtype" not in described:
        return Produced(kind)
    index = described.get("tensor")
    value = tensors[index] if isinstance(index, int) else None
    return Produced(
        type=kind,
        value=value,
        dtype=str(value.dtype).removeprefix("torch.") if value is not None else str(described["dtype"])[:40],
        shape=tuple(value.shape) if value is not None else tuple(int(size) for size in described["shape"]),
        strides=tuple(int(stride) for stride in described["strides"]),
        device=str(described["device"])[:40],
        shares=texts(described.get("shares", ())),
    )


def listed(returned: Any) -> Sequence[Any]:
    """The values that a call returned."""
    return returned if isinstance(returned, tuple | list) else (returned,)
