"""Estimate the time of a call on the GPU on which eager's was recorded, for passes that no GPU has run.

Launches and bytes are counted from the plans of the passes; what they take is fitted to recorded runs, by

    python -m tests.benchmarks.estimates

which also tells the error on tasks that it was not fitted to. Nothing here is a measurement: an estimate is never
stored, and ranks nobody."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from passnet_core.advice.eager_traffic import least_traffic
from passnet_core.graphs import source
from passnet_core.graphs.effects import VIEWS, last_part
from passnet_core.graphs.ir import Graph, Node
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.kinds import mapping
from passnet_core.records import EXECUTED, RIGHT, Outcome, TensorForm, Verdict

LAUNCHES: Mapping[str, int] = mapping("launches")
HOST_BOUND = 0.8
"""Below which share of eager's time its kernels are, if the host decides how long its call takes."""
LEAST_PACE, MOST_PACE = 0.7, 1.8
"""How much slower than usual a host may be taken to be, by eager's time on it."""
ERROR = 0.13
"""The median error on recorded runs of tasks that nothing was fitted to, as a share of the measured time."""


@dataclass(frozen=True)
class Rates:
    """What a call takes, in microseconds; bytes_per_us: what kernels read and write.

    call: of the host for any call; launch, view: for each of these besides. kernel: of the device for each launch.
    eager_call, eager_launch, eager_view: of the host, where eager computes."""

    call: float
    launch: float
    view: float
    kernel: float
    bytes_per_us: float
    eager_call: float
    eager_launch: float
    eager_view: float


RATES = Rates(
    call=4.3, launch=4.5, view=1.2, kernel=1.6, bytes_per_us=3.9e6, eager_call=4.2, eager_launch=6.9, eager_view=3.1
)
"""Fitted to runs on an NVIDIA H200, direct capture, of the half of the bundled tasks that may be looked at."""


@dataclass(frozen=True)
class EagerTime:
    """A recorded median call of eager. us: end to end. kernels_us: of its kernels; None if nobody knows."""

    us: float
    kernels_us: float | None


@dataclass(frozen=True)
class CallWork:
    """What a call does: launches of the passes, bytes of all tensors that they are given, views that stay, and the
    launches and views of eager in their place. least_bytes: of all inputs and outputs."""

    launches: float
    moved_bytes: float
    least_bytes: float
    views: int
    eager_launches: int
    eager_views: int

    @property
    def traffic(self) -> float:
        """How many times the least bytes it moves."""
        return self.moved_bytes / self.least_bytes if self.least_bytes else 1.0


def work_of(outcome: Outcome, graph: Graph, known: Mapping[str, Sequence[TensorForm]]) -> CallWork | None:
    """What a call of right passes does at the recorded sizes. graph: the subgraph's. known: the tensors of its nodes.

    None: the passes are not right, their plans are not known, or something else than views is left to eager."""
    figures = outcome.figures(EXECUTED)
    if outcome.verdict not in RIGHT - {Verdict.INCONCLUSIVE} or not figures:
        return None
    if outcome.match is None or outcome.match.rewritten is None:
        return None
    rewritten = source.parse(outcome.match.rewritten).operations
    left = [node for node in rewritten if not last_part(node).startswith("replacement_")]
    if not all(map(_is_view, left)):
        return None
    least, moved = figures["least_bytes"], figures["moved_bytes"]
    if outcome.accuracy is not None and outcome.accuracy.reduced:
        recorded = least_traffic(graph, known)
        if not recorded or not least:
            return None
        moved, least = moved / least * recorded, recorded
    computing = [node for node in graph.operations if not _is_view(node)]
    return CallWork(
        launches=figures["launches"],
        moved_bytes=moved,
        least_bytes=least,
        views=len(left),
        eager_launches=sum(LAUNCHES.get(operator_label(node), 1) for node in computing),
        eager_views=len(graph.operations) - len(computing),
    )


def estimated_us(work: CallWork, eager: EagerTime, rates: Rates = RATES) -> float:
    """The microseconds of a median call, end to end, where eager's call takes this long."""
    host = rates.call + rates.launch * work.launches + rates.view * work.views
    device = rates.kernel * work.launches + work.moved_bytes / rates.bytes_per_us
    return max(host * _pace(work, eager, rates), device)


def _pace(work: CallWork, eager: EagerTime, rates: Rates) -> float:
    """How much slower the host is than usual."""
    if eager.kernels_us is not None and eager.kernels_us > HOST_BOUND * eager.us:
        return 1.0
    usual = rates.eager_call + rates.eager_launch * work.eager_launches + rates.eager_view * work.eager_views
    return min(max(eager.us / usual, LEAST_PACE), MOST_PACE)


def _is_view(node: Node) -> bool:
    return last_part(node) in VIEWS
