"""A job whose graph was read and rewritten, with the two workers that compute it: what VERIFY and MEASURE are given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from passnet_core.graphs.ir import Graph
from passnet_core.judge.protocol.clients import CandidateClient
from passnet_core.judge.protocol.messages import CallableName, Preparation
from passnet_core.records import Contender, Job, SolverKind


@dataclass(frozen=True)
class PreparedJob:
    """candidate: the worker of what is judged, for Inductor the witness itself. seed: of the input draws. report: tells
    people what is going on."""

    job: Job
    graph: Graph
    preparations: Mapping[CallableName, Preparation]
    candidate: CandidateClient
    witness: CandidateClient
    seed: int
    report: Callable[[str], None] = lambda text: None

    @property
    def is_candidate(self) -> bool:
        """Whether a bundle's passes are judged, and not Inductor."""
        return self.job.solver is SolverKind.PASSES

    @property
    def solver(self) -> Contender:
        return Contender.PASSES if self.is_candidate else Contender.BASELINE
