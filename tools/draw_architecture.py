"""Draw which part imports which into docs/architecture.md, from every import statement. A test fails when it is stale.

python -m tools.draw_architecture
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = "passnet_core"
OUTSIDE = ("pages", "tools")
"""Folders beside the package that use it."""
DOCUMENT = Path("docs") / "architecture.md"
BEGIN, END = "<!-- drawn by tools/draw_architecture.py -->", "<!-- end of what is drawn -->"

Edges = dict[str, set[str]]
"""Maps the name of a part to the parts that it needs."""


def drawn(project: Path) -> str:
    """Return all pictures as Markdown: the package's parts, then the parts of each part that has packages."""
    package = project / PACKAGE
    parts = [package, *(each for each in sorted(package.iterdir()) if each.is_dir() and _rooms(each))]
    return "\n\n".join(_picture(project, part) for part in parts)


def _rooms(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if (each / "__init__.py").exists()]


def _picture(project: Path, package: Path) -> str:
    imported, started = edges(project, package)
    names = sorted(
        {*imported, *started, *(name for needed in (*imported.values(), *started.values()) for name in needed)}
    )
    lines = [f'    {_id(name)}["{name}"]' for name in names]
    lines += [f"    {_id(name)} --> {_id(needed)}" for name, needed in _pairs(reduced(imported))]
    lines += [f"    {_id(name)} -. starts .-> {_id(needed)}" for name, needed in _pairs(started)]
    title = package.relative_to(project).as_posix()
    return "\n".join([f"### {title}", "", "```mermaid", "flowchart TD", *lines, "```"])


def _id(name: str) -> str:
    # "end" and some other words are reserved in mermaid
    return f"part_{re.sub(r'[^A-Za-z0-9]', '_', name)}"


def _pairs(found: Edges) -> list[tuple[str, str]]:
    return sorted((name, needed) for name, all_needed in found.items() for needed in all_needed)


def edges(project: Path, package: Path) -> tuple[Edges, Edges]:
    """Return which of a package's parts imports which, and which starts which as a program of its own. For the whole
    package, the folders OUTSIDE count as parts too."""
    prefix = ".".join(package.relative_to(project).parts)
    sources = {path: path.relative_to(package).parts[0].removesuffix(".py") for path in package.rglob("*.py")}
    if package == project / PACKAGE:
        for name in OUTSIDE:
            sources |= dict.fromkeys((project / name).rglob("*.py"), name)
    parts = set(sources.values()) - {"__init__"}
    imported: Edges = {part: set() for part in parts}
    started: Edges = {}
    for path, part in sources.items():
        if part == "__init__":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for found, names in ((imported, _imports(tree)), (started, _programs(tree))):
            for name in names:
                needed = _part(name, prefix)
                if needed in parts - {part}:
                    found.setdefault(part, set()).add(needed)
    return imported, started


def _part(name: str, prefix: str) -> str:
    """Return the part of the package that holds a dotted name, or an empty string."""
    return name.removeprefix(f"{prefix}.").split(".")[0] if name.startswith(f"{prefix}.") else ""


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _programs(tree: ast.AST) -> Iterator[str]:
    """Yield strings that look like module names, as python -m takes them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[\w.]+", node.value):
            yield node.value


def reduced(found: Edges) -> Edges:
    """Drop each edge that follows from others: a part that needs another also needs what that one needs. Parts that
    need each other keep all their edges."""
    reach = {name: _reachable(name, found) for name in found}

    def follows(name: str, needed: str) -> bool:
        return any(
            needed in reach.get(other, ()) and name not in reach.get(other, ()) and other not in reach.get(needed, ())
            for other in found[name] - {needed}
        )

    return {name: {each for each in needed if not follows(name, each)} for name, needed in found.items()}


def _reachable(start: str, found: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    left = [*found.get(start, ())]
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += found.get(name, ())
    return seen


def redrawn(text: str, project: Path) -> str:
    """Return the document with pictures of the project as it is now. Raises ValueError without the markers."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{drawn(project)}\n\n{END}{after}"


def main() -> int:
    path = PROJECT / DOCUMENT
    path.write_text(redrawn(path.read_text(encoding="utf-8"), PROJECT), encoding="utf-8")
    print(f"Wrote {DOCUMENT}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
