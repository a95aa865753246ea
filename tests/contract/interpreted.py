"""Run a script in a process of its own whose kernels Triton interprets, as the judge's workers do without a GPU.

The processes are forks of one that has loaded torch and Triton: loading them takes longer than most scripts."""

import os
import runpy
import sys
from multiprocessing.context import ForkServerContext
from pathlib import Path
from unittest import mock

from tests.waiting import seconds

PROJECT = Path(__file__).resolve().parents[2]

HEAD = """
import torch
from passnet_core.judge.gpu_on_cpu import interpreter
interpreter.mend()
import triton
import triton.language as tl
from triton.runtime.errors import InterpreterError

"""

FORKING = ForkServerContext()
FORKING.set_forkserver_preload([__name__, "torch", "triton.language", "passnet_core.judge.gpu_on_cpu.interpreter"])
ENVIRONMENT = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(PROJECT)}
"""What the forks find in their environment beside the variables of this process."""


def run_interpreted(script: str, folder: Path, *, head: str = HEAD) -> str:
    """What the script prints. Triton reads a kernel's source from its file, so the script becomes one in folder."""
    file = folder / "pass_dir" / "kernels.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(head + script)
    process = FORKING.Process(target=_become, args=(file, folder))
    with mock.patch.dict(os.environ, ENVIRONMENT):
        process.start()
    process.join(seconds(200))
    process.kill()
    assert process.exitcode == 0, (folder / "errors").read_text()[-3000:]
    return (folder / "printed").read_text().strip()


def _become(file: Path, folder: Path) -> None:
    """Run the file in this process as Python would that starts with it."""
    for name, target in (("printed", 1), ("errors", 2)):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), target)
    os.chdir(folder)
    sys.argv, sys.path = [str(file)], [str(file.parent), *sys.path]
    runpy.run_path(str(file), run_name="__main__")
