"""What programs send to the interface of the playground and what it answers, besides what forms.py has."""

from collections import Counter
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from passnet_core.execution.runs_in_progress import Progress
from passnet_core.records import Bundle, Verdict
from passnet_core.server.forms import BundleForm, RecordForm, SpecForm, StrictForm, TaskForm

LONGEST_LABEL = 200
MOST_LISTED = 1_000


class TaskList(BaseModel):
    """A part of the tasks that were found. total: how many were."""

    total: int
    tasks: list[TaskForm]


class InputForm(RecordForm):
    """An input of a subgraph, as it was recorded; low and high bound its values."""

    name: str
    dtype: str
    shape: list[int]
    low: float | None
    high: float | None


class SubgraphForm(RecordForm):
    """A subgraph: its source, and its inputs in the order of forward's arguments."""

    id: str
    digest: str
    source_model: str
    code: str
    inputs: list[InputForm]


class WholeTask(RecordForm):
    """A task with its subgraphs."""

    id: str
    split: str
    family: str
    subgraphs: list[SubgraphForm]


class ReferenceForm(BaseModel):
    """A bundle that comes with the playground."""

    name: str
    title: str
    description: str
    tasks: list[str]
    digest: str


class StoredFile(RecordForm):
    """A file of a stored bundle, which may be larger than one that is taken in here."""

    name: str
    code: str


class StoredFiles(RecordForm):
    """The files of a bundle, in the form in which a run takes them."""

    passes: list[StoredFile]
    helpers: list[StoredFile]


class StoredBundle(BaseModel):
    """A bundle of the store."""

    digest: str
    author: str
    bundle: StoredFiles

    @classmethod
    def of(cls, found: Bundle) -> "StoredBundle":
        return cls(digest=found.digest, author=found.author, bundle=StoredFiles.model_validate(found))


class RunRequest(SpecForm):
    """A bundle, or TorchInductor, to be judged on a task: a run, which is kept."""

    task: str = Field(max_length=300, description="the task's name")
    solver: Literal["passes", "inductor"] = "passes"
    bundle: BundleForm | None = None
    bundle_digest: str | None = Field(
        default=None, max_length=200, description="instead of bundle: that of a run, or the name of a reference"
    )
    subgraphs: list[str] | None = Field(default=None, min_length=1, max_length=1000, description="default: all")
    label: str = Field(default="", max_length=LONGEST_LABEL, description="a name for the run")
    fresh: bool = Field(default=False, description="judge again, even if the outcome of an equal job is known")

    @model_validator(mode="after")
    def _what_is_judged(self) -> "RunRequest":
        given = sum(each is not None for each in (self.bundle, self.bundle_digest))
        if given != (self.solver == "passes"):
            raise ValueError("Give bundle or bundle_digest, or else the solver inductor.")
        return self


class RunForm(BaseModel):
    """How far a run has come. detail: what the judge does at present, in a sentence. left_s: about how many seconds are
    left; null: nothing tells. queue_position: runs ahead of it, and wait_s: about how many seconds it waits still;
    null: it does not wait. problem: why it ended before its last outcome; else empty. page: where a person can watch
    it."""

    run: str
    task: str
    label: str
    solver: str
    bundle_digest: str | None
    stage: str
    started_at: str
    phase: str
    detail: str
    subgraph: str
    done: int
    accepted: int
    total: int
    verdicts: dict[Verdict, int]
    finished: bool
    cancelled: bool
    queue_position: int | None
    wait_s: float | None
    elapsed_s: float
    left_s: float | None
    problem: str
    page: str

    @classmethod
    def of(cls, found: Progress, page: str) -> "RunForm":
        run = found.run
        return cls(
            run=run.id,
            task=run.task_ids[0],
            label=run.label,
            solver=run.solver.value,
            bundle_digest=run.bundle_digest,
            stage=run.spec.stage.value,
            started_at=run.started_at,
            phase=found.phase.value,
            detail=found.detail,
            subgraph=found.subgraph_id,
            done=found.done,
            accepted=sum(each.verdict.accepted for each in found.outcomes),
            total=found.total,
            verdicts=dict(Counter(each.verdict for each in found.outcomes)),
            finished=found.finished,
            cancelled=found.cancelled,
            queue_position=found.queue_position,
            wait_s=found.wait_s,
            elapsed_s=found.elapsed_s,
            left_s=found.left_s,
            problem=found.problem,
            page=page,
        )


class RunLine(BaseModel):
    """A run in one line. recorded: where and when it was made; empty: here. median_speedup: end to end; null: nothing
    was timed."""

    run: str
    label: str
    started_at: str
    solver: str
    bundle_digest: str | None
    tasks: list[str]
    stage: str
    capture: str
    profile: str
    baseline: str
    recorded: str
    device: str
    accepted: int
    total: int
    verdicts: dict[Verdict, int]
    median_speedup: float | None


class SharingForm(StrictForm):
    """Whether everybody who has a run's link sees it."""

    shared: bool


class StandingForm(BaseModel):
    """A solver on a board, with the figures of docs/command-line.md for score."""

    name: str
    report: dict[str, Any]


class BoardForm(BaseModel):
    """Solvers that were measured on the same subgraphs under the same conditions, the best aggregate score first.
    solvers: how many there are; standings has at most 1,000 of them."""

    id: str
    title: str
    device: str
    capture: str
    profile: str
    clock_version: int
    tasks: int
    subgraphs: int
    total: int
    recorded: list[str]
    solvers: int
    standings: list[StandingForm]


class PersonForm(BaseModel):
    """Who asks. device_s: seconds of judging allowed in an hour; null: any number. used_s: in the last hour."""

    name: str
    role: str
    device_s: float | None
    used_s: float
    most_jobs: int
    gpu: bool
