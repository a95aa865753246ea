"""Check the functions that every pass must define, and their parameters."""

import ast
from collections.abc import Iterator, Sequence

from passnet_core.bundles.static_rules.rules import MISSING_FUNCTION, REQUIRED, SIGNATURE
from passnet_core.bundles.static_rules.scopes import Function, Module
from passnet_core.records import Finding


def required_functions(module: Module) -> Iterator[Finding]:
    star = any(
        isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names) for node in module.tree.body
    )
    for name in REQUIRED:
        if name not in module.scope.bound and not star:
            inputs = "" if name == "replacement_func" else "a, b"
            yield module.remark(
                module.tree,
                MISSING_FUNCTION,
                f"This pass has no function {name}.",
                f"Define it at the top level of the file: def {name}({inputs}).",
            )
    pattern, arguments, replacement = (module.function(name) for name in REQUIRED)
    for function in (pattern, arguments, replacement):
        if isinstance(function, ast.AsyncFunctionDef):
            yield module.remark(
                function, SIGNATURE, f"{function.name} is asynchronous.", f"Write def {function.name}(…)."
            )
    for function in (pattern, arguments):
        if function and (function.args.vararg or function.args.kwarg):
            yield module.remark(
                function,
                SIGNATURE,
                f"{function.name} takes a variable number of parameters, so its inputs are not known.",
                "Name every input.",
            )
    if pattern and arguments:
        matched, passed = parameters(pattern), parameters(arguments)
        if len(matched) != len(passed):
            yield module.remark(
                arguments,
                SIGNATURE,
                f"replacement_args takes {listed(passed)}, but pattern takes {listed(matched)}.",
                "Give both the same parameters: the inputs of the match, in the same order.",
            )
        elif matched != passed:
            yield module.remark(
                arguments,
                SIGNATURE,
                f"replacement_args names its parameters {listed(passed)}, but pattern names them {listed(matched)}. "
                "They are paired by position.",
                "Use the same names in both, so that a mix-up is visible.",
                fatal=False,
            )
    if replacement and _required_count(replacement):
        yield module.remark(
            replacement,
            SIGNATURE,
            f"replacement_func takes {listed(parameters(replacement))}, but it is called without arguments.",
            "Write def replacement_func(): and return the replacement function itself.",
        )


def parameters(function: Function) -> list[str]:
    args = function.args
    return [each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def _required_count(function: Function) -> int:
    args = function.args
    positional = len(args.posonlyargs) + len(args.args) - len(args.defaults)
    return positional + sum(default is None for default in args.kw_defaults)


def listed(names: Sequence[str]) -> str:
    return f"({', '.join(names)})"
