"""The strict profile's rules: that on torch, and refusals of everything that no honest pass does."""

import ast
from collections.abc import Sequence

from passnet_core.bundles.static_rules import forbidden
from passnet_core.bundles.static_rules.rules import (
    ADDRESS,
    DYNAMIC_CODE,
    FORBIDDEN_IMPORT,
    PATCHING,
    REMEDY_TORCH,
    TORCH_CALL,
)
from passnet_core.bundles.static_rules.scopes import Module
from passnet_core.bundles.static_rules.torch_use import ALLOWED, TorchVisitor

_INTERPRETER = {"__builtins__", "__loader__", "__spec__"}
_SETTERS = {"setattr", "delattr", "__setattr__", "__delattr__"}
_FREE_TO_CHANGE = {"sys.path"}

KERNEL_DECORATORS = ("jit", "autotune", "heuristics", "constexpr_function")


class StrictVisitor(TorchVisitor):
    """Collects, besides violations of the rule on torch, everything that no honest pass does."""

    allowed = frozenset(ALLOWED) | forbidden.HARMLESS_TORCH

    def __init__(self, module: Module, modules: dict[str, Module]) -> None:
        super().__init__(module, modules)
        self.in_kernel = False
        self.alignments: list[ast.Call] = []
        """Questions for an address of which only the alignment is used."""
        self.own_names = frozenset().union(*(each.defined for each in modules.values()))

    def paths(self, node: ast.expr) -> list[str]:
        return sorted({_without_detour(path) for path in super().paths(node)})

    def permits(self, path: str) -> bool:
        return super().permits(path) or forbidden.is_inductor_helper(path)

    # imports

    def _imported(self, node: ast.stmt, path: str) -> None:
        super()._imported(node, path)
        root = path.split(".")[0]
        if root in self.modules or root in ("pass_dir", "") or path in forbidden.TORCH_INTERNALS:
            return
        if forbidden.is_foreign_package(root):
            self.note(
                node,
                FORBIDDEN_IMPORT,
                f"{root} is imported, but it is not part of Python, torch, triton, numpy or this bundle.",
                "Write the code that you need from it in the bundle, and compute in Triton kernels.",
            )
            return
        against = forbidden.reason_against(path, forbidden.MODULES)
        if path != forbidden.HELPERS and forbidden.is_other_inductor(path):
            self.note(
                node,
                FORBIDDEN_IMPORT,
                "torch._inductor is imported, but a pass must not use TorchInductor.",
                f"Only functions for kernels in {forbidden.HELPERS} may be imported, such as libdevice.",
            )
        elif against:
            self.note(node, FORBIDDEN_IMPORT, f"{against[0]} is imported, but {against[1]}.", "Remove the import.")
        elif root not in forbidden.STANDARD | forbidden.THIRD_PARTY:
            self.note(node, FORBIDDEN_IMPORT, f"{root} is imported, but no pass needs it.", "Remove the import.")
        self._mentioned(node, path)

    def _mentioned(self, node: ast.AST, path: str) -> None:
        against = forbidden.reason_against(path, forbidden.PATHS)
        if isinstance(node, ast.expr) and forbidden.is_other_inductor(path):
            against = (path, "a pass must not use TorchInductor")
        if against:
            self.note(node, DYNAMIC_CODE, f"{against[0]} is used, but {against[1]}.", "Write the pass without it.")

    # scopes

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outside = self.in_kernel
        decorators = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
        self.in_kernel = outside or self._makes_kernel(decorators) or node.name in self.module.jitted
        super()._function(node)
        self.in_kernel = outside

    def _makes_kernel(self, decorators: Sequence[ast.expr]) -> bool:
        paths = [path.split(".") for each in decorators for path in self.paths(each)]
        return any(parts[0] == "triton" and parts[-1] in KERNEL_DECORATORS for parts in paths)

    # uses

    def _called(self, node: ast.Call, path: str) -> None:
        super()._called(node, path)
        if path in forbidden.CHANGES:
            self._changed(node, path.rpartition(".")[0] if "environ" in path else "os.environ")
        elif path == "builtins.getattr" and len(node.args) > 1:
            self._looked_up(node)

    def _looked_up(self, node: ast.Call) -> None:
        """Check a getattr: a literal name counts like a dot, and a computed one may not reach into a module."""
        of, name = node.args[:2]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            if not self.paths(of):
                self._attribute_of_unknown(node, name.value)
            return
        for path in self.paths(of):
            if self._foreign(path) and path.split(".")[0] not in ("torch", "triton"):
                self.note(
                    node,
                    DYNAMIC_CODE,
                    f"An attribute of {path} is looked up by a computed name.",
                    "Write the name out.",
                )

    def visit_Call(self, node: ast.Call) -> None:
        super().visit_Call(node)
        if isinstance(node.func, ast.Name | ast.Attribute):
            self._named(node.func)
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in _SETTERS and node.args:
                self._changes_foreign(node, node.args[0])
        for each in node.keywords:
            if each.arg in forbidden.CALLERS and not _is_near(each.value):
                self.note(
                    node,
                    DYNAMIC_CODE,
                    f"{each.arg} names the functions that call this one.",
                    f"Leave it out; stacklevel may be {forbidden.NEAREST_CALLER}.",
                )

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            super().visit_Attribute(node)
            self._named(node)
        elif not self._changes_foreign(node, node.value):
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load) or not self._changes_foreign(node, node.value):
            self.visit(node.value)
        self.visit(node.slice)

    def visit_Name(self, node: ast.Name) -> None:
        super().visit_Name(node)
        self._named(node)
        for path in self.paths(node):
            if path.removeprefix("builtins.") in forbidden.LOOKUPS and path.startswith("builtins."):
                name = path.removeprefix("builtins.")
                self.note(node, DYNAMIC_CODE, f"{name} is used as a value.", "Write the attribute with a dot.")

    def _named(self, node: ast.Name | ast.Attribute) -> None:
        """Check a name or attribute that is read, whatever it is used for."""
        paths = self.paths(node)
        for path in paths:
            self._mentioned(node, path)
            if path in forbidden.PRODUCTS and not self.traced:
                self.note(node, TORCH_CALL, f"{path} is used outside pattern and replacement_args.", REMEDY_TORCH)
        if isinstance(node, ast.Attribute):
            if not paths or node.attr in forbidden.INTERNALS | forbidden.LOADERS | forbidden.ADDRESSES:
                self._attribute_of_unknown(node, node.attr)
        elif node.id in _INTERPRETER and self.scope.holder(node.id) is None:
            self._internal(node, node.id)
        elif node.id == "id" and isinstance(node.ctx, ast.Load) and self.scope.holder(node.id) is None:
            self._addressed(node, node.id)

    def _attribute_of_unknown(self, node: ast.AST, name: str) -> None:
        if name in forbidden.INTERNALS:
            self._internal(node, name)
        elif name in forbidden.HIDEOUTS and name != "operator" and name not in self.own_names:
            self.note(
                node,
                DYNAMIC_CODE,
                f"The module {name} is reached as an attribute of another object.",
                f"Write import {name}, if the rules allow that import.",
            )
        elif name in forbidden.ADDRESSES:
            self._addressed(node, name)
        elif name in forbidden.LOADERS:
            self.note(
                node,
                DYNAMIC_CODE,
                f"{name} loads machine code, which cannot be checked.",
                "Write the kernel in Triton.",
            )
        elif name in forbidden.METHODS and name not in self.own_names and not (self.traced or self.in_kernel):
            self.note(
                node,
                TORCH_CALL,
                f"The method {name} computes with a tensor outside pattern and replacement_args.",
                REMEDY_TORCH,
            )

    def _internal(self, node: ast.AST, name: str) -> None:
        self.note(
            node, DYNAMIC_CODE, f"{name} gives access to the interpreter's internals.", "Call functions by their names."
        )

    def _addressed(self, node: ast.AST, name: str) -> None:
        self.note(
            node,
            ADDRESS,
            f"{name} reveals where something is in memory.",
            f"Ask only for an alignment, x.data_ptr() % 16, by a constant of at most {forbidden.LARGEST_ALIGNMENT}."
            " Key what a pass remembers by shapes, dtypes and devices.",
        )

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._multiplied(node)
        match node:
            case ast.BinOp(ast.Call(ast.Attribute(of, "data_ptr"), [], []) as asked, ast.Mod(), divisor) if (
                self._aligns(divisor)
            ):
                self.alignments.append(asked)
                self.visit(of)
            case _:
                self.generic_visit(node)

    def _aligns(self, divisor: ast.expr) -> bool:
        """Whether this is a constant, and so small that the rest of a division by it tells of no address."""
        values: list[object] = [divisor]
        if isinstance(divisor, ast.Name):
            holder = self.scope.holder(divisor.id)
            values = list(holder.bound[divisor.id]) if holder is not None else []
        sizes = [each.value if isinstance(each, ast.Constant) else None for each in values]
        return bool(sizes) and all(type(each) is int and 0 < each <= forbidden.LARGEST_ALIGNMENT for each in sizes)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._multiplied(node)
        self.generic_visit(node)

    def _multiplied(self, node: ast.BinOp | ast.AugAssign) -> None:
        if isinstance(node.op, ast.MatMult) and not (self.traced or self.in_kernel):
            self.note(node, TORCH_CALL, "The operator @ multiplies tensors in a replacement.", REMEDY_TORCH)

    def visit_Constant(self, node: ast.Constant) -> None:
        match node.value:
            case bytes(data) if len(data) > forbidden.LONGEST_BYTES:
                pass
            case str(text) if any(len(word) > forbidden.LONGEST_WORD for word in text.split()):
                pass
            case _:
                return
        self.note(
            node,
            DYNAMIC_CODE,
            "A long literal holds data that cannot be checked.",
            "Write constants as numbers, and kernels in Triton.",
        )

    # changes

    def _changes_foreign(self, node: ast.AST, base: ast.expr) -> bool:
        """Note an assignment to, or deletion of, anything outside the bundle; return whether there is one."""
        foreign = [path for path in self.paths(base) if self._foreign(path) and path not in _FREE_TO_CHANGE]
        if isinstance(node, ast.Attribute):
            foreign = [path for path in foreign if f"{path}.{node.attr}" not in _FREE_TO_CHANGE]
        for path in foreign:
            self._changed(node, path)
        return bool(foreign)

    def _changed(self, node: ast.AST, path: str) -> None:
        self.note(
            node,
            PATCHING,
            f"{path} is changed, but it does not belong to this bundle.",
            "Keep the state of the pass in its own module.",
        )

    def _foreign(self, path: str) -> bool:
        return path.split(".")[0] not in {*self.modules, "pass_dir"}


def _is_near(level: ast.expr) -> bool:
    """Whether this is a constant by which a message names no caller, or the nearest."""
    match level:
        case ast.Constant(None | False):
            return True
        case ast.Constant(int(number)):
            return number is not True and number <= forbidden.NEAREST_CALLER
    return False


def _without_detour(path: str) -> str:
    """Shorten a path through another module's import to the module's name: "triton.testing.torch.mm" is torch.mm."""
    parts = path.split(".")
    if parts[0] == "torch":
        return path
    for index in range(len(parts) - 1, 0, -1):
        if parts[index] in forbidden.HIDEOUTS:
            return ".".join(parts[index:])
    return path
