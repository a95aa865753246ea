"""Which files of the project a test needs, read from import statements. Nothing is imported or run for it."""

import ast
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parent
PROJECT = TESTS.parent
TEST_FILES = sorted(TESTS.rglob("test_*.py"))
REAL_JUDGE = TESTS / "real_judge.py"
JUDGES = {"backend", "own_backend"}
"""The fixtures of tests/conftest.py that are a real judge."""


def place_of(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def files_in(place: Path) -> list[Path]:
    """A file itself, or the files in a folder."""
    assert place.exists(), f"{place} does not exist"
    files = [place] if place.is_file() else place.rglob("*")
    return sorted(file for file in files if file.is_file() and "__pycache__" not in file.parts)


def is_data(file: Path) -> bool:
    """Whether a Python file is none of the project's modules, and need not even be Python's grammar."""
    return file.is_relative_to(PROJECT / "data")


@cache
def needed(file: Path) -> frozenset[Path]:
    """All files of the project that a file needs, directly or not, and the file itself."""
    seen: set[Path] = set()
    waiting = [file]
    while waiting:
        if (here := waiting.pop()) not in seen:
            seen.add(here)
            waiting += needed_directly(here) if here.suffix == ".py" and not is_data(here) else ()
    return frozenset(seen)


@cache
def needed_directly(file: Path) -> frozenset[Path]:
    """What a Python file imports, also within functions; for a test also the conftest.py beside and above it but for
    the topmost, a real judge if it asks for that fixture, and what its constant STARTS names: files and folders of the
    project that it starts as programs or reads."""
    names: set[str] = set()
    found: set[Path] = set()
    for node in _telling(file.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.arg) and node.arg in JUDGES and file.is_relative_to(TESTS):
            found.add(REAL_JUDGE)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "STARTS":
            found.update(each for place in ast.literal_eval(node.value) for each in files_in(PROJECT / place))
    found.update(folder / "conftest.py" for folder in file.parents if folder.is_relative_to(TESTS) and folder != TESTS)
    for parts in (name.split(".") for name in names):
        for length in range(1, len(parts) + 1):
            module = "/".join(parts[:length])
            within = (PROJECT, TESTS, file.parent)
            found.update(root / end for root in within for end in (f"{module}.py", f"{module}/__init__.py"))
    return frozenset(path for path in found if path.is_file())


@cache
def _telling(code: str) -> list[ast.AST]:
    """What in the code tells what it needs."""
    kinds = ast.Import | ast.ImportFrom | ast.arg | ast.Assign
    return [node for node in ast.walk(ast.parse(code)) if isinstance(node, kinds)]
