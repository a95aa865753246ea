"""What a kernel consists of in a bundle's sources: its function, and all that it names, directly or not. Reads the
files and executes nothing."""

import ast
from collections.abc import Iterator
from pathlib import Path


def source_of(function: str, file: Path) -> str:
    """The text of a function of the bundle, followed by that of the top-level definitions and imports that it uses."""
    found: dict[tuple[str, str], str] = {}
    pending = [(file, function)]
    while pending:
        at, name = pending.pop(0)
        if (at.name, name) in found:
            continue
        texts: list[str] = []
        for text, node in _definitions(at, name):
            texts.append(text)
            pending += [(at, each.id) for each in ast.walk(node) if isinstance(each, ast.Name) and each.id != name]
            pending += _other_files(node, name, at)
        found[at.name, name] = "\n".join(texts)
    return "\n".join(f"# {place} {name}\n{text}" for (place, name), text in found.items() if text)


def _definitions(file: Path, name: str) -> Iterator[tuple[str, ast.stmt]]:
    """The statements of the file's top level that bind a name, with their texts."""
    try:
        code = file.read_text()
        tree = ast.parse(code)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    lines = code.splitlines()
    for statement in tree.body:
        if name in _bound(statement):
            decorators = getattr(statement, "decorator_list", [])
            first = min([statement.lineno, *(each.lineno for each in decorators)])
            yield "\n".join(lines[first - 1 : statement.end_lineno]), statement


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement binds, also inside of an if or a try."""
    names: set[str] = set()
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
                continue
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names |= {alias.asname or alias.name.split(".")[0] for alias in aliases}
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
        pending.extend(ast.iter_child_nodes(node))
    return names


def _other_files(node: ast.stmt, name: str, file: Path) -> Iterator[tuple[Path, str]]:
    """Where else in the bundle an import finds a name. Of a module that is imported whole, everything counts."""
    for each in ast.walk(node):
        if isinstance(each, ast.ImportFrom):
            other = file.with_name(f"{(each.module or '').rpartition('.')[2]}.py")
            for alias in each.names:
                if (alias.asname or alias.name) != name:
                    continue
                if other.is_file():
                    yield other, alias.name
                yield from _whole(file.with_name(f"{alias.name}.py"))
        elif isinstance(each, ast.Import):
            for alias in each.names:
                if (alias.asname or alias.name.split(".")[0]) == name:
                    yield from _whole(file.with_name(f"{alias.name.rpartition('.')[2]}.py"))


def _whole(file: Path) -> Iterator[tuple[Path, str]]:
    try:
        tree = ast.parse(file.read_text())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for statement in tree.body:
        yield from ((file, name) for name in sorted(_bound(statement)))
