"""The lines of a pass file that a reader looks for first: the pattern, and the kernels of the file."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from passnet_core.bundles.triton_functions import readable_tree, triton_functions


@dataclass(frozen=True)
class Excerpt:
    """Some functions of a file, unchanged. text: the kernels. lines: how many they and the pattern have. body: how many
    are inside of the kernels, without decorator and signature. hidden: how many lines of the file are not in text. None
    of these counts empty lines. kernels: how many functions of Triton there are."""

    text: str
    lines: int
    body: int
    hidden: int
    kernels: int


def kernels_of(code: str) -> Excerpt:
    """Return the functions written in Triton, in the order of the file; all of the code if it has none or is not valid
    Python."""
    tree = readable_tree(code)
    written = triton_functions(tree)
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    kernels = [each for each in functions if written.get(each.name) is each]
    lines = code.splitlines()

    def lines_of(function: ast.FunctionDef) -> list[str]:
        return lines[_first(function) - 1 : function.end_lineno]

    parts = [lines_of(each) for each in kernels] or [lines]
    shown = sum(map(_filled, parts))
    pattern = sum(_filled(lines_of(each)) for each in functions if each.name == "pattern" and each not in kernels)
    body = sum(_filled(lines[each.body[0].lineno - 1 : each.end_lineno]) for each in kernels)
    text = "\n\n\n".join("\n".join(part) for part in parts) + "\n"
    return Excerpt(text, shown + pattern if kernels else shown, body, _filled(lines) - shown, len(kernels))


def _first(function: ast.FunctionDef) -> int:
    """The line of the function's first decorator, or of the function."""
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _filled(lines: Sequence[str]) -> int:
    return sum(bool(line.strip()) for line in lines)
