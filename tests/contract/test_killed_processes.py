"""Every process there is, killed at random while programs have runs judged and checked by the real judge: nothing that
was reported is lost or there twice, and nothing is left behind."""

import contextlib
import ctypes
import http.client
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from passnet_core.judge.supervisor import sandbox
from tests.contract.judging import RIGHT, said
from tests.contract.judging_server import SUBGRAPHS
from tests.contract.programs_served import Program
from tests.waiting import eventually, seconds
from tests.which import TESTS

pytestmark = [pytest.mark.sandbox, pytest.mark.long]

CLIENTS = 3
KINDS = ("app", "judge", "checker", "zygote", "fork server", "worker", "sandbox", "holder of a sandbox")
GONE_WITHIN_S = 1.0
"""How long everything that a server has started may outlive it, in seconds on an idle machine."""
Reported = dict[str, list[Any]]
"""What clients were told: the outcomes of each run that was accepted, none for one of which nobody asked."""


@pytest.fixture
def orphans() -> Iterator[set[int]]:
    """Makes this process the parent of what others leave behind. Yields the processes that it had before."""
    sandbox.adopt_orphans()
    yield set(sandbox.descendants(os.getpid()))
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)


def left_behind(before: set[int]) -> list[str]:
    """The processes that are below this one, but not below one that was before, after burying those that have ended."""
    for pid, process in sandbox._below(os.getpid()).items():
        if process.dead and process.parent == os.getpid() and pid not in before:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
    others = before.union(*(sandbox.descendants(each) for each in before))
    return [f"{each} {said(each, 'cmdline')!r}" for each in sandbox._below(os.getpid()) if each not in others]


def all_gone(before: set[int], *folders: Path) -> None:
    """Wait until no process and no temporary file is left."""
    left: list[object] = []

    def clean() -> bool:
        left[:] = left_behind(before), *(list(each.rglob("*")) for each in folders if each.exists())
        return not any(left)

    try:
        eventually(clean, idle_s=GONE_WITHIN_S)
    except AssertionError:
        pytest.fail(f"left behind: {left}")


def kind(pid: int, parents: Mapping[int, sandbox._Process], app: int) -> str:
    """What a process below an app is; empty if it is about to become something."""
    words = said(pid, "cmdline").split(b"\0")
    if pid == app:
        return "app"
    if b"referee" in words:
        # a judge lets the app go first, and a checker does not
        nice = os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, app)
        return "judge" if nice else "checker"
    if words[0].endswith(b"bwrap"):
        return "sandbox"
    if words == [b"cat", b""]:
        return "holder of a sandbox"
    if b"zygote" not in words:
        return ""
    above = 0
    while (pid := parents[pid].parent) in parents and b"zygote" in said(pid, "cmdline").split(b"\0")[:5]:
        above += not said(pid, "comm").startswith(b"bwrap")
    return ("zygote", "fork server", "worker")[min(above, 2)]


def killed(wanted: str, app: int, drawn: random.Random) -> bool:
    """Kill one process of this kind, if there is one now."""
    below = sandbox._below(app)
    alive = [app, *(each for each, process in below.items() if not process.dead)]
    with contextlib.suppress(ProcessLookupError):
        some = [each for each in alive if kind(each, below, app) == wanted]
        if some:
            os.kill(drawn.choice(some), signal.SIGKILL)
            return True
    return False


class Served:
    """A server as a process of its own, and programs that have runs judged until it is gone."""

    def __init__(self, folder: Path, reported: Reported) -> None:
        self.temporary = folder / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.contract.judging_server", str(folder)],
            cwd=TESTS.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(self.temporary)},
            text=True,
        )
        assert self.process.stdout is not None
        self.program = Program(*self.process.stdout.readline().split())
        self.reported = reported
        self.clients: list[threading.Thread] = []

    def begin(self) -> None:
        eventually(self._is_tidy, "the end of what killed judges have left", idle_s=60)
        self.clients = [threading.Thread(target=self._work, args=(number,)) for number in range(CLIENTS)]
        for each in self.clients:
            each.start()

    def _is_tidy(self) -> bool:
        """Whether the judges that run have removed the folders of those that were killed."""
        folders = (self.temporary.parent / "home" / "scratch").glob("*")
        return all(Path("/proc", each.name).exists() for each in folders)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for each in self.clients:
            each.join(seconds(60))
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()

    def _work(self, number: int) -> None:
        stage = "check" if number == 0 else "verify"
        with contextlib.suppress(OSError, http.client.HTTPException):
            while True:
                code = f"{RIGHT}\n# {number} {random.random()}\n"
                asked = {"task": "add-relu", "stage": stage, "bundle": {"passes": [{"name": "a.py", "code": code}]}}
                started = self.program.ask("POST", "/api/runs", asked)
                assert started.status == 202, started
                run = started.data["run"]
                self.reported[run] = []
                finished = False
                while not finished:
                    finished = self.program.get(f"/runs/{run}?wait_s=2")["finished"]
                    self.reported[run] = self.program.get(f"/runs/{run}/outcomes")


@pytest.mark.parametrize("times", [pytest.param(len(KINDS)), pytest.param(300, marks=pytest.mark.slow)])
def test_nothing_is_lost_or_left_behind_whatever_is_killed(times: int, tmp_path: Path, orphans: set[int]) -> None:
    drawn, reported, killings = random.Random(5), Reported(), Counter[str]()
    kinds = [each for _ in range(times // len(KINDS) + 1) for each in drawn.sample(KINDS, len(KINDS))][:times]
    served = Served(tmp_path, reported)
    try:
        served.begin()
        for wanted in kinds:
            # at whatever they are
            time.sleep(drawn.uniform(0.0, 1.0))
            eventually(lambda: killed(wanted, served.process.pid, drawn), f"a {wanted}", idle_s=60)  # noqa: B023
            killings[wanted] += 1
            if wanted == "app":
                served.end()
                all_gone(orphans, served.temporary)
                served = Served(tmp_path, reported)
                served.begin()
        known = len(reported)
        # they still judge
        eventually(lambda: len(reported) > known + CLIENTS, "further runs", idle_s=60)
        served.end()
        all_gone(orphans, served.temporary)
        served = Served(tmp_path, reported)
        verdicts = agree(served.program, reported)
    finally:
        served.end()
    all_gone(orphans, served.temporary)
    print(f"\n{sum(killings.values())} kills: {dict(killings)}; {len(reported)} runs: {dict(verdicts)}")


def agree(program: Program, reported: Reported) -> Counter[str]:
    """Assert that each run that was accepted has ended with one outcome for each job, and that those of which clients
    were told are among them. Returns how many outcomes have each verdict."""
    verdicts = Counter[str]()
    for run, outcomes in reported.items():
        assert program.get(f"/runs/{run}?wait_s=30")["finished"] is True
        now = program.get(f"/runs/{run}/outcomes")
        assert [each["subgraph"] for each in now] == list(SUBGRAPHS)
        for before in outcomes:
            assert before in now
        verdicts.update(each["verdict"] for each in now)
    assert set(verdicts) <= {"right, not timed", "matches", "crashed", "infrastructure error"}, verdicts
    return verdicts


HOLDS = """
import sys, threading
from pathlib import Path
from passnet_core.execution.backends.local import LocalBackend

backend = LocalBackend(sys.executable, sys.argv[1], Path(sys.argv[2]))
if sys.argv[3] == "describe":
    backend.info()
if sys.argv[3] == "confined":
    backend.program("passnet_core.whole_models.surveying", b"{}", 1000)
backend.prepare()
threading.Event().wait()
"""
"""A process that starts one of the judge's programs."""


@pytest.mark.parametrize(
    ("program", "isolation"),
    [
        *itertools.product(["describe", "confined", "referee", "inside"], ["sandboxed", "process"]),
        # what forks workers
        ("zygote", "sandboxed"),
        ("fork-server", "process"),
    ],
)
def test_a_program_of_the_judge_ends_with_its_app_also_while_it_starts(
    program: str, isolation: str, tmp_path: Path, orphans: set[int]
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = [isolation, str(tmp_path), "confined" if program == "inside" else program]
    with subprocess.Popen([sys.executable, "-c", HOLDS, *words], env=os.environ | {"TMPDIR": str(temporary)}) as app:

        def started() -> bool:
            return any(program.encode() in said(each, "cmdline").split(b"\0") for each in sandbox.descendants(app.pid))

        eventually(started, program, idle_s=60)
        app.kill()
    all_gone(orphans, temporary, tmp_path / "scratch")
