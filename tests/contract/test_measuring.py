"""MEASURE with given times: order, speedups, verdicts; and timed loops in a real worker."""

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
from passnet_core.judge.numerics import rechecking, timed_inputs
from passnet_core.judge.numerics.bits import same_bits
from passnet_core.judge.numerics.input_draws import draw
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.protocol import framing, reference_bench
from passnet_core.judge.protocol.messages import (
    CallableName,
    CandidateFault,
    Fills,
    LoopTimes,
    Preparation,
    Produced,
    Returned,
)
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

Log = list[tuple[str, Clock]]
"""The second callable of each block, and the clock on which the verdict rests, or the one with a cold cache."""
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

    drift: the factor of the passes' times, block by block. within: the share of its time between the device events.
    full: there is no memory for eager. fails: the callable that does not compile.
    """

    def __init__(self, times: dict[str, float], log: Log, **behaviour: Any) -> None:
        self.times, self.log = times, log
        self.fails: str = behaviour.pop("fails", "")
        self.function: Function = behaviour.pop("function", relu_of_sum)
        self.moved = moved(lambda *inputs: self.function(inputs))
        self.within: float = behaviour.pop("within", 1.0)
        self.speed: float = behaviour.pop("speed", 1000.0)
        self.full: bool = behaviour.pop("full", False)
        self.jitter = itertools.cycle(behaviour.pop("jitter", (0.99, 1.0, 1.01)))
        self.drift = itertools.cycle(behaviour.pop("drift", (1.0,)))
        self.counts: list[tuple[int, ...]] = []
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

    def fix(self, names: Sequence[str], fills: Fills, weights: int) -> None:
        self.fills, self.weights = fills, weights

    def loops(
        self,
        names: Sequence[str],
        counts: Sequence[int],
        seed: int,
        rounds: int,
        *,
        core: int | None = None,
        cold: bool = False,
        fresh: bool = False,
    ) -> LoopTimes:
        self.log.append((names[1], Clock.COLD if cold else Clock.END_TO_END))
        self.counts.append(tuple(counts))
        drift = {"passes": next(self.drift)}
        whole = [
            tuple(self.times[name] * next(self.jitter) * drift.get(name, 1.0) for _ in range(rounds)) for name in names
        ]
        return LoopTimes(tuple(whole), tuple(tuple(each * self.within for each in samples) for samples in whole))

    def timed_outputs(self, name: str, seed: int, most_bytes: int, *, fresh: bool = False) -> tuple[Returned, ...]:
        return self.recall(name, self.fills, self.weights, range(seed, seed + timed_inputs.SLOTS))

    def passnet_times(
        self, name: str, seed: int, warm_up: int, calls: int, core: int | None
    ) -> list[tuple[float, float]]:
        self.log.append((name, Clock.END_TO_END))
        wholes = [self.times[name] * next(self.jitter) for _ in range(calls)]
        return [(each, each * self.within) for each in wholes]

    def recall(self, name: str, fills: Fills, weights: int, seeds: Sequence[int]) -> tuple[Returned, ...]:
        return tuple(returned(self.computed(name, self.drawn(fills, weights, seed))) for seed in seeds)

    def checked(self, fills: Fills, weights: int, seed: int, actual: Returned) -> reference_bench.RecheckedCall:
        return rechecking.rechecked(self, fills, weights, seed, actual)

    def kernels(self, name: str, fills: Fills, seed: int, calls: int) -> list[float]:
        self.traced.append(name)
        return [self.times[name] / 2] * calls

    def replay(self, name: str, fills: Fills, seed: int) -> float | None:
        return None if name == "eager" else self.times[name] / 2

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
    asked = {
        CallableName.EAGER: Preparation(Contender.EAGER, ADD_RELU, Capture.DIRECT, device),
        CallableName.BASELINE: Preparation(Contender.BASELINE, ADD_RELU, Capture.DIRECT, device),
        CallableName.PASSES: Preparation(Contender.PASSES, ADD_RELU, Capture.DIRECT, device, weights=weights),
    }
    clients = cast(WorkerProcess, tried), cast(WorkerProcess, trusted)
    return measure.measure(PreparedJob(job, parse(job.subgraph.code), asked, *clients, 1, report), alone), log


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
    noisy, _ = measured(100.0, 80.0, 50.0, jitter=(0.7, 1.0, 1.3, 0.85, 1.1))
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


@pytest.mark.parametrize(
    ("eager", "baseline", "counts"), [(100.0, 80.0, (10, 12)), (4000.0, 0.5, (1, timing_session.MOST_CALLS))]
)
def test_a_loop_lasts_about_a_millisecond(eager: float, baseline: float, counts: tuple[int, int]) -> None:
    client = Timed({"eager": eager, "baseline": baseline}, [], jitter=(1.0,))
    measured(eager, baseline, 50.0, resident=client)
    assert client.counts[1:4] == [counts] * 3, "after a probe of single calls"


def test_where_calls_change_their_inputs_each_input_set_serves_one_call() -> None:
    in_place = replace(subgraph(), code=ADD_RELU.replace("in_0 + in_1", "in_0.add_(in_1)"))
    client = Timed({"eager": 100.0, "baseline": 80.0}, [])
    measured(100.0, 80.0, 50.0, resident=client, asked_of=in_place)
    assert max(client.counts) == (timed_inputs.SLOTS, timed_inputs.SLOTS)


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
    assert [name for name, clock in log if clock is Clock.COLD][:4] == ["baseline", "passes", "passes", "baseline"]
    topics = {each.topic for each in found.evidence}
    assert {"noise floor", "timed calls", REPLAY} <= topics
    replays = next(each for each in found.evidence if each.topic == REPLAY)
    assert replays.text == "eager cannot be captured, TorchInductor 40.0 µs, passes 25.0 µs."
    assert replays.figures == (("inductor", 40.0), ("passes", 25.0))


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


def test_slow_calls_make_smaller_blocks() -> None:
    found, _ = measured(100_000.0, 90_000.0, 50_000.0)
    timed = next(each for each in found.timings if each.clock is Clock.END_TO_END)
    assert len(timed.samples) == 5 * timing_session.LEAST_ROUNDS


@pytest.mark.parametrize(
    ("behaviour", "settled"),
    [
        ({"jitter": (1.0,), "witness": {"jitter": (1.0,)}}, True),
        ({"drift": (1.0, 1.05, 0.96)}, False),
    ],
    ids=["all alike", "unsteady"],
)
def test_timing_stops_when_more_blocks_would_tell_nothing_new(
    monkeypatch: pytest.MonkeyPatch, behaviour: dict[str, Any], settled: bool
) -> None:
    monkeypatch.setattr(timing_session, "MOST_TURNS", 25)
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


# --- values of timed calls, and times that say nothing ---------------------------------------------------------------


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


def test_a_time_in_which_the_outputs_cannot_be_written_is_a_cheat() -> None:
    # 4 × 33 numbers of 4 bytes at 5 bytes a microsecond: 105.6
    found, _ = measured(100.0, 80.0, 45.0, witness={"speed": 5.0})
    assert found.verdict is Verdict.CHEAT
    assert "cannot be written" in found.reason
    assert measured(100.0, 80.0, 60.0, witness={"speed": 5.0})[0].verdict is Verdict.FASTER
    assert measured(46.0, 40.0, 45.0, witness={"speed": 5.0})[0].verdict is not Verdict.CHEAT, "eager is as fast"


def test_an_unsteady_machine_is_inconclusive_and_nobodys_failure() -> None:
    found, _ = measured(100.0, 80.0, 50.0, drift=(1.0, 2.0, 0.6, 1.5, 0.8))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "passes" in found.reason
    assert found.speedups == ()
    assert found.timings, "the times are kept in the outcome"


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
    found, log = measured(100.0, 80.0, 50.0, profile=Profile.PASSNET, **behaviour)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "run it again" in found.reason
    assert f"as it does for {who}, in each of 4 attempts" in found.reason
    assert len(log) == 4 * 3


def test_passnets_protocol_is_repeated_where_it_aborts() -> None:
    calm, wild = itertools.cycle((1.0,)), itertools.cycle((0.5, 1.0, 1.5, 1.0, 0.7, 1.4))

    class Settling(Timed):
        def passnet_times(self, *asked: Any) -> list[tuple[float, float]]:
            self.jitter = wild if len(self.log) < 3 else calm
            return super().passnet_times(*asked)

    log: Log = []
    resident = Settling({"eager": 100.0, "baseline": 80.0}, log)
    found, _ = measured(100.0, 80.0, 50.0, profile=Profile.PASSNET, resident=resident)
    assert found.verdict is Verdict.FASTER, found.reason
    assert [name for name, _ in log] == ["baseline", "eager"] * 2
    assert {len(each.samples) for each in found.timings} == {100}, "the first attempt does not count"


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
        blocks = [Block(first, second) for first, second in zip(firsts, seconds)]
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


def test_a_worker_times_loops_of_two_callables(witness: WorkerProcess) -> None:
    witness.fix(["eager"], fills(), 0)
    made = witness.loops(["eager", "float64"], [20, 3], 5, 4)
    assert [len(each) for each in made.host_us] == [4, 4]
    assert all(each > 0 for samples in made.host_us for each in samples)
    assert made.device_us == made.host_us, "a CPU has no events"


def test_timed_outputs_are_those_of_their_seeds(witness: WorkerProcess) -> None:
    witness.fix(["eager"], fills(), 0)
    kept = witness.timed_outputs("eager", 5, 1 << 20)
    assert kept == kept[: timed_inputs.SLOTS]
    again = witness.recall("eager", fills(), 0, range(5, 5 + timed_inputs.SLOTS))
    for one, other in zip(kept, again, strict=True):
        assert torch.equal(one.outputs[0].value, other.outputs[0].value)
    assert not torch.equal(kept[0].outputs[0].value, kept[1].outputs[0].value)
    assert len(witness.timed_outputs("eager", 5, 1)) == 1, "one at least"


def test_inputs_that_calls_change_are_drawn_anew_for_each_loop(witness: WorkerProcess) -> None:
    in_place = ADD_RELU.replace("in_0 + in_1", "in_0.add_(in_1)")
    witness.prepare("baseline", Preparation(Contender.EAGER, in_place, Capture.DIRECT, Device.CPU))
    witness.fix(["baseline"], fills(), 0)
    witness.loops(["baseline", "baseline"], [3, 3], 5, 2, fresh=True)
    kept = witness.timed_outputs("baseline", 5, 1 << 20, fresh=True)
    (eager,) = witness.recall("eager", fills(), 0, [5])
    assert torch.equal(kept[0].outputs[0].value, eager.outputs[0].value)


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


def test_a_timed_result_may_repeat_its_elements_as_eagers_does(witness: WorkerProcess) -> None:
    usual = Preparation(Contender.EAGER, ADD_RELU, Capture.DIRECT, Device.CPU)
    code = ADD_RELU.replace("return (tmp_1,)", "return (tmp_1[:1].expand(5, -1),)")
    witness.prepare("eager", replace(usual, source=code))
    try:
        (eager,) = witness.recall("eager", fills(), 0, [12])
        value = eager.outputs[0].value
        assert isinstance(value, torch.Tensor)
        found = witness.checked(fills(), 0, 12, returned([value[:1].expand(5, -1)]))
        assert found.verdict is None, found.problem
    finally:
        witness.prepare("eager", usual)


def test_a_fault_during_timed_calls_is_reported_and_the_worker_goes_on(witness: WorkerProcess) -> None:
    first, second = fills()
    with pytest.raises(CandidateFault, match="float11"):
        witness.fix(["eager"], [first, {**second, "dtype": "float11"}], 0)
    witness.fix(["eager"], [first, {**second, "shape": [5, 7]}], 0)
    with pytest.raises(CandidateFault, match="size of tensor"):
        witness.loops(["eager"], [1], 1, 2)
    witness.fix(["eager"], fills(), 0)
    assert witness.loops(["eager"], [1], 1, 2).host_us[0][1] > 0


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"host_us": [[1.0, 1.0]]},
        {"host_us": [[1.0]], "device_us": [[1.0]]},
        {"host_us": [[1.0, 1.0]] * 2, "device_us": [[1.0, 1.0]] * 2},
        {"host_us": [[1.0, float("nan")]], "device_us": [[1.0, 1.0]]},
        {"host_us": [[1.0, 1.0]], "device_us": [[1.0, -1.0]]},
        {"host_us": [[1.0, "x"]], "device_us": [[1.0, 1.0]]},
        {"host_us": [1.0, 1.0], "device_us": [[1.0, 1.0]]},
    ],
)
def test_forged_times_are_refused(
    witness: WorkerProcess, told: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness, "_reply", lambda *_asked, **_more: framing.WireMessage(told))
    monkeypatch.setattr(witness, "_send", lambda *_asked: None)
    with pytest.raises(CandidateFault, match="no times"):
        witness.loops(["eager"], [1], 1, 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "int64", "bool", "uint8"])
def test_every_kind_of_input_can_be_drawn(dtype: str) -> None:
    specs = (TensorSpec("x", (5, 7), dtype, mean=0.5, std=2.0),)
    buffers = timed_inputs.Buffers(timed_inputs.fills(specs, {}), [None], Device.CPU)
    (first,), (second,) = buffers.drawn(1, 0), buffers.drawn(2, 1)
    (again,) = buffers.drawn(1, 2)
    assert same_bits(first, again)
    assert dtype in ("bool", "uint8", "int64") or not same_bits(first, second)


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
