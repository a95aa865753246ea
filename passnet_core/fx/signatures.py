"""Resolve the names of operations under an allow-list, and bind the arguments of calls to parameters."""

import builtins
import inspect
import math
import operator
import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.jit._builtins import _find_builtin

from passnet_core.errors import BadInput
from passnet_core.fx.refused_operations import refused_for
from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, Node, NodeKind, Ref, Slice, Symbol, Value
from passnet_core.graphs.matching import Call

UNDERSCORED = frozenset(
    {
        "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "_add_relu", "_addmm_activation", "_aminmax", "_cast_Byte",
        "_cast_Char", "_cast_Double", "_cast_Float", "_cast_Half", "_cast_Int", "_cast_Long", "_cast_Short",
        "_chunk_cat", "_convolution", "_dim_arange", "_euclidean_dist", "_fused_rms_norm", "_grouped_mm", "_int_mm",
        "_is_all_true", "_is_any_true", "_linalg_det", "_linalg_eigh", "_linalg_slogdet", "_linalg_solve_ex",
        "_linalg_svd", "_log_softmax", "_safe_softmax", "_scaled_dot_product_attention_math", "_scaled_grouped_mm",
        "_scaled_mm", "_shape_as_tensor", "_softmax", "_unique", "_unique2", "_weight_int4pack_mm",
        "_weight_int8pack_mm", "_weight_norm",
    }
)  # fmt: skip
"""Private functions of torch that a subgraph may use: public functions call them, and they check their arguments as
those do. Many others trust what they are given, and would read or write outside of tensors."""

TORCH_FUNCTIONS = frozenset(
    [name for name in dir(torch._C._VariableFunctions) if not name.startswith("_")]
    + list(torch.functional.__all__)
    + ["lobpcg"]
    + [name for name in UNDERSCORED if hasattr(torch._C._VariableFunctions, name)]
    + [
        "tensor",
        "as_tensor",
        "sym_int",
        "sym_float",
        "sym_max",
        "sym_min",
        "sym_not",
        "sym_sum",
        "sym_ite",
        "sym_sqrt",
        "is_tensor",
        "numel",
    ]
)
BUILTIN_FUNCTIONS = frozenset(
    ["getattr", "len", "int", "float", "bool", "max", "min", "abs", "round", "sum", "slice", "tuple", "list"]
)
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

MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
"""Names of memory formats. Their indices are the numbers in torch's schemas."""

VARIADIC_METHODS = frozenset(
    [
        "view",
        "reshape",
        "permute",
        "expand",
        "repeat",
        "tile",
        "flip",
        "new_zeros",
        "new_ones",
        "new_empty",
        "resize_",
        "broadcast_to",
    ]
)
VARIADIC_FUNCTIONS = frozenset(["zeros", "ones", "empty", "rand", "randn"])
"""Calls that accept sizes one by one as well as in a list."""

ALIASES = {"input": "self", "axis": "dim", "keepdims": "keepdim"}
"""Accepted keywords, and the names that torch's schemas have for them."""

IGNORED = frozenset({"_stacklevel"})


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
            for symbol in _symbols((node.args, tuple(value for _, value in node.kwargs))):
                constant(symbol.path)
        except BadInput as problem:
            return where + str(problem)
    try:
        for symbol in _symbols(graph.result):
            constant(symbol.path)
    except BadInput as problem:
        return f"In the result: {problem}"
    return ""


def _check_attribute(name: str, kind: str) -> None:
    reason = refused_for(f"Tensor.{name}")
    if reason is not None:
        raise BadInput(f"The Tensor {kind} {name!r} is not allowed in a subgraph: it {reason}.")
    if name.startswith("_") or not hasattr(torch.Tensor, name):
        raise BadInput(f"{name!r} is not a Tensor {kind} that the judge knows.")


def _symbols(value: Any) -> Iterator[Symbol]:
    match value:
        case Symbol():
            yield value
        case Listed(items):
            yield from _symbols(items)
        case Slice(start, stop, step):
            yield from _symbols((start, stop, step))
        case tuple():
            for each in value:
                yield from _symbols(each)


# --- binding ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    """One parameter of an overload. default: counts only if required is false, and is then literal, even None."""

    name: str
    required: bool
    default: Value = None
    keyword_only: bool = False
    variadic: bool = False
    type: str = ""
    """As torch's schemas spell it, such as "List[int]"; empty if any type is accepted."""
    length: int | None = None
    """The length of the list that a single number stands for; None if a list is needed."""


@dataclass(frozen=True)
class Overload:
    """The parameters of one way to call a function."""

    parameters: tuple[Parameter, ...]


@cache
def _function_overloads(target: str) -> tuple[Overload, ...]:
    try:
        function = resolve(target)
    except BadInput:
        return ()
    if isinstance(function, torch._ops.OpOverload):
        return (_schema_overload(function._schema),)
    if isinstance(function, torch._ops.OpOverloadPacket):
        return tuple(_schema_overload(getattr(function, name)._schema) for name in function.overloads())
    if isinstance(function, types.FunctionType):
        return _python_overloads(function)
    if not target.startswith("torch."):
        return _python_overloads(function)
    name = _find_builtin(function)
    return _schema_overloads(name) if name else ()


@cache
def _method_overloads(name: str) -> tuple[Overload, ...]:
    method = getattr(torch.Tensor, name, None)
    if isinstance(method, types.FunctionType):
        return _python_overloads(method)
    overloads = _schema_overloads(f"aten::{name}")
    return tuple(overload for overload in overloads if overload.parameters and overload.parameters[0].type == "Tensor")


def _python_overloads(function: Any) -> tuple[Overload, ...]:
    function = _unwrapped(function)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ()
    parameters = []
    for each in signature.parameters.values():
        required = each.default is inspect.Parameter.empty
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            return ()
        try:
            default = None if required else literal(each.default)
        except BadInput:
            return ()
        parameters.append(
            Parameter(
                name=each.name,
                required=required and each.kind is not inspect.Parameter.VAR_POSITIONAL,
                default=default,
                keyword_only=each.kind is inspect.Parameter.KEYWORD_ONLY,
                variadic=each.kind is inspect.Parameter.VAR_POSITIONAL,
            )
        )
    return (Overload(tuple(parameters)),)


def _unwrapped(function: Any) -> Any:
    """Unwrap functions like max_pool2d, which hide their signature behind (*args, **kwargs)."""
    from torch._jit_internal import boolean_dispatched

    table = boolean_dispatched.get(function)
    return table["if_false"] if table else function


def _schema_overloads(name: str) -> tuple[Overload, ...]:
    schemas = torch._C._jit_get_schemas_for_operator(name)
    return tuple(_schema_overload(schema) for schema in schemas if not any(each.is_out for each in schema.arguments))


def _schema_overload(schema: Any) -> Overload:
    parameters = []
    for each in schema.arguments:
        optional = each.has_default_value()
        default = each.default_value if optional else None
        if optional and "MemoryFormat" in str(each.real_type) and isinstance(default, int):
            default = Symbol(f"torch.{MEMORY_FORMATS[default]}")
        else:
            default = tuple(default) if isinstance(default, list) else default
        kind = str(each.type)
        parameters.append(
            Parameter(
                name=each.name,
                required=not optional,
                default=default,
                keyword_only=each.kwarg_only,
                type=kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Optional[") else kind,
                length=each.N,
            )
        )
    return Overload(tuple(parameters))


def bind(node: Node) -> Call:
    """The canonical reading of a call: arguments by parameter name, defaults filled in. Never fails.

    Positional, keyword and default spellings of a call give equal readings. If no signature is known, positional
    arguments are numbered."""
    kwargs = {name: value for name, value in node.kwargs if name not in IGNORED}
    if node.kind is NodeKind.METHOD:
        target, short, overloads = f"Tensor.{node.target}", node.target, _method_overloads(node.target)
        if node.target == "to":
            return Call(target, _bound_tensor_to(node.args, kwargs))
        variadic, fixed = VARIADIC_METHODS, 1
    else:
        target = canonical(node.target)
        short, overloads = target.rpartition(".")[2], _function_overloads(node.target)
        variadic, fixed = VARIADIC_FUNCTIONS, 0
    args = node.args
    if short in variadic and len(args) > fixed and all(_is_size(each) for each in args[fixed:]):
        args = (*args[:fixed], tuple(args[fixed:]))
    fallback: tuple[tuple[str, Value], ...] | None = None
    for overload in overloads:
        bound = _bound(overload, args, kwargs)
        if bound is None:
            continue
        if all(_fits(parameter, value) for parameter, value in bound):
            return Call(target, _named(bound))
        fallback = fallback or _named(bound)
    return Call(target, fallback or _plain(node.args, kwargs))


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
    if isinstance(value, Symbol):
        try:
            known = constant(value.path)
        except BadInput:
            return value
        return Symbol(str(known)) if isinstance(known, torch.dtype) else value
    return value


def _device(text: str) -> Value:
    kind, _, index = text.partition(":")
    return DeviceLiteral(kind, int(index) if index.isdecimal() else None)


def _is_size(value: Value) -> bool:
    return isinstance(value, Ref) or (isinstance(value, int) and not isinstance(value, bool))


def _fits(parameter: Parameter, value: Value) -> bool:
    """Whether a literal may be passed for a parameter of this type; a node of the graph always may."""
    kind = parameter.type
    if not kind or isinstance(value, Ref):
        return True
    if value is None:
        return not parameter.required or parameter.type == "NoneType" or kind.startswith("List[")
    if kind == "Tensor":
        # many calls accept a number for a tensor, such as torch.where(mask, x, 0.0)
        return isinstance(value, int | float) and parameter.name not in ("self", "input")
    if kind.startswith("List["):
        return isinstance(value, tuple | Listed) or (_is_size(value) and parameter.length is not None)
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "int":
        return (isinstance(value, int) and not isinstance(value, bool)) or isinstance(value, Symbol)
    if kind in ("float", "number"):
        return isinstance(value, int | float)
    if kind == "str":
        return isinstance(value, str)
    if kind == "Device":
        return isinstance(value, DeviceLiteral | str)
    return True


TO_DEFAULTS: Mapping[str, Value] = {
    "other": None,
    "device": None,
    "dtype": None,
    "non_blocking": False,
    "copy": False,
    "memory_format": None,
}


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
    return (("self", args[0] if args else None), *({**TO_DEFAULTS, **given}.items()))
