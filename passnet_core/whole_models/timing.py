"""What the program is asked that runs a whole model in several ways, and what it answers. Loads no torch."""

from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from passnet_core.records import Bundle, Device
from passnet_core.scoring.intervals import Interval, median_interval
from passnet_core.whole_models.captured import ModelFile


class Way(StrEnum):
    """A way to run a model. EAGER: as it is. CAPTURED: torch.compile runs the captured graphs unchanged, which tells
    what passes gain from what capturing alone gains. PASSES, PASSES_INDUCTOR: as the backend of integrate runs them
    with what it leaves to eager, or to Inductor. GRAPHS, PASSES_GRAPHS: Inductor's mode "reduce-overhead", which
    replays the launches of a call as a CUDA graph, so that the host's part costs next to nothing."""

    EAGER = "eager"
    CAPTURED = "captured"
    INDUCTOR = "inductor"
    PASSES = "passes"
    PASSES_INDUCTOR = "passes and inductor"
    GRAPHS = "inductor in a CUDA graph"
    PASSES_GRAPHS = "passes and inductor in a CUDA graph"


@dataclass(frozen=True)
class TimingQuestion:
    """Run the model in each of these ways, EAGER first, and compare its outputs with EAGER's. rounds: in how many
    rounds to take times; 0: none."""

    file: ModelFile
    bundle: Bundle
    device: Device
    ways: tuple[Way, ...]
    rounds: int


@dataclass(frozen=True)
class WayAnswer:
    """How the model ran in one way. correct_at: the levels t at which all its outputs are close to eager's; None: not
    compared. seconds: of one call, in each round; the rounds of all ways belong together. matches: how many were
    replaced; explained: which ones. first_s: what the first call took, which compiles. problem: why it did not run."""

    way: Way
    correct_at: tuple[int, ...] | None = None
    seconds: tuple[float, ...] = ()
    matches: int = 0
    first_s: float = 0.0
    explained: str = ""
    problem: str = ""

    @property
    def median_s(self) -> float | None:
        """The median of the rounds; None: not timed."""
        return median(self.seconds) if self.seconds else None

    @property
    def smallest_t(self) -> int | None:
        """The strictest level from which on all levels hold, at most 0."""
        held = [t for t in self.correct_at or () if t <= 0]
        return min(held) if held else None

    def speedup_over(self, other: "WayAnswer") -> Interval | None:
        """How many times as fast as another way it is: the median of the rounds' ratios, with its interval."""
        if not self.seconds or len(self.seconds) != len(other.seconds):
            return None
        return median_interval([theirs / own for theirs, own in zip(other.seconds, self.seconds)])


@dataclass(frozen=True)
class TimingAnswer:
    """For each way. device: the device's name. calls: how many calls a timed block has."""

    device: str
    ways: tuple[WayAnswer, ...]
    calls: int = 0

    def of(self, way: Way) -> WayAnswer | None:
        return next((each for each in self.ways if each.way is way and not each.problem), None)

    def speedup(self, way: Way, over: Way) -> Interval | None:
        one, other = self.of(way), self.of(over)
        return one.speedup_over(other) if one and other else None
