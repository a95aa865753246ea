"""Run test programs in their own process, because they change torch or need much memory."""

import subprocess
import sys
from pathlib import Path

from tests.waiting import seconds

PROJECT = Path(__file__).resolve().parents[2]
STARTS = ("passnet_core",)


def ran(program: str, *arguments: str) -> str:
    """Run this source and return what it prints. Fails with the end of its errors if the exit status is not 0."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *arguments],
        capture_output=True, text=True, cwd=PROJECT, timeout=seconds(200), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
