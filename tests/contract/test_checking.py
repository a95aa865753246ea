"""CHECKs of many bundles by one fork server: none of them may show in the CHECK of the next."""

import os
import sys
from collections.abc import Iterator

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.judge.supervisor import sandbox
from passnet_core.records import Stage, Verdict
from tests.contract.judging import hostile_at_import, hostile_job, judged
from tests.waiting import short

pytestmark = pytest.mark.long

PROBE = """
import resource
scratch = os.environ["TMPDIR"]
left = [each for each in os.listdir(scratch) if each != f"bundle-{os.getpid()}"]
if scratch in ("/tmp", "/scratch"):
    left += os.listdir("/dev/shm")
assert not left, left
assert os.stat(scratch).st_mode & 0o700 == 0o700
assert "LEFT_BEHIND" not in os.environ
assert os.sched_getaffinity(0) == CORES
assert os.getpriority(os.PRIO_PROCESS, 0) == 5
assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] >= 1 << 20
siblings = open(f"/proc/{os.getppid()}/task/{os.getppid()}/children").read().split()
assert siblings == [str(os.getpid())], siblings
try:
    open(f"/proc/{os.getppid()}/mem", "r+b")
except OSError:
    pass
else:
    raise AssertionError("the memory of the fork server is open")
""".replace("CORES", repr(os.sched_getaffinity(0)))
"""Fails if a bundle before left anything."""

HARMS = {
    "kills-its-parent": "os.kill(os.getppid(), signal.SIGKILL)",
    "stops-its-parent": "os.kill(os.getppid(), signal.SIGSTOP)",
    "none": "pass",
    "leaves-a-process": """
os.environ["LEFT_BEHIND"] = "1"
os.fork() or os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(1000)"])
""",
    "leaves-its-session": "os.fork() or (os.setsid(), os.fork() or time.sleep(1000))",
    "writes-files": """
scratch = os.environ["TMPDIR"]
shared = "/dev/shm" if scratch in ("/tmp", "/scratch") else scratch
for folder in (scratch, scratch + "/triton", scratch + "/inductor", shared):
    os.makedirs(folder, exist_ok=True)
    open(folder + "/numpy.py", "w").write("raise SystemExit")
""",
    "writes-what-cannot-be-removed": """
os.mkdir(os.environ["TMPDIR"] + "/kept")
open(os.environ["TMPDIR"] + "/kept/numpy.py", "w").write("raise SystemExit")
os.chmod(os.environ["TMPDIR"] + "/kept", 0)
""",
    "closes-its-folder": "os.chmod(os.environ['TMPDIR'], 0)",
    "changes-the-environment": """
os.environ["LEFT_BEHIND"] = os.environ["PYTHONPATH"] = "1"
import torch
torch.nn.functional.relu = None
""",
    "lowers-the-limits-of-its-parent": """
import resource
resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (1, 1))
""",
    "slows-its-parent-down": """
os.sched_setaffinity(os.getppid(), {0})
os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
""",
    "exhausts-its-time": "while True: pass",
}


@pytest.fixture(scope="module", params=["sandboxed", "process"])
def checker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    if request.param == "sandboxed" and not sandbox.available():
        pytest.skip(sandbox.why_unavailable())
    made = LocalBackend(sys.executable, request.param, tmp_path_factory.mktemp("home"), judges=0)
    made.prepare()
    yield made
    made.close()


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_check_is_right_after_a_hostile_one(checker: LocalBackend, harm: str) -> None:
    judged(checker, hostile_job(hostile_at_import(harm), Stage.CHECK, deadline_s=short(3)))
    outcome = judged(checker, hostile_job(hostile_at_import(PROBE), Stage.CHECK))
    assert outcome.verdict is Verdict.MATCHED, f"{outcome.reason} {outcome.log_tail}"
    assert outcome.match is not None
    assert [len(each.matches) for each in outcome.match.passes] == [1]
