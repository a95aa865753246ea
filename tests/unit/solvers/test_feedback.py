"""What a model hears of an outcome is what a colleague would say."""

from dataclasses import replace

from passnet_core.records import (
    Accuracy,
    Baseline,
    Clock,
    Contender,
    Evidence,
    Finding,
    InductorCode,
    Inspection,
    MatchReport,
    MissKind,
    NearestMiss,
    OutputAccuracy,
    PassMatches,
    Timing,
    Verdict,
)
from passnet_core.solvers.llm.feedback import MOST_OF_CODE, explained, inductor_code, summary
from tests.contract.made import job, outcome
from tests.fake_backend import FAKE_ENVIRONMENT


def test_a_rule_is_told_once_with_its_line_and_remedy() -> None:
    finding = Finding("a.py", 7, 4, "torch-call", "torch.relu is called.", "Compute it in a kernel.")
    told = explained(replace(outcome(job(), Verdict.REJECTED), findings=(finding,)))
    assert told.splitlines()[:2] == [
        "rejected by a rule:",
        "- a.py line 7, rule torch-call: torch.relu is called. Compute it in a kernel.",
    ]


def test_the_nearest_miss_is_told_with_what_matched_before_it() -> None:
    miss = NearestMiss(MissKind.LITERAL, "mul", "tmp_0", "1.71 in the pattern, but 1.702.", (("sigmoid", "tmp_1"),))
    report = MatchReport((PassMatches("gelu", (), miss),))
    told = explained(replace(outcome(job(), Verdict.NO_MATCH), match=report))
    assert "gelu: 1.71 in the pattern, but 1.702. Matched up to there: sigmoid = tmp_1." in told


def test_the_first_wrong_output_is_told_with_place_and_size() -> None:
    good = OutputAccuracy(0, (4,), "float32", -10, (-10, 0), 0.0, 0.0)
    bad = OutputAccuracy(
        1, (4, 33), "float16", None, (), 3.5, 0.25, (2, 8), 1.0, 4.5, profile="wide", wrong_fraction=0.125
    )
    told = explained(replace(outcome(job(), Verdict.WRONG_VALUES), accuracy=Accuracy((good, bad), ("wide",))))
    assert "Output 1, float16 [4, 33]: worst element [2, 8]: expected 1.0, got 4.5" in told
    assert "(input set 'wide'). Largest error 3.5, mean error 0.25. Wrong: at most 12.5 % on any input set." in told
    assert "Output 0" not in told


def test_clocks_are_told_for_everybody_with_the_noise() -> None:
    timings = tuple(
        Timing(contender, clock, (time,), 5, time)
        for clock in (Clock.END_TO_END, Clock.KERNEL)
        for contender, time in ((Contender.EAGER, 30.0), (Contender.BASELINE, 40.0), (Contender.PASSES, 20.04))
    )
    told = explained(replace(outcome(job(), Verdict.FASTER), timings=timings, noise=0.031))
    assert "- end to end: eager 30.0 µs, TorchInductor 40.0 µs, yours 20.0 µs" in told
    assert "- kernel: eager 30.0 µs" in told
    assert "Noise floor: eager differs from itself by up to 3%." in told


def test_evidence_is_told_where_nobody_need_believe_without_and_traces_are_cut() -> None:
    evidence = (
        Evidence("kernels launched", "aten::softmax"),
        Evidence("traceback", "\n".join(f"line {number}" for number in range(50))),
    )
    told = explained(replace(outcome(job(), Verdict.LIBRARY), evidence=evidence, log_tail="raw log"))
    assert "kernels launched: aten::softmax" in told
    assert "line 49" in told
    assert "line 5\n" not in told
    assert "raw log" not in told
    assert "aten" not in explained(replace(outcome(job(), Verdict.CRASHED), evidence=evidence))


def test_many_subgraphs_are_summed_up_and_what_is_wrong_comes_first() -> None:
    outcomes = [
        outcome(job(0), Verdict.VALUES_ONLY),
        outcome(job(1), Verdict.CRASHED),
        outcome(job(2), Verdict.CRASHED),
    ]
    told = summary(outcomes)
    assert told.startswith("1 of 3: right, not timed; 2 of 3: crashed.")
    assert told.index("float32/1: crashed") < told.index("float32/0: right")
    assert "float32/2" not in told
    assert summary([]) == "Nothing was judged."


def test_inductors_code_is_cut_amid_and_what_runs_it_by_hand_is_left_out() -> None:
    def told(text: str, launches: int = 1, calls: int = 0) -> str:
        return inductor_code("a", Inspection("x", FAKE_ENVIRONMENT, code=InductorCode(text, launches, calls)))

    by_hand = "\n\ndef get_args():\n    pass\n"
    assert (
        told("kernel\ncall")
        == "Code of TorchInductor for a on fake device, torch 0: 1 kernel launch per call.\n\nkernel\ncall"
    )
    assert told(f"kernel\ncall\n{by_hand}", 2, 1).splitlines() == [
        "Code of TorchInductor for a on fake device, torch 0: 2 kernel launches and 1 library call per call.",
        "",
        "kernel",
        "call",
        "[27 characters left out: they only run this code by hand.]",
    ]
    long = told("kernel" + "x" * 50_000 + "call" + by_hand)
    assert len(long) < MOST_OF_CODE + 300
    assert "[… 38010 characters left out …]" in long
    assert long.index("kernel") < long.index("left out …") < long.index("call\n[")


def test_the_baseline_whose_code_it_is_is_named() -> None:
    code = InductorCode("kernel", 1, 0)
    told = inductor_code("a", Inspection("x", FAKE_ENVIRONMENT, code=code, baseline=Baseline.EAGER_ROUNDING))
    assert told.startswith("Code of TorchInductor with eager's rounding for a on fake device")


def test_why_there_is_no_code_is_told() -> None:
    assert inductor_code("a", Inspection("x", FAKE_ENVIRONMENT, code_problem="There is no g++.")) == "There is no g++."
