"""Write a Graph as Python source."""

import builtins
import keyword
import math
import re
from collections.abc import Iterator

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, Node, NodeKind, Ref, Slice, Symbol, Value
from passnet_core.graphs.spelling import INFIX, INPLACE, PREFIX, is_name, member_problem, path_problem


def emit(graph: Graph, class_name: str = "GraphModule", *, release: bool = False) -> str:
    """Write runnable source in the form of PassNet's model.py. parse(emit(graph)) equals graph except for line numbers.

    release: free each value after its last use ("; x = None"), as captured modules do to hold less memory.
    Raises BadInput for names and targets that are not plain identifiers, so that a hostile graph cannot inject code."""
    graph.check()
    if not class_name.isidentifier():
        raise BadInput(f"{class_name!r} is not a valid class name.")
    lines = _Writer(graph, release).lines()
    body = "\n".join(f"        {line}" for line in lines)
    arguments = ", ".join(["self", *(_argument(node) for node in graph.inputs)])
    imports = [f"import {each}" for each in ("operator", "math") if re.search(rf"(?<![\w.'\"]){each}\.", body)]
    imports.append("import torch")
    if re.search(r"(?<![\w.'\"])device\(", body):
        imports.append("from torch import device")
    return "\n".join(imports) + f"\n\nclass {class_name}(torch.nn.Module):\n\n    def forward({arguments}):\n{body}\n"


def _argument(node: Node) -> str:
    symbolic = node.target.startswith("torch.Sym") and not path_problem(node.target)
    return f"{node.name}: {node.target}" if symbolic else node.name


class _Writer:
    def __init__(self, graph: Graph, release: bool) -> None:
        self.graph = graph
        plain = {node.target for node in graph.operations if node.kind is NodeKind.CALL and "." not in node.target}
        for node in graph.nodes:
            if not is_name(node.name) or node.name in plain:
                raise BadInput(f"The node name {node.name!r} cannot be used as a variable name.")
        self.last_use: dict[str, str] = {}
        for node in graph.nodes:
            for name in node.inputs:
                self.last_use[name] = node.name
        for name in graph.returned:
            self.last_use[name] = ""
        self.dead_after: dict[str, list[str]] = {}
        if release:
            for node in graph.nodes:
                last = self.last_use.get(node.name, node.name)
                if last and not (last == node.name and node.kind is NodeKind.INPUT):
                    self.dead_after.setdefault(last, []).append(node.name)

    def lines(self) -> Iterator[str]:
        for node in self.graph.operations:
            statements = list(self._statements(node))
            dead = self.dead_after.get(node.name, ())
            if dead:
                statements[-1] += f";  {' = '.join(dead)} = None"
            yield from statements
        yield f"return {written(self.graph.result)}"

    def _statements(self, node: Node) -> Iterator[str]:
        plain = node.kind is NodeKind.CALL and not node.kwargs
        match node.args:
            case (Ref(changed), index, value) if plain and node.target == "operator.setitem":
                yield f"{changed}[{written(index)}] = {written(value)}"
                yield f"{node.name} = {changed}"
            case (Ref(changed), value) if plain and node.target in INPLACE and self._is_last(changed, node):
                yield f"{changed} {INPLACE[node.target]} {written(value)}"
                yield f"{node.name} = {changed}"
            case _:
                yield f"{node.name} = {expression(node)}"

    def _is_last(self, changed: str, node: Node) -> bool:
        """ "x += y" rebinds x, so it can be written only if nothing reads the old x afterwards, or in the same line."""
        return self.last_use[changed] == node.name and node.inputs.count(changed) == 1


def expression(node: Node) -> str:
    """Write one operation as Python, "torch.relu(in_0)" or "in_0 + 1". Raises BadInput for a target that is no code."""
    for key, _ in node.kwargs:
        if not key.isidentifier() or keyword.iskeyword(key):
            raise BadInput(f"{key!r} is not a valid argument name.")
    args = [written(each) for each in node.args]
    arguments = ", ".join([*args, *(f"{key}={written(each)}" for key, each in node.kwargs)])
    if node.kind is NodeKind.METHOD:
        problem = member_problem(node.target) or ("" if args else "it has no object to be called on")
        if problem:
            raise BadInput(f"The method {node.target!r} cannot be written as source: {problem}.")
        owner = args[0] if isinstance(node.args[0], Ref) else f"({args[0]})"
        rest = ", ".join([*args[1:], *(f"{key}={written(each)}" for key, each in node.kwargs)])
        return f"{owner}.{node.target}({rest})"
    target = node.target
    if "." in target:
        problem = path_problem(target)
    else:
        problem = (
            "" if is_name(target) and not hasattr(builtins, target) and target[:2] != "__" else "it is not a function"
        )
    if problem:
        raise BadInput(f"A call of {target!r} cannot be written as source: {problem}.")
    if not node.kwargs and any(isinstance(each, Ref) for each in node.args):
        match node.args:
            case (left, _) if target in INFIX:
                # ** binds tighter than a sign
                signed = target == "operator.pow" and isinstance(left, int | float) and args[0].startswith("-")
                return f"({args[0]}) ** {args[1]}" if signed else f"{args[0]} {INFIX[target]} {args[1]}"
            case (Ref(),) if target in PREFIX:
                return f"{PREFIX[target]}{args[0]}"
            case (Ref(), _) if target == "operator.getitem":
                return f"{args[0]}[{args[1]}]"
            case (Ref(), str(member)) if target == "builtins.getattr":
                problem = member_problem(member)
                if problem:
                    raise BadInput(f"The attribute {member!r} cannot be written as source: {problem}.")
                return f"{args[0]}.{member}"
    if target == "builtins.getattr":
        raise BadInput("getattr can be written as source only with a value and a literal name.")
    return f"{target.removeprefix('builtins.')}({arguments})"


def written(value: Value) -> str:
    """Write a value as Python source. Raises BadInput for a Symbol that is not a plain dotted path."""
    match value:
        case Ref(name):
            return name
        case Symbol("builtins.Ellipsis"):
            return "Ellipsis"
        case Symbol(path):
            problem = path_problem(path)
            if problem:
                raise BadInput(f"{path!r} cannot be written as source: {problem}.")
            return path.removeprefix("builtins.")
        case DeviceLiteral(kind, index):
            return f"device(type={kind!r})" if index is None else f"device(type={kind!r}, index={index})"
        case Slice(start, stop, step):
            return f"slice({written(start)}, {written(stop)}, {written(step)})"
        case Listed(items):
            return f"[{', '.join(written(each) for each in items)}]"
        case tuple():
            return f"({', '.join(written(each) for each in value)}{',' if len(value) == 1 else ''})"
        case float() if not math.isfinite(value):
            return f"float({str(value)!r})"
    return repr(value)
