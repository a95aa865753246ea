"""Running a script on the GPU in a process of its own, also beside a file that bundles carry."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.waiting import seconds

PROJECT = Path(__file__).resolve().parents[2]


def run_beside(file: Path, script: str, folder: Path) -> None:
    """Run the script, which can import the file. Raises AssertionError with what it printed if it fails."""
    shutil.copy(file, folder)
    run_apart(script, folder)


def run_apart(script: str, folder: Path) -> None:
    """Run the script, which can import the project and what lies in the folder. Raises AssertionError with what it
    printed if it fails."""
    file = folder / "script.py"
    file.write_text(script)
    done = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        timeout=seconds(200),
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(PROJECT), *sys.path))},
    )
    assert done.returncode == 0, done.stderr[-3000:]
