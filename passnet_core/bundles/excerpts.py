"""The lines of a pass file that a reader looks for first: the pattern, and the kernels of the file."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from passnet_core.bundles.triton_functions import readable_tree, triton_functions


@dataclass(frozen=True)
class Excerpt:
    """Some lines of a file, unchanged. lines: how many they are; hidden: how many others the file has. Neither counts
    empty lines. kernels: how many functions of Triton are among them."""

    text: str
    lines: int
    hidden: int
    kernels: int


def pattern_and_kernels(code: str) -> Excerpt:
    """Return the function `pattern` and the functions written in Triton, in the order of the file; all of the code if
    it has none of them or is not valid Python."""
    tree = readable_tree(code)
    kernels = triton_functions(tree)
    wanted = [
        each
        for each in tree.body
        if isinstance(each, ast.FunctionDef) and (each.name == "pattern" or kernels.get(each.name) is each)
    ]
    lines = code.splitlines()
    parts = [lines[_first(each) - 1 : each.end_lineno] for each in wanted] or [lines]
    shown = sum(map(_filled, parts))
    text = "\n\n\n".join("\n".join(part) for part in parts) + "\n"
    return Excerpt(text, shown, _filled(lines) - shown, sum(each.name in kernels for each in wanted))


def _first(function: ast.FunctionDef) -> int:
    """The line of the function's first decorator, or of the function."""
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _filled(lines: Sequence[str]) -> int:
    return sum(bool(line.strip()) for line in lines)
