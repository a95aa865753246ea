"""Warm spares: real fork servers, on CUDA with a stand-in for the worker, since priming it needs a GPU."""

import fcntl
import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.judge.supervisor import machine, sandbox
from passnet_core.judge.supervisor.device_lock import DeviceLock, lock_file
from passnet_core.judge.supervisor.fork_server import ForkServer, WorkerPlace
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from passnet_core.records import Device, Isolation
from tests.waiting import eventually, seconds

pytestmark = pytest.mark.long

STAND_IN = """#!/bin/sh
''''exec "{python}" "$0" "$@" #'''
import sys, time
from pathlib import Path
from passnet_core.judge.supervisor import forking
from passnet_core.records import Device

def wait_for(name):
    while not Path({folder!r}, name).exists():
        time.sleep(0.01)

class Worker:
    said = b"not primed"
    def rehearse(self, device, who):
        wait_for("loaded")
    def load_compilers(self, device, *, trusted, capturing):
        pass
    def prime(self, device, *, trusted):
        Path({folder!r}, "priming").touch()
        wait_for("primed")
        self.said = b"primed"
    def serve(self, channel, device, scratch):
        channel.sendall(self.said)

def import_compiler(server):
    if server.compiling:
        Path({folder!r}, who + "'s compiler").touch()

forking._ForkServerLoop.import_compiler = import_compiler
control, device, scratch, who = sys.argv[-4:]
forking.main(int(control), Device(device), Path(scratch), Worker, who)
"""
"""A fork server without torch, whose work goes on once the test makes the files it waits for."""


def known(fork_server: ForkServer) -> ForkServer:
    fork_server.look()
    return fork_server


def said_by_a_worker(fork_server: ForkServer, *, compiling: bool = False) -> bytes:
    channel, _ = fork_server.fork(sandbox.LIMITS, seconds(60), compiling=compiling)
    with channel:
        channel.settimeout(seconds(60))
        return channel.recv(100)


def measurable(home: Path) -> bool:
    """Whether a measurement could begin at once."""
    with lock_file(home).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@pytest.fixture
def on_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerPool]:
    program = tmp_path / "stand-in"
    program.write_text(STAND_IN.format(python=sys.executable, folder=str(tmp_path)))
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    made = WorkerPool(WorkerPlace(Isolation.PROCESS, tmp_path), spares=2)
    yield made
    made.close()


def test_a_measurement_waits_for_workers_being_primed_and_not_for_imports(on_cuda: WorkerPool, tmp_path: Path) -> None:
    on_cuda.refill(Device.CUDA, checking=False)
    with DeviceLock(tmp_path, lambda text: None).alone():
        (tmp_path / "loaded").touch()
        spares = on_cuda.spares[Device.CUDA]
        eventually(lambda: all(known(each).ready for each in spares))
        # a job that comes meanwhile gets a worker at once
        assert said_by_a_worker(on_cuda.for_bundle("a", Device.CUDA)) == b"not primed"
        assert not (tmp_path / "priming").exists()
    eventually(lambda: (tmp_path / "priming").exists())
    assert not measurable(tmp_path)
    (tmp_path / "primed").touch()
    (spare,) = on_cuda.spares[Device.CUDA]
    eventually(lambda: known(spare).primed)
    eventually(lambda: measurable(tmp_path))
    assert said_by_a_worker(on_cuda.for_bundle("b", Device.CUDA)) == b"primed"


def test_a_bundle_gets_the_most_advanced_spare(on_cuda: WorkerPool, tmp_path: Path) -> None:
    (tmp_path / "loaded").touch()
    (tmp_path / "primed").touch()
    on_cuda.refill(Device.CUDA, checking=False)
    first, second = on_cuda.spares[Device.CUDA]
    eventually(lambda: known(first).primed and known(second).primed)
    assert on_cuda.for_bundle("a", Device.CUDA) is first
    (tmp_path / "loaded").unlink()
    on_cuda.refill(Device.CUDA, checking=False)
    assert [each.ready for each in on_cuda.spares[Device.CUDA]] == [True, False]
    third = on_cuda.spares[Device.CUDA][1]
    assert on_cuda.for_bundle("b", Device.CUDA) is second
    (tmp_path / "loaded").touch()
    assert on_cuda.for_bundle("c", Device.CUDA) is third
    assert said_by_a_worker(third) == b"primed"


def test_a_candidates_worker_loads_torchs_compiler_for_compiled_capture_only(
    on_cuda: WorkerPool, tmp_path: Path
) -> None:
    (tmp_path / "loaded").touch()
    (tmp_path / "primed").touch()

    def primed(*, compiling: bool) -> list[ForkServer]:
        on_cuda.refill(Device.CUDA, checking=False, compiling=compiling)
        spares = on_cuda.spares[Device.CUDA]
        eventually(lambda: all(known(each).primed for each in spares))
        return spares

    loaded = tmp_path / "candidate's compiler"
    primed(compiling=False)
    assert said_by_a_worker(on_cuda.for_bundle("direct", Device.CUDA)) == b"primed"
    assert not loaded.exists()
    assert said_by_a_worker(on_cuda.for_bundle("compiled", Device.CUDA), compiling=True) == b"primed"
    assert loaded.exists(), "the job came unexpected, so it loads it itself"
    loaded.unlink()
    primed(compiling=True)
    assert loaded.exists(), "the next job is taken to be like the last"
    assert (tmp_path / "witness's compiler").exists(), "the baseline is compiled in every job"


def test_a_spare_that_has_loaded_torch_comes_before_an_older_one(tmp_path: Path) -> None:
    pool = WorkerPool(WorkerPlace(Isolation.PROCESS, tmp_path), spares=2)
    try:
        pool.refill(Device.CPU, checking=False)
        late, early = pool.spares[Device.CPU]
        os.kill(late.process.pid, signal.SIGSTOP)
        early.wait_until_ready()
        assert pool.for_bundle("a", Device.CPU) is early
        os.kill(late.process.pid, signal.SIGCONT)
        assert pool.for_bundle("b", Device.CPU) is late
    finally:
        pool.close()


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.parametrize("isolation", ["auto", "process"])
def test_spares_do_nothing_beside_a_measurement_and_go_on_after_it(isolation: str, tmp_path: Path) -> None:
    pool = WorkerPool(WorkerPlace(sandbox.chosen(isolation), tmp_path), spares=2)
    try:
        pool.refill(Device.CPU, checking=False)
        spares = pool.spares[Device.CPU]
        with pool.spares_at_rest():
            own = [each.process.pid for each in ([pool.zygote] if pool.zygote is not None else spares)]
            for pid in (*own, *(below for each in own for below in sandbox.descendants(each))):
                eventually(partial(stopped, pid))
            assert not any(known(each).ready for each in spares), "they still load torch"
        for spare in spares:
            spare.wait_until_ready()
    finally:
        pool.close()


@pytest.mark.parametrize("isolation", ["auto", "process"])
def test_closing_ends_all_processes_even_those_that_still_start(isolation: str, tmp_path: Path) -> None:
    before = set(sandbox.descendants(os.getpid()))
    pool = WorkerPool(WorkerPlace(sandbox.chosen(isolation), tmp_path), spares=3)
    pool.refill(Device.CPU, checking=False)
    pool.refill(Device.CPU, checking=True)
    assert set(sandbox.descendants(os.getpid())) - before
    pool.close()
    eventually(lambda: set(sandbox.descendants(os.getpid())) <= before)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("device", "cores", "memory_gib", "free_mib", "room"),
    [
        (Device.CPU, 1, 64, "80000", 1),
        (Device.CPU, 2, 64, "80000", 1),
        (Device.CPU, 6, 64, "80000", 3),
        (Device.CPU, 64, 64, "80000", 4),
        (Device.CPU, 64, 2, "80000", 2),
        (Device.CUDA, 64, 64, "80000", 16),
        (Device.CUDA, 16, 64, "80000", 16),
        (Device.CUDA, 4, 64, "80000", 4),
        (Device.CUDA, 16, 8, "80000", 4),
        (Device.CUDA, 16, 64, "6500", 3),
        (Device.CUDA, 16, 64, "[N/A]", 1),
        (Device.CUDA, 16, 1, "80000", 1),
    ],
)
def test_there_are_as_many_spares_as_cores_and_memory_allow(
    device: Device,
    cores: int,
    memory_gib: int,
    free_mib: str,
    room: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\necho 'NVIDIA H100, 550.54, {free_mib}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)))
    monkeypatch.setattr(sandbox, "memory_bytes", lambda: (memory_gib << 30, 64 << 30))
    machine._gpu.cache_clear()
    try:
        assert machine.room_for_spares(device) == room
    finally:
        machine._gpu.cache_clear()


def test_capacity_tells_how_many_spares_each_judge_keeps(tmp_path: Path) -> None:
    by_machine, chosen = (LocalBackend(sys.executable, "auto", tmp_path, judges=2, spares=count) for count in (None, 5))
    assert chosen.capacity().spares == 5
    assert by_machine.capacity().spares == max(1, by_machine.info().spares // 2)
