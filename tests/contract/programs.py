"""Programs that run in a process of their own, for what they do to torch or to this machine's memory."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def ran(program: str, *arguments: str) -> str:
    """What the source prints; fails with its last words where it does not end well."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *arguments],
        capture_output=True, text=True, cwd=PROJECT, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
