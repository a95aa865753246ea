"""What the judge is asked: one job per subgraph, with how it is judged."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from passnet_core.errors import BadInput
from passnet_core.records.bundles import Bundle
from passnet_core.records.codec import digest_of, to_json, whole
from passnet_core.records.enums import Capture, Device, Profile, SolverKind, Stage
from passnet_core.records.tasks import Subgraph


@dataclass(frozen=True)
class EvalSpec:
    """How a job is judged. trials: timed blocks of MEASURE. seed None: drawn after the candidate is loaded."""

    stage: Stage = Stage.VERIFY
    device: Device = Device.CPU
    capture: Capture = Capture.DIRECT
    profile: Profile = Profile.STRICT
    trials: int = 5
    seed: int | None = None
    deadline_s: float = 120.0
    replacement_cap: int | None = None
    """Most distinct replacement functions per bundle; None: no cap. PassNet's is 1."""

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise BadInput(f"Trials must be at least 1, not {self.trials}.")
        if not self.deadline_s > 0:
            raise BadInput(f"The deadline must be above 0 seconds, not {self.deadline_s}.")


@dataclass(frozen=True)
class Job:
    """Self-contained: a remote machine needs nothing else. Without a bundle the solver is Inductor."""

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
                "spec": whole(to_json(self.spec)),
            }
        )

    @property
    def outcome_fields(self) -> dict[str, Any]:
        """What every outcome of this job repeats of it."""
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
