"""Resolve the names of operations under an allow-list."""

import builtins
import math
import operator
import re
import types
from collections.abc import Mapping
from functools import cache
from typing import Any

import torch

from passnet_core.errors import BadInput
from passnet_core.fx.refused_operations import refused_for
from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, NodeKind, Ref, Slice, Symbol, Value, leaves
from passnet_core.operations.kinds import named

UNDERSCORED = named("private")

TORCH_FUNCTIONS = frozenset(
    [name for name in dir(torch._C._VariableFunctions) if not name.startswith("_")]
    + list(torch.functional.__all__)
    + [name for name in UNDERSCORED if hasattr(torch._C._VariableFunctions, name)]
    + list(named("beside_variable_functions"))
)
BUILTIN_FUNCTIONS = named("builtins")
OPERATOR_FUNCTIONS = frozenset(
    name
    for name in dir(operator)
    if not name.startswith("_") and name not in ("attrgetter", "itemgetter", "methodcaller", "call", "length_hint")
)
PRIVATE_FUNCTIONS = frozenset({"_set_grad_enabled"})


def _public(module: object) -> frozenset[str]:
    """The names of torch's own functions in a module, without what the module imports."""
    return frozenset(
        name
        for name, value in vars(module).items()
        if not name.startswith("__")
        and callable(value)
        and not isinstance(value, type)
        and str(getattr(value, "__module__", None) or "torch").startswith("torch")
    )


SPACES: Mapping[str, tuple[Any, frozenset[str]]] = {
    "torch": (torch, TORCH_FUNCTIONS),
    "torch.nn.functional": (torch.nn.functional, _public(torch.nn.functional)),
    "torch.functional": (torch.functional, frozenset(torch.functional.__all__)),
    "torch.special": (torch.special, _public(torch.special)),
    "torch.linalg": (torch.linalg, _public(torch.linalg)),
    "torch.fft": (torch.fft, _public(torch.fft)),
    "torch._C._nn": (torch._C._nn, _public(torch._C._nn)),
    "torch._C._special": (torch._C._special, _public(torch._C._special)),
    "torch._C._linalg": (torch._C._linalg, _public(torch._C._linalg)),
    "torch._C._fft": (torch._C._fft, _public(torch._C._fft)),
    "torch._C": (torch._C, PRIVATE_FUNCTIONS),
    "operator": (operator, OPERATOR_FUNCTIONS),
    "builtins": (builtins, BUILTIN_FUNCTIONS),
    "math": (math, frozenset(name for name in dir(math) if not name.startswith("_") and callable(getattr(math, name)))),
}
"""The namespaces of allowed operations. A function's canonical name is its name in the first one that has it."""

ATEN = "torch.ops.aten."

PLAIN_TYPES = frozenset(
    {
        "Tensor", "Optional", "List", "Tuple", "int", "SymInt", "float", "number", "complex", "bool", "str", "Device",
        "Generator", "NoneType",
    }
)  # fmt: skip
"""Words of the types that the signature of an operation may have. No graph can hold a generator, only None."""

CONSTANTS = (torch.dtype, torch.layout, torch.memory_format, types.EllipsisType, int, float, bool, type(None))


# --- names -----------------------------------------------------------------------------------------------------------


@cache
def resolve(target: str) -> Any:
    """The function at a dotted path. Raises BadInput for anything but operations on tensors and numbers."""
    space, _, name = target.rpartition(".")
    if target.startswith(ATEN):
        space, name = ATEN.rstrip("."), target.removeprefix(ATEN).partition(".")[0]
    reason = refused_for(f"{space}.{name}")
    if reason is not None:
        raise BadInput(f"{target!r} is not allowed in a subgraph: it {reason}. Use operations that compute on tensors.")
    if space in SPACES:
        module, names = SPACES[space]
        if name in names and hasattr(module, name):
            return getattr(module, name)
    if target.startswith(ATEN):
        found = _aten(target.removeprefix(ATEN))
        if found is not None:
            return found
    raise BadInput(f"{target!r} is not an operation that the judge knows. Use functions of torch and Tensor methods.")


def _aten(path: str) -> Any:
    """The function of torch.ops.aten at a path such as "add.Tensor"; None unless it computes on tensors."""
    found: Any = torch.ops.aten
    for part in path.split("."):
        found = None if part.startswith("_") else getattr(found, part, None)
    if isinstance(found, torch._ops.OpOverload):
        return found if _computes(found._schema) else None
    if isinstance(found, torch._ops.OpOverloadPacket):
        return found if any(_computes(getattr(found, name)._schema) for name in found.overloads()) else None
    return None


def _computes(schema: Any) -> bool:
    """Whether a schema has only plain types, tensors among them. torch.ops.aten also holds functions of TorchScript."""
    kinds = {word for each in (*schema.arguments, *schema.returns) for word in re.findall(r"\w+", str(each.type))}
    return "Tensor" in kinds and kinds <= PLAIN_TYPES


@cache
def _names() -> dict[Any, str]:
    names: dict[Any, str] = {}
    for space, (module, members) in SPACES.items():
        for name in sorted(members):
            function = getattr(module, name, None)
            if function is not None and refused_for(f"{space}.{name}") is None:
                names.setdefault(function, f"{space}.{name}")
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        # what torch's Python calls with a list, in which it does not see a traced tensor
        names.setdefault(getattr(torch._C._VariableFunctions, name), f"torch.{name}")
    return names


def name_of(function: Any) -> str:
    """The canonical dotted path of a known function; the module and qualified name of any other."""
    try:
        known = _names().get(function)
    except TypeError:
        known = None
    if known:
        return known
    if isinstance(function, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return f"torch.ops.{str(function).replace('::', '.')}"
    return f"{getattr(function, '__module__', None)}.{getattr(function, '__qualname__', type(function).__name__)}"


def canonical(target: str) -> str:
    """One name for all spellings of the same function; unknown targets stay as they are."""
    try:
        return name_of(resolve(target))
    except BadInput:
        return target


# --- literals --------------------------------------------------------------------------------------------------------


def literal(value: Any) -> Value:
    """A Python constant as a graph value. Raises BadInput for a type that a graph cannot hold."""
    match value:
        case torch.dtype() | torch.layout() | torch.memory_format():
            return Symbol(str(value))
        case types.EllipsisType():
            return Symbol("builtins.Ellipsis")
        case torch.device():
            return DeviceLiteral(value.type, value.index)
        case slice():
            return Slice(literal(value.start), literal(value.stop), literal(value.step))
        case list():
            return Listed(tuple(literal(each) for each in value))
        case tuple():
            return tuple(literal(each) for each in value)
        case bool() | int() | float() | str() | None:
            return value
    raise BadInput(f"A graph cannot contain a constant of type {type(value).__name__}: {str(value)[:60]}")


@cache
def constant(path: str) -> Any:
    """The constant that a Symbol names. Raises BadInput for anything but dtypes, layouts, formats and plain numbers."""
    if path in ("builtins.Ellipsis", "Ellipsis"):
        return ...
    root, _, name = path.rpartition(".")
    module = {"torch": torch, "math": math}.get(root)
    value = getattr(module, name, object) if module and not name.startswith("_") else object
    if not isinstance(value, CONSTANTS):
        raise BadInput(f"{path!r} is not a constant that the judge knows.")
    return value


def filled(value: Value, values: Mapping[str, Any]) -> Any:
    """The Python object for a graph value, with these values for its nodes: the inverse of literal. Raises BadInput for
    an unknown constant, KeyError for a node without a value."""
    match value:
        case Ref(name):
            return values[name]
        case Symbol(path):
            return constant(path)
        case DeviceLiteral(kind, index):
            return torch.device(kind) if index is None else torch.device(kind, index)
        case Slice(start, stop, step):
            return slice(*(filled(each, values) for each in (start, stop, step)))
        case Listed(items):
            return [filled(each, values) for each in items]
        case tuple():
            return tuple(filled(each, values) for each in value)
    return value


# --- what may be executed --------------------------------------------------------------------------------------------


def refusal(graph: Graph, functions: frozenset[str] = frozenset()) -> str:
    """Why this graph must not be executed, with the line; empty if it consists of known operations only.

    functions: names of other functions that it may call, such as "replacement_0"."""
    for node in graph.operations:
        where = f"Line {node.line}: " if node.line else f"{node.name}: "
        try:
            if node.kind is NodeKind.METHOD:
                _check_attribute(node.target, "method")
            elif node.target == "builtins.getattr":
                name = node.args[1] if len(node.args) > 1 else None
                _check_attribute(name if isinstance(name, str) else "_", "attribute")
            elif node.target not in functions:
                resolve(node.target)
            _check_constants((node.args, tuple(value for _, value in node.kwargs)))
        except BadInput as problem:
            return where + str(problem)
    try:
        _check_constants(graph.result)
    except BadInput as problem:
        return f"In the result: {problem}"
    return ""


def _check_constants(value: Value) -> None:
    for each in leaves(value):
        if isinstance(each, Symbol):
            constant(each.path)


def _check_attribute(name: str, kind: str) -> None:
    reason = refused_for(f"Tensor.{name}")
    if reason is not None:
        raise BadInput(f"The Tensor {kind} {name!r} is not allowed in a subgraph: it {reason}.")
    if name.startswith("_") or not hasattr(torch.Tensor, name):
        raise BadInput(f"{name!r} is not a Tensor {kind} that the judge knows.")
