"""Run a script in a process of its own whose kernels Triton interprets, as the judge's workers do without a GPU."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

HEAD = """
import torch
from passnet_core.judge.worker import interpreter
interpreter.mend()
import triton
import triton.language as tl
from triton.runtime.errors import InterpreterError

"""


def run_interpreted(script: str, folder: Path, *, head: str = HEAD) -> str:
    """What the script prints. Triton reads a kernel's source from its file, so the script becomes one in folder."""
    file = folder / "pass_dir" / "kernels.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(head + script)
    done = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=folder,
        env={**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(PROJECT)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()
