"""The rules' passes in the form of the contract: one wrapper that allocates, launches and returns.

The rules write passes that keep the plan of a launch, with three helper modules of general use. A conversation for
training should show a pass as a person writes it: kernel[grid](...), and of the helpers only what the pass needs."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from passnet_core.bundles import carried
from passnet_core.records import Bundle, PassFile
from passnet_core.solvers.rules.formatting import wrapped

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


def plain(bundle: Bundle, style: Style) -> Bundle | None:
    """The bundle in a style, with the same kernels. None if a pass launches no kernel, or chooses between several forms
    when it is called."""
    passes: list[PassFile] = []
    needed: dict[str, str] = {}
    for file in bundle.passes:
        found = _plain(file.code)
        if found is None:
            return None
        code, helpers = found
        # kernels have to lie in the file of the pass, with their constants
        host = {name: text for name, text in helpers.items() if style.helper and not text.startswith("@triton.jit")}
        own = {name: text for name, text in helpers.items() if name not in host}
        needed |= host
        code = _with_helpers(code, own, sorted(_names(code + "\n".join(own.values())) & host.keys()))
        passes.append(PassFile(style.function + file.name, _styled(code, file.name.removesuffix(".py"), style)))
    helper = (PassFile(HELPER, _module(needed)),) if needed else ()
    return Bundle(tuple(passes), helper, "scripted")


# --- one pass ---


def _plain(code: str) -> tuple[str, dict[str, str]] | None:
    """The pass without plans, and what it needs of the helper modules, by name."""
    tree = ast.parse(code)
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    wrapper = next((each for each in functions.values() if _is_decorated(each, "torch.fx.wrap")), None)
    plan = functions.get("planned")
    kernels = [each for each in functions.values() if _is_decorated(each, "triton.jit")]
    if plan is None or wrapper is None or not kernels or "plan_1" in functions:
        return None
    body = list(_launching(code, plan))
    last = wrapper.body[-1]
    assert isinstance(last, ast.Return)
    body.append(f"    {_text(code, last)}")
    arguments = ", ".join(each.arg for each in wrapper.args.args)
    head = f"@torch.fx.wrap\ndef {wrapper.name}({arguments}):"
    parts = [
        *(_bare(code, functions[name]) for name in ("pattern", "replacement_args")),
        *(_bare(code, each) for each in kernels),
        "\n".join([head, *body]),
        _text(code, functions["replacement_func"]),
    ]
    made = "\n\n\n".join(parts)
    imports = [
        _text(code, each)
        for each in tree.body
        if isinstance(each, ast.Import)
        or (isinstance(each, ast.ImportFrom) and each.module not in ("launching", "numerics", "planning"))
    ]
    needed = _closure(made)
    if any("libdevice." in each for each in needed.values()) and not any("libdevice" in each for each in imports):
        imports.append("from triton.language.extra import libdevice")
    return "\n".join(imports) + f"\n\n\n{made}\n", needed


def _launching(code: str, plan: ast.FunctionDef) -> Iterator[str]:
    """The lines that allocate and launch, from those of the function that plans it."""
    constants: dict[str, str] = {}
    for statement in plan.body:
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Return():
                continue
            case ast.Assign(targets=[ast.Name(id="constants")], value=ast.Dict(keys=keys, values=values)):
                names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
                constants = dict(zip(names, (ast.unparse(each) for each in values), strict=True))
            case ast.Assign(
                value=ast.Call(func=ast.Name(id="Launch"), args=[kernel, grid, given, _], keywords=options)
            ):
                assert isinstance(given, ast.Tuple)
                yield f"    {ast.unparse(kernel)}[{ast.unparse(grid)}]("
                yield f"        {', '.join(map(ast.unparse, given.elts))},"
                for name, value in constants.items():
                    yield f"        {name}={_short(value)},"
                for option in options:
                    yield f"        {option.arg}={ast.unparse(option.value)},"
                yield "    )"
            case _:
                yield from (
                    f"    {line}" if number == 0 else line
                    for number, line in enumerate(_text(code, statement).splitlines())
                )


def _short(value: str) -> str:
    """(*outer,) is what merged() returned."""
    found = re.fullmatch(r"\(\*(\w+),\)", value)
    return found[1] if found else value


def _is_decorated(function: ast.FunctionDef, name: str) -> bool:
    return any(ast.unparse(each) == name for each in function.decorator_list)


def _text(code: str, node: ast.stmt) -> str:
    """The source of a statement, with its decorators."""
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    lines = code.splitlines()[first - 1 : node.end_lineno]
    return "\n".join([lines[0].lstrip(), *lines[1:]])


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


# --- what it needs of the helper modules ---


def _library() -> Mapping[str, str]:
    """The definitions of the helper modules, by name, in their order."""
    found: dict[str, str] = {}
    for file in (carried.planning(), carried.numerics()):
        for node in ast.parse(file.code).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = _bare(file.code, node)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = _text(file.code, node)
    return found


def _closure(code: str) -> dict[str, str]:
    """The definitions that the code needs, each with those that it needs itself, in the order of the modules."""
    library = _library()
    wanted: set[str] = set()
    waiting = [code]
    while waiting:
        text = waiting.pop()
        for name in _names(text) & library.keys() - wanted:
            wanted.add(name)
            waiting.append(library[name])
    return {name: text for name, text in library.items() if name in wanted}


def _names(code: str) -> set[str]:
    return {each.id for each in ast.walk(ast.parse(code)) if isinstance(each, ast.Name)}


def _with_helpers(code: str, own: Mapping[str, str], imported: Sequence[str]) -> str:
    """The pass with these definitions before its pattern, and these names from the helper module."""
    at = code.index("\n\n\ndef pattern(")
    head, rest = code[:at], code[at:]
    if imported:
        head += f"\nfrom {HELPER.removesuffix('.py')} import {', '.join(imported)}"
    return "\n".join([head, *_defined(own)]) + rest


def _defined(definitions: Mapping[str, str]) -> Iterator[str]:
    """The lines of constants and functions, below each other as is usual."""
    before = ""
    for text in definitions.values():
        is_function = text.startswith(("def ", "@"))
        yield from ("", "") if is_function or before.startswith(("def ", "@")) else ("",) if not before else ()
        yield text
        before = text


def _module(needed: Mapping[str, str]) -> str:
    """The helper module with these definitions."""
    names = set().union(*(_names(text) for text in needed.values()))
    imports = [line for name, line in IMPORTS.items() if name in names]
    return "\n".join([*imports, *_defined(needed)]) + "\n"


IMPORTS = {
    "math": "import math",
    "torch": "import torch",
    "triton": "import triton",
    "tl": "import triton.language as tl",
}


# --- style ---


def _styled(code: str, name: str, style: Style) -> str:
    """The pass with the names of a style."""
    code = re.sub(r"\bin_(?=\d)", style.inputs, code)
    code = re.sub(r"\bIN_(?=\d)", style.inputs.upper(), code)
    code = re.sub(r"\btmp_(?=\d)", style.values, code)
    code = re.sub(r"\bTMP_(?=\d)", style.values.upper(), code)
    if style.function:
        code = re.sub(rf"(?<![\w.]){re.escape(name)}(?=\(|\n|_kernel)", style.function + name, code)
    return wrapped(code)
