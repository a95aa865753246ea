"""What keeps passes away from a captured graph: it does not compute there what was judged."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

TRAINING = "it was captured for training, and passes have no gradients"
AUTOCAST = "it runs under torch.autocast, where operations compute in other dtypes than those that were judged"
TRANSFORM = "torch.func transforms it, and passes can be neither differentiated nor batched"
SUBCLASS = "it computes with {}, a subclass of torch.Tensor, and passes take plain tensors"
LAYOUT = "it computes with a tensor that is {}, and passes take strided ones"
BACKWARD = "it is a backward pass, captured by compiled autograd"

PLAIN = (torch.Tensor, torch.nn.Parameter, FakeTensor)


def left_alone(captured: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> str:
    """Why no pass may be applied to a graph that torch.compile captures now, or an empty string."""
    values = [*example_inputs, *(node.meta.get("example_value") for node in captured.graph.nodes)]
    tensors = [each for each in values if isinstance(each, torch.Tensor)]
    # loaded by torch.compile, which calls this
    from torch._dynamo import compiled_autograd

    if compiled_autograd.in_compiled_autograd_region:
        return BACKWARD
    if _transformed(captured.graph) or torch._C._functorch.peek_interpreter_stack() is not None:
        return TRANSFORM
    if any(each.requires_grad for each in tensors) and (torch.is_grad_enabled() or _enables_gradients(captured.graph)):
        return TRAINING
    devices = filter(torch.amp.is_autocast_available, {"cpu", "cuda", *(each.device.type for each in tensors)})
    if any(map(torch.is_autocast_enabled, devices)) or _autocasts(captured.graph):
        return AUTOCAST
    return next(_unusual(tensors, example_inputs), "")


def _called(graph: torch.fx.Graph) -> Iterator[tuple[torch.fx.Node, str]]:
    """The operations of a graph, each with the name of its function or method."""
    for node in graph.nodes:
        if node.op.startswith("call_"):
            yield node, node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")


def _enables_gradients(graph: torch.fx.Graph) -> bool:
    return any(
        name == "requires_grad_" or (name == "_set_grad_enabled" and node.args[:1] == (True,))
        for node, name in _called(graph)
    )


def _transformed(graph: torch.fx.Graph) -> bool:
    """Whether torch.func is at work within the graph: vmap, grad, jvp and the like count their nesting."""
    return any(
        name.endswith("_nesting") or str(getattr(node.target, "__module__", "")).startswith("torch._functorch")
        for node, name in _called(graph)
    )


def _autocasts(graph: torch.fx.Graph) -> bool:
    """Whether autocast is turned on within the graph."""
    # the arguments: device, dtype, enabled, cache
    return any(
        name == "_enter_autocast" and (*node.args[2:3], node.kwargs.get("enabled", True))[0] is not False
        for node, name in _called(graph)
    )


def _unusual(tensors: Sequence[torch.Tensor], example_inputs: Sequence[Any]) -> Iterator[str]:
    given = {id(each) for each in example_inputs}
    for each in tensors:
        if is_traceable_wrapper_subclass(each) or (id(each) in given and type(each) not in PLAIN):
            yield SUBCLASS.format(type(each).__name__)
        elif each.layout is not torch.strided or each.is_nested or each.is_quantized:
            yield LAYOUT.format("nested" if each.is_nested else str(each.layout).removeprefix("torch."))
