"""Functions that many passes of the rules need, and that each has in its own file: for sizes and tiles of launches, and
for values to the last bit as eager has them. They import torch and triton, so the package reads them as text."""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from passnet_core.outside import syntax_tree

FOLDER = Path(__file__).with_name("helper_files")
FILES = ("numerics.py", "launch_sizes.py")
KERNEL = "@triton.jit\n"


@cache
def library() -> Mapping[str, str]:
    """All definitions by name, functions and constants, in an order in which each follows what it is made of."""
    found: dict[str, str] = {}
    for file in FILES:
        code = (FOLDER / file).read_text(encoding="utf-8")
        lines = code.splitlines()
        name = ""
        for node in syntax_tree(code).body:
            decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            text = "\n".join(lines[min([node.lineno, *(each.lineno for each in decorators)]) - 1 : node.end_lineno])
            match node:
                case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                    found[name] = text
                case ast.Expr() if name:
                    # what a constant is, in the line below it
                    found[name] += f"\n{text}"
    return MappingProxyType(found)


def needed(code: str) -> dict[str, str]:
    """The definitions that code needs, each with those that it needs itself, in the order of the library."""
    wanted: set[str] = set()
    waiting = [code]
    while waiting:
        for name in names_in(waiting.pop()) & library().keys() - wanted:
            wanted.add(name)
            waiting.append(library()[name])
    return {name: text for name, text in library().items() if name in wanted}


def names_in(code: str) -> set[str]:
    """The names that code reads or writes."""
    return {each.id for each in ast.walk(syntax_tree(code)) if isinstance(each, ast.Name)}


def below_each_other(definitions: Mapping[str, str]) -> str:
    """Functions and constants as they stand in a file."""
    lines: list[str] = []
    short = True
    for text in definitions.values():
        was_short, short = short, not text.startswith(("def ", "@"))
        if lines:
            lines += [] if short and was_short and "\n" not in text else [""] if short and was_short else ["", ""]
        lines.append(text)
    return "\n".join(lines)
