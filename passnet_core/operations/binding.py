"""Bind the arguments of a call to the parameters of its operation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, Node, NodeKind, Ref, Symbol, Value
from passnet_core.operations.kinds import named
from passnet_core.operations.table import Overload, Parameter, dtype, row

ALIASES = {"input": "self", "axis": "dim", "keepdims": "keepdim"}
"""Accepted keywords, and the names that torch's schemas have for them."""

WITH_INDICES = "_with_indices"
"""How the forms of poolings end that return indices, whatever return_indices says."""
IGNORED = frozenset({"_stacklevel"})
NAMED = frozenset({"weight", "bias", "min", "max"})
"""Operands that all readers of a call know by these names."""
OPERANDS = ("Tensor", "List[Tensor]", "number")
"""The types of what an operation computes with."""
PLAIN_TYPES: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,), "int": (int, Symbol), "float": (int, float), "number": (int, float), "str": (str,),
    "Device": (DeviceLiteral, str),
}  # fmt: skip
"""The literals that may be passed for a parameter of a type; of other types, any."""


@dataclass(frozen=True)
class Call:
    """What a node calls, in canonical form: equal for every spelling of the same call."""

    target: str
    arguments: tuple[tuple[str, Value], ...]


def bind(node: Node) -> Call:
    """The canonical reading of a call: arguments by parameter name, defaults filled in. Never fails.

    Positional, keyword and default spellings of a call give equal readings. If no signature is known, positional
    arguments are numbered."""
    call = bound(node)[0]
    if not call.target.endswith(WITH_INDICES):
        return call
    # torch.fx sees what torch.nn.functional.max_pool2d calls where it is asked for indices
    asking = tuple((name, True if name == "return_indices" else value) for name, value in call.arguments)
    return Call(call.target.removesuffix(WITH_INDICES), asking)


def regular(graph: Graph) -> Graph:
    """The same graph, with each operand by position that may stand there: torch.softmax(x, dim=-1) for
    torch.softmax(dim=-1, input=x)."""
    nodes = tuple(each if each.kind is NodeKind.INPUT else _by_position(each) for each in graph.nodes)
    return Graph(nodes, graph.result)


def _by_position(node: Node) -> Node:
    """The node with those keywords by position that are operands, up to the first parameter that is none."""
    overload = bound(node)[1] if node.kwargs else None
    if overload is None or any(each.variadic for each in overload.parameters):
        return node
    args, left = list(node.args), dict(node.kwargs)
    for parameter in overload.parameters[len(args) :]:
        if parameter.keyword_only:
            break
        names = (parameter.name, *(name for name, other in ALIASES.items() if other == parameter.name))
        given = next((name for name in names if name in left), "")
        is_operand = parameter.required and parameter.type in OPERANDS
        if not given or given in NAMED or not (is_operand or isinstance(left[given], Ref)):
            break
        args.append(left.pop(given))
    return replace(node, args=tuple(args), kwargs=tuple(left.items()))


def bound(node: Node) -> tuple[Call, Overload | None]:
    """The canonical reading of a call, and the overload that it calls: the first that takes its arguments; None if none
    is known that does."""
    kwargs = {name: value for name, value in node.kwargs if name not in IGNORED}
    is_method = node.kind is NodeKind.METHOD
    known = row(f"Tensor.{node.target}" if is_method else node.target)
    overloads = known.overloads if known else ()
    if is_method and node.target == "to":
        return Call("Tensor.to", _bound_tensor_to(node.args, kwargs)), TO
    target = f"Tensor.{node.target}" if is_method else known.name if known else node.target
    short, args, fixed = target.rpartition(".")[2], node.args, int(is_method)
    variadic = short in named("variadic_methods" if is_method else "variadic_functions")
    if variadic and len(args) > fixed and all(_is_size(each) for each in args[fixed:]):
        args = (*args[:fixed], tuple(args[fixed:]))
    # overloads for numbers in scripts come last where there is a tensor
    for takes in (True, False):
        given: list[tuple[Overload, list[tuple[Parameter, Value]]]] = []
        for overload in overloads:
            if (not node.inputs or overload.takes_tensors) is takes:
                found = _bound(overload, args, kwargs)
                if found is not None and all(_fits(*pair, exactly=True) for pair in found):
                    return Call(target, _named(found)), overload
                given += [(overload, found)] if found is not None else []
        if given:
            # a number is taken for a tensor only where nothing takes it as one: torch.max(x, 1) is along an axis
            ways = (each for each in given if all(_fits(*pair, exactly=False) for pair in each[1]))
            overload, found = next(ways, given[0])
            return Call(target, _named(found)), overload
    return Call(target, _plain(node.args, kwargs)), None


def _plain(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    numbered = [(str(index), _unaliased(value)) for index, value in enumerate(args)]
    return (*numbered, *((name, _unaliased(kwargs[name])) for name in sorted(kwargs)))


def _bound(
    overload: Overload, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> list[tuple[Parameter, Value]] | None:
    """Each parameter with its value, in order; None if the arguments do not fit in number or name."""
    names = {parameter.name for parameter in overload.parameters}
    left = {name if name in names else ALIASES.get(name, name): value for name, value in kwargs.items()}
    waiting = list(args)
    bound: list[tuple[Parameter, Value]] = []
    for parameter in overload.parameters:
        if parameter.variadic:
            # torch.einsum accepts its operands one by one or in a single tuple
            match waiting:
                case [*_, Listed(items) | tuple(items)]:
                    waiting[-1:] = items
            bound.append((parameter, tuple(waiting)))
            waiting = []
        elif waiting and not parameter.keyword_only:
            if parameter.name in left:
                return None
            bound.append((parameter, waiting.pop(0)))
        elif parameter.name in left:
            bound.append((parameter, left.pop(parameter.name)))
        elif parameter.required:
            return None
        else:
            bound.append((parameter, parameter.default))
    return None if waiting or left else bound


def _named(bound: list[tuple[Parameter, Value]]) -> tuple[tuple[str, Value], ...]:
    return tuple((each.name, _converted(each, value)) for each, value in bound if each.name not in IGNORED)


def _converted(parameter: Parameter, value: Value) -> Value:
    """The value, converted to the parameter's type: a number to a list of numbers, a string to a device."""
    if parameter.type.startswith("List[") and isinstance(value, int) and not isinstance(value, bool):
        return (value,) * (parameter.length or 1)
    if parameter.type.startswith("List[") and isinstance(value, Listed):
        return value.items
    if parameter.type == "Device" and isinstance(value, str):
        return _device(value)
    return _unaliased(value)


def _unaliased(value: Value) -> Value:
    """The value, with an alias of a dtype such as torch.half replaced by its own name, torch.float16."""
    return Symbol(dtype(value.path)) if isinstance(value, Symbol) else value


def _device(text: str) -> Value:
    kind, _, index = text.partition(":")
    return DeviceLiteral(kind, int(index) if index.isdecimal() else None)


def _is_size(value: Value) -> bool:
    return isinstance(value, Ref) or (isinstance(value, int) and not isinstance(value, bool))


def _fits(parameter: Parameter, value: Value, exactly: bool) -> bool:
    """Whether a literal may be passed for a parameter of this type; a node of the graph always may. exactly: numbers
    for tensors may not."""
    kind = parameter.type
    if not kind or isinstance(value, Ref):
        return True
    if value is None:
        return not parameter.required or parameter.type == "NoneType" or kind.startswith("List[")
    if kind == "Tensor":
        # many calls accept a number for a tensor, such as torch.where(mask, x, 0.0)
        return not exactly and isinstance(value, int | float) and parameter.name not in ("self", "input")
    if kind.startswith("List["):
        return isinstance(value, tuple | Listed) or (_is_size(value) and parameter.length is not None)
    if kind == "int" and isinstance(value, bool):
        return False
    return isinstance(value, PLAIN_TYPES.get(kind, object))


_TO_DEFAULTS: Mapping[str, Value] = {
    "other": None, "device": None, "dtype": None, "non_blocking": False, "copy": False, "memory_format": None,
}  # fmt: skip
TO = Overload(
    (Parameter("self", required=True), *(Parameter(name, False, default) for name, default in _TO_DEFAULTS.items())),
    shares=frozenset({"self"}),
)
"""Tensor.to in all its forms."""


def _bound_tensor_to(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    """Bind Tensor.to, whose overloads differ in the type of the first argument."""
    given: dict[str, Value] = {}
    flags = ["non_blocking", "copy"]
    for value in args[1:]:
        plain = _unaliased(value)
        if isinstance(plain, DeviceLiteral | str):
            given["device"] = plain
        elif isinstance(plain, Symbol):
            given["memory_format" if "format" in plain.path or "channels" in plain.path else "dtype"] = plain
        elif isinstance(plain, bool) and flags:
            given[flags.pop(0)] = plain
        elif plain is not None:
            given["other" if not given else "dtype"] = plain
    given |= {name: _unaliased(value) for name, value in kwargs.items()}
    device = given.get("device")
    if isinstance(device, str):
        given["device"] = _device(device)
    return (("self", args[0] if args else None), *({**_TO_DEFAULTS, **given}.items()))
