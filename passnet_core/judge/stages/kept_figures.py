"""Figures of eager and Inductor that are kept for the next bundle on the same subgraph: device time, which depends on
neither the bundle nor the host. They are kept as long as the reference worker that they were taken in."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from passnet_core.judge.stages.timed_blocks import Blocks
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import Baseline, Capture, Contender, Evidence, Job

MOST = 64
"""Of how many subgraphs figures are kept."""

Key = tuple[str, Capture, Baseline]


@dataclass(frozen=True)
class KeptFigures:
    """traced: microseconds in kernels of each traced call. replays: microseconds of a replayed call, None if it cannot
    be captured. eager_us: how long a call of eager took end to end. at: when, by time.monotonic."""

    traced: Blocks
    replays: Mapping[Contender, float | None]
    eager_us: float
    at: float = field(default_factory=time.monotonic)

    def evidence(self, names: Mapping[Contender, str], eager_us: float) -> Evidence:
        """Says that these figures were not taken again. eager_us: how long a call of eager takes now."""
        traced = " and ".join(names[each] for each in self.traced)
        text = (
            f"The kernels of {traced} were traced {time.monotonic() - self.at:.0f} s earlier, for another bundle on"
            f" this subgraph, in the same process. Eager took {self.eager_us:.1f} µs end to end then, and"
            f" {eager_us:.1f} µs now."
        )
        return Evidence("kept figures", text)


_kept: WeakKeyDictionary[WorkerProcess, dict[Key, KeptFigures]] = WeakKeyDictionary()


def of(witness: WorkerProcess, job: Job, eager_us: float, noise: float) -> KeptFigures | None:
    """The figures that this reference worker has for the job's subgraph. None: it has none, or eager's time has changed
    since by more than the factor noise."""
    found = _kept.get(witness, {}).get(_key(job))
    if found is None or not found.eager_us / noise <= eager_us <= found.eager_us * noise:
        return None
    return found


def keep(witness: WorkerProcess, job: Job, figures: KeptFigures) -> None:
    """Keep these figures for the next bundle on the job's subgraph."""
    kept = _kept.setdefault(witness, {})
    kept.pop(_key(job), None)
    kept[_key(job)] = figures
    if len(kept) > MOST:
        del kept[next(iter(kept))]


def _key(job: Job) -> Key:
    return job.subgraph.digest, job.spec.capture, job.spec.baseline
