"""The strict profile's rule on torch: the functions that a bundle may use, and no code that cannot be checked.

It starts from PassNet's own rule (passnet.py), and covers helpers, names used as values, and names that a call looks
up."""

import ast
import re
from collections.abc import Sequence

from passnet_core.bundles.static_rules.rules import (
    ALLOCATIONS,
    DYNAMIC_CODE,
    FORBIDDEN_IMPORT,
    FORBIDDEN_MODULES,
    REMEDY_TORCH,
    SYNTAX,
    TORCH_CALL,
    TRACED,
)
from passnet_core.bundles.static_rules.scopes import (
    CODE_FROM_STRINGS,
    BoundNames,
    Module,
    function_scope,
    imported_from,
)
from passnet_core.records import Finding

ALLOWED = {f"torch.{name}" for name in ALLOCATIONS} | {"torch.fx.wrap"}
_DATA = re.compile(
    r"torch\.(u?int\d*|[cq]?u?int\d+(x\d+)?|float\w*|bfloat16|b?complex\d*|c?float|c?double|c?half|chalf|short|long|bool"
    r"|strided|sparse_\w+|jagged|\w+_format|inf|nan|pi|e|newaxis|dtype|device|layout|memory_format|version|__version__)"
)
"""Names in torch of data and types: using them computes nothing."""


class TorchVisitor(ast.NodeVisitor):
    """Walks one file and collects violations of the rules on imports, torch calls and dynamic code."""

    allowed = frozenset(ALLOWED)

    def __init__(self, module: Module, modules: dict[str, Module]) -> None:
        self.module = module
        self.names = BoundNames(modules)
        self.modules = modules
        self.scope = module.scope
        self.scopes = [module.scope]
        self.traced = False
        self.found: list[Finding] = []

    def findings(self) -> list[Finding]:
        try:
            self.visit(self.module.tree)
        except RecursionError:
            self.note(self.module.tree, SYNTAX, "The code is nested too deeply.", "Split long expressions.")
        return self.found

    def note(self, node: ast.AST, rule: str, message: str, remedy: str) -> None:
        self.found.append(self.module.remark(node, rule, message, remedy))

    def paths(self, node: ast.expr) -> list[str]:
        return sorted(self.names.paths(node, self.scope))

    def permits(self, path: str) -> bool:
        """Whether code outside pattern and replacement_args may use this name in torch."""
        return path in self.allowed

    # imports

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = imported_from(node)
        for alias in node.names:
            if alias.name == "*" and module.split(".")[0] == "torch":
                self.note(node, FORBIDDEN_IMPORT, f"All names of {module} are imported.", "Write import torch.")
            else:
                self._imported(node, f"{module}.{alias.name}")

    def _imported(self, node: ast.stmt, path: str) -> None:
        for module in FORBIDDEN_MODULES:
            if path == module or path.startswith(f"{module}."):
                self.note(
                    node,
                    FORBIDDEN_IMPORT,
                    f"{module} is imported, which is not allowed.",
                    f"Remove the import. Inside pattern, write full names that begin with {module}.",
                )

    # scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        # decorators and defaults run when the file is loaded, not when it is traced
        outer = [*node.decorator_list, *node.args.defaults, *(each for each in node.args.kw_defaults if each)]
        for each in outer:
            self.visit(each)
        traced = self.module.is_pass and self.scope is self.module.scope and node.name in TRACED
        self._enter(node.args, node.body, self.traced or traced)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._enter(node.args, [ast.Expr(node.body)], self.traced)

    def _enter(self, arguments: ast.arguments, body: Sequence[ast.stmt], traced: bool) -> None:
        outside = (self.scope, self.traced)
        self.scope, self.traced = function_scope(arguments, body, self.scope), traced
        self.scopes.append(self.scope)  # kept alive: ids of scopes must stay unique
        for statement in body:
            self.visit(statement)
        self.scope, self.traced = outside

    # uses

    def visit_Call(self, node: ast.Call) -> None:
        for path in self.paths(node.func):
            self._called(node, path)
        if isinstance(node.func, ast.Name) and node.func.id in TRACED and not self.traced:
            self.note(
                node,
                TORCH_CALL,
                f"{node.func.id} is called by the pass, but it exists only to be traced.",
                "Compute its values in a Triton kernel instead.",
            )
        if not isinstance(node.func, ast.Name | ast.Attribute):
            self.visit(node.func)
        elif isinstance(node.func, ast.Attribute) and not any(map(_in_torch, self.paths(node.func))):
            self.visit(node.func.value)
        getattr_call = "builtins.getattr" in self.paths(node.func)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if "torch" in self.paths(argument) and not self.traced:
                if not getattr_call:
                    self.note(
                        argument,
                        DYNAMIC_CODE,
                        "The module torch is passed to a call as an argument.",
                        "Call the torch functions that you need by their names.",
                    )
            else:
                self.visit(argument)

    def _called(self, node: ast.Call, path: str) -> None:
        if path.removeprefix("builtins.") in CODE_FROM_STRINGS and path.startswith("builtins."):
            name = path.removeprefix("builtins.")
            self.note(node, DYNAMIC_CODE, f"{name} runs code that cannot be checked.", "Write that code in the bundle.")
        elif path == "builtins.getattr" and node.args and not self.traced:
            literal = len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
            if not literal and any(each.split(".")[0] == "torch" for each in self.paths(node.args[0])):
                self.note(
                    node,
                    DYNAMIC_CODE,
                    "An attribute of torch is looked up by a computed name.",
                    "Write the name out, such as torch.empty_like.",
                )
        elif path.split(".")[0] == "importlib" and "import" in path.removeprefix("importlib"):
            self._imported_by_name(node, path)
        elif _in_torch(path) and not self.traced and not self.permits(path):
            self.note(node, TORCH_CALL, f"{path} is called outside pattern and replacement_args.", REMEDY_TORCH)

    def _imported_by_name(self, node: ast.Call, path: str) -> None:
        named = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if not (isinstance(named, str) and named.removeprefix("pass_dir.") in self.modules):
            self.note(
                node,
                DYNAMIC_CODE,
                f"{path} imports a module that cannot be determined.",
                "Write an import statement. Only helper modules of the bundle can be imported by a literal name.",
            )

    def visit_Attribute(self, node: ast.Attribute) -> None:
        paths = self.paths(node)
        if "sys.modules" in paths:
            self.note(node, DYNAMIC_CODE, "Modules are looked up in sys.modules.", "Write an import statement instead.")
        if not any(map(_in_torch, paths)):
            self.visit(node.value)
        else:
            self._referred(node, paths)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._referred(node, self.paths(node))

    def _referred(self, node: ast.expr, paths: Sequence[str]) -> None:
        if self.traced:
            return
        for path in paths:
            if path == "torch.__dict__":
                self.note(node, DYNAMIC_CODE, "torch.__dict__ is read.", "Call torch functions by their names.")
            elif path.startswith("builtins.") and path.removeprefix("builtins.") in CODE_FROM_STRINGS:
                name = path.removeprefix("builtins.")
                self.note(node, DYNAMIC_CODE, f"{name} is used as a value.", "Write its code in the bundle.")
            elif _in_torch(path) and not self.permits(path) and not _is_data(path):
                self.note(node, TORCH_CALL, f"{path} is used outside pattern and replacement_args.", REMEDY_TORCH)


def _in_torch(path: str) -> bool:
    return path.startswith("torch.")


def _is_data(path: str) -> bool:
    """Whether a name is safe to read: a dtype, a type, a constant, or a class, as in an annotation."""
    parts = path.split(".")
    return bool(_DATA.fullmatch(".".join(parts[:2]))) or (
        parts[-1][:1].isupper() and ".".join(parts[:2]) not in FORBIDDEN_MODULES
    )
