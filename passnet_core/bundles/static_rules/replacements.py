"""Check the cap on replacement functions: find those that the passes return, through imports and assignments."""

import ast
from collections.abc import Iterable, Iterator, Sequence

from passnet_core.bundles.static_rules.rules import REPLACEMENT_CAP
from passnet_core.bundles.static_rules.scopes import Module, Origin
from passnet_core.records import Finding


def over_cap(passes: Sequence[Module], modules: dict[str, Module], cap: int) -> Iterator[Finding]:
    """Yield a finding for each replacement function beyond the cap, at the pass that returns it first."""
    seen: list[str] = []
    for module in passes:
        for function in sorted(returned_functions(module, modules)):
            if function in seen:
                continue
            seen.append(function)
            if len(seen) > cap:
                yield module.remark(
                    module.function("replacement_func") or module.tree,
                    REPLACEMENT_CAP,
                    f"{function} is replacement function number {len(seen)}, but this evaluation allows at most {cap}.",
                    "Return one shared function from every pass. It can branch on a literal from replacement_args.",
                )


def returned_functions(module: Module, modules: dict[str, Module]) -> set[str]:
    """Find the functions that replacement_func may return, as "file.function"; replacement_func itself if unknown."""
    function = module.function("replacement_func")
    own = f"{module.file.name.removesuffix('.py')}.replacement_func"
    if function is None:
        return _defined(module, "replacement_func", modules) or {own}
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    found: set[str] = set()
    for value in returned:
        if isinstance(value, ast.Name):
            found |= _defined(module, value.id, modules)
        elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
            found |= _defined(module, value.value.id, modules, value.attr)
    return found or {own}


def _defined(
    module: Module,
    name: str,
    modules: dict[str, Module],
    attribute: str = "",
    seen: frozenset[tuple[str, str]] = frozenset(),
) -> set[str]:
    """Find where the bundle defines a name, through imports and plain assignments."""
    stem = module.file.name.removesuffix(".py")
    if (stem, name) in seen or len(seen) > 8:
        return set()
    seen |= {(stem, name)}
    found: set[str] = set()
    for binding in dict.fromkeys(_referents(module.scope.bound.get(name, ()))):
        if isinstance(binding, Origin):
            path = ".".join(filter(None, (binding.path.removeprefix("pass_dir."), attribute)))
            parts = path.split(".")
            if parts[0] in modules and len(parts) > 1:
                found |= _defined(modules[parts[0]], parts[1], modules, seen=seen) or {".".join(parts[:2])}
            else:
                found.add(path)
        elif isinstance(binding, str):
            found |= _defined(module, binding, modules, attribute, seen)
        else:
            found.add(f"{stem}.{name}")
    return found


def _referents(bindings: Iterable[ast.expr | Origin | None]) -> Iterator[Origin | str | None]:
    """Yield what each binding refers to: an import, another name, or None for anything else."""
    for each in bindings:
        yield each if isinstance(each, Origin) else each.id if isinstance(each, ast.Name) else None
