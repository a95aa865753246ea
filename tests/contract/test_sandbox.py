"""What a process in the sandbox can see and reach, tried from inside."""

import json
import os
import platform
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor import confinement, sandbox
from passnet_core.records import Device, Isolation
from tests.waiting import seconds

pytestmark = pytest.mark.sandbox


def inside(
    code: str, *, also: Sequence[Path] = (), device: Device = Device.CPU, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run Python code in the sandbox of a candidate. also: further folders that it shows."""
    return subprocess.run(
        sandbox.command([sys.executable, "-c", code], isolation=Isolation.SANDBOXED, device=device, also=also),
        env=sandbox.environment(device, sandbox.private_temp(also), {**os.environ, **more}),
        capture_output=True,
        text=True,
        timeout=seconds(60),
        check=False,
    )


def told(code: str, *, also: Sequence[Path] = (), device: Device = Device.CPU, **more: str) -> object:
    ran = inside(f"import json, os, socket\n{code}", also=also, device=device, **more)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_a_sandbox_has_only_the_allowed_environment_variables() -> None:
    names = told("print(json.dumps(sorted(os.environ)))", OPENAI_API_KEY="secret", AWS_SECRET="secret")
    assert isinstance(names, list)
    assert set(names) <= set(sandbox.environment(Device.CPU, "/tmp", {})) | {"PWD", "LC_CTYPE"}


def test_a_sandbox_shows_this_package_and_no_folder_beside_it() -> None:
    project = Path(sandbox.PACKAGE).parent
    seen = told(f"print(json.dumps(os.listdir({str(project)!r})))")
    beside = {path.name for path in project.iterdir()} - {"passnet_core", ".venv", "venv"}
    assert isinstance(seen, list)
    assert "passnet_core" in seen
    assert not beside & set(seen)


def test_a_sandbox_shows_no_secret_of_the_system() -> None:
    paths = ["/etc/shadow", "/etc/ssh", "/var", "/run"]
    assert told(f"print(json.dumps([os.path.exists(path) for path in {paths}]))") == [False] * len(paths)


def test_a_sandbox_can_write_only_to_its_scratch_folder() -> None:
    tried = ["/", "/usr", "/dev", "/etc", str(sandbox.PACKAGE), sys.prefix]
    code = f"""
def writable(folder):
    try:
        open(os.path.join(folder, 'mine'), 'w').close()
    except OSError:
        return False
    return True
print(json.dumps([writable(folder) for folder in {tried!r} + [os.environ['TMPDIR']]]))
"""
    assert told(code) == [False] * len(tried) + [True]


@pytest.mark.parametrize("shown", [(), ("/tmp/below",), ("/tmp/below", "/scratch/below")], ids=len)
def test_the_scratch_folder_lies_where_nothing_of_the_machine_is_shown(
    shown: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_shown_folders", lambda inherited: [Path("/usr/lib/python3")])
    assert sandbox.private_temp([Path(each) for each in shown]) == ("/tmp", "/scratch", "/scratch")[len(shown)]


def test_a_folder_below_the_temporary_one_does_not_show_in_the_scratch_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("shown")
    code = f"print(json.dumps([open({str(tmp_path / 'data')!r}).read(), os.listdir(os.environ['TMPDIR'])]))"
    assert told(code, also=[tmp_path]) == ["shown", []]


def test_the_disk_of_a_sandbox_is_limited() -> None:
    code = """
total = 0
try:
    while total < 1 << 30:
        with open(f'{os.environ["TMPDIR"]}/{total}', 'wb') as file:
            file.write(bytes(1 << 24))
        total += 1 << 24
except OSError:
    pass
print(json.dumps(total))
"""
    total = told(code)
    assert isinstance(total, int)
    assert 0 < total <= sandbox.LIMITS.scratch_bytes


def test_a_sandbox_has_no_network() -> None:
    code = """
def reached(address):
    try:
        socket.create_connection(address, timeout=5).close()
    except OSError:
        return False
    return True
with socket.create_server(('127.0.0.1', 0)) as own:
    print(json.dumps([reached(('127.0.0.1', PORT)), reached(('192.0.2.1', 80))]))
"""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as outside:
        assert told(code.replace("PORT", str(outside.getsockname()[1]))) == [False, False]


def test_a_sandbox_shows_only_its_own_processes() -> None:
    pids = told("print(json.dumps([int(name) for name in os.listdir('/proc') if name.isdigit()]))")
    assert isinstance(pids, list)
    assert len(pids) <= 3


def test_a_sandbox_has_no_capabilities_and_another_user_id() -> None:
    ran = told("print(json.dumps([os.getuid(), open('/proc/self/status').read()]))")
    assert isinstance(ran, list)
    uid, status = ran
    assert uid == 1000
    assert "CapEff:\t0000000000000000" in status


def test_a_sandbox_has_no_terminal_though_whoever_starts_it_has_one() -> None:
    asks = (
        "import json, os\ntry:\n    os.open('/dev/tty', os.O_RDWR)\n    print(True)\nexcept OSError:\n    print(False)"
    )
    starts = f"""
import fcntl, os, subprocess, sys, termios
from passnet_core.judge.supervisor import sandbox
from passnet_core.records import Device, Isolation
fcntl.ioctl(0, termios.TIOCSCTTY)
os.close(os.open("/dev/tty", os.O_RDWR))
command = [sys.executable, "-c", {asks!r}]
subprocess.run(sandbox.command(command, isolation=Isolation.SANDBOXED, device=Device.CPU), check=True)
"""
    user, terminal = os.openpty()
    try:
        ran = subprocess.run(
            [sys.executable, "-c", starts],
            stdin=terminal,
            capture_output=True,
            text=True,
            start_new_session=True,
            timeout=seconds(60),
            check=False,
        )
    finally:
        os.close(user)
        os.close(terminal)
    assert (ran.stdout, ran.returncode) == ("False\n", 0), ran.stderr


def test_torch_and_triton_load_in_a_sandbox() -> None:
    code = "import torch, triton\nprint(json.dumps(torch.ones(3).sum().item()))"
    assert told(code) == 3.0


def test_without_bubblewrap_sandboxed_is_refused_and_auto_takes_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    sandbox.why_unavailable.cache_clear()
    try:
        assert sandbox.chosen("auto") is Isolation.PROCESS
        with pytest.raises(InfrastructureError, match="PASSNET_ISOLATION"):
            sandbox.chosen("sandboxed")
    finally:
        sandbox.why_unavailable.cache_clear()


def test_folders_from_environment_variables_never_show_a_home_or_the_store(tmp_path: Path) -> None:
    home, tools = tmp_path / "home", tmp_path / "tools"
    for folder in (home / "lib", tools / "lib", tools / "bin", home / "bin"):
        folder.mkdir(parents=True)
    for file in (home / "lib" / "libx.so", tools / "lib" / "liby.so.1", tools / "bin" / "gcc", home / "bin" / "gcc"):
        file.touch()
    (tools / "sly").symlink_to(home / "lib")
    sly = {"HOME": str(home), "LD_LIBRARY_PATH": f"/:/home:/root:{home}/lib:{tmp_path}:{tools}/sly:{tools}/lib"}
    assert sandbox._named_folders(sly) == [tools / "lib"]
    assert sandbox._named_folders({"HOME": str(home), "CC": str(home / "bin" / "gcc"), "CUDA_HOME": "/"}) == []
    assert tools in sandbox._named_folders({"HOME": str(home), "CC": str(tools / "bin" / "gcc")})
    assert sandbox._named_folders({"PASSNET_HOME": str(tools / "lib"), "CUDA_HOME": str(tools)}) == []
    assert sandbox._import_folders({"HOME": str(home), "PYTHONPATH": f"{home}:{tmp_path}:{home}/lib"}) == [home / "lib"]


@pytest.mark.parametrize("machine", [0, 1], ids=["x86_64", "aarch64"])
def test_the_filter_of_system_calls_is_well_formed(machine: int) -> None:
    column, architecture = list(confinement.ARCHITECTURES.values())[machine]
    program = confinement.filter_program(column, architecture, count_memory=True)
    lines = list(struct.iter_unpack("=HBBI", program))
    assert len(lines) < 4096
    for place, (code, then, otherwise, _) in enumerate(lines):
        if code & 0x07 == 0x05:
            assert place + 1 + max(then, otherwise) < len(lines)
    assert lines[-1][0] == 0x06
    numbers = [numbers[column] for numbers in confinement.REFUSED_CALLS.values()]
    assert len(set(numbers)) == len(numbers)


SETTINGS = """
def can_change(path):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True

changed = []
for folder, folders, files in os.walk("/proc"):
    if folder == "/proc":
        folders[:] = [each for each in folders if not each.isdigit()]
    paths = (os.path.join(folder, each) for each in files)
    changed += [each for each in paths if not os.path.islink(each) and can_change(each)]
print(json.dumps(changed))
"""


def test_a_sandbox_can_change_no_setting_of_the_kernel_even_if_root_has_started_it() -> None:
    assert told(SETTINGS) == []


MAKES_FILES = """
made = {}
for folder in (os.environ["TMPDIR"], "/dev/shm"):
    open(f"{folder}/first", "w").close()
    makes = (
        lambda path: open(path, "w").close(),
        os.mkdir,
        lambda path: os.symlink("first", path),
        lambda path: os.link(f"{folder}/first", path),
    )
    made[folder] = 1
    try:
        while made[folder] < LIMIT + 100:
            makes[made[folder] % 4](f"{folder}/{made[folder]}")
            made[folder] += 1
    except OSError:
        pass
print(json.dumps(list(made.values())))
"""


@pytest.mark.parametrize("device", Device)
def test_the_number_of_files_in_a_sandbox_is_limited(device: Device) -> None:
    limit = sandbox.LIMITS.files
    made = told(MAKES_FILES.replace("LIMIT", str(limit)), device=device)
    assert isinstance(made, list)
    # its first folder is one of them
    assert made == [limit - 1, limit - 1]


CONFINED = """
from passnet_core.judge.supervisor import sandbox
from passnet_core.records import Device
sandbox.limit_this_process(device=Device.CPU, cpu_s=100.0)
sandbox.confine_this_process(Device.CPU)
"""
"""What a worker does before candidate code runs."""

OPENS = """
import ctypes, select
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *given):
    descriptor = getattr(libc, name)(*given)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), name)
    return descriptor

def most(make):
    kept = []
    try:
        while len(kept) < 5_000:
            kept.append(make())
    except OSError:
        pass
    for each in kept:
        for one in each if isinstance(each, tuple) else (each,):
            os.close(one) if isinstance(one, int) else one.close()
    return len(kept)

print(json.dumps({
    "pipes": most(os.pipe),
    "sockets": most(socket.socketpair),
    "events": most(lambda: os.eventfd(0)),
    "polls": most(select.epoll),
    "timers": most(lambda: call("timerfd_create", 1, 0)),
    "signals": most(lambda: call("signalfd", -1, bytes(128), 0)),
    "processes": most(lambda: os.pidfd_open(os.getpid())),
    "watches of files": most(lambda: call("inotify_init1", 0)),
    "memory": most(lambda: os.memfd_create("hidden")),
    "terminals": most(os.openpty),
}))
"""


def test_whatever_the_kernel_keeps_for_a_candidate_is_an_open_file_of_which_it_may_have_so_many() -> None:
    most = told(CONFINED + OPENS)
    assert isinstance(most, dict)
    assert [name for name, number in most.items() if number == 0] == ["memory", "terminals"]
    assert all(number < sandbox.LIMITS.open_files for number in most.values()), most


UNCOUNTED = (
    "io_setup", "inotify_add_watch", "fanotify_init", "landlock_create_ruleset", "shmget", "msgget", "semget",
    "mq_open", "add_key", "mount", "unshare",
)  # fmt: skip


def test_what_no_limit_counts_is_refused_to_a_candidate() -> None:
    column = confinement.ARCHITECTURES[platform.machine()][0]
    numbers = {name: confinement.REFUSED_CALLS[name][column] for name in UNCOUNTED}
    tried = f"""
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def refused(number):
    return libc.syscall(number, 0, 0, 0, 0, 0) == -1 and ctypes.get_errno() == errno.EPERM
print(json.dumps([name for name, number in {numbers}.items() if not refused(number)]))
"""
    assert told(CONFINED + tried) == []
