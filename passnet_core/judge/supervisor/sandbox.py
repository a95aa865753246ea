"""The sandbox of candidate code: namespaces by bubblewrap, the environment, limits, and killing process trees."""

import contextlib
import ctypes
import os
import platform
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor import confinement
from passnet_core.records import Device, Isolation

PACKAGE = Path(__file__).resolve().parents[2]

PRIVATE_TEMPS = ("/tmp", "/scratch")
"""Where the scratch folder of a sandbox lies inside it: in memory, limited in size, gone with the process."""

DEVICES = ("null", "zero", "full", "random", "urandom")
"""The device nodes that candidate code may use, on a GPU besides its own. No terminals: the machine has few of them."""

STARTED_WITH_FEW_FILES = """
for folder in /dev/shm "$1"; do
    mount -i -n -t tmpfs -o "remount,nosuid,nodev,nr_inodes=$2" tmpfs "$folder" || exit
done
shift 2
exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- "$@"
"""
"""What a sandbox runs first: it limits how many files there may be, which bubblewrap cannot, gives up all capabilities
and becomes the program."""

HOLDER = "cat"
"""A program that keeps a sandbox in which nothing else runs yet, and answers once it has been set up."""

SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/nvidia",
)
"""All that is visible of /etc: what the dynamic linker and the search for a compiler need."""

PASSED_ON = (
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "TRITON_LIBCUDA_PATH",
    "CC",
)
"""The only variables passed on: where the driver and the compiler are. None of them holds a secret."""

MIB = 1 << 20

SCARCE = 0.1
"""Memory is scarce when at most this share of the machine's is available."""

CLEARING_TRIES = 100
STOP_PATIENCE_S = 5.0
_MOVING = ([b"R"], [b"S"], [b"D"])


@dataclass(frozen=True)
class Limits:
    """Resource limits of one candidate.

    memory_bytes: address space of a process beyond what it has before candidate code runs; not limited on CUDA, which
    maps far more than it uses. together_bytes: resident memory of all its processes, enforced once memory is scarce.
    files: in each of the two folders that a sandbox may write to. processes, threads, together_open_files: totals over
    all its processes. Pipes, sockets, timers and events are open files too."""

    memory_bytes: int = 6 << 30
    scratch_bytes: int = 256 * MIB
    file_bytes: int = 256 * MIB
    files: int = 20_000
    open_files: int = 1024
    together_open_files: int = 4096
    processes: int = 128
    threads: int = 2048
    together_bytes: int = 12 << 30


LIMITS = Limits()


def usual_threads() -> str:
    """How many threads each process of the judge computes with. Several processes compute at the same time, and threads
    that wait for a core make a judge on two cores take half as long again."""
    return str(max(1, min(4, (os.cpu_count() or 1) // 2)))


def environment(device: Device, scratch: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a process that runs candidate code: allowed variables, and folders inside scratch."""
    python_path = [str(PACKAGE.parent), *(str(path) for path in _import_folders(inherited))]
    threads = inherited.get("OMP_NUM_THREADS") or usual_threads()
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
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": threads,
    }
    if device is Device.CPU:
        variables["TRITON_INTERPRET"] = "1"
        variables["CUDA_VISIBLE_DEVICES"] = ""
        return variables
    # once a device trace was taken, every later launch takes a third longer, unless the tracer is taken down again
    variables["TEARDOWN_CUPTI"] = "1"
    return variables | {name: inherited[name] for name in PASSED_ON if inherited.get(name)}


def command(
    argv: Sequence[str],
    *,
    isolation: Isolation,
    device: Device,
    limits: Limits = LIMITS,
    also: Sequence[Path] = (),
    around: bool = False,
) -> list[str]:
    """The command line that runs argv in this isolation. The caller must pass a clean environment.

    also: further folders that it may read. around: argv is no candidate, and starts sandboxes itself: it sees the
    machine's processes, because inside of a process namespace nobody could make another one with files in /proc."""
    if isolation is Isolation.PROCESS:
        return list(argv)
    program = shutil.which("bwrap")
    if program is None:
        raise InfrastructureError("bubblewrap is not installed. Install it, or set PASSNET_ISOLATION to process.")
    scratch_size, temp = str(limits.scratch_bytes), private_temp(also)
    unshared = ("ipc", "uts", "net", "cgroup-try") if around else ("all",)
    line = [program, *(f"--unshare-{each}" for each in unshared), "--unshare-user", "--die-with-parent"]
    if _has_terminal():
        # nobody inside may write there as if its user typed
        line += ["--new-session"]
    line += ["--uid", "1000", "--gid", "1000", "--hostname", "judge", "--cap-drop", "ALL"]
    line += ["--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"]
    for folder in SYSTEM_FOLDERS:
        path = Path(folder)
        if path.is_symlink():
            line += ["--symlink", os.readlink(path), folder]
        elif path.is_dir():
            line += ["--ro-bind", folder, folder]
    for name in SYSTEM_FILES:
        line += ["--ro-bind-try", name, name]
    line += ["--bind", "/proc", "/proc"] if around else ["--proc", "/proc", *_kernel_settings()]
    for name in DEVICES:
        line += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        line += ["--symlink", f"/proc/self/{target}", f"/dev/{name}"]
    line += ["--size", scratch_size, "--tmpfs", "/dev/shm", "--size", scratch_size, "--tmpfs", temp]
    # torch reads the processor topology and, on CUDA, the PCI bus and NUMA nodes
    line += ["--ro-bind-try", *(["/sys"] * 2 if device is Device.CUDA else ["/sys/devices/system/cpu"] * 2)]
    if device is Device.CUDA:
        for node in device_nodes():
            line += ["--dev-bind-try", str(node), str(node)]
    for shown in (*_shown_folders(os.environ), *also):
        line += ["--ro-bind", str(shown), str(shown)]
    if (app := PACKAGE / "_app").is_dir():
        # a wheel also holds reference bundles and recorded times, which a candidate must not see
        line += ["--tmpfs", str(app), "--remount-ro", str(app)]
    # otherwise the empty folders around the mounts would be writable without a limit
    line += ["--remount-ro", "/", "--chdir", temp]
    return [*line, "--", "sh", "-c", STARTED_WITH_FEW_FILES, "sh", temp, str(limits.files), *argv]


_starting = threading.Lock()
"""Held while a program is started, and for good once this process is about to end."""


def started(
    argv: Sequence[str],
    *,
    isolation: Isolation,
    device: Device,
    scratch: str,
    channel: socket.socket,
    log: int,
    around: bool = False,
) -> "subprocess.Popen[bytes]":
    """Start one of the judge's programs in this isolation. scratch: its folder for temporary files, as it sees it.
    channel: the end that it speaks on. log: takes what it prints. around: as in command. Raises InfrastructureError.

    It stays in the caller's session: where Linux gives each session an equal share of the processors (autogroup), the
    judge would otherwise have as many shares as processes, whatever their niceness."""
    line = command(argv, isolation=isolation, device=device, around=around)
    try:
        with _starting:
            return subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment(device, scratch, os.environ),
                cwd="/" if isolation is Isolation.SANDBOXED else scratch,
                pass_fds=(channel.fileno(),),
                process_group=0,
            )
    except OSError as error:
        raise InfrastructureError(f"The judge's process cannot be started: {error}") from error


def _has_terminal() -> bool:
    """Whether this process belongs to a terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _kernel_settings() -> list[str]:
    """Arguments that make read-only what /proc holds besides processes. The owner of the kernel's settings may change
    some without any capability, and a sandbox that root has started runs as that owner."""
    settings = (each for each in Path("/proc").iterdir() if not each.name.isdigit() and not each.is_symlink())
    changeable = (each for each in settings if each.is_dir() or each.stat().st_mode & 0o222)
    return [word for each in sorted(changeable) for word in ("--ro-bind-try", str(each), str(each))]


def device_nodes() -> list[Path]:
    """This machine's NVIDIA device nodes, or the one that Windows' Linux subsystem has for them."""
    dev = Path("/dev")
    names = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps", "dxg")
    return sorted(dev.glob("nvidia[0-9]*")) + [dev / name for name in names if (dev / name).exists()]


def _import_folders(inherited: Mapping[str, str]) -> list[Path]:
    """The folders of PYTHONPATH, except the one that holds this package: of that, only the package is visible."""
    folders = (Path(text).resolve() for text in inherited.get("PYTHONPATH", "").split(":") if text)
    protected = _protected_folders(inherited)
    return [
        folder
        for folder in folders
        if folder.is_dir() and folder != PACKAGE.parent and not _holds_any(folder, protected)
    ]


def _named_folders(inherited: Mapping[str, str]) -> list[Path]:
    """Folders of libraries and of a compiler that environment variables name.

    Only folders that look like one, and none inside or around a home or the store."""
    named = [Path(text) for text in inherited.get("LD_LIBRARY_PATH", "").split(":") if text]
    found = [folder for folder in named if any(folder.glob("*.so*"))]
    if (cuda := Path(inherited.get("CUDA_HOME") or "/nonexistent")).joinpath("bin").is_dir():
        found.append(cuda)
    if "/" in inherited.get("CC", ""):
        # bin/gcc needs the folders beside bin
        compilers = (Path(inherited["CC"]), Path(inherited["CC"]).resolve())
        found += [each.parent.parent for each in compilers if each.is_file() and each.parent.name == "bin"]
    protected = _protected_folders(inherited)

    def harmless(folder: Path) -> bool:
        return not _holds_any(folder, protected) and not any(folder.is_relative_to(each) for each in protected)

    return [folder for folder in found if harmless(folder.absolute()) and harmless(folder.resolve())]


def _protected_folders(inherited: Mapping[str, str]) -> list[Path]:
    """Homes, the store and the project's data. A variable must not make a folder visible that contains one of them."""
    always = (Path("/root"), Path("/home"), Path("/etc"), Path("/proc"), PACKAGE.parent / "data")
    named = (Path(inherited.get(name) or "/").resolve() for name in ("HOME", "PASSNET_HOME", "PASSNET_DATA"))
    return [*always, *(path for path in named if path != Path("/"))]


def _holds_any(folder: Path, protected: Iterable[Path]) -> bool:
    return any(each.is_relative_to(folder) for each in protected)


def private_temp(also: Sequence[Path] = ()) -> str:
    """The scratch folder inside a sandbox that shows these further folders.

    It is the first of PRIVATE_TEMPS below which no folder of the machine is shown. What is mounted there could not be
    removed for the next bundle, and would tell each bundle where on the machine this package lies."""
    shown = (*_shown_folders(os.environ), *(path.absolute() for path in also))
    free = (temp for temp in PRIVATE_TEMPS if not any(path.is_relative_to(temp) for path in shown))
    return next(free, PRIVATE_TEMPS[-1])


def _shown_folders(inherited: Mapping[str, str]) -> list[Path]:
    """The interpreter with its packages, this package, and folders that variables name, except those below /usr."""
    wanted = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent, PACKAGE]
    wanted += [Path(text) for text in sys.path if text and Path(text).name in ("site-packages", "dist-packages")]
    wanted += _import_folders(inherited)
    wanted += _named_folders(inherited)
    shown: list[Path] = []
    for folder in sorted({path.absolute() for path in wanted if path.is_dir()}, key=lambda path: len(path.parts)):
        if not any(folder.is_relative_to(other) for other in (Path("/usr"), *shown)):
            shown.append(folder)
    return shown


@cache
def why_unavailable() -> str:
    """Why this machine cannot start a sandbox, found by trying; empty if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    try:
        line = command([sys.executable, "-I", "-c", "pass"], isolation=Isolation.SANDBOXED, device=Device.CPU)
        tried = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be started: {error}"
    return "" if tried.returncode == 0 else f"bubblewrap is refused: {tried.stderr.strip()[:200] or tried.returncode}"


def available() -> bool:
    """Whether this machine can sandbox candidate code."""
    return not why_unavailable()


def chosen(isolation: str) -> Isolation:
    """The isolation for "auto", "sandboxed" or "process". Raises InfrastructureError if it is not available."""
    if isolation == "process":
        return Isolation.PROCESS
    if available():
        return Isolation.SANDBOXED
    if isolation == "sandboxed":
        raise InfrastructureError(
            f"No sandbox is available: {why_unavailable()}. Fix that, or set PASSNET_ISOLATION to process."
        )
    return Isolation.PROCESS


def limit_this_process(*, device: Device, cpu_s: float, limits: Limits = LIMITS) -> None:
    """Set the limits of the calling process and of all that it starts, irrevocably."""
    ceilings = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CPU: int(cpu_s) + 1,
    }
    if device is Device.CPU:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        ceilings[resource.RLIMIT_AS] = pages * resource.getpagesize() + limits.memory_bytes
    if is_private() and _kernel() >= (5, 14):
        # counted per sandbox, and not for root; older kernels count every process of this user. More than the judge
        # lets it have, so that it says what was too much before the kernel refuses it
        ceilings[resource.RLIMIT_NPROC] = 2 * limits.threads
    for kind, ceiling in ceilings.items():
        hard = resource.getrlimit(kind)[1]
        value = ceiling if hard == resource.RLIM_INFINITY else min(ceiling, hard)
        resource.setrlimit(kind, (value, value))


def _kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])


def confine_this_process(device: Device, also: Sequence[Path] = ()) -> None:
    """Drop what candidate code does not need, for the calling process and all that it starts, irrevocably.

    Call it while there is only one thread, before CUDA starts its own. also: further folders that it may read."""
    # NVIDIA's driver does not start under Landlock, whatever the rules allow ("OS call failed")
    reach = _reach(device, also) if device is Device.CPU else None
    confinement.confine(reach, count_memory=device is Device.CPU)


def _reach(device: Device, also: Sequence[Path]) -> confinement.Reach:
    """The files that a worker may reach: in a sandbox everything it sees, otherwise a similar list of the machine's."""
    scratch = Path(os.environ.get("TMPDIR", PRIVATE_TEMPS[0]))
    private = is_private()
    system = (*SYSTEM_FOLDERS, *SYSTEM_FILES, "/proc", "/sys")
    nodes = [Path("/dev", name) for name in DEVICES]
    shared_memory = (Path("/dev/shm"),) if private or device is Device.CUDA else ()
    return confinement.Reach(
        read=(Path("/"),) if private else (*map(Path, system), *_shown_folders(os.environ), *also),
        listed=(Path("/dev"),),
        use=(*nodes, *(device_nodes() if device is Device.CUDA else ()), Path("/proc/self/comm")),
        own=(scratch, *shared_memory),
    )


def enter(first: int) -> None:
    """Move this process into the namespaces of another sandbox, where it has every capability until it drops them; its
    children are in the process namespace too. It must have a single thread. first: a pidfd of the sandbox's first
    process. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(first, confinement.NEW_NAMESPACES):
        number = ctypes.get_errno()
        raise OSError(number, f"The sandbox cannot be entered: {os.strerror(number)}")


def _session(first: int) -> list[int]:
    """The other processes of the session that this one has begun. One that bubblewrap had forked, but not yet confined,
    outlives it there."""
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(ProcessLookupError):
            if name.isdigit() and int(name) != first and os.getsid(int(name)) == first:
                found.append(int(name))
    return found


def own_scratch(home: Path) -> Path:
    """The folder for the temporary files of this process alone, below the home of a judge. It need not exist."""
    return home / "scratch" / str(os.getpid())


def end_with(channel: int, scratch: Path | None = None) -> None:
    """End this process, with all that it has started and its scratch folder, once the other end of this channel is
    closed, whatever it is doing. The kernel closes it in whatever way its holder ends. A parent-death signal would not
    do: it follows the thread that started this process, which may end long before the others do."""

    def wait() -> None:
        poll = select.poll()
        poll.register(channel, select.POLLRDHUP)
        poll.poll()
        # each look at /proc would otherwise wait for the interpreter, while another thread loads torch
        sys.setswitchinterval(1e-5)
        _starting.acquire()
        adopt_orphans()
        if os.getsid(0) == os.getpid():
            _send(_session(os.getpid()), signal.SIGKILL)
        # the first process of a namespace ends only once all of its processes are buried
        kill_tree(os.getpid())
        # the other threads of this process go on, and may make files there
        for _ in range(CLEARING_TRIES):
            if scratch is None or not scratch.exists():
                break
            shutil.rmtree(scratch, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def die_with_parent(is_gone: Callable[[], bool]) -> None:
    """Have the kernel kill this process when the thread that started it ends. is_gone: whether it had ended before."""
    set_death_signal = 1
    ctypes.CDLL(None, use_errno=True).prctl(set_death_signal, signal.SIGKILL, 0, 0, 0)
    if is_gone():
        os._exit(1)


def is_closed(channel: int) -> bool:
    """Whether the other end of a channel is closed."""
    poll = select.poll()
    poll.register(channel, select.POLLRDHUP)
    return bool(poll.poll(0))


def open_memory(*, opened: bool) -> None:
    """Whether other processes of this user may read and write the memory of this process and of what it forks."""
    set_dumpable = 4
    ctypes.CDLL(None, use_errno=True).prctl(set_dumpable, int(opened), 0, 0, 0)


def adopt_orphans() -> None:
    """Make this process the parent of orphaned descendants, so that they can be found and killed."""
    set_child_subreaper = 36
    ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0)


class _Process(NamedTuple):
    """One process, from /proc/PID/stat."""

    parent: int
    state: str
    threads: int
    resident_bytes: int

    @property
    def dead(self) -> bool:
        """A process whose first thread has ended looks dead, although other threads may go on."""
        return self.state in "ZX" and self.threads <= 1


def _below(pid: int) -> dict[int, _Process]:
    """All descendants of a process by id, parents first."""
    lines: dict[int, list[bytes]] = {}
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := _fields(name)):
            lines[int(name)] = fields
            children.setdefault(int(fields[1]), []).append(int(name))
    found = [pid]
    for each in found:
        found += children.get(each, ())
    return {each: _process(lines[each]) for each in found[1:]}


def _fields(pid: int | str) -> list[bytes]:
    """The fields of /proc/PID/stat from the state on; empty if the process is gone.

    A measurement stops candidates dozens of times and reads every process each time: pathlib would be 4 times slower.
    """
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        return os.read(file, 4096).rpartition(b")")[2].split()
    except OSError:
        return []
    finally:
        os.close(file)


def _process(fields: Sequence[bytes]) -> _Process:
    resident = int(fields[21]) * resource.getpagesize()
    return _Process(int(fields[1]), fields[0].decode(), int(fields[17]), resident)


def is_private() -> bool:
    """Whether the calling process runs in a sandbox."""
    return os.environ.get("TMPDIR") in PRIVATE_TEMPS


def descendants(pid: int) -> list[int]:
    """All living descendants of a process, parents first."""
    return [each for each, process in _below(pid).items() if not process.dead]


def _stop_tree(pid: int) -> None:
    """Stop all descendants of a process. Raises TimeoutError if new ones keep appearing."""
    until = time.monotonic() + STOP_PATIENCE_S
    signalled: set[int] = set()
    while True:
        below = {each: process for each, process in _below(pid).items() if not process.dead}
        moving = {each for each, process in below.items() if process.state not in "Tt"}
        # a process whose first thread has ended does not show whether its other threads have stopped
        if all(below[each].state == "Z" and each in signalled for each in moving):
            return
        if time.monotonic() > until:
            raise TimeoutError(f"{len(moving)} processes could not be stopped within {STOP_PATIENCE_S:.0f} s.")
        _send(moving, signal.SIGSTOP)
        signalled |= moving
        while time.monotonic() < until and any(_fields(each)[:1] in _MOVING for each in moving):
            time.sleep(0.0001)


def rest(pid: int) -> None:
    """Stop a process and all its descendants, as far as that is possible, until wake()."""
    with contextlib.suppress(ProcessLookupError, TimeoutError):
        os.kill(pid, signal.SIGSTOP)
        _stop_tree(pid)


def wake(pid: int) -> None:
    """Resume what rest() stopped."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)
        _send((each for each, process in _below(pid).items() if not process.dead), signal.SIGCONT)


def excess(pid: int, limits: Limits) -> str:
    """Which limit the descendants of a process exceed together, as a clause; empty if none. Zombies count too.

    Do not call it in the process that they were forked from: it shares a lock with them and would block."""
    below = _below(pid)
    if len(below) > limits.processes:
        return f"it started more than {limits.processes} processes"
    if sum(process.threads for process in below.values()) > limits.threads:
        return f"it started more than {limits.threads} threads"
    if sum(map(_open_files, below)) > limits.together_open_files:
        return f"its processes opened more than {limits.together_open_files} files, pipes and sockets together"
    resident = sum(process.resident_bytes for process in below.values())
    # pages that forks share count once per process here; exact figures are slow to get from the kernel
    if resident > limits.together_bytes and _memory_left() < SCARCE:
        return f"its processes took more than {limits.together_bytes >> 30} GiB of memory together, and little is left"
    return ""


def _open_files(pid: int) -> int:
    """How many files a process has open, none if it has ended or is another user's."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def _memory_left() -> float:
    """The share of this machine's memory that is available."""
    available, total = memory_bytes()
    return available / total


def memory_bytes() -> tuple[int, int]:
    """How much of this machine's memory is available, and how much there is."""
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    kib = {words[0]: int(words[1]) for words in lines if len(words) > 1}
    return kib.get("MemAvailable:", 1) << 10, kib.get("MemTotal:", 1) << 10


def kill_tree(pid: int, *, patience_s: float = 5.0, reap: bool = True) -> int:
    """Kill all descendants of a process, repeatedly until none is left, and return how many there were.

    pid itself is spared. reap: also wait for ended children, for a caller none of whose children should survive."""
    met: set[int] = set()
    until = time.monotonic() + patience_s
    while living := descendants(pid):
        met.update(living)
        # stop them all before killing any, or a fork bomb would outrun this
        _send(living, signal.SIGSTOP)
        _send(living, signal.SIGKILL)
        if reap:
            _reap()
        if time.monotonic() > until:
            break
        time.sleep(0.005)
    if reap:
        _reap()
    return len(met)


def _send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def _reap() -> None:
    """Wait for ended orphans."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def folder_bytes(folder: Path) -> int:
    """Disk space of everything below a folder, at least a block per entry. Links are not followed.

    Entries that vanish meanwhile do not count."""
    block = 4096
    total = 0
    for root, folders, names in os.walk(folder):
        for name in (*folders, *names):
            try:
                total += max(block, os.lstat(os.path.join(root, name)).st_blocks * 512)
            except OSError:
                continue
    return total
