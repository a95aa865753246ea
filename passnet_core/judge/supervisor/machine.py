"""Describes this machine without loading torch, so that the app can ask at every start."""

import ast
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor import sandbox
from passnet_core.outside import syntax_tree
from passnet_core.records import CLOCK_VERSION, Device, Environment, Isolation, to_json

JUDGING = ("judge", "fx", "bundles", "graphs", "operations", "scoring", "records")
"""The parts of the package that decide verdicts."""
NOT_JUDGING = (
    "judge/supervisor/confined.py",
    "records/trajectories.py",
    "bundles/launcher.py",
    "bundles/launcher_file/launching.py",
)
"""Files in these parts that decide nothing: no verdict's processes import them, and a test holds that."""


GIB = 1 << 30
MOST_SPARES = {Device.CPU: 4, Device.CUDA: 16}
"""More warm spares than this would help nobody: jobs take as long as several of them to start. Judges share them: on
CUDA two are left for each of eight."""


@cache
def judge_digest() -> str:
    """The digest of this judge, which every outcome carries in its environment."""
    return digest_of_judge(sandbox.PACKAGE)


def digest_of_judge(package: Path) -> str:
    """Twenty hexadecimal characters that identify the code which decides verdicts, without its prose and layout."""
    content = hashlib.sha256()
    for part in JUDGING:
        path = package / part
        below = (each for each in path.rglob("*") if each.suffix in (".py", ".json", ".toml"))
        for file in sorted(below) if path.is_dir() else [path]:
            place = file.relative_to(package).as_posix()
            if place in NOT_JUDGING:
                continue
            text = file.read_text(encoding="utf-8")
            content.update(f"{place}\0".encode())
            content.update((code_only(text) if file.suffix == ".py" else text).encode() + b"\0")
    return content.hexdigest()[:20]


def code_only(source: str) -> str:
    """The source without comments, docstrings and layout, as text: equal for sources that execute alike.

    Empty fields are left out, so that Python versions whose syntax trees have more fields give the same text."""
    spelled: list[str] = []
    _spell(syntax_tree(source), spelled.append)
    return "".join(spelled)


def _spell(part: Any, write: Callable[[str], None]) -> None:
    """Write a syntax tree, a list of them or a constant as text."""
    if isinstance(part, ast.AST):
        write(f"{type(part).__name__}(")
        comma = ""
        for name in part._fields:
            value = getattr(part, name, None)
            if value is not None and value != []:
                write(f"{comma}{name}=")
                _spell(value, write)
                comma = ","
        write(")")
    elif isinstance(part, list):
        write("[")
        comma = ""
        for each in part:
            if not _is_prose(each):
                write(comma)
                _spell(each, write)
                comma = ","
        write("]")
    else:
        write(repr(part))


def _is_prose(part: Any) -> bool:
    """Whether this is a string that stands alone as a statement."""
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)


def environment(device: Device, isolation: Isolation) -> Environment:
    """The environment of outcomes on this device. Raises InfrastructureError if the device or a package is missing."""
    if device is Device.CUDA:
        gpu = _gpu()
        if gpu is None:
            raise InfrastructureError("This machine has no CUDA device. Choose the device cpu, or another machine.")
        name, driver = gpu.name, gpu.driver
    else:
        name, driver = f"CPU: {_processor()}", ""
    return Environment(
        device=name,
        driver=driver,
        python=platform.python_version(),
        torch=_version("torch"),
        triton=_version("triton"),
        isolation=isolation,
        judge_digest=judge_digest(),
        platform=f"{platform.system()} {platform.machine()}",
        clock_version=CLOCK_VERSION,
    )


def description_as_json(isolation: str) -> str:
    """This machine's best device with its environment, or the problem, as one JSON object."""
    device = Device.CUDA if _gpu() else Device.CPU
    described: dict[str, Any] = {"device": device.value, "isolation": Isolation.PROCESS.value, "environment": None}
    described["spares"] = room_for_spares(device)
    try:
        chosen = sandbox.chosen(isolation)
        described["isolation"] = chosen.value
        described["environment"] = to_json(environment(device, chosen))
        described["problem"] = ""
    except InfrastructureError as error:
        described["problem"] = str(error)
    return json.dumps(described)


def room_for_spares(device: Device) -> int:
    """How many warm spares this machine has room for, at least one: two cores and 1 GiB each on the CPU; on CUDA, where
    judges wait for the device as well, one core and 2 GiB of both memories."""
    memory_bytes, cores = sandbox.memory_bytes()[0], len(os.sched_getaffinity(0))
    if device is Device.CPU:
        return max(1, min(cores // 2, memory_bytes // GIB, MOST_SPARES[device]))
    gpu = _gpu()
    free_bytes = gpu.free_bytes if gpu else 0
    return max(1, min(cores, min(memory_bytes, free_bytes) // (2 * GIB), MOST_SPARES[device]))


class _Gpu(NamedTuple):
    """The first NVIDIA device. free_bytes: of its memory when it was asked, 0 if it does not say."""

    name: str
    driver: str
    free_bytes: int


@cache
def _gpu() -> _Gpu | None:
    """The first NVIDIA device, None without one."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    asked = [program, "--query-gpu=name,driver_version,memory.free", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    fields = [each.strip() for each in told.stdout.strip().partition("\n")[0].split(",")]
    if told.returncode or len(fields) < 3:
        return None
    name, driver, free_mib = fields[:3]
    return _Gpu(name, driver, int(free_mib) << 20 if free_mib.isdigit() else 0)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise InfrastructureError(f"The judge's Python has no {package}. Install it, or set PASSNET_PYTHON.") from None
