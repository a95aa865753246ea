"""Describes this machine without loading torch, so that the app can ask at every start."""

import ast
import hashlib
import importlib.metadata
import json
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor import sandbox
from passnet_core.records import CLOCK_VERSION, Device, Environment, Isolation, to_json

JUDGING = ("judge", "bundles", "graphs", "scoring", "records")
"""The parts of the package that decide verdicts."""
NOT_JUDGING = ("records/trajectories.py",)
"""Files in these parts that decide nothing: the judge never imports them, and a test holds that."""


@cache
def judge_digest() -> str:
    """The digest of this judge, which every outcome carries in its environment."""
    return digest_of_judge(sandbox.PACKAGE)


def digest_of_judge(package: Path) -> str:
    """Twenty hexadecimal characters that identify the code which decides verdicts, without its prose and layout."""
    content = hashlib.sha256()
    for part in JUDGING:
        path = package / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            place = file.relative_to(package).as_posix()
            if place in NOT_JUDGING:
                continue
            content.update(f"{place}\0".encode())
            content.update(code_only(file.read_text(encoding="utf-8")).encode() + b"\0")
    return content.hexdigest()[:20]


def code_only(source: str) -> str:
    """The source without comments, docstrings and layout, as text: equal for sources that execute alike.

    Empty fields are left out, so that Python versions whose syntax trees have more fields give the same text."""
    return _spelled(ast.parse(source))


def _spelled(part: Any) -> str:
    """A syntax tree, a list of them or a constant."""
    if isinstance(part, list):
        return f"[{','.join(_spelled(each) for each in part if not _is_prose(each))}]"
    if not isinstance(part, ast.AST):
        return repr(part)
    fields = ((name, getattr(part, name, None)) for name in part._fields)
    spelled = ",".join(f"{name}={_spelled(value)}" for name, value in fields if value not in (None, []))
    return f"{type(part).__name__}({spelled})"


def _is_prose(part: Any) -> bool:
    """Whether this is a string that stands alone as a statement."""
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)


def environment(device: Device, isolation: Isolation) -> Environment:
    """The environment of outcomes on this device. Raises InfrastructureError if the device or a package is missing."""
    if device is Device.CUDA:
        name, driver = _gpu() or ("", "")
        if not name:
            raise InfrastructureError("This machine has no CUDA device. Choose the device cpu, or another machine.")
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
    try:
        chosen = sandbox.chosen(isolation)
        described["isolation"] = chosen.value
        described["environment"] = to_json(environment(device, chosen))
        described["problem"] = ""
    except InfrastructureError as error:
        described["problem"] = str(error)
    return json.dumps(described)


@cache
def _gpu() -> tuple[str, str] | None:
    """Name and driver of the first NVIDIA device, None without one."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    asked = [program, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    line = told.stdout.strip().partition("\n")[0]
    name, comma, driver = line.partition(",")
    return (name.strip(), driver.strip()) if told.returncode == 0 and comma else None


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
