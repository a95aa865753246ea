"""Static rules for bundles, by reading their syntax: what PassNet's checker refuses, with line, column and remedy.

The rules are for honest authors who slip. They cannot stop a determined cheat: the judge looks at what really runs.
By PassNet's profile only its own rule holds. The strict profile allows what computes nothing besides, such as streams
and the properties of the device, and refuses what no honest pass needs.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from passnet_core.passes import forbidden
from passnet_core.passes.reading import is_plain_name, naming_problems
from passnet_core.records import Bundle, Finding, PassFile

SYNTAX = "syntax"
FILE_NAME = "file-name"
MISSING_FUNCTION = "missing-function"
SIGNATURE = "signature"
TORCH_CALL = "torch-call"
FORBIDDEN_IMPORT = "forbidden-import"
DYNAMIC_CODE = "dynamic-code"
PATCHING = "patching"
REPLACEMENT_CAP = "replacement-cap"

RULES = {
    SYNTAX: "The file must be valid Python.",
    FILE_NAME: "Files of a bundle have plain, unique names that end in .py.",
    MISSING_FUNCTION: "A pass defines pattern, replacement_args and replacement_func.",
    SIGNATURE: "pattern and replacement_args take the same parameters; replacement_func takes none.",
    TORCH_CALL: "Outside pattern and replacement_args, torch may only allocate and fill tensors.",
    FORBIDDEN_IMPORT: (
        "torch.nn, torch.ops and torch.autograd may not be imported; nor other packages than torch, triton and numpy, "
        "nor modules for native code, processes, threads, the network or the interpreter itself."
    ),
    DYNAMIC_CODE: "No code from strings or data, no torch attribute under a computed name, no interpreter's internals.",
    PATCHING: "A pass changes nothing in modules that are not its own, nor in the environment.",
    REPLACEMENT_CAP: "At most so many distinct replacement functions per bundle as the evaluation allows.",
}

TRACED = ("pattern", "replacement_args")
REQUIRED = (*TRACED, "replacement_func")
ALLOCATIONS = (
    "empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "as_tensor",
)  # fmt: skip
"""All that PassNet lets a replacement call of torch."""
FORBIDDEN_MODULES = ("torch.nn", "torch.ops", "torch.autograd")

_ALLOWED = {f"torch.{name}" for name in ALLOCATIONS} | {"torch.fx.wrap"}
_DATA = re.compile(
    r"torch\.(u?int\d*|[cq]?u?int\d+(x\d+)?|float\w*|bfloat16|b?complex\d*|c?float|c?double|c?half|chalf|short|long|bool"
    r"|strided|sparse_\w+|jagged|\w+_format|inf|nan|pi|e|newaxis|dtype|device|layout|memory_format|version|__version__)"
)
"""Names of torch that are data or types, so that reading them computes nothing."""
_CODE_FROM_STRINGS = {"exec", "eval", "compile", "__import__"}
_BUILTINS = _CODE_FROM_STRINGS | {"getattr", "setattr", "delattr", "globals", "vars"}
_INTERPRETER = {"__builtins__", "__loader__", "__spec__"}
_SETTERS = {"setattr", "delattr", "__setattr__", "__delattr__"}
_FREE_TO_CHANGE = {"sys.path"}

KERNEL_DECORATORS = ("jit", "autotune", "heuristics", "constexpr_function")

_REMEDY_TORCH = (
    "Compute it in a Triton kernel. Outside pattern and replacement_args torch may only be asked for "
    f"{', '.join(ALLOCATIONS)}."
)


def findings(bundle: Bundle, replacement_cap: int | None = None, *, passnet: bool = False) -> tuple[Finding, ...]:
    """Every remark of the rules on the bundle, in the order of its files and lines. None fatal: not rejected.

    passnet: only PassNet's own rule, to the letter.
    """
    found = [
        Finding(bundle.files[0].name, 1, 1, FILE_NAME, problem, "Rename the file.")
        for problem in naming_problems(bundle)
    ]
    modules: dict[str, _Module] = {}
    for file in bundle.files:
        parsed = _parsed(file)
        if isinstance(parsed, Finding):
            found.append(parsed)
        elif is_plain_name(file.name):
            modules[file.name.removesuffix(".py")] = _Module(file, parsed, file in bundle.passes)
    for module in modules.values():
        if module.is_pass:
            found += _required_functions(module)
        found += (_Reader if passnet else _StrictReader)(module, modules).findings()
    if replacement_cap is not None:
        found += _over_cap([module for module in modules.values() if module.is_pass], modules, replacement_cap)
    order = {file.name: place for place, file in enumerate(bundle.files)}
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda each: (order[each.file], each.line, each.column)))


# --- one file --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Origin:
    """Where a name comes from: a dotted path of an imported module ("torch.relu"), or a file of the bundle."""

    path: str


@dataclass
class _Scope:
    """The names bound in one function or module, each with every expression or path it may stand for."""

    parent: "_Scope | None"
    bound: dict[str, list[ast.expr | _Origin | None]] = field(default_factory=dict)

    def bind(self, name: str, to: ast.expr | _Origin | None) -> None:
        self.bound.setdefault(name, []).append(to)

    def holder(self, name: str) -> "_Scope | None":
        scope: _Scope | None = self
        while scope is not None and name not in scope.bound:
            scope = scope.parent
        return scope


class _Module:
    """A parsed file of the bundle, with what its top level binds."""

    def __init__(self, file: PassFile, tree: ast.Module, is_pass: bool) -> None:
        self.file = file
        self.tree = tree
        self.is_pass = is_pass
        self.lines = file.code.splitlines()
        self.scope = _Scope(None)
        _bind_all(self.scope, tree.body)
        self.defined = frozenset(
            node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        self.jitted = frozenset(_handed_to_jit(tree))

    def remark(self, node: ast.AST, rule: str, message: str, remedy: str, fatal: bool = True) -> Finding:
        line = getattr(node, "lineno", 1)
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        # ast counts bytes of UTF-8, people count characters
        column = len(text.encode()[: getattr(node, "col_offset", 0)].decode(errors="replace")) + 1
        return Finding(self.file.name, line, column, rule, message, remedy, fatal)

    def function(self, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The last definition of this name at the top level, where it is a plain def."""
        return next(
            (
                node
                for node in reversed(self.tree.body)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name
            ),
            None,
        )


def _handed_to_jit(tree: ast.Module) -> Iterator[str]:
    """Functions that become kernels by a call, kernel = triton.jit(function), not by a decorator."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == "jit":
                yield node.args[0].id


def _parsed(file: PassFile) -> ast.Module | Finding:
    remedy = "Correct the line; Python cannot read the file as it is."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a stranger's string is not ours to report
            return ast.parse(file.code)
    except SyntaxError as error:
        line = max(1, error.lineno or 1)
        return Finding(file.name, line, max(1, error.offset or 1), SYNTAX, f"Not valid Python: {error.msg}.", remedy)
    except (ValueError, RecursionError, MemoryError) as error:
        return Finding(file.name, 1, 1, SYNTAX, f"Not valid Python: {error or type(error).__name__}.", remedy)


def _required_functions(module: _Module) -> Iterator[Finding]:
    star = any(
        isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names) for node in module.tree.body
    )
    for name in REQUIRED:
        if name not in module.scope.bound and not star:
            parameters = "" if name == "replacement_func" else "a, b"
            yield module.remark(
                module.tree,
                MISSING_FUNCTION,
                f"This pass has no function {name}.",
                f"Define it at the top level of the file: def {name}({parameters}).",
            )
    pattern, arguments, replacement = (module.function(name) for name in REQUIRED)
    for function in (pattern, arguments, replacement):
        if isinstance(function, ast.AsyncFunctionDef):
            yield module.remark(
                function, SIGNATURE, f"{function.name} is asynchronous.", f"Write def {function.name}(…)."
            )
    for function in (pattern, arguments):
        if function and (function.args.vararg or function.args.kwarg):
            yield module.remark(
                function,
                SIGNATURE,
                f"{function.name} takes a variable number of parameters, so its inputs cannot be told apart.",
                "Name every input.",
            )
    if pattern and arguments:
        ours, theirs = _parameters(pattern), _parameters(arguments)
        if len(ours) != len(theirs):
            yield module.remark(
                arguments,
                SIGNATURE,
                f"replacement_args takes {_listed(theirs)}, but pattern takes {_listed(ours)}.",
                "Give both the same parameters: the inputs of the match, in the same order.",
            )
        elif ours != theirs:
            yield module.remark(
                arguments,
                SIGNATURE,
                f"replacement_args names its parameters {_listed(theirs)}, pattern {_listed(ours)}; "
                "they are paired by position.",
                "Use the same names, so that a mix-up shows.",
                fatal=False,
            )
    if replacement and _required_count(replacement):
        yield module.remark(
            replacement,
            SIGNATURE,
            f"replacement_func takes {_listed(_parameters(replacement))}, but it is called without arguments.",
            "Write def replacement_func(): and return the replacement function itself.",
        )


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    args = function.args
    return [each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def _required_count(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    args = function.args
    positional = len(args.posonlyargs) + len(args.args) - len(args.defaults)
    return positional + sum(default is None for default in args.kw_defaults)


def _listed(names: Sequence[str]) -> str:
    return f"({', '.join(names)})"


# --- names -----------------------------------------------------------------------------------------------------------


def _bind_all(scope: _Scope, statements: Sequence[ast.stmt]) -> None:
    """Notes every name that these statements bind in this scope, without entering inner functions."""
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
                    scope.bind(alias.asname or origin, _Origin(origin))
            case ast.ImportFrom():
                for alias in node.names:
                    scope.bind(alias.asname or alias.name, _Origin(f"{_from(node)}.{alias.name}"))
            case ast.Assign():
                for target in node.targets:
                    _bind_target(scope, target, node.value)
            case ast.AnnAssign(value=ast.expr()) | ast.NamedExpr():
                _bind_target(scope, node.target, node.value)
            case ast.Name(ctx=ast.Store()):
                # bound by a loop, a with, a del: nothing known; assignments above are noted as well
                scope.bound.setdefault(node.id, [])
            case ast.ExceptHandler(name=str(name)):
                scope.bind(name, None)
        pending.extend(ast.iter_child_nodes(node))


def _bind_target(scope: _Scope, target: ast.expr, value: ast.expr | None) -> None:
    if isinstance(target, ast.Name):
        scope.bind(target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        values: Sequence[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            values = value.elts
        for each, part in zip(target.elts, values):
            _bind_target(scope, each, part)


def _from(node: ast.ImportFrom) -> str:
    """The module of "from … import"; a relative one and pass_dir mean the bundle's own folder."""
    module = node.module or ""
    return module if not node.level else f"pass_dir.{module}".rstrip(".")


class _Names:
    """Which dotted paths an expression may stand for."""

    def __init__(self, modules: dict[str, _Module]) -> None:
        self.modules = modules
        self.known: dict[tuple[int, str], set[str]] = {}
        """Per scope and name. Names may be bound to one another many times over: each is followed once."""

    def paths(self, node: ast.expr | _Origin | None, scope: _Scope, depth: int = 0) -> set[str]:
        """Such as {"torch.relu"}; "builtins.eval" for the built-in functions that matter; empty: unknown."""
        if depth > 12:  # names that are bound to one another
            return set()
        match node:
            case _Origin(path):
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

    def _bound(self, holder: _Scope, name: str, depth: int) -> set[str]:
        """What a name may stand for, through all names that it was assigned from."""
        if (id(holder), name) in self.known:
            return self.known[id(holder), name]
        found: set[str] = set()
        self.known[id(holder), name] = found  # what an expression that leads back to this name finds
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
        """A path into a file of the bundle stands for what that file binds."""
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


class _Reader(ast.NodeVisitor):
    """Walks one file and notes what the rules on torch and on dynamic code refuse."""

    allowed = frozenset(_ALLOWED)

    def __init__(self, module: _Module, modules: dict[str, _Module]) -> None:
        self.module = module
        self.names = _Names(modules)
        self.modules = modules
        self.scope = module.scope
        self.scopes = [module.scope]
        self.traced = False
        self.found: list[Finding] = []

    def findings(self) -> list[Finding]:
        try:
            self.visit(self.module.tree)
        except RecursionError:
            self.note(self.module.tree, SYNTAX, "The code is nested too deeply to be read.", "Split long expressions.")
        return self.found

    def note(self, node: ast.AST, rule: str, message: str, remedy: str) -> None:
        self.found.append(self.module.remark(node, rule, message, remedy))

    def paths(self, node: ast.expr) -> list[str]:
        return sorted(self.names.paths(node, self.scope))

    # imports

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = _from(node)
        for alias in node.names:
            if alias.name == "*" and module.split(".")[0] == "torch":
                self.note(node, FORBIDDEN_IMPORT, f"All of {module} is imported.", "Write import torch.")
            else:
                self._imported(node, f"{module}.{alias.name}")

    def _imported(self, node: ast.stmt, path: str) -> None:
        for module in FORBIDDEN_MODULES:
            if path == module or path.startswith(f"{module}."):
                self.note(
                    node,
                    FORBIDDEN_IMPORT,
                    f"{module} is imported.",
                    f"Remove the import; inside pattern write the full name, {module}.… .",
                )

    # scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        # decorators and defaults run when the file loads, outside the trace
        outer = [*node.decorator_list, *node.args.defaults, *(each for each in node.args.kw_defaults if each)]
        for each in outer:
            self.visit(each)
        traced = self.module.is_pass and self.scope is self.module.scope and node.name in TRACED
        self._enter(node.args, node.body, self.traced or traced)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._enter(node.args, [ast.Expr(node.body)], self.traced)

    def _enter(self, arguments: ast.arguments, body: Sequence[ast.stmt], traced: bool) -> None:
        outside = (self.scope, self.traced)
        self.scope, self.traced = _Scope(self.scope), traced
        self.scopes.append(self.scope)  # kept, so that no two scopes ever have one id
        optional = (arguments.vararg, arguments.kwarg)
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *filter(None, optional)):
            self.scope.bind(each.arg, None)
        _bind_all(self.scope, body)
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
                f"{node.func.id} is called, but it is only for tracing.",
                "Compute it in a Triton kernel instead.",
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
                        "The torch module itself is handed to a call.",
                        "Call what you need of torch by its name.",
                    )
            else:
                self.visit(argument)

    def _called(self, node: ast.Call, path: str) -> None:
        if path.removeprefix("builtins.") in _CODE_FROM_STRINGS and path.startswith("builtins."):
            name = path.removeprefix("builtins.")
            self.note(
                node, DYNAMIC_CODE, f"{name} runs code that cannot be read here.", "Write that code in the bundle."
            )
        elif path == "builtins.getattr" and node.args and not self.traced:
            literal = len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
            if not literal and any(each.split(".")[0] == "torch" for each in self.paths(node.args[0])):
                self.note(
                    node,
                    DYNAMIC_CODE,
                    "An attribute of torch is looked up under a computed name.",
                    "Write the name out, such as torch.empty_like.",
                )
        elif path.split(".")[0] == "importlib" and "import" in path.removeprefix("importlib"):
            self._imported_by_name(node, path)
        elif _in_torch(path) and not self.traced and path not in self.allowed:
            self.note(node, TORCH_CALL, f"{path} is called outside pattern and replacement_args.", _REMEDY_TORCH)

    def _imported_by_name(self, node: ast.Call, path: str) -> None:
        named = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if not (isinstance(named, str) and named.removeprefix("pass_dir.") in self.modules):
            self.note(
                node,
                DYNAMIC_CODE,
                f"{path} imports what cannot be read here.",
                "Write an import statement; helper modules beside the pass can be imported by name.",
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
                self.note(node, DYNAMIC_CODE, "torch.__dict__ is read.", "Call what you need of torch by its name.")
            elif path.startswith("builtins.") and path.removeprefix("builtins.") in _CODE_FROM_STRINGS:
                name = path.removeprefix("builtins.")
                self.note(node, DYNAMIC_CODE, f"{name} is passed on.", "Write the code in the bundle.")
            elif _in_torch(path) and path not in self.allowed and not _is_data(path):
                self.note(node, TORCH_CALL, f"{path} is used outside pattern and replacement_args.", _REMEDY_TORCH)


class _StrictReader(_Reader):
    """Notes besides what no honest pass does."""

    allowed = frozenset(_ALLOWED) | forbidden.HARMLESS_TORCH

    def __init__(self, module: _Module, modules: dict[str, _Module]) -> None:
        super().__init__(module, modules)
        self.in_kernel = False
        self.own_names = frozenset().union(*(each.defined for each in modules.values()))

    def paths(self, node: ast.expr) -> list[str]:
        return sorted({_without_detour(path) for path in super().paths(node)})

    # imports

    def _imported(self, node: ast.stmt, path: str) -> None:
        super()._imported(node, path)
        root = path.split(".")[0]
        if root in self.modules or root in ("pass_dir", ""):
            return
        if forbidden.stranger(root):
            self.note(
                node,
                FORBIDDEN_IMPORT,
                f"{root} is neither part of Python, torch, triton or numpy, nor a file of this bundle.",
                "Write what you need of it in the bundle, as a Triton kernel where it computes.",
            )
            return
        against = forbidden.reason_against(path, forbidden.MODULES)
        if against:
            self.note(node, FORBIDDEN_IMPORT, f"{against[0]} is imported, and {against[1]}.", "Remove the import.")
        self._mentioned(node, path)

    def _mentioned(self, node: ast.AST, path: str) -> None:
        against = forbidden.reason_against(path, forbidden.PATHS)
        if against:
            self.note(node, DYNAMIC_CODE, f"{against[0]} is used, and {against[1]}.", "Do without it.")

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
        """getattr: a literal name is as good as a dot; a computed one may not reach into a module."""
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
                    f"An attribute of {path} is looked up under a computed name.",
                    "Write the name out.",
                )

    def visit_Call(self, node: ast.Call) -> None:
        super().visit_Call(node)
        if isinstance(node.func, ast.Name | ast.Attribute):
            self._named(node.func)
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in _SETTERS and node.args:
                self._stored(node, node.args[0])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            super().visit_Attribute(node)
            self._named(node)
        elif not self._stored(node, node.value):
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load) or not self._stored(node, node.value):
            self.visit(node.value)
        self.visit(node.slice)

    def visit_Name(self, node: ast.Name) -> None:
        super().visit_Name(node)
        self._named(node)
        for path in self.paths(node):
            if path.removeprefix("builtins.") in forbidden.LOOKUPS and path.startswith("builtins."):
                name = path.removeprefix("builtins.")
                self.note(node, DYNAMIC_CODE, f"{name} is passed on.", "Write the attribute with a dot.")

    def _named(self, node: ast.Name | ast.Attribute) -> None:
        """What a name or attribute that is read may not be, whatever is done with it."""
        paths = self.paths(node)
        for path in paths:
            self._mentioned(node, path)
            if path in forbidden.PRODUCTS and not self.traced:
                self.note(node, TORCH_CALL, f"{path} is used outside pattern and replacement_args.", _REMEDY_TORCH)
        if isinstance(node, ast.Attribute):
            if not paths or node.attr in forbidden.INTERNALS | forbidden.LOADERS:
                self._attribute_of_unknown(node, node.attr)
        elif node.id in _INTERPRETER and self.scope.holder(node.id) is None:
            self._internal(node, node.id)

    def _attribute_of_unknown(self, node: ast.AST, name: str) -> None:
        if name in forbidden.INTERNALS:
            self._internal(node, name)
        elif name in forbidden.HIDEOUTS and name != "operator" and name not in self.own_names:
            self.note(
                node,
                DYNAMIC_CODE,
                f"The module {name} is reached through something that is not it.",
                f"Write import {name}, where it may be imported.",
            )
        elif name in forbidden.LOADERS:
            self.note(
                node,
                DYNAMIC_CODE,
                f"{name} takes machine code that cannot be read here.",
                "Write the kernel in Triton.",
            )
        elif name in forbidden.METHODS and name not in self.own_names and not (self.traced or self.in_kernel):
            self.note(
                node,
                TORCH_CALL,
                f"The method {name} computes with a tensor outside pattern and replacement_args.",
                _REMEDY_TORCH,
            )

    def _internal(self, node: ast.AST, name: str) -> None:
        self.note(
            node, DYNAMIC_CODE, f"{name} reaches into the interpreter's internals.", "Call what you need by its name."
        )

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._multiplied(node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._multiplied(node)
        self.generic_visit(node)

    def _multiplied(self, node: ast.BinOp | ast.AugAssign) -> None:
        if isinstance(node.op, ast.MatMult) and not (self.traced or self.in_kernel):
            self.note(node, TORCH_CALL, "The operator @ multiplies tensors in a replacement.", _REMEDY_TORCH)

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
            "A long literal holds data that cannot be read here.",
            "Write constants as numbers, and kernels in Triton.",
        )

    # changes

    def _stored(self, node: ast.AST, base: ast.expr) -> bool:
        """Whether something foreign is assigned to or deleted; notes it."""
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
            f"{path} is changed, which is not this bundle's own.",
            "Keep what the pass remembers in its own module.",
        )

    def _foreign(self, path: str) -> bool:
        return path.split(".")[0] not in {*self.modules, "pass_dir"}


def _without_detour(path: str) -> str:
    """A module that another one has imported, by its own name: "triton.testing.torch.mm" is torch.mm."""
    parts = path.split(".")
    if parts[0] == "torch":
        return path
    for place in range(len(parts) - 1, 0, -1):
        if parts[place] in forbidden.HIDEOUTS:
            return ".".join(parts[place:])
    return path


def _in_torch(path: str) -> bool:
    return path.startswith("torch.")


def _is_data(path: str) -> bool:
    """Whether reading it is harmless: a dtype, a type, a constant, or a class named in an annotation."""
    parts = path.split(".")
    return bool(_DATA.fullmatch(".".join(parts[:2]))) or (
        parts[-1][:1].isupper() and ".".join(parts[:2]) not in FORBIDDEN_MODULES
    )


# --- the cap on replacement functions --------------------------------------------------------------------------------


def _over_cap(passes: Sequence[_Module], modules: dict[str, _Module], cap: int) -> Iterator[Finding]:
    """A finding at each pass whose replacement function is one too many."""
    seen: list[str] = []
    for module in passes:
        for function in sorted(_replacements(module, modules)):
            if function in seen:
                continue
            seen.append(function)
            if len(seen) > cap:
                yield module.remark(
                    module.function("replacement_func") or module.tree,
                    REPLACEMENT_CAP,
                    f"{function} is replacement function number {len(seen)}, and this evaluation allows {cap}.",
                    "Return one shared function from every pass, and route by a literal that replacement_args appends.",
                )


def _replacements(module: _Module, modules: dict[str, _Module]) -> set[str]:
    """The functions that replacement_func may return, as "file.function"; itself where that cannot be read."""
    function = module.function("replacement_func")
    own = f"{module.file.name.removesuffix('.py')}.replacement_func"
    if function is None:
        return _defined(module, "replacement_func", modules) or {own}
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    found: set[str] = set()
    for value in returned:
        if isinstance(value, ast.Name):
            found |= _defined(module, value.id, modules)
        elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
            found |= _defined(module, value.value.id, modules, value.attr)
    return found or {own}


def _defined(
    module: _Module,
    name: str,
    modules: dict[str, _Module],
    attribute: str = "",
    seen: frozenset[tuple[str, str]] = frozenset(),
) -> set[str]:
    """Where in the bundle the name is defined, followed through imports and plain assignments."""
    stem = module.file.name.removesuffix(".py")
    if (stem, name) in seen or len(seen) > 8:
        return set()
    seen |= {(stem, name)}
    found: set[str] = set()
    for binding in dict.fromkeys(_leads(module.scope.bound.get(name, ()))):
        if isinstance(binding, _Origin):
            path = ".".join(filter(None, (binding.path.removeprefix("pass_dir."), attribute)))
            parts = path.split(".")
            if parts[0] in modules and len(parts) > 1:
                found |= _defined(modules[parts[0]], parts[1], modules, seen=seen) or {".".join(parts[:2])}
            else:
                found.add(path)
        elif isinstance(binding, str):
            found |= _defined(module, binding, modules, attribute, seen)
        else:
            found.add(f"{stem}.{name}")
    return found


def _leads(bindings: Iterable[ast.expr | _Origin | None]) -> Iterator[_Origin | str | None]:
    """Where bindings lead: to a module, to another name, or no further."""
    for each in bindings:
        yield each if isinstance(each, _Origin) else each.id if isinstance(each, ast.Name) else None
