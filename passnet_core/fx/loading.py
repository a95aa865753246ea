"""Import a bundle's files as modules."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = "pass_dir"
"""The package from which a bundle may import its helpers, besides importing them by their bare names."""


@dataclass(frozen=True)
class BundleLine:
    """A line of a bundle. file: its name in the bundle. function: the one that the line is in."""

    file: str
    line: int
    function: str
    source: str = ""

    def __str__(self) -> str:
        code = f"    {self.source}\n" if self.source else ""
        return f'  File "{FOLDER}/{self.file}", line {self.line}, in {self.function}\n{code}'


class LoadProblem(Exception):
    """A bundle that breaks a rule of bundles without raising an exception itself. The message says what to change.

    place: the line to change, None if unknown."""

    def __init__(self, message: str, place: BundleLine | None = None) -> None:
        super().__init__(message)
        self.place = place


def place_of(function: object) -> BundleLine | None:
    """Where a function is defined; None for what is not a function of Python."""
    code = getattr(function, "__code__", None)
    return BundleLine(Path(code.co_filename).name, code.co_firstlineno, code.co_name) if code is not None else None


def imported(file: Path) -> ModuleType:
    """Import a pass. A file named like a module that is loaded already, such as json.py, gets another module name."""
    name = file.stem
    loaded = sys.modules.get(name)
    if loaded is None or getattr(loaded, "__file__", None) == str(file):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(f"{FOLDER}_{name}", file)
    if spec is None or spec.loader is None:
        raise LoadProblem(f"{file.name} cannot be imported under that name. Rename it.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class _PackageAlias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes pass_dir.x the same module as x: a helper must not be loaded twice, with two sets of functions."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name.startswith(f"{FOLDER}.") else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(spec.name.removeprefix(f"{FOLDER}."))

    def exec_module(self, module: ModuleType) -> None:
        return None


def make_importable(folder: Path) -> None:
    """Make the files in this folder importable as NAME and as pass_dir.NAME."""
    sys.path[:0] = [str(folder), str(folder.parent)]
    package = ModuleType(FOLDER)
    package.__path__ = [str(folder)]
    sys.modules[FOLDER] = package
    sys.meta_path.insert(0, _PackageAlias())
    importlib.invalidate_caches()
