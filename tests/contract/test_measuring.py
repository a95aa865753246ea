"""MEASURE with given times: order, speedups, verdicts, and the evidence of a cheat."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, cast

import pytest
import torch

from passnet_core.graphs.source import parse
from passnet_core.judge.numerics import output_digest, rechecking, timed_inputs
from passnet_core.judge.numerics.input_draws import draw, roles
from passnet_core.judge.protocol import reference_bench
from passnet_core.judge.protocol.clients import CandidateClient
from passnet_core.judge.protocol.messages import (
    CallableName,
    CandidateFault,
    Fills,
    Preparation,
    Produced,
    Returned,
    TimedCall,
)
from passnet_core.judge.stages import measure, timed_blocks, timing_session
from passnet_core.judge.stages.findings import Measurement
from passnet_core.judge.stages.prepared_job import PreparedJob
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
    Stage,
    Subgraph,
    TensorSpec,
    Verdict,
)
from passnet_core.scoring.intervals import Interval
from tests.contract.judging import ADD_RELU, bundle, subgraph

DRAWING_US, GOING_US, DIGESTING_US = 60.0, 12.0, 40.0

Log = list[tuple[str, Clock]]
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

    In microseconds: hidden is how much longer than claimed a call takes; before and after, how much it takes outside
    the call; wander, by how much all calls of a block differ, block by block. lies: it sends a wrong digest. within:
    the share of its time between the device events. busy: how many times as long a copy takes now. full: there is no
    memory for eager.
    """

    def __init__(self, times: dict[str, float], log: Log, **behaviour: Any) -> None:
        self.times, self.log = times, log
        self.fails: str = behaviour.pop("fails", "")
        self.hidden: float = behaviour.pop("hidden", 0.0)
        self.before: float = behaviour.pop("before", 0.0)
        self.after: float = behaviour.pop("after", 0.0)
        self.lies: bool = behaviour.pop("lies", False)
        self.function: Function = behaviour.pop("function", relu_of_sum)
        self.moved = moved(lambda *inputs: self.function(inputs))
        self.within: float = behaviour.pop("within", 1.0)
        self.speed: float = behaviour.pop("speed", 1000.0)
        self.busy: float = behaviour.pop("busy", 1.0)
        self.full: bool = behaviour.pop("full", False)
        self.jitter = itertools.cycle(behaviour.pop("jitter", (0.99, 1.0, 1.01)))
        self.wander = itertools.cycle(behaviour.pop("wander", (0.0,)))
        self.given: list[object] = []
        self.resting = False
        self.beside: Timed | None = None
        assert not behaviour

    def prepare(self, name: str, preparation: Preparation) -> None:
        if name == self.fails:
            raise CandidateFault("compile", "BackendCompilerFailed: no such lowering")

    def give(self, inputs: Sequence[torch.Tensor]) -> None:
        self.inputs = inputs

    def run(self, name: str, *, fresh: bool = True) -> Returned:
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

    def timed_calls(self, name: str, clock: Clock, fills: Fills, core: int | None, weights: int) -> "Series":
        self._begin()
        self.log.append((name, clock))
        return Series(self, name, fills, weights, 1.0 if clock is Clock.END_TO_END else self.within)

    def recall(self, name: str, fills: Fills, weights: int, seeds: Sequence[int]) -> tuple[Returned, ...]:
        return tuple(returned(self.computed(name, self.drawn(fills, weights, seed))) for seed in seeds)

    def checked(self, fills: Fills, weights: int, seed: int, actual: Returned) -> reference_bench.RecheckedCall:
        return rechecking.rechecked(self, fills, weights, seed, actual)

    def _begin(self) -> None:
        self.resting = False
        assert self.beside is None or self.beside.resting, "the candidate must rest while others are timed"

    def kernels(self, name: str, fills: Fills, seed: int, calls: int) -> list[float]:
        self._begin()
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


class Series:
    begun_us = 50.0

    def __init__(self, client: Timed, name: str, fills: Fills, weights: int, within: float) -> None:
        self.client, self.name, self.fills, self.within = client, name, fills, within
        self.weights, self.wander = weights, 0.0 if name == "eager" else next(client.wander)
        self.last: tuple[torch.Tensor, ...] = ()
        self.kept: list[Returned] = []

    def call(self, seed: int, slot: int, *, keep_last: bool = False) -> TimedCall:
        self._keep(keep_last)
        whole = self.client.times[self.name] * next(self.client.jitter)
        self.last = self.client.function(self.client.drawn(self.fills, self.weights, seed))
        digest = output_digest.digest(self.last) + self.client.lies
        client = self.client
        return TimedCall(
            whole * self.within,
            digest,
            drawing_us=DRAWING_US + client.before,
            calling_us=whole + GOING_US + client.hidden + self.wander,
            digesting_us=DIGESTING_US + client.after,
        )

    def end(self, *, keep_last: bool = False) -> tuple[Returned, ...]:
        self._keep(keep_last)
        return tuple(self.kept)

    def _keep(self, wanted: bool) -> None:
        if wanted:
            self.kept.append(returned(self.last))


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
    **candidate: Any,
) -> tuple[Measurement, Log]:
    log: Log = []
    spec = EvalSpec(stage=Stage.MEASURE, device=device, trials=trials, profile=profile)
    job = Job(asked_of or subgraph(), None if inductor else bundle("# timed"), spec)
    trusted = Timed({"eager": eager, "baseline": baseline}, log, **(witness or {}))
    tried = trusted if inductor else Timed({"passes": passes, "eager": eager * apart}, log, **candidate)
    trusted.beside = None if inductor else tried
    asked = {
        CallableName.EAGER: Preparation(Contender.EAGER, ADD_RELU, Capture.DIRECT, device),
        CallableName.BASELINE: Preparation(Contender.BASELINE, ADD_RELU, Capture.DIRECT, device),
        CallableName.PASSES: Preparation(Contender.PASSES, ADD_RELU, Capture.DIRECT, device, weights=weights),
    }
    clients = cast(CandidateClient, tried), cast(CandidateClient, trusted)
    return measure.measure(PreparedJob(job, parse(ADD_RELU), asked, *clients, seed=1)), log


@pytest.fixture(autouse=True)
def _few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only as many blocks as were asked for."""
    monkeypatch.setattr(timing_session, "MOST_BLOCKS", 0)


@pytest.mark.parametrize(
    ("passes", "verdict"), [(50.0, Verdict.FASTER), (200.0, Verdict.SLOWER), (100.0, Verdict.NO_DIFFERENCE)]
)
def test_the_verdict_is_that_of_the_end_to_end_interval(passes: float, verdict: Verdict) -> None:
    found, _ = measured(100.0, 80.0, passes)
    assert found.verdict is verdict, found.reason
    own = next(each for each in found.speedups if each.contender is Contender.PASSES and each.clock is Clock.END_TO_END)
    assert own.low <= own.value <= own.high
    assert own.value == pytest.approx(100 / passes, rel=0.03)


@pytest.mark.parametrize(("apart", "passes"), [(1.07, 107.0), (0.92, 92.0)])
def test_a_speedup_that_eager_has_too_in_the_candidate_worker_is_no_difference(apart: float, passes: float) -> None:
    found, _ = measured(100.0, 80.0, passes, apart=apart)
    assert found.verdict is Verdict.NO_DIFFERENCE, found.reason
    assert "eager differs from eager by up to" in found.reason
    assert measured(100.0, 80.0, passes)[0].verdict is not Verdict.NO_DIFFERENCE, "in equal processes it is one"
    (floor,) = [each.text for each in found.evidence if each.topic == "noise floor"]
    assert "in the candidate worker" in floor
    assert found.noise == pytest.approx(abs(apart - 1), abs=0.02)


def test_without_memory_for_eager_in_the_candidate_worker_the_floor_is_that_of_one_process() -> None:
    found, _ = measured(100.0, 80.0, 50.0, apart=1.5, full=True)
    assert found.verdict is Verdict.FASTER
    assert any("no memory for eager" in each for each in found.warnings)
    (floor,) = [each.text for each in found.evidence if each.topic == "noise floor"]
    assert "against itself" in floor
    assert found.noise == pytest.approx(0.04)


def test_a_difference_within_the_noise_of_eager_against_eager_is_none() -> None:
    speedup = timed_blocks.speedup(
        Contender.PASSES, Clock.END_TO_END, {Contender.EAGER: [[103.0]] * 5, Contender.PASSES: [[100.0]] * 5}
    )
    assert speedup is not None
    assert timed_blocks.judged(speedup, 1.02)[0] is Verdict.FASTER
    verdict, reason = timed_blocks.judged(speedup, 1.05)
    assert verdict is Verdict.NO_DIFFERENCE
    assert "within the noise: eager differs from eager by up to 5%" in reason


def test_the_noise_floor_is_a_figure() -> None:
    steady, _ = measured(100.0, 80.0, 50.0)
    assert steady.noise is not None
    assert steady.noise == pytest.approx(timed_blocks.APART - 1), "two processes differ by at least this"
    assert timed_blocks.noise(Interval(1.0, 0.8, 1.1)) == pytest.approx(1.25)
    assert measured(100.0, 80.0, 50.0, profile=Profile.PASSNET)[0].noise is None, "PassNet's protocol has none"


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
        assert len(each.samples) == 5 * timing_session.CALLS
        assert each.median == pytest.approx(
            {"eager": 100, "inductor": 80, "passes": 50}[each.contender.value], rel=0.02
        )
    end_to_end = [name for name, clock in log if clock is Clock.END_TO_END][3:]  # after the probe of each
    assert end_to_end[:8] == ["eager", "baseline", "passes", "eager", "eager", "passes", "baseline", "eager"]
    events = [name for name, clock in log if clock is Clock.EVENT]
    assert events[:6] == ["eager", "baseline", "passes", "passes", "baseline", "eager"]
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
    assert "takes 50 µs, and 50 µs for eager" in evidence.text
    assert "prepare(weights)" not in {each.topic for each in measured(100.0, 80.0, 50.0)[0].evidence}


def test_inductors_failure_is_a_warning_to_passes() -> None:
    found, _ = measured(100.0, 80.0, 50.0, witness={"fails": "baseline"})
    assert found.verdict is Verdict.FASTER
    assert any("no such lowering" in warning for warning in found.warnings)
    assert {each.contender for each in found.timings} == {Contender.EAGER, Contender.PASSES}


def test_inductor_as_the_solver_is_timed_against_eager() -> None:
    found, _ = measured(100.0, 50.0, 0.0, inductor=True)
    assert found.verdict is Verdict.FASTER
    assert {each.contender for each in found.speedups} == {Contender.BASELINE}


def test_slow_calls_make_smaller_blocks_with_a_warning() -> None:
    found, _ = measured(100_000.0, 90_000.0, 95_000.0)
    assert len(found.timings[-1].samples) < 5 * timing_session.CALLS
    assert any(f"instead of {timing_session.CALLS}" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("behaviour", "settled"),
    [
        ({}, True),
        ({"jitter": (0.5, 1.0, 1.6, 1.0, 0.7)}, False),
        ({"hidden": 4.0, "wander": (0.0, 6.0)}, False),
    ],
    ids=["all alike", "unsteady", "near what is allowed"],
)
def test_timing_stops_when_more_blocks_would_tell_nothing_new(
    monkeypatch: pytest.MonkeyPatch, behaviour: dict[str, Any], settled: bool
) -> None:
    monkeypatch.setattr(timing_session, "MOST_BLOCKS", 25)
    monkeypatch.setattr(measure, "steady_core", lambda: nullcontext(3))
    _, log = measured(100.0, 80.0, 50.0, **behaviour)
    taken = log.count(("passes", Clock.END_TO_END)) - 1  # without the probe
    assert taken == 8 if settled else taken > 12


def test_at_least_as_many_blocks_as_asked_for_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing_session, "MOST_BLOCKS", 25)
    _, log = measured(100.0, 80.0, 50.0, trials=13)
    assert log.count(("passes", Clock.END_TO_END)) == 1 + 16


def test_without_a_gpu_there_are_values_only() -> None:
    found, log = measured(100.0, 80.0, 50.0, device=Device.CPU)
    assert (found.verdict, found.speedups, log) == (Verdict.VALUES_ONLY, (), [])
    assert "values only: no GPU, no speedup" in found.warnings


# --- contradictions and doubts --------------------------------------------------------------------------------------


def test_calls_that_take_longer_than_they_claim_are_a_cheat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "steady_core", lambda: nullcontext(3))
    found, _ = measured(100.0, 80.0, 5.0, hidden=90.0)
    assert found.verdict is Verdict.CHEAT
    assert "claims 5.0 µs a call" in found.reason
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
        ({"before": 30.0}, "it is busy for 30.0 µs more before each"),
        ({"after": 30.0}, "it is busy for 30.0 µs more after each"),
        ({"before": -30.0}, "it draws inputs in 30.0 µs less"),
        ({"after": -30.0}, "it reads what was returned in 30.0 µs less"),
    ],
)
def test_every_step_around_a_call_is_compared_with_eagers(
    monkeypatch: pytest.MonkeyPatch, behaviour: dict[str, Any], words: str
) -> None:
    monkeypatch.setattr(measure, "steady_core", lambda: nullcontext(3))
    found, _ = measured(100.0, 80.0, 50.0, **behaviour)
    assert found.verdict is Verdict.CHEAT
    assert words in found.reason
    small, _ = measured(100.0, 80.0, 50.0, **{name: value / 5 for name, value in behaviour.items()})
    assert small.verdict is Verdict.FASTER, "honest processes differ as much"


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
    wild = (0.5, 1.0, 1.5, 1.0, 0.7, 1.4)
    found, _ = measured(100.0, 80.0, 50.0, jitter=wild)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "passes" in found.reason
    assert found.speedups == ()
    assert found.timings, "the times are kept in the outcome"


@pytest.mark.parametrize("jitter", [(0.5, 1.0, 1.5, 1.0, 0.7, 1.4), (0.99, 1.0, 1.01)], ids=["unsteady", "steady"])
def test_a_loaded_machine_hides_no_work_outside_the_events(
    jitter: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every fifth block is off by this much. A few blocks show no excess then, so more are timed."""
    monkeypatch.setattr(timing_session, "MOST_BLOCKS", 25)
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
    assert log.count(("passes", Clock.END_TO_END)) == 1 + 3 * 5, "one block is the probe"


def test_a_device_that_is_busy_while_others_are_timed_gives_no_speedup() -> None:
    found, log = measured(100.0, 80.0, 50.0, witness={"busy": 2.0})
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "2.0 times as long" in found.reason
    assert found.speedups == ()
    assert log.count(("passes", Clock.END_TO_END)) > 2 * 5, "it was timed again"
    noisy, _ = measured(100.0, 80.0, 50.0, witness={"busy": 1.2})
    assert noisy.verdict is Verdict.FASTER
    assert "1.20 times" in next(each.text for each in noisy.evidence if each.topic == "the device beside the pass")


def test_passnets_protocol_times_the_solver_first_on_one_input_draw() -> None:
    found, log = measured(100.0, 80.0, 50.0, profile=Profile.PASSNET)
    assert found.verdict is Verdict.FASTER
    assert log == [
        (name, clock) for clock in (Clock.END_TO_END, Clock.EVENT) for name in ("passes", "baseline", "eager")
    ]
    assert {len(each.samples) for each in found.timings} == {100}


def test_a_clock_that_saw_nothing_gives_no_speedup() -> None:
    blocks = {Contender.EAGER: [[0.0, 0.0]], Contender.PASSES: [[1.0, 1.0]]}
    assert timed_blocks.speedup(Contender.PASSES, Clock.KERNEL, blocks) is None


def test_a_drift_of_the_whole_machine_is_not_unsteady_but_spread_and_wandering_ratios_are() -> None:
    drift = [[speed, speed * 1.01] * 20 for speed in (1.0, 1.5, 2.0, 1.2, 3.0)]
    assert timed_blocks.unsteady({Contender.EAGER: drift, Contender.PASSES: drift}) == []
    steady, wild = [[1.0, 1.01] * 20] * 5, [[1.0, 2.0] * 20] * 5
    assert timed_blocks.unsteady({Contender.EAGER: steady, Contender.PASSES: wild}) == [Contender.PASSES]
    assert timed_blocks.unsteady({Contender.EAGER: drift, Contender.PASSES: steady}) == [Contender.PASSES]


# --- timed calls in a real worker -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def witness(pool: WorkerPool) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(pool.for_witness(Device.CPU), "witness", deadline_s=240.0)
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
    series = witness.timed_calls("eager", Clock.END_TO_END, fills(), None, 0)
    calls = [series.call(seed, seed % 3, keep_last=seed == 5) for seed in range(8)]
    fourth, last = series.end(keep_last=True)
    assert len({call.digest for call in calls}) == 8
    assert all(0 < call.claimed_us < call.waited_us for call in calls)
    for seed, kept in ((4, fourth), (7, last)):
        values = [output.value for output in kept.outputs]
        assert output_digest.digest(values) == calls[seed].digest
        (again,) = witness.recall("eager", fills(), 0, [seed])
        assert torch.equal(again.outputs[0].value, values[0])


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


def test_the_same_content_may_come_at_another_place(witness: WorkerProcess) -> None:
    series = witness.timed_calls("eager", Clock.END_TO_END, fills(), None, 0)
    assert len({series.call(11, slot).digest for slot in range(3)}) == 1
    series.end()


def test_a_fault_during_timed_calls_is_reported_and_the_worker_goes_on(witness: WorkerProcess) -> None:
    first, second = fills()
    with pytest.raises(CandidateFault, match="float11"):
        witness.timed_calls("eager", Clock.END_TO_END, [first, {**second, "dtype": "float11"}], None, 0)
    series = witness.timed_calls("eager", Clock.END_TO_END, [first, {**second, "shape": [5, 7]}], None, 0)
    with pytest.raises(CandidateFault, match="size of tensor"):
        series.call(1, 0)
    series = witness.timed_calls("eager", Clock.END_TO_END, fills(), None, 0)
    assert series.call(1, 0).claimed_us > 0
    series.end()


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
