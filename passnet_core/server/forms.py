"""What is sent to the judge's service and what it answers, as typed schemas from which the OpenAPI document is made."""

from typing import Annotated, Any, Self

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from passnet_core import __version__
from passnet_core.bundles.reading import naming_problems
from passnet_core.errors import BadInput
from passnet_core.execution.backends.base import Capacity
from passnet_core.records import Baseline, Bundle, Capture, Device, EvalSpec, PassFile, Profile, Stage, Verdict
from passnet_core.solvers.llm.files import LARGEST_FILE, MOST_FILES
from passnet_core.training.answers import bundle_in, bundle_in_messages
from passnet_core.training.prompts import CallProtocol

MOST_PROMPTS = 1024
"""The most tasks whose first messages one answer has."""
MOST_IN_BATCH = 1024
MOST_MESSAGES = 1000
LONGEST_KEY = 200
PRIORITIES = 10
"""The largest priority; the smallest is its negative."""
LONGEST_WAIT_S = 60.0
WaitS = Annotated[
    float, Query(ge=0, le=LONGEST_WAIT_S, description="answer when it has finished, or after so many seconds")
]


class StrictForm(BaseModel):
    """Refuses fields that it does not know, since a misspelt one would be ignored."""

    model_config = ConfigDict(extra="forbid")


class RecordForm(BaseModel):
    """Has the names of a record's fields or properties, and is made of one by model_validate."""

    model_config = ConfigDict(from_attributes=True)


class FileForm(StrictForm):
    """A Python file of a bundle."""

    name: str = Field(max_length=100, examples=["fused_gelu.py"])
    code: str = Field(max_length=LARGEST_FILE)


class BundleForm(StrictForm):
    """Passes in the order in which they are applied, and the modules that they import."""

    passes: list[FileForm] = Field(min_length=1, max_length=MOST_FILES)
    helpers: list[FileForm] = Field(default=[], max_length=MOST_FILES)

    def bundle(self) -> Bundle:
        """The bundle. Raises BadInput for a file name that a bundle cannot have."""
        passes, helpers = (
            tuple(PassFile(each.name, each.code) for each in part) for part in (self.passes, self.helpers)
        )
        made = Bundle(passes, helpers)
        for problem in naming_problems(made):
            raise BadInput(problem)
        return made


class SpecForm(StrictForm):
    """How to judge; docs/command-line.md explains the flags of these names."""

    stage: Stage = Field(default=Stage.VERIFY, description="verify needs no GPU; measure also takes times, on a GPU")
    device: Device | None = Field(default=None, description="the service's own by default")
    capture: Capture = Capture.DIRECT
    profile: Profile = Profile.STRICT
    baseline: Baseline = Baseline.INDUCTOR
    trials: int = Field(default=EvalSpec().trials, ge=1, le=100, description="timed blocks per subgraph")
    deadline_s: float = Field(default=EvalSpec().deadline_s, gt=0, le=600, description="seconds per subgraph")

    def spec(self, here: Device) -> EvalSpec:
        """here: the device on which jobs run by default."""
        return EvalSpec(
            stage=self.stage,
            device=self.device or here,
            capture=self.capture,
            profile=self.profile,
            trials=self.trials,
            deadline_s=self.deadline_s,
            replacement_cap=1 if self.profile is Profile.PASSNET else None,
            baseline=self.baseline,
        )


class MessageForm(BaseModel):
    """A message in OpenAI's chat format. Fields that are not needed here are left out."""

    role: str = Field(max_length=100)
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[dict[str, Any]] | None = None


class EvaluationRequest(SpecForm):
    """What to judge on a task: a bundle, or a model's answer, as its text or as its messages."""

    task: str = Field(max_length=300, description="the task's name")
    bundle: BundleForm | None = None
    text: str | None = Field(
        default=None,
        description="a model's answer: calls such as '### write_file name.py' or JSON in <tool_call>, or code blocks;"
        " what it thinks, up to </think>, is left out",
    )
    messages: list[MessageForm] | None = Field(
        default=None,
        max_length=MOST_MESSAGES,
        description="a model's answer in OpenAI's chat format: what the assistant says is read like text, and"
        " tool_calls count",
    )
    subgraphs: list[str] | None = Field(default=None, min_length=1, max_length=1000, description="default: all")
    priority: int = Field(default=0, ge=-PRIORITIES, le=PRIORITIES, description="higher is judged first")
    key: str | None = Field(
        default=None,
        min_length=1,
        max_length=LONGEST_KEY,
        description="an idempotency key: the same request with the same key is judged once, and answered alike",
    )
    fresh: bool = Field(default=False, description="judge again, even if the outcome of an equal job is known")
    details: bool = Field(default=False, description="also answer with the outcomes as the command line writes them")

    @model_validator(mode="after")
    def _one_of_three(self) -> "EvaluationRequest":
        if sum(each is not None for each in (self.bundle, self.text, self.messages)) != 1:
            raise ValueError("Give one of bundle, text and messages.")
        return self

    def candidate(self) -> Bundle:
        """The bundle to judge. Raises BadInput if there is none in the answer, or if it is none."""
        if self.bundle is not None:
            return self.bundle.bundle()
        if self.messages is not None:
            return bundle_in_messages([each.model_dump() for each in self.messages])
        return bundle_in(self.text or "")


class RightForm(RecordForm):
    """On which share of the input draws every output is right, and the smallest tolerance level t that holds on all."""

    share: float
    right_draws: int
    draws: int
    smallest_t: int | None


class FasterForm(RecordForm):
    """Eager's end-to-end time divided by the candidate's, with its 95% interval."""

    ratio: float
    low: float
    high: float


class PartsForm(RecordForm):
    """The components of the reward on one subgraph; null where the judge did not get that far or cannot tell."""

    subgraph: str
    verdict: Verdict
    reason: str
    loads: bool | None
    matches: bool | None
    right: RightForm | None
    faster: FasterForm | None
    cheat: bool
    library: bool
    reward: float | None = Field(description="the default reward; null is no reward, and not 0")


class JudgedBy(RecordForm):
    """The machine that judged."""

    device: str
    torch: str
    triton: str
    judge_digest: str
    clock_version: int


class EvaluationAnswer(BaseModel):
    """What the judge found, and the default reward made of it."""

    key: str | None
    task: str
    stage: Stage
    device: Device
    bundle_digest: str | None = Field(description="null if the answer has no bundle")
    problem: str = Field(description="why the answer has no bundle; else empty")
    reward: float | None = Field(description="the default reward over all subgraphs; null is no reward, and not 0")
    no_reward: str = Field(description="why there is no reward; else empty")
    accepted: int
    total: int
    parts: list[PartsForm]
    feedback: str = Field(description="what a model in a conversation is told")
    judged_by: JudgedBy | None
    known: int = Field(description="how many outcomes were known from an equal job")
    judging_s: float = Field(description="seconds of judging, over all subgraphs")
    waited_s: float = Field(description="seconds from the request to the answer")
    outcomes: list[dict[str, Any]] | None = Field(description="with details: as the command line writes them")


class ErrorBody(BaseModel):
    """kind: the error's name, for programs. message: what is wrong, which one, and what to do."""

    kind: str
    message: str


class ErrorForm(BaseModel):
    """Any answer that is none."""

    error: ErrorBody


class EvaluationState(BaseModel):
    """Where an evaluation stands that was submitted. answer: null until there is one. error, status: why there will be
    none, and the status with which POST /evaluate says so; else null."""

    key: str
    answer: EvaluationAnswer | None = None
    error: ErrorBody | None = None
    status: int | None = None


class BatchRequest(StrictForm):
    """Several evaluations, which are judged as the judges become free."""

    items: list[EvaluationRequest] = Field(min_length=1, max_length=MOST_IN_BATCH)


class BatchItem(BaseModel):
    """The answer to one of them, or why there is none."""

    answer: EvaluationAnswer | None = None
    error: ErrorBody | None = None


class BatchAnswer(BaseModel):
    """The answers in the order of the requests."""

    answers: list[BatchItem]


class CallForm(StrictForm):
    """A tool call. arguments: an object, or its JSON as models write it, possibly invalid."""

    name: str = Field(max_length=100)
    arguments: dict[str, Any] | str = {}
    id: str = Field(default="", max_length=200)


class SessionRequest(SpecForm):
    """A conversation to hold: the environment in which a model works on a task."""

    task: str = Field(max_length=300, description="the task's name")
    protocol: CallProtocol = Field(default=CallProtocol.TOOLS, description="how the model is told to call tools")
    bundle: BundleForm | None = Field(default=None, description="a bundle to repair or improve")
    priority: int = Field(default=0, ge=-PRIORITIES, le=PRIORITIES, description="higher is judged first")


class SessionState(BaseModel):
    """Where a conversation stands. reward: that of its best evaluated bundle."""

    id: str
    task: str
    split: str
    finished: bool
    steps: int
    calls: int
    evaluations: int
    files: dict[str, str]
    reward: float | None
    best: EvaluationAnswer | None


class SessionOpening(BaseModel):
    """How a conversation begins, in OpenAI's chat format. tools: empty where the protocol is text."""

    id: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    state: SessionState


class StepRequest(StrictForm):
    """What the model did: tool calls, or an answer in plain text with calls in it. step: its number, from 1; the same
    number again gets the same answer, and no tool works twice."""

    step: int | None = Field(default=None, ge=1)
    calls: list[CallForm] | None = Field(default=None, max_length=64)
    text: str | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "StepRequest":
        if (self.calls is None) == (self.text is None):
            raise ValueError("Give either calls or text.")
        return self


class ResultForm(BaseModel):
    """What a tool answered. evaluation: where the tool was evaluate and the bundle was judged."""

    id: str
    name: str
    text: str
    evaluation: EvaluationAnswer | None


class StepAnswer(BaseModel):
    """The results in the order of the calls. messages: what the model is told, in OpenAI's chat format."""

    results: list[ResultForm]
    messages: list[dict[str, Any]]
    state: SessionState


class TaskForm(RecordForm):
    """A task of the corpus."""

    id: str
    split: str
    family: str
    subgraphs: int
    operators: list[str]
    dtypes: list[str]


class TaskDetail(BaseModel):
    """A task with the first messages of a conversation about it, in OpenAI's chat format."""

    id: str
    split: str
    family: str
    subgraph_ids: list[str]
    protocol: CallProtocol
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


class Wellness(BaseModel):
    """Whether anything can be judged: all that strangers are told."""

    ok: bool


class ServerHealth(Wellness):
    """The same for who is let in. problem: why nothing can be judged; else empty."""

    problem: str
    version: str
    device: str
    isolation: str
    judges: int
    jobs: int = Field(description="pieces of work that wait or are under way, such as jobs, one for each subgraph")

    @classmethod
    def of(cls, capacity: Capacity, jobs: int, **more: int) -> Self:
        here = capacity.devices[0]
        return cls(
            ok=not here.problem,
            problem=here.problem,
            version=__version__,
            device=here.label,
            isolation=here.isolation.value,
            judges=capacity.judges,
            jobs=jobs,
            **more,
        )


class HealthForm(ServerHealth):
    """The same of the judge's service, and how much it has to do."""

    evaluations: int = Field(description="evaluations that wait or are judged")
    most: int = Field(description="evaluations that may; more are refused with status 429")
    sessions: int
