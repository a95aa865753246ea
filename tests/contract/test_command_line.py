"""The command line: what it prints, its exit codes, and that its JSON is as docs/command-line.md describes it."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from passnet_core.bundles.reading import ORDER_FILE, read_bundle, read_judged, write_bundle
from passnet_core.cli.main import main
from passnet_core.corpus.layout import write_task
from passnet_core.outside import printable
from passnet_core.records import (
    CLOCK_VERSION,
    Baseline,
    Bundle,
    Device,
    Evidence,
    Job,
    Outcome,
    PassFile,
    Stage,
    Verdict,
)
from passnet_core.settings import Settings
from tests.contract.made import outcome, task
from tests.fake_backend import FakeBackend
from tests.waiting import seconds

PROJECT = Path(__file__).resolve().parents[2]
DOCUMENT = (PROJECT / "docs" / "command-line.md").read_text()
BUNDLE = Bundle((PassFile("Relu.py", "def pattern(x):\n    return x\n"),))


@dataclass
class Playground:
    """The command line over one task, "relu" with three subgraphs, and a fake judge whose answers the test sets."""

    folder: Path
    backend: FakeBackend
    out: str = ""
    err: str = ""

    @property
    def bundle(self) -> str:
        return str(self.folder / "bundle")

    def __call__(self, *argv: str) -> int:
        out, err = io.StringIO(), io.StringIO()
        settings = Settings(home=self.folder / "home", data=self.folder / "data", python=Path(sys.executable))
        try:
            return main(argv, out=out, err=err, backend=self.backend, settings=settings)
        finally:
            self.out, self.err = out.getvalue(), err.getvalue()

    def json(self, *argv: str, code: int = 0) -> Any:
        assert self(*argv, "--json") == code, self.err
        return json.loads(self.out, parse_constant=pytest.fail)


def answered(verdict: Verdict) -> Callable[[Job], Outcome]:
    return lambda job: outcome(job, verdict)


@pytest.fixture
def playground(tmp_path: Path) -> Playground:
    write_task(task(), tmp_path / "data" / "tasks" / "relu")
    write_bundle(BUNDLE, tmp_path / "bundle")
    return Playground(tmp_path, FakeBackend(answered(Verdict.FASTER), Device.CUDA))


def documented(heading: str) -> set[str]:
    """The fields in the table of a section of docs/command-line.md."""
    section = DOCUMENT.split(f"\n### {heading}\n", 1)[1].split("\n### ", 1)[0].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `(\w+)` \|", section, flags=re.M))


# --- corpus ----------------------------------------------------------------------------------------------------------


def test_corpus_list_prints_the_tasks_that_match_its_flags(playground: Playground) -> None:
    (listed,) = playground.json("corpus", "list")
    assert set(listed) == documented("corpus list")
    assert (listed["task"], listed["family"], listed["split"]) == ("relu", "fusible", "develop")
    assert (listed["subgraphs"], listed["source_models"], listed["dtypes"]) == (3, ["model"], ["float32"])
    assert playground("corpus", "list") == 0
    assert "1 tasks, 3 subgraphs." in playground.out
    assert playground.json("corpus", "list", "--split", "evaluate") == []
    assert playground.json("corpus", "list", "--search", "relu") == [listed]
    assert playground.json("corpus", "list", "--search", "relu -> relu") == []
    assert playground.json("corpus", "list", "--family", "typical") == []


def test_corpus_matches_counts_the_subgraphs_that_a_bundle_matches(playground: Playground) -> None:
    write_task(task("gate"), playground.folder / "data" / "tasks" / "gate")
    asked = ("corpus", "matches", "--bundle", playground.bundle)
    none = [{"task_id": name, "subgraphs": 3, "matched": 0, "unread": 0} for name in ("gate", "relu")]
    assert playground.json(*asked, code=1) == none
    assert set(none[0]) == documented("corpus matches")
    playground.backend.matches = lambda code: None
    assert [each["unread"] for each in playground.json(*asked, code=1)] == [3, 3]
    playground.backend.matches = lambda code: 2
    assert [each["matched"] for each in playground.json(*asked)] == [3, 3]
    assert playground(*asked, "--search", "gate") == 0
    assert "The bundle matches in 3 subgraphs, which belong to 1 of the 1 tasks searched." in playground.out
    playground.backend.answer = answered(Verdict.REJECTED)
    assert playground(*asked) == 2
    assert "Error: " in playground.err
    playground.backend.answer = answered(Verdict.INFRASTRUCTURE)
    assert playground(*asked) == 3


def test_corpus_show_takes_a_name_or_a_folder(playground: Playground) -> None:
    shown = playground.json("corpus", "show", "relu")
    assert set(shown) == documented("corpus show")
    assert [each["subgraph"] for each in shown["members"]] == ["float32/0", "float32/1", "float32/2"]
    by_folder = playground.json("corpus", "show", str(playground.folder / "data" / "tasks" / "relu"))
    assert by_folder["members"] == shown["members"]
    assert playground("corpus", "show", "relu") == 0
    assert "in_0: float32 [2, 3]" in playground.out


def test_an_exported_task_can_be_imported(playground: Playground) -> None:
    exported = playground.json("corpus", "export", "relu", str(playground.folder / "out"))
    assert Path(exported["folder"], "graph_list.txt").is_file()
    (playground.folder / "data" / "tasks" / "relu").rename(playground.folder / "gone")
    assert playground.json("corpus", "list") == []
    imported = playground.json("corpus", "import", str(playground.folder / "out"))
    assert set(imported) == documented("corpus import")
    assert (imported["tasks"], imported["subgraphs"], imported["problems"]) == (["relu"], 3, [])
    assert playground.json("corpus", "list")[0]["task"] == "relu"


def test_an_import_reports_its_progress_and_the_tasks_it_left_out(
    playground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("passnet_core.cli.console.LINE_EVERY", 2)
    for name in ("a", "b", "c"):
        assert playground("corpus", "export", "relu", str(playground.folder / "out" / name)) == 0
    (playground.folder / "out/b/relu/graphs/float32/0/model.py").write_bytes(b"\xff\xfe import")
    assert playground("corpus", "import", str(playground.folder / "out")) == 0
    assert "2 of 3\n" in playground.err
    assert "left out: relu: relu/graphs/float32/0/model.py is not UTF-8 text." in playground.err


# --- check and evaluate ----------------------------------------------------------------------------------------------


def test_check_stops_after_matching(playground: Playground) -> None:
    playground.backend.answer = answered(Verdict.MATCHED)
    found = playground.json("check", "relu", "--bundle", playground.bundle)
    assert set(found) == documented("check and evaluate")
    assert {job.spec.stage for job in playground.backend.jobs} == {Stage.CHECK}
    assert (found["accepted"], found["total"]) == (3, 3)


def test_the_flags_of_evaluate_set_the_spec_of_its_jobs(playground: Playground) -> None:
    flags = "--device cuda --stage measure --capture compiled --profile passnet --trials 7 --seed 3 --deadline 9"
    assert playground("evaluate", "relu", "--bundle", playground.bundle, *flags.split()) == 0
    spec = playground.backend.jobs[0].spec
    assert (spec.stage, spec.device, spec.capture, spec.profile) == ("measure", "cuda", "compiled", "passnet")
    assert (spec.trials, spec.seed, spec.deadline_s, spec.replacement_cap) == (7, 3, 9.0, 1)
    assert playground.backend.jobs[0].bundle == BUNDLE


def test_the_passnet_profile_sets_the_replacement_cap_to_one(playground: Playground) -> None:
    asked = ("check", "relu", "--bundle", playground.bundle, "--profile", "passnet")
    assert playground(*asked, "--replacement-cap", "2") == 2
    assert "PassNet's rules set it to 1" in playground.err
    assert playground(*asked, "--replacement-cap", "1") == 0
    assert playground("check", "relu", "--bundle", playground.bundle) == 0
    assert [(job.spec.profile, job.spec.replacement_cap) for job in playground.backend.jobs[::3]] == [
        ("passnet", 1),
        ("strict", None),
    ]


@pytest.mark.parametrize("verdict", [Verdict.CHEAT, Verdict.LIBRARY, Verdict.INCONCLUSIVE])
def test_a_verdict_that_rests_on_evidence_is_printed_with_it(playground: Playground, verdict: Verdict) -> None:
    seen = (Evidence("kernels launched", "one\ntwo"), Evidence("noise floor", "Eager against itself: 1.0."))
    playground.backend.answer = lambda job: replace(outcome(job, verdict), evidence=seen)
    playground("evaluate", "relu", "--bundle", playground.bundle, "--stage", "measure", "--subgraph", "float32/0")
    assert "    kernels launched: one\n        two\n" in playground.out
    assert "    noise floor: Eager against itself: 1.0.\n" in playground.out


def test_evaluate_judges_inductor_on_the_chosen_subgraphs(playground: Playground) -> None:
    found = playground.json("evaluate", "relu", "--solver", "inductor", "--subgraph", "float32/2")
    assert found["solver"] == "inductor"
    assert found["bundle_digest"] is None
    assert [each["subgraph"] for each in found["outcomes"]] == ["float32/2"]
    assert [job.bundle for job in playground.backend.jobs] == [None]


def test_the_baseline_is_chosen_named_and_scored_apart(playground: Playground) -> None:
    file = str(playground.folder / "outcomes.jsonl")
    for baseline in ((), ("--baseline", "inductor-eager-rounding")):
        asked = ("evaluate", "relu", "--solver", "inductor", "--stage", "measure", "--outcomes", file)
        assert playground(*asked, *baseline) == 0
    assert {job.spec.baseline for job in playground.backend.jobs} == set(Baseline)
    assert playground("score", "--outcomes", file) == 0
    assert "TorchInductor on fake device" in playground.out
    assert "TorchInductor with eager's rounding on fake device" in playground.out
    found = playground.json("score", "--outcomes", file)["reports"]
    assert {each["baseline"]: each["samples"] for each in found} == {"inductor": 3, "inductor-eager-rounding": 3}


@pytest.mark.parametrize("verdict", [each for each in Verdict if each is not Verdict.CANCELLED])
def test_every_verdict_has_its_exit_code_and_documented_json(playground: Playground, verdict: Verdict) -> None:
    playground.backend.answer = answered(verdict)
    code = 3 if verdict is Verdict.INFRASTRUCTURE else 0 if verdict.accepted else 1
    found = playground.json("evaluate", "relu", "--bundle", playground.bundle, "--stage", "measure", code=code)
    for each in found["outcomes"]:
        assert set(each) == documented("outcome")
        assert (each["verdict"], each["accepted"]) == (verdict.value, verdict.accepted)
        assert each["task"] == "relu"
        assert each["reason"]
    assert f"`{verdict.value}`" in DOCUMENT


def test_one_failure_among_accepted_outcomes_is_exit_code_1(playground: Playground) -> None:
    verdicts = iter((Verdict.FASTER, Verdict.WRONG_VALUES, Verdict.FASTER))
    playground.backend.answer = lambda job: outcome(job, next(verdicts))
    assert playground("evaluate", "relu", "--bundle", playground.bundle) == 1
    assert "2 of 3 accepted (right, faster: 2, wrong values: 1)." in playground.out


def test_an_outcome_is_printed_in_words(playground: Playground) -> None:
    assert playground("evaluate", "relu", "--bundle", playground.bundle, "--stage", "measure") == 0
    assert "[1/3] float32/0: right, faster. because" in playground.out
    assert "Relu: 1 match" in playground.out
    assert "output 0 float32 [2, 3]: smallest t -5, largest error 1e-06" in playground.out
    assert "end to end: 1.500 times eager [1.350, 1.650]" in playground.out
    assert "warning: values only" in playground.out
    playground.backend.answer = answered(Verdict.NO_MATCH)
    assert playground("check", "relu", "--bundle", playground.bundle) == 1
    assert "Relu: no match; nearest miss: other literal" in playground.out
    playground.backend.answer = answered(Verdict.REJECTED)
    assert playground("check", "relu", "--bundle", playground.bundle, "--fresh") == 1
    assert "Relu.py:1:1 syntax: wrong mend it" in playground.out


def test_the_json_of_an_outcome_holds_timings_and_matches(playground: Playground) -> None:
    found = playground.json("evaluate", "relu", "--bundle", playground.bundle, "--stage", "measure")["outcomes"][0]
    assert found["timings"] == {
        "eager": {"end_to_end": {"median_us": 10.5, "samples_us": [10.25, 10.5, 11.0], "blocks": 1}}
    }
    assert found["speedups"]["pass"]["end_to_end"]["value"] == 1.5
    assert found["matches"] == [{"pass": "Relu", "count": 1, "matches": [["tmp_0"]], "miss": None}]
    assert found["outputs"][0]["smallest_t"] == -5
    assert found["environment"]["device"] == "fake device"


def test_a_folder_can_be_given_as_a_task(playground: Playground) -> None:
    folder = playground.folder / "data" / "tasks" / "relu" / "graphs" / "float32" / "0"
    found = playground.json("evaluate", str(folder), "--bundle", playground.bundle)
    assert found["total"] == 1


def test_a_reference_bundle_can_be_given_by_its_name(playground: Playground) -> None:
    write_bundle(BUNDLE, playground.folder / "data" / "bundles" / "my-reference")
    found = playground.json("check", "relu", "--bundle", "my-reference")
    assert found["bundle_digest"] == BUNDLE.digest


def test_outcomes_are_appended_to_the_file_and_no_store_is_opened(playground: Playground) -> None:
    file = playground.folder / "outcomes.jsonl"
    asked = ("evaluate", "relu", "--outcomes", str(file), "--stage", "measure")
    found = playground.json(*asked, "--bundle", playground.bundle)
    assert found["run"] is None
    assert [json.loads(line) for line in file.read_text().splitlines()] == found["outcomes"]
    assert playground(*asked, "--solver", "inductor") == 0
    assert len(file.read_text().splitlines()) == 6
    assert not (playground.folder / "home").exists()


def test_check_with_an_outcomes_file_needs_only_the_judges_packages(playground: Playground) -> None:
    """A real check by the local judge, in a process that cannot import the packages that only the app needs."""
    folder = playground.folder / "data" / "tasks" / "relu"
    code = """if True:
        import sys
        class Missing:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in ("duckdb", "streamlit", "altair", "graphviz", "numpy", "pandas", "ray"):
                    raise ModuleNotFoundError(f"No module named {name!r}")
        sys.meta_path.insert(0, Missing())
        from passnet_core.__main__ import main
        sys.exit(main())
    """
    pattern = "import torch\ndef pattern(x):\n    return torch.nn.functional.relu(x)\n"
    arguments = "def replacement_args(x):\n    return (x,)\n"
    replacement = "def own(x):\n    return x\ndef replacement_func():\n    return own\n"
    write_bundle(Bundle((PassFile("Relu.py", pattern + arguments + replacement),)), playground.folder / "real")
    argv = ["check", str(folder), "--bundle", str(playground.folder / "real"), "--subgraph", "float32/0", "--json"]
    environment = {**os.environ, "PASSNET_HOME": str(playground.folder / "home")}
    asked = subprocess.run(
        [sys.executable, "-c", code, *argv, "--outcomes", str(playground.folder / "outcomes.jsonl")],
        cwd=PROJECT, capture_output=True, text=True, timeout=seconds(120), env=environment, check=False,
    )  # fmt: skip
    assert asked.returncode == 0, asked.stderr
    (found,) = json.loads(asked.stdout)["outcomes"]
    assert found["verdict"] == "matches"
    assert found["matches"][0]["matches"] == [["tmp_0"]]


# --- score -----------------------------------------------------------------------------------------------------------


def test_a_run_its_export_and_its_outcomes_file_have_the_same_scores(playground: Playground) -> None:
    file, exported = playground.folder / "outcomes.jsonl", playground.folder / "run.jsonl"
    asked = ("evaluate", "relu", "--bundle", playground.bundle, "--stage", "measure")
    playground.json(*asked, "--outcomes", str(file))
    run = playground.json(*asked)["run"]
    assert playground("runs", "export", run, str(exported)) == 0
    scores = [
        playground.json("score", *source, "--p", "0.5", "--b", "0.2", "--interpretation", "extended")
        for source in (("--run", run), ("--outcomes", str(file)), ("--outcomes", str(exported)))
    ]
    assert scores[0] == scores[1] == scores[2]
    (report,) = scores[0]["reports"]
    assert set(report) == documented("score")
    assert (report["samples"], report["p"], report["b"], report["interpretation"]) == (3, 0.5, 0.2, "extended")
    assert report["levels"][10]["es"] == pytest.approx(1.5)
    assert [level["t"] for level in report["levels"]] == list(range(-10, 6))


@pytest.mark.parametrize(
    ("verdict", "code", "reward"),
    [
        (Verdict.VALUES_ONLY, 0, {"reward": 1.0, "right": 1.0}),
        (Verdict.WRONG_VALUES, 1, {"reward": 0.0, "right": 0.0}),
        (Verdict.INFRASTRUCTURE, 3, None),
    ],
)
def test_evaluate_writes_the_reward_or_leaves_its_file_empty(
    verdict: Verdict, code: int, reward: dict[str, float] | None, playground: Playground
) -> None:
    playground.backend.answer = answered(verdict)
    file = playground.folder / "reward.json"
    file.write_text("of an earlier bundle")
    assert playground("evaluate", "relu", "--bundle", playground.bundle, "--reward", str(file)) == code
    assert file.read_text() == ("" if reward is None else json.dumps(reward) + "\n")
    assert ("There is no reward" in playground.err) == (reward is None)


def test_a_bundle_that_cannot_be_read_has_the_reward_0(playground: Playground) -> None:
    file = playground.folder / "reward.json"
    assert playground("evaluate", "relu", "--bundle", str(playground.folder / "gone"), "--reward", str(file)) == 2
    assert json.loads(file.read_text()) == {"reward": 0.0, "right": 0.0}
    assert "does not exist" in playground.err


def test_score_prints_a_table(playground: Playground) -> None:
    file = str(playground.folder / "outcomes.jsonl")
    asked = ("evaluate", "relu", "--bundle", playground.bundle, "--stage", "measure", "--outcomes", file)
    assert playground(*asked) == 0
    assert playground("score", "--outcomes", file) == 0
    assert f"on fake device, capture direct, profile strict, clock version {CLOCK_VERSION}: 3 samples" in playground.out
    assert re.search(r"^0 +1\.5000 +1\.0000 +1\.0000 +0\.0000 +1\.5000 +0\.1000 +1\.5000", playground.out, flags=re.M)


def test_score_counts_what_passnets_protocol_aborted_only_if_asked(playground: Playground) -> None:
    def answer(job: Job) -> Outcome:
        unsteady = job.subgraph.id == "float32/2"
        return outcome(job, Verdict.INCONCLUSIVE if unsteady else Verdict.FASTER)

    playground.backend.answer = answer
    asked = ("evaluate", "relu", "--bundle", playground.bundle, "--stage", "measure")
    run = playground.json(*asked, "--profile", "passnet")["run"]
    (report,) = playground.json("score", "--run", run)["reports"]
    assert (report["samples"], report["left_out"], report["aborts"]) == (2, {"inconclusive": 1}, 0)
    assert report["levels"][10]["es"] == pytest.approx(1.5)
    (report,) = playground.json("score", "--run", run, "--aborts-fail")["reports"]
    assert (report["samples"], report["left_out"], report["aborts"]) == (3, {}, 1)
    assert report["levels"][10]["es"] == pytest.approx((1.5 * 1.5 * 0.1) ** (1 / 3))
    assert playground("score", "--run", run, "--aborts-fail") == 0
    assert "aborted by PassNet's protocol: 1, scored as runtime failures" in playground.out
    strict = playground.json(*asked)["run"]
    (report,) = playground.json("score", "--run", strict, "--aborts-fail")["reports"]
    assert (report["samples"], report["left_out"], report["aborts"]) == (2, {"inconclusive": 1}, 0)


def test_score_says_why_outcomes_without_times_cannot_be_scored(playground: Playground) -> None:
    playground.backend.answer = answered(Verdict.VALUES_ONLY)
    file = str(playground.folder / "outcomes.jsonl")
    assert playground("evaluate", "relu", "--bundle", playground.bundle, "--outcomes", file) == 0
    assert playground("score", "--outcomes", file) == 2
    assert (
        "Nothing can be scored: 3 values only. Evaluate with --stage measure on a machine with a GPU." in playground.err
    )


# --- runs ------------------------------------------------------------------------------------------------------------


def test_the_bundle_of_a_run_is_written_with_what_it_was_accepted_on(playground: Playground) -> None:
    run = playground.json("evaluate", "relu", "--bundle", playground.bundle)["run"]
    assert playground("runs", "bundle", run, str(playground.folder / "got")) == 0
    bundle = read_bundle(playground.folder / "got")
    judged = read_judged(bundle, playground.folder / "got")
    assert bundle == BUNDLE
    assert [each.subgraph.id for each in judged] == [each.id for each in task().subgraphs]
    assert playground("runs", "bundle", "nothing", str(playground.folder / "other")) == 2


def test_runs_are_listed_exported_and_imported(playground: Playground) -> None:
    run = playground.json("evaluate", "relu", "--bundle", playground.bundle, "--label", "mine")["run"]
    (listed,) = playground.json("runs", "list", "--task", "relu")
    assert set(listed) == documented("runs list")
    assert (listed["run"], listed["label"], listed["accepted"], listed["total"]) == (run, "mine", 3, 3)
    assert playground("runs", "export", run) == 0
    file = playground.folder / "run.jsonl"
    file.write_text(playground.out)
    (playground.folder / "home").rename(playground.folder / "old-home")
    assert playground.json("runs", "import", str(file)) == {"run": run}
    (listed,) = playground.json("runs", "list")
    assert listed["run"] == run
    assert listed["recorded"]
    assert playground("runs", "list") == 0
    assert run in playground.out


# --- wrong use -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("corpus", "show", "gone"), "'gone' is neither a task of this corpus nor a folder. List the tasks with"),
        (("corpus", "export", "gone", "out"), "Task 'gone' is not in this corpus."),
        (("corpus", "export", "gone", "out", "--harbor"), "Task 'gone' is not in this corpus."),
        (("corpus", "export", "relu", "{folder}/broken/model.py"), "is not a folder, or in none. Choose another one."),
        (("corpus", "import", "{folder}/gone"), "There is no folder"),
        (("check", "relu", "--bundle", "{folder}/gone"), "does not exist. Name the folder that holds"),
        (("check", "relu", "--bundle", "{folder}/data"), f"lacks {ORDER_FILE}"),
        (("evaluate", "{folder}/broken", "--solver", "inductor"), "model.py"),
        (("evaluate", "relu", "--solver", "inductor", "--subgraph", "x"), "Task 'relu' has no subgraph 'x'"),
        (("evaluate", "relu", "--solver", "inductor", "--trials", "0"), "Trials must be at least 1, not 0."),
        (("evaluate", "relu", "--solver", "inductor", "--deadline", "0"), "The deadline must be above 0 seconds"),
        (("evaluate", "relu", "--solver", "inductor", "--outcomes", "{folder}"), "cannot be written: Is a directory."),
        (("evaluate", "relu", "--solver", "inductor", "--reward", "{folder}/reward.json"), "--reward is for bundles"),
        (
            ("evaluate", "relu", "--bundle", "{folder}/bundle", "--reward", "{folder}"),
            "cannot be written: Is a directory.",
        ),
        (("score", "--run", "gone"), "There is no run 'gone' here."),
        (("score", "--outcomes", "{folder}/gone"), "cannot be read: No such file or directory."),
        (("score", "--outcomes", "{folder}/broken/model.py"), "Line 1 cannot be scored"),
        (("runs", "import", "{folder}/gone"), "cannot be read: No such file or directory."),
        (("runs", "import", "{folder}/broken/model.py"), "Line 1"),
        (("runs", "list", "--limit", "0"), "--limit must be at least 1, not 0."),
        (("runs", "import", "/dev/zero"), "cannot be read: it is not a plain file."),
        (("check", "relu", "--bundle", "x" * 300), "cannot be read: File name too long."),
        (("corpus", "show", "caf\udce9"), "Argument 3 is not UTF-8 text: caf\ufffd."),
    ],
)
def test_wrong_use_is_an_error_without_a_traceback(playground: Playground, argv: tuple[str, ...], said: str) -> None:
    (playground.folder / "broken").mkdir()
    (playground.folder / "broken" / "model.py").write_text("def forward(:\n")
    argv = tuple(each.format(folder=playground.folder) for each in argv)
    assert playground(*argv) == 2
    assert playground.err.startswith("Error: ")
    assert said in playground.err
    assert "Traceback" not in playground.err + playground.out
    assert said in playground.json(*argv, code=2)["error"]["message"]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("frobnicate",), "invalid choice: 'frobnicate'"),
        (("check", "relu"), "the following arguments are required: --bundle"),
        (("evaluate", "relu"), "one of the arguments --bundle --solver is required"),
        (("evaluate", "relu", "--bundle", "x", "--solver", "inductor"), "not allowed with argument --bundle"),
        (("evaluate", "relu", "--solver", "magic"), "invalid choice: 'magic'"),
        (("evaluate", "relu", "--solver", "inductor", "--trials", "many"), "invalid int value: 'many'"),
        (("score", "--run", "1", "--interpretation", "lenient"), "invalid choice: 'lenient'"),
        (("corpus", "list", "--jso"), "unrecognized arguments: --jso"),
    ],
)
def test_an_error_about_flags_points_to_help(
    playground: Playground, capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], said: str
) -> None:
    with pytest.raises(SystemExit) as left:
        playground(*argv)
    assert left.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert "--help" in error


@pytest.mark.parametrize(
    "argv", [("corpus", "show", "x" * 9000), ("x" * 9000,), ("corpus", "show", "relu", "--\x1b[2J" + "x" * 9000)]
)
def test_an_error_repeats_no_more_than_a_person_reads(
    playground: Playground, capsys: pytest.CaptureFixture[str], argv: tuple[str, ...]
) -> None:
    with contextlib.suppress(SystemExit):
        playground(*argv)
    said = playground.err + capsys.readouterr().err
    assert "xxx…" in said
    assert len(said) < 1200
    assert "\x1b" not in said


def test_a_penalty_of_zero_is_refused(playground: Playground) -> None:
    file = str(playground.folder / "outcomes.jsonl")
    asked = ("evaluate", "relu", "--bundle", playground.bundle, "--stage", "measure", "--outcomes", file)
    assert playground(*asked) == 0
    assert playground("score", "--outcomes", file, "--b", "0") == 2
    assert "The failure penalty b must be above 0" in playground.err


def test_a_full_disk_is_exit_code_3(playground: Playground) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    assert playground("evaluate", "relu", "--bundle", playground.bundle, "--outcomes", str(full)) == 3
    assert "could not be written to '/dev/full': No space left on device. Make room" in playground.err


def test_a_home_that_cannot_be_used_is_exit_code_3(playground: Playground) -> None:
    (playground.folder / "home").write_text("no folder")
    assert playground("runs", "list") == 3
    assert playground.err.startswith("Error: ")


def test_an_interrupt_is_exit_code_130_and_one_word(playground: Playground) -> None:
    def interrupted(job: Job) -> Outcome:
        raise KeyboardInterrupt

    playground.backend.answer = interrupted
    asked = ("evaluate", "relu", "--bundle", playground.bundle, "--outcomes", str(playground.folder / "o.jsonl"))
    assert playground(*asked) == 130
    assert playground.err.strip().endswith("Interrupted.")


def test_control_characters_in_a_name_do_not_reach_the_terminal() -> None:
    assert printable("a\x1b[31mred\nünï\x00") == "a\\x1b[31mred\nünï\\x00"


@pytest.mark.parametrize(("started", "said"), [("/usr/bin/passnet", "passnet"), ("main.py", "python -m passnet_core")])
def test_the_usage_names_the_program_as_it_was_started(started: str, said: str) -> None:
    code = "import sys; sys.argv[0] = sys.argv.pop(1); from passnet_core.cli.main import main; main()"
    asked = subprocess.run(
        [sys.executable, "-c", code, started, "corpus", "list", "--help"],
        cwd=PROJECT, capture_output=True, text=True, timeout=seconds(60), check=True,
    )  # fmt: skip
    assert asked.stdout.startswith(f"usage: {said} corpus list ")
