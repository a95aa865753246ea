"""Let Triton's interpreter read a kernel's Python as Triton's compiler reads it.

Unpatched, it leaves Python as it is: the counter of a loop is one of Python's integers, which never overflow and divide
to float64; numbers that are assigned in a tuple stay Python's; and, or, not, min and max of blocks decide by the truth
of a whole block, and never look at an operand that they do not need."""

import ast
import builtins
import functools
from collections.abc import Callable, Iterator
from typing import Any

import triton.language as tl
import triton.runtime.interpreter as interpreter

NAME = "_as_compiled"
"""The name by which a rewritten kernel finds Operations."""
LEAST_AND_GREATEST = frozenset({"min", "max"})
PRODUCTS = frozenset({"dot", "dot_scaled"})


def mend() -> None:
    """Patch the interpreter of this process."""
    setattr(interpreter, NAME, Operations)

    def transformed(self: Any, source: str) -> ast.Module:
        tree = _AsCompiled(self.fn.__globals__).visit(ast.parse(source))
        ast.fix_missing_locations(tree)
        ast.increment_lineno(tree, self.def_file_lineno - 1)
        return tree

    interpreter.FunctionRewriter._transform_ast = transformed


class Operations:
    """What a kernel's syntax means to the compiler."""

    @staticmethod
    def assigned(value: Any) -> Any:
        """A number becomes a scalar of the language."""
        if type(value) is tuple:
            return tuple(map(Operations.assigned, value))
        return interpreter.interpreter_semantic.to_tensor(value, False)

    @staticmethod
    def joined(method: str, *operands: Callable[[], Any]) -> Any:
        """and, or: constants decide at once, anything else is computed and combined."""
        found: list[Any] = []
        value: Any = None
        for operand in operands:
            value = operand()
            if isinstance(value, tl.tensor):
                found.append(value)
            elif bool(value) is (method == "logical_or"):
                return value
        if not found:
            return value
        result = found.pop()
        while found:
            result = getattr(found.pop(), method)(result)
        return result

    @staticmethod
    def negated(value: Any) -> Any:
        return value.__not__() if isinstance(value, tl.tensor) else not value

    @staticmethod
    def least(*values: Any) -> Any:
        return Operations._chosen(values, builtins.min, tl.minimum)

    @staticmethod
    def greatest(*values: Any) -> Any:
        return Operations._chosen(values, builtins.max, tl.maximum)

    @staticmethod
    def _chosen(values: Any, of_numbers: Callable[..., Any], of_blocks: Callable[..., Any]) -> Any:
        if not any(isinstance(each, tl.tensor) for each in values):
            return of_numbers(*values)
        chosen = values[0]
        for each in values[1:]:
            chosen = of_blocks(chosen, each)
        return chosen

    @staticmethod
    def counted(
        arg1: Any,
        arg2: Any = None,
        step: Any = None,
        num_stages: Any = None,
        *,
        feeds_product: bool = False,
        **_options: Any,
    ) -> Iterator[Any]:
        """range and tl.range, whose counter has the type of their bounds. feeds_product: the loop loads what it
        multiplies, so that without stages of its own it has those of the launch."""
        stages = getattr(num_stages, "value", num_stages) or (Operations.stages_of_launch() if feeds_product else 1)
        return Operations.pipelined(_counters(arg1, arg2, step), stages)

    @staticmethod
    def stages_of_launch() -> int:
        """How many stages a loop has that says nothing of them."""
        return 1

    @staticmethod
    def in_order(load: Callable[..., Any]) -> Callable[..., Any]:
        """tl.load where it is not pipelined although its loop is."""
        return load

    @staticmethod
    def pipelined(counters: Iterator[Any], stages: int) -> Iterator[Any]:
        """The counters of a loop. In that of so many stages, a GPU loads ahead of the stores of earlier turns."""
        return counters


def _counters(arg1: Any, arg2: Any, step: Any) -> Iterator[Any]:
    semantic = interpreter.interpreter_semantic
    bounds = (0, arg1) if arg2 is None else (arg1, arg2)
    given = [semantic.to_tensor(each) for each in (*bounds, 1 if step is None else step)]
    kind = functools.reduce(semantic.integer_promote_impl, [each.dtype for each in given])
    for each in range(*(int(bound.handle.data.item()) for bound in given)):
        yield semantic.scalar_constant(each, kind)


class _AsCompiled(ast.NodeTransformer):
    """names: the globals of the function."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if len(node.targets) > 1:
            raise ValueError("Multiple assignments are not supported")
        node.value = _called("assigned", self.visit(node.value))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        changed = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], changed), node))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
            if "constexpr" not in ast.unparse(node.annotation):
                node.value = _called("assigned", node.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        method = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        nothing = ast.arguments([], [], None, [], [], None, [])
        operands = [ast.Lambda(nothing, self.visit(each)) for each in node.values]
        return ast.copy_location(_called("joined", ast.Constant(method), *operands), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(_called("negated", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in LEAST_AND_GREATEST - self.names.keys():
            node.func = _of_operations("least" if node.func.id == "min" else "greatest")
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        if isinstance(node.iter, ast.Call) and _called_name(node.iter) == "range" and not _has_stages(node.iter):
            feeding, others = _loads(node)
            if feeding:
                node.iter.keywords.append(ast.keyword("feeds_product", ast.Constant(True)))
                for each in others:
                    each.func = _called("in_order", each.func)
        self.generic_visit(node)
        if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id == "range":
            node.iter.func = _of_operations("counted")
        return node


def _called_name(node: ast.AST) -> str:
    """The last part of the name that is called: "dot" of tl.dot(a, b); empty if nothing is."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _has_stages(loop: ast.Call) -> bool:
    return len(loop.args) > 3 or any(each.arg in (None, "num_stages") for each in loop.keywords)


def _loads(loop: ast.For) -> tuple[list[ast.Call], list[ast.Call]]:
    """The loads of a loop whose values reach the factors of a product in it, and its other ones."""
    inside = [each for statement in loop.body for each in ast.walk(statement)]
    made = [each for each in inside if isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign)]
    reaching: list[ast.AST] = [
        factor
        for each in inside
        if isinstance(each, ast.Call) and _called_name(each) in PRODUCTS
        for factor in (*each.args[:2], *(word.value for word in each.keywords if word.arg != "acc"))
    ]
    names = set[str]()
    while found := {each.id for value in reaching for each in ast.walk(value) if isinstance(each, ast.Name)} - names:
        names |= found
        reaching += [each.value for each in made if each.value and found & _assigned_names(each)]
    feeding = {each for value in reaching for each in ast.walk(value) if _called_name(each) == "load"}
    loads = [each for each in inside if isinstance(each, ast.Call) and _called_name(each) == "load"]
    return [each for each in loads if each in feeding], [each for each in loads if each not in feeding]


def _assigned_names(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def _of_operations(name: str) -> ast.expr:
    return ast.Attribute(ast.Name(NAME, ast.Load()), name, ast.Load())


def _called(name: str, *values: ast.expr) -> ast.Call:
    return ast.Call(_of_operations(name), list(values), [])
