"""Moving a recorded computation to the device that is here: recorded device literals are of the recording machine."""

import re
from dataclasses import replace

from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, Node, NodeKind, Slice, Value

_MOVABLE = re.compile(r"(cuda|cpu)(:[0-9]+)?")


def placed(graph: Graph, device: str) -> Graph:
    """The graph with every literal device, in whatever spelling, as the given one: "cpu" or "cuda"."""
    literal = DeviceLiteral(device, 0 if device == "cuda" else None)
    return Graph(tuple(_placed(node, literal) for node in graph.nodes), graph.result)


def _placed(node: Node, device: DeviceLiteral) -> Node:
    if node.kind is NodeKind.METHOD and node.target in ("cuda", "cpu"):
        # x.cuda(0, non_blocking=True): the first argument is the device's index
        kwargs = tuple((key, value) for key, value in node.kwargs if key not in ("device", "memory_format"))
        others = tuple(value for value in node.args[1:] if isinstance(value, bool))
        return replace(node, target="to", args=(*node.args[:1], device), kwargs=(
            *kwargs, *(("non_blocking", value) for value in others)))  # fmt: skip
    moves = node.kind is NodeKind.METHOD and node.target == "to"
    args = tuple(
        # strings elsewhere stay strings: autocast and its like know no torch.device
        _moved(value, device, spelled=device if moves and index == 1 else device.type)
        for index, value in enumerate(node.args)
    )
    kwargs = tuple(
        (key, _moved(value, device, spelled=device if key == "device" else device.type)) for key, value in node.kwargs
    )
    # as the same node where nothing moved, so that what is known of it still holds
    return node if (args, kwargs) == (node.args, node.kwargs) else replace(node, args=args, kwargs=kwargs)


def _moved(value: Value, device: DeviceLiteral, spelled: Value) -> Value:
    match value:
        case DeviceLiteral("cuda" | "cpu"):
            return device
        case str() if _MOVABLE.fullmatch(value):
            return spelled
        case Listed(items):
            return Listed(tuple(_moved(each, device, spelled) for each in items))
        case tuple():
            return tuple(_moved(each, device, spelled) for each in value)
        case Slice():
            return value
    return value
