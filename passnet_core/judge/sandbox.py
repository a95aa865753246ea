"""What a process that runs candidate code may see and use: bubblewrap's namespaces, the environment, the limits."""

import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from passnet_core.errors import InfrastructureError
from passnet_core.records import Device, Isolation

PACKAGE = Path(__file__).resolve().parents[1]

PRIVATE_TEMP = "/tmp"
"""The scratch folder as a sandboxed process sees it: memory, limited in size, gone with the process."""

SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/nvidia",
)
"""All that is shown of /etc: what loading libraries and finding a compiler needs."""

PASSED_ON = (
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "TRITON_LIBCUDA_PATH",
    "CC",
)
"""The only variables that go through: where the driver and the compiler lie. None is ever secret."""

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """memory_bytes: of address space, beyond what a process has before candidate code; not set on CUDA, which maps
    far more than it uses. processes: of one candidate, threads not counted."""

    memory_bytes: int = 6 << 30
    scratch_bytes: int = 256 * MIB
    file_bytes: int = 256 * MIB
    open_files: int = 1024
    processes: int = 128


LIMITS = Limits()


def environment(device: Device, scratch: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a process that runs candidate code: an allow-list, and folders inside scratch."""
    python_path = [str(PACKAGE.parent), *(str(path) for path in _import_folders(inherited))]
    variables = {
        "PATH": ":".join(
            dict.fromkeys((str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin", "/sbin"))
        ),
        "HOME": scratch,
        "TMPDIR": scratch,
        "USER": "candidate",
        "LOGNAME": "candidate",
        "LANG": "C.UTF-8",
        "PYTHONPATH": ":".join(python_path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "TRITON_CACHE_DIR": f"{scratch}/triton",
        "TRITON_HOME": scratch,
        "TORCHINDUCTOR_CACHE_DIR": f"{scratch}/inductor",
        # a pool of compiling processes would outlive the fork that started it
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "OMP_NUM_THREADS": str(min(4, os.cpu_count() or 1)),
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": str(min(4, os.cpu_count() or 1)),
    }
    if device is Device.CPU:
        variables["TRITON_INTERPRET"] = "1"
        variables["CUDA_VISIBLE_DEVICES"] = ""
        return variables
    return variables | {name: inherited[name] for name in PASSED_ON if inherited.get(name)}


def command(argv: Sequence[str], *, isolation: Isolation, device: Device, limits: Limits = LIMITS) -> list[str]:
    """The command line that runs argv in this isolation. The environment is that of the caller: clear it there."""
    if isolation is Isolation.PROCESS:
        return list(argv)
    program = shutil.which("bwrap")
    if program is None:
        raise InfrastructureError("bubblewrap is not installed. Install it, or set PASSNET_ISOLATION to process.")
    scratch_size = str(limits.scratch_bytes)
    line = [program, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
    line += ["--uid", "1000", "--gid", "1000", "--hostname", "judge", "--cap-drop", "ALL"]
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        path = Path(folder)
        if path.is_symlink():
            line += ["--symlink", os.readlink(path), folder]
        elif path.is_dir():
            line += ["--ro-bind", folder, folder]
    for name in SYSTEM_FILES:
        line += ["--ro-bind-try", name, name]
    line += ["--proc", "/proc", "--dev", "/dev"]
    line += ["--size", scratch_size, "--tmpfs", "/dev/shm", "--size", scratch_size, "--tmpfs", PRIVATE_TEMP]
    # torch reads which cores and, on CUDA, which bus and memory node there are
    line += ["--ro-bind-try", *(["/sys"] * 2 if device is Device.CUDA else ["/sys/devices/system/cpu"] * 2)]
    if device is Device.CUDA:
        for node in device_nodes():
            line += ["--dev-bind-try", str(node), str(node)]
    for shown in _shown_folders(os.environ):
        line += ["--ro-bind", str(shown), str(shown)]
    # without these two the empty folders around the mounts would be a disk without limit
    line += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", PRIVATE_TEMP]
    return [*line, "--", *argv]


def device_nodes() -> list[Path]:
    """NVIDIA's device nodes of this machine."""
    dev = Path("/dev")
    names = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps")
    return sorted(dev.glob("nvidia[0-9]*")) + [dev / name for name in names if (dev / name).exists()]


def _import_folders(inherited: Mapping[str, str]) -> list[Path]:
    """Where PYTHONPATH finds packages, but for the folder this package lies in, of which only the package is shown."""
    folders = (Path(text).resolve() for text in inherited.get("PYTHONPATH", "").split(":") if text)
    return [folder for folder in folders if folder.is_dir() and folder != PACKAGE.parent]


def _shown_folders(inherited: Mapping[str, str]) -> list[Path]:
    """The interpreter with its packages, and this package; what /usr holds already is left out."""
    wanted = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent, PACKAGE]
    wanted += [Path(text) for text in sys.path if text and Path(text).name in ("site-packages", "dist-packages")]
    wanted += _import_folders(inherited)
    wanted += [Path(text) for text in (*inherited.get("LD_LIBRARY_PATH", "").split(":"), inherited.get("CUDA_HOME", "")) if text]
    if "/" in inherited.get("CC", ""):
        # bin/gcc needs what lies beside bin
        wanted.append(Path(inherited["CC"]).resolve().parent.parent)
    shown: list[Path] = []
    for folder in sorted({path.absolute() for path in wanted if path.is_dir()}, key=lambda path: len(path.parts)):
        if not any(folder.is_relative_to(other) for other in (Path("/usr"), *shown)):
            shown.append(folder)
    return shown


@cache
def why_unavailable() -> str:
    """Why no sandbox can be had on this machine, found by starting one; empty: it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    try:
        line = command([sys.executable, "-I", "-c", "pass"], isolation=Isolation.SANDBOXED, device=Device.CPU)
        tried = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be started: {error}"
    return "" if tried.returncode == 0 else f"bubblewrap is refused: {tried.stderr.strip()[:200] or tried.returncode}"


def available() -> bool:
    """Whether candidate code can be sandboxed here."""
    return not why_unavailable()


def chosen(isolation: str) -> Isolation:
    """The isolation for "auto", "sandboxed" or "process". Raises InfrastructureError where it cannot be had."""
    if isolation == "process":
        return Isolation.PROCESS
    if available():
        return Isolation.SANDBOXED
    if isolation == "sandboxed":
        raise InfrastructureError(
            f"No sandbox can be had: {why_unavailable()}. Mend that, or set PASSNET_ISOLATION to process."
        )
    return Isolation.PROCESS


def limit_this_process(*, device: Device, cpu_s: float, limits: Limits = LIMITS) -> None:
    """Sets the limits of the calling process and of all it starts, for good."""
    ceilings = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CPU: int(cpu_s) + 1,
    }
    if device is Device.CPU:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        ceilings[resource.RLIMIT_AS] = pages * resource.getpagesize() + limits.memory_bytes
    for kind, ceiling in ceilings.items():
        hard = resource.getrlimit(kind)[1]
        value = ceiling if hard == resource.RLIM_INFINITY else min(ceiling, hard)
        resource.setrlimit(kind, (value, value))


def die_with_parent() -> None:
    """Has the kernel kill this process when the thread that started it ends."""
    set_death_signal = 1
    ctypes.CDLL(None, use_errno=True).prctl(set_death_signal, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """Makes this process the parent of descendants whose own parent ends, so that they can be found and killed."""
    set_child_subreaper = 36
    ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0)


def descendants(pid: int) -> list[int]:
    """All living processes below this one, parents first."""
    parents: dict[int, int] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = Path(entry.path, "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] not in "ZX":
                parents[int(entry.name)] = int(fields[1])
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


def kill_tree(pid: int, *, patience_s: float = 5.0) -> int:
    """Kills all descendants of a process, again and again until none is left; how many it met. Spares pid itself."""
    met: set[int] = set()
    until = time.monotonic() + patience_s
    while living := descendants(pid):
        met.update(living)
        # all are stopped before any is killed, or a fork bomb would outrun this
        _send(living, signal.SIGSTOP)
        _send(living, signal.SIGKILL)
        _reap()
        if time.monotonic() > until:
            break
        time.sleep(0.005)
    _reap()
    return len(met)


def _send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def _reap() -> None:
    """Collects ended orphans. Only for a process whose children are all meant to die."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def folder_bytes(folder: Path) -> int:
    """What the files below a folder take, not following links; what vanishes meanwhile counts nothing."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_blocks * 512
            except OSError:
                continue
    return total
