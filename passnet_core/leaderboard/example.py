"""The example on the first page: a recorded result of a reference bundle that shows what a pass can do."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from passnet_core.leaderboard.excerpts import kernels_of
from passnet_core.records import Bundle, Capture, Clock, Contender, Device, Outcome, Profile, Verdict
from passnet_core.store.rows import RunFile

SEVERAL = 2.0
"""From which speedup over eager on an example convinces."""


@dataclass(frozen=True)
class Example:
    """A bundle and its outcome on one subgraph. recorded: as in Run."""

    bundle: Bundle
    outcome: Outcome
    recorded: str

    @property
    def speedup(self) -> float:
        found = self.outcome.speedup()
        return found.value if found else 0.0

    @property
    def convinces(self) -> bool:
        """Whether the bundle is several times as fast as eager, and faster than TorchInductor beside it."""
        inductor = self.outcome.speedup(Clock.END_TO_END, Contender.BASELINE)
        return self.speedup >= SEVERAL and inductor is not None and self.speedup > inductor.value


def example_of(files: Iterable[RunFile], bundles: Collection[Bundle]) -> Example | None:
    """Choose the example from recorded runs of these bundles; None if none was faster than eager.

    Only what was measured on a GPU counts, in direct capture under the strict profile, with the verdict "faster". What
    convinces comes first; of that the bundle with the least to read: the fewest passes, the kernel in the pass's own
    file, and the shortest pattern and kernel. Speed decides only between the outcomes of equally short bundles, so the
    example is not the record."""
    return min(_measured(files, {each.digest: each for each in bundles}), key=_order, default=None)


def _measured(files: Iterable[RunFile], bundles: dict[str, Bundle]) -> Iterator[Example]:
    for file in files:
        bundle = bundles.get(file.run.bundle_digest or "")
        spec = file.run.spec
        if bundle and (spec.device, spec.capture, spec.profile) == (Device.CUDA, Capture.DIRECT, Profile.STRICT):
            for outcome in file.outcomes:
                if outcome.verdict is Verdict.FASTER:
                    yield Example(bundle, outcome, file.run.recorded)


def _order(example: Example) -> tuple[bool, int, bool, int, float, str]:
    gist = kernels_of(example.bundle.passes[0].code)
    return (
        not example.convinces,
        len(example.bundle.passes),
        gist.kernels == 0,
        gist.lines,
        -example.speedup,
        example.outcome.job_digest,
    )
