"""Load the Triton functions of a bundle, and nothing else of it.

Of each file stay the functions written in Triton, the imports that they need, and constants: names that are assigned
what is computed from literals alone. No other code of the bundle runs in a process that has only these."""

import ast
import builtins
import importlib
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from passnet_core.bundles.static_rules import kernel_language
from passnet_core.bundles.triton_functions import (
    is_constant_function,
    last_name,
    readable_tree,
    statements,
    triton_functions,
)
from passnet_core.records import PassFile

PACKAGES = ("triton.language", "triton.tools.tensor_descriptor", "math", "torch._inductor.runtime")
"""The packages, besides the bundle's own files and what is left of triton, that a Triton function may use."""

OF_TRITON = kernel_language.OF_TRITON - {"tools"}
"""What is left of the module triton as it is. Of its tools only tensor descriptors are left."""

COMPILED_OPTIONS = frozenset({"do_not_specialize", "do_not_specialize_on_alignment", "noinline"})
"""The options of triton.jit that decide what is compiled."""

BUILTINS = kernel_language.IN_CONSTANTS | {"AttributeError", "ImportError"}
"""The built-in functions that they may call."""

CONSTANT_PARTS = (
    ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.BinOp, ast.IfExp,
    ast.Compare, ast.BoolOp, ast.Call, ast.Subscript, ast.keyword, ast.operator, ast.unaryop, ast.cmpop, ast.boolop,
    ast.expr_context,
)  # fmt: skip
"""What the expression of a constant may consist of."""


class Unavailable(Exception):
    """A Triton function that cannot be loaded without the rest of its bundle."""


class LoadedKernels:
    """The Triton functions of a bundle, by file and name."""

    def __init__(self, files: Sequence[PassFile], folder: Path) -> None:
        """folder: takes the reduced files, since Triton reads the source of its functions."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.codes = {file.name: file.code for file in files}
        self.namespaces: dict[str, dict[str, Any]] = {}

    def function(self, file: str, name: str, line: int) -> Any:
        """The function of this name. line: where its first decorator stands in the bundle. Raises Unavailable."""
        if file not in self.codes:
            raise Unavailable(f"{name} is not in a file of the bundle")
        if line not in (places := places_of(self.codes[file], name)) or len(places) > 1:
            where = " and ".join(map(str, places)) or "no"
            raise Unavailable(f"{name} of line {line} of {file} is not its only definition ({where} line)")
        found = self._namespace(file).get(name)
        if isinstance(found, Unavailable):
            raise found
        if found is None:
            raise Unavailable(f"{name} is not a Triton function at the top level of {file}: move it there")
        return found

    def set_constant(self, file: str, name: str, value: Any) -> None:
        """Let the Triton functions of a file find this value under a name that is a constant there."""
        if file in self.codes and not hasattr(self._namespace(file).get(name), "fn"):
            self.namespaces[file][name] = value

    def _namespace(self, file: str) -> dict[str, Any]:
        if file in self.namespaces:
            return self.namespaces[file]
        path = self.folder / file
        namespace: dict[str, Any] = {"__name__": path.stem, "__file__": str(path), "__builtins__": self._builtins()}
        # registered first: files may import each other
        self.namespaces[file] = namespace
        text = reduced(self.codes[file], {name.removesuffix(".py") for name in self.codes})
        path.write_text(text, encoding="utf-8")
        fallbacks = _fallbacks(readable_tree(self.codes[file]))
        for statement in ast.parse(text).body:
            if statement.lineno in fallbacks and _bound(statement) <= namespace.keys():
                continue
            code = compile(ast.Module([statement], []), str(path), "exec")
            try:
                exec(code, namespace)
            except Exception as error:  # whatever computing a constant raises; it may not be needed
                if isinstance(statement, ast.FunctionDef):
                    namespace[statement.name] = Unavailable(f"{statement.name} cannot be loaded alone: {error}")
        return namespace

    def _builtins(self) -> dict[str, Any]:
        return {name: getattr(builtins, name) for name in BUILTINS} | {"__import__": self._import}

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        own = name.removeprefix("pass_dir").strip(".")
        if f"{own}.py" in self.codes:
            space = self._namespace(f"{own}.py")
            # one import statement may name what is left out of the file, for other code than kernels
            missing = {each: Unavailable(f"{each} of {own}.py is not a Triton function") for each in fromlist or ()}
            return types.SimpleNamespace(**{**missing, **space})
        if not own:
            files = {each: self._namespace(f"{each}.py") for each in fromlist or () if f"{each}.py" in self.codes}
            return types.SimpleNamespace(**{each: types.SimpleNamespace(**space) for each, space in files.items()})
        if not _allowed(name):
            raise Unavailable(f"a Triton function may not use {name}")
        if not fromlist:
            importlib.import_module(name)
            root = name.partition(".")[0]
            return _left_of_triton() if root == "triton" else importlib.import_module(root)
        if name == "triton":
            # Python would find a module by its name that is no attribute
            for each in fromlist:
                if not hasattr(_left_of_triton(), each):
                    raise Unavailable(f"a Triton function may not use triton.{each}")
            return _left_of_triton()
        module = importlib.import_module(name)
        for each in fromlist:
            # "from package import module", where the package has not imported it
            if not hasattr(module, each):
                importlib.import_module(f"{name}.{each}")
        return module


def reduced(code: str, own: set[str]) -> str:
    """The file without everything that no Triton function needs; what stays keeps its line. own: the bundle's
    modules."""
    tree, lines = readable_tree(code), code.splitlines()
    functions = triton_functions(tree)
    kept: dict[int, str] = {}
    for node in statements(tree):
        start = node.lineno
        if isinstance(node, ast.FunctionDef):
            if functions.get(node.name) is not node and not is_constant_function(node):
                continue
            if node.decorator_list:
                decorator = "constexpr_function" if is_constant_function(node) else _jit_of(node)
                kept[node.lineno - 1] = f"@__import__('triton').{decorator}"
        elif isinstance(node, ast.Import):
            # "import torch, triton": the rest of the line may be needed
            if names := [each for each in node.names if _is_module(each.name, own)]:
                kept[start] = ast.unparse(ast.Import(names))
            continue
        elif not _is_needed(node, own):
            continue
        for number in range(start, (node.end_lineno or start) + 1):
            kept[number] = lines[number - 1][node.col_offset :]
    return "\n".join(kept.get(number, "") for number in range(1, len(lines) + 1)) + "\n"


def _jit_of(function: ast.FunctionDef) -> str:
    """triton.jit as it decorates this function, with those of its options that decide what is compiled."""
    options = [
        f"{each.arg}={ast.unparse(each.value)}"
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and last_name(decorator) == "jit"
        for each in decorator.keywords
        if each.arg in COMPILED_OPTIONS and _is_literal(each.value)
    ]
    return f"jit({', '.join(options)})" if options else "jit"


def _is_literal(value: ast.expr) -> bool:
    return all(isinstance(part, ast.Constant | ast.Tuple | ast.List | ast.expr_context) for part in ast.walk(value))


def places_of(code: str, name: str) -> list[int]:
    """The lines on which functions of this name begin, with their first decorator, wherever they are defined."""
    return [
        min([node.lineno, *(each.lineno for each in node.decorator_list)])
        for node in ast.walk(readable_tree(code))
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]


def _fallbacks(tree: ast.Module) -> set[int]:
    """The lines on which statements begin that run only if others have failed."""
    handlers = [each for node in ast.walk(tree) if isinstance(node, ast.Try) for each in node.handlers]
    return {each.lineno for handler in handlers for each in ast.walk(handler) if isinstance(each, ast.stmt)}


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a reduced file binds."""
    match statement:
        case ast.FunctionDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(each.asname or each.name).partition(".")[0] for each in names}
    return {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _is_needed(node: ast.stmt, own: set[str]) -> bool:
    match node:
        case ast.ImportFrom(module=module, level=level):
            path = (module or "").removeprefix("pass_dir").strip(".")
            return bool(level) or not path or path in own or _allowed(path)
        case ast.Assign(targets=targets, value=value):
            return all(isinstance(each, ast.Name | ast.Tuple) for each in targets) and _is_constant(value)
        case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
            return _is_constant(value)
    return False


def _is_module(name: str, own: set[str]) -> bool:
    """Whether a Triton function may need this module."""
    return _allowed(name) or name.removeprefix("pass_dir.") in own


def _is_constant(value: ast.expr) -> bool:
    return all(
        isinstance(part, CONSTANT_PARTS) and not (isinstance(part, ast.Attribute) and part.attr.startswith("_"))
        for part in ast.walk(value)
    )


def _left_of_triton() -> types.ModuleType:
    triton, left = importlib.import_module("triton"), types.ModuleType("triton")
    for name in OF_TRITON:
        setattr(left, name, getattr(triton, name))
    left.tools = types.ModuleType("triton.tools")  # type: ignore[attr-defined]
    left.tools.tensor_descriptor = importlib.import_module("triton.tools.tensor_descriptor")  # type: ignore[attr-defined]
    return left


def _allowed(module: str) -> bool:
    return module in ("triton", "triton.tools") or any(
        module == each or module.startswith(f"{each}.") for each in PACKAGES
    )
