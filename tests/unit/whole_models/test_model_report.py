"""The report of a model: what its passes save, what they cover, and its text."""

from dataclasses import replace

from passnet_core.records import Bundle, Job, PassFile, Verdict
from passnet_core.whole_models.captured import CapturedGraph, CapturedModel
from passnet_core.whole_models.choosing import RULES
from passnet_core.whole_models.report import GalleryMatch, MatchedPart, ModelReport, PassInModel, as_data
from passnet_core.whole_models.timing import TimingAnswer, Way, WayAnswer
from tests.example_playground import CODE, REFERENCE, TIMED, outcome, task

BUNDLE = Bundle((PassFile("add_relu.py", ""),))


def judged(name: str, speedup: float = 1.5, calls: tuple[int, ...] = (1, 2), left_out: str = "") -> PassInModel:
    """A pass with a match in each subgraph of the example's task, called so often."""
    own = task()
    outcomes = tuple(outcome(Job(each, REFERENCE, TIMED), Verdict.FASTER, speedup=speedup) for each in own.subgraphs)
    parts = tuple(MatchedPart(0, ("tmp_0", "tmp_1"), each.id, count) for each, count in zip(own.subgraphs, calls))
    return PassInModel(name, RULES, own, parts, outcomes, left_out)


def report(**changes: object) -> ModelReport:
    graph = CapturedGraph(CODE, task().subgraphs[0].inputs, (), calls=4)
    whole = Job(replace(task().subgraphs[0], id="graph-0"), REFERENCE, TIMED)
    made = ModelReport(
        model=CapturedModel("Toy", (graph,), 1234, False, ("A graph was left out.",)),
        bundle=BUNDLE,
        passes=(judged("add_relu"), judged("slow|one", left_out="it would cost 3.0 µs a call")),
        gallery=(GalleryMatch("fused", ("add_relu",), 2, True),),
        left=("To libraries: linear.",),
        whole=(outcome(whole, Verdict.FASTER, speedup=2.0),),
        timing=TimingAnswer(
            "A card",
            (
                WayAnswer(Way.EAGER, tuple(range(-10, 5)), (2.0, 2.2, 2.4)),
                WayAnswer(Way.INDUCTOR, (-1, 0), (1.0, 1.1, 1.2)),
                WayAnswer(Way.PASSES, (), (0.5, 0.55, 0.6), matches=3),
                WayAnswer(Way.PASSES_INDUCTOR, problem="RuntimeError: no | luck"),
            ),
            calls=7,
        ),
        device="A card",
        date="2026-01-02",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_savings_count_every_call_of_every_match() -> None:
    # eager takes 30 µs; a third of it is saved, in 1 + 2 calls
    saved = judged("p").saved_us()
    assert saved is not None
    assert abs(saved - 30.0) < 1e-9
    assert judged("p").kernel_us() == 90.0
    loss = judged("p", speedup=0.5).saved_us()
    assert loss is not None
    assert abs(loss + 90.0) < 1e-9
    untimed = replace(judged("p"), outcomes=judged("p").outcomes[:1])
    assert untimed.saved_us() is None
    assert replace(judged("p"), parts=()).saved_us() is None


def test_what_is_left_out_covers_nothing() -> None:
    found = report()
    assert [each.name for each in found.kept] == ["add_relu"]
    assert (found.covered, found.model.operations) == (6, 12)
    # the whole graph takes 30 µs in each of 4 calls, the kept matches 90 µs
    assert found.share_of_time() == 0.75
    assert report(passes=()).share_of_time() is None
    assert found.right
    assert not report(whole=()).right


def test_the_text_has_every_part() -> None:
    text = "\n".join(report().lines())
    assert "# Passes for Toy" in text
    assert "A graph was left out." in text
    assert "has 1 pass, for 6 of 12 operations, which take 75% of eager's kernel time" in text
    assert "| passes, the rest eager | 550.000 | 4.000 [4.000, 4.000] | 2.000 [2.000, 2.000] |  | 3 |" in text
    assert "| passes, the rest Inductor | did not run: RuntimeError: no / luck | | | |" in text
    assert "Inductor, on the example inputs: t = -1. Levels that hold: -1, 0." in text
    assert "passes, the rest eager, on the example inputs: beyond t = 0. Levels that hold: none." in text
    assert "| add_relu | this model | 2 | 2 | right, faster × 2 | 30.0 | yes |" in text
    assert "it would cost 3.0 µs a call |" in text
    assert "- To libraries: linear." in text
    # every row of a table has the cells of its head
    for block in text.split("\n\n"):
        widths = {line.count("|") for line in block.splitlines() if line.startswith("|") and "slow|one" not in line}
        assert len(widths) <= 1, block


def test_a_report_without_passes_says_so() -> None:
    text = "\n".join(
        report(bundle=None, passes=(), timing=None, untimed="Nothing to run.", gallery=(), left=()).lines()
    )
    assert "No pass was accepted" in text
    assert "Nothing to run." in text


def test_the_figures_are_data() -> None:
    data = as_data(report())
    assert data["covered"] == 6
    assert data["share_of_kernel_time"] == 0.75
    assert data["right"]
    assert [each["left_out"] for each in data["passes"]] == ["", "it would cost 3.0 µs a call"]
    ways = {each["way"]: each for each in data["ways"]}
    assert ways["passes"]["over_eager"] == {"value": 4.0, "low": 4.0, "high": 4.0}
    assert ways["passes and inductor"]["over_eager"] is None
    assert ways["passes and inductor"]["problem"]
    assert as_data(report(timing=None))["ways"] == []
