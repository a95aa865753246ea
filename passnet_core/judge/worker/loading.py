"""Importing a bundle's files as the modules they name."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass


FOLDER = "pass_dir"
"""Bundles may import their helpers from a package of this name, as well as by their bare names."""


class LoadProblem(Exception):
    """A bundle that imports, but is not one."""


def imported(file: Path) -> ModuleType:
    """The module of a pass. One that is named like a module already there, "json.py", must not be taken for it."""
    name = file.stem
    there = sys.modules.get(name)
    if there is None or getattr(there, "__file__", None) == str(file):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(f"{FOLDER}_{name}", file)
    if spec is None or spec.loader is None:
        raise LoadProblem(f"{file.name} cannot be imported under that name. Rename it.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class _PackageAlias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes pass_dir.x the very module x: a helper must not exist twice, with two sets of functions."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name.startswith(f"{FOLDER}.") else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(spec.name.removeprefix(f"{FOLDER}."))

    def exec_module(self, module: ModuleType) -> None:
        return None


def make_importable(folder: Path) -> None:
    sys.path[:0] = [str(folder), str(folder.parent)]
    package = ModuleType(FOLDER)
    package.__path__ = [str(folder)]
    sys.modules[FOLDER] = package
    sys.meta_path.insert(0, _PackageAlias())
    importlib.invalidate_caches()
