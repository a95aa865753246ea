"""PassNet's own check of a pass, exactly: its imports, its plain assignments, and its calls of torch.

A name stands for what an import or a plain assignment above it says. What it stands for otherwise is not known, and so
a call of a method is not looked at."""

import ast

from passnet_core.bundles.static_rules.rules import (
    ALLOCATIONS,
    FORBIDDEN_IMPORT,
    FORBIDDEN_MODULES,
    REMEDY_TORCH,
    SYNTAX,
    TORCH_CALL,
    TRACED,
)
from passnet_core.bundles.static_rules.scopes import Module, imported_from
from passnet_core.records import Finding

ALLOWED = frozenset(f"torch.{name}" for name in ALLOCATIONS)


def violations(module: Module) -> list[Finding]:
    """Return what PassNet objects to in this pass, for which it leaves the pass out."""
    visitor = _PassReader(module)
    try:
        visitor.visit(module.tree)
    except RecursionError:
        return [module.remark(module.tree, SYNTAX, "The code is nested too deeply.", "Split long expressions.")]
    return visitor.found


class _PassReader(ast.NodeVisitor):
    """Walks one pass in the order of its lines. names: the dotted path of each name, or "" if it is not known."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.names: dict[str, str] = {}
        self.traced = False
        self.found: list[Finding] = []

    def visit_Module(self, node: ast.Module) -> None:
        for each in node.body:
            self.traced = isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name in TRACED
            self.visit(each)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._brought_in(node, alias.name)
            root = alias.name.partition(".")[0]
            self.names[alias.asname or root] = alias.name if alias.asname else root

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            path = f"{imported_from(node)}.{alias.name}"
            self._brought_in(node, path)
            self.names[alias.asname or alias.name] = path

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        path = self._path(node.value)
        self._brought_in(node, path)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names[target.id] = path

    def visit_Call(self, node: ast.Call) -> None:
        path = self._path(node.func)
        if path.startswith("torch.") and path not in ALLOWED and not self.traced:
            message = f"{path} is called outside pattern and replacement_args."
            self.found.append(self.module.remark(node, TORCH_CALL, message, REMEDY_TORCH))
        self.generic_visit(node)

    def _brought_in(self, node: ast.stmt, path: str) -> None:
        """Check what an import or an assignment gives a name to."""
        for module in FORBIDDEN_MODULES:
            if path == module or path.startswith(f"{module}."):
                message = f"{path} is bound to a name, which is not allowed for anything in {module}."
                remedy = f"Remove the line. Inside pattern, write full names that begin with {module}."
                self.found.append(self.module.remark(node, FORBIDDEN_IMPORT, message, remedy))

    def _path(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return self.names.get(name, "")
            case ast.Attribute(value=value, attr=attribute):
                base = self._path(value)
                return f"{base}.{attribute}" if base else ""
        return ""
