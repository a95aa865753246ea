"""A job whose passes are matched and whose callables are ready to be prepared: what VERIFY and MEASURE work on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from passnet_core.graphs import source
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.placement import placed
from passnet_core.judge.numerics.parameters import parameters
from passnet_core.judge.protocol.messages import CallableName, Preparation
from passnet_core.judge.stages.planned_candidate import PlannedCandidate
from passnet_core.judge.stages.remembered import Remembered
from passnet_core.judge.stages.sizes import Rescaled
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import Capture, Contender, Device, Job, SolverKind

PASSNET_SEED = 1024
"""The seed of every input draw by PassNet's rules."""

Preparations = Mapping[CallableName, Preparation]


@dataclass(frozen=True)
class PreparedJob:
    """A job with its graph and its two workers.

    candidate: the worker whose callable is judged; if Inductor is the solver, that is the witness. seed: of the input
    draws. report: tells people, in words, what is going on. planned: the candidate by its plans;
    None: its functions are called. remembered: answers of earlier jobs.

    rescaled: how numbers of its source shrank for Triton's interpreter, and whole: what it was before; None: they did
    not. beside_gpu: whether a GPU has executed the plans at the recorded sizes, so that the interpreter only watches
    what it does to memory."""

    job: Job
    graph: Graph
    preparations: Preparations
    candidate: WorkerProcess
    witness: WorkerProcess
    seed: int
    report: Callable[[str], None] = lambda text: None
    planned: PlannedCandidate | None = None
    remembered: Remembered = field(default_factory=Remembered)
    rescaled: Rescaled | None = None
    whole: "PreparedJob | None" = None
    beside_gpu: bool = False

    def at(self, rescaled: Rescaled, *, prepares: bool) -> "PreparedJob":
        """This job with a subgraph of which numbers in the source shrank. prepares: as in preparations."""
        code = source.emit(rescaled.graph)
        job = replace(self.job, subgraph=replace(self.job.subgraph, code=code, inputs=rescaled.specs))
        device = self.job.spec.device
        prepared = preparations(job, rescaled.graph, rescaled.rewritten, device, prepares=prepares)
        return replace(self, job=job, graph=rescaled.graph, preparations=prepared, rescaled=rescaled, whole=self)

    @property
    def interpreted(self) -> PlannedCandidate | None:
        """The candidate by its plans, if it is Triton's interpreter that executes them."""
        return self.planned if self.job.spec.device is Device.CPU else None

    @property
    def timed(self) -> WorkerProcess:
        """The worker in which what is judged is timed: under the strict profile one without the bundle's host code."""
        return self.planned.executor if self.planned is not None else self.candidate

    @property
    def is_candidate(self) -> bool:
        """Whether a bundle's passes are judged, and not Inductor."""
        return self.job.solver is SolverKind.PASSES

    @property
    def names(self) -> Mapping[Contender, str]:
        """The contenders' names in texts for people."""
        return self.job.spec.names

    @property
    def solver(self) -> Contender:
        """The contender that is judged."""
        return Contender.PASSES if self.is_candidate else Contender.BASELINE


def preparations(job: Job, graph: Graph, rewritten: Graph, device: Device, *, prepares: bool = False) -> Preparations:
    """Every callable of a job, on this device. prepares: whether the passes prepare the subgraph's weights."""
    original = source.emit(placed(graph, device.value))
    known = parameters(graph, job.subgraph.inputs) if prepares else frozenset()
    weights = tuple(spec.name for spec in job.subgraph.inputs if spec.name in known)
    capture = job.spec.capture
    for_passes = original if capture is Capture.COMPILED else source.emit(placed(rewritten, device.value))
    eager = Preparation(Contender.EAGER, original, capture, device)
    return {
        CallableName.EAGER: eager,
        CallableName.FLOAT64: replace(eager, float64=True),
        CallableName.MOVED: replace(eager, moved=True),
        CallableName.BASELINE: replace(eager, contender=Contender.BASELINE, baseline=job.spec.baseline),
        CallableName.PASSES: replace(eager, contender=Contender.PASSES, source=for_passes, weights=weights),
    }
