"""Alter one place of a lesson's solution, as a learner may get it wrong: an operator, an axis, a literal, a mask, a
dtype, an argument or a return.

Text in, text out: nothing is imported or run. Kernels are altered as in mutating.py."""

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from passnet_core.records import Bundle, PassFile
from tests.redteam.mutating import OPERATORS, chosen, mutations

FUNCTIONS = {"silu": "gelu", "gelu": "silu", "sigmoid": "tanh", "tanh": "sigmoid", "rsqrt": "sqrt", "exp": "exp2"}
"""What a learner may take for a function; any other becomes OTHER."""
OTHER = "abs"
DTYPES = {"float32": "float16", "float16": "bfloat16", "bfloat16": "float16"}


@dataclass(frozen=True)
class Altered:
    """A solution with one alteration. words: what it alters, as "swiglu.py, line 10, return: a -> b"."""

    words: str
    bundle: Bundle


def altered(solution: Bundle, count: int, chance: random.Random) -> list[Altered]:
    """So many alterations of a solution, or all that there are: half of them in kernels."""
    in_kernels, elsewhere = [], []
    for file in solution.files:
        for each in chosen(mutations(file.code), count, chance):
            words = f"{file.name}, line {each.line}, {each.kind}: {each.before!r} -> {each.after!r}"
            in_kernels.append(Altered(words, _with(solution, file, each.applied(file.code))))
        elsewhere += [
            Altered(f"{file.name}, {words}", _with(solution, file, code)) for words, code in _others(file.code)
        ]
    chance.shuffle(in_kernels)
    chance.shuffle(elsewhere)
    half = max(count // 2, count - len(elsewhere))
    kernels = in_kernels[:half]
    return [*kernels, *elsewhere[: count - len(kernels)]]


def _with(bundle: Bundle, file: PassFile, code: str) -> Bundle:
    def changed(files: tuple[PassFile, ...]) -> tuple[PassFile, ...]:
        return tuple(replace(each, code=code) if each is file else each for each in files)

    return replace(bundle, passes=changed(bundle.passes), helpers=changed(bundle.helpers))


def _others(code: str) -> Iterator[tuple[str, str]]:
    """Alterations outside of kernels, with what they alter."""
    tree = ast.parse(code)
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name != "replacement_func":
            is_kernel = any("jit" in ast.unparse(each) for each in function.decorator_list)
            for node in ast.walk(function):
                yield from _of_node(code, function, node, is_kernel=is_kernel)


def _of_node(code: str, function: ast.FunctionDef, node: ast.AST, *, is_kernel: bool) -> Iterator[tuple[str, str]]:
    def told(node: ast.expr, new: str, what: str) -> tuple[str, str]:
        old = ast.get_source_segment(code, node) or ""
        return f"line {node.lineno}, {what}: {old!r} -> {new!r}", _replaced(code, node, new)

    def text(node: ast.expr) -> str:
        return ast.get_source_segment(code, node) or ""

    match node:
        case ast.Attribute(attr=name) if is_kernel and name in DTYPES:
            yield told(node, f"{text(node.value)}.{DTYPES[name]}", "dtype")
        case _ if is_kernel:
            return
        case ast.Return(value=ast.Tuple(elts=[one, other])):
            assert node.value is not None
            yield told(node.value, f"{text(other)}, {text(one)}", "return")
            yield told(node.value, text(one), "return")
        case ast.Return(value=ast.Name(id=name) as value):
            for given in sorted({each.arg for each in function.args.args} - {name})[:2]:
                yield told(value, given, "return")
        case ast.BinOp() if function.name == "pattern":
            sign, instead = OPERATORS.get(type(node.op), ("", ""))
            if sign:
                yield told(node, f"{text(node.left)} {instead} {text(node.right)}", "operator")
                if not isinstance(node.op, ast.Add | ast.Mult):
                    yield told(node, f"{text(node.right)} {sign} {text(node.left)}", "operands")
        case ast.Constant(value=int() | float() as number) if function.name == "pattern" and not isinstance(
            number, bool
        ):
            yield told(node, str(number + 1) if isinstance(number, int) else repr(number * 1.5), "literal")
        case ast.Call(func=ast.Attribute(attr=name) as called) if function.name == "pattern":
            yield told(called, f"{text(called.value)}.{FUNCTIONS.get(name, OTHER)}", "function")


def _replaced(code: str, node: ast.expr, new: str) -> str:
    lines = code.splitlines(keepends=True)
    assert node.end_lineno is not None
    first, last = lines[node.lineno - 1].encode(), lines[node.end_lineno - 1].encode()
    middle = first[: node.col_offset].decode() + new + last[node.end_col_offset :].decode()
    return "".join([*lines[: node.lineno - 1], middle, *lines[node.end_lineno :]])
