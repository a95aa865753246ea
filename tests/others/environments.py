"""Environments in which programs of other people run: servers of models, and packages that train them.

Each has requirements that this project's own environment must not have, or that do not fit beside each other. One is
installed once, where it is first needed, and is kept while its requirements stay the same. This project is in it as in
a checkout, and is installed again when pyproject.toml has changed, which names its packages."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.waiting import seconds
from tests.which import TESTS

REQUIREMENTS = TESTS / "others" / "requirements"
"""A file NAME.txt for each environment, and NAME.no-deps.txt for packages of which only a part is used, and which are
installed without what the rest of them needs."""
KEPT = Path(os.environ.get("PASSNET_TEST_ENVIRONMENTS") or TESTS.parent / "build" / "environments")


def python_of(name: str) -> Path:
    """The interpreter of the environment NAME, which is installed first if it is not there, with this project in it."""
    wanted = REQUIREMENTS / f"{name}.txt"
    alone = REQUIREMENTS / f"{name}.no-deps.txt"
    content = wanted.read_bytes() + (alone.read_bytes() if alone.exists() else b"")
    digest = hashlib.sha256(content + sys.version.encode()).hexdigest()[:12]
    place = KEPT / f"{name}-{digest}"
    interpreter = place / "bin" / "python"
    installed = place / "installed"
    project = hashlib.sha256((TESTS.parent / "pyproject.toml").read_bytes()).hexdigest()
    with _alone(KEPT / f"{name}.lock"):
        if not installed.exists():
            shutil.rmtree(place, ignore_errors=True)
            _run(sys.executable, "-m", "venv", str(place))
            _run(str(interpreter), "-m", "pip", "install", "--quiet", "--requirement", str(wanted))
            if alone.exists():
                _run(str(interpreter), "-m", "pip", "install", "--quiet", "--no-deps", "--requirement", str(alone))
        if not installed.exists() or installed.read_text() != project:
            _run(str(interpreter), "-m", "pip", "install", "--quiet", "--no-deps", "--editable", str(TESTS.parent))
            installed.write_text(project)
    return interpreter


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds(600), check=False)
    assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Keep other processes of the test run from installing the same environment."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
