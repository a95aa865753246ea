"""Runs one of this package's programs on a stranger's file in the sandbox of candidate code.

The program sees no network, no key and no file of the user's. Standard input and output are passed through."""

import os
import runpy
import subprocess
import sys
import tempfile

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor import sandbox
from passnet_core.records import Device, Isolation

PROGRAMS = ("passnet_core.corpus.partitioning",)

LIMITS = sandbox.Limits(memory_bytes=10 << 30)

UNAVAILABLE = 3
"""The exit code when no isolation can be had."""


def main(isolation: str, module: str, limit_s: float) -> int:
    """Starts the program in the chosen isolation and returns its exit code, or UNAVAILABLE.

    limit_s: seconds of processor time per core."""
    if module not in PROGRAMS:
        raise ValueError(f"{module} is none of {PROGRAMS}")
    try:
        place = sandbox.chosen(isolation)
        argv = [sys.executable, "-m", "passnet_core.judge", "inside", module, str(limit_s * (os.cpu_count() or 1))]
        with tempfile.TemporaryDirectory(prefix="confined-") as folder:
            scratch = sandbox.PRIVATE_TEMP if place is Isolation.SANDBOXED else folder
            return subprocess.run(
                sandbox.command(argv, isolation=place, device=Device.CPU, limits=LIMITS),
                env=sandbox.environment(Device.CPU, scratch, os.environ),
                cwd="/" if place is Isolation.SANDBOXED else folder,
                check=False,
            ).returncode
    except (InfrastructureError, OSError) as error:
        print(error, file=sys.stderr)
        return UNAVAILABLE


def inside(module: str, cpu_s: float) -> None:
    """Drops privileges, sets the limits, and runs the program in this process."""
    sandbox.die_with_parent()
    sandbox.limit_this_process(device=Device.CPU, cpu_s=cpu_s, limits=LIMITS)
    sandbox.confine_this_process(Device.CPU)
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
