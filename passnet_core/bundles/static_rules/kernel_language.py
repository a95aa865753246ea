"""What a function written in Triton may use: the language, of which its interpreter and its compiler make the same.

A compiler never looks at a branch that it does not take, and so does not refuse what only an interpreter has: the array
in a block, numpy, the questions which class a value has. The tables here are of Triton 3.6 and 3.7; a test holds them
against the installed one."""

import ast
import builtins
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from passnet_core.bundles.static_rules.rules import KERNEL_LANGUAGE
from passnet_core.bundles.static_rules.scopes import BoundNames, Module, Scope, function_scope, imported_from
from passnet_core.bundles.triton_functions import (
    is_constant_function,
    is_triton_function,
    passed_to_jit,
    triton_functions,
)
from passnet_core.records import Finding

OF_BLOCKS = frozenset(
    {
        "T", "abs", "advance", "argmax", "argmin", "associative_scan", "atomic_add", "atomic_and", "atomic_cas",
        "atomic_max", "atomic_min", "atomic_or", "atomic_xchg", "atomic_xor", "broadcast_to", "cast", "cdiv", "ceil",
        "cos", "cumprod", "cumsum", "dtype", "erf", "exp", "exp2", "expand_dims", "flip", "floor", "gather",
        "histogram", "item", "log", "log2", "logical_and", "logical_or", "max", "min", "numel", "permute", "ravel",
        "reduce", "reduce_or", "reshape", "rsqrt", "shape", "sigmoid", "sin", "softmax", "sort", "split", "sqrt",
        "sqrt_rn", "store", "sum", "to", "trans", "type", "view", "xor_sum",
    }
)  # fmt: skip
"""Attributes of a block that are part of the language."""
OF_DESCRIPTORS = frozenset({"block_shape", "block_type", "load", "scatter", "strides"})
"""Attributes of a tensor descriptor that a block has not."""
OF_CONSTANTS = frozenset({"value", "values"})
OF_TYPES = frozenset(
    {
        "element_ty", "exponent_bias", "fp_mantissa_width", "get_block_shapes", "get_int_max_value",
        "get_int_min_value", "int_bitwidth", "int_signedness", "is_bf16", "is_block", "is_bool", "is_const",
        "is_floating", "is_fp16", "is_fp32", "is_fp64", "is_fp8", "is_fp8e4b15", "is_fp8e4b8", "is_fp8e4nv",
        "is_fp8e5", "is_fp8e5b16", "is_int", "is_int1", "is_int16", "is_int32", "is_int64", "is_int8",
        "is_int_signed", "is_int_unsigned", "is_ptr", "is_standard_floating", "is_uint16", "is_uint32", "is_uint64",
        "is_uint8", "is_void", "itemsize", "kind", "name", "nbytes", "primitive_bitwidth", "scalar",
        "with_element_ty",
    }
)  # fmt: skip
ATTRIBUTES = OF_BLOCKS | OF_DESCRIPTORS | OF_CONSTANTS | OF_TYPES
"""The attributes that a Triton function may use, besides those of modules and the fields of the bundle's tuples."""

HANDLES = frozenset({"handle"})
"""Attributes of a block that are no part of the language: an array in the interpreter, a value in the compiler."""

IN_KERNELS = frozenset({"float", "int", "len", "list", "max", "min", "print", "range"})
"""The built-in functions of Python that the compiler knows, without those that ask what a value is."""
IN_CONSTANTS = IN_KERNELS | frozenset(
    {
        "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "isinstance", "map", "pow", "reversed", "round",
        "set", "slice", "sorted", "str", "sum", "tuple", "zip", "ArithmeticError", "AssertionError", "Exception",
        "NotImplementedError", "RuntimeError", "TypeError", "ValueError",
    }
)  # fmt: skip
"""Those that a function of constants may call, which Python itself runs."""

OF_TRITON = frozenset({"cdiv", "constexpr_function", "jit", "language", "next_power_of_2", "tools"})
"""What a Triton function may use of the module triton. The rest tells who runs it."""
BESIDES_LANGUAGE = frozenset(
    {"builtins", "contextlib", "functools", "inspect", "ir", "knobs", "numbers", "os", "pkgutil", "typing", "warnings"}
)
"""Modules that can be reached through those of triton.language, and are no part of it."""
TYPES = frozenset({"constexpr", "dtype", "void", "pi32_t"})
TYPE_STEMS = ("int", "uint", "float", "bfloat")
"""How the names of types in triton.language begin."""

GLUON = "triton.experimental.gluon"

REMEDY = "Use Triton's language: tl.*, the methods of blocks and dtypes, the bundle's own kernels and constants."

UNDEFINED_REMEDY = "Give the name a value before this line, or correct its spelling."


def kernel_language(modules: dict[str, Module]) -> Iterator[Finding]:
    """Yield a finding for each thing that a Triton function of the bundle uses and that is not of the language."""
    attributes = ATTRIBUTES | ({field for each in modules.values() for field in _fields(each.tree)} - HANDLES)
    for module in modules.values():
        passed, kernels = passed_to_jit(module.tree), triton_functions(module.tree).keys()
        top = [each for each in module.tree.body if isinstance(each, ast.FunctionDef) and not each.decorator_list]
        plain = {each.name for each in top} - kernels
        imports = [each for each in ast.walk(module.tree) if isinstance(each, ast.ImportFrom)]
        opened = [imported_from(each) for each in imports if each.names[0].name == "*"]
        visitor = partial(
            _Visitor, module, modules, attributes=attributes, kernels=frozenset(kernels), plain=plain, opened=opened
        )
        for function, scope in _functions(module.tree, module.scope):
            if is_triton_function(function, passed) and not _is_in_gluon(function, module, modules):
                yield from visitor(function, scope, constant=False).findings()
            if is_constant_function(function):
                yield from visitor(function, scope, constant=True).findings()


def _functions(tree: ast.AST, scope: Scope) -> Iterator[tuple[ast.FunctionDef, Scope]]:
    """Every function within, with the scope in which it stands."""
    waiting = [(tree, scope)]
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            yield node, scope
            scope = function_scope(node.args, node.body, scope)
        waiting += ((each, scope) for each in ast.iter_child_nodes(node))


def _is_in_gluon(function: ast.FunctionDef, module: Module, modules: dict[str, Module]) -> bool:
    """Whether a function is in Triton's other language, which nobody interprets."""
    decorators = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    names = BoundNames(modules)
    return any(path.startswith(GLUON) for each in decorators for path in names.paths(each, module.scope))


def _fields(tree: ast.Module) -> Iterator[str]:
    """The names of the attributes that classes of a file have, those of collections.namedtuple among them."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(body=body):
                for each in body:
                    targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
                    yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.Call(func=ast.Name(id="namedtuple") | ast.Attribute(attr="namedtuple")):
                texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
                yield from (word for text in texts if isinstance(text, str) for word in text.replace(",", " ").split())


class _Visitor(ast.NodeVisitor):
    """Walks one function. constant: it is one of constants, which must not see what differs between who runs it."""

    def __init__(
        self,
        module: Module,
        modules: dict[str, Module],
        function: ast.FunctionDef,
        scope: Scope,
        *,
        attributes: frozenset[str],
        kernels: frozenset[str],
        plain: set[str],
        opened: list[str],
        constant: bool,
    ) -> None:
        self.module, self.modules, self.function, self.scope = module, modules, function, scope
        self.names = BoundNames(modules)
        self.attributes, self.kernels, self.plain, self.constant = attributes, kernels, plain, constant
        self.open = any(self._own(each) or _available(each, constant=False) for each in opened)
        """Whether all names of a module are imported."""
        self.found: list[Finding] = []

    def findings(self) -> list[Finding]:
        arguments = self.function.args
        for each in (*arguments.defaults, *filter(None, arguments.kw_defaults)):
            self.visit(each)
        self.scope = function_scope(self.function.args, self.function.body, self.scope)
        for statement in self.function.body:
            self.visit(statement)
        return self.found

    def _note(self, node: ast.AST, said: str, remedy: str = REMEDY) -> None:
        text = f"{said} in {self.function.name}, which is written in Triton."
        self.found.append(self.module.remark(node, KERNEL_LANGUAGE, text, remedy))

    def _paths(self, node: ast.expr) -> set[str]:
        return self.names.paths(node, self.scope)

    def _own(self, path: str) -> bool:
        return path.split(".")[0] in {*self.modules, "pass_dir", ""}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """No Triton function has another one in it; the compiler says so."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            return
        holder, allowed = self.scope.holder(node.id), IN_CONSTANTS if self.constant else IN_KERNELS
        if holder is None:
            if node.id not in allowed and not self.open:
                known = hasattr(builtins, node.id)
                said = f"{node.id} is used" if known else f"{node.id}, which is not defined, is used"
                self._note(node, said, REMEDY if known else UNDEFINED_REMEDY)
        elif holder is self.module.scope:
            if node.id in self.plain:
                self._note(node, f"{node.id}, a function of Python, is used")
            elif self.constant and node.id in self.kernels:
                self._note(node, f"{node.id}, which the interpreter and the compiler represent differently, is used")
        self._check(node, self._paths(node))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        paths = self._paths(node.value)
        if not paths and not self.constant and node.attr not in self.attributes:
            self._note(node, f"The attribute {node.attr}, which is not part of Triton's language, is used")
        elif self.constant and (node.attr.startswith("_") or node.attr in HANDLES):
            self._note(node, f"The attribute {node.attr} is used")
        self._check(node, {f"{each}.{node.attr}" for each in paths if not self._own(each)})
        if not paths or not isinstance(node.value, ast.Name | ast.Attribute):
            self.visit(node.value)

    def _check(self, node: ast.expr, paths: set[str]) -> None:
        for path in sorted(paths):
            if not self._own(path) and not _available(path, constant=self.constant):
                self._note(node, f"{path.removeprefix('builtins.')} is used")

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for operation, (left, right) in zip(node.ops, pairwise(operands)):
            constants = [each.value for each in (left, right) if isinstance(each, ast.Constant)]
            singletons = any(value is None or isinstance(value, bool) for value in constants)
            if isinstance(operation, ast.Is | ast.IsNot) and not singletons:
                self._note(node, "Two values are compared by identity")
        for each in operands:
            if any(path.startswith("triton.language.") and not _is_type(path) for path in self._paths(each)):
                self._note(each, f"{ast.unparse(each)} is compared")
        self.generic_visit(node)


def _is_type(path: str) -> bool:
    name = path.rpartition(".")[2]
    return name in TYPES or name.startswith(TYPE_STEMS)


def _available(path: str, *, constant: bool) -> bool:
    """Whether a dotted path is of the language. What may be used of torch, other rules say."""
    root, *rest = path.split(".")
    if root == "torch":
        return True
    if root not in ("triton", "math", "typing", "__future__") or any(each.startswith("_") for each in rest):
        return False
    if root != "triton" or not rest:
        return True
    if rest[0] not in OF_TRITON or not BESIDES_LANGUAGE.isdisjoint(rest[1:]):
        return False
    # a function of constants sees types, since they are the same whoever runs it
    return not (constant and rest[0] == "language" and len(rest) > 1) or _is_type(path)
