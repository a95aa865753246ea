"""The backend's side of a referee process: it is started on demand, kept from job to job, and killed after a fault.

This side never loads torch and never runs candidate code. Jobs and outcomes cross a private channel as JSON lines."""

import contextlib
import json
import math
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.backends.base import (
    Cancellation,
    JobEvent,
    Listen,
    SourceMatches,
    outcome_without_judge,
)
from passnet_core.records import (
    Device,
    Evidence,
    Job,
    Outcome,
    Phase,
    Verdict,
    from_json,
    to_json,
)

T = TypeVar("T")

LOOK_EVERY_S = 0.1
LEAVE_WITHIN_S = 5.0
ENDED = "The judge's process ended without an answer."
GIVE_UP_WITHIN_S = 5.0
"""How many seconds a referee may take to give up a job that was cancelled, before it is ended: starting another one
takes as long."""
BEGIN_WITHIN_S = 30.0
"""How many seconds a referee that still starts may take to begin with a job that was cancelled, before it is ended."""
NICENESS = 2
"""How far a judge and all that it starts stand back behind other processes, on a machine without a GPU."""
AUTOGROUP_TRIES = 20


def stand_back(pid: int) -> None:
    """Have a process, a session's first, and all that it will start let others go first.

    Linux gives sessions equal shares of the processors before it looks at processes, unless a control group does
    (autogroup, sched(7)): so this session's own niceness counts."""
    niceness = max(NICENESS, os.getpriority(os.PRIO_PROCESS, pid))
    os.setpriority(os.PRIO_PROCESS, pid, niceness)
    with contextlib.suppress(OSError):  # there is no such file where Linux does not do so
        for _ in range(AUTOGROUP_TRIES):
            try:
                Path(f"/proc/{pid}/autogroup").write_text(str(niceness))
                break
            except BlockingIOError:
                # on the whole machine it may be changed once per tenth of a second
                time.sleep(LOOK_EVERY_S)


def await_end(process: "subprocess.Popen[bytes]", home: Path) -> None:
    """Wait for the end of a program of the judge whose channel was closed, and kill what is left of its session: all of
    it if it does not end, and what was about to be confined when it was killed itself. Then remove its temporary files
    below this home, to which it may have written to the last moment."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(LEAVE_WITHIN_S)
    kill_session(process.pid)
    process.wait()
    shutil.rmtree(home / "scratch" / str(process.pid), ignore_errors=True)


def kill_session(leader: int) -> None:
    """Kill the processes in the session that this one began."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(int(name)) == leader:
                os.kill(int(name), signal.SIGKILL)


def last_words(said: IO[bytes], most: int) -> str:
    """The end of an output, of so many bytes at most, without white space around it."""
    with contextlib.suppress(OSError, ValueError):
        size = said.seek(0, os.SEEK_END)
        said.seek(max(0, size - most))
        return said.read().decode(errors="replace").strip()
    return ""


def started(
    command: Callable[[int], Sequence[str]], environment: Mapping[str, str]
) -> tuple["subprocess.Popen[bytes]", socket.socket, IO[bytes]]:
    """Start a program in a session of its own, which speaks on a channel. Return its process, this end of the channel,
    and what it prints. command: its command line, given the descriptor of the other end. Raises OSError."""
    near, far = socket.socketpair()
    said = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        process = subprocess.Popen(
            command(far.fileno()),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=environment,
            pass_fds=(far.fileno(),),
            start_new_session=True,
        )
    except OSError:
        near.close()
        said.close()
        raise
    finally:
        far.close()
    return process, near, said


@dataclass(frozen=True)
class RefereeProgram:
    """How to start a referee. home: the folder of its scratch folders. checking: it gets CHECK jobs only.

    grace_s: how many seconds it may be silent beyond the deadline. keep_warm: restart it at once if it was killed."""

    command: Callable[[int], Sequence[str]]
    environment: Callable[[], Mapping[str, str]]
    home: Path
    grace_s: float
    checking: bool
    keep_warm: bool


class Referee:
    """A referee process, which does one job at a time. Use it from one thread at a time; any may call close()."""

    def __init__(self, program: RefereeProgram) -> None:
        self.program = program
        self.busy = threading.Lock()
        self.closing = False
        self.process: subprocess.Popen[bytes] | None = None
        self.channel: socket.socket | None = None
        self.said: IO[bytes] | None = None
        self.unread = b""
        self.idle = True
        """Whether no request on the channel is unanswered."""
        self.begun = False
        """Whether it has read the request: what it is told before that is lost."""
        self.given_up = False
        """Whether it was told to give up what it does: then its answer is no verdict, whatever it says."""

    def run(self, job: Job, listen: Listen, cancelled: Cancellation) -> Outcome:
        return self.answered(job, {"job": to_json(job)}, listen, cancelled).outcome

    def answered(self, job: Job, asked: dict[str, Any], listen: Listen, cancelled: Cancellation) -> SourceMatches:
        """Send a request about a job, and return the answer, whatever happens to the process."""
        start = time.monotonic()

        def without(verdict: Verdict, reason: str, *evidence: Evidence) -> SourceMatches:
            wall_s = round(time.monotonic() - start, 4)
            return SourceMatches(outcome_without_judge(job, verdict, reason, wall_s=wall_s, evidence=evidence))

        with self.busy:
            if self.closing:
                return without(Verdict.CANCELLED, "The judge is closed.")
            if cancelled.is_set():
                return without(Verdict.CANCELLED, "Cancelled before it started.")
            try:
                words = "Starting the judge." if self.process is None else "Handing over the job."
                listen(JobEvent(Phase.START, words))
                self._start()
                self._send(asked)
                return self._outcome(job, listen, cancelled)
            except _Cancelled:
                return without(Verdict.CANCELLED, "Cancelled while it ran.")
            except InfrastructureError as error:
                if self.closing:
                    return without(Verdict.CANCELLED, "The playground was closed while it ran.")
                said = "" if self.said is None else last_words(self.said, 4000)
                return without(
                    Verdict.INFRASTRUCTURE, str(error), *([Evidence("what the judge said last", said)] if said else [])
                )
            finally:
                self._stop_unless_idle(job.spec.device)

    def inspected(
        self, kind: type[T], asked: dict[str, Any], device: Device, limit_s: float, cancelled: Cancellation
    ) -> T:
        """Send a request without a job, and return the answer as a `kind`. Raises BadInput, InfrastructureError."""
        with self.busy:
            if self.closing or cancelled.is_set():
                raise InfrastructureError("The inspection was cancelled before it started.")
            try:
                self._start()
                self._send(asked)
                return self._inspection(kind, limit_s, cancelled)
            except _Cancelled:
                raise InfrastructureError("The inspection was cancelled.") from None
            finally:
                self._stop_unless_idle(device)

    def _inspection(self, kind: type[T], limit_s: float, cancelled: Cancellation) -> T:
        """Wait for the answer to such a request. Raises BadInput, InfrastructureError."""
        for told in self._lines(limit_s + self.program.grace_s, cancelled):
            self.idle = True
            if self.given_up:
                raise _Cancelled
            if "problem" in told:
                raise (BadInput if told.get("bad_input") else InfrastructureError)(str(told["problem"]))
            try:
                return from_json(kind, told["inspection"])
            except (KeyError, ValueError, BadInput) as error:
                raise InfrastructureError(f"The judge's inspection cannot be read: {error}") from error
        raise _Cancelled if self.given_up else InfrastructureError(f"{ENDED} Ask again.")

    def _stop_unless_idle(self, device: Device) -> None:
        """Stop the referee unless it has answered: what is left on the channel would belong to the wrong job."""
        if self.process is not None and not self.idle:
            self._stop()
            if self.program.keep_warm and not self.closing:
                self._warm(device)

    def _outcome(self, job: Job, listen: Listen, cancelled: Cancellation) -> SourceMatches:
        """Wait for the outcome. Raises InfrastructureError if none will come."""
        patience_s = job.spec.deadline_s + self.program.grace_s
        for told in self._lines(patience_s, cancelled):
            if "event" in told:
                listen(JobEvent(Phase(told["event"]["stage"]), str(told["event"]["text"])))
                continue
            try:
                outcome = from_json(Outcome, told["outcome"])
            except (KeyError, ValueError, BadInput) as error:
                raise InfrastructureError(f"The judge's answer cannot be read: {error}") from error
            if outcome.job_digest != job.digest:
                raise InfrastructureError("The judge answered a different job.")
            self.idle = True
            if self.given_up:
                raise _Cancelled
            return SourceMatches(outcome, tuple(told.get("counts", ())))
        raise _Cancelled if self.given_up else InfrastructureError(f"{ENDED} Run the job again.")

    def _lines(self, patience_s: float, cancelled: Cancellation) -> Iterator[dict[str, Any]]:
        """Yield its messages until it ends; when cancelled, have it give up, and yield what it still says. Raises
        InfrastructureError after patience_s seconds of silence, _Cancelled if it does not give up soon."""
        heard_at = time.monotonic()
        give_up_until = math.inf
        while True:
            line, newline, rest = self.unread.partition(b"\n")
            if newline:
                self.unread = rest
                heard_at = time.monotonic()
                try:
                    told = json.loads(line)
                except ValueError as error:
                    raise InfrastructureError(f"The judge sent a message that is not JSON: {error}") from error
                if "begun" in told:
                    self.begun = True
                else:
                    yield told
                continue
            if cancelled.is_set() and give_up_until == math.inf:
                give_up_until = time.monotonic() + BEGIN_WITHIN_S
            if cancelled.is_set() and self.begun and not self.given_up and self.process is not None:
                self.given_up, give_up_until = True, time.monotonic() + GIVE_UP_WITHIN_S
                self.process.send_signal(signal.SIGUSR1)
            if time.monotonic() > give_up_until:
                raise _Cancelled
            if time.monotonic() - heard_at > patience_s:
                raise InfrastructureError(
                    f"The judge was silent for {patience_s:.0f} s and was ended. Run the job again."
                )
            channel = self.channel
            if channel is None:
                return
            try:
                if select.select([channel], [], [], LOOK_EVERY_S)[0]:
                    data = channel.recv(1 << 20)
                    if not data:
                        return
                    self.unread += data
            except (OSError, ValueError):
                # close() took the channel away
                return

    def warm_up(self, device: Device) -> None:
        """Start the referee, unless a job uses it already."""
        if self.busy.acquire(blocking=False):
            try:
                if not self.closing:
                    self._warm(device)
            finally:
                self.busy.release()

    def _warm(self, device: Device) -> None:
        with contextlib.suppress(InfrastructureError):  # the next job will meet and report the same problem
            self._start()
            self._send({"warm": {"device": device.value, "checking": self.program.checking}})
            self.idle = True

    def _start(self) -> None:
        """Make sure that the referee runs."""
        if self.process is not None and self.process.poll() is not None:
            self._stop()
        self.idle = self.begun = self.given_up = False
        if self.process is not None:
            return
        try:
            self.program.home.mkdir(parents=True, exist_ok=True)
            self.process, channel, said = started(self.program.command, self.program.environment())
        except OSError as error:
            raise InfrastructureError(f"The judge cannot be started: {error}") from error
        if not self.program.checking and shutil.which("nvidia-smi") is None:
            # a page that is drawn comes before a verdict; beside a GPU this would disturb the clocks
            stand_back(self.process.pid)
        self.channel, self.said, self.unread = channel, said, b""

    def _send(self, words: dict[str, Any]) -> None:
        assert self.channel is not None
        try:
            self.channel.sendall(json.dumps(words, allow_nan=False).encode() + b"\n")
        except OSError as error:
            raise InfrastructureError(f"The judge's process has ended: {error}. Run the job again.") from error

    def _stop(self) -> None:
        """End the referee with all its processes."""
        process, channel, said = self.process, self.channel, self.said
        self.process = self.channel = self.said = None
        for each in (channel, said):
            if each is not None:
                each.close()
        if process is not None:
            await_end(process, self.program.home)

    def close(self) -> None:
        self.closing = True
        with contextlib.suppress(OSError):
            if self.channel is not None:
                # wakes the listening thread, which stops the process
                self.channel.shutdown(socket.SHUT_RDWR)
        with self.busy:
            self._stop()


class _Cancelled(Exception):
    """The caller has cancelled the request."""
