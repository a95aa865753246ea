"""Runs one of this package's programs on a stranger's file in the sandbox of candidate code.

The program sees no network, no key and no file of the user's, except in folders that the caller names. Standard input
and output are passed through."""

import contextlib
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor import sandbox
from passnet_core.judge.supervisor.device_lock import DeviceLock, steady_core
from passnet_core.records import Device, Isolation

PROGRAMS = (
    "passnet_core.corpus.partitioning",
    "passnet_core.whole_models.capturing",
    "passnet_core.whole_models.surveying",
    "passnet_core.whole_models.measuring",
)

LIMITS = sandbox.Limits(memory_bytes=10 << 30, scratch_bytes=2 << 30)

CORE = "PASSNET_STEADY_CORE"
"""The variable that tells a program on a GPU the processor core that nobody else times on."""

UNAVAILABLE = 3
"""The exit code when no isolation can be had."""


def main(channel: int, isolation: str, home: Path, program: Sequence[str]) -> int:
    """Starts the program in the chosen isolation and returns its exit code, or UNAVAILABLE.

    channel: its other end is closed when nobody waits for the program any more. program: "cpu" or "cuda", the module,
    seconds of processor time per core, and folders that it may read. On a GPU it runs while no judge of this home uses
    it."""
    device, module, limit_s, *folders = program
    if module not in PROGRAMS:
        raise ValueError(f"{module} is none of {PROGRAMS}")
    where, also = Device(device), [Path(each) for each in folders]
    cpu_s = float(limit_s) * (os.cpu_count() or 1)
    try:
        place = sandbox.chosen(isolation)
        argv = [sys.executable, "-m", "passnet_core.judge", "inside", str(channel), device, module]
        argv += [str(cpu_s), *folders]
        lock = DeviceLock(home, lambda words: print(words, file=sys.stderr, flush=True))
        alone = where is Device.CUDA
        with (
            _scratch(home) as folder,
            lock.alone() if alone else contextlib.nullcontext(),
            steady_core() if alone else contextlib.nullcontext() as core,
        ):
            scratch = sandbox.private_temp(also) if place is Isolation.SANDBOXED else folder
            return subprocess.run(
                sandbox.command(argv, isolation=place, device=where, limits=LIMITS, also=also),
                env=sandbox.environment(where, scratch, os.environ) | ({} if core is None else {CORE: str(core)}),
                cwd="/" if place is Isolation.SANDBOXED else folder,
                pass_fds=(channel,),
                check=False,
            ).returncode
    except (InfrastructureError, OSError) as error:
        print(error, file=sys.stderr)
        return UNAVAILABLE


@contextlib.contextmanager
def _scratch(home: Path) -> Iterator[str]:
    """A folder for the time of a block, which the next referee removes if this process is killed."""
    folder = sandbox.own_scratch(home)
    folder.mkdir(parents=True)
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def inside(channel: int, program: Sequence[str]) -> None:
    """Drops privileges, sets the limits, and runs the program in this process."""
    device, module, cpu_s, *folders = program
    sandbox.die_with_parent(lambda: sandbox.is_closed(channel))
    os.close(channel)
    sandbox.limit_this_process(device=Device(device), cpu_s=float(cpu_s), limits=LIMITS)
    sandbox.confine_this_process(Device(device), [Path(each) for each in folders])
    sys.path[:0] = folders
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
