"""Alter one place of a pass that the rules wrote: an operator, a literal, a mask, an index, a size.

Text in, text out: nothing is imported or run."""

import ast
import math
import random
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from passnet_core.solvers.rules.helpers import library


class Kind(StrEnum):
    """What a mutation alters."""

    OPERATOR = "operator"
    COMPARISON = "comparison"
    LITERAL = "literal"
    REDUCTION = "reduction"
    MASK = "mask"
    ROUNDING = "rounding"
    INDEX = "index"
    """Of a kernel: which coordinate, or which stride or size of a tuple, an address or a coordinate is made of."""
    STRIDE = "stride"
    """A stride that a kernel is given."""
    SIZE = "size"
    """Outside of kernels: a size of an output, of a loop or of a grid."""
    OPERANDS = "operands"
    """Two operands in the other order."""


OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "%"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "&"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
"""What stands for an operator, and what is written in its place."""
ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod)
"""The operators whose operands are not exchanged for nothing."""
REDUCTIONS = {"sum": "max", "max": "min", "min": "max", "argmax": "argmin", "argmin": "argmax"}
SPECIAL = {"-inf": "-10000.0", "inf": "10000.0", "nan": "0.0"}
"""Numbers that have no literal, and what people take for them."""

COORDINATE = re.compile(r"[ir]\d+")
CONTRACT = frozenset({"pattern", "replacement_args", "replacement_func"})


@dataclass(frozen=True)
class Mutation:
    """One alteration of a file. start, end: places in its UTF-8 bytes. function: in which it lies. line: from 1."""

    kind: Kind
    function: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def applied(self, code: str) -> str:
        text = code.encode()
        return (text[: self.start] + self.after.encode() + text[self.end :]).decode()


def mutations(code: str, functions: Collection[str] | None = None) -> list[Mutation]:
    """All mutations of a pass file's kernels, and of what launches them, by place: each parses, and none means what was
    there before.

    functions: only those of these names."""
    tree = ast.parse(code)
    original = ast.dump(tree)
    found: list[Mutation] = []
    for each in tree.body:
        if not isinstance(each, ast.FunctionDef) or (functions is not None and each.name not in functions):
            continue
        if each.name not in CONTRACT and each.name not in library():
            found += _Function(code, each).sites
    return [each for each in found if _differs(each.applied(code), original)]


def chosen(sites: Sequence[Mutation], count: int, chance: random.Random) -> list[Mutation]:
    """So many mutations, or all of them: of each kind in turn, in a random order, each place at random."""
    left: dict[Kind, list[Mutation]] = {}
    for each in sites:
        left.setdefault(each.kind, []).append(each)
    for alike in left.values():
        chance.shuffle(alike)
    order = sorted(left)
    chance.shuffle(order)
    taken: list[Mutation] = []
    while len(taken) < count and any(left.values()):
        for kind in order:
            if left[kind] and len(taken) < count:
                taken.append(left[kind].pop())
    return taken


def _differs(code: str, original: str) -> bool:
    try:
        return ast.dump(ast.parse(code)) != original
    except SyntaxError:
        return False


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).startswith("triton.jit") for each in function.decorator_list)


@dataclass(frozen=True)
class _Where:
    """In what an expression lies. kernel: False in what launches one. place: its value decides where memory is
    touched."""

    kernel: bool
    place: bool = False


@dataclass
class _Function:
    """The places of one function that can be altered."""

    code: str
    function: ast.FunctionDef
    sites: list[Mutation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bytes = self.code.encode()
        self.starts = [0]
        for line in self.bytes.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.coordinates = sorted(
            {
                each.id
                for each in ast.walk(self.function)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and COORDINATE.fullmatch(each.id)
            }
        )
        kernel = _is_kernel(self.function)
        for statement in self.function.body:
            self._visit(statement, _Where(kernel, kernel and _makes_a_coordinate(statement)))

    # places in the text

    def _start(self, node: ast.expr) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> str:
        return self.bytes[self._start(node) : self._end(node)].decode()

    def _add(self, kind: Kind, start: int, end: int, after: str) -> None:
        line = self.bytes.count(b"\n", 0, start) + 1
        before = self.bytes[start:end].decode()
        self.sites.append(Mutation(kind, self.function.name, line, start, end, before, after))

    def _replace(self, kind: Kind, node: ast.expr, after: str) -> None:
        self._add(kind, self._start(node), self._end(node), after)

    # a walk through the syntax tree

    def _visit(self, node: ast.AST, where: _Where) -> None:
        match node:
            case ast.BinOp():
                self._operator(node.op, node.left, node.right, where)
                if isinstance(node.op, ORDERED):
                    exchanged = f"({self._text(node.right)}) {OPERATORS[type(node.op)][0]} ({self._text(node.left)})"
                    self._replace(Kind.OPERANDS, node, exchanged)
            case ast.Compare(ops=[op], comparators=[right]):
                self._operator(op, node.left, right, where, compared=True)
            case ast.UnaryOp(op=ast.USub() | ast.Invert() | ast.Not()):
                self._replace(self._of(Kind.OPERATOR, where), node, f"({self._text(node.operand)})")
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                self._replace(self._of(Kind.LITERAL, where), node, _other_number(number))
            case ast.Name() if where.kernel and COORDINATE.fullmatch(node.id) and isinstance(node.ctx, ast.Load):
                for other in self.coordinates:
                    if other != node.id:
                        self._replace(Kind.INDEX, node, other)
            case ast.Subscript():
                self._subscript(node, where)
                return
            case ast.Call():
                self._call(node, where)
                return
        for child in ast.iter_child_nodes(node):
            self._visit(child, where)

    def _of(self, kind: Kind, where: _Where) -> Kind:
        if not where.kernel:
            return Kind.SIZE
        return Kind.INDEX if where.place else kind

    def _operator(
        self, op: ast.AST, left: ast.expr, right: ast.expr, where: _Where, *, compared: bool = False
    ) -> None:  # fmt: skip
        if type(op) not in OPERATORS:
            return
        sign, other = OPERATORS[type(op)]
        between = self.bytes[self._end(left) : self._start(right)].decode()
        at = self._end(left) + between.index(sign)
        kind = Kind.COMPARISON if compared and where.kernel else self._of(Kind.OPERATOR, where)
        self._add(kind, at, at + len(sign), other)

    def _subscript(self, node: ast.Subscript, where: _Where) -> None:
        """An element of a tuple of sizes or strides, or a block with more axes."""
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            name = ast.unparse(node.value)
            kind = Kind.INDEX if where.kernel else Kind.STRIDE if "steps" in name or "outer" in name else Kind.SIZE
            self._replace(kind, node.slice, str(node.slice.value - 1 if node.slice.value else 1))
        self._visit(node.value, where)

    def _call(self, node: ast.Call, where: _Where) -> None:
        name = ast.unparse(node.func)
        arguments = list(node.args)
        if name == "float" and isinstance(arguments[0], ast.Constant):
            self._replace(Kind.LITERAL, node, SPECIAL[str(arguments[0].value)])
            return
        if name == "rounded" or (name.endswith(".to") and isinstance(node.func, ast.Attribute)):
            value = arguments[0] if name == "rounded" else node.func.value  # type: ignore[attr-defined]
            if name == "rounded" or "float" in self._text(arguments[0]):
                self._replace(Kind.ROUNDING, node, f"({self._text(value)})")
            self._visit(value, where)
            return
        short = name.removeprefix("tl.")
        if name.startswith("tl.") and short in REDUCTIONS and len(arguments) > 1:
            assert isinstance(node.func, ast.Attribute)
            end = self._end(node.func)
            self._add(Kind.REDUCTION, end - len(short), end, REDUCTIONS[short])
            if isinstance(arguments[1], ast.Constant) and isinstance(arguments[1].value, int):
                self._replace(Kind.REDUCTION, arguments[1], str(1 - arguments[1].value))
            self._visit(arguments[0], where)
            return
        if name == "tl.where":
            condition, one, other = arguments
            self._replace(Kind.MASK, node, f"({self._text(one)})")
            self._halves(condition)
            self._add(Kind.OPERANDS, self._start(one), self._end(other), f"{self._text(other)}, {self._text(one)}")
        if name in ("tl.div_rn", "libdevice.pow", "libdevice.atan2") and len(arguments) == 2:
            one, other = arguments
            self._add(Kind.OPERANDS, self._start(one), self._end(other), f"{self._text(other)}, {self._text(one)}")
        if name in ("tl.load", "tl.store"):
            self._visit(arguments.pop(0), _Where(where.kernel, place=True))
        for each in arguments:
            self._visit(each, where)
        for keyword in node.keywords:
            if keyword.arg == "mask":
                last = node.args[-1]
                self._add(Kind.MASK, self._end(last), self._end(keyword.value), "")
                self._halves(keyword.value)
            if keyword.arg != "num_warps":
                self._visit(keyword.value, where)
        self._visit(node.func, where)

    def _halves(self, condition: ast.expr) -> None:
        """A condition that has several parts without one of them."""
        if isinstance(condition, ast.BinOp) and isinstance(condition.op, ast.BitAnd):
            for left_over in (condition.left, condition.right):
                self._replace(Kind.MASK, condition, f"({self._text(left_over)})")


def _makes_a_coordinate(statement: ast.stmt) -> bool:
    """Whether a statement says which elements a program is for."""
    names = [ast.unparse(each) for each in _targets(statement)]
    return any(COORDINATE.fullmatch(each) or each.startswith(("index", "row", "column")) for each in names)


def _targets(statement: ast.stmt) -> Iterable[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else ()


def _other_number(value: int | float) -> str:
    if isinstance(value, int):
        return str(value + 1)
    if not math.isfinite(value) or value == 0:
        return "1.0"
    return repr(value * 100 if abs(value) < 0.01 else value / 2)
