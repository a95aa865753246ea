"""A launcher for bundles whose replacement functions themselves are called, as by PassNet's own harness."""

import ast
from dataclasses import replace
from pathlib import Path

from passnet_core.bundles.triton_functions import triton_functions
from passnet_core.errors import BadInput
from passnet_core.outside import syntax_tree
from passnet_core.records import Bundle, PassFile

NAME = "launching.py"
FILE = Path(__file__).with_name("launcher_file") / NAME
"""It imports torch and triton, so the package reads it as text."""
IMPORT = "from launching import lean"


def launcher() -> PassFile:
    """The helper module that keeps compiled kernels, and launches them without looking for them anew."""
    return PassFile(NAME, FILE.read_text(encoding="utf-8"))


def with_launcher(bundle: Bundle) -> Bundle:
    """The bundle with the launcher: kernel[grid](...) becomes lean(kernel)[grid](...). Raises BadInput if one of its
    files has the launcher's name."""
    if any(file.name == NAME for file in bundle.files):
        raise BadInput(f"The bundle has a file named {NAME} already. Write it without a launcher.")
    kernels = {name for file in bundle.files for name in triton_functions(syntax_tree(file.code))}
    passes, helpers = (tuple(_leaner(file, kernels) for file in files) for files in (bundle.passes, bundle.helpers))
    return replace(bundle, passes=passes, helpers=(*helpers, launcher()))


def _leaner(file: PassFile, kernels: set[str]) -> PassFile:
    """The file with its launches of these kernels by the launcher."""
    tree = syntax_tree(file.code)
    lines = file.code.splitlines(keepends=True)
    launched = [
        each.func.value
        for each in ast.walk(tree)
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Subscript)
        and isinstance(each.func.value, ast.Name)
        and each.func.value.id in kernels
    ]
    if not launched:
        return file
    for name in sorted(launched, key=lambda each: (each.lineno, each.col_offset), reverse=True):
        # columns are counted in bytes
        line = lines[name.lineno - 1].encode()
        end = name.col_offset + len(name.id.encode())
        changed = line[: name.col_offset] + f"lean({name.id})".encode() + line[end:]
        lines[name.lineno - 1] = changed.decode()
    last = max(each.end_lineno or 0 for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom))
    lines.insert(last, f"{IMPORT}\n")
    return PassFile(file.name, "".join(lines))
