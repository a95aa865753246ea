"""Searches for passes for models: one that a caller waits for, and those in the background that a page follows."""

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from passnet_core.bundles.reading import write_bundle, zipped
from passnet_core.corpus.cutting_models import keep_cut
from passnet_core.errors import BadInput, InfrastructureError, PlaygroundError, UnknownItem
from passnet_core.execution.backends.base import DeviceInfo
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.jobs import jobs_of
from passnet_core.execution.scheduler import NOBODY
from passnet_core.outside import quoted
from passnet_core.records import Bundle, EvalSpec, Job, Outcome, Task
from passnet_core.settings import BackendChoice, Settings
from passnet_core.whole_models.adapting import SearchStep, Workshop, adapt, spec_for
from passnet_core.whole_models.captured import ModelFile
from passnet_core.whole_models.report import ModelReport

LIMIT_S = 1800.0
"""How long each program may take that runs a model."""
CANCEL_POLL_S = 0.5
KEPT = 20
"""How many finished searches stay in memory. What they found stays on the disk."""
MOST_CHARACTERS = 200_000
"""The most characters of a file that makes a model."""
REPORT = "report.md"
BUNDLE = "bundle"


class JudgesRuns(Protocol):
    """What a search asks of the service."""

    def device(self) -> DeviceInfo: ...

    def submit(self, task: Task, bundle: Bundle, spec: EvalSpec, *, label: str = ..., owner: str = ...) -> str: ...

    def wait(self, run_id: str) -> tuple[Outcome, ...]: ...

    def cancel(self, run_id: str) -> None: ...

    def judge_apart(self, job: Job, cancelled: threading.Event) -> Outcome: ...


@dataclass(frozen=True)
class SearchProgress:
    """How far a search has come. steps: those so far. report: what it found. problem: why it failed, or empty."""

    id: str
    file: ModelFile
    steps: tuple[SearchStep, ...]
    report: ModelReport | None
    problem: str
    folder: Path

    @property
    def finished(self) -> bool:
        return self.report is not None or bool(self.problem)


@dataclass
class _ModelSearch:
    id: str
    file: ModelFile
    owner: str
    folder: Path
    steps: list[SearchStep] = field(default_factory=list)
    cancelled: threading.Event = field(default_factory=threading.Event)
    report: ModelReport | None = None
    problem: str = ""

    def progress(self) -> SearchProgress:
        return SearchProgress(self.id, self.file, tuple(self.steps), self.report, self.problem, self.folder)


class ModelSearches:
    """Searches for passes for models, with the judge and the gallery of a service. Safe to share between threads.

    home: where searches in the background leave what they found, each in a folder of its own."""

    def __init__(self, settings: Settings, service: JudgesRuns, gallery: Callable[[], Mapping[str, Bundle]]) -> None:
        self._settings, self._service, self._gallery = settings, service, gallery
        self._home = settings.home / "models"
        self._lock = threading.Lock()
        self._keeping = threading.Lock()
        self._turn = threading.Lock()
        """Held by the search in the background that runs: each may take all the memory that a model needs."""
        self._searches: dict[str, _ModelSearch] = {}

    def find_passes(
        self,
        file: ModelFile,
        *,
        folders: Sequence[Path] = (),
        limit_s: float = LIMIT_S,
        owner: str = NOBODY,
        tell: Callable[[SearchStep], object] = lambda step: None,
        cancelled: threading.Event | None = None,
    ) -> ModelReport:
        """Find passes for the model that a file makes, and judge them. The tasks cut from it join the corpus.

        folders: what the file may read and import. limit_s: the time limit of each program that runs the model, in
        seconds. Raises BadInput if the model cannot be captured or the work is cancelled, InfrastructureError."""
        if len(file.code) > MOST_CHARACTERS:
            raise BadInput(f"{file.name} has {len(file.code):,} characters; at most {MOST_CHARACTERS:,} are taken.")
        here = self._service.device()
        if here.problem:
            raise InfrastructureError(here.problem)
        settings, stop = self._settings, cancelled or threading.Event()
        programs = LocalBackend(settings.python, settings.isolation, settings.home, judges=0, checkers=0)
        settings.home.mkdir(parents=True, exist_ok=True)

        def judge(task: Task, bundle: Bundle, spec: EvalSpec) -> tuple[Outcome, ...]:
            label = f"{file.factory} of {file.name}"
            run_id = self._service.submit(task, bundle, spec, label=label, owner=owner)
            with ExitStack() as ending:
                finished = threading.Event()
                ending.callback(finished.set)
                threading.Thread(target=self._cancel_when, args=(run_id, stop, finished), daemon=True).start()
                return self._service.wait(run_id)

        def judge_apart(task: Task, bundle: Bundle, spec: EvalSpec) -> tuple[Outcome, ...]:
            return tuple(self._service.judge_apart(job, stop) for job in jobs_of(task, bundle, spec))

        def keep(tasks: Sequence[Task]) -> None:
            with self._keeping:
                keep_cut(settings.home, file.digest, tasks)

        return adapt(
            file,
            Workshop(
                program=programs.program,
                judge=judge,
                judge_whole=judge_apart,
                here=here,
                gallery=self._gallery(),
                keep=keep,
                tell=tell,
                cancelled=stop,
                folders=tuple(folders),
                limit_s=limit_s,
                spec=spec_for(here),
                judged_here=settings.backend is BackendChoice.LOCAL or programs.info().environment == here.environment,
            ),
        )

    def start(self, file: ModelFile, *, owner: str = NOBODY) -> str:
        """Begin a search in the background, and return its id."""
        search_id = f"{datetime.now(UTC):%y%m%d}-{secrets.token_hex(4)}"
        search = _ModelSearch(search_id, file, owner, self._home / search_id)
        with self._lock:
            self._searches[search_id] = search
            finished = [each.id for each in self._searches.values() if each.progress().finished]
            for old in finished[:-KEPT]:
                del self._searches[old]
        threading.Thread(target=self._run, args=(search,), name=f"passnet-model-{search_id}", daemon=True).start()
        return search_id

    def progress(self, search_id: str) -> SearchProgress:
        """How far a search has come. Raises UnknownItem."""
        return self._search(search_id).progress()

    def of(self, owner: str) -> tuple[SearchProgress, ...]:
        """A person's searches that are in memory, newest first."""
        with self._lock:
            return tuple(each.progress() for each in reversed(self._searches.values()) if each.owner == owner)

    def owner_of(self, search_id: str) -> str:
        """Who began a search. Raises UnknownItem."""
        return self._search(search_id).owner

    def cancel(self, search_id: str) -> None:
        """End a search soon. Raises UnknownItem."""
        self._search(search_id).cancelled.set()

    def none(self, search_id: str) -> UnknownItem:
        """What is said of a search that is not here."""
        return UnknownItem(
            f"There is no search {quoted(search_id)} for passes: it never was, or the playground was stopped since."
            f" What finished searches found is in the folder {self._home.name} of PASSNET_HOME."
        )

    def cancel_all(self) -> None:
        """End all searches soon."""
        for each in tuple(self._searches.values()):
            each.cancelled.set()

    # --- inside ---

    def _search(self, search_id: str) -> _ModelSearch:
        found = self._searches.get(search_id)
        if found is None:
            raise self.none(search_id)
        return found

    def _run(self, search: _ModelSearch) -> None:
        with ExitStack() as unless_finished:
            # whatever happens, who waits must not wait forever
            unless_finished.callback(self._fail, search)
            try:
                with self._turn_of(search):
                    report = self.find_passes(
                        search.file, owner=search.owner, tell=search.steps.append, cancelled=search.cancelled
                    )
                search.steps.append(SearchStep("Writing what was found."))
                write_report(report, search.folder)
                search.report = report
            except PlaygroundError as error:
                search.problem = str(error)
            unless_finished.pop_all()

    @contextmanager
    def _turn_of(self, search: _ModelSearch) -> Iterator[None]:
        """Wait until no other search runs in the background. Raises BadInput if it is cancelled meanwhile."""
        if not self._turn.acquire(blocking=False):
            search.steps.append(SearchStep("Waiting for another search to end."))
            while not self._turn.acquire(timeout=CANCEL_POLL_S):
                if search.cancelled.is_set():
                    raise BadInput("It was stopped.")
        try:
            yield
        finally:
            self._turn.release()

    @staticmethod
    def _fail(search: _ModelSearch) -> None:
        search.problem = "An error in the playground ended it; its log has the details."

    def _cancel_when(self, run_id: str, stop: threading.Event, finished: threading.Event) -> None:
        """Cancel a run once `stop` is set, unless it has finished."""
        while not finished.wait(CANCEL_POLL_S):
            if stop.is_set():
                self._service.cancel(run_id)
                return


def write_report(report: ModelReport, folder: Path) -> None:
    """Write the report and the bundle into a folder. Raises BadInput if it holds other Python files,
    InfrastructureError if writing fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / REPORT).write_text("\n".join(report.lines()) + "\n", encoding="utf-8")
    except OSError as error:
        raise InfrastructureError(f"The report could not be written to '{folder}': {error.strerror}.") from error
    if report.bundle is not None:
        write_bundle(report.bundle, folder / BUNDLE, report.judged)


def zipped_report(folder: Path) -> bytes:
    """What write_report wrote into a folder, as a ZIP archive. Raises InfrastructureError if it cannot be read."""
    try:
        paths = sorted(each for each in folder.rglob("*") if each.is_file())
        return zipped({str(path.relative_to(folder)): path.read_bytes() for path in paths})
    except OSError as error:
        raise InfrastructureError(f"What was found in '{folder}' cannot be read: {error.strerror}.") from error
