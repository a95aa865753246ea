"""The referee: takes jobs from a backend, has workers compute, and answers each job with exactly one outcome.

It runs no candidate code, and owns seeds, clock and verdict. Its private channel carries one JSON object per line. A
{"job": …} is answered by {"event": …} lines and an {"outcome": …}; {"survey": …} is a job with more sources in which to
count matches. {"inspect": …}, {"compile": …} and {"trace": …} judge nothing; they are answered by {"inspection": …} or
{"problem": …}. {"warm": …} starts what jobs will need, and has no answer. SIGUSR1 says that nobody waits for the answer
any more: it comes soon, and says that the time is up."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from passnet_core.errors import BadInput, PlaygroundError
from passnet_core.judge.protocol.messages import CandidateEnd
from passnet_core.judge.stages.job_workers import JobWorkers
from passnet_core.judge.stages.pipeline import JobPipeline
from passnet_core.judge.supervisor import machine, sandbox
from passnet_core.judge.supervisor.fork_server import WorkerPlace
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from passnet_core.records import (
    Baseline,
    Bundle,
    Device,
    EvalSpec,
    Inspection,
    Job,
    PassKernels,
    PassTrace,
    Stage,
    Subgraph,
    from_json,
    to_json,
)

M_MMAP_MAX, M_TRIM_THRESHOLD = -4, -1
"""Parameters of mallopt in GNU's C library."""


def main(descriptor: int, isolation: str, home: Path, spares: int) -> None:
    """Answer requests until the channel closes, which ends this process. Runs as a program of its own.

    descriptor: the channel's socket. isolation: a name, or "auto". home: the folder of scratch files and locks.
    spares: how many warm spares to keep per device."""
    os.environ.setdefault("OMP_NUM_THREADS", sandbox.usual_threads())
    _keep_freed_memory()
    channel = socket.socket(fileno=descriptor)
    channel.set_inheritable(False)
    scratch = _own_scratch(home)
    # torch makes folders there
    os.environ["TMPDIR"] = str(scratch)
    with contextlib.ExitStack() as unless_closed:
        # an error ends this process, and nothing of it may stay behind
        unless_closed.callback(shutil.rmtree, scratch, ignore_errors=True)
        unless_closed.callback(sandbox.kill_tree, os.getpid(), reap=False)
        place = WorkerPlace(sandbox.chosen(isolation), scratch)
        pool = WorkerPool(place, spares=spares, home=home)
        signal.signal(signal.SIGUSR1, lambda number, frame: setattr(place.given_up, "is_set", True))
        with (
            contextlib.suppress(BrokenPipeError, ConnectionResetError),
            channel.makefile("rw", encoding="utf-8", newline="\n") as lines,
        ):
            for line in lines:
                request = json.loads(line)
                if "warm" in request:
                    _get_ready(pool, Device(request["warm"]["device"]), checking=request["warm"]["checking"])
                    continue
                place.given_up.is_set = False
                _write(lines, begun=True)
                if question := next((each for each in ("inspect", "compile", "trace") if each in request), ""):
                    _inspect(question, request[question], pool, home, lines)
                else:
                    asked = request.get("survey", request)
                    _answer(asked["job"], asked.get("codes", ()), pool, home, lines)
                    _return_freed_memory()
        unless_closed.pop_all()
    # the channel is closed, which ends this process
    threading.Event().wait()


def _keep_freed_memory() -> None:
    """Keep freed memory in the process, or comparing large tensors spends most of its time on page faults. Only with
    GNU's C library."""
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_MAX, 0)
        library.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)


def _return_freed_memory() -> None:
    """Return freed memory to the system after a job. Only with GNU's C library."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _own_scratch(home: Path) -> Path:
    """Make a folder for this process alone, and remove the folders of processes that were killed."""
    own = sandbox.own_scratch(home)
    own.mkdir(parents=True, exist_ok=True)
    for left in own.parent.iterdir():
        if left.name.isdigit() and not Path("/proc", left.name).exists():
            shutil.rmtree(left, ignore_errors=True)
    return own


def _get_ready(pool: WorkerPool, device: Device, *, checking: bool) -> None:
    """Start what jobs need, and meanwhile do what the first one would have to do first. checking: they are CHECKs."""
    pool.refill(device, checking=checking)
    from passnet_core.judge.supervisor import worker_process  # noqa: F401

    machine.judge_digest()
    if not checking:
        # torch loads it for the first operation on the meta device, on which sizes are tried
        import torch._dynamo  # noqa: F401

        from passnet_core.judge.stages import inspection, measure, verify  # noqa: F401


def _answer(asked: Any, codes: Sequence[str], pool: WorkerPool, home: Path, lines: TextIO) -> None:
    """Judge one job and write its events, then its outcome with the matches of its passes in the sources in codes."""

    def emit(phase: str, text: str) -> None:
        _write(lines, event={"stage": phase, "text": text})

    job = from_json(Job, asked)
    workers = JobWorkers(job, pool, home, emit)
    pipeline = JobPipeline(job, workers, emit)
    outcome = to_json(pipeline.outcome())
    _write(lines, outcome=outcome, counts=pipeline.matches_in(codes))
    workers.tidy()


def _inspect(question: str, asked: Any, pool: WorkerPool, home: Path, lines: TextIO) -> None:
    """Write what eager and TorchInductor make of a subgraph, or Triton or its interpreter of a bundle's kernels there;
    or why that cannot be known. Nothing is judged."""
    answer: dict[str, Any]
    with contextlib.ExitStack() as later:
        try:
            job, workers = _unjudged(asked, pool, home)
            later.callback(workers.tidy)
            answer = {"inspection": to_json(_inspected(question, job, workers, asked))}
        except BadInput as error:
            answer = {"problem": str(error), "bad_input": True}
        except (PlaygroundError, CandidateEnd) as error:
            answer = {"problem": f"The subgraph could not be inspected: {error}", "bad_input": False}
        except Exception as error:  # a bug of the judge: report it, and go on with the next request
            traceback.print_exc()
            answer = {
                "problem": f"The judge itself failed while it inspected a subgraph: {error!r}",
                "bad_input": False,
            }
        _write(lines, **answer)


def _inspected(question: str, job: Job, workers: JobWorkers, asked: Any) -> Inspection | PassKernels | PassTrace:
    from passnet_core.judge.stages import inspection

    if question == "inspect":
        return inspection.inspection(job, workers, with_code=asked["code"])
    return inspection.kernels(job, workers) if question == "compile" else inspection.programs(job, workers)


def _unjudged(asked: Any, pool: WorkerPool, home: Path) -> tuple[Job, JobWorkers]:
    baseline = Baseline(asked.get("baseline", Baseline.INDUCTOR))
    device = Device(asked["device"])
    bundle = from_json(Bundle, asked["bundle"]) if "bundle" in asked else None
    spec = EvalSpec(stage=Stage.VERIFY, device=device, deadline_s=asked["deadline_s"], baseline=baseline)
    job = Job(from_json(Subgraph, asked["subgraph"]), bundle, spec)
    return job, JobWorkers(job, pool, home, lambda phase, text: None)


_writing = threading.Lock()


def _write(lines: TextIO, **fields: Any) -> None:
    """Write one line. Two workers may have printed something at the same time."""
    with _writing:
        lines.write(json.dumps(fields, allow_nan=False) + "\n")
        lines.flush()
