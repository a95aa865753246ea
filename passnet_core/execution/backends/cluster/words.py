"""What the backend, its driver and the nodes tell each other, as data that JSON can hold."""

from typing import Any, TypeVar

from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.backends.base import (
    CompileKernels,
    InspectSubgraph,
    MatchSources,
    Question,
    SourceMatches,
    TracePrograms,
)
from passnet_core.records import (
    Inspection,
    Job,
    Outcome,
    PassKernels,
    PassTrace,
    from_json,
    to_json,
)

T = TypeVar("T")

JOB = "Job"
ASKED: dict[str, tuple[Any, Any]] = {
    JOB: (Job, Outcome),
    "InspectSubgraph": (InspectSubgraph, Inspection),
    "CompileKernels": (CompileKernels, PassKernels),
    "TracePrograms": (TracePrograms, PassTrace),
    "MatchSources": (MatchSources, SourceMatches),
}
"""The types of what is asked and of its answer, by the name of the first."""


def asked_as_json(asked: Job | Question[Any]) -> dict[str, Any]:
    """A job or a question, with its name. Raises BadInput if a cluster cannot answer such a question."""
    name = type(asked).__name__
    if name not in ASKED:
        raise BadInput(f"A cluster cannot answer a {name}.")
    return {"kind": name, "asked": to_json(asked)}


def asked_from_json(data: dict[str, Any]) -> Any:
    """The job or question. Raises BadInput, KeyError."""
    return from_json(ASKED[data["kind"]][0], data["asked"])


def answer_as_json(answer: object) -> dict[str, Any]:
    return {"answer": to_json(answer)}


def problem_as_json(error: Exception) -> dict[str, Any]:
    """Why a question has no answer."""
    return {"problem": str(error), "bad_input": isinstance(error, BadInput)}


def answer_from_json(kind: str, data: dict[str, Any]) -> Any:
    """The answer to what was asked under this name. Raises BadInput or InfrastructureError if there is none."""
    if "problem" in data:
        raise (BadInput if data.get("bad_input") else InfrastructureError)(str(data["problem"]))
    try:
        return from_json(ASKED[kind][1], data["answer"])
    except (KeyError, ValueError, BadInput) as error:
        raise InfrastructureError(f"The answer of a node cannot be read: {error}") from error


def task_of(asked: Job | Question[Any]) -> str:
    """The task whose subgraph a job or question is about."""
    about: Any = asked.job if isinstance(asked, MatchSources) else asked
    return str(about.subgraph.task_id)
