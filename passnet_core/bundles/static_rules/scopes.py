"""The files of a bundle as syntax trees: the bindings of their names, and the values that an expression may have."""

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from passnet_core.bundles.static_rules.rules import SYNTAX
from passnet_core.outside import syntax_tree
from passnet_core.records import Finding, PassFile

CODE_FROM_STRINGS = {"exec", "eval", "compile", "__import__"}
_BUILTINS = CODE_FROM_STRINGS | {"getattr", "setattr", "delattr", "globals", "vars"}


Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Origin:
    """What an import binds: the dotted path of a module or its member, such as "torch.relu" or "helper.launch"."""

    path: str


@dataclass
class Scope:
    """The names bound in one function or module, each with all expressions or paths that it may be bound to."""

    parent: "Scope | None"
    bound: dict[str, list[ast.expr | Origin | None]] = field(default_factory=dict)

    def bind(self, name: str, to: ast.expr | Origin | None) -> None:
        self.bound.setdefault(name, []).append(to)

    def holder(self, name: str) -> "Scope | None":
        scope: Scope | None = self
        while scope is not None and name not in scope.bound:
            scope = scope.parent
        return scope


class Module:
    """A parsed file of the bundle, with the names that its top level binds."""

    def __init__(self, file: PassFile, tree: ast.Module, is_pass: bool) -> None:
        self.file = file
        self.tree = tree
        self.is_pass = is_pass
        self.lines = file.code.splitlines()
        self.scope = Scope(None)
        bind_all(self.scope, tree.body)
        self.defined = frozenset(
            node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        self.jitted = frozenset(_handed_to_jit(tree))

    def remark(self, node: ast.AST, rule: str, message: str, remedy: str, fatal: bool = True) -> Finding:
        line = getattr(node, "lineno", 1)
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        # ast counts UTF-8 bytes, people count characters
        column = len(text.encode()[: getattr(node, "col_offset", 0)].decode(errors="replace")) + 1
        return Finding(self.file.name, line, column, rule, message, remedy, fatal)

    def function(self, name: str) -> Function | None:
        """Return the last top-level def of this name, if there is one."""
        return next(
            (
                node
                for node in reversed(self.tree.body)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name
            ),
            None,
        )


def _handed_to_jit(tree: ast.Module) -> Iterator[str]:
    """Yield functions that become kernels by a call, kernel = triton.jit(function), instead of a decorator."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == "jit":
                yield node.args[0].id


def parsed(file: PassFile) -> ast.Module | Finding:
    remedy = "Correct the line: Python cannot parse the file."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a bundle's string is no problem
            return syntax_tree(file.code)
    except SyntaxError as error:
        line = max(1, error.lineno or 1)
        return Finding(file.name, line, max(1, error.offset or 1), SYNTAX, f"Not valid Python: {error.msg}.", remedy)
    except (ValueError, RecursionError, MemoryError) as error:
        return Finding(file.name, 1, 1, SYNTAX, f"Not valid Python: {error or type(error).__name__}.", remedy)


def bind_all(scope: Scope, statements: Sequence[ast.stmt]) -> None:
    """Record every name that these statements bind in this scope, without entering inner functions."""
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                scope.bind(node.name, None)
                continue
            case ast.Lambda():
                continue
            case ast.Import():
                for alias in node.names:
                    origin = alias.name if alias.asname else alias.name.split(".")[0]
                    scope.bind(alias.asname or origin, Origin(origin))
            case ast.ImportFrom():
                for alias in node.names:
                    scope.bind(alias.asname or alias.name, Origin(f"{imported_from(node)}.{alias.name}"))
            case ast.Assign():
                for target in node.targets:
                    _bind_target(scope, target, node.value)
            case ast.AnnAssign(value=ast.expr()) | ast.NamedExpr():
                _bind_target(scope, node.target, node.value)
            case ast.Name(ctx=ast.Store()):
                # bound by a loop or a with: value unknown. The cases above also record assigned names
                scope.bound.setdefault(node.id, [])
            case ast.ExceptHandler(name=str(name)):
                scope.bind(name, None)
        pending.extend(ast.iter_child_nodes(node))


def function_scope(arguments: ast.arguments, body: Sequence[ast.stmt], outer: Scope) -> Scope:
    """The names of a function with these arguments and this body."""
    scope, optional = Scope(outer), (arguments.vararg, arguments.kwarg)
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *filter(None, optional)):
        scope.bind(each.arg, None)
    bind_all(scope, body)
    return scope


def _bind_target(scope: Scope, target: ast.expr, value: ast.expr | None) -> None:
    if isinstance(target, ast.Name):
        scope.bind(target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        values: Sequence[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            values = value.elts
        for each, part in zip(target.elts, values):
            _bind_target(scope, each, part)


def imported_from(node: ast.ImportFrom) -> str:
    """Return the module of "from … import"; a relative import becomes one from pass_dir, the bundle's folder."""
    module = node.module or ""
    return module if not node.level else f"pass_dir.{module}".rstrip(".")


class BoundNames:
    """Finds the dotted paths that an expression may refer to."""

    def __init__(self, modules: dict[str, Module]) -> None:
        self.modules = modules
        self.known: dict[tuple[int, str], set[str]] = {}
        """(id of a scope, name) -> its paths. Names may be bound to each other many times; each is followed once."""

    def paths(self, node: ast.expr | Origin | None, scope: Scope, depth: int = 0) -> set[str]:
        """Return paths such as {"torch.relu"}, or {"builtins.eval"} for a built-in in _BUILTINS; empty if unknown."""
        if depth > 12:  # names may be bound to each other in a circle
            return set()
        match node:
            case Origin(path):
                return self._through_bundle(path, depth)
            case ast.Name(id=name):
                holder = scope.holder(name)
                if holder is None:
                    return {f"builtins.{name}"} if name in _BUILTINS else set()
                return self._bound(holder, name, depth)
            case ast.Attribute(value=value, attr=attr):
                bases = self.paths(value, scope, depth + 1)
                return set().union(*(self._through_bundle(f"{base}.{attr}", depth) for base in bases))
            case ast.IfExp(body=body, orelse=orelse):
                return self.paths(body, scope, depth + 1) | self.paths(orelse, scope, depth + 1)
            case ast.BoolOp(values=values):
                return set().union(*(self.paths(each, scope, depth + 1) for each in values))
            case ast.NamedExpr(value=value):
                return self.paths(value, scope, depth + 1)
            case ast.Call(func=function, args=[ast.expr() as of, ast.Constant(value=str(name)), *_]):
                if "builtins.getattr" in self.paths(function, scope, depth + 1):
                    return {f"{base}.{name}" for base in self.paths(of, scope, depth + 1)}
        return set()

    def _bound(self, holder: Scope, name: str, depth: int) -> set[str]:
        """Find the paths of a name, through all names that it was assigned from."""
        if (id(holder), name) in self.known:
            return self.known[id(holder), name]
        found: set[str] = set()
        self.known[id(holder), name] = found  # the answer for expressions that lead back to this name
        pending, seen = [(holder, name)], {(id(holder), name)}
        while pending:
            scope, of = pending.pop()
            for each in scope.bound[of]:
                source = scope.holder(each.id) if isinstance(each, ast.Name) else None
                if source is None or not isinstance(each, ast.Name):
                    found |= self.paths(each, scope, depth + 1)
                elif (id(source), each.id) not in seen:
                    seen.add((id(source), each.id))
                    pending.append((source, each.id))
        return found

    def _through_bundle(self, path: str, depth: int) -> set[str]:
        """Resolve a path into a file of the bundle to the paths that the file binds there."""
        parts = path.removeprefix("pass_dir.").split(".")
        module = self.modules.get(parts[0])
        if module is None or len(parts) < 2:
            return {path}
        if depth > 12 or parts[1] not in module.scope.bound:
            return set()
        node: ast.expr = ast.Name(parts[1], ast.Load())
        for part in parts[2:]:
            node = ast.Attribute(node, part, ast.Load())
        return self.paths(node, module.scope, depth + 1)
