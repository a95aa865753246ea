"""Programs of the tests, in processes of their own."""

import os
import subprocess
import sys

from tests.waiting import seconds
from tests.which import TESTS


def run(module: str, *arguments: str, within_s: float = 200) -> subprocess.CompletedProcess[str]:
    """Run a module in a process of its own, without a GPU: Triton's interpreter is chosen when Triton is imported."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        timeout=seconds(within_s),
        check=False,
        cwd=TESTS.parent,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
    )
