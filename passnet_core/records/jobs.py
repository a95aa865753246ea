"""Jobs: one subgraph with one solver, and the spec by which it is judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from passnet_core.errors import BadInput
from passnet_core.records.bundles import Bundle
from passnet_core.records.codec import digest_of, identifying, whole
from passnet_core.records.enums import (
    Baseline,
    Capture,
    Contender,
    Device,
    Profile,
    SolverKind,
    Stage,
    contender_names,
)
from passnet_core.records.tasks import Subgraph


@dataclass(frozen=True)
class EvalSpec:
    """How a job is judged.

    trials: the number of timed blocks of MEASURE. seed: of the inputs; None: the referee draws one after the candidate
    is loaded. deadline_s: the time limit of a job, in seconds."""

    stage: Stage = Stage.VERIFY
    device: Device = Device.CPU
    capture: Capture = Capture.DIRECT
    profile: Profile = Profile.STRICT
    trials: int = 5
    seed: int | None = None
    deadline_s: float = 120.0
    replacement_cap: int | None = None
    """The most distinct replacement functions that a bundle may have; None: no cap. PassNet's rule is 1."""
    baseline: Baseline = Baseline.INDUCTOR

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise BadInput(f"Trials must be at least 1, not {self.trials}.")
        if not self.deadline_s > 0:
            raise BadInput(f"The deadline must be above 0 seconds, not {self.deadline_s}.")

    @property
    def names(self) -> Mapping[Contender, str]:
        """The contenders' names in texts for people."""
        return contender_names(self.baseline)


@dataclass(frozen=True)
class Job:
    """One subgraph to judge with one bundle, or with Inductor if bundle is None: all that a remote judge needs."""

    subgraph: Subgraph
    bundle: Bundle | None
    spec: EvalSpec

    @property
    def solver(self) -> SolverKind:
        return SolverKind.INDUCTOR if self.bundle is None else SolverKind.PASSES

    @cached_property
    def digest(self) -> str:
        return digest_of(
            {
                "subgraph": self.subgraph.digest,
                "bundle": self.bundle.digest if self.bundle else None,
                "spec": whole(identifying(self.spec, later=("baseline",))),
            }
        )

    @property
    def outcome_fields(self) -> dict[str, Any]:
        """The fields that every outcome of this job copies from the job."""
        return {
            "job_digest": self.digest,
            "task_id": self.subgraph.task_id,
            "subgraph_id": self.subgraph.id,
            "subgraph_digest": self.subgraph.digest,
            "dtype": self.subgraph.dtype,
            "solver": self.solver,
            "bundle_digest": self.bundle.digest if self.bundle else None,
            "spec": self.spec,
        }
