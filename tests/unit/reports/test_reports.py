"""The report of a run: one file in which strangers' text stays text, the same bytes for the same run."""

import base64
import hashlib
import math
import re
import shlex
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passnet_core.cli.main import parser
from passnet_core.errors import UnknownItem
from passnet_core.execution.jobs import new_run
from passnet_core.records import Baseline, Bundle, EvalSpec, Job, PassFile, Profile, Stage, Verdict
from passnet_core.reports.content import SIGNS, Material, content_of
from passnet_core.reports.gathering import material_of, run_report
from passnet_core.reports.layered import placed
from passnet_core.reports.pictures import MOST, Album
from passnet_core.reports.repeating import commands
from passnet_core.reports.writing import written
from passnet_core.service import open_service
from passnet_core.settings import read_settings
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.example_playground import (
    OTHER_ID,
    REFERENCE,
    REFERENCE_NAME,
    TASK_ID,
    hostile,
    measured,
    outcome,
    task,
    write_data,
)
from tests.fake_backend import FakeBackend

HOSTILE = (
    "</pre></style></title><script>alert(1)</script><img src=https://evil.test/x onerror=alert(2)>"
    "\"'><a href=javascript:alert(3)>{{ 7*7 }}{% raw %} &lt; \u202e\x00\x1b[31m"
)


def material(file: RunFile, **changes: object) -> Material:
    subgraphs = {(each.task_id, each.id): each for each in task().subgraphs}
    whole = Material(
        run=file.run,
        total=len(file.run.job_digests),
        problem="",
        outcomes=file.outcomes,
        bundle=file.bundles[0] if file.bundles else None,
        subgraphs=subgraphs,
        members={TASK_ID: [each.id for each in task().subgraphs]},
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def report(file: RunFile, **changes: object) -> str:
    return written(content_of(material(file, **changes)))


class Reader(HTMLParser):
    """What a browser would make of a file: its tags with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_report_says_what_was_judged_and_how_to_repeat_it() -> None:
    said = Reader(report(measured(REFERENCE, speedup=1.5))).text
    for expected in (
        "Run recorded-passes: reference",
        "2 of 2 subgraphs accepted; median speedup over eager, end to end: 1.50×",
        "ES(0) = 1.500",
        "1.50× (1.46 to 1.54)",
        "recorded: NVIDIA H200, 2026-02-03",
        REFERENCE.digest,
        "Eager against itself, end to end: 1.002",
        "1 match: tmp_0, tmp_1",
        "tmp_1 = torch.nn.functional.relu(tmp_0)",
        "a line that the pass printed",
        "add_relu_kernel[(triton.cdiv(count, 1024),)]",
        '["add_relu"]',
        "python -m passnet_core evaluate add-relu --bundle FOLDER --stage measure",
    ):
        assert expected in said


def test_every_verdict_has_a_sign() -> None:
    assert set(SIGNS) == set(Verdict)


def test_the_same_run_gives_the_same_bytes() -> None:
    assert report(measured(REFERENCE, speedup=1.5)) != report(measured(REFERENCE, speedup=1.4))
    file = measured(REFERENCE, speedup=1.5)
    assert report(file) == report(file)


def test_nothing_is_fetched_and_no_script_is_in_it() -> None:
    read = Reader(report(measured(REFERENCE, speedup=1.5)))
    tags = Counter(tag for tag, _ in read.tags)
    assert not tags.keys() & {"script", "img", "link", "iframe", "object", "embed", "form", "base", "image"}
    assert all(value.startswith("#") for _, each in read.tags for name, value in each.items() if name == "href")
    assert not any("src" in each or "style" in each for _, each in read.tags)


def test_the_policy_lets_nothing_in_but_the_files_own_style() -> None:
    text = report(measured(REFERENCE, speedup=1.5))
    (policy,) = [each["content"] for _, each in Reader(text).tags if "http-equiv" in each]
    (style,) = re.findall(r"<style>(.*?)</style>", text, flags=re.S)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert text.index("http-equiv") < text.index("<title>") < text.index("<style>")


def test_hostile_text_stays_text() -> None:
    plain, spoilt = Reader(report(hostile("harmless"))), Reader(report(hostile(HOSTILE)))
    assert [tag for tag, _ in spoilt.tags] == [tag for tag, _ in plain.tags]
    assert [sorted(each) for _, each in spoilt.tags] == [sorted(each) for _, each in plain.tags]
    assert "<script>alert(1)</script>" in spoilt.text
    assert "{{ 7*7 }}" in spoilt.text
    assert "\\u202e\\x00\\x1b[31m" in spoilt.text
    assert not any(each in spoilt.text for each in "\u202e\x00\x1b")


@given(st.text(st.characters(exclude_categories=()), min_size=1, max_size=40))
def test_any_text_can_be_written(text: str) -> None:
    report(hostile(text)).encode("utf-8")


def test_a_run_that_is_not_whole_says_so() -> None:
    file = measured(REFERENCE, speedup=1.5)
    text = Reader(report(file, outcomes=file.outcomes[:1], problem="The process ended.")).text
    assert "This run is not complete: 1 of 2 subgraphs have an outcome. The process ended." in text
    empty = Reader(report(file, outcomes=())).text
    assert "No subgraph has an outcome." in empty
    assert "No judge answered." in empty


def test_what_is_not_known_here_is_said() -> None:
    text = Reader(report(measured(REFERENCE, speedup=1.5), bundle=None, subgraphs={}, members={})).text
    assert "are not in the store of the playground that made the report" in text
    assert "not in the corpus" in text
    assert "--subgraph=float32/48/toy" in text
    file = measured(REFERENCE, speedup=1.5)
    changed = {place: replace(each, code="other") for place, each in material(file).subgraphs.items()}
    assert "not in the corpus" in Reader(report(file, subgraphs=changed)).text


@pytest.mark.parametrize(
    "verdict", sorted(set(Verdict) - {Verdict.REJECTED, Verdict.SLOWER, Verdict.NO_DIFFERENCE, Verdict.FASTER})
)
def test_what_was_not_timed_can_be_told(verdict: Verdict) -> None:
    spec = EvalSpec(stage=Stage.VERIFY)
    job = Job(task().subgraphs[0], REFERENCE, spec)
    file = RunFile(new_run((job,)), (REFERENCE,), (outcome(job, verdict),))
    assert f"{verdict.value}." in Reader(report(file)).text


@pytest.mark.parametrize("figure", [0.0, -1.0, math.nan, math.inf, 1e308])
def test_figures_that_no_clock_gives_are_written_as_they_are(figure: float) -> None:
    file = measured(REFERENCE, speedup=1.5)
    spoilt = [
        replace(
            each,
            speedups=tuple(replace(speedup, value=figure, low=figure, high=figure) for speedup in each.speedups),
            timings=tuple(replace(timing, samples=(figure,) * 2, median=figure) for timing in each.timings),
        )
        for each in file.outcomes
    ]
    assert f"{figure:.2f}×" in Reader(report(file, outcomes=tuple(spoilt))).text


def test_code_with_other_line_ends_is_shown_as_code() -> None:
    file = measured(Bundle((PassFile("x.py", "a = 1\r\nb = 2\r\n"),)), speedup=1.5)
    assert "a = 1\nb = 2\n" in Reader(report(file)).text


def test_inductor_has_no_passes() -> None:
    text = Reader(report(measured(None, speedup=0.7))).text
    assert "--solver inductor" in text
    assert "sorted_output_pass_rule_names" not in text


def test_a_report_names_the_baseline_that_was_the_solver_or_that_passes_were_timed_beside() -> None:
    named = "TorchInductor with eager's rounding"
    text = Reader(report(measured(None, speedup=1.2, baseline=Baseline.EAGER_ROUNDING))).text
    assert f"none: {named}" in text
    assert len(re.findall(r"TorchInductor(?! with eager's rounding)", text)) == 0
    text = Reader(report(measured(None, speedup=0.7))).text
    assert "none: TorchInductor" in text
    assert named not in text


def test_a_report_names_the_author_of_what_was_judged() -> None:
    def told(file: RunFile, **changes: object) -> str:
        return Reader(report(file, **changes)).text

    file = measured(REFERENCE, speedup=1.5)
    assert "the playground (reference bundle fused-add-relu)" in told(file, reference=REFERENCE_NAME)
    edited = replace(file, run=replace(file.run, label="fused-add-relu, edited", recorded="CPU, 2026-02-03, imported"))
    text = told(edited)
    assert "a visitor of another playground, from fused-add-relu" in text
    assert "the playground (" not in text, "the author of what was edited is not that of what was judged"
    assert "imported: CPU, 2026-02-03" in text
    assert "recorded:" not in text
    own = replace(file, run=replace(file.run, label="mine", recorded=""), bundles=(replace(REFERENCE, author=""),))
    assert f"Run {own.run.id}: a visitor's passes" in told(own)
    written_by_rules = replace(file, run=replace(file.run, label="0123456789abcdef0123"))
    text = told(written_by_rules, bundle=replace(REFERENCE, author="rules"))
    assert "passes 012345" in text
    assert re.search(r"author of the passes\s*the rules", text)


# --- commands --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        EvalSpec(),
        EvalSpec(stage=Stage.CHECK),
        EvalSpec(stage=Stage.MEASURE, trials=9, seed=7, deadline_s=30, replacement_cap=1),
        EvalSpec(profile=Profile.PASSNET, replacement_cap=1),
        EvalSpec(baseline=Baseline.EAGER_ROUNDING),
    ],
)
def test_the_commands_are_what_the_command_line_takes(spec: EvalSpec) -> None:
    subgraphs = task("-odd 'name';").subgraphs if spec.seed else task().subgraphs
    jobs = tuple(Job(each, REFERENCE, spec) for each in subgraphs)
    outcomes = [outcome(job, Verdict.MATCHED) for job in jobs[:1]]
    run = replace(new_run(jobs), task_ids=(TASK_ID, OTHER_ID))
    first, second = commands(run, outcomes, {TASK_ID: [each.id for each in subgraphs], OTHER_ID: []})
    read = parser().parse_args(shlex.split(first)[3:])
    assert read.task == TASK_ID
    assert read.deadline == spec.deadline_s
    assert read.fresh
    assert getattr(read, "seed", None) == spec.seed
    assert getattr(read, "stage", "check") == spec.stage.value
    assert getattr(read, "baseline", "inductor") == spec.baseline.value
    assert "OTHER" not in first
    assert parser().parse_args(shlex.split(second)[3:]).task == OTHER_ID


def test_names_are_quoted_for_the_shell() -> None:
    name = "a'; rm -rf ~ #"
    job = Job(replace(task().subgraphs[0], task_id=name), REFERENCE, EvalSpec())
    (command,) = commands(new_run((job,)), (), {name: []})
    assert shlex.split(command)[4] == name


# --- pictures --------------------------------------------------------------------------------------------------------


@given(st.integers(1, 24), st.data())
def test_boxes_never_overlap_and_lines_run_downwards(count: int, data: st.DataObject) -> None:
    pairs = [(start, end) for end in range(count) for start in range(end)]
    links = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=40)) if pairs else []
    sizes = [(data.draw(st.integers(20, 200)), data.draw(st.sampled_from((23, 38, 53)))) for _ in range(count)]
    where = placed(sizes, links)
    assert where == placed(sizes, links)
    boxes = [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(where.centres, sizes)]
    for start, end in links:
        assert boxes[start][3] < boxes[end][1]
    for number, one in enumerate(boxes):
        assert one[0] >= 0 <= one[1]
        assert one[2] <= where.width + 1
        assert one[3] <= where.height + 1
        for other in boxes[:number]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart


def test_nothing_to_draw_is_no_picture_and_no_error() -> None:
    assert placed([], []).centres == ()
    assert Album().before_and_after("this is no graph", None) == (None, None)


def test_subgraphs_that_are_alike_share_a_picture() -> None:
    content = content_of(material(measured(REFERENCE, speedup=1.5)))
    first, second = content.sections
    assert first.before is second.before
    assert len(content.pictures) == 2
    assert [box.mark for box in first.before.boxes if box.mark] == ["① −", "① −"]  # type: ignore[union-attr]


def test_a_run_of_two_thousand_outcomes_is_written() -> None:
    file = measured(REFERENCE, speedup=1.5)
    content = content_of(material(file, outcomes=file.outcomes * 1000, total=2000))
    assert len(content.pictures) == 2, "drawn once, however often it is seen"
    assert written(content).count("<details>") == 2000 + 1 + 2


def test_a_large_graph_is_drawn_in_part_and_says_so() -> None:
    lines = "".join(f"        t{at + 1} = t{at} + 1\n" for at in range(MOST + 50))
    code = f"class GraphModule:\n    def forward(self, t0):\n{lines}        return (t{MOST + 50},)\n"
    before, after = Album().before_and_after(code, None)
    assert after is None
    assert before is not None
    assert before.operations == MOST + 50
    assert f"Shown are operations 1 to {MOST}" in before.note
    assert len(before.boxes) == MOST + 2


# --- from the service ------------------------------------------------------------------------------------------------


def test_the_report_of_a_kept_run(tmp_path: Path) -> None:
    settings = read_settings(
        {"PASSNET_DATA": str(write_data(tmp_path / "data")), "PASSNET_HOME": str(tmp_path / "home")}
    )
    service = open_service(settings, backend=FakeBackend(lambda job: outcome(job, Verdict.VALUES_ONLY)))
    try:
        text = Reader(run_report(service, "recorded-passes")).text
        assert f"--bundle {REFERENCE_NAME}" in text
        assert "FOLDER" not in text
        strange = measured(Bundle((PassFile("x.py", "x"),)), speedup=2.0)
        run = replace(strange.run, id="strange", task_ids=("not-here",))
        service.import_run(exchange.written(replace(strange, run=run)))
        assert material_of(service, "strange").members == {}
        with pytest.raises(UnknownItem):
            run_report(service, "none-such")
    finally:
        service.close()
