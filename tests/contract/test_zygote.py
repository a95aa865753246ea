"""Fork servers that a zygote has forked into sandboxes of their own: what their workers see and hold, and how they
end."""

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passnet_core.judge.protocol.messages import CandidateGone
from passnet_core.judge.supervisor import sandbox, worker_pool
from passnet_core.judge.supervisor.fork_server import WorkerPlace
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.judge.supervisor.zygote import Zygote
from passnet_core.records import Bundle, Device, Isolation, PassFile
from tests.contract.judging import RIGHT, ample_s, bundle, hostile_at_import, said
from tests.waiting import eventually

pytestmark = pytest.mark.sandbox

LOOK = """
import json, os
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
exe = os.statvfs("/proc/self/exe")
maps = {line.split()[-1] for line in open("/proc/self/maps") if line.split()[-1].startswith("/")}
def mounts_read_only(paths):
    return all(os.statvfs(each).f_flag & os.ST_RDONLY for each in paths if os.path.exists(each))
print("SEEN" + json.dumps({
    "capabilities": [status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "privileges": status["NoNewPrivs"].strip(),
    "processes": sorted(each for each in os.listdir("/proc") if each.isdigit()),
    "program is read-only": bool(exe.f_flag & os.ST_RDONLY),
    "files are read-only": mounts_read_only(maps),
    "descriptors": sorted(int(each) for each in os.listdir("/proc/self/fd")),
    "temporary": sorted(os.listdir(os.environ["TMPDIR"])),
    "folder": os.getcwd(),
    "namespaces": {each: os.readlink(f"/proc/self/ns/{each}") for each in ("user", "pid", "mnt", "net", "ipc", "uts")},
    "user": [os.getuid(), os.getgid()],
    "files": [os.statvfs(each).f_files for each in (os.environ["TMPDIR"], "/dev/shm")],
}), flush=True)
"""


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[WorkerPool]:
    before = set(sandbox.descendants(os.getpid()))
    made = WorkerPool(WorkerPlace(Isolation.SANDBOXED, tmp_path))
    yield made
    made.close()
    eventually(lambda: set(sandbox.descendants(os.getpid())) <= before)


def numbered(number: int, code: str = RIGHT) -> Bundle:
    return Bundle((PassFile("pass_0.py", f"{code}\nNUMBER = {number}\n"),))


def worker_of(pool: WorkerPool, asked: Bundle) -> WorkerProcess:
    return WorkerProcess(pool.for_bundle(asked.digest, Device.CPU), "candidate", deadline_s=ample_s())


def seen(pool: WorkerPool, number: int) -> dict[str, Any]:
    """What a bundle sees when it is loaded."""
    asked = numbered(number, hostile_at_import(LOOK))
    worker = worker_of(pool, asked)
    worker.load(asked)
    printed = worker.close()
    found = json.loads(printed.partition("SEEN")[2].partition("\n")[0])
    assert isinstance(found, dict)
    return found


def test_a_bundle_is_alone_and_has_no_more_rights_than_in_a_sandbox_of_its_own(pool: WorkerPool) -> None:
    first = seen(pool, 1)
    assert pool.zygote is not None, "processes can enter sandboxes here"
    assert first["capabilities"] == ["0000000000000000"] * 5
    assert first["privileges"] == "1"
    assert len(first["processes"]) == 4, "the sandbox's two, the fork server and its worker; no zygote, and no referee"
    assert first["program is read-only"]
    assert first["files are read-only"]
    assert len(first["descriptors"]) <= 5, "its channel and its log, and the folder that it lists"
    assert len(first["temporary"]) == 1, "its own files"
    assert first["folder"] == sandbox.private_temp()
    assert first["user"] == [1000, 1000]
    assert first["files"] == [sandbox.LIMITS.files] * 2
    second = seen(pool, 2)
    assert len(second["processes"]) == 4
    assert len(second["temporary"]) == 1
    own = {each: os.readlink(f"/proc/self/ns/{each}") for each in first["namespaces"]}
    assert pool.zygote is not None
    zygote = {each: os.readlink(f"/proc/{pool.zygote.process.pid}/ns/{each}") for each in first["namespaces"]}
    for each, name in first["namespaces"].items():
        assert len({name, second["namespaces"][each], own[each]}) == 3, each
        assert name != zygote[each]


def programs() -> set[int]:
    """The fork servers that were started as programs of their own, those of other tests' judges too."""
    return {each for each in sandbox.descendants(os.getpid()) if b"fork-server" in said(each, "cmdline")}


def test_workers_of_different_bundles_cost_one_loading_of_torch(pool: WorkerPool) -> None:
    before = programs()
    worker_of(pool, numbered(1)).close()
    zygote = pool.zygote
    assert zygote is not None
    for number in range(2, 5):
        worker_of(pool, numbered(number)).close()
    assert pool.zygote is zygote
    assert programs() <= before, "none was started as a program of its own"


def test_a_bundle_that_kills_its_sandbox_harms_no_other(pool: WorkerPool) -> None:
    killing = bundle(hostile_at_import("import signal\nfor pid in range(2, 200):\n    if pid != os.getpid():\n"
                                       "        try:\n            os.kill(pid, signal.SIGKILL)\n"
                                       "        except OSError:\n            pass"))  # fmt: skip
    worker = worker_of(pool, killing)
    # a kernel with Landlock lets it kill nothing but its own
    with contextlib.suppress(CandidateGone):
        worker.load(killing)
    worker.close()
    zygote = pool.zygote
    assert zygote is not None
    assert zygote.alive
    assert len(seen(pool, 3)["processes"]) == 4
    assert pool.zygote is zygote


def test_the_sandboxes_of_ended_fork_servers_are_gone(pool: WorkerPool) -> None:
    for number in range(4):
        worker_of(pool, numbered(number)).close()
    zygote = pool.zygote
    assert zygote is not None

    def holders() -> int:
        return sum(said(each, "comm").strip() == b"cat" for each in sandbox.descendants(zygote.process.pid))

    eventually(lambda: holders() == 2)


def zombies_below(pid: int) -> list[int]:
    return [each for each, process in sandbox._below(pid).items() if process.state == "Z"]


def test_a_zygote_leaves_no_zombies(pool: WorkerPool) -> None:
    """It adopts what outlives a sandbox, so it has to wait for that too."""
    killing = hostile_at_import("import signal\nos.kill(-1, signal.SIGKILL)")
    for number in range(4):
        worker_of(pool, numbered(number)).close()
        worker = worker_of(pool, numbered(number, killing))
        with contextlib.suppress(CandidateGone):
            worker.load(numbered(number, killing))
        worker.close()
    zygote = pool.zygote
    assert zygote is not None
    eventually(lambda: not zombies_below(zygote.process.pid), "the end of all zombies")


def test_a_zygote_that_was_killed_is_replaced(pool: WorkerPool) -> None:
    worker_of(pool, numbered(1)).close()
    zygote = pool.zygote
    assert zygote is not None
    spare = pool.spares[Device.CPU][0]
    spare.wait_until_ready()
    for pid in sandbox.descendants(zygote.process.pid)[:1]:
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: not zygote.alive and not spare.alive)
    assert len(seen(pool, 2)["processes"]) == 4
    assert pool.zygote is not None
    assert pool.zygote is not zygote


def test_a_zygote_that_was_killed_while_it_tried_to_enter_a_sandbox_is_replaced(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Zygote] = []

    def killed_at_first() -> Zygote:
        made.append(Zygote())
        if len(made) == 1:
            made[0].process.kill()
        return made[-1]

    monkeypatch.setattr(worker_pool, "Zygote", killed_at_first)
    worker_of(pool, numbered(1)).close()
    assert pool.zygote is made[1]


def test_where_no_process_can_enter_a_sandbox_fork_servers_are_programs(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = programs()
    monkeypatch.setattr(sandbox, "HOLDER", "a-program-that-is-not-there")
    worker = worker_of(pool, numbered(1))
    assert pool.zygote is None
    assert programs() - before
    worker.load(numbered(1))
    worker.close()
