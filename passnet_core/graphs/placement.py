"""Place a recorded computation on the device in use: its device literals name those of the recording machine."""

import re
from dataclasses import replace

from passnet_core.graphs.ir import DeviceLiteral, Graph, Node, NodeKind, Value, with_leaves

_DEVICE_NAME = re.compile(r"(cuda|cpu)(:[0-9]+)?")


def placed(graph: Graph, device: str) -> Graph:
    """Replace every device literal of the graph, in any spelling, by the given device: "cpu" or "cuda"."""
    literal = DeviceLiteral(device, 0 if device == "cuda" else None)
    return Graph(tuple(_placed(node, literal) for node in graph.nodes), graph.result)


def _placed(node: Node, device: DeviceLiteral) -> Node:
    if node.kind is NodeKind.METHOD and node.target in ("cuda", "cpu"):
        # x.cuda(0, non_blocking=True): the first argument is the device's index
        kwargs = tuple((key, value) for key, value in node.kwargs if key not in ("device", "memory_format"))
        others = tuple(value for value in node.args[1:] if isinstance(value, bool))
        return replace(node, target="to", args=(*node.args[:1], device), kwargs=(
            *kwargs, *(("non_blocking", value) for value in others)))  # fmt: skip
    is_to = node.kind is NodeKind.METHOD and node.target == "to"
    args = tuple(
        # strings elsewhere stay strings: autocast and similar functions take no torch.device
        _on_device(value, device, spelled=device if is_to and index == 1 else device.type)
        for index, value in enumerate(node.args)
    )
    kwargs = tuple(
        (key, _on_device(value, device, spelled=device if key == "device" else device.type))
        for key, value in node.kwargs
    )
    # keep the same node object if nothing changed: callers look up facts by node identity
    return node if (args, kwargs) == (node.args, node.kwargs) else replace(node, args=args, kwargs=kwargs)


def _on_device(value: Value, device: DeviceLiteral, spelled: Value) -> Value:
    def moved(leaf: Value) -> Value:
        match leaf:
            case DeviceLiteral("cuda" | "cpu"):
                return device
            case str() if _DEVICE_NAME.fullmatch(leaf):
                return spelled
        return leaf

    return with_leaves(value, moved)
