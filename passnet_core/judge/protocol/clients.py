"""What may be asked of a process that computes.

Two kinds of process answer the same questions. The *candidate* has loaded a bundle and is not trusted. The *witness*
has loaded none: it computes eager, its float64 form and Inductor, so that a failure of theirs cannot harm the referee.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from passnet_core.judge.protocol.messages import (
    Fills,
    Given,
    Launches,
    Loaded,
    Preparation,
    Propagated,
    Returned,
    TimedCall,
)
from passnet_core.judge.protocol.reference_bench import BenchPlan, RecheckedCall, ReferenceBench
from passnet_core.records import (
    Accelerator,
    Bundle,
    Clock,
    CompiledKernel,
    InductorCode,
)

if TYPE_CHECKING:
    import torch


class TimedCalls(Protocol):
    """A series of timed calls of one callable, to be ended. begun_us: what it took to begin it, by the referee's clock:
    the weights that stay the same meanwhile are drawn, and prepared where the bundle asks for that."""

    begun_us: float

    def call(self, seed: int, slot: int, *, keep_last: bool = False) -> TimedCall:
        """One call on the inputs of this seed. keep_last: what the call before this one returned is wanted."""
        ...

    def end(self, *, keep_last: bool = False) -> tuple[Returned, ...]:
        """What the calls returned whose outputs were wanted, in order."""
        ...


class Computing(Protocol):
    """What computes references: a client of the witness, or the witness itself. As in CandidateClient."""

    def give(self, inputs: "Sequence[torch.Tensor | int]") -> None: ...

    def run(self, name: str, *, fresh: bool = True) -> Returned: ...


class CandidateClient(Protocol):
    """What may be asked. Each call raises CandidateFault, CandidateGone or CandidateTimeout; after the latter two
    the child is gone for good. The job's deadline counts for all calls together."""

    def load(self, bundle: Bundle) -> Loaded:
        """Imports the bundle and traces its passes. Candidate only, first, once."""
        ...

    def prepare(self, name: str, preparation: Preparation) -> None:
        """Builds a callable and keeps it under this name, one of CallableName."""
        ...

    def give(self, inputs: "Sequence[torch.Tensor | int | float | bool]") -> None:
        """Replaces the inputs, which live on the CPU here and are moved to the device there."""
        ...

    def bench(self, plan: "BenchPlan") -> "ReferenceBench":
        """A bench on its device. Witness only."""
        ...

    def run(self, name: str, *, fresh: bool = True) -> Returned:
        """Calls it once with copies of the given inputs and sends back what it returned.

        fresh: at new addresses; else in the very tensors of the child's call before, where they fit.
        """
        ...

    def warm_up(self, name: str, fills: Fills, seconds: float) -> None:
        """Calls it for about so long, at least thrice."""
        ...

    def timed_calls(self, name: str, clock: Clock, fills: Fills, core: int | None, weights: int) -> TimedCalls:
        """Timed calls on this clock, one by one. core: where the child's thread is to stay meanwhile. weights: the seed
        of the inputs that stay the same in all of them, if any do."""
        ...

    def recall(self, name: str, fills: Fills, weights: int, seeds: Sequence[int]) -> tuple[Returned, ...]:
        """What it returns for the inputs of these seeds; without a name, these inputs."""
        ...

    def checked(self, fills: Fills, weights: int, seed: int, actual: Returned) -> "RecheckedCall":
        """Whether a timed call of the other child, with these seeds, returned the truth. Witness only."""
        ...

    def kernels(self, name: str, fills: Fills, seed: int, calls: int) -> list[float]:
        """Microseconds that kernels took in each of so many calls, by the device trace."""
        ...

    def replay(self, name: str, fills: Fills, seed: int) -> float | None:
        """Microseconds of a replay of the call as a CUDA graph; None where it cannot be captured."""
        ...

    def census(self, name: str) -> tuple[Launches, ...]:
        """Calls it twice on the given inputs and lists what its replacement functions launched."""
        ...

    def rest(self) -> None:
        """Stops it, with all that it has started, until it is asked again: while another's calls are timed. Should it
        go on meanwhile, the next that is asked raises CandidateFault. Candidate only."""
        ...

    def copying(self) -> float | None:
        """Bytes per microsecond that a copy on the device moves just now, read and written; None without one."""
        ...

    def facts(self) -> dict[str, Any]:
        """What the child sees of its machine: versions, device name. By its own account."""
        ...

    def accelerator(self) -> Accelerator | None:
        """The GPU, of those facts; None on a CPU."""
        ...

    def propagate(self, source: str, given: Sequence[Given]) -> Propagated:
        """What each node of this source, placed on the device, gives for such inputs. Witness only, as generate."""
        ...

    def compiled(self, name: str) -> tuple[CompiledKernel, ...]:
        """Calls it on the given inputs and says what Triton made of the kernels that it launched. Candidate only, in a
        process that is asked nothing else afterwards."""
        ...

    def generate(self, source: str, given: Sequence[Given]) -> InductorCode | str:
        """TorchInductor's code for it, or a sentence that says why there is none."""
        ...
