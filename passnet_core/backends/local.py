"""Judging on this machine: one referee process per lane, started on demand, kept, and killed when it must be.

This process never loads torch and never runs candidate code: jobs and outcomes cross a private channel as JSON.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from passnet_core.backends.base import DeviceInfo, JobEvent, Survey, outcome_without_judge
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.records import (
    Bundle,
    Device,
    Environment,
    Evidence,
    Inspection,
    Isolation,
    Job,
    Outcome,
    PassKernels,
    Stage,
    Subgraph,
    Verdict,
    from_json,
    to_json,
)

T = TypeVar("T")

PACKAGE_ROOT = Path(__file__).resolve().parents[2]

PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ",
    "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "TRITON_LIBCUDA_PATH", "CC",
)  # fmt: skip
"""The only variables that a referee gets: keys in the environment stay in the app."""

INSPECTION_LIMIT_S = 60.0
"""What it may take to find the shapes in a subgraph, and for TorchInductor to write its code."""
COMPILING_LIMIT_S = 90.0
"""What a candidate may take to be loaded, and Triton to compile its kernels."""
GRACE_S = 240.0
"""Silence beyond the deadline that a referee is allowed: starting its processes on a busy machine."""
UNAVAILABLE = 3
"""Exit code of a confined program where there is no place for it."""
LOOK_EVERY_S = 0.1
LEAVE_WITHIN_S = 5.0


class LocalBackend:
    """Judges on this machine. Safe to call from several threads: a lane judges one job at a time, in order of asking.

    lanes: one or two names; with two, the first takes CHECK jobs, so that they never wait for a measurement.
    keep_warm: a referee that had to be killed is started again at once.
    """

    def __init__(
        self,
        python: Path | str,
        isolation: str,
        home: Path,
        *,
        lanes: Sequence[str] = ("check", "run"),
        keep_warm: bool = False,
        grace_s: float = GRACE_S,
    ) -> None:
        self.python = str(python)
        self.isolation = str(isolation)
        self.home = Path(home)
        self.keep_warm = keep_warm
        self.lanes = tuple(_Lane(name, self, grace_s) for name in lanes)
        self._info: DeviceInfo | None = None
        self._info_lock = threading.Lock()

    def run(self, job: Job, listen: Callable[[JobEvent], None], cancelled: threading.Event) -> Outcome:
        """Judges the job and returns its one outcome, whatever happens."""
        problem = self.info().problem
        if problem:
            return outcome_without_judge(job, Verdict.INFRASTRUCTURE, problem)
        lane = self.lanes[0] if job.spec.stage is Stage.CHECK else self.lanes[-1]
        return lane.run(job, listen, cancelled)

    def survey(self, job: Job, codes: Sequence[str], cancelled: threading.Event) -> Survey:
        """Runs a CHECK job, and matches its passes against other sources."""
        problem = self.info().problem
        if problem:
            return Survey(outcome_without_judge(job, Verdict.INFRASTRUCTURE, problem))
        return self.lanes[0].survey(job, codes, cancelled)

    def inspect(self, subgraph: Subgraph, device: Device, cancelled: threading.Event, *, with_code: bool) -> Inspection:
        """What eager and TorchInductor make of a subgraph. In the lane of values and times, whose witness stands ready,
        and where it disturbs no clock."""
        if problem := self.info().problem:
            raise InfrastructureError(problem)
        return self.lanes[-1].inspect(subgraph, device, cancelled, with_code=with_code)

    def kernels(self, subgraph: Subgraph, bundle: Bundle, device: Device, cancelled: threading.Event) -> PassKernels:
        """What Triton makes of a bundle's kernels, in the same lane."""
        if problem := self.info().problem:
            raise InfrastructureError(problem)
        return self.lanes[-1].kernels(subgraph, bundle, device, cancelled)

    def info(self) -> DeviceInfo:
        """The best device of this machine, asked of a judge process that loads no torch; once, unless in trouble."""
        with self._info_lock:
            if self._info is None or self._info.problem:
                self._info = self._described()
            return self._info

    def prepare(self) -> None:
        """Starts all referees, and does not wait for them: the next job finds them warm."""
        info = self.info()
        if not info.problem:
            for lane in self.lanes:
                lane.warm_up(info.device)

    def close(self) -> None:
        """Ends all processes, for good. A job under way ends as cancelled."""
        for lane in self.lanes:
            lane.close()

    def program(self, module: str, given: bytes, limit_s: float) -> bytes:
        """What a program of this package writes to its standard output, run where candidate code runs, on what it is
        given. Raises BadInput with its last words where it refuses that, and where it takes longer than limit_s."""
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as said:
            asked.write(given)
            asked.seek(0)
            process = subprocess.Popen(
                self.command("confined", self.isolation, module, str(limit_s)),
                stdin=asked,
                stdout=answer,
                stderr=said,
                env=self.environment(),
                start_new_session=True,
            )
            try:
                code = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                raise BadInput(f"It took longer than {limit_s:.0f} s.") from None
            finally:
                if process.poll() is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            answer.seek(0)
            said.seek(max(0, said.seek(0, os.SEEK_END) - 2000))
            words = said.read().decode(errors="replace").strip() or f"It ended with exit code {code}."
            if code == UNAVAILABLE:
                raise InfrastructureError(words)
            if code:
                raise BadInput(words.rpartition("\n")[2])
            return answer.read()

    def command(self, *arguments: str) -> list[str]:
        return [self.python, "-m", "passnet_core.judge", *arguments]

    def environment(self) -> dict[str, str]:
        passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        folders = [str(PACKAGE_ROOT), *(each for each in os.environ.get("PYTHONPATH", "").split(":") if each)]
        return passed_on | {"PYTHONPATH": ":".join(folders), "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}

    def _described(self) -> DeviceInfo:
        try:
            asked = subprocess.run(
                self.command("describe", self.isolation),
                capture_output=True,
                text=True,
                timeout=GRACE_S,
                check=False,
                env=self.environment(),
            )
            told = json.loads(asked.stdout)
            return DeviceInfo(
                device=Device(told["device"]),
                label=told["environment"]["device"] if told["environment"] else told["device"],
                isolation=Isolation(told["isolation"]),
                environment=from_json(Environment, told["environment"]) if told["environment"] else None,
                problem=told["problem"],
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = f"The judge's Python, {self.python}, cannot be started: {error}. Set PASSNET_PYTHON."
        except (ValueError, KeyError, TypeError, BadInput):
            said = asked.stderr.strip().rpartition("\n")[2][:300]
            problem = (
                f"The judge cannot be started with {self.python}: {said or 'it says nothing'}. Set PASSNET_PYTHON."
            )
        return DeviceInfo(Device.CPU, "no judge", Isolation.PROCESS, None, problem)


class _Lane:
    """One referee process and the queue before it."""

    def __init__(self, name: str, backend: LocalBackend, grace_s: float) -> None:
        self.name = name
        self.backend = backend
        self.grace_s = grace_s
        self.busy = threading.Lock()
        self.closing = False
        self.process: subprocess.Popen[bytes] | None = None
        self.channel: socket.socket | None = None
        self.said: IO[bytes] | None = None
        self.rest = b""
        self.idle = True
        """Whether nothing is under way on the channel."""

    def run(self, job: Job, listen: Callable[[JobEvent], None], cancelled: threading.Event) -> Outcome:
        return self._answered(job, {"job": to_json(job)}, listen, cancelled).outcome

    def survey(self, job: Job, codes: Sequence[str], cancelled: threading.Event) -> Survey:
        asked = {"survey": {"job": to_json(job), "codes": list(codes)}}
        return self._answered(job, asked, lambda event: None, cancelled)

    def _answered(
        self, job: Job, asked: dict[str, Any], listen: Callable[[JobEvent], None], cancelled: threading.Event
    ) -> Survey:
        start = time.monotonic()

        def without(verdict: Verdict, reason: str, *evidence: Evidence) -> Survey:
            wall_s = round(time.monotonic() - start, 4)
            return Survey(outcome_without_judge(job, verdict, reason, wall_s=wall_s, evidence=evidence))

        with self._turn(listen, cancelled) as mine:
            if not mine:
                return without(
                    Verdict.CANCELLED, "The judge is closed." if self.closing else "Cancelled before it started."
                )
            try:
                listen(JobEvent("start", "Starting the judge." if self.process is None else "Handing over the job."))
                self._start()
                self._tell(asked)
                return self._heard(job, listen, cancelled)
            except _Cancelled:
                return without(Verdict.CANCELLED, "Cancelled while it ran.")
            except InfrastructureError as error:
                if self.closing:
                    return without(Verdict.CANCELLED, "The playground was closed while it ran.")
                said = self._last_words()
                return without(
                    Verdict.INFRASTRUCTURE, str(error), *([Evidence("what the judge said last", said)] if said else [])
                )
            finally:
                self._leave(job.spec.device)

    def inspect(self, subgraph: Subgraph, device: Device, cancelled: threading.Event, *, with_code: bool) -> Inspection:
        asked = {
            "subgraph": to_json(subgraph),
            "device": device.value,
            "code": with_code,
            "deadline_s": INSPECTION_LIMIT_S,
        }
        return self._inspected(Inspection, {"inspect": asked}, device, cancelled)

    def kernels(self, subgraph: Subgraph, bundle: Bundle, device: Device, cancelled: threading.Event) -> PassKernels:
        asked = {
            "subgraph": to_json(subgraph),
            "bundle": to_json(bundle),
            "device": device.value,
            "deadline_s": COMPILING_LIMIT_S,
        }
        return self._inspected(PassKernels, {"compile": asked}, device, cancelled)

    def _inspected(self, kind: type[T], asked: dict[str, Any], device: Device, cancelled: threading.Event) -> T:
        """Asks in its turn for what nothing is judged for. Raises BadInput, InfrastructureError."""
        with self._turn(lambda event: None, cancelled) as mine:
            if not mine:
                raise InfrastructureError("The inspection was cancelled before it started.")
            try:
                self._start()
                self._tell(asked)
                return self._inspection(kind, cancelled)
            except _Cancelled:
                raise InfrastructureError("The inspection was cancelled.") from None
            finally:
                self._leave(device)

    def _inspection(self, kind: type[T], cancelled: threading.Event) -> T:
        """Listens until it comes. Raises BadInput, InfrastructureError."""
        for told in self._lines(max(INSPECTION_LIMIT_S, COMPILING_LIMIT_S) + self.grace_s, cancelled):
            self.idle = True
            if "problem" in told:
                raise (BadInput if told.get("bad_input") else InfrastructureError)(str(told["problem"]))
            try:
                return from_json(kind, told["inspection"])
            except (KeyError, ValueError, BadInput) as error:
                raise InfrastructureError(f"The judge's inspection cannot be read: {error}") from error
        raise InfrastructureError("The judge's process ended without an answer. Ask again.")

    def _leave(self, device: Device) -> None:
        """Ends the referee unless all is said. Whatever is half said on the channel belongs to the job that was under
        way: only a clean end leaves the lane as it is."""
        if self.process is not None and not self.idle:
            self._stop()
            if self.backend.keep_warm and not self.closing:
                self._warm(device)

    @contextlib.contextmanager
    def _turn(self, listen: Callable[[JobEvent], None], cancelled: threading.Event) -> Iterator[bool]:
        """Waits for this lane to be free; false where the job was cancelled, or the lane closed, before that."""
        mine = self.busy.acquire(blocking=False)
        if not mine:
            listen(JobEvent("queued", "Waiting for the job before it."))
        while not mine and not cancelled.is_set() and not self.closing:
            mine = self.busy.acquire(timeout=LOOK_EVERY_S)
        try:
            yield mine and not cancelled.is_set() and not self.closing
        finally:
            if mine:
                self.busy.release()

    def _heard(self, job: Job, listen: Callable[[JobEvent], None], cancelled: threading.Event) -> Survey:
        """Listens until the outcome comes. Raises InfrastructureError where none can be expected any more."""
        patience_s = job.spec.deadline_s + self.grace_s
        for told in self._lines(patience_s, cancelled):
            if "event" in told:
                listen(JobEvent(str(told["event"]["stage"]), str(told["event"]["text"])))
                continue
            try:
                outcome = from_json(Outcome, told["outcome"])
            except (KeyError, ValueError, BadInput) as error:
                raise InfrastructureError(f"The judge's answer cannot be read: {error}") from error
            if outcome.job_digest != job.digest:
                raise InfrastructureError("The judge answered another job.")
            self.idle = True
            return Survey(outcome, tuple(told.get("counts", ())))
        raise InfrastructureError("The judge's process ended without an answer. Run the job again.")

    def _lines(self, patience_s: float, cancelled: threading.Event) -> Iterator[dict[str, Any]]:
        """What the referee says, until it ends."""
        heard_at = time.monotonic()
        while True:
            line, newline, rest = self.rest.partition(b"\n")
            if newline:
                self.rest = rest
                heard_at = time.monotonic()
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise InfrastructureError(f"The judge said something that is no JSON: {error}") from error
                continue
            if cancelled.is_set():
                raise _Cancelled
            if time.monotonic() - heard_at > patience_s:
                raise InfrastructureError(f"The judge was silent for {patience_s:.0f} s, and was ended.")
            channel = self.channel
            if channel is None:
                return
            try:
                if select.select([channel], [], [], LOOK_EVERY_S)[0]:
                    data = channel.recv(1 << 20)
                    if not data:
                        return
                    self.rest += data
            except (OSError, ValueError):
                # close() took the channel away
                return

    def warm_up(self, device: Device) -> None:
        """Starts the referee, unless a job is doing so already."""
        if self.busy.acquire(blocking=False):
            try:
                if not self.closing:
                    self._warm(device)
            finally:
                self.busy.release()

    def _warm(self, device: Device) -> None:
        with contextlib.suppress(InfrastructureError):
            # the next job will meet the same problem and say so
            self._start()
            self._tell({"warm": {"device": device.value, "witness": self is self.backend.lanes[-1]}})
            self.idle = True

    def _start(self) -> None:
        """Makes sure that a living referee is there."""
        if self.process is not None and self.process.poll() is not None:
            self._stop()
        self.idle = False
        if self.process is not None:
            return
        ours, theirs = socket.socketpair()
        said = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        try:
            self.backend.home.mkdir(parents=True, exist_ok=True)
            self.process = subprocess.Popen(
                self.backend.command("referee", str(theirs.fileno()), self.backend.isolation, str(self.backend.home)),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=self.backend.environment(),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            said.close()
            raise InfrastructureError(f"The judge cannot be started: {error}") from error
        finally:
            theirs.close()
        self.channel, self.said, self.rest = ours, said, b""

    def _tell(self, words: dict[str, Any]) -> None:
        assert self.channel is not None
        try:
            self.channel.sendall(json.dumps(words, allow_nan=False).encode() + b"\n")
        except OSError as error:
            raise InfrastructureError(f"The judge's process has ended: {error}. Run the job again.") from error

    def _last_words(self) -> str:
        if self.said is None:
            return ""
        with contextlib.suppress(OSError, ValueError):
            size = self.said.seek(0, os.SEEK_END)
            self.said.seek(max(0, size - 4000))
            return self.said.read().decode(errors="replace").strip()
        return ""

    def _stop(self) -> None:
        """Ends the referee with all its processes: first asked to, then made to."""
        process, channel, said = self.process, self.channel, self.said
        self.process = self.channel = self.said = None
        if process is not None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(LEAVE_WITHIN_S)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for each in (channel, said):
            if each is not None:
                each.close()

    def close(self) -> None:
        self.closing = True
        with contextlib.suppress(OSError):
            if self.channel is not None:
                # wakes the thread that listens; it stops the process
                self.channel.shutdown(socket.SHUT_RDWR)
        with self.busy:
            self._stop()


class _Cancelled(Exception):
    """The caller does not want the outcome any more."""
