"""Which files of a bundle are loaded: the passes, and the helpers that they import, directly or through others."""

import ast
from collections.abc import Iterator

from passnet_core.bundles.static_rules.scopes import imported_from, parsed
from passnet_core.records import Bundle, PassFile

BY_NAME = frozenset({"import_module", "__import__", "spec_from_file_location"})
"""Functions that import what a string names."""


def never_loaded(bundle: Bundle) -> tuple[PassFile, ...]:
    """Return the files that are no passes and that no loaded file imports, such as passes left over from before."""
    left = {file.name.removesuffix(".py"): file for file in bundle.helpers}
    pending = list(bundle.passes)
    while pending and left:
        pending += [left.pop(name) for name in set(_imported(pending.pop())) & left.keys()]
    return tuple(left.values())


def _imported(file: PassFile) -> Iterator[str]:
    """Yield the names of the modules that a file imports anywhere, without the package pass_dir; none if it cannot be
    parsed."""
    tree = parsed(file)
    for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
        match node:
            case ast.Import(names=names):
                yield from (_module(alias.name) for alias in names)
            case ast.ImportFrom(names=names):
                yield from (_module(f"{imported_from(node)}.{alias.name}") for alias in names)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in BY_NAME:
                texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
                yield from (_module(each.removesuffix(".py")) for each in texts if isinstance(each, str))


def _module(path: str) -> str:
    return path.removeprefix("pass_dir.").partition(".")[0]
