"""A copy of this package for a Python of its own that runs the judge.

An installed package lies beside those of its Python, and a folder of PYTHONPATH brings all that is in it: another
Python would import a torch or numpy that was not made for it. A link would not do, as the judge resolves links."""

import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
LEFT_OUT = "_app"
"""The app of an installed package, of which the judge needs nothing."""


def is_own(python: str) -> bool:
    """Whether this is the Python of this process, with its packages: two environments may share one program."""
    return os.path.abspath(python) == os.path.abspath(sys.executable)


def import_folder(python: str, home: Path) -> Path:
    """The folder from which this Python imports the package: where it lies, or for another Python than this process's a
    folder with a copy of it and nothing else. home: where that is kept, until the package changes.

    Raises OSError if there is no room for it."""
    if is_own(python):
        return PACKAGE.parent
    folder = home.absolute() / "package" / _digest()
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            shutil.copytree(PACKAGE, Path(made) / "whole" / PACKAGE.name, ignore=shutil.ignore_patterns(LEFT_OUT))
            try:
                os.rename(Path(made) / "whole", folder)
            except OSError:
                # another process may have made it meanwhile
                if not folder.is_dir():
                    raise
    return folder


def _digest() -> str:
    """What changes whenever a file of the package does."""
    told = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*")):
        inside = file.relative_to(PACKAGE)
        if LEFT_OUT not in inside.parts and "__pycache__" not in inside.parts and file.is_file():
            told.update(f"{inside} {file.stat().st_size} {file.stat().st_mtime_ns}\n".encode())
    return told.hexdigest()[:16]
