"""The rows of the table: the ways in which each operation may be called, and what a call does to memory.

table.json is written by python -m tools.operations --write."""

import ast
import builtins
import inspect
import json
import keyword
import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from passnet_core.graphs.ir import Node, NodeKind, Symbol, Value
from passnet_core.outside import syntax_tree

TABLE = Path(__file__).with_name("table.json")
ATEN = "torch.ops.aten."
PYTHON = {"operator": operator, "builtins": builtins, "math": math}
"""Modules of Python itself, whose functions need no row."""


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
    """One way to call an operation, and what it does. writes: the parameters whose memory it may change. shares: those
    whose memory its results may lie in. random: whether it draws random numbers."""

    parameters: tuple[Parameter, ...]
    writes: frozenset[str] = frozenset()
    shares: frozenset[str] = frozenset()
    random: bool = False

    @cached_property
    def takes_tensors(self) -> bool:
        """Whether a tensor may be passed to it; the others are for numbers, in scripts."""
        return any("Tensor" in each.type or not each.type for each in self.parameters)


@dataclass(frozen=True)
class OperationRow:
    """An operation. name: the one name of all spellings of the same function. overloads: empty if none is known.
    shares: whether a result may lie in memory of the first operand, if no overload is known."""

    name: str
    overloads: tuple[Overload, ...]
    shares: bool = False


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(TABLE.read_text())
    return table


def forget() -> None:
    """Read the table anew at the next question."""
    _table.cache_clear()
    row.cache_clear()


@cache
def row(spelling: str) -> OperationRow | None:
    """The row of a function by its dotted path, such as "torch.relu" or "operator.add"; of a method or an attribute
    of a tensor, such as "Tensor.view" or "Tensor.T"; None if the table has none."""
    space, _, name = spelling.rpartition(".")
    if space in PYTHON:
        return _of_python(space, name)
    if spelling.startswith(ATEN):
        packet, _, overload = spelling.removeprefix(ATEN).partition(".")
        found = {} if packet.startswith("_") else _table()["aten"].get(packet, {})
        chosen = found.values() if not overload else [found[overload]] if overload in found else []
        return OperationRow(spelling, tuple(map(_overload, chosen))) if chosen else None
    known = _table()["spellings"].get(spelling)
    if known is None:
        return None
    described = [*known.get("python", ()), *_table()["aten"].get(known.get("aten"), {}).values()]
    overloads = tuple(map(_overload, described))
    if space == "Tensor":
        # a method has the tensor first: x.where(condition, other)
        overloads = tuple(
            replace(each, parameters=tuple(sorted(each.parameters, key=lambda parameter: parameter.name != "self")))
            for each in overloads
            if each.takes_tensors
        )
    return OperationRow(known.get("name", spelling), overloads, known.get("shares", False))


def spelling(node: Node) -> str:
    """The row that a node's call has: "Tensor.T" for reading that attribute."""
    match node:
        case Node(kind=NodeKind.METHOD):
            return f"Tensor.{node.target}"
        case Node(target="builtins.getattr", args=(_, str(member))):
            return f"Tensor.{member}"
    return node.target


def dtype(path: str) -> str:
    """The one name of a dtype, such as "torch.float16" for "torch.half"; anything else as it is."""
    name: str = _table()["dtypes"].get(path, path)
    return name


def _overload(described: Mapping[str, Any]) -> Overload:
    writes, shares = (frozenset(described.get(each, ())) for each in ("writes", "shares"))
    return Overload(parameters(described["call"]), writes, shares, random=described.get("random", False))


def parameters(call: str) -> tuple[Parameter, ...]:
    """Read "(self: Tensor, dim: List[int, 1] = (), *, dtype: int = None)"."""
    (function,) = syntax_tree(f"def call{call}: ...").body
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults)) + [*given.defaults]
    found = [_parameter(each, default) for each, default in zip(positional, defaults, strict=True)]
    if given.vararg:
        found.append(Parameter(given.vararg.arg, required=False, variadic=True))
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return (*found, *(_parameter(each, default, keyword_only=True) for each, default in named))


def parameter_name(name: str) -> str:
    """A parameter's name as Python lets it be written: "from_" for "from", and the other way round."""
    plain = name.removesuffix("_")
    return plain if name != plain and keyword.iskeyword(plain) else f"{name}_" if keyword.iskeyword(name) else name


def _parameter(given: ast.arg, default: ast.expr | None, *, keyword_only: bool = False) -> Parameter:
    kind: str = ""
    length: int | None = None
    match given.annotation:
        case ast.Subscript(
            value=ast.Name(id="List"), slice=ast.Tuple(elts=[element, ast.Constant(value=int() as most)])
        ):
            kind, length = f"List[{ast.unparse(element)}]", most
        case ast.Constant(value=str() as quoted):
            kind = quoted
        case ast.expr() as annotation:
            kind = ast.unparse(annotation)
    value = None if default is None else _value(default)
    return Parameter(parameter_name(given.arg), default is None, value, keyword_only, type=kind, length=length)


def _value(default: ast.expr) -> Value:
    if isinstance(default, ast.Attribute):
        return Symbol(ast.unparse(default))
    value: Value = ast.literal_eval(default)
    return value


def _of_python(space: str, name: str) -> OperationRow | None:
    """The row of a function of Python, whose signature is its own."""
    function = getattr(PYTHON[space], name, None)
    if function is None or name.startswith("_"):
        return None
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return OperationRow(f"{space}.{name}", ())
    nothing, several = inspect.Parameter.empty, inspect.Parameter.VAR_POSITIONAL
    found = tuple(
        Parameter(
            each.name,
            required=each.default is nothing and each.kind is not several,
            default=None if each.default is nothing else each.default,
            keyword_only=each.kind is inspect.Parameter.KEYWORD_ONLY,
            variadic=each.kind is several,
        )
        for each in given
    )
    return OperationRow(f"{space}.{name}", (Overload(found),))
