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
    Watched,
)
from passnet_core.judge.protocol.reference_bench import BenchPlan, RecheckedCall, ReferenceBench
from passnet_core.judge.protocol.timed_calls import Burst
from passnet_core.records import (
    Accelerator,
    Baseline,
    Bundle,
    Clock,
    CompiledKernel,
    InductorCode,
    TracedLaunch,
)

if TYPE_CHECKING:
    import torch

    from passnet_core.graphs.rewriting import TracedPass


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

    def fix(self, names: Sequence[str], fills: Fills, weights: int) -> float:
        """Draw, from the seed weights, the inputs that are the same in all calls of the bursts to come, and let these
        callables prepare them. Return how many microseconds that took, by the referee's clock."""

    def burst(self, names: Sequence[str], clock: Clock, core: int | None, seed: int, rounds: int) -> Burst:
        """Time calls of these callables, in turns and as timed_calls.planned says, on this clock. core: the CPU core
        that the worker's thread is pinned to. The inputs must have been fixed."""

    def burst_outputs(self, calls: Sequence[int]) -> tuple[Returned, ...]:
        """Return what these calls of the last burst returned, by their index."""

    def passnet_times(
        self, name: str, seed: int, warm_up: int, calls: int, core: int | None
    ) -> list[tuple[float, float]]:
        """Time calls as PassNet does, on the inputs of this seed: microseconds by the host's clock and by device events
        for each of the calls after those that warm up. The inputs must have been fixed."""

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

    def traced(self, name: str, inputs: Sequence[str]) -> tuple[tuple[TracedLaunch, ...], int]:
        """Call the callable on the given inputs in Triton's interpreter, and return what programs of its first launches
        access, and how many launches there were besides. inputs: the names of the inputs. Candidate on the CPU only.
        The worker must get no other request afterwards."""

    def generate(self, source: str, given: Sequence[Given], baseline: Baseline) -> InductorCode | str:
        """Return the baseline's code for this source, or a sentence that says why there is none. Witness only."""
