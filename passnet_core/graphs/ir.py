"""A tensor computation as plain data: inputs, one call per node, results. Nothing needs torch or is executed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeAlias

from passnet_core.errors import BadInput


@dataclass(frozen=True)
class Ref:
    """The value of another node."""

    name: str


@dataclass(frozen=True)
class Symbol:
    """A named constant by its full dotted path: "torch.float32", "torch.strided", "builtins.Ellipsis"."""

    path: str


@dataclass(frozen=True)
class DeviceLiteral:
    """torch.device(type, index)."""

    type: str
    index: int | None = None


@dataclass(frozen=True)
class Slice:
    start: "Value" = None
    stop: "Value" = None
    step: "Value" = None


@dataclass(frozen=True)
class Listed:
    """A list literal; a tuple literal is a Python tuple. They match each other, except as an index of a tensor."""

    items: tuple["Value", ...]


Value: TypeAlias = Ref | Symbol | DeviceLiteral | Slice | Listed | tuple["Value", ...] | bool | int | float | str | None


class NodeKind(StrEnum):
    INPUT = "input"
    CALL = "call"
    """target is a dotted path: "torch.nn.functional.relu", "operator.add", "operator.getitem", "builtins.getattr"."""
    METHOD = "method"
    """target is the method's name; the first argument is the object that it is called on."""


@dataclass(frozen=True)
class Node:
    """An input or one operation. name: unique in its graph. line: its line in the source, from 1, if it has one.

    writes, shares: of a call of a replacement function, the values that it changes, and those in whose memory its
    result may lie."""

    name: str
    kind: NodeKind
    target: str
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()
    line: int | None = None
    writes: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Names of the nodes that it reads, in order, each as often as it is read."""
        return tuple(references((self.args, tuple(value for _, value in self.kwargs))))

    @property
    def operand(self) -> Ref | None:
        """Its first positional argument, if that is a node."""
        return self.args[0] if self.args and isinstance(self.args[0], Ref) else None


@dataclass(frozen=True)
class Graph:
    """A computation: its inputs first, then its operations, each after everything that it reads.

    result: the value that forward returns: a Ref, a tuple (possibly nested), or a constant."""

    nodes: tuple[Node, ...]
    result: Value

    @cached_property
    def by_name(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    @property
    def inputs(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.kind is NodeKind.INPUT)

    @property
    def operations(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.kind is not NodeKind.INPUT)

    @cached_property
    def returned(self) -> frozenset[str]:
        return frozenset(references(self.result))

    @cached_property
    def users(self) -> dict[str, tuple[str, ...]]:
        """Node -> names of the nodes that read it, in order, each once."""
        users: dict[str, list[str]] = {node.name: [] for node in self.nodes}
        for node in self.nodes:
            for name in dict.fromkeys(node.inputs):
                users[name].append(node.name)
        return {name: tuple(each) for name, each in users.items()}

    def with_node(self, changed: Node) -> "Graph":
        """The graph with another node in the place of the one of its name."""
        return Graph(tuple(changed if node.name == changed.name else node for node in self.nodes), self.result)

    def check(self) -> None:
        """Raise BadInput if a name is read before it is defined, or is defined twice."""
        seen: set[str] = set()
        for node in self.nodes:
            for name in node.inputs:
                if name not in seen:
                    raise BadInput(f"The node {node.name} reads {name}, which is not defined before it.")
            if node.name in seen:
                raise BadInput(f"Two nodes are named {node.name}.")
            seen.add(node.name)
        for name in self.returned:
            if name not in seen:
                raise BadInput(f"The graph returns {name}, which no node defines.")


def items_of(value: Value) -> tuple[Value, ...]:
    """The items of a list or a tuple; none of any other value."""
    return value.items if isinstance(value, Listed) else value if isinstance(value, tuple) else ()


def leaves(value: Any) -> Iterator[Any]:
    """Yield the parts of a value that have no parts themselves, left to right."""
    parts = (value.start, value.stop, value.step) if isinstance(value, Slice) else value
    if isinstance(parts, Listed | tuple):
        for each in items_of(parts):
            yield from leaves(each)
    else:
        yield value


def references(value: Any) -> Iterator[str]:
    """Yield the names of the nodes that a value reads, left to right."""
    return (each.name for each in leaves(value) if isinstance(each, Ref))


def with_leaves(value: Value, change: Callable[[Value], Value]) -> Value:
    """The value with each of its leaves changed, left to right."""
    match value:
        case Slice(start, stop, step):
            return Slice(*[with_leaves(each, change) for each in (start, stop, step)])
        case Listed(items):
            return Listed(tuple([with_leaves(each, change) for each in items]))
        case tuple():
            return tuple([with_leaves(each, change) for each in value])
    return change(value)


def with_arguments(node: Node, change: Callable[[Value], Value]) -> Node:
    """The node with each leaf of its arguments changed, left to right."""
    args = tuple([with_leaves(value, change) for value in node.args])
    return replace(node, args=args, kwargs=tuple([(key, with_leaves(value, change)) for key, value in node.kwargs]))


def substituted(value: Value, replacements: Mapping[str, Value]) -> Value:
    """Replace each Ref in the value whose name is a key."""
    return with_leaves(value, lambda each: replacements.get(each.name, each) if isinstance(each, Ref) else each)


def reading(node: Node, replacements: Mapping[str, Value]) -> Node:
    """The node with each Ref in its arguments replaced whose name is a key."""
    return with_arguments(node, lambda each: substituted(each, replacements))


# --- JSON, in which graphs pass between processes ---


def value_to_json(value: Value) -> Any:
    """Encode a value: plain literals as they are, everything else as an object with one key."""
    match value:
        case Ref(name):
            return {"ref": name}
        case Symbol(path):
            return {"symbol": path}
        case DeviceLiteral(kind, index):
            return {"device": [kind, index]}
        case Slice(start, stop, step):
            return {"slice": [value_to_json(each) for each in (start, stop, step)]}
        case Listed(items):
            return {"list": [value_to_json(each) for each in items]}
        case tuple():
            return {"tuple": [value_to_json(each) for each in value]}
        case float() if value != value or value in (float("inf"), float("-inf")):
            return {"float": repr(value)}
    return value


def value_from_json(data: Any) -> Value:
    """Decode what value_to_json wrote. Raises BadInput on anything else."""
    if data is None or isinstance(data, bool | int | float | str):
        return data
    if isinstance(data, dict) and len(data) == 1:
        ((kind, content),) = data.items()
        match kind, content:
            case "ref", str():
                return Ref(content)
            case "symbol", str():
                return Symbol(content)
            case "device", [str(kind), int() | None as index]:
                return DeviceLiteral(kind, index)
            case "slice", [start, stop, step]:
                return Slice(value_from_json(start), value_from_json(stop), value_from_json(step))
            case "list", list():
                return Listed(tuple(value_from_json(each) for each in content))
            case "tuple", list():
                return tuple(value_from_json(each) for each in content)
            case "float", "nan" | "inf" | "-inf":
                return float(content)
    raise BadInput(f"Not a graph value: {str(data)[:80]}")


def graph_to_json(graph: Graph) -> dict[str, Any]:
    return {
        "nodes": [
            {
                "name": node.name,
                "kind": node.kind.value,
                "target": node.target,
                "line": node.line,
                "args": [value_to_json(each) for each in node.args],
                "kwargs": [[name, value_to_json(each)] for name, each in node.kwargs],
            }
            for node in graph.nodes
        ],
        "result": value_to_json(graph.result),
    }


def graph_from_json(data: Any) -> Graph:
    """Decode what graph_to_json wrote. Raises BadInput on anything that is not a well-formed graph."""
    try:
        nodes = tuple(
            Node(
                name=_text(each["name"]),
                kind=NodeKind(each["kind"]),
                target=_text(each["target"]),
                args=tuple(value_from_json(value) for value in each["args"]),
                kwargs=tuple((_text(name), value_from_json(value)) for name, value in each["kwargs"]),
                line=each["line"] if isinstance(each["line"], int) else None,
            )
            for each in data["nodes"]
        )
        graph = Graph(nodes, value_from_json(data["result"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"Not a graph: {error!r}") from error
    graph.check()
    return graph


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value
