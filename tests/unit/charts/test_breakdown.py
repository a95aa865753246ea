"""The parts of a call's time are differences between clocks, and add up to the total."""

from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.charts.breakdown import Breakdown, Piece, breakdown, breakdowns, lost, meaning, quartiles, replays
from passnet_core.charts.times import breakdown_chart, samples_chart, speedup_chart, spent_words
from passnet_core.records import REPLAY, Capture, Clock, Contender, Evidence, Outcome, Speedup, Timing, Verdict
from passnet_core.store import exchange
from tests.contract.made import job, outcome

RECORDED = Path(__file__).resolve().parents[3] / "data" / "baselines" / "h200.jsonl.gz"
SAID = Evidence(
    REPLAY, "eager 12.5 µs, baseline cannot be captured, passes 6.0 µs.", (("eager", 12.5), ("passes", 6.0))
)


def timed(times: dict[tuple[Contender, Clock], float], *, evidence: tuple[Evidence, ...] = ()) -> Outcome:
    timings = tuple(Timing(who, clock, (us, us * 1.1), 1, us) for (who, clock), us in times.items())
    return replace(outcome(job(), Verdict.SLOWER), timings=timings, evidence=evidence)


def eagers(e2e: float, event: float | None = None, kernel: float | None = None) -> dict[tuple[Contender, Clock], float]:
    times = {Clock.END_TO_END: e2e, Clock.EVENT: event, Clock.KERNEL: kernel}
    return {(Contender.EAGER, clock): us for clock, us in times.items() if us is not None}


@pytest.mark.parametrize(
    ("times", "evidence", "parts"),
    [
        (
            eagers(40, 38, 10),
            (SAID,),
            {Piece.KERNELS: 10, Piece.LAUNCH: 2.5, Piece.HOST: 25.5, Piece.RETURN: 2},
        ),
        (eagers(40, 38, 10), (), {Piece.KERNELS: 10, Piece.HOST: 28, Piece.RETURN: 2}),
        (eagers(40, 38), (SAID,), {Piece.DEVICE: 38, Piece.RETURN: 2}),
        (eagers(40), (), {Piece.DEVICE: 40}),
        (eagers(40, None, 10), (), {Piece.KERNELS: 10, Piece.HOST: 30}),
        # each clock times calls of its own, so they may disagree
        (
            eagers(40, 55, 14),
            (SAID,),
            {Piece.KERNELS: 14, Piece.LAUNCH: 0, Piece.HOST: 26, Piece.RETURN: 0},
        ),
        (eagers(40, 38, 70), (SAID,), {Piece.KERNELS: 40, Piece.LAUNCH: 0, Piece.HOST: 0, Piece.RETURN: 0}),
        (eagers(40, 38, 0), (), {Piece.DEVICE: 38, Piece.RETURN: 2}),
    ],
)
def test_parts_are_differences_and_add_up_to_the_total(
    times: dict[tuple[Contender, Clock], float], evidence: tuple[Evidence, ...], parts: dict[Piece, float]
) -> None:
    found = breakdown(timed(times, evidence=evidence), Contender.EAGER)
    assert found is not None
    assert found.parts == pytest.approx(parts)
    assert sum(found.parts.values()) == pytest.approx(40)
    assert breakdown_chart([found], 3.0).to_dict()


def test_without_an_end_to_end_time_there_is_no_breakdown() -> None:
    assert breakdowns(timed({(Contender.PASSES, Clock.KERNEL): 3.0})) == ()


def test_a_call_that_cannot_be_captured_has_no_replay() -> None:
    assert replays(timed({}, evidence=(SAID,))) == {Contender.EAGER: 12.5, Contender.PASSES: 6.0}
    assert replays(timed({}, evidence=(Evidence("noise floor", "eager 3.0 µs", (("eager", 3.0),)),))) == {}


def test_every_recorded_time_can_be_broken_down_and_drawn() -> None:
    _, files = exchange.read_file(RECORDED)
    outcomes = [each for file in files for each in file.outcomes if each.timings]
    assert outcomes
    for each in outcomes:
        assert replays(each), each.evidence
        for found in breakdowns(each):
            assert sum(found.parts.values()) == pytest.approx(found.total_us)
            told = Piece.KERNELS in found.parts and found.contender in replays(each)
            assert (Piece.LAUNCH in found.parts) == told
    shown = outcomes[0]
    assert breakdown_chart(breakdowns(shown), None).to_dict()
    assert speedup_chart(shown).to_dict()
    assert samples_chart(shown.timings[:3]).to_dict()


def test_a_part_says_what_it_is() -> None:
    assert "guards" in meaning(Piece.HOST, Capture.COMPILED, replayed=True)
    direct = meaning(Piece.HOST, Capture.DIRECT, replayed=False)
    assert "guards" not in direct
    assert "starting the kernels" in direct
    assert all(meaning(part, Capture.DIRECT, replayed=True) for part in Piece)


def test_losses_are_listed_part_by_part_the_worst_first() -> None:
    own = Breakdown(Contender.PASSES, 50.0, {Piece.KERNELS: 5.0, Piece.HOST: 45.0})
    eager = Breakdown(Contender.EAGER, 40.0, {Piece.KERNELS: 9.0, Piece.HOST: 30.0, Piece.RETURN: 1.0})
    assert lost(own, eager) == [(Piece.HOST, 15.0), (Piece.RETURN, -1.0), (Piece.KERNELS, -4.0)]
    assert spent_words(own) == "passes: 50 µs = 5 kernels + 45 host"


def test_the_noise_is_a_band_around_1_in_the_chart_of_speedups() -> None:
    made = replace(
        outcome(job(), Verdict.FASTER),
        noise=0.05,
        speedups=tuple(Speedup(Contender.PASSES, clock, 1.5, 1.4, 1.6) for clock in Clock),
    )
    drawn = speedup_chart(made).to_dict()
    assert {"low": 1 / 1.05, "high": 1.05} in [row for layer in drawn["layer"] for row in layer["data"]["values"]]
    assert drawn["width"] == "container"
    without = speedup_chart(replace(made, noise=None)).to_dict()
    assert len(without["layer"]) == len(drawn["layer"]) - 1


def test_a_lane_of_samples_marks_the_median_and_the_middle_half() -> None:
    timing = Timing(Contender.EAGER, Clock.EVENT, tuple(map(float, range(101))), 1, 50.0)
    assert quartiles(timing) == {"median": 50.0, "low": 25.0, "high": 75.0}
    drawn = samples_chart([timing, replace(timing, samples=())]).to_dict()
    assert "median 50 µs, the middle half from 25 to 75" in drawn["description"]
