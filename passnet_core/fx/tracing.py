"""Trace functions with torch.fx, and convert torch.fx graphs to plain data and back."""

import inspect
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx
from torch.fx.proxy import Proxy, TraceError
from torch.overrides import TorchFunctionMode

from passnet_core.errors import BadInput
from passnet_core.fx import signatures
from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Slice, Value
from passnet_core.graphs.spelling import operator_of

IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor")


class Untraceable(Exception):
    """A pattern or replacement_args that torch.fx cannot turn into a graph; the message says what to write instead."""


@dataclass(frozen=True)
class FxReading:
    """A torch.fx graph as data. attributes: the constants that became its last inputs, path by input name, in order.
    origins: the node of torch.fx of each node, by name."""

    graph: Graph
    attributes: Mapping[str, str]
    origins: Mapping[str, torch.fx.Node]


class PatternProxy(Proxy):
    """A proxy that records in-place operators: torch.fx alone would record x += y as x + y, which matches nothing."""

    def __setitem__(self, key: Any, value: Any) -> None:
        self.tracer.create_proxy("call_function", operator.setitem, (self, key, value), {})


def _in_place(name: str) -> Callable[[PatternProxy, Any], Proxy]:
    function = getattr(operator, name)

    def record(self: PatternProxy, other: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (self, other), {})

    return record


for _name in IN_PLACE:
    setattr(PatternProxy, f"__{_name}__", _in_place(_name))


THIN_WRAPPERS = {
    torch: ("meshgrid",),
    torch.functional: ("meshgrid",),
    torch.nn.functional: ("sigmoid", "tanh", "grouped_mm", "scaled_mm"),
}
"""Functions that only call another one. Dynamo records the function itself, torch.fx alone would record the other."""


class PatternTracer(torch.fx.Tracer):
    """A tracer of straight-line functions, which need no module around them."""

    def __init__(self) -> None:
        functions = [getattr(module, name, None) for module, names in THIN_WRAPPERS.items() for name in names]
        super().__init__(autowrap_modules=(math,), autowrap_functions=tuple(filter(None, functions)))
        # by default, torch.fx wraps such functions only in the globals of the traced function
        self._autowrap_search.extend(THIN_WRAPPERS)

    def proxy(self, node: torch.fx.Node) -> Proxy:
        return PatternProxy(node, self)


class _RecordFactories(TorchFunctionMode):
    """Records calls without a proxy, such as torch.arange(14), as part of the pattern instead of as constants."""

    def __init__(self, tracer: torch.fx.Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if _holds_proxy((args, kwargs)) or not signatures.name_of(func).startswith(("torch.", "operator.")):
            return func(*args, **kwargs)
        if signatures.canonical(signatures.name_of(func)) not in signatures._names().values():
            return func(*args, **kwargs)
        return self.tracer.create_proxy("call_function", func, args, kwargs)


def _holds_proxy(value: Any) -> bool:
    if isinstance(value, Proxy):
        return True
    if isinstance(value, Mapping):
        return any(_holds_proxy(each) for each in value.values())
    return isinstance(value, tuple | list) and any(_holds_proxy(each) for each in value)


def trace_pattern(function: Callable[..., Any]) -> Graph:
    """The graph of what the function computes when called with proxies. Raises Untraceable."""
    return _traced(function).graph


def trace_arguments(function: Callable[..., Any]) -> Graph:
    """replacement_args as a graph whose result is the tuple of the replacement's arguments. Raises Untraceable."""
    graph = _traced(function).graph
    result = graph.result
    if isinstance(result, Listed):
        result = result.items
    return Graph(graph.nodes, result if isinstance(result, tuple) else (result,))


def _traced(function: Callable[..., Any]) -> FxReading:
    _check_parameters(function)
    try:
        traced = fx_graph(function)
    except TraceError as error:
        raise Untraceable(
            f"{_first_line(error)}. A pattern is straight-line code: no if, while, len() or iteration on traced values."
        ) from error
    except NameError as error:
        if "module is not installed as a submodule" in str(error):
            raise Untraceable(
                "it calls a torch.nn module. Use the function in torch.nn.functional, with weights as parameters."
            ) from error
        raise Untraceable(f"NameError: {_first_line(error)}") from error
    except TypeError as error:
        if "Proxy" not in str(error):
            raise Untraceable(f"TypeError: {_first_line(error)}") from error
        raise Untraceable(f"{_first_line(error)}. A value has no number and no type while it is traced.") from error
    except Exception as error:  # the function is candidate code
        raise Untraceable(f"{type(error).__name__}: {_first_line(error)}") from error
    try:
        return graph_of_fx(traced)
    except BadInput as error:
        raise Untraceable(str(error)) from error


def fx_graph(function: Callable[..., Any] | torch.nn.Module) -> torch.fx.Graph:
    """The torch.fx graph of a straight-line function or module: in-place operators and factories are kept as calls."""
    tracer = PatternTracer()
    grad = torch.is_grad_enabled()
    try:
        with _RecordFactories(tracer):
            traced = tracer.trace(function)
    finally:
        torch.set_grad_enabled(grad)
    for node in traced.nodes:
        # with this mark, a module made of this graph makes every later trace wrap globals of these dotted names
        node.meta.pop("is_wrapped", None)
    return traced


def _check_parameters(function: Callable[..., Any]) -> None:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise Untraceable("it is not a plain function. Define it with def.") from error
    for each in parameters:
        if each.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise Untraceable(f"it takes *{each.name}. Name every input.")


def _first_line(error: BaseException) -> str:
    """The first sentence of an error's message, without the advice that torch appends."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].partition(". ")[0].rstrip(".")


def graph_of_fx(traced: torch.fx.Graph) -> FxReading:
    """A torch.fx graph as data. Raises BadInput for nodes that data cannot represent, such as calls of modules."""
    inputs: list[Node] = []
    constants: list[Node] = []
    operations: list[Node] = []
    attributes: dict[str, str] = {}
    names: dict[torch.fx.Node, str] = {}
    result: Value = None
    for node in traced.nodes:
        names[node] = node.name
        args = tuple(_value(each, names) for each in node.args)
        kwargs = tuple((name, _value(each, names)) for name, each in node.kwargs.items())
        match node.op:
            case "placeholder":
                # torch.fx renames inputs that shadow a builtin, such as "input": restore the author's name
                written = str(node.target)
                names[node] = written if node.name.rstrip("_0123456789") == written else node.name
                inputs.append(Node(names[node], NodeKind.INPUT, names[node]))
            case "get_attr":
                attributes[node.name] = str(node.target)
                constants.append(Node(node.name, NodeKind.INPUT, node.name))
            case "call_function":
                operations.append(Node(node.name, NodeKind.CALL, signatures.name_of(node.target), args, kwargs))
            case "call_method":
                method = str(node.target)
                # Dynamo records x == y as x.__eq__(y) in torch 2.11
                if called := operator_of(method, args):
                    operations.append(Node(node.name, NodeKind.CALL, *called, kwargs))
                else:
                    operations.append(Node(node.name, NodeKind.METHOD, method, args, kwargs))
            case "output":
                result = args[0]
            case _:
                raise BadInput(f"A graph cannot contain a call of module {node.target}. Use torch.nn.functional.")
    graph = Graph((*inputs, *constants, *operations), result)
    graph.check()
    origins = {name: node for node, name in names.items() if node.op != "output"}
    return FxReading(graph, attributes, origins)


def fx_of_graph(graph: Graph) -> torch.fx.Graph:
    """The inverse of graph_of_fx. Nodes keep their names as far as torch.fx allows them. Raises BadInput for operations
    that the judge does not know."""
    built = torch.fx.Graph()
    nodes: dict[str, Any] = {}
    for node in graph.nodes:
        args = signatures.filled(node.args, nodes)
        kwargs = {name: signatures.filled(value, nodes) for name, value in node.kwargs}
        match node.kind:
            case NodeKind.INPUT:
                made = built.create_node("placeholder", node.name, name=node.name)
            case NodeKind.CALL:
                made = built.create_node("call_function", signatures.resolve(node.target), args, kwargs, node.name)
            case NodeKind.METHOD:
                made = built.create_node("call_method", node.target, args, kwargs, node.name)
        nodes[node.name] = made
    built.output(signatures.filled(graph.result, nodes))
    return built


def _value(value: Any, names: Mapping[torch.fx.Node, str]) -> Value:
    if isinstance(value, torch.fx.Node):
        return Ref(names[value])
    if isinstance(value, slice):
        return Slice(*(_value(each, names) for each in (value.start, value.stop, value.step)))
    if isinstance(value, list):
        return Listed(tuple(_value(each, names) for each in value))
    if isinstance(value, tuple):
        return tuple(_value(each, names) for each in value)
    return signatures.literal(value)
