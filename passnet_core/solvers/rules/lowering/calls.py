"""Calls as all their spellings are read, without torch's signatures: by name, and without what is a default."""

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any

from passnet_core.graphs.ir import DeviceLiteral, Listed, Node, NodeKind, Ref, Symbol, Value
from passnet_core.graphs.matching import plain_bind, same
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.binding import Call
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering import OPERATIONS
from passnet_core.solvers.rules.lowering.arguments import SHORT_DTYPES
from passnet_core.solvers.rules.lowering.signatures import SIGNATURES, bound_arguments, known_name

VARIADIC = frozenset({"view", "reshape", "permute", "expand", "repeat", "tile", "flip", "broadcast_to"})
"""Methods that take numbers one by one or together."""

_TOGETHER = frozenset({"size", "sizes", "shape", "dims", "repeats"})
"""What torch calls those numbers."""

_ONCE = frozenset({"dim", "dims", "kernel", "stride", "padding", "dilation", "more", "shifts"})
"""Parameters for which one number stands for a list in which it is the only one."""

_FLAGS = frozenset({"inplace", "non_blocking", "copy"})
"""Parameters that may be left out if they are false."""


def read(node: Node) -> Call:
    """The call in a form that is the same for all its spellings, as far as the rules know its parameters."""
    if node.kind is not NodeKind.METHOD and not node.target.startswith("torch."):
        return plain_bind(node)
    target = f".{node.target}" if node.kind is NodeKind.METHOD else f"torch.{node.target.rpartition('.')[2]}"
    label = operator_label(node)
    args = tuple(_plain(each) for each in node.args)
    try:
        given = _by_name(node, label, args, {name: _plain(value) for name, value in node.kwargs})
    except Unsupported:
        return Call(target, plain_bind(node).arguments)
    defaults = _defaults(label)
    given = {name: _once(value) if name in _ONCE else value for name, value in given.items()}
    kept = {
        name: value
        for name, value in given.items()
        if not (name in defaults and same(value, defaults[name])) and not (name in _FLAGS and value is False)
    }
    return Call(target, tuple(sorted(kept.items())))


def _by_name(node: Node, label: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> dict[str, Value]:
    if label == "to":
        return _converted(args, kwargs)
    if label in VARIADIC and node.kind is NodeKind.METHOD:
        together = [*args[1:], *(value for name, value in kwargs.items() if name in _TOGETHER)]
        match together:
            case [Listed(items)] | [tuple(items)]:
                together = list(items)
        others = {name: value for name, value in kwargs.items() if name not in _TOGETHER}
        return {"x": args[0], "sizes": tuple(together), **others}
    if label in SIGNATURES:
        return bound_arguments(label, args, kwargs, node)
    names = _parameters(label)
    positional = {names[place] if place < len(names) else str(place): each for place, each in enumerate(args)}
    return positional | {known_name(name, names): value for name, value in kwargs.items()}


def _converted(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> dict[str, Value]:
    """The arguments of Tensor.to, whose first one may be a dtype, a device or a tensor."""
    found: dict[str, Value] = {"x": args[0]} if args else {}
    flags = ["non_blocking", "copy"]
    for value in args[1:]:
        match value:
            case Symbol(path):
                found["memory_format" if path.endswith(("_format", "channels_last")) else "dtype"] = value
            case DeviceLiteral():
                found["device"] = value
            case bool() if flags:
                found[flags.pop(0)] = value
            case Ref():
                found["other" if len(found) == 1 else "dtype"] = value
    return {name: value for name, value in {**found, **kwargs}.items() if value is not None}


@cache
def _parameters(label: str) -> tuple[str, ...]:
    """The parameters by position of the function that lowers an operation."""
    if label not in OPERATIONS:
        return ()
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return tuple(each.name for each in inspect.signature(OPERATIONS[label]).parameters.values() if each.kind is kinds)


@cache
def _defaults(label: str) -> Mapping[str, Any]:
    if label not in OPERATIONS:
        return {}
    parameters = inspect.signature(OPERATIONS[label]).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}


def _plain(value: Value) -> Value:
    """A dtype by its own name, and a device as one."""
    match value:
        case Symbol(path):
            name = path.removeprefix("torch.")
            return Symbol(f"torch.{SHORT_DTYPES[name]}") if name in SHORT_DTYPES else value
        case "cuda" | "cpu":
            return DeviceLiteral(value)
    return value


def _once(value: Value) -> Value:
    items = value.items if isinstance(value, Listed) else value
    if not isinstance(items, tuple):
        return value
    alike = bool(items) and all(isinstance(each, int) and same(each, items[0]) for each in items)
    return items[0] if alike else items or None
