"""The channel between the referee and a worker, with a real worker from a real fork server."""

import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

from passnet_core.judge.protocol import framing
from passnet_core.judge.protocol.messages import CandidateFault, CandidateGone, CandidateTimeout, Preparation
from passnet_core.judge.supervisor import sandbox
from passnet_core.judge.supervisor.fork_server import WorkerPlace
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import Bundle, Capture, Contender, Device, PassFile
from tests.contract.judging import RIGHT, ample_s, bundle, hostile_at_import
from tests.waiting import eventually, seconds, short


def loaded(pool: WorkerPool, asked: Bundle, *, deadline_s: float | None = None) -> WorkerProcess:
    fork_server = pool.for_bundle(asked.digest, Device.CPU)
    worker = WorkerProcess(fork_server, "candidate", deadline_s=deadline_s or ample_s())
    pool.refill(Device.CPU, checking=False)
    return worker


PREPARATION = Preparation(
    Contender.EAGER,
    """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, x, n):
        y = x * n
        return (y, x.sum())
""",
    Capture.DIRECT,
    Device.CPU,
)


def test_booleans_are_sent_byte_by_byte() -> None:
    twos = torch.tensor([[2, 0, 1], [0, 2, 2]], dtype=torch.uint8).view(torch.bool)
    near, far = socket.socketpair()
    with near, far:
        framing.send(near, framing.WireMessage({}, (twos, twos.T)))
        got = framing.receive(far)
    assert [each.dtype for each in got.tensors] == [torch.bool, torch.bool]
    assert got.tensors[0].view(torch.uint8).tolist() == [[2, 0, 1], [0, 2, 2]]
    assert got.tensors[1].view(torch.uint8).tolist() == [[2, 0], [0, 2], [1, 2]]


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("name", [name for name in framing.DTYPES if not name.startswith("float8")])
def test_tensors_of_every_dtype_can_be_sent(name: str) -> None:
    dtype = framing.DTYPES[name]
    sent = [torch.arange(7).to(dtype), torch.ones((), dtype=dtype), torch.empty((0, 3), dtype=dtype)]
    near, far = socket.socketpair()
    with near, far:
        framing.send(near, framing.WireMessage({"é": [1, None]}, tuple(sent)))
        got = framing.receive(far)
    assert got.fields == {"é": [1, None]}
    for before, after in zip(sent, got.tensors):
        assert after.dtype is dtype
        assert after.shape == before.shape
        assert bytes(after.reshape(-1).view(torch.uint8).tolist()) == bytes(
            before.reshape(-1).view(torch.uint8).tolist()
        )


def test_inputs_keep_their_strides() -> None:
    turned = torch.arange(6.0).reshape(2, 3).T
    places, tensors = framing.pack_inputs([turned, 4, float("nan"), True])
    near, far = socket.socketpair()
    with near, far:
        framing.send(near, framing.WireMessage({"inputs": places}, tuple(tensors)))
        got = framing.receive(far)
    tensor, number, nan, flag = framing.unpack_inputs(got.fields["inputs"], got.tensors)
    assert torch.equal(tensor, turned)
    assert tensor.stride() == turned.stride()
    assert (number, flag) == (4, True)
    assert nan != nan


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("!IQ", 1 << 31, 0),
        struct.pack("!IQ", 2, 1 << 62) + b"{}",
        struct.pack("!IQ", 2, 0) + b"{}",
        struct.pack("!IQ", 4, 0) + b"\xff\xfe[]",
        struct.pack("!IQ", 52, 4) + b'{"fields":{},"tensors":[{"dtype":"x","shape":[1]}]} ' + b"1234",
        struct.pack("!IQ", 60, 4) + b'{"fields":{},"tensors":[{"dtype":"float32","shape":[-1]}]}  ' + b"1234",
        struct.pack("!IQ", 100_000, 0) + b"[" * 100_000,
    ],
    ids=["long-header", "long-payload", "no-fields", "no-text", "no-dtype", "no-shape", "nested"],
)
def test_malformed_messages_are_refused(data: bytes) -> None:
    near, far = socket.socketpair()
    with near, far:
        sender = threading.Thread(target=near.sendall, args=(data,))
        sender.start()
        with pytest.raises(framing.WireError):
            framing.receive(far, framing.wait_until(time.monotonic() + seconds(60)))
        sender.join(seconds(60))


def test_a_connection_that_the_other_side_closed_is_noticed() -> None:
    near, far = socket.socketpair()
    with far:
        near.sendall(b"\0\0")
        near.close()
        with pytest.raises(framing.WireClosed):
            framing.receive(far)


def test_a_worker_loads_a_bundle_prepares_a_callable_and_runs_it(pool: WorkerPool) -> None:
    worker = loaded(pool, bundle(RIGHT))
    try:
        passes = worker.load(bundle(RIGHT)).passes
        assert [each.name for each in passes] == ["pass_0"]
        assert [node.name for node in passes[0].pattern.inputs] == ["a", "b"]
        worker.prepare("eager", PREPARATION)
        worker.give([torch.arange(4.0), 3])
        returned = worker.run("eager")
        assert [each.type for each in returned.outputs] == ["torch.Tensor", "torch.Tensor"]
        assert returned.container == "tuple"
        value = returned.outputs[0].value
        assert isinstance(value, torch.Tensor)
        assert value.tolist() == [0.0, 3.0, 6.0, 9.0]
        assert returned.outputs[1].shape == ()
        worker.warm_up("eager", [{"kind": "given"}, {"kind": "given"}], 0.0)
    finally:
        worker.close()


def test_a_fault_does_not_end_the_worker(pool: WorkerPool) -> None:
    worker = loaded(pool, bundle(RIGHT))
    try:
        worker.prepare("eager", PREPARATION)
        worker.give([torch.ones(2, 3), torch.ones(5)])
        with pytest.raises(CandidateFault) as fault:
            worker.run("eager")
        assert fault.value.kind == "runtime"
        assert fault.value.who == "candidate"
        worker.give([torch.ones(2), 2])
        assert len(worker.run("eager").outputs) == 2
    finally:
        worker.close()


def test_passes_that_share_a_replacement_must_share_prepare(pool: WorkerPool) -> None:
    shared = PassFile("shared_kernel.py", RIGHT)
    imported = "from shared_kernel import pattern, replacement_args, replacement_func\n"
    hook = "def prepare(weights):\n    return weights\n"
    for codes, message in (
        ((imported, imported + hook), "pass_0.py and pass_1.py share a replacement, but not prepare()"),
        ((imported + hook, imported + hook), "share a replacement, but not prepare()"),
    ):
        unequal = bundle(*codes, helpers=(shared,))
        worker = loaded(pool, unequal)
        try:
            with pytest.raises(CandidateFault, match=re.escape(message)):
                worker.load(unequal)
        finally:
            worker.close()
    equal = bundle(imported + "from shared_hook import prepare\n", helpers=(shared, PassFile("shared_hook.py", hook)))
    worker = loaded(pool, equal)
    try:
        assert worker.load(equal).hooks
    finally:
        worker.close()
    other = bundle(RIGHT + "def prepare(rows, columns):\n    return rows * columns\n")
    worker = loaded(pool, other)
    try:
        found = worker.load(other)
        assert not found.hooks
        assert found.warnings == ("prepare() of pass_0.py is not called: its only parameter has to be named weights.",)
    finally:
        worker.close()


def test_the_trace_of_a_fault_names_the_authors_line(pool: WorkerPool) -> None:
    broken = bundle(hostile_at_import("def inner():\n    raise ValueError('of mine')\ninner()"))
    worker = loaded(pool, broken)
    try:
        with pytest.raises(CandidateFault) as fault:
            worker.load(broken)
        assert fault.value.kind == "load"
        assert "ValueError: of mine" in fault.value.text
        assert 'File "pass_dir/pass_0.py", line 3' in fault.value.trace
    finally:
        worker.close()


def test_an_untraceable_pattern_is_a_fault_of_kind_pattern(pool: WorkerPool) -> None:
    looping = bundle(RIGHT.replace("    return torch.nn", "    if a.sum() > 0: a = b\n    return torch.nn"))
    worker = loaded(pool, looping)
    try:
        with pytest.raises(CandidateFault) as fault:
            worker.load(looping)
        assert fault.value.kind == "pattern"
        assert "pass_0.py" in fault.value.text
    finally:
        worker.close()


def test_a_worker_that_ends_reports_its_status_and_leaves_no_process(pool: WorkerPool) -> None:
    leaving = bundle(hostile_at_import("os.fork() or time.sleep(1000)\nos._exit(7)"))
    worker = loaded(pool, leaving)
    with pytest.raises(CandidateGone) as gone:
        worker.load(leaving)
    assert gone.value.status == 7
    with pytest.raises(CandidateGone):
        worker.run("eager")
    worker.close()
    below = sandbox.descendants(worker.fork_server.process.pid)
    # in a sandbox, bubblewrap is a process between the two
    assert len([pid for pid in below if b"fork-server" not in Path(f"/proc/{pid}/cmdline").read_bytes()]) == 0


def test_a_deadline_counts_only_the_time_of_requests(pool: WorkerPool) -> None:
    sleepy = bundle(hostile_at_import("time.sleep(1000)"))
    worker = loaded(pool, sleepy, deadline_s=short(2))
    with pytest.raises(CandidateTimeout):
        worker.load(sleepy)
    worker.close()
    worker = loaded(pool, bundle(RIGHT))
    before = worker.left_s
    time.sleep(0.2)
    assert worker.left_s == before
    worker.close()


def ticks(pid: int) -> int:
    """The processor time that a process's descendants have used, in hundredths of a second."""
    stats = (Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in sandbox.descendants(pid))
    return sum(int(fields[11]) + int(fields[12]) for fields in stats)


def compute() -> None:
    """Use the processor for 0.3 s: so long there was one to use, for others too."""
    began = time.process_time()
    while time.process_time() < began + 0.3:
        pass


HALF_DEAD = """
import ctypes, subprocess, sys
burning = "import threading\\nthreading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()\\n"
leaving = "import ctypes, platform\\nctypes.CDLL(None).syscall(93 if platform.machine() == 'aarch64' else 60, 0)"
subprocess.run([sys.executable, "-c", burning + leaving])
"""


def test_a_process_whose_first_thread_has_ended_can_be_stopped_and_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", HALF_DEAD]) as outer:
        eventually(lambda: any(process.state == "Z" for process in sandbox._below(outer.pid).values()))
        sandbox.rest(outer.pid)
        sandbox.rest(outer.pid)
        used = ticks(outer.pid)
        compute()
        assert ticks(outer.pid) <= used + 1
        sandbox.wake(outer.pid)
        eventually(lambda: ticks(outer.pid) >= used + 5)
        sandbox.kill_tree(outer.pid, reap=False)
        assert outer.wait(seconds(60)) == 0, "its child has ended"


def test_a_fork_server_serves_only_one_bundle(pool: WorkerPool) -> None:
    first = pool.for_bundle(bundle(RIGHT).digest, Device.CPU)
    assert pool.for_bundle(bundle(RIGHT).digest, Device.CPU) is first
    second = pool.for_bundle("another", Device.CPU)
    assert second is not first
    assert not first.alive


def parent_of_a_worker_that_loads(pool: WorkerPool, asked: Bundle) -> int:
    """The id of the fork server that checks this bundle, as its worker sees it."""
    worker = WorkerProcess(pool.ready("checker", Device.CPU), "candidate", deadline_s=ample_s())
    try:
        worker.load(asked)
    finally:
        log = worker.close()
    return int(log)


def test_checks_of_several_bundles_share_a_fork_server_that_judges_none(pool: WorkerPool) -> None:
    bundles = [bundle(hostile_at_import(f"print(os.getppid(), flush=True) # {number}")) for number in range(2)]
    checker = pool.ready("checker", Device.CPU)
    parents = {parent_of_a_worker_that_loads(pool, each) for each in bundles}
    assert len(parents) == 1
    assert pool.ready("checker", Device.CPU) is checker
    assert pool.for_bundle(bundles[0].digest, Device.CPU) is not checker


def test_the_scratch_folder_of_process_isolation_is_limited_and_removed(tmp_path: Path) -> None:
    own = WorkerPool(WorkerPlace(sandbox.chosen("process"), tmp_path))
    try:
        filling = bundle(
            hostile_at_import("for n in range(10**6): open(os.environ['TMPDIR'] + f'/{n}', 'wb').write(bytes(1 << 20))")
        )
        fork_server = own.for_bundle(filling.digest, Device.CPU)
        limits = sandbox.Limits(scratch_bytes=8 << 20)
        worker = WorkerProcess(fork_server, "candidate", deadline_s=ample_s(), limits=limits)
        with pytest.raises(CandidateGone, match="8 MiB to disk"):
            worker.load(filling)
        worker.close()
    finally:
        own.close()
    assert os.listdir(tmp_path) == []
