"""Make one bundle of passes from several. Nothing is imported."""

import ast
from collections.abc import Mapping, Sequence

from passnet_core.graphs.spelling import Names
from passnet_core.outside import syntax_tree
from passnet_core.records import Bundle, PassFile


def with_passes(bundle: Bundle, names: Sequence[str]) -> Bundle:
    """The bundle with these of its passes only, named without ".py", and the helpers that they need."""
    passes = tuple(each for each in bundle.passes if each.name.removesuffix(".py") in names)
    helpers = {each.name.removesuffix(".py"): each for each in bundle.files if each not in passes}
    needed: dict[str, PassFile] = {}
    open_files = list(passes)
    while open_files:
        for name in sorted(imported_names(open_files.pop().code) & helpers.keys() - needed.keys()):
            needed[name] = helpers[name]
            open_files.append(helpers[name])
    return Bundle(passes, tuple(needed[name] for name in sorted(needed)), bundle.author)


def merged(bundles: Sequence[Bundle], author: str = "") -> Bundle:
    """One bundle with the passes of all, in their order. Files that are equal are shared; others of equal names get
    another name, and those who import them are told so."""
    taken = Names(())
    kept: dict[tuple[str, str], str] = {}
    passes: list[PassFile] = []
    helpers: dict[str, PassFile] = {}
    for bundle in bundles:
        renamed: dict[str, str] = {}
        own = {each.name.removesuffix(".py") for each in bundle.files}
        for file in _imported_first(bundle):
            stem = file.name.removesuffix(".py")
            code = _renaming(file.code, {old: new for old, new in renamed.items() if old != new and old in own})
            is_pass = file in bundle.passes
            known = None if is_pass else kept.get((stem, code))
            renamed[stem] = known or taken.free(stem)
            made = PassFile(f"{renamed[stem]}.py", code)
            if is_pass:
                passes.append(made)
            elif known is None:
                kept[stem, code] = renamed[stem]
                helpers[made.name] = made
    return Bundle(tuple(passes), tuple(helpers.values()), author)


def imported_names(code: str) -> set[str]:
    """The first parts of the modules that a file imports, without pass_dir. Empty for a file that cannot be read."""
    try:
        found = ast.walk(syntax_tree(code))
    except (SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in found:
        if isinstance(node, ast.Import):
            names.update(_module(each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "pass_dir":
            names.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(_module(node.module))
    return names


def _module(dotted: str) -> str:
    return dotted.removeprefix("pass_dir.").partition(".")[0]


def _imported_first(bundle: Bundle) -> list[PassFile]:
    """The files, each after those that it imports; passes among each other in their order."""
    by_name = {each.name.removesuffix(".py"): each for each in bundle.files}
    ordered: list[PassFile] = []
    met: set[str] = set()

    def visit(name: str) -> None:
        if name not in met:
            met.add(name)
            for other in sorted(imported_names(by_name[name].code) & by_name.keys()):
                visit(other)
            ordered.append(by_name[name])

    for each in (*bundle.passes, *bundle.helpers):
        visit(each.name.removesuffix(".py"))
    return ordered


def _renaming(code: str, names: Mapping[str, str]) -> str:
    """The code with imports of these modules under their new names; the rest reads as before."""
    if not names or not imported_names(code) & names.keys():
        return code
    lines = code.splitlines(keepends=True)
    for node in ast.walk(syntax_tree(code)):
        if isinstance(node, ast.Import):
            for each in node.names:
                if new := names.get(_module(each.name)):
                    _replace(lines, each, each.name, _import_text(each, _module(each.name), new))
        elif isinstance(node, ast.ImportFrom) and node.module == "pass_dir":
            for each in node.names:
                if new := names.get(each.name):
                    _replace(lines, each, each.name, f"{new} as {each.name}" if each.asname is None else new)
        elif isinstance(node, ast.ImportFrom) and node.module and (new := names.get(_module(node.module))):
            _replace(lines, node, node.module, node.module.replace(_module(node.module), new, 1), after=len("from "))
    return "".join(lines)


def _import_text(alias: ast.alias, old: str, new: str) -> str:
    renamed = alias.name.replace(old, new, 1)
    return f"{renamed} as {alias.name}" if alias.asname is None and alias.name == old else renamed


def _replace(lines: list[str], node: ast.alias | ast.stmt, old: str, new: str, after: int = 0) -> None:
    """Put the new text in place of the old one's first occurrence in the line, after where the node begins."""
    row = node.lineno - 1
    # columns count bytes
    line = lines[row].encode()
    start = node.col_offset + after
    lines[row] = line[:start].decode() + line[start:].decode().replace(old, new, 1)
