"""The next step that an outcome suggests, with guesses that are worded as guesses."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from passnet_core.advice.error_shapes import GUESSES, ONLY_ON, guessed
from passnet_core.advice.next_step import ADVISERS, GENERAL, REMEDIES, next_step
from passnet_core.records import (
    MEMORY_FLOOR,
    Accuracy,
    Clock,
    Contender,
    ErrorMap,
    Evidence,
    FailedInputs,
    Finding,
    MatchReport,
    MissKind,
    NearestMiss,
    Outcome,
    OutputAccuracy,
    PassMatches,
    PatternEdit,
    Timing,
    Verdict,
)
from tests.contract.made import job, outcome

INPUT_DRAWS = ("recorded", "typical", "wide", "signed", "sparse", "edges")
HEDGES = re.compile(r"\b(may|perhaps|looks like|Nearly all of them have|So few)\b")


def wrong(
    shape: tuple[int, ...] = (4, 1024),
    spans: tuple[tuple[int, int], ...] = ((0, 4), (0, 1024)),
    *,
    count: int | None = None,
    output: dict[str, Any] | None = None,
    **spots: Any,
) -> OutputAccuracy:
    """An output with wrong elements in these spans: `count` of them, or half of the spans."""
    held = math.prod(end - begin for begin, end in spans)
    found = ErrorMap(1, 1, 1, (9.0,), held // 2 if count is None else count, spans, (0, math.prod(shape)), **spots)
    given: dict[str, Any] = {
        "problem": "12% of its elements are wrong",
        "verdict": Verdict.WRONG_VALUES,
        "wrong_in": INPUT_DRAWS,
        "profile": "typical",
        "index": (1, 1000),
        "expected": 1.0,
        "actual": 2.0,
        **(output or {}),
    }
    return OutputAccuracy(0, shape, given.pop("dtype", "float32"), None, (), 1.0, 0.1, map=found, **given)


def told(output: OutputAccuracy, verdict: Verdict = Verdict.WRONG_VALUES) -> str:
    made = replace(outcome(job(), verdict), accuracy=Accuracy((output,), INPUT_DRAWS))
    return next_step(made) or ""


def test_every_verdict_has_advice_of_its_own_or_none() -> None:
    assert set(ADVISERS) | GENERAL == set(Verdict)
    assert set(REMEDIES) == set(MissKind)
    assert set(ONLY_ON) == set(INPUT_DRAWS)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_an_outcome_that_shows_little_is_advised_without_invention(verdict: Verdict) -> None:
    said = next_step(outcome(job(), verdict))
    assert said is None or said.strip()
    assert (verdict in GENERAL) <= (said is None)
    assert next_step(outcome(job(bundle=None), Verdict.FASTER)) is None


def failing(*wrong: int | None, size: int = 4096) -> tuple[FailedInputs, ...]:
    """Failures on the input draws in turn, in so many elements."""
    pairs = zip(INPUT_DRAWS, (*wrong, *wrong[-1:] * len(INPUT_DRAWS)))
    return tuple(FailedInputs(name, Verdict.WRONG_VALUES, count, size) for name, count in pairs)


TAIL = ((0, 4), (1000, 1024))
CASES = [
    (wrong(spans=TAIL, count=96), "columns 1000 to 1023 of every row.", "mask or the last block"),
    (wrong(spans=((0, 4), (512, 1024)), count=2048), "columns 512 to 1023", "right up to 512, a power of two"),
    (
        wrong(spans=TAIL, count=96, value=math.nan),
        "columns 1000 to 1023",
        "The judge fills unwritten memory and the memory beside inputs",
    ),
    (wrong(value=3.3895313892515355e38), "spread over the whole output", "a store may be missing"),
    (wrong(value=0.0), "", "All of them are 0"),
    (wrong(value=math.inf), "", "overflow"),
    (wrong(value=4.5), "", "All of them are 4.5"),
    (wrong(factor=-1.0), "", "the wrong sign"),
    (wrong(factor=1.0 / 1024), "", "1/1024"),
    (wrong(factor=0.032), "", "1/√1024, with 1024 the size of an axis"),
    (wrong(factor=1.37), "", "1.37 times the expected value: perhaps a scale"),
    (wrong(offset=3.0), "", "off by 3"),
    (wrong(rearranged=True), "", "right values at the wrong positions"),
    (wrong(large_from=60.0), "", "size is at least 60"),
    (
        wrong(count=1, output={"index": (1, 7), "failed": failing(1)}),
        "1 of 4,096 elements (0.02 %), [1, 7]",
        "boundary",
    ),
    (wrong(output={"wrong_in": ("wide",)}), "", "only on wide inputs"),
    (wrong(output={"wrong_in": ("sparse",)}), "", "tiny"),
    (wrong(output={"wrong_in": ("recorded", "sparse"), "actual": math.nan}), "", "where eps is added"),
    (wrong(output={"wrong_in": ("wide", "edges"), "actual": math.inf}), "", "only on wide and edges inputs"),
    (wrong(output={"wrong_in": ("typical, at another address",)}), "", "kept between calls"),
    (wrong(output={"actual": math.nan}), "", "0/0"),
    (wrong(output={"actual": math.inf}), "", "overflow"),
    (wrong(output={"expected": math.nan}), "", "tl.maximum drops NaN"),
]


@pytest.mark.parametrize(("output", "place", "guess"), CASES, ids=lambda each: each if isinstance(each, str) else "")
def test_the_shape_of_the_errors_is_guessed_and_worded_as_a_guess(
    output: OutputAccuracy, place: str, guess: str
) -> None:
    said = told(output)
    assert said.startswith("Output 0 is wrong on typical inputs: ")
    assert place in said
    assert guess in said
    found = guessed(output, INPUT_DRAWS)
    assert found is not None
    assert HEDGES.search(found.meaning), found.meaning


def test_without_a_guess_the_element_to_compute_by_hand_is_named() -> None:
    assert all(guess(wrong(), INPUT_DRAWS) is None for guess in GUESSES)
    assert "Compute element [1, 1000] by hand, which should give 1" in told(wrong())


@pytest.mark.parametrize(
    ("dtype", "relative", "words"),
    [
        ("float32", 2.2e-4, "epsilon of float16 or TF32"),
        ("float32", 1.8e-3, "epsilon of bfloat16"),
        ("float32", 1e-6, "perhaps from an approximation"),
        ("float16", 3e-3, "sums may be accumulated in float16"),
    ],
)
def test_imprecision_is_told_by_its_size(dtype: str, relative: float, words: str) -> None:
    output = wrong(output={"dtype": dtype, "verdict": Verdict.LOWER_PRECISION}, relative=relative)
    said = told(output, Verdict.LOWER_PRECISION)
    assert said.startswith("Output 0 is imprecise on typical inputs")
    assert words in said


def test_the_output_that_the_verdict_is_about_is_advised_on() -> None:
    imprecise = wrong(output={"verdict": Verdict.LOWER_PRECISION, "wrong_fraction": 0.9})
    broken = replace(wrong(spans=TAIL, count=96), output=1)
    made = replace(outcome(job(), Verdict.WRONG_VALUES), accuracy=Accuracy((imprecise, broken), INPUT_DRAWS))
    assert (next_step(made) or "").startswith("Output 1 is wrong")


def test_a_stored_outcome_without_a_map_is_advised_on() -> None:
    old = replace(wrong(), map=None, wrong_in=(), verdict=None)
    assert told(old) == (
        "Output 0 is wrong. Compute element [1, 1000] by hand, which should give 1,"
        " and compare with the kernel's steps."
    )


@pytest.mark.parametrize(
    "output",
    [
        wrong(count=3, output={"index": (1, 7), "failed": failing(3, 2000)}),
        wrong(count=3, output={"index": (1, 7), "failed": failing(3, 0)}),
        wrong(spans=TAIL, count=96, output={"failed": failing(96, 4000)}),
        wrong(spans=TAIL, count=96, value=math.nan, output={"failed": failing(96, 4000)}),
    ],
)
def test_what_few_elements_of_one_input_set_show_is_no_advice_if_others_fail_in_many(output: OutputAccuracy) -> None:
    said = told(output)
    assert "It is wrong on 6 of 6 input sets." in said
    assert re.search(r"Other input sets fail in (more elements than this one, most on typical: |all elements)", said)
    assert "Compare every number and every operation" in said
    assert not re.search(r"boundary|two programs|mask|last block|only on", said)


@pytest.mark.parametrize("others", [("wide", "sparse 2", "ties"), ("wide", "magnitudes"), ("wide", "signed", "edges")])
def test_an_output_that_also_fails_on_other_kinds_of_inputs_is_not_wrong_only_on_one(others: tuple[str, ...]) -> None:
    made = wrong(output={"wrong_in": others})
    assert "only on" not in told(made)
    assert "only on sparse inputs" in told(wrong(output={"wrong_in": ("sparse", "sparse 2", "sparse, again")}))


def test_few_wrong_elements_are_not_advised_on_as_few_if_the_record_cannot_tell_of_other_sets() -> None:
    assert "boundary" not in told(wrong(count=1))
    alone = guessed(wrong(count=1, output={"wrong_in": ("ties",)}), (*INPUT_DRAWS, "ties"))
    assert alone is not None
    assert "boundary" in alone.meaning
    assert "boundary" not in told(wrong(count=1, output={"failed": failing(1, None)}))


def test_the_nearest_miss_names_its_node() -> None:
    far = PassMatches("far", (), NearestMiss(MissKind.ABSENT, "x", None, "no"))
    near = PassMatches("near", (), NearestMiss(MissKind.LITERAL, "mul", "tmp_3", "1.7 is not 1.702", (("a", "b"),)))
    made = replace(outcome(job(), Verdict.NO_MATCH), match=MatchReport((far, near)))
    said = next_step(made) or ""
    assert said.startswith("near: mul in pattern cannot match tmp_3 in the graph, after 1 node that matched")
    assert REMEDIES[MissKind.LITERAL] in said
    edited = replace(near, edit=PatternEdit(("Write 1.702 instead of 1.7.",), 2))
    mended = next_step(replace(made, match=MatchReport((far, edited)))) or ""
    assert mended.endswith("Write 1.702 instead of 1.7. Tried: the pattern then matches.")


def test_a_rule_names_file_line_and_remedy() -> None:
    findings = tuple(
        Finding("a.py", line, 1, "torch-call", "no", "Compute it in a kernel. Torch is not for that.")
        for line in (7, 9)
    )
    said = next_step(replace(outcome(job(), Verdict.REJECTED), findings=findings))
    assert said == "a.py, line 7: Compute it in a kernel. Then correct the other line named under Code."


TRACE = """  File "pass_dir/softmax.py", line 57, in softmax
    kernel[(1,)](x)
  File "/opt/triton/compiler.py", line 80, in make_ir
    return ast_to_ttir()
triton.compiler.errors.CompilationError: at 9:13:
def kernel(x):
             ^
arange's range must be a power of 2
"""


def test_an_exception_names_the_innermost_line_of_the_passes_own_files() -> None:
    evidence = (Evidence("traceback", TRACE),)
    said = next_step(replace(outcome(job(), Verdict.COMPILE_FAILED), evidence=evidence))
    assert said == (
        "Fix the error at line 57 of softmax.py: it launches a kernel, and the error is in line 9 of the kernel,"
        " counted from its def. Then press Run. The compiler says: arange's range must be a power of 2."
    )
    crashed = next_step(replace(outcome(job(), Verdict.CRASHED), evidence=evidence)) or ""
    assert crashed.startswith("Fix the error at line 57 of softmax.py")
    foreign = (Evidence("traceback", 'File "/etc/passwd", line 3'),)
    assert next_step(replace(outcome(job(), Verdict.CRASHED), evidence=foreign)) is None


def timed(verdict: Verdict, *, own: tuple[float, float, float], eager: tuple[float, float, float]) -> Outcome:
    """With these times: end to end, event, kernel."""
    clocks = (Clock.END_TO_END, Clock.EVENT, Clock.KERNEL)
    floor = Evidence(MEMORY_FLOOR, "8 MB take 2.0 µs.", (("moved_bytes", 8e6), ("bytes_per_us", 4e6)))
    return replace(
        outcome(job(), verdict),
        evidence=(floor,),
        timings=tuple(
            Timing(who, clock, (us, us, us, us * 1.3, us), 1, us)
            for who, times in ((Contender.EAGER, eager), (Contender.PASSES, own))
            for clock, us in zip(clocks, times)
        ),
    )


def test_slower_passes_hear_which_part_costs_most() -> None:
    host = next_step(timed(Verdict.SLOWER, own=(60, 58, 3), eager=(40, 39, 9))) or ""
    assert "the host takes 55 µs, 25 more than in eager, while the kernels are faster (3 instead of 9 µs)" in host
    assert "Launch fewer kernels" in host
    kernels = next_step(timed(Verdict.SLOWER, own=(60, 58, 40), eager=(40, 39, 9))) or ""
    assert "the work of the kernels takes 40 µs, 31 more than in eager" in kernels
    assert kernels.endswith("The memory floor is 2 µs.")


def test_passes_that_are_not_slower_hear_what_is_left_to_gain() -> None:
    level = next_step(timed(Verdict.NO_DIFFERENCE, own=(40, 39, 2), eager=(40, 39, 9))) or ""
    assert "The kernels take 2 of 40 µs" in level
    faster = next_step(timed(Verdict.FASTER, own=(40, 39, 20), eager=(80, 79, 60))) or ""
    assert "10 times the 2 µs that moving the data takes" in faster
    full = next_step(timed(Verdict.FASTER, own=(5, 4, 2.1), eager=(80, 79, 60))) or ""
    assert "hardly anything is left to gain in them" in full


def test_the_contender_whose_times_vary_most_is_named() -> None:
    made = timed(Verdict.INCONCLUSIVE, own=(40, 39, 2), eager=(40, 39, 9))
    shaky = replace(made.timings[0], contender=Contender.PASSES, samples=(20.0, 30.0, 40.0, 50.0, 60.0), median=40.0)
    said = next_step(replace(made, timings=(*made.timings[:3], shaky), noise=0.3)) or ""
    assert said.startswith("The times of passes vary most: the middle half of the calls, end to end, spans 50%")
    control = (Evidence("negative control", "output 0: return zeros"),)
    assert "Choose another subgraph" in (next_step(replace(made, evidence=control)) or "")


def test_names_from_a_strangers_file_are_cut_and_kept_on_one_line() -> None:
    finding = Finding("x\n" * 500, 7, 1, "rule", "no", "Mend\nit " * 500)
    said = next_step(replace(outcome(job(), Verdict.REJECTED), findings=(finding,))) or ""
    assert "\n" not in said
    assert len(said) < 400
