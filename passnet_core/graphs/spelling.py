"""The spelling of operations and values in source: operator signs, names, and the names that are allowed."""

import ast
import keyword
import math
import re
from collections.abc import Iterable
from typing import TypeVar

Operand = TypeVar("Operand")

BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add", "+"),
    ast.Sub: ("sub", "-"),
    ast.Mult: ("mul", "*"),
    ast.Div: ("truediv", "/"),
    ast.FloorDiv: ("floordiv", "//"),
    ast.Mod: ("mod", "%"),
    ast.Pow: ("pow", "**"),
    ast.MatMult: ("matmul", "@"),
    ast.BitAnd: ("and_", "&"),
    ast.BitOr: ("or_", "|"),
    ast.BitXor: ("xor", "^"),
    ast.LShift: ("lshift", "<<"),
    ast.RShift: ("rshift", ">>"),
}
UNARY: dict[type[ast.unaryop], tuple[str, str]] = {
    ast.USub: ("neg", "-"),
    ast.UAdd: ("pos", "+"),
    ast.Invert: ("invert", "~"),
    ast.Not: ("not_", "not "),
}
COMPARED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("lt", "<"),
    ast.LtE: ("le", "<="),
    ast.Gt: ("gt", ">"),
    ast.GtE: ("ge", ">="),
    ast.Eq: ("eq", "=="),
    ast.NotEq: ("ne", "!="),
    ast.Is: ("is_", "is"),
    ast.IsNot: ("is_not", "is not"),
}
OPERATORS: dict[type[ast.AST], str] = {
    sign: f"operator.{name}" for table in (BINARY, UNARY, COMPARED) for sign, (name, _) in table.items()
}
"""The function that each sign stands for, in Python's syntax."""
INPLACE_OPERATORS = {sign: f"operator.i{name.rstrip('_')}" for sign, (name, _) in BINARY.items()}
KEYWORDS = frozenset({"not_", "is_", "is_not"})
"""Operators that are spelled as words. No method stands for them."""
INFIX = {f"operator.{name}": sign for name, sign in (*BINARY.values(), *COMPARED.values())}
PREFIX = {f"operator.{name}": sign for name, sign in UNARY.values()}
INPLACE = {INPLACE_OPERATORS[sign]: f"{written}=" for sign, (_, written) in BINARY.items()}

BUILTINS = frozenset({"abs", "bool", "float", "getattr", "int", "len", "max", "min", "pow", "round", "sum"})
"""Built-in functions that a recorded computation may call."""
TRACED = {"builtins.abs": "operator.abs", "builtins.pow": "operator.pow"}
"""Built-in functions that tracers record as operators."""
ROOTS = frozenset({"torch", "operator", "math", "builtins"})
"""Modules that a dotted path may begin with."""
_SIGNED = [name for name, _ in (*BINARY.values(), *UNARY.values(), *COMPARED.values()) if name not in KEYWORDS]
OPERATOR_METHODS: dict[str, tuple[str, bool]] = {
    **{f"__{name.rstrip('_')}__": (f"operator.{name}", False) for name in (*_SIGNED, "getitem", "setitem", "abs")},
    **{f"__{target.partition('.')[2]}__": (target, False) for target in INPLACE},
    **{f"__r{name.rstrip('_')}__": (f"operator.{name}", True) for name, _ in BINARY.values()},
}
"""The double-underscore methods that stand for operators: the function of each, and whether its operands are swapped.
No other double-underscore name is allowed: they reach the interpreter's internals."""
NO_OPS = frozenset({"torch._C._log_api_usage_once", "torch._functorch.vmap.lazy_load_decompositions"})
"""Functions that log or prepare something inside torch: they compute nothing and return None."""
RESERVED = BUILTINS | ROOTS | {"self", "device", "slice", "inf", "nan", "Ellipsis"}
"""Names that emitted source uses itself, so that no value may have them."""
NUMBERS = {
    "inf": math.inf, "nan": math.nan, "torch.inf": math.inf, "torch.nan": math.nan, "math.inf": math.inf,
    "math.nan": math.nan, "math.pi": math.pi, "math.e": math.e, "torch.pi": math.pi,
}  # fmt: skip


def operator_of(method: str, args: tuple[Operand, ...]) -> tuple[str, tuple[Operand, ...]] | None:
    """The operator that a method stands for, and its operands in order; None if it stands for none. Every reader of
    calls asks this, so that x.__eq__(y) is x == y, whoever recorded it."""
    if method not in OPERATOR_METHODS:
        return None
    called, swapped = OPERATOR_METHODS[method]
    return called, args[::-1] if swapped else args


def is_name(text: str) -> bool:
    """Whether a value can have this name in emitted source."""
    return text.isidentifier() and text.isascii() and not keyword.iskeyword(text) and text not in RESERVED


class Names:
    """Gives out unique names for values."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self.last: dict[str, int] = {}

    def free(self, wished: str) -> str:
        """Make the wished name an identifier, with a number if it is taken, and take it."""
        stem = re.sub(r"\W", "_", wished, flags=re.ASCII).strip("_") or "value"
        if stem[0].isdigit():
            stem = f"value_{stem}"
        name = stem
        while not is_name(name) or name in self.taken:
            self.last[stem] = self.last.get(stem, 0) + 1
            name = f"{stem}_{self.last[stem]}"
        self.taken.add(name)
        return name


def member_problem(member: str) -> str:
    """Say why a computation cannot use an attribute or method of this name; empty if it can."""
    if not member.isidentifier() or keyword.iskeyword(member):
        return f"{member!r} is not a valid name"
    if member.startswith("__"):
        return f"{member} is not a tensor operation"
    return ""


def path_problem(path: str) -> str:
    """Say why a computation cannot use a dotted path; empty if it can."""
    root, *members = path.split(".")
    if root not in ROOTS:
        return f"{path} does not belong to torch, operator or math"
    if root == "builtins" and (len(members) != 1 or members[0] not in BUILTINS | {"Ellipsis"}):
        return f"{path.partition('.')[2]} is not a tensor operation"
    for member in members:
        problem = member_problem(member)
        if problem:
            return f"{path}: {problem}"
    return ""
