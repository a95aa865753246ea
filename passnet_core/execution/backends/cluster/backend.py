"""The backend on a Ray cluster, in the app's process. It never loads ray: a driver process does, and may die.

A job that loses its node or its driver is asked again, elsewhere, and was never scored. One that is lost again and
again is an infrastructure error."""

import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import IO, Any, TypeVar, cast

from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.backends.base import (
    Cancellation,
    Capacity,
    JobEvent,
    Listen,
    MatchSources,
    Question,
    SourceMatches,
    outcome_without_judge,
)
from passnet_core.execution.backends.cluster import placing, words
from passnet_core.execution.backends.local import PASSED_ON
from passnet_core.execution.backends.package_copy import PACKAGE
from passnet_core.execution.backends.referee_process import kill_session, last_words, started
from passnet_core.records import Device, Job, Outcome, Phase, Stage, Verdict, from_json

T = TypeVar("T")

DRIVER = "passnet_core.execution.backends.cluster.driver"
MOST_TRIES = 3
"""How many nodes may be lost under a job before it is an infrastructure error: it may be the job that ends them."""
MOST_DRIVERS = 8
"""How many drivers may be lost under a job."""
CONNECTED_WITHIN_S = 120.0
"""How many seconds a driver may take to connect and to find nodes that judge."""
BACK_WITHIN_S = 300.0
"""How many seconds a job waits for a cluster that was there and is gone."""
SILENT_S = 120.0
"""After how many seconds without a sign of life a driver is killed."""
PAUSES_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""How many seconds pass before a driver is started again after the first, second … failure in a row."""
CANCELLED_WITHIN_S = 15.0
"""How many seconds the cluster has to say that it has cancelled a job, before nobody waits for that any more."""
LEAVE_WITHIN_S, LEAVE_SOON_S = 20.0, 3.0
"""How many seconds a driver has to end its judges before it is killed; one that was never connected has none."""
LOOK_EVERY_S = 0.1

OWN_VARIABLES = (*PASSED_ON, "USER", "LOGNAME", "SSL_CERT_FILE", "NO_PROXY", "no_proxy")


class _RequestCancelled(Exception):
    """The caller has cancelled the request."""


class _RequestLost(Exception):
    """A job or a question has lost its node, or (node None) its driver. outcome: what the node could tell, if it is an
    infrastructure error."""

    def __init__(self, reason: str, node: str | None, outcome: Outcome | None = None) -> None:
        super().__init__(reason)
        self.node, self.outcome = node, outcome


@dataclass
class _DriverProcess:
    """A running driver. heard_at: when it last gave a sign of life, by time.monotonic."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    said: IO[bytes]
    heard_at: float = field(default_factory=time.monotonic)
    sending: threading.Lock = field(default_factory=threading.Lock)

    def send(self, line: Mapping[str, Any]) -> None:
        """Send one line. Raises OSError if the driver is gone."""
        data = json.dumps(line, allow_nan=False).encode() + b"\n"
        with self.sending:
            self.channel.sendall(data)

    def end(self, within_s: float) -> None:
        """End it with all that it started: close its channel, which makes it leave, then kill it after so long."""
        with contextlib.suppress(OSError):
            self.channel.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(within_s)
        # also what a driver that was killed has left of a cluster of its own
        kill_session(self.process.pid)
        self.process.wait()
        self.channel.close()
        self.said.close()


class RayBackend:
    """Judges on a Ray cluster. Safe to call from any number of threads; each job gets exactly one outcome.

    accelerator: the name of the GPUs that may judge, empty: those with most judges. spares: warm spares per judge,
    None: as many as a node has room for. back_within_s: how long a job waits for a cluster that is gone."""

    def __init__(
        self,
        isolation: str,
        *,
        accelerator: str = "",
        spares: int | None = None,
        back_within_s: float = BACK_WITHIN_S,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.isolation, self.accelerator, self.spares = str(isolation), accelerator, spares
        self.back_within_s = back_within_s
        self._environ = environ
        self._changed = threading.Condition()
        self._driver: _DriverProcess | None = None
        """The driver that has told its capacity; None while none is connected."""
        self._starting: _DriverProcess | None = None
        self._capacity: Capacity | None = None
        """What the cluster can do, or could when it was last there."""
        self._problem = ""
        """Why the last driver ended, or could not connect."""
        self._answers: dict[int, tuple[_DriverProcess, SimpleQueue[dict[str, Any]]]] = {}
        """By number, where what is told about a request goes, and which driver has it."""
        self._numbers = itertools.count(1)
        self._supervisor: threading.Thread | None = None
        self._closing = threading.Event()

    def capacity(self) -> Capacity:
        self.prepare()
        with self._changed:
            self._changed.wait_for(lambda: self._capacity or self._problem or self._closing.is_set())
            return self._capacity or placing.without_judge(self._problem or "The judge is closed.")

    def prepare(self) -> None:
        """Begin to connect, without waiting for that."""
        with self._changed:
            if self._supervisor is None and not self._closing.is_set():
                self._supervisor = threading.Thread(target=self._supervise, name="passnet-ray", daemon=True)
                self._supervisor.start()

    def run(self, job: Job, listen: Listen, cancelled: Cancellation) -> Outcome:
        """Judge the job on the cluster and return its one outcome, whatever happens."""
        return self._matched(job, job, light=job.spec.stage is Stage.CHECK, listen=listen, cancelled=cancelled).outcome

    def inspect(self, question: Question[T], cancelled: Cancellation) -> T:
        """Have a judge of the cluster answer a question. Raises like Backend.inspect."""
        if isinstance(question, MatchSources):
            silent: Listen = lambda event: None
            found = self._matched(question.job, question, light=True, listen=silent, cancelled=cancelled)
            return cast(T, found)
        try:
            return cast(T, self._patiently(question, question.light, lambda event: None, cancelled, lambda told: None))
        except _RequestCancelled:
            raise InfrastructureError("The inspection was cancelled.") from None

    def close(self) -> None:
        """End the driver and, on the nodes, all that it started. A running job ends as cancelled."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
            starting = self._starting
        if starting is not None:
            # wakes the supervisor, which ends it
            with contextlib.suppress(OSError):
                starting.channel.shutdown(socket.SHUT_RDWR)
        if self._supervisor is not None:
            self._supervisor.join()

    # --- requests ---

    def _matched(
        self, job: Job, asked: Job | Question[Any], *, light: bool, listen: Listen, cancelled: Cancellation
    ) -> SourceMatches:
        """The answer about a job: an outcome whatever happens, with the matches if they were asked for."""
        start = time.monotonic()

        def without(verdict: Verdict, reason: str) -> SourceMatches:
            wall_s = round(time.monotonic() - start, 4)
            return SourceMatches(outcome_without_judge(job, verdict, reason, wall_s=wall_s))

        def check(told: Any) -> None:
            outcome = told.outcome if isinstance(told, SourceMatches) else told
            self._check(job, outcome)

        if self._closing.is_set():
            return without(Verdict.CANCELLED, "The judge is closed.")
        if cancelled.is_set():
            return without(Verdict.CANCELLED, "Cancelled before it started.")
        try:
            here = self.capacity().devices[0]
            if job.spec.device is Device.CUDA and here.device is Device.CPU and not light and not here.problem:
                return without(
                    Verdict.INFRASTRUCTURE,
                    "The cluster has no node with a CUDA device. Choose the device cpu, or add such a node.",
                )
            listen(JobEvent(Phase.START, "Handing over the job to the cluster."))
            told = self._patiently(asked, light, listen, cancelled, check)
            return told if isinstance(told, SourceMatches) else SourceMatches(told)
        except _RequestCancelled:
            reason = "The playground was closed while it ran." if self._closing.is_set() else "Cancelled while it ran."
            return without(Verdict.CANCELLED, reason)
        except _RequestLost as lost:
            if lost.outcome is not None:
                return SourceMatches(lost.outcome)
            return without(Verdict.INFRASTRUCTURE, str(lost))
        except (InfrastructureError, BadInput) as error:
            return without(Verdict.INFRASTRUCTURE, str(error))

    def _check(self, job: Job, outcome: Outcome) -> None:
        """Raises _RequestLost unless a judge in this backend's environment made this outcome, of this job."""
        if outcome.job_digest != job.digest:
            raise _RequestLost("A node answered a different job.", "")
        if outcome.verdict is Verdict.INFRASTRUCTURE:
            raise _RequestLost(outcome.reason, "", outcome)
        here = self.capacity().devices[0]
        on_cpu_beside_gpu = here.device is Device.CUDA and job.spec.device is Device.CPU
        if outcome.environment not in (None, here.environment) and not on_cpu_beside_gpu:
            raise _RequestLost("A node judged in another environment than the others.", "")

    def _patiently(
        self,
        asked: Job | Question[Any],
        light: bool,
        listen: Listen,
        cancelled: Cancellation,
        check: Any,
    ) -> Any:
        """The answer to a request, after as many tries as it takes. Raises BadInput, InfrastructureError,
        _RequestCancelled, and _RequestLost if it was lost too often."""
        line = words.asked_as_json(asked) | {"light": light, "task": words.task_of(asked)}
        nodes: list[str] = []
        drivers = 0
        while True:
            try:
                told = self._tried(line | {"avoid": nodes}, listen, cancelled)
                try:
                    answer = words.answer_from_json(line["kind"], told)
                    check(answer)
                    return answer
                except _RequestLost as lost:
                    lost.node = str(told.get("node", ""))
                    raise
            except _RequestLost as lost:
                if lost.node is None:
                    drivers += 1
                else:
                    nodes.append(lost.node)
                if len(nodes) >= MOST_TRIES or drivers >= MOST_DRIVERS:
                    times = len(nodes) + drivers
                    raise _RequestLost(
                        f"The job was lost {times} times. {lost} Run it again.", None, lost.outcome
                    ) from None
                listen(JobEvent(Phase.START, "Its node was lost; another one gets the job."))

    def _tried(self, line: Mapping[str, Any], listen: Listen, cancelled: Cancellation) -> dict[str, Any]:
        """Ask the driver once, and return its last word. Raises _RequestLost, _RequestCancelled,
        InfrastructureError."""
        driver = self._connected(cancelled)
        number, answers = next(self._numbers), SimpleQueue[dict[str, Any]]()
        with self._changed:
            self._answers[number] = driver, answers
            gone = self._driver is not driver
        try:
            try:
                if gone:
                    raise OSError
                driver.send({"ask": number, **line})
            except OSError:
                raise _RequestLost("The driver of the Ray cluster ended.", None) from None
            given_up_at: float | None = None
            while True:
                if given_up_at is None and (cancelled.is_set() or self._closing.is_set()):
                    with contextlib.suppress(OSError):
                        driver.send({"cancel": number})
                    given_up_at = time.monotonic()
                if given_up_at is not None and (
                    self._closing.is_set() or time.monotonic() - given_up_at > CANCELLED_WITHIN_S
                ):
                    raise _RequestCancelled
                try:
                    told = answers.get(timeout=LOOK_EVERY_S)
                except Empty:
                    continue
                if "event" in told:
                    listen(JobEvent(Phase(told["event"]["stage"]), str(told["event"]["text"])))
                elif "lost" in told:
                    if given_up_at is not None:
                        raise _RequestCancelled
                    raise _RequestLost(str(told["lost"]), told.get("node"))
                elif "cancelled" in told:
                    raise _RequestCancelled
                else:
                    return told
        finally:
            with self._changed:
                self._answers.pop(number, None)

    def _connected(self, cancelled: Cancellation) -> _DriverProcess:
        """The driver, once it is connected. Raises InfrastructureError if the cluster was never there, or is gone for
        too long."""
        self.prepare()
        until = time.monotonic() + self.back_within_s
        with self._changed:
            while self._driver is None:
                if cancelled.is_set() or self._closing.is_set():
                    raise _RequestCancelled
                if self._problem and (self._capacity is None or time.monotonic() > until):
                    raise InfrastructureError(self._problem)
                self._changed.wait(LOOK_EVERY_S)
            if self._capacity is not None and (problem := self._capacity.devices[0].problem):
                raise InfrastructureError(problem)
            return self._driver

    # --- the driver ---

    def _supervise(self) -> None:
        """Have a driver run until the backend is closed."""
        failures = 0
        while not self._closing.is_set():
            connected, problem = self._driven()
            failures = 0 if connected else failures + 1
            with self._changed:
                self._problem = problem
                self._changed.notify_all()
            self._closing.wait(PAUSES_S[min(failures, len(PAUSES_S) - 1)])

    def _driven(self) -> tuple[bool, str]:
        """Start a driver and hear it until it ends. Returns whether it was connected, and why it ended."""
        try:
            driver = self._started()
        except OSError as error:
            return False, f"The driver of the Ray cluster cannot be started: {error}"
        with self._changed:
            self._starting = driver
        problem = ""
        try:
            problem = self._heard(driver)
        finally:
            with self._changed:
                connected = self._driver is driver
                self._driver = self._starting = None
                left = [queue for owner, queue in self._answers.values() if owner is driver]
            for queue in left:
                queue.put({"lost": problem or "The driver of the Ray cluster ended."})
            said = last_words(driver.said, 2000).rpartition("\n")[2][:300]
            driver.end(LEAVE_WITHIN_S if connected else LEAVE_SOON_S)
        return connected, problem or f"The driver of the Ray cluster ended. {said}".strip()

    def _heard(self, driver: _DriverProcess) -> str:
        """Pass on what a driver tells until it ends or is silent. Returns the reason that it gives, or ""."""
        unread = b""
        problem = ""
        started = time.monotonic()
        driver.channel.settimeout(1.0)
        while not self._closing.is_set():
            silent_s = time.monotonic() - driver.heard_at
            if self._driver is not driver and time.monotonic() - started > CONNECTED_WITHIN_S:
                return f"The Ray cluster could not be used within {CONNECTED_WITHIN_S:.0f} s. Check RAY_ADDRESS."
            if silent_s > SILENT_S:
                driver.process.kill()
                return f"The driver of the Ray cluster was silent for {silent_s:.0f} s."
            try:
                data = driver.channel.recv(1 << 20)
            except TimeoutError:
                continue
            except OSError:
                data = b""
            if not data:
                return problem
            driver.heard_at = time.monotonic()
            *lines, unread = (unread + data).split(b"\n")
            for line in lines:
                problem = self._note(driver, json.loads(line)) or problem
        return problem

    def _note(self, driver: _DriverProcess, told: dict[str, Any]) -> str:
        """Take in one line of the driver's, and return why it fails, or ""."""
        if "told" in told:
            with self._changed:
                found = self._answers.get(told["told"])
            if found is not None:
                found[1].put(told)
        elif "capacity" in told:
            with self._changed:
                self._capacity, self._driver, self._problem = from_json(Capacity, told["capacity"]), driver, ""
                self._changed.notify_all()
        return str(told.get("failed", ""))

    def _started(self) -> _DriverProcess:
        """Raises OSError."""
        options = [f"--isolation={self.isolation}", f"--accelerator={self.accelerator}"]
        options += [f"--spares={self.spares}"] if self.spares else []
        environment = self._capacity.devices[0].environment if self._capacity is not None else None
        options += [f"--environment={environment.digest}"] if environment is not None else []

        def command(channel: int) -> list[str]:
            return [sys.executable, "-m", DRIVER, f"--channel={channel}", *options]

        return _DriverProcess(*started(command, self.environment()))

    def environment(self) -> dict[str, str]:
        """The variables of the driver: Ray's own, and none that holds a key of this playground."""
        environ = os.environ if self._environ is None else self._environ
        passed_on = {name: value for name, value in environ.items() if name in OWN_VARIABLES or name.startswith("RAY_")}
        return passed_on | {
            "PYTHONPATH": str(PACKAGE.parent),
            "PYTHONSAFEPATH": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "RAY_USAGE_STATS_ENABLED": environ.get("RAY_USAGE_STATS_ENABLED", "0"),
        }
