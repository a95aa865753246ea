"""The requests that a worker answers.

Three kinds of worker answer the same requests. The *candidate* worker has loaded a bundle and is not trusted. The
*witness* has loaded none: it computes eager, its float64 form and Inductor, so that they cannot crash the referee. The
*repeater* has loaded the kernels of a bundle, and none of its other code: it repeats what a candidate's kernels did."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from passnet_core.judge.protocol.messages import (
    Fills,
    Given,
    Loaded,
    Preparation,
    Propagated,
    Repeated,
    Returned,
    TimedCall,
    Watched,
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

    from passnet_core.graphs.rewriting import TracedPass


class TimedCalls(Protocol):
    """A series of timed calls of one callable, which must be ended. begun_us: how long it took to begin, by the
    referee's clock; this includes drawing the weights that all calls share, and the bundle's prepare(weights)."""

    begun_us: float

    def call(self, seed: int, slot: int, *, keep_last: bool = False) -> TimedCall:
        """Make one call on the inputs of this seed. keep_last: keep what the previous call returned."""

    def end(self, *, keep_last: bool = False) -> tuple[Returned, ...]:
        """End the series. Return what was kept, in order. keep_last: as in call."""


class Computing(Protocol):
    """Computes references: a client of the witness, or the witness itself. Its methods are those of CandidateClient."""

    def prepare(self, name: str, preparation: Preparation) -> None: ...

    def give(self, inputs: "Sequence[torch.Tensor | int]") -> None: ...

    def run(self, name: str, *, fresh: bool = True) -> Returned: ...


class CandidateClient(Protocol):
    """A client of one worker. Every method may raise CandidateFault, CandidateGone or CandidateTimeout; after the
    latter two the worker is gone for good. All requests together share the job's deadline."""

    def load(self, bundle: Bundle) -> Loaded:
        """Import the bundle and trace its passes. Candidate only: once, before any other request."""

    def prepare(self, name: str, preparation: Preparation) -> None:
        """Build a callable and keep it under this name, one of CallableName."""

    def give(self, inputs: "Sequence[torch.Tensor | int | float | bool]") -> None:
        """Replace the worker's inputs. They are given on the CPU, and the worker copies them to its device."""

    def bench(self, plan: "BenchPlan") -> "ReferenceBench":
        """Open a reference bench on the worker's device. Witness only."""

    def run(
        self,
        name: str,
        *,
        fresh: bool = True,
        watched: bool = False,
        idle: bool = False,
        sampled: bool = False,
        refusing: bool = False,
    ) -> Returned:
        """Call the callable once with copies of the given inputs, and return what it returned.

        fresh: put the copies at new addresses; otherwise reuse the tensors of the worker's previous call if they fit.
        watched: return as well what its replacement functions did. They must return plain tensors. idle: let launches
        of Triton kernels do nothing. sampled: let only a few programs of each launch run. CPU only. refusing: the
        tensors that its replacement functions are given refuse torch's operations, as in PassNet's warm-up."""

    def load_kernels(self, bundle: Bundle, passes: "Sequence[TracedPass]") -> None:
        """Load the bundle's functions written in Triton, and nothing else of it. Repeater only, instead of load.
        passes: as the candidate worker traced them."""

    def compile_kernels(self, launches: Sequence[Mapping[str, Any]], seconds: float) -> list[str | None]:
        """Compile launches for a GPU, as stages/compilation.py describes them. For each: why the compiler refuses it,
        in a sentence; "" if it does not; None if it did not answer within these seconds, or was not asked since the
        kernel cannot be loaded alone. Repeater only."""

    def repeat(
        self,
        name: str,
        watched: Watched,
        seed: int | None,
        *,
        sampled: bool = False,
        most_s: float | None = None,
    ) -> Repeated:
        """Call the callable once with copies of the given inputs; instead of its replacement functions, repeat the
        steps of a watched call. The seed decides what is not defined on a GPU, such as the order of the programs of
        each launch; None: it is as in the interpreter. sampled: let only a few programs of each launch run, with no
        seed. most_s: if the kernels are more seconds of work, they fail. Repeater only."""

    def warm_up(self, name: str, fills: Fills, seconds: float) -> None:
        """Call the callable for about this many seconds, and at least three times."""

    def timed_calls(self, name: str, clock: Clock, fills: Fills, core: int | None, weights: int) -> TimedCalls:
        """Begin a series of timed calls on this clock. core: the CPU core that the worker's thread is pinned to.
        weights: the seed of the inputs that are the same in all calls, if there are any."""

    def recall(self, name: str, fills: Fills, weights: int, seeds: Sequence[int]) -> tuple[Returned, ...]:
        """Return what the callable returns for the inputs of each seed. With an empty name: the inputs themselves."""

    def checked(self, fills: Fills, weights: int, seed: int, actual: Returned) -> "RecheckedCall":
        """Check what a timed call of the candidate returned for these seeds. Witness only."""

    def kernels(self, name: str, fills: Fills, seed: int, calls: int) -> list[float]:
        """Measure the kernel time of each of this many calls in microseconds, from the device trace."""

    def replay(self, name: str, fills: Fills, seed: int) -> float | None:
        """Measure a replay of the call as a CUDA graph, in microseconds. None if the call cannot be captured."""

    def settle(self) -> None:
        """Do nothing. Raises CandidateFault if an answer is left on the channel that nobody had asked for."""

    def rest(self) -> None:
        """Stop the worker and every process it started until the next request, so that they do not disturb the timing
        of other workers. If any of them runs meanwhile, the next request raises CandidateFault. Candidate only."""

    def copying(self) -> float | None:
        """Measure how many bytes a copy on the GPU reads and writes per microsecond at present. None on a CPU."""

    def facts(self) -> dict[str, Any]:
        """Return what the worker reports of its machine, such as versions and the device's name."""

    def accelerator(self) -> Accelerator | None:
        """Return the GPU that these facts describe. None on a CPU."""

    def propagate(self, source: str, given: Sequence[Given]) -> Propagated:
        """Find the shape and dtype of each node of this source, given those of the inputs. Witness only."""

    def compiled(self, name: str) -> tuple[CompiledKernel, ...]:
        """Call the callable on the given inputs, and return what Triton compiled for the kernels that it launched.
        Candidate only. The worker must get no other request afterwards."""

    def generate(self, source: str, given: Sequence[Given]) -> InductorCode | str:
        """Return TorchInductor's code for this source, or a sentence that says why there is none. Witness only."""
