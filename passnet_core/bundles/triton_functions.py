"""Find the functions of a bundle that are written in Triton. Reads syntax trees only."""

import ast
import warnings
from collections.abc import Collection, Iterator

from passnet_core.outside import syntax_tree

KERNEL_DECORATORS = frozenset({"jit", "autotune", "heuristics"})
"""What makes a function one of Triton, as a decorator or by a call with the function as its argument."""


def triton_functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Every function in the file that is decorated with triton.jit or the like, or passed to it, by name."""
    passed = passed_to_jit(tree)
    return {
        node.name: node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and is_triton_function(node, passed)
    }


def is_triton_function(function: ast.FunctionDef, passed: Collection[str]) -> bool:
    """Whether a function is in Triton. passed: what passed_to_jit says of its file."""
    return function.name in passed or any(last_name(each) in KERNEL_DECORATORS for each in function.decorator_list)


def is_constant_function(function: ast.FunctionDef) -> bool:
    """Whether a function computes constants from constants, when a kernel is compiled."""
    return any(last_name(each) == "constexpr_function" for each in function.decorator_list)


def passed_to_jit(tree: ast.Module) -> frozenset[str]:
    """The names that are passed to triton.jit or the like alone: kernel = triton.jit(function)."""
    return frozenset(
        node.args[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Name)
        and last_name(node.func) in KERNEL_DECORATORS
    )


def last_name(node: ast.expr) -> str:
    """The last name of an expression: "jit" for triton.jit, jit and triton.jit(…)."""
    match node:
        case ast.Call(func=function):
            return last_name(function)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def readable_tree(code: str) -> ast.Module:
    """The syntax tree of a file; an empty one if Python cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a bundle's string is no problem
            return syntax_tree(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements at the top level, those under try and if included."""
    pending: list[ast.stmt] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.Try):
            handled = [each for handler in node.handlers for each in handler.body]
            pending += reversed([*node.body, *handled, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.If):
            pending += reversed([*node.body, *node.orelse])
