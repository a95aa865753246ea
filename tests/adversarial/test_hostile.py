"""Passes that attack the machine with the static rules switched off: only the processes and the kernel protect it."""

import importlib.util
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from passnet_core.corpus.layout import write_task
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.judge.supervisor import confinement, sandbox
from passnet_core.records import (
    Device,
    EvalSpec,
    Family,
    Outcome,
    Profile,
    Stage,
    Task,
    Verdict,
    to_json,
)
from passnet_core.service import open_service
from passnet_core.settings import IsolationChoice, Settings
from tests.contract.judging import RIGHT, ample_s, hostile_at_import, hostile_in_call, job, judged, subgraph
from tests.fake_backend import FakeBackend
from tests.waiting import eventually, seconds, short

pytestmark = [pytest.mark.settled, pytest.mark.long]

MARK = f"hostile{os.getpid()}"
"""The names of all hostile processes and files contain this."""
SECRET = f"secret-of-{MARK}"
SHORT_S = 5.0
"""The deadline in seconds, on an idle machine, of an attack that is meant to miss it."""
GROWTH_BYTES = 256 << 20
OUTCOME_BYTES = 100_000
"""The most bytes that an outcome of these jobs may take in the store."""

BLINDED = """
import sys
from passnet_core.judge import __main__ as program
from passnet_core.bundles.static_rules import findings
findings.admitted = lambda bundle, *given, **named: findings.Admission(bundle, ())
program.main(sys.argv[1:])
"""

CONFINED = confinement.landlock_version() >= 6
"""Whether this kernel can protect files and processes without namespaces."""


Backends = Callable[[str], LocalBackend]
Residents = dict[str, tuple[int, int]]
"""The referee's process id and memory in bytes before any attack, by isolation."""


@dataclass(frozen=True)
class Arena:
    """The targets of attacks: a home with secrets, a store, and sockets that listen on this machine."""

    home: Path
    python: Path
    secrets: tuple[Path, ...]
    tcp_port: int
    udp: socket.socket
    abstract: str
    unix: Path


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    folder = tmp_path_factory.mktemp("arena")
    home = folder / "home"
    (home / "store").mkdir(parents=True)
    blinded = folder / "blinded.py"
    blinded.write_text(BLINDED)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nshift 2\nexec "{sys.executable}" "{blinded}" "$@"\n')
    python.chmod(0o755)
    with (
        pytest.MonkeyPatch.context() as environment,
        tempfile.NamedTemporaryFile("w", dir=_existing(Path.home()), prefix=".secret-") as real_home,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as unix,
    ):
        secrets = (home / ".netrc", home / "store" / "results.txt", Path(real_home.name))
        for path in secrets:
            path.write_text(SECRET)
        environment.setenv("HOME", str(home))
        environment.setenv("OPENAI_API_KEY", SECRET)
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        abstract.bind(f"\0{MARK}")
        abstract.listen()
        unix.bind(str(folder / "socket"))
        unix.listen()
        yield Arena(home, python, secrets, tcp.getsockname()[1], udp, MARK, folder / "socket")


@pytest.fixture(scope="module")
def backends(arena: Arena) -> Iterator[Backends]:
    """One backend for each isolation, started when it is first needed."""
    made: dict[str, LocalBackend] = {}
    making = threading.Lock()

    def one(isolation: str) -> LocalBackend:
        isolation = "sandboxed" if isolation == "auto" and sandbox.available() else isolation
        with making:
            if isolation in made:
                return made[isolation]
            made[isolation] = LocalBackend(arena.python, isolation, arena.home / isolation, checkers=0)
            made[isolation].prepare()
        return made[isolation]

    yield one
    for isolation, each in made.items():
        each.close()
        assert list((arena.home / isolation / "scratch").rglob("*")) == []
    nothing_stays_behind()


@pytest.fixture(scope="module")
def residents() -> Residents:
    return {}


def code_of(act: str, place: str) -> str:
    """The right pass with a hostile act. place: "import", or "call" for each call of its replacement."""
    body = f"open('/proc/self/comm', 'w').write({MARK!r})\n{act.strip()}"
    defined = f"import resource, socket, threading\n\ndef hostile():\n{textwrap.indent(body, '    ')}\n\n"
    statement = "hostile()"
    return hostile_at_import(defined + statement) if place == "import" else defined + hostile_in_call(statement)


def left_behind() -> list[str]:
    """The processes and files that hostile passes have left."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            names = entry.joinpath("comm").read_bytes() + entry.joinpath("cmdline").read_bytes()
            state = entry.joinpath("stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if MARK.encode() in names and state not in "ZX":
            found.append(f"process {entry.name}")
    folders: list[str | Path] = ["/", "/tmp", "/dev/shm", "/var/tmp", os.environ["HOME"], Path.home(), Path.cwd()]
    for folder in (*folders, sandbox.PACKAGE, sandbox.PACKAGE.parent, *sandbox._shown_folders(os.environ)):
        found += [entry.path for entry in os.scandir(folder) if entry.name.startswith(MARK)]
    return found


def nothing_stays_behind() -> None:
    """Wait until nothing of the attacks is left."""
    left: list[str] = []

    def clean() -> bool:
        left[:] = left_behind()
        return not left

    try:
        eventually(clean)
    except AssertionError:
        pytest.fail(f"left behind: {left}")


def at_once(works: Mapping[str, Callable[[], None]]) -> None:
    """Do the works at the same time, but only those whose isolation this machine supports."""
    with ThreadPoolExecutor() as pool:
        done = [
            pool.submit(work) for isolation, work in works.items() if isolation != "sandboxed" or sandbox.available()
        ]
        for each in done:
            each.result()


def resident_bytes(backend: LocalBackend, profile: Profile = Profile.STRICT) -> tuple[int, int]:
    """The referee's process id and memory in bytes, after it has judged a right pass."""
    assert judged(backend, job(RIGHT, profile=profile)).verdict is Verdict.VALUES_ONLY
    process = backend._referees[False][0].process
    assert process is not None
    return process.pid, int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def first_seen(residents: Residents, isolation: str, backend: LocalBackend) -> tuple[int, int]:
    """The referee's process id and memory in bytes before the first attack on it."""
    if isolation not in residents:
        residents[isolation] = resident_bytes(backend)
    return residents[isolation]


def told(outcome: Outcome) -> str:
    return " ".join((outcome.reason, *(each.text for each in outcome.evidence)))


def can_be_kept(outcome: Outcome) -> bool:
    """Whether the outcome judges the candidate, can be written as UTF-8, and is small enough for the store."""
    written = json.dumps(to_json(outcome), ensure_ascii=False).encode()
    return outcome.verdict.judged and len(written) < OUTCOME_BYTES


def unharmed_by(backend: LocalBackend, outcome: Outcome, before: tuple[int, int]) -> None:
    """Assert that the outcome can be kept, and that the same referee still judges the next pass."""
    assert can_be_kept(outcome), told(outcome)
    # the short profile: this is asked after each attack
    after = resident_bytes(backend, Profile.PASSNET)
    assert after[0] == before[0], "the referee was restarted"
    assert after[1] < before[1] + GROWTH_BYTES


# --- acts ------------------------------------------------------------------------------------------------------------

RIGHT_AT_LAST = frozenset({Verdict.VALUES_ONLY})
FAILED = frozenset({Verdict.DOES_NOT_LOAD, Verdict.CRASHED})
EITHER = RIGHT_AT_LAST | FAILED


@dataclass(frozen=True)
class Act:
    """A hostile act. verdicts: those that it may get. word: a part of the reason or evidence of a failure."""

    name: str
    code: str
    verdicts: frozenset[Verdict]
    word: str = ""
    endless: bool = False


def endless(name: str, code: str) -> Act:
    return Act(name, code, frozenset({Verdict.TIMED_OUT}), endless=True)


LOOP = endless("endless loop", "while True: pass")
DEAF_SLEEP = endless(
    "sleep, deaf to signals",
    """
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
time.sleep(100000)
""",
)
STOP = endless("stop itself", "os.kill(os.getpid(), signal.SIGSTOP)")
FLOOD = endless("log flood", "line = b'x' * 65536\nwhile True: os.write(1, line)")
ZOMBIES = Act(
    "dead processes that nobody collects",
    "while True:\n    if os.fork() == 0: os._exit(0)",
    frozenset({Verdict.CRASHED}),
    "processes",
)
FORK_BOMB = Act(
    "fork bomb", "while True:\n    try: os.fork()\n    except OSError: pass", frozenset({Verdict.CRASHED}), "processes"
)
THREAD_BOMB = Act(
    "thread bomb",
    """
ctypes.CDLL(None).mallopt(-8, 1)  # one arena for all threads: with one for each, the limit of memory comes first
threading.stack_size(32768)
while True:
    try: threading.Thread(target=time.sleep, args=(100000,), daemon=True).start()
    except RuntimeError: time.sleep(0.01)
""",
    frozenset({Verdict.CRASHED}),
    "threads",
)
MEMORY = Act("100 GB of memory", "kept = bytearray(100 << 30)", FAILED, "emory")
# in a replacement it allocates nothing: no tensor has content while a plan is recorded
TENSORS = Act("100 GB of tensors", "import torch; kept = torch.ones(100 << 30, dtype=torch.uint8)", EITHER)
HIDDEN_MEMORY = Act(
    "memory that no limit counts",
    """
refused = []
try: os.memfd_create('hidden')
except OSError: refused.append('memfd')
libc = ctypes.CDLL(None)
libc.shmget.restype = ctypes.c_int
if libc.shmget(0, ctypes.c_size_t(1 << 20), 0o1600) == -1: refused.append('shmget')
if refused != ['memfd', 'shmget']: raise RuntimeError(f'only {refused} are refused')
""",
    RIGHT_AT_LAST,
)
DISK = Act(
    "disk bomb",
    """
for number in range(100_000):
    with open(os.path.join(os.environ['TMPDIR'], f'fill-{number}'), 'wb') as file: file.write(bytes(1 << 24))
""",
    FAILED,
)
EMPTY_FILES = Act(
    "millions of empty files",
    """
for number in range(10_000_000): open(os.path.join(os.environ['TMPDIR'], f'empty-{number}'), 'w').close()
""",
    FAILED,
)
SHARED_MEMORY = Act(
    "bomb in shared memory",
    f"""
for number in range(100_000):
    with open(f'/dev/shm/{MARK}-{{number}}', 'wb') as file: file.write(bytes(1 << 24))
""",
    FAILED,
)
SEGFAULT = Act("segmentation fault", "ctypes.string_at(0)", frozenset({Verdict.CRASHED}), "SIGSEGV")
EXIT_0 = Act("exit with status 0", "os._exit(0)", frozenset({Verdict.CRASHED}), "status 0")
KILL_PARENT = Act("kill the parent", "os.kill(os.getppid(), signal.SIGKILL)", EITHER)
KILL_ALL = Act(
    "kill and stop every process it sees",
    """
seen = [int(name) for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid()]
if len(seen) > 50: os._exit(99)
for number in (signal.SIGSTOP, signal.SIGKILL):
    for pid in (*seen, -1):
        try: os.kill(pid, number)
        except OSError: pass
""",
    EITHER,
)
DAEMONS = Act(
    "daemons",
    f"""
for number in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 1000)
            if number == 0: time.sleep(100000)
            if number == 1: os.execve(sys.executable, [{MARK!r}, '-c', 'import time; time.sleep(100000)'], {{}})
            while True: signal.pause()
        os._exit(0)
""",
    RIGHT_AT_LAST,
)
OPEN_FILES = Act(
    "all file descriptors",
    """
global kept
kept = []
while True:
    try: kept.append(os.dup(0))
    except OSError: break
""",
    EITHER,
)
PIPES = Act(
    "full pipes in many processes",
    """
kept = []
for number in range(8):
    if os.fork() == 0: break
while True:
    try: kept.append(os.pipe())
    except OSError: break
while True: signal.pause()
""",
    frozenset({Verdict.CRASHED}),
    "files, pipes and sockets",
)
NO_SCRATCH = Act(
    "delete its scratch folder",
    """
import shutil
shutil.rmtree(os.environ['TMPDIR'], ignore_errors=True)
shutil.rmtree('/dev/shm', ignore_errors=True)
""",
    EITHER,
)
LONG_MESSAGE = Act("a long message", "raise ValueError('x' * (1 << 28))", FAILED)
BAD_STR = Act(
    "an exception that cannot be read",
    """
class Kind(type):
    __name__ = __qualname__ = __module__ = property(lambda self: 1 / 0)
class Bad(BaseException, metaclass=Kind):
    __cause__ = __traceback__ = __context__ = property(lambda self: 1 / 0)
    def __str__(self): os._exit(0) if False else [][0]
    __repr__ = __format__ = __str__
raise Bad
""",
    FAILED,
)
LIMITS_OFF = Act(
    "take its limits off",
    """
for limit in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU):
    hard = resource.getrlimit(limit)[1]
    try: resource.setrlimit(limit, (hard * 2, hard * 2))
    except (OSError, ValueError): continue
    raise RuntimeError(f'limit {limit} can be raised')
""",
    RIGHT_AT_LAST,
)

Attack = tuple[Act, str]
"""An act and its place: "import" or "call"."""

ATTACKS: dict[str, tuple[Attack, Attack | None]] = {
    "endless": ((DEAF_SLEEP, "import"), (LOOP, "call")),
    "stopped": ((STOP, "call"), (STOP, "import")),
    "flood": ((FLOOD, "import"), (FLOOD, "call")),
    "processes": ((FORK_BOMB, "call"), (ZOMBIES, "import")),
    "threads": ((THREAD_BOMB, "import"), (THREAD_BOMB, "call")),
    "memory": ((MEMORY, "import"), (TENSORS, "call")),
    "hidden memory": ((HIDDEN_MEMORY, "call"), (HIDDEN_MEMORY, "import") if CONFINED else None),
    "disk": ((DISK, "import"), (DISK, "call")),
    "shared memory": ((SHARED_MEMORY, "import"), (SHARED_MEMORY, "call") if CONFINED else None),
    "crash": ((EXIT_0, "import"), (SEGFAULT, "call")),
    "kill": ((KILL_ALL, "import"), (KILL_PARENT, "call")),
    "kill again": ((KILL_ALL, "call"), (KILL_PARENT, "import")),
    "daemons": ((DAEMONS, "import"), (DAEMONS, "call")),
    "words": ((BAD_STR, "import"), (LONG_MESSAGE, "call")),
    "own ground": ((NO_SCRATCH, "call"), (EMPTY_FILES, "import")),
    "files": ((EMPTY_FILES, "import"), (PIPES, "call")),
    "pipes": ((PIPES, "import"), None),
    "limits": ((OPEN_FILES, "import"), (LIMITS_OFF, "import") if CONFINED else (EXIT_0, "call")),
}
"""An attack in a sandbox, and one at the same time in process isolation."""


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_the_machine_ends_only_its_own_job(backends: Backends, residents: Residents, name: str) -> None:
    def attack(isolation: str, act: Act, place: str) -> None:
        backend = backends(isolation)
        before = first_seen(residents, isolation, backend)
        deadline_s = short(SHORT_S) if act.endless else ample_s()
        outcome = judged(backend, job(code_of(act.code, place), deadline_s=deadline_s))
        assert outcome.verdict in act.verdicts, f"{isolation}: {told(outcome)}"
        assert act.word in told(outcome) or outcome.verdict in RIGHT_AT_LAST, f"{isolation}: {told(outcome)}"
        unharmed_by(backend, outcome, before)

    sandboxed, process = ATTACKS[name]
    works = {"sandboxed": partial(attack, "sandboxed", *sandboxed)}
    if process is not None:
        works["process"] = partial(attack, "process", *process)
    at_once(works)
    nothing_stays_behind()


# --- what a candidate can reach ---------------------------------------------------------------------------------------

PROBE = """
import ctypes, glob, json, os, resource, signal, socket, time
given = json.loads(GIVEN)
found = []
libc = ctypes.CDLL(None, use_errno=True)

def attempt(what, act):
    try:
        if act() is not False: found.append(what)
    except OSError:
        pass  # held back, as it should be

def holds_secret(path):
    with open(path, 'rb') as file: return given['secret'].encode() in file.read(1 << 20)

def connects(family, address):
    with socket.socket(family) as tried:
        tried.settimeout(5)
        tried.connect(address)

def sends(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tried: tried.sendto(b'mark', address)

def writes(folder):
    open(os.path.join(folder, given['mark']), 'w').close()

own = os.getpid()

def asks(*call):
    return libc.syscall(*call) >= 0

for path in glob.glob('/proc/[0-9]*/environ'):
    attempt('environment', lambda: holds_secret(path))
for path in given['secrets']:
    attempt('secret ' + path, lambda: holds_secret(path))
for folder in given['folders']:
    attempt('written ' + folder, lambda: writes(folder))
for path in given['files']:
    attempt('tampered ' + path, lambda: open(path, 'r+b').close())
parent = os.getppid()
attempt('tcp', lambda: connects(socket.AF_INET, ('127.0.0.1', given['tcp'])))
attempt('udp', lambda: sends(('127.0.0.1', given['udp'])))
attempt('listen', lambda: socket.create_server(('0.0.0.0', 0)).close())
attempt('abstract', lambda: connects(socket.AF_UNIX, chr(0) + given['abstract']))
attempt('unix', lambda: connects(socket.AF_UNIX, given['unix']))
attempt('name', lambda: socket.getaddrinfo('example.org', 80))
attempt('signal', lambda: os.kill(parent, 0))
attempt('memory of the parent', lambda: open(f'/proc/{parent}/mem', 'rb').close())
attempt('files of the parent', lambda: os.readlink(f'/proc/{parent}/fd/1'))
if given['machine'] == 'x86_64':
    seize, new_user, new_mount = 0x4206, 0x10000000, 0x20000
    attempt('ptrace', lambda: asks(101, seize, parent, 0, 0))
    attempt('unshare', lambda: asks(272, new_user | new_mount))
    attempt('clone', lambda: asks(56, new_user | signal.SIGCHLD, 0, 0, 0, 0) and (os.getpid() == own or os._exit(0)))
    attempt('io_uring', lambda: asks(425, 8, bytes(120)))
    attempt('perf_event', lambda: asks(298, bytes(128), 0, -1, -1, 0))
    attempt('userfaultfd', lambda: asks(323, 1))
for path in glob.glob('/dev/[svx]d[a-z]') + ['/dev/mem', '/dev/kmsg', '/dev/fuse', '/dev/kvm']:
    attempt('device ' + path, lambda: open(path, 'rb').close())
"""

REPORT = "if found: raise RuntimeError('reached: ' + ', '.join(found))"


def _existing(folder: Path) -> Path:
    """The folder, or the nearest parent that exists."""
    return next(each for each in (folder, *folder.parents) if each.is_dir())


def probe(arena: Arena, *, folders: Sequence[Path] = (), store: Path | None = None) -> str:
    """Code that tries to reach everything in the arena and on this machine, and lists in found what it reached.

    folders: the folders to write into, instead of all valuable ones. store: one more file that nobody may open.
    """
    specs = filter(None, map(importlib.util.find_spec, ("torch", "triton")))
    packages = [Path(spec.origin) for spec in specs if spec.origin]
    assert len(packages) == 2
    secrets = [*arena.secrets, *filter(None, [store])]
    own = sandbox.PACKAGE / "records" / "codec.py"
    valuable = [
        *map(Path, ("/", "/etc", "/usr/local", "/var/tmp", "/home", "/root", "/srv", sys.prefix)),
        *(Path.home(), arena.home, arena.home / "store", Path.cwd(), sandbox.PACKAGE, sandbox.PACKAGE / "judge"),
        *(package.parent for package in packages),
    ]
    given = {
        "secret": SECRET,
        "mark": MARK,
        "secrets": list(map(str, secrets)),
        "folders": list(map(str, folders or valuable)),
        "files": list(map(str, (*packages, *secrets, own, sys.executable, "/etc/passwd"))),
        "tcp": arena.tcp_port,
        "udp": arena.udp.getsockname()[1],
        "abstract": arena.abstract,
        "unix": str(arena.unix),
        "machine": platform.machine(),
    }
    return PROBE.replace("GIVEN", repr(json.dumps(given)))


def test_outside_a_sandbox_the_probe_reaches_everything(arena: Arena) -> None:
    tried = probe(arena, store=arena.secrets[0]).replace(
        "for folder in given['folders']", "for folder in [given['own']]"
    )
    own = (
        f"{tried.split('found = []')[0]}\ngiven['own'] = {str(arena.home)!r}\nfound = []{tried.split('found = []')[1]}"
    )
    ran = subprocess.run(
        [sys.executable, "-c", f"{own}\nprint(json.dumps(found))"],
        capture_output=True,
        text=True,
        timeout=seconds(60),
        check=True,
    )
    (arena.home / MARK).unlink()
    expected = {"environment", f"written {arena.home}", "tcp", "udp", "listen", "abstract", "unix", "signal"}
    expected |= {f"secret {path}" for path in arena.secrets} | {f"tampered {path}" for path in arena.secrets}
    assert expected <= set(json.loads(ran.stdout))
    assert arena.udp.recv(16) == b"mark"


def test_a_candidate_reaches_nothing_outside_its_job(backends: Backends, residents: Residents, arena: Arena) -> None:
    def look(isolation: str, place: str, allowed: tuple[str, ...]) -> None:
        tried = f"{probe(arena)}\nfound = [each for each in found if each not in {allowed}]\n{REPORT}"
        before = first_seen(residents, isolation, backends(isolation))
        outcome = judged(backends(isolation), job(code_of(tried, place)))
        assert outcome.verdict is Verdict.VALUES_ONLY, f"{isolation}: {told(outcome)}"
        unharmed_by(backends(isolation), outcome, before)

    looks = {"sandboxed": partial(look, "sandboxed", "call", ())}
    if CONFINED:
        # Landlock does not restrict Unix sockets with a path
        looks["process"] = partial(look, "process", "import", ("unix",))
    at_once(looks)
    with pytest.raises(BlockingIOError):
        arena.udp.recv(16)
    nothing_stays_behind()


# --- forged replies --------------------------------------------------------------------------------------------------

FORGED = """
import json
import struct
from passnet_core.judge.protocol import framing

def forged(channel, message, pause=None, honest=framing.send):
    fields, tensors = message.fields, message.tensors
    if WHEN in fields:
        FORGE
    honest(channel, framing.WireMessage(fields, tuple(tensors)))

framing.send = forged
"""

SILENT = """
        header = b'{"fields": {}, "tensors": [{"dtype": "uint8", "shape": [4294967296]}]}'
        channel.sendall(struct.pack('!IQ', len(header), 4 << 30) + header)
        __import__('time').sleep(100000)"""

LOADED = {
    "claims 4 GB": SILENT,
    "no passes": "fields = {'passes': 5, 'replacements': [], 'warnings': []}",
    "millions of nodes": """
        nodes = fields['passes'][0]['pattern']['nodes']
        nodes += [{**nodes[0], 'name': f'n{n}', 'target': f'n{n}'} for n in range(400_000)]""",
    "nested values": """
        value = []
        for _ in range(400): value = [value]
        fields['passes'][0]['pattern']['nodes'][-1]['args'] = [{'list': value}, value]""",
    "long texts": "fields['warnings'] = ['x' * 500_000] * 4; fields['passes'][0]['name'] = 'x\\0' * 300_000",
    "many texts": "fields['warnings'] = ['x'] * 100_000",
    "a long and broken fault": r"fields = {'fault': 'judge', 'text': '\ud800' * (1 << 16), 'trace': 'x' * (1 << 20)}",
    "a long fault": "fields = {'fault': 'load', 'text': 'x\\0' * 100_000, 'trace': {'x' * 1000: 'x' * (1 << 20)}}",
}
"""Forged replies of a candidate to the request for its passes."""

RETURNED = {
    "claims 4 GB and stays silent": SILENT,
    "endless seconds": "fields['seconds'] = float('inf')",
    "a tensor that is not there": "fields['outputs'][0]['tensor'] = 7",
    "shapes of anything": "fields['outputs'][0].update(shape=['x', None], strides='abc', device=[1]); tensors = ()",
    "a huge shape": "fields['outputs'][0].update(shape=[1 << 62] * 40, tensor=None); tensors = ()",
    "thousands of outputs": "fields['outputs'] *= 20_000",
    "endless places": "fields['changed'] = [float('inf')]; fields['outputs'] = [[]]",
    "a type with a broken name": r"fields['outputs'][0]['type'] = fields['container'] = '\ud800' * 1000",
}
"""Forged replies of a candidate to the request for its outputs."""


def test_forged_replies_fail_only_the_candidates_own_job(backends: Backends, residents: Residents) -> None:
    def forge(isolation: str, when: str, forgeries: dict[str, str]) -> None:
        backend = backends(isolation)
        before = first_seen(residents, isolation, backend)
        for name, forgery in forgeries.items():
            code = FORGED.replace("WHEN", repr(when)).replace("FORGE", forgery.strip())
            deadline_s = short(SHORT_S) if forgery is SILENT else ample_s()
            outcome = judged(backend, job(hostile_at_import(code), deadline_s=deadline_s))
            assert can_be_kept(outcome), f"{name}: {told(outcome)[:1000]}"
        unharmed_by(backend, outcome, before)

    with ThreadPoolExecutor() as pool:
        loading = pool.submit(forge, "process", "passes", LOADED)
        forge("auto", "outputs", RETURNED)
        loading.result()


# --- the store -------------------------------------------------------------------------------------------------------


def test_the_store_is_intact_after_attacks(arena: Arena, tmp_path: Path) -> None:
    task = Task("add-relu", Family.FUSIBLE, "develop", (replace(subgraph(), id="float32/0"),))
    (tmp_path / "data").mkdir()
    write_task(task, tmp_path / "data" / "tasks" / "add-relu")
    settings = Settings(tmp_path / "home", tmp_path / "data", arena.python, IsolationChoice.AUTO)
    broken = FORGED.replace("WHEN", "'passes'").replace("FORGE", LOADED["long texts"])
    codes = [
        (code_of(SEGFAULT.code, "call"), Verdict.CRASHED),
        (code_of(f"{probe(arena, store=tmp_path / 'home' / 'results.duckdb')}\n{REPORT}", "import"), None),
        (code_of(DAEMONS.code, "call"), Verdict.VALUES_ONLY),
        (hostile_at_import(broken), None),
        (RIGHT, Verdict.VALUES_ONLY),
    ]
    asked = EvalSpec(stage=Stage.VERIFY, device=Device.CPU, seed=1, deadline_s=ample_s())
    service = open_service(settings)
    kept = {}
    try:
        for code, verdict in codes:
            runs: list[str] = []
            (outcome,) = service.evaluate(task, job(code).bundle, asked, fresh=True, on_run=runs.append)
            assert verdict in (None, outcome.verdict), told(outcome)
            assert outcome.verdict.judged, told(outcome)
            kept[runs[0]] = repr(service.outcomes(runs[0]))
    finally:
        service.close()
    again = open_service(settings, backend=FakeBackend(lambda job: pytest.fail("nothing is judged here")))
    try:
        assert {run: repr(again.outcomes(run)) for run in kept} == kept
    finally:
        again.close()
    nothing_stays_behind()


# --- the device ------------------------------------------------------------------------------------------------------


@pytest.mark.gpu
def test_illegal_memory_access_on_the_gpu_harms_no_other_job(backends: Backends) -> None:
    backend = backends("auto")
    illegal = RIGHT.replace("tl.store(out_ptr + offsets", "tl.store(out_ptr + (1 << 44) + offsets.to(tl.int64)")
    outcome = judged(backend, job(illegal, device=Device.CUDA))
    assert outcome.verdict is Verdict.CRASHED, told(outcome)
    after = judged(backend, job(RIGHT, device=Device.CUDA))
    assert after.verdict is Verdict.VALUES_ONLY, told(after)
