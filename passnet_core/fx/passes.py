"""Import the passes of a bundle: trace their patterns, and find their replacement functions and hooks."""

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from passnet_core.fx import tracing
from passnet_core.fx.loading import LoadProblem, imported, place_of
from passnet_core.fx.modules import Function, Hook
from passnet_core.graphs.ir import Graph, Ref
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.records import PassFile

NEEDED = ("pattern", "replacement_args", "replacement_func")


class UntraceablePattern(Exception):
    """A function of a pass that torch.fx could not trace. The cause says why."""


@dataclass(frozen=True)
class ImportedPasses:
    """The passes of a bundle, and their functions. replacements, hooks: by the replacement's key in the passes.

    warnings: sentences. renewed: the files whose replacement_func() returns a new object in each call."""

    passes: tuple[TracedPass, ...]
    replacements: dict[str, Function]
    hooks: dict[str, Hook]
    warnings: tuple[str, ...]
    renewed: tuple[str, ...]


def _as_it_is(function: Function) -> Function:
    return function


def imported_passes(
    files: Sequence[PassFile],
    folder: Path,
    *,
    importing: Callable[[], AbstractContextManager[None]] = nullcontext,
    calling: Callable[[Function], Function] = _as_it_is,
    replacing: Callable[[Function], Function] = _as_it_is,
) -> ImportedPasses:
    """Import these files, which lie in folder and are importable from there, and trace their passes.

    importing: a context for each import. calling: what each of the bundle's functions becomes before it is called.
    replacing: what each replacement function becomes. Raises LoadProblem, UntraceablePattern, and what the files
    raise."""
    passes: list[TracedPass] = []
    replacements: dict[str, Function] = {}
    warnings: list[str] = []
    renewed: list[str] = []
    keys: dict[int, str] = {}
    sharing: dict[str, list[tuple[str, Hook | None]]] = {}
    for file in files:
        with importing():
            module = imported(folder / file.name)
        replacement = _replacement(module, file.name, calling)
        if calling(module.replacement_func)() is not replacement:
            renewed.append(file.name)
        key = keys.setdefault(id(replacement), f"replacement_{len(keys)}")
        replacements[key] = replacing(replacement)
        pattern = _traced(tracing.trace_pattern, module.pattern, f"pattern() of {file.name}")
        arguments = _traced(tracing.trace_arguments, module.replacement_args, f"replacement_args() of {file.name}")
        passes.append(TracedPass(Path(file.name).stem, pattern, arguments, key))
        hook = _hook(module, arguments)
        if hook is None and callable(getattr(module, "prepare", None)):
            warnings.append(f"prepare() of {file.name} is not called: its only parameter has to be named weights.")
        sharing.setdefault(key, []).append((file.name, hook))
    hooks = {key: hook for key, each in sharing.items() if (hook := _shared_hook(each)) is not None}
    hooks = {key: replace(hook, prepare=calling(hook.prepare)) for key, hook in hooks.items()}
    return ImportedPasses(tuple(passes), replacements, hooks, tuple(warnings), tuple(renewed))


def _replacement(module: ModuleType, file: str, calling: Callable[[Function], Function]) -> Function:
    missing = [each for each in NEEDED if not callable(getattr(module, each, None))]
    if missing:
        raise LoadProblem(f"{file} does not define {missing[0]}(). A pass defines {', '.join(NEEDED)}.")
    replacement: Any = calling(module.replacement_func)()
    if not callable(replacement):
        what = "None" if replacement is None else f"a {type(replacement).__name__}"
        raise LoadProblem(
            f"replacement_func() of {file} returns {what} instead of a function. Name the replacement"
            " instead of calling it: return replacement.",
            place_of(module.replacement_func),
        )
    return replacement


def _shared_hook(sharing: Sequence[tuple[str, Hook | None]]) -> Hook | None:
    """The hook of the passes that share a replacement. Raises LoadProblem if they do not agree."""
    file, hook = sharing[0]
    other = next((name for name, each in sharing if each != hook), None)
    if other:
        raise LoadProblem(
            f"{file} and {other} share a replacement, but not prepare() and the arguments it prepares. Give both the"
            " same, or give each its own replacement."
        )
    return hook


def _traced(trace: Callable[[Callable[..., Any]], Any], function: Callable[..., Any], label: str) -> Any:
    try:
        return trace(function)
    except Exception as error:  # the function is candidate code
        raise UntraceablePattern(f"{label} cannot be traced: {error}") from error


def _hook(module: ModuleType, arguments: Graph) -> Hook | None:
    """The hook prepare(weights) of a pass, or None. A prepare() with other parameters is not a hook."""
    prepare = getattr(module, "prepare", None)
    if not inspect.isfunction(prepare) or list(inspect.signature(prepare).parameters) != ["weights"]:
        return None
    inputs = {node.name for node in arguments.inputs}
    result = arguments.result if isinstance(arguments.result, tuple) else (arguments.result,)
    names = (each.name if isinstance(each, Ref) and each.name in inputs else "" for each in result)
    return Hook(prepare, tuple(names))
