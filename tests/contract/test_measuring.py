"""MEASURE with given times: order, speedups, verdicts, and the evidence of a cheat."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from passnet_core.graphs.source import parse
from passnet_core.judge.numerics import output_digest, rechecking, timed_inputs
from passnet_core.judge.numerics.input_draws import draw
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.protocol import framing, reference_bench
from passnet_core.judge.protocol.messages import (
    CallableName,
    CandidateFault,
    Fills,
    Preparation,
    Produced,
    Returned,
)
from passnet_core.judge.protocol.timed_calls import Burst, planned
from passnet_core.judge.stages import measure, timed_blocks, timing_session
from passnet_core.judge.stages.findings import Measurement
from passnet_core.judge.stages.prepared_job import PreparedJob
from passnet_core.judge.stages.timed_blocks import Block, Noise
from passnet_core.judge.supervisor.device_lock import DeviceLock
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.judge.worker.moving import moved
from passnet_core.records import (
    REPLAY,
    Capture,
    Clock,
    Contender,
    Device,
    EvalSpec,
    Job,
    Profile,
    Speedup,
    Stage,
    Subgraph,
    TensorSpec,
    Verdict,
)
from tests.contract.judging import ADD_RELU, ample_s, bundle, subgraph

pytestmark = pytest.mark.settled

AROUND_US, BETWEEN_US = 3.0, 90.0
"""How long the referee waits for a call beyond what is claimed, and between two calls."""

Log = list[tuple[str, Clock]]
"""The second callable of each burst, and the clock."""
Function = Callable[[Sequence[torch.Tensor]], tuple[torch.Tensor, ...]]


def relu_of_sum(inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    return (torch.relu(inputs[0] + inputs[1]),)


def returned(outputs: Sequence[torch.Tensor]) -> Returned:
    return Returned(
        tuple(
            Produced(
                "torch.Tensor",
                each,
                str(each.dtype).removeprefix("torch."),
                tuple(each.shape),
                each.stride(),
                str(each.device),
            )
            for each in outputs
        ),
        "tuple",
        0.0,
    )


class Timed:
    """A client whose calls take the given times, and return what the given function computes.

    In microseconds: hidden is how much longer than claimed a call of the passes takes; between, how much more there is
    before each call; ahead and unmarked, how much longer for each round the first call takes, and a burst before its
    first mark or after its last; wander, by how much all calls of a burst differ, burst by burst. drift: the factor of
    the passes' times, burst by burst. overclaims: the factor of what it claims for eager. lies: it sends a wrong
    digest. within: the share of its time between the device events, and clean_within that of eager's. busy: how many
    times as long a copy takes now. full: there is Eager does not fit.
    """

    def __init__(self, times: dict[str, float], log: Log, **behaviour: Any) -> None:
        self.times, self.log = times, log
        self.fails: str = behaviour.pop("fails", "")
        self.hidden: float = behaviour.pop("hidden", 0.0)
        self.ahead: float = behaviour.pop("ahead", 0.0)
        self.unmarked: float = behaviour.pop("unmarked", 0.0)
        self.overclaims: float = behaviour.pop("overclaims", 1.0)
        self.between: float = behaviour.pop("between", 0.0)
        self.lies: bool = behaviour.pop("lies", False)
        self.function: Function = behaviour.pop("function", relu_of_sum)
        self.moved = moved(lambda *inputs: self.function(inputs))
        self.within: float = behaviour.pop("within", 1.0)
        self.clean_within = self.within
        self.speed: float = behaviour.pop("speed", 1000.0)
        self.busy: float = behaviour.pop("busy", 1.0)
        self.full: bool = behaviour.pop("full", False)
        self.jitter = itertools.cycle(behaviour.pop("jitter", (0.99, 1.0, 1.01)))
        self.wander = itertools.cycle(behaviour.pop("wander", (0.0,)))
        self.drift = itertools.cycle(behaviour.pop("drift", (1.0,)))
        self.resting = False
        self.beside: Timed | None = None
        self.traced: list[str] = []
        assert not behaviour

    def prepare(self, name: str, preparation: Preparation) -> None:
        if name == self.fails:
            raise CandidateFault("compile", "BackendCompilerFailed: no such lowering")

    def give(self, inputs: Sequence[torch.Tensor]) -> None:
        self.inputs = inputs

    def run(self, name: str) -> Returned:
        if name == "moved":
            return returned(self.moved(*self.inputs))
        return returned(self.computed(name, self.inputs)) if name == "float64" else Returned((), "tuple", 0.0)

    def computed(self, name: str, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """The outputs of the callable of this name; without a name, the inputs."""
        if not name:
            return tuple(inputs)
        return self.function([each.double() for each in inputs] if name == "float64" else inputs)

    def warm_up(self, name: str, fills: Fills, seconds: float) -> None:
        assert seconds > 0
        if self.full and name == "eager":
            raise CandidateFault("memory", "OutOfMemoryError: CUDA out of memory.")

    def fix(self, names: Sequence[str], fills: Fills, weights: int) -> float:
        self._begin()
        self.fills, self.weights = fills, weights
        return 50.0

    def burst(self, names: Sequence[str], clock: Clock, core: int | None, seed: int, rounds: int) -> Burst:
        self._begin()
        self.log.append((names[1], clock))
        self.made = planned(seed, len(names), rounds)
        drift = {"passes": next(self.drift)}
        names_made = [names[each.function] for each in self.made]
        wholes = [self.times[name] * next(self.jitter) * drift.get(name, 1.0) for name in names_made]
        within = [self.clean_within if name == "eager" else self.within for name in names_made]
        shares = within if clock is not Clock.END_TO_END else [1.0] * len(self.made)
        claimed = [whole * share for whole, share in zip(wholes, shares)]
        claimed = [each * self.overclaims if name == "eager" else each for each, name in zip(claimed, names_made)]
        drawn = (self.drawn(self.fills, self.weights, each.seed) for each in self.made)
        self.outputs = [self.function(inputs) for inputs in drawn]
        digests = [output_digest.digest(each) + self.lies for each in self.outputs]
        wander = next(self.wander) if "passes" in names else 0.0
        marks, now = [], 0.0
        for name, whole in zip(names_made, wholes):
            hidden = self.hidden + wander if name == "passes" else 0.0
            marks += [now, now + whole + AROUND_US + hidden]
            now = marks[-1] + BETWEEN_US + self.between
        if "passes" in names:
            # the first call is none of those that count
            claimed[0] += self.ahead * rounds
            marks[1:] = [each + self.ahead * rounds for each in marks[1:]]
        waited = marks[-1] + 100.0 + (self.unmarked * rounds if "passes" in names else 0.0)
        return Burst(tuple(claimed), tuple(digests), 1024 * len(self.made), tuple(marks), waited)

    def burst_outputs(self, calls: Sequence[int]) -> tuple[Returned, ...]:
        return tuple(returned(self.outputs[index]) for index in calls)

    def passnet_times(
        self, name: str, seed: int, warm_up: int, calls: int, core: int | None
    ) -> list[tuple[float, float]]:
        self._begin()
        self.log.append((name, Clock.END_TO_END))
        wholes = [self.times[name] * next(self.jitter) for _ in range(calls)]
        return [(each, each * self.within) for each in wholes]

    def recall(self, name: str, fills: Fills, weights: int, seeds: Sequence[int]) -> tuple[Returned, ...]:
        return tuple(returned(self.computed(name, self.drawn(fills, weights, seed))) for seed in seeds)

    def checked(self, fills: Fills, weights: int, seed: int, actual: Returned) -> reference_bench.RecheckedCall:
        return rechecking.rechecked(self, fills, weights, seed, actual)

    def _begin(self) -> None:
        self.resting = False
        assert self.beside is None or self.beside.resting, "the candidate must rest while others are timed"

    def kernels(self, name: str, fills: Fills, seed: int, calls: int) -> list[float]:
        self._begin()
        self.traced.append(name)
        return [self.times[name] / 2] * calls

    def replay(self, name: str, fills: Fills, seed: int) -> float | None:
        self._begin()
        return None if name == "eager" else self.times[name] / 2

    def rest(self) -> None:
        self.resting = True

    def copying(self) -> float:
        return self.speed / self.busy

    def facts(self) -> dict[str, object]:
        return {"bytes_per_us": self.speed, "l2_bytes": 0}

    def drawn(self, fills: Fills, weights: int, seed: int) -> list[torch.Tensor]:
        buffers = timed_inputs.Buffers(list(fills), [None] * len(fills), Device.CPU, slots=1)
        buffers.fix(weights)
        return buffers.drawn(seed, 0)


def measured(
    eager: float,
    baseline: float,
    passes: float,
    *,
    profile: Profile = Profile.STRICT,
    device: Device = Device.CUDA,
    inductor: bool = False,
    witness: dict[str, Any] | None = None,
    weights: tuple[str, ...] = (),
    asked_of: Subgraph | None = None,
    trials: int = 5,
    apart: float = 1.0,
    resident: Timed | None = None,
    report: Callable[[str], None] = lambda text: None,
    alone: Callable[[], AbstractContextManager[None]] = nullcontext,
    **candidate: Any,
) -> tuple[Measurement, Log]:
    log: Log = []
    spec = EvalSpec(stage=Stage.MEASURE, device=device, trials=trials, profile=profile)
    job = Job(asked_of or subgraph(), None if inductor else bundle("# timed"), spec)
    trusted = resident or Timed({"eager": eager, "baseline": baseline}, log, **(witness or {}))
    tried = trusted if inductor else Timed({"passes": passes, "eager": eager * apart}, log, **candidate)
    trusted.beside = None if inductor else tried
    tried.clean_within = trusted.within
    asked = {
        CallableName.EAGER: Preparation(Contender.EAGER, ADD_RELU, Capture.DIRECT, device),
        CallableName.BASELINE: Preparation(Contender.BASELINE, ADD_RELU, Capture.DIRECT, device),
        CallableName.PASSES: Preparation(Contender.PASSES, ADD_RELU, Capture.DIRECT, device, weights=weights),
    }
    clients = cast(WorkerProcess, tried), cast(WorkerProcess, trusted)
    return measure.measure(PreparedJob(job, parse(ADD_RELU), asked, *clients, 1, report), alone), log


@pytest.fixture(autouse=True)
def _few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only as many blocks as were asked for."""
    monkeypatch.setattr(timing_session, "MOST_TURNS", 0)


@pytest.mark.parametrize(
    ("passes", "verdict"), [(50.0, Verdict.FASTER), (200.0, Verdict.SLOWER), (100.0, Verdict.NO_DIFFERENCE)]
)
def test_the_verdict_is_that_of_the_end_to_end_interval(passes: float, verdict: Verdict) -> None:
    found, _ = measured(100.0, 80.0, passes)
    assert found.verdict is verdict, found.reason
    own = next(each for each in found.speedups if each.contender is Contender.PASSES and each.clock is Clock.END_TO_END)
    assert own.low <= own.value <= own.high
    assert own.value == pytest.approx(100 / passes, rel=0.03)


@pytest.mark.parametrize(("apart", "passes"), [(1.03, 103.0), (1.07, 107.0), (0.92, 92.0)])
def test_passes_are_compared_with_eager_in_their_own_process(apart: float, passes: float) -> None:
    found, _ = measured(100.0, 80.0, passes, apart=apart)
    assert found.verdict is Verdict.NO_DIFFERENCE, found.reason
    if apart < 1.05:
        own = next(each for each in found.speedups if each.contender is Contender.PASSES)
        assert own.value == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(("apart", "passes"), [(1.5, 100.0), (1.045, 100.5)], ids=["much", "as little as processes do"])
def test_slowing_down_eager_beside_the_passes_gains_nothing(apart: float, passes: float) -> None:
    steady: dict[str, Any] = {"jitter": (1.0,), "witness": {"jitter": (1.0,)}}
    found, _ = measured(100.0, 80.0, passes, apart=apart, **steady)
    assert found.verdict is Verdict.NO_DIFFERENCE, found.reason
    own = next(each for each in found.speedups if each.contender is Contender.PASSES)
    assert own.value == pytest.approx(1.0, abs=0.05)
    (floor,) = [each.text for each in found.evidence if each.topic == "noise floor"]
    assert f"eager takes {apart:.3f}"[:15] in floor
    assert ("too much" in floor) == (apart > 1.05)
    assert measured(100.0, 80.0, 50.0, apart=apart)[0].verdict is Verdict.FASTER, "what is faster stays so"


def test_without_memory_for_eager_in_the_candidate_worker_the_clean_one_counts() -> None:
    found, _ = measured(100.0, 80.0, 50.0, apart=1.5, full=True)
    assert found.verdict is Verdict.FASTER
    assert any("Eager does not fit" in each for each in found.warnings)
    own = next(each for each in found.speedups if each.contender is Contender.PASSES)
    assert own.value == pytest.approx(2.0, rel=0.03)


def test_a_difference_within_the_noise_of_eager_against_eager_is_none() -> None:
    speedup = timed_blocks.speedup(
        Contender.PASSES, Clock.END_TO_END, {Contender.EAGER: [[103.0]] * 5, Contender.PASSES: [[100.0]] * 5}
    )
    assert speedup is not None
    assert timed_blocks.judged(speedup, Noise(1.02))[0] is Verdict.FASTER
    verdict, reason = timed_blocks.judged(speedup, Noise(1.05))
    assert verdict is Verdict.NO_DIFFERENCE
    assert "within the noise: eager differs from eager by up to 5.0%" in reason
    verdict, reason = timed_blocks.judged(speedup, Noise(1.02, faster=1.04))
    assert verdict is Verdict.NO_DIFFERENCE
    assert "within what eager itself loses in the candidate's process, 4.0%" in reason


def test_the_noise_floor_is_a_figure() -> None:
    steady, _ = measured(100.0, 80.0, 50.0)
    assert steady.noise == pytest.approx(timed_blocks.APART - 1), "the same may differ by this much"
    noisy, _ = measured(100.0, 80.0, 50.0, witness={"jitter": (0.7, 1.0, 1.3, 0.85, 1.1)})
    assert noisy.noise is not None
    assert noisy.noise > 0.031, "neighbouring calls of eager differ by more"
    assert measured(100.0, 80.0, 50.0, profile=Profile.PASSNET)[0].noise is None, "PassNet's protocol has none"


def test_eager_and_inductor_are_not_traced_again_for_the_next_bundle_on_a_subgraph() -> None:
    resident = Timed({"eager": 100.0, "baseline": 80.0}, [])

    def next_bundle(**more: Any) -> Measurement:
        resident.traced.clear()
        return measured(100.0, 80.0, 50.0, resident=resident, **more)[0]

    first = next_bundle()
    assert set(resident.traced) == {"eager", "baseline"}
    second = next_bundle()
    assert not resident.traced
    assert {"kept figures"} == {each.topic for each in second.evidence} - {each.topic for each in first.evidence}
    (told,) = [each.text for each in second.evidence if each.topic == "kept figures"]
    assert re.match(r"The kernels of eager and TorchInductor were traced \d+ s earlier, for another bundle", told)
    assert [(each.contender, each.clock, each.median) for each in second.timings] == [
        (each.contender, each.clock, each.median) for each in first.timings
    ], "the same figures"
    assert [each.text for each in second.evidence if each.topic == REPLAY] == [
        each.text for each in first.evidence if each.topic == REPLAY
    ]
    other = replace(subgraph(), code=subgraph().code.replace("relu", "tanh"))
    assert next_bundle(asked_of=other).verdict is Verdict.FASTER
    assert set(resident.traced) == {"eager", "baseline"}, "another subgraph"
    resident.times["eager"] = 130.0
    next_bundle()
    assert set(resident.traced) == {"eager", "baseline"}, "eager's time has changed"


def test_a_clock_that_is_only_shown_keeps_to_its_budget() -> None:
    found, _ = measured(4000.0, 3000.0, 2000.0)
    calls = {each.clock: len(each.samples) for each in found.timings if each.contender is Contender.EAGER}
    assert calls[Clock.COLD] == 5 * timing_session.LEAST_ROUNDS < calls[Clock.EVENT] == calls[Clock.END_TO_END]


def test_three_contenders_on_every_clock_in_alternating_order() -> None:
    found, log = measured(100.0, 80.0, 50.0)
    assert {(each.contender, each.clock) for each in found.timings} == set(itertools.product(Contender, Clock))
    assert {(each.contender, each.clock) for each in found.speedups} == set(
        itertools.product((Contender.BASELINE, Contender.PASSES), Clock)
    )
    for each in found.timings:
        if each.clock is Clock.KERNEL:
            continue
        assert each.blocks == 5
        if each.clock is Clock.END_TO_END:
            assert len(each.samples) == 5 * timing_session.ROUNDS
        assert each.median == pytest.approx(
            {"eager": 100, "inductor": 80, "passes": 50}[each.contender.value], rel=0.02
        )
    end_to_end = [name for name, clock in log if clock is Clock.END_TO_END][4:]  # after two probes of each pair
    assert end_to_end[:6] == ["baseline", "passes", "passes", "baseline", "baseline", "passes"]
    assert [name for name, clock in log if clock is Clock.EVENT][:4] == ["baseline", "passes", "passes", "baseline"]
    topics = {each.topic for each in found.evidence}
    assert {"noise floor", "the judge's own clock", "timed calls", REPLAY} <= topics
    replays = next(each for each in found.evidence if each.topic == REPLAY)
    assert replays.text == "eager cannot be captured, TorchInductor 40.0 µs, passes 25.0 µs."
    assert replays.figures == (("inductor", 40.0), ("passes", 25.0))


def test_prepared_weights_stay_the_same_in_a_block_and_are_timed_separately() -> None:
    seen: list[tuple[float, float]] = []

    def noted(inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        seen.append((float(inputs[0].sum()), float(inputs[1].sum())))
        return relu_of_sum(inputs)

    found, _ = measured(100.0, 80.0, 50.0, weights=("in_1",), function=noted)
    assert found.verdict is Verdict.FASTER, found.reason
    first, second = (len({pair[index] for pair in seen}) for index in (0, 1))
    assert first > len(seen) / 2
    assert 5 <= second <= len(seen) / 10, "new ones for each block"
    (evidence,) = [each for each in found.evidence if each.topic == "prepare(weights)"]
    assert "takes 50 µs, or with what passes prepare 50 µs" in evidence.text
    assert "prepare(weights)" not in {each.topic for each in measured(100.0, 80.0, 50.0)[0].evidence}


def test_inductors_failure_is_a_warning_to_passes() -> None:
    found, _ = measured(100.0, 80.0, 50.0, witness={"fails": "baseline"})
    assert found.verdict is Verdict.FASTER
    assert any("no such lowering" in warning for warning in found.warnings)
    assert {each.contender for each in found.timings} == {Contender.EAGER, Contender.PASSES}


class InUse(Exception):
    """A judge would have to wait for the device."""


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("fails", ["", "baseline"])
@pytest.mark.parametrize("inductor", [False, True])
def test_others_use_the_device_while_inductor_compiles_and_not_while_calls_are_timed(
    profile: Profile, fails: str, inductor: bool, tmp_path: Path
) -> None:
    free: dict[str, bool] = {}

    def refuse(text: str) -> None:
        raise InUse

    def report(text: str) -> None:
        try:
            with DeviceLock(tmp_path, refuse).shared():
                free[text] = True
        except InUse:
            free[text] = False

    alone = DeviceLock(tmp_path, refuse).alone
    measured(
        100.0, 80.0, 50.0, profile=profile, inductor=inductor, witness={"fails": fails}, report=report, alone=alone
    )
    compiles = [text for text in free if text.startswith("compiling with")]
    assert len(compiles) == (not inductor), "as the solver, it was compiled when values were compared"
    assert [text for text in free if free[text]] == compiles == list(free)[: len(compiles)]
    assert any(text.startswith("warming up") for text in free)
    assert any(text.startswith("timing") for text in free)


def test_inductor_as_the_solver_is_timed_against_eager() -> None:
    found, _ = measured(100.0, 50.0, 0.0, inductor=True)
    assert found.verdict is Verdict.FASTER
    assert {each.contender for each in found.speedups} == {Contender.BASELINE}


def test_slow_calls_make_smaller_blocks_with_a_warning() -> None:
    found, _ = measured(100_000.0, 90_000.0, 50_000.0)
    assert len(found.timings[-1].samples) < 5 * timing_session.ROUNDS
    assert any(f"instead of {timing_session.ROUNDS}" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("behaviour", "settled"),
    [
        ({"jitter": (1.0,), "witness": {"jitter": (1.0,)}}, True),
        ({"drift": (1.0, 1.05, 0.96)}, False),
        ({"hidden": 4.0, "wander": (0.0, 6.0)}, False),
    ],
    ids=["all alike", "unsteady", "near what is allowed"],
)
def test_timing_stops_when_more_blocks_would_tell_nothing_new(
    monkeypatch: pytest.MonkeyPatch, behaviour: dict[str, Any], settled: bool
) -> None:
    monkeypatch.setattr(timing_session, "MOST_TURNS", 25)
    monkeypatch.setattr(measure, "steady_core", lambda: nullcontext(3))
    _, log = measured(100.0, 80.0, 50.0, **behaviour)
    taken = log.count(("passes", Clock.END_TO_END)) - 2  # without the probes
    assert taken == 8 if settled else taken > 12


def test_at_least_as_many_blocks_as_asked_for_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing_session, "MOST_TURNS", 25)
    _, log = measured(100.0, 80.0, 50.0, trials=13, jitter=(1.0,), witness={"jitter": (1.0,)})
    assert log.count(("passes", Clock.END_TO_END)) == 2 + 16


def test_without_a_gpu_there_are_values_only() -> None:
    found, log = measured(100.0, 80.0, 50.0, device=Device.CPU)
    assert (found.verdict, found.speedups, log) == (Verdict.VALUES_ONLY, (), [])
    assert "values only: no GPU, no speedup" in found.warnings


# --- contradictions and doubts --------------------------------------------------------------------------------------


def test_calls_that_take_longer_than_they_claim_are_a_cheat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "steady_core", lambda: nullcontext(3))
    found, _ = measured(100.0, 80.0, 5.0, hidden=90.0)
    assert found.verdict is Verdict.CHEAT
    assert "claims 5.0 µs per call" in found.reason
    assert "90" in found.reason
    assert found.speedups == ()


def test_clocks_that_disagree_a_little_on_few_cores_are_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "steady_core", nullcontext)
    assert measured(100.0, 80.0, 5.0, hidden=30.0)[0].verdict is Verdict.INCONCLUSIVE
    assert measured(100.0, 80.0, 5.0, hidden=900.0)[0].verdict is Verdict.CHEAT


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ({"hidden": 12.0}, "each takes 12.0 µs more than that"),
        ({"between": 15.0}, "it is busy for 30.0 µs more between calls"),
        ({"between": -45.0}, "it draws and reads in 90.0 µs less between calls"),
        ({"ahead": 30.0}, r"its bursts take (30|29\.9).* more for each round"),
        ({"unmarked": 30.0}, r"its bursts take (30|29\.9).* more for each round"),
    ],
)
def test_calls_and_what_lies_between_them_are_compared_with_the_reference_worker(
    monkeypatch: pytest.MonkeyPatch, behaviour: dict[str, Any], words: str
) -> None:
    monkeypatch.setattr(measure, "steady_core", lambda: nullcontext(3))
    found, _ = measured(100.0, 80.0, 50.0, **behaviour)
    assert found.verdict is Verdict.CHEAT
    assert re.search(words, found.reason), found.reason
    small, _ = measured(100.0, 80.0, 50.0, **{name: value / 3 for name, value in behaviour.items()})
    assert small.verdict is Verdict.FASTER, "honest processes differ as much"
    assert "µs in the reference worker" in next(
        each.text for each in small.evidence if each.topic == "the judge's own clock"
    )


def test_a_process_that_is_slower_throughout_is_no_cheat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "steady_core", lambda: nullcontext(3))
    between = (8.0 + 2.0 + 0.15 * 2 * BETWEEN_US) / 2
    found, _ = measured(100.0, 80.0, 50.0, apart=1.13, between=between)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "slower throughout" in found.reason
    assert found.speedups == ()
    assert measured(100.0, 80.0, 50.0, between=between)[0].verdict is Verdict.CHEAT
    assert measured(100.0, 80.0, 50.0, apart=1.13, between=2 * between)[0].verdict is Verdict.CHEAT


def test_claiming_too_much_for_eager_beside_the_passes_is_a_cheat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "steady_core", lambda: nullcontext(3))
    found, _ = measured(400.0, 320.0, 390.0, overclaims=1.045, jitter=(1.0,), witness={"jitter": (1.0,)})
    assert found.verdict is Verdict.CHEAT
    assert "it claims 18.0 µs too much for eager" in found.reason


def test_a_series_that_replaces_another_has_checked_calls_of_its_own() -> None:
    served: list[int] = []

    def right_for_a_while(inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        served.append(1)
        return relu_of_sum(inputs) if len(served) < 450 else (inputs[0] + inputs[1],)

    # unsteady at first, so that everything is timed again
    drift = (1.0, 3.0, 0.4, 2.0, 1.0, 3.0, *[1.0] * 100)
    found, _ = measured(100.0, 80.0, 50.0, function=right_for_a_while, drift=drift)
    assert found.verdict is Verdict.WRONG_VALUES, found.reason
    assert "timed call" in found.reason


def test_a_timed_call_that_returned_wrong_values_gives_no_speedup() -> None:
    found, _ = measured(100.0, 80.0, 50.0, function=lambda inputs: (inputs[0] + inputs[1],))
    assert found.verdict is Verdict.WRONG_VALUES
    assert "timed call" in found.reason
    assert found.speedups == ()


def test_a_timed_call_may_round_what_is_left_of_a_cancellation() -> None:
    # most inputs have the largest magnitude, so most outputs are differences of equal products
    large = TensorSpec("in_0", (64, 512), "bfloat16", mean=3.0, std=1.0, low=-1.8, high=1.8)
    half = replace(subgraph(), inputs=(large, replace(large, name="in_1")))

    def eager(inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        return (inputs[0] * 1.7 - inputs[1] * 1.7,)

    def fused(inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        # one product is rounded, the other is multiplied and added in one step
        return ((inputs[0].double() * 1.7 - (inputs[1] * 1.7).double()).bfloat16(),)

    def sloppy(inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        (difference,) = fused(inputs)
        return (torch.where(difference == 0, difference, difference + 0.1),)

    assert measured(100.0, 80.0, 50.0, asked_of=half, witness={"function": eager}, function=fused)[0].verdict is (
        Verdict.FASTER
    )
    found, _ = measured(100.0, 80.0, 50.0, asked_of=half, witness={"function": eager}, function=sloppy)
    assert found.verdict in (Verdict.WRONG_VALUES, Verdict.LOWER_PRECISION)
    assert "timed call" in found.reason


def test_values_computed_after_the_answer_are_a_cheat() -> None:
    found, _ = measured(100.0, 80.0, 50.0, lies=True)
    assert found.verdict is Verdict.CHEAT
    assert "digest" in found.reason


def test_claiming_less_time_than_writing_the_outputs_takes_is_a_cheat() -> None:
    # 4 × 33 numbers of 4 bytes at 5 bytes a microsecond: 105.6
    found, _ = measured(100.0, 80.0, 45.0, witness={"speed": 5.0})
    assert found.verdict is Verdict.CHEAT
    assert "cannot be written" in found.reason
    assert measured(100.0, 80.0, 60.0, witness={"speed": 5.0})[0].verdict is Verdict.FASTER
    assert measured(46.0, 40.0, 45.0, witness={"speed": 5.0})[0].verdict is not Verdict.CHEAT, "eager is as fast"


def test_work_that_goes_on_after_the_call_has_returned_is_a_cheat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "steady_core", lambda: nullcontext(3))
    assert measured(100.0, 80.0, 90.0, within=0.1)[0].verdict is Verdict.CHEAT
    assert measured(100.0, 80.0, 50.0, within=0.8)[0].verdict is Verdict.FASTER
    both, _ = measured(100.0, 80.0, 80.0, within=0.5, witness={"within": 0.5})
    assert both.verdict is Verdict.FASTER, "eager's events miss as much"


def test_an_unsteady_machine_is_inconclusive_and_nobodys_failure() -> None:
    found, _ = measured(100.0, 80.0, 50.0, drift=(1.0, 2.0, 0.6, 1.5, 0.8))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "passes" in found.reason
    assert found.speedups == ()
    assert found.timings, "the times are kept in the outcome"


@pytest.mark.parametrize("jitter", [(0.5, 1.0, 1.5, 1.0, 0.7, 1.4), (0.99, 1.0, 1.01)], ids=["unsteady", "steady"])
def test_a_loaded_machine_hides_no_work_outside_the_events(
    jitter: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every fifth block is off by this much. A few blocks show no excess then, so more are timed."""
    monkeypatch.setattr(timing_session, "MOST_TURNS", 25)
    found, _ = measured(400.0, 320.0, 400.0, jitter=jitter, within=0.25, wander=(0.0, -350.0, 0.0, 0.0, 0.0))
    assert found.verdict is Verdict.CHEAT, found.reason
    assert "(event)" in found.reason


def test_a_doubt_that_remains_gives_no_speedup(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than half of the blocks are off, but too few to be certain: after three series the job is inconclusive."""
    monkeypatch.setattr(measure, "steady_core", lambda: nullcontext(3))
    found, log = measured(100.0, 80.0, 50.0, wander=(0.0, 60.0, 0.0, 60.0, 60.0))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "the clocks may disagree" in found.reason
    assert "60.0 µs more" in found.reason
    assert found.speedups == ()
    assert log.count(("passes", Clock.END_TO_END)) == 2 + 3 * 5, "two bursts are probes"


def test_a_device_that_is_busy_while_others_are_timed_gives_no_speedup() -> None:
    found, log = measured(100.0, 80.0, 50.0, witness={"busy": 2.0})
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "2.0 times its best time" in found.reason
    assert found.speedups == ()
    assert log.count(("passes", Clock.END_TO_END)) > 2 * 5, "it was timed again"
    noisy, _ = measured(100.0, 80.0, 50.0, witness={"busy": 1.2})
    assert noisy.verdict is Verdict.FASTER
    assert "1.20 times" in next(each.text for each in noisy.evidence if each.topic == "the device beside the pass")


def test_passnets_protocol_times_the_solver_first_on_one_input_draw() -> None:
    found, log = measured(100.0, 80.0, 50.0, profile=Profile.PASSNET)
    assert found.verdict is Verdict.FASTER
    assert [name for name, _ in log] == ["passes", "baseline", "eager"]
    assert {each.clock for each in found.timings} == {Clock.END_TO_END, Clock.EVENT}
    assert {len(each.samples) for each in found.timings} == {100}


def test_a_clock_that_saw_nothing_gives_no_speedup() -> None:
    blocks = {Contender.EAGER: [[0.0, 0.0]], Contender.PASSES: [[1.0, 1.0]]}
    assert timed_blocks.speedup(Contender.PASSES, Clock.KERNEL, blocks) is None


@pytest.mark.parametrize("who", ["passes", "eager"])
def test_passnets_protocol_aborts_if_either_clock_is_unsteady(who: str) -> None:
    wild = {"jitter": (0.5, 1.0, 1.5, 1.0, 0.7, 1.4)}
    behaviour = wild if who == "passes" else {"witness": wild}
    found, _ = measured(100.0, 80.0, 50.0, profile=Profile.PASSNET, **behaviour)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "run it again" in found.reason
    assert who in found.reason


def test_an_unsteady_baseline_beside_passes_does_not_make_passnets_protocol_abort() -> None:
    wild = itertools.cycle((0.5, 1.0, 1.5, 1.0, 0.7, 1.4))

    class Unsteady(Timed):
        def passnet_times(
            self, name: str, seed: int, warm_up: int, calls: int, core: int | None
        ) -> list[tuple[float, float]]:
            self.jitter = wild if name == "baseline" else itertools.cycle((1.0,))
            return super().passnet_times(name, seed, warm_up, calls, core)

    resident = Unsteady({"eager": 100.0, "baseline": 80.0}, [])
    found, _ = measured(100.0, 80.0, 50.0, profile=Profile.PASSNET, resident=resident)
    assert found.verdict is Verdict.FASTER, found.reason
    alone, _ = measured(100.0, 80.0, 80.0, profile=Profile.PASSNET, resident=resident, inductor=True)
    assert alone.verdict is Verdict.INCONCLUSIVE, "as the solver it does"


def test_a_drift_of_the_whole_machine_and_calls_that_spread_leave_a_ratio_certain() -> None:
    def speedups(firsts: Sequence[Sequence[float]], seconds: Sequence[Sequence[float]]) -> list[Speedup]:
        blocks = [Block(list(first), list(second), [], [], 0.0, 0.0) for first, second in zip(firsts, seconds)]
        return timed_blocks.Timed((Contender.EAGER, Contender.BASELINE), None, blocks).speedups(Clock.END_TO_END)

    drift = [[speed, speed * 1.01] * 20 for speed in (1.0, 1.5, 2.0, 1.2, 3.0)]
    spread = [[1.0, 2.0] * 20] * 5
    for both in (drift, spread):
        (same,) = speedups(both, both)
        assert same.value == pytest.approx(1.0)
        assert timed_blocks.unsure([same]) == []
    wandering = speedups(drift, [[1.0, 1.01] * 20] * 5)
    assert timed_blocks.unsure(wandering) == [Contender.BASELINE]


# --- timed calls in a real worker -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def witness(pool: WorkerPool) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(pool.ready("witness", Device.CPU), "witness", deadline_s=ample_s())
    asked = subgraph()
    eager = Preparation(Contender.EAGER, ADD_RELU, Capture.DIRECT, Device.CPU)
    worker.prepare("eager", eager)
    worker.prepare("float64", replace(eager, float64=True))
    worker.give(draw(asked.inputs, "typical", 1))
    yield worker
    worker.close()


def fills() -> list[timed_inputs.Fill]:
    asked = subgraph()
    return timed_inputs.fills(asked.inputs, roles(parse(asked.code), asked.inputs))


def test_each_call_has_its_own_inputs_and_its_outputs_can_be_asked_for_afterwards(witness: WorkerProcess) -> None:
    assert witness.fix(["eager"], fills(), 0) > 0
    made = witness.burst(["eager", "eager"], Clock.END_TO_END, None, 5, 20)
    calls = planned(5, 2, 20)
    assert len({call.seed for call in calls}) == len(set(made.digests)) > 25
    assert {call.function for call in calls} == {0, 1}
    assert all(claimed > 0 for claimed in made.claimed_us)
    assert (len(made.calling_us), len(made.between_us)) == (40, 39)
    assert list(made.marks_us) == sorted(made.marks_us)
    for index, kept in zip((4, 39), witness.burst_outputs([4, 39]), strict=True):
        values = [output.value for output in kept.outputs]
        assert output_digest.digest(values) == made.digests[index]
        (again,) = witness.recall("eager", fills(), 0, [calls[index].seed])
        assert torch.equal(again.outputs[0].value, values[0])


def test_a_burst_repeats_content_elsewhere_and_never_gives_two_callables_the_same() -> None:
    calls = planned(7, 2, 400)
    assert planned(7, 2, 400) == calls != planned(8, 2, 400)
    one, other = ([each for each in calls if each.function == function] for function in (0, 1))
    assert not {each.seed for each in one} & {each.seed for each in other}
    repeated = [(before, each) for before, each in itertools.pairwise(one) if before.seed == each.seed]
    assert 20 < len(repeated) < 100
    assert any(before.slot != each.slot for before, each in repeated)
    assert 100 < sum(first.function for first in calls[::2]) < 300, "each goes first in about half of the rounds"


@pytest.mark.parametrize(
    ("spoil", "verdict"),
    [
        (lambda value: value, None),
        (lambda value: value * 1.5, Verdict.WRONG_VALUES),
        (lambda value: value * float("nan"), Verdict.NON_FINITE),
        (lambda value: value[:1], Verdict.WRONG_SHAPE),
    ],
    ids=["right", "wrong", "NaN", "another shape"],
)
def test_the_witness_checks_a_timed_call_as_the_referee_would(
    witness: WorkerProcess, spoil: Callable[[torch.Tensor], torch.Tensor], verdict: Verdict | None
) -> None:
    (eager,) = witness.recall("eager", fills(), 0, [12])
    actual = returned([spoil(eager.outputs[0].value)])
    there = witness.checked(fills(), 0, 12, actual)
    assert there == rechecking.rechecked(witness, fills(), 0, 12, actual)
    assert there.verdict is verdict, there.problem
    assert there.digest == output_digest.digest([actual.outputs[0].value])


def test_a_fault_during_timed_calls_is_reported_and_the_worker_goes_on(witness: WorkerProcess) -> None:
    first, second = fills()
    with pytest.raises(CandidateFault, match="float11"):
        witness.fix(["eager"], [first, {**second, "dtype": "float11"}], 0)
    witness.fix(["eager"], [first, {**second, "shape": [5, 7]}], 0)
    with pytest.raises(CandidateFault, match="size of tensor"):
        witness.burst(["eager"], Clock.END_TO_END, None, 1, 2)
    witness.fix(["eager"], fills(), 0)
    assert witness.burst(["eager"], Clock.END_TO_END, None, 1, 2).claimed_us[1] > 0


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"claimed": [1.0], "digests": [0], "kept_bytes": 0},
        {"claimed": [1.0, float("nan")], "digests": [0, 0], "kept_bytes": 0},
        {"claimed": [1.0, -1.0], "digests": [0, 0], "kept_bytes": 0},
        {"claimed": [1.0, "x"], "digests": [0, 0], "kept_bytes": 0},
        {"claimed": [1.0, 1.0], "digests": [0, []], "kept_bytes": 0},
    ],
)
def test_forged_times_are_refused(
    witness: WorkerProcess, told: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness, "_reply", lambda *_asked, **_more: framing.WireMessage(told))
    monkeypatch.setattr(witness, "_send", lambda *_asked: None)
    monkeypatch.setattr(framing, "receive_marks", lambda *_asked, **_more: [0, 1, 2, 3])
    with pytest.raises(CandidateFault, match="no times"):
        witness.burst(["eager"], Clock.END_TO_END, None, 1, 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "int64", "bool", "uint8"])
def test_every_kind_of_input_can_be_drawn_and_its_bits_added_up(dtype: str) -> None:
    specs = (TensorSpec("x", (5, 7), dtype, mean=0.5, std=2.0),)
    buffers = timed_inputs.Buffers(timed_inputs.fills(specs, {}), [None], Device.CPU)
    (first,) = buffers.drawn(1, 0)
    sum_of_first = output_digest.digest([first])
    assert sum_of_first == output_digest.digest([first.clone()])
    (second,) = buffers.drawn(2, 1)
    if dtype not in ("bool", "uint8", "int64"):
        assert output_digest.digest([second]) != sum_of_first
    assert output_digest.digest([first, second]) != output_digest.digest([second, first]) or torch.equal(first, second)
    assert output_digest.digest([first.t()]) == sum_of_first, "the order of dimensions in memory is not content"


def test_variances_stay_positive_and_indices_in_range() -> None:
    specs = (
        TensorSpec("running_var", (64,), "float32", mean=0.0, std=0.0, original_name="bn.running_var"),
        TensorSpec("ids", (64,), "int64", low=0, high=9),
    )
    graph = parse(ADD_RELU.replace("in_0, in_1", "running_var, ids").replace("in_0 + in_1", "running_var + ids"))
    buffers = timed_inputs.Buffers(timed_inputs.fills(specs, roles(graph, specs)), [None, None], Device.CPU)
    for seed in range(5):
        variance, ids = buffers.drawn(seed, seed)
        assert float(variance.min()) > 0
        assert 0 <= int(ids.min()) <= int(ids.max()) <= 9


def test_recorded_inputs_are_drawn_as_passnet_replays_them() -> None:
    (fill,) = timed_inputs.fills((TensorSpec("x", (4,), "float32", mean=300.0, std=5.0),), {}, Profile.PASSNET)
    (drawn,) = timed_inputs.Buffers([fill], [None], Device.CPU).drawn(1, 0)
    assert drawn.tolist() == [100.0] * 4
