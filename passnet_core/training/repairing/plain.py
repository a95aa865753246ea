"""The rules' passes as persons write them, for training: without what explains them, in several styles."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from passnet_core.records import Bundle, PassFile
from passnet_core.solvers.rules.formatting import wrapped
from passnet_core.solvers.rules.helpers import KERNEL, below_each_other, library, names_in, needed

HELPER = "launch_sizes.py"
"""The name of the helper module, where a bundle has one."""


@dataclass(frozen=True)
class Style:
    """One way to write the same passes, so that conversations at one task differ.

    inputs, values: the beginnings of the names of inputs and of computed values. function: the beginning of the names
    of wrappers, kernels and files. helper: whether what works out sizes lies in a module of its own."""

    inputs: str = "in_"
    values: str = "tmp_"
    function: str = ""
    helper: bool = False


INPUTS = ("in_", "x_", "arg_", "input_", "src_", "operand_")
VALUES = ("tmp_", "val_", "mid_", "node_", "step_")
FUNCTIONS = ("", "fused_", "triton_", "fast_", "one_pass_")
STYLES = tuple(
    Style(inputs, values, function, helper)
    for inputs in INPUTS
    for values in VALUES
    for function in FUNCTIONS
    for helper in (False, True)
)
"""All ways; the order says nothing."""

Definitions = dict[str, str]
"""Functions and constants by name, in their order."""


def plain(bundle: Bundle, style: Style) -> Bundle | None:
    """The bundle in a style, with the same kernels. None if a pass launches no kernel, or chooses between several forms
    when it is called."""
    passes: list[PassFile] = []
    moved: Definitions = {}
    for file in bundle.passes:
        name = file.name.removesuffix(".py")
        head, definitions = _parts(file.code)
        kernels = [text for each, text in definitions.items() if text.startswith(KERNEL) and each not in library()]
        if not kernels or f"{name}_1" in definitions:
            return None
        of_host = {
            each: text
            for each, text in definitions.items()
            if style.helper and each in library() and not text.startswith(KERNEL)
        }
        # what a kernel calls lies in its file
        own = {each: text for each, text in definitions.items() if each not in of_host}
        host = of_host | {each: definitions[each] for each in needed("\n".join(of_host.values()))}
        moved |= host
        code = "\n\n\n".join(["\n".join([*_imports(head, own), *_imported(host, own)]), below_each_other(own)])
        passes.append(PassFile(style.function + file.name, _styled(f"{code}\n", name, style)))
    moved = {each: moved[each] for each in library() if each in moved}
    helper = PassFile(HELPER, "\n\n\n".join(["\n".join(_imports(IMPORTS, moved)), below_each_other(moved)]) + "\n")
    return Bundle(tuple(passes), (helper,) if moved else (), "scripted")


IMPORTS = ("import math", "import torch", "import triton", "import triton.language as tl")


def _parts(code: str) -> tuple[list[str], Definitions]:
    """The lines that import, and functions and constants without docstrings and comments."""
    head: list[str] = []
    definitions: Definitions = {}
    for node in ast.parse(code).body:
        match node:
            case ast.Import() | ast.ImportFrom():
                head.append(_text(code, node))
            case ast.FunctionDef(name=name):
                definitions[name] = _bare(code, node)
            case ast.Assign(targets=[ast.Name(id=name)]):
                definitions[name] = _text(code, node)
    return head, definitions


def _imports(head: Sequence[str], own: Definitions) -> Iterator[str]:
    """The imports that these definitions need."""
    names = set().union(*map(names_in, own.values()))
    for line in head:
        if (bound := re.split(r"\W+", line)[-1]) in names or bound == "torch":
            yield line


def _imported(host: Definitions, own: Definitions) -> Iterator[str]:
    """The line that imports of the helper module what these definitions name."""
    if used := sorted(host.keys() & set().union(*map(names_in, own.values()))):
        yield f"from {HELPER.removesuffix('.py')} import {', '.join(used)}"


def _text(code: str, node: ast.stmt) -> str:
    """The source of a statement, with its decorators."""
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    return "\n".join(code.splitlines()[first - 1 : node.end_lineno])


def _bare(code: str, function: ast.FunctionDef) -> str:
    """The source of a function without its docstring and comments."""
    lines = code.splitlines()
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        assert first.end_lineno is not None
        lines[first.lineno - 1 : first.end_lineno] = [""] * (first.end_lineno - first.lineno + 1)
    kept = [line for line in _text("\n".join(lines), function).splitlines() if line.strip()]
    kept = [line.replace("  # fmt: skip", "") for line in kept]
    return "\n".join(line for line in kept if not line.lstrip().startswith("#"))


def _styled(code: str, name: str, style: Style) -> str:
    """The pass with the names of a style."""
    code = re.sub(r"\bin_(?=\d)", style.inputs, code)
    code = re.sub(r"\bIN_(?=\d)", style.inputs.upper(), code)
    code = re.sub(r"\btmp_(?=\d)", style.values, code)
    code = re.sub(r"\bTMP_(?=\d)", style.values.upper(), code)
    if style.function:
        code = re.sub(rf"(?<![\w.]){re.escape(name)}(?=\(|\n|_kernel)", style.function + name, code)
    return wrapped(code)
