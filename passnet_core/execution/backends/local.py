"""The backend on this machine: one referee process per judge."""

import contextlib
import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from queue import LifoQueue
from typing import Any, TypeVar, cast

from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.backends.base import (
    Cancellation,
    Capacity,
    CompileKernels,
    DeviceInfo,
    InspectSubgraph,
    Listen,
    MatchSources,
    Question,
    SourceMatches,
    TracePrograms,
    outcome_without_judge,
    spares_each,
)
from passnet_core.execution.backends.package_copy import import_folder, is_own
from passnet_core.execution.backends.referee_process import Referee, RefereeProgram, await_end, last_words
from passnet_core.records import (
    Device,
    Inspection,
    Isolation,
    Job,
    Outcome,
    PassKernels,
    PassTrace,
    Stage,
    Verdict,
    from_json,
    to_json,
)

T = TypeVar("T")

PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ",
    "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "TRITON_LIBCUDA_PATH", "CC",
    "OMP_NUM_THREADS",
)  # fmt: skip
"""The only variables that a referee inherits: keys in the environment stay in the app."""

JUDGED_WITH = ("torch", "triton")
NO_JUDGE = (
    "This needs the package {}. Run: pip install 'passnet-playground[judge]', or set PASSNET_PYTHON to a Python that"
    " has it."
)
INSPECTION_LIMIT_S = 60.0
"""How many seconds a referee may take to find the shapes in a subgraph and to have TorchInductor generate code."""
COMPILING_LIMIT_S = 90.0
"""How many seconds a referee may take to load a candidate and to have Triton compile its kernels."""
TRACING_LIMIT_S = 90.0
"""How many seconds a referee may take to load a candidate and to have Triton's interpreter run its kernels."""
GRACE_S = 240.0
"""How many seconds a referee may be silent beyond the deadline, for starting processes on a busy machine."""
POLL_S = 0.2
"""How often a program that runs is looked after."""
UNAVAILABLE = 3
"""Exit code of a confined program if the machine cannot confine it."""


class LocalBackend:
    """Judges on this machine. Safe to call from as many threads as it has judges and checkers; more would wait.

    judges: number of referees for any work. checkers: number of referees for CHECK jobs and matching only; without any,
    the judges do that too. keep_warm: restart a referee at once if it had to be killed. spares: warm spares per judge;
    None: as many as the machine has room for."""

    def __init__(
        self,
        python: Path | str,
        isolation: str,
        home: Path,
        *,
        judges: int = 1,
        checkers: int = 1,
        keep_warm: bool = False,
        spares: int | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        self.python = str(python)
        self.isolation = str(isolation)
        self.home = Path(home)
        self.judges, self.checkers = judges, checkers
        self._spares = spares

        def command(channel: int) -> list[str]:
            return self.command("referee", str(channel), self.isolation, str(self.home), str(self.spares()))

        def referees(count: int, *, checking: bool) -> list[Referee]:
            program = RefereeProgram(
                command, self.environment, self.home, grace_s, checking=checking, keep_warm=keep_warm
            )
            return [Referee(program) for _ in range(count)]

        self._referees = {False: referees(judges, checking=False), True: referees(checkers, checking=True)}
        self._free: dict[bool, LifoQueue[Referee]] = {}
        """The idle referees, by whether they take only light work; the one that worked last is used first."""
        for light, each in self._referees.items():
            self._free[light] = LifoQueue()
            for referee in reversed(each):
                self._free[light].put(referee)
        self._info: DeviceInfo | None = None
        self._info_lock = threading.Lock()

    def capacity(self) -> Capacity:
        return Capacity((self.info(),), self.judges, self.checkers, self.spares())

    def spares(self) -> int:
        """How many warm spares each judge keeps per device."""
        return self._spares or spares_each(self.info().spares, self.judges)

    def run(self, job: Job, listen: Listen, cancelled: Cancellation) -> Outcome:
        """Judge the job and return its one outcome, whatever happens."""
        if problem := self.info().problem:
            return outcome_without_judge(job, Verdict.INFRASTRUCTURE, problem)
        with self._referee(light=job.spec.stage is Stage.CHECK) as referee:
            return referee.run(job, listen, cancelled)

    def inspect(self, question: Question[T], cancelled: Cancellation) -> T:
        """Have a referee answer a question between jobs, so that no clock is disturbed. Raises like Backend.inspect."""
        problem = self.info().problem
        if problem and not isinstance(question, MatchSources):
            raise InfrastructureError(problem)
        with self._referee(light=question.light) as referee:
            return cast(T, self._answer(referee, question, problem, cancelled))

    def _answer(self, referee: Referee, question: object, problem: str, cancelled: Cancellation) -> object:
        def inspected(kind: type[T], word: str, about: Mapping[str, object], device: Device, limit_s: float) -> T:
            asked = {word: to_json({**about, "device": device, "deadline_s": limit_s})}
            return referee.inspected(kind, asked, device, limit_s, cancelled)

        about: dict[str, object]
        match question:
            case InspectSubgraph(subgraph, device, with_code, baseline):
                about = {"subgraph": subgraph, "code": with_code, "baseline": baseline}
                return inspected(Inspection, "inspect", about, device, INSPECTION_LIMIT_S)
            case CompileKernels(subgraph, bundle, device):
                about = {"subgraph": subgraph, "bundle": bundle}
                return inspected(PassKernels, "compile", about, device, COMPILING_LIMIT_S)
            case TracePrograms(subgraph, bundle):
                about = {"subgraph": subgraph, "bundle": bundle}
                return inspected(PassTrace, "trace", about, TracePrograms.device, TRACING_LIMIT_S)
            case MatchSources(job, sources):
                if problem:
                    return SourceMatches(outcome_without_judge(job, Verdict.INFRASTRUCTURE, problem))
                survey = {"survey": {"job": to_json(job), "codes": list(sources)}}
                return referee.answered(job, survey, lambda event: None, cancelled)
        raise BadInput(f"The local judge cannot answer a {type(question).__name__}.")

    def info(self) -> DeviceInfo:
        """The best device of this machine, found out once by a judge process, and again if it reported a problem."""
        with self._info_lock:
            if self._info is None or self._info.problem:
                self._info = self._described()
            return self._info

    def prepare(self) -> None:
        """Start all referees without waiting for them, so that the next job finds them warm."""
        info = self.info()
        if not info.problem:
            for referee in self._all():
                referee.warm_up(info.device)

    def close(self) -> None:
        """End all processes for good. A running job ends as cancelled."""
        for referee in self._all():
            referee.close()

    def _all(self) -> list[Referee]:
        return [*self._referees[True], *self._referees[False]]

    @contextlib.contextmanager
    def _referee(self, *, light: bool) -> Iterator[Referee]:
        """An idle referee. Waits for one if there are more callers than the capacity allows."""
        free = self._free[light and self.checkers > 0]
        referee = free.get()
        try:
            yield referee
        finally:
            free.put(referee)

    def program(
        self,
        module: str,
        given: bytes,
        limit_s: float,
        *,
        device: Device = Device.CPU,
        folders: Sequence[Path] = (),
        cancelled: Cancellation | None = None,
    ) -> bytes:
        """Run a program of this package, isolated like candidate code, and return its standard output.

        given: its standard input. folders: what it may read and import besides. cancelled: ends it when set. Raises
        BadInput, with its last words, if it fails, is ended or exceeds limit_s seconds, InfrastructureError if this
        machine cannot run it."""
        named = [str(each.resolve()) for each in folders]
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as said:
            asked.write(given)
            asked.seek(0)
            words = (str(self.home), device, module, str(limit_s), *named)
            with self._started("confined", *words, stdin=asked, stdout=answer, stderr=said) as process:
                code = _waited(process, limit_s, cancelled or threading.Event())
            answer.seek(0)
            last = last_words(said, 2000) or f"The program ended with exit code {code}."
            if code == UNAVAILABLE:
                raise InfrastructureError(last)
            if code:
                raise BadInput(last.rpartition("\n")[2])
            return answer.read()

    @contextlib.contextmanager
    def _started(self, program: str, *words: str, **streams: Any) -> Iterator["subprocess.Popen[bytes]"]:
        """One of the judge's programs in this isolation. It ends with the block, and with this process: then a pipe is
        closed that only this process holds. Raises OSError."""
        theirs, ours = os.pipe()
        try:
            process = subprocess.Popen(
                self.command(program, str(theirs), self.isolation, *words),
                env=self.environment(),
                pass_fds=(theirs,),
                start_new_session=True,
                **streams,
            )
        except OSError:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        try:
            yield process
        finally:
            os.close(ours)
            await_end(process, self.home)

    def command(self, *arguments: str) -> list[str]:
        return [self.python, "-m", "passnet_core.judge", *arguments]

    def environment(self) -> dict[str, str]:
        passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        own = import_folder(self.python, self.home)
        folders = [str(own), *(each for each in os.environ.get("PYTHONPATH", "").split(":") if each)]
        return passed_on | {"PYTHONPATH": ":".join(folders), "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}

    def _described(self) -> DeviceInfo:
        if is_own(self.python) and (missing := [each for each in JUDGED_WITH if find_spec(each) is None]):
            return DeviceInfo(Device.CPU, "no judge", Isolation.PROCESS, None, NO_JUDGE.format(missing[0]))
        try:
            with self._started("describe", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                answer, said = process.communicate(timeout=GRACE_S)
            told = json.loads(answer)
            label = told["environment"]["device"] if told["environment"] else told["device"]
            return from_json(DeviceInfo, {**told, "label": label})
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = f"The judge's Python, {self.python}, cannot be started: {error}. Set PASSNET_PYTHON to another."
        except (ValueError, KeyError, TypeError, BadInput):
            last = said.decode(errors="replace").strip().rpartition("\n")[2][:300]
            problem = f"The judge cannot be started with {self.python}: {last or 'no output'}. Set PASSNET_PYTHON."
        return DeviceInfo(Device.CPU, "no judge", Isolation.PROCESS, None, problem)


def _waited(process: subprocess.Popen[bytes], limit_s: float, cancelled: Cancellation) -> int:
    """The exit code of a process. Raises BadInput at the time limit, and when cancelled."""
    until = time.monotonic() + limit_s
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(POLL_S)
        if cancelled.is_set():
            raise BadInput("It was stopped.")
        if time.monotonic() > until:
            raise BadInput(f"The time limit of {limit_s:.0f} s was exceeded.")
