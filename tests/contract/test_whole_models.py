"""Somebody's own model is captured in the sandbox, searched, judged, and run with its passes."""

import io
import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from passnet_core.bundles.reading import read_bundle
from passnet_core.cli.main import main
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.solved import read_solved, write_solved
from passnet_core.errors import BadInput
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import (
    Bundle,
    Device,
    EvalSpec,
    Family,
    Job,
    Outcome,
    PassFile,
    Task,
    Verdict,
    from_json,
    to_json,
)
from passnet_core.settings import BUNDLED_DATA, Settings, rules_file
from passnet_core.whole_models.adapting import CAPTURING, MEASURING, SURVEYING, Workshop, adapt
from passnet_core.whole_models.captured import CapturedModel, ModelFile, captured_model
from passnet_core.whole_models.survey import SurveyAnswer, SurveyQuestion
from passnet_core.whole_models.timing import TimingAnswer, TimingQuestion, Way
from tests.example_playground import outcome, write_data
from tests.waiting import seconds

pytestmark = [pytest.mark.settled, pytest.mark.long, pytest.mark.skipif(not find_spec("torch"), reason="no torch")]

REFERENCES = BUNDLED_DATA / "bundles"
SOLVED = ("add-layer-norm-7107d8", "linear-add-layer-norm-3f701e")
MODELS = """
import os, sys
import torch
import torch.nn.functional as F

print("a library that talks", flush=True)
os.write(1, b'{"name": "forged"}')


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(16)
        self.gate, self.up = torch.nn.Linear(16, 32), torch.nn.Linear(16, 32)
        self.down = torch.nn.Linear(32, 16)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Broken(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x, times=1):
        self.count.add_(1)
        for _ in range(times):
            x = self.block(x)
            torch._dynamo.graph_break()
        return x * 2, self.count


def whole():
    return torch.nn.Sequential(Block(), Block()).eval(), torch.randn(4, 16)


def broken():
    return Broken().eval(), {"x": torch.randn(4, 16), "times": 3}


def two_sizes():
    class Sizes(torch.nn.Module):
        def forward(self, x, y):
            x = torch.relu(x)
            torch._dynamo.graph_break()
            return x, torch.relu(y)
    return Sizes(), (torch.randn(4), torch.randn(5))


def uneven():
    class Uneven(torch.nn.Module):
        def forward(self, x, y):
            x = F.linear(torch.relu(x + y) * 2, y)
            x = torch.tanh(x) - 1
            torch._dynamo.graph_break()
            return F.linear(x, y)
    return Uneven(), (torch.randn(4, 4), torch.randn(4, 4))


def mapped():
    class Mapped(torch.nn.Module):
        def forward(self, x):
            return F.silu(x * torch.vmap(lambda row: row > 0)(x)) + 1
    return Mapped(), (torch.randn(4, 8),)


def model_alone():
    return torch.nn.Sequential(Block())


def its_inputs():
    return torch.randn(4, 16)


def nothing():
    return None


def failing():
    raise ValueError("no luck today")


def wrong_call():
    return Block(), torch.randn(4, 17)


def with_files():
    import helper_of_mine
    return helper_of_mine.make()


def secrets():
    home = "/root" if os.access("/root", os.R_OK) else "/"
    raise ValueError(repr([name for name in os.environ if "KEY" in name] + os.listdir(home)))


def endless():
    while True:
        pass


def dying():
    class Dying(torch.nn.Module):
        def forward(self, x):
            return x + 1
    model = Dying()
    if "capturing" not in sys.argv[0]:
        os._exit(7)
    return model, torch.randn(3)
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    """Runs programs in the sandbox; it judges nothing."""
    made = LocalBackend(sys.executable, "auto", tmp_path_factory.mktemp("home"), judges=0, checkers=0)
    yield made
    made.close()


def file(factory: str, inputs: str = "") -> ModelFile:
    return ModelFile(MODELS, "models.py", factory, inputs)


def asked(programs: LocalBackend, program: str, question: Any, limit_s: float = 0, **options: Any) -> bytes:
    return programs.program(program, json.dumps(to_json(question)).encode(), limit_s or seconds(120), **options)


def confined(programs: LocalBackend, factory: str, **options: Any) -> CapturedModel:
    """Capture a model as the app does. It takes some seconds, so most tests capture in this process."""
    return captured_model(asked(programs, CAPTURING, file(factory), **options))


def refusal(programs: LocalBackend, factory: str, **options: Any) -> str:
    with pytest.raises(BadInput) as refused:
        confined(programs, factory, **options)
    return str(refused.value)


def capture(factory: str, inputs: str = "") -> CapturedModel:
    from passnet_core.whole_models import capturing

    return captured_model(json.dumps(to_json(capturing.capture(file(factory, inputs)))).encode())


def test_a_model_is_captured_with_what_its_values_look_like() -> None:
    model = capture("whole")
    assert (model.name, len(model.graphs), model.training) == ("Sequential", 1, False)
    (graph,) = model.graphs
    labels = [node.target.rsplit(".", 1)[-1] for node in graph.graph.operations]
    assert labels == ["layer_norm", "linear", "silu", "linear", "mul", "linear", "add"] * 2
    specs = {name: spec for name, spec in graph.specs.items() if spec}
    assert len(specs) == len(graph.graph.nodes)
    assert {spec.shape for spec in specs.values()} >= {(4, 16), (4, 32), (16,)}
    assert sum(spec.is_of_a_module for spec in graph.inputs) == 16
    assert all(spec.std is not None for spec in specs.values())


def test_equal_graphs_are_counted_and_others_kept_apart() -> None:
    (block,) = [each for each in capture("broken").graphs if len(each.graph.operations) >= 7]
    assert block.calls == 3
    assert [(each.calls, each.inputs[0].shape) for each in capture("two_sizes").graphs] == [(1, (4,)), (1, (5,))]


def test_values_of_vmap_are_not_described() -> None:
    (graph,) = capture("mapped").graphs
    inside = [node.name for node in graph.graph.operations if "_batch" in node.target or node.target == "operator.gt"]
    assert len(inside) >= 2
    outer = inside.pop()
    assert all(graph.specs[name] is None for name in inside)
    assert graph.specs[outer] is not None


def test_inputs_may_come_from_another_function() -> None:
    assert capture("model_alone", "its_inputs").operations == 7


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        ("nothing", "nothing() of models.py returns None. Return the model and its example inputs"),
        ("model_alone", "model_alone() of models.py returns a Sequential."),
        ("absent", "models.py has no function absent. It has Block, Broken, whole, broken"),
        ("failing", "ValueError: no luck today."),
        ("wrong_call", "models.py, line 18: RuntimeError: "),
        ("with_files", "ModuleNotFoundError: No module named 'helper_of_mine'. The file runs in a sandbox"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(factory: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        capture(factory)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_python_is_told_by_its_line() -> None:
    from passnet_core.whole_models import capturing

    with pytest.raises(BadInput, match=r"own.py, line 2: SyntaxError"):
        capturing.capture(ModelFile("x = 1\ndef make(:\n", "own.py", "make"))


def test_a_file_reads_the_folders_that_it_is_given_and_no_other(programs: LocalBackend, tmp_path: Path) -> None:
    (tmp_path / "helper_of_mine.py").write_text(
        "import torch\ndef make():\n    return torch.nn.ReLU(), torch.ones(open(__file__).read().count('def'))\n"
    )
    (graph,) = confined(programs, "with_files", folders=[tmp_path]).graphs
    assert graph.inputs[0].shape == (2,)
    leaked = refusal(programs, "secrets")
    assert "KEY" not in leaked.partition("ValueError")[2]
    assert str(tmp_path.name) not in leaked


def test_a_file_that_never_ends_is_ended(programs: LocalBackend) -> None:
    assert "The time limit of 6 s was exceeded." in refusal(programs, "endless", limit_s=6)
    stop = threading.Event()
    threading.Timer(1, stop.set).start()
    assert "It was stopped." in refusal(programs, "endless", cancelled=stop)


def test_bundles_are_found_where_they_match(programs: LocalBackend) -> None:
    model = capture("whole")
    bundles = (
        read_bundle(REFERENCES / "gating-swiglu"),
        Bundle((PassFile("broken.py", "raise RuntimeError('no luck')\n"),)),
        read_bundle(REFERENCES / "softmax-softcap"),
    )
    question = SurveyQuestion(tuple(each.code for each in model.graphs), bundles)
    answer = from_json(SurveyAnswer, json.loads(asked(programs, SURVEYING, question)))
    swiglu, broken, softcap = answer.bundles
    found = {each.name: each.places for each in swiglu.passes if each.count}
    assert set(found) == {"swiglu"}
    assert [len(match) for match in found["swiglu"][0]] == [2, 2]
    assert "no luck" in broken.problem
    assert not any(each.count for each in softcap.passes)


def test_a_model_runs_in_several_ways_and_is_compared(programs: LocalBackend) -> None:
    ways = (Way.EAGER, Way.CAPTURED, Way.PASSES)
    question = TimingQuestion(file("whole"), read_bundle(REFERENCES / "gating-swiglu"), Device.CPU, ways, 2)
    answer = from_json(TimingAnswer, json.loads(asked(programs, MEASURING, question)))
    assert [(each.way, each.problem) for each in answer.ways] == [(way, "") for way in ways]
    assert [len(each.seconds) for each in answer.ways] == [2, 2, 2]
    assert [each.matches for each in answer.ways] == [0, 0, 2]
    assert "swiglu × 2" in answer.ways[2].explained
    assert all(each.smallest_t is not None and each.smallest_t <= -4 for each in answer.ways)
    assert answer.speedup(Way.PASSES, Way.EAGER) is not None


def test_what_fails_in_one_way_is_that_ways_problem(programs: LocalBackend) -> None:
    raising = read_bundle(REFERENCES / "gating-swiglu")
    code = raising.passes[0].code
    broken = Bundle((PassFile("gate_pass.py", code + "\nraise RuntimeError('no luck')\n"),), raising.helpers)
    ways = (Way.EAGER, Way.PASSES)
    question = TimingQuestion(file("whole"), broken, Device.CPU, ways, 1)
    eager, passes = from_json(TimingAnswer, json.loads(asked(programs, MEASURING, question))).ways
    assert (eager.problem, len(eager.seconds)) == ("", 1)
    assert "no luck" in passes.problem
    assert passes.seconds == ()
    with pytest.raises(BadInput):
        asked(programs, MEASURING, TimingQuestion(file("dying"), raising, Device.CPU, ways, 1))


def test_what_is_refused_is_left_out_and_graphs_without_a_match_are_not_judged(programs: LocalBackend) -> None:
    wholes: list[str] = []

    def judge(task: Task, bundle: Bundle, spec: EvalSpec) -> list[Outcome]:
        wholes.extend(each.id for each in task.subgraphs if task.family is Family.TYPICAL)
        refused = "tanh" in bundle.passes[0].name
        verdict = Verdict.WRONG_VALUES if refused else Verdict.VALUES_ONLY
        return [outcome(Job(each, bundle, spec), verdict) for each in task.subgraphs]

    report = adapt(file("uneven"), Workshop(programs.program, judge, judge, programs.info(), {}))
    assert (len(report.model.graphs), wholes) == (2, ["graph-0"])
    assert [each.name for each in report.kept] == ["add_relu_mul"]
    assert report.bundle is not None
    assert [each.name for each in report.bundle.passes] == ["add_relu_mul.py"]
    assert report.right
    refused = {each.name: each.left_out for each in report.passes if each.left_out}
    assert "wrong values. Output 0 differs" in refused.pop("tanh_sub")
    assert all("single operations" in each for each in refused.values())


BOTH = {"add_relu_mul", "tanh_sub"}


@pytest.mark.parametrize(
    ("verdict", "wrong", "kept"),
    [
        pytest.param(Verdict.WRONG_VALUES, lambda names: "add_relu_mul" in names, {"tanh_sub"}, id="one"),
        pytest.param(Verdict.CRASHED, lambda names: names == BOTH, {"tanh_sub"}, id="both together"),
        pytest.param(Verdict.WRONG_VALUES, bool, set(), id="each"),
        pytest.param(Verdict.TIMED_OUT, lambda names: names == BOTH, set(), id="nobody can say"),
    ],
)
def test_a_pass_with_which_the_whole_is_wrong_is_left_out(
    programs: LocalBackend, verdict: Verdict, wrong: Callable[[set[str]], bool], kept: set[str]
) -> None:
    def judge(task: Task, bundle: Bundle, spec: EvalSpec) -> list[Outcome]:
        return [outcome(Job(each, bundle, spec), Verdict.VALUES_ONLY) for each in task.subgraphs]

    def judge_whole(task: Task, bundle: Bundle, spec: EvalSpec) -> list[Outcome]:
        names = {each.name.removesuffix(".py") for each in bundle.passes}
        return [
            outcome(Job(each, bundle, spec), verdict if wrong(names) else Verdict.VALUES_ONLY)
            for each in task.subgraphs
        ]

    report = adapt(file("uneven"), Workshop(programs.program, judge, judge_whole, programs.info(), {}))
    assert {each.name for each in report.kept} == kept
    assert (report.bundle is not None, report.right) == (bool(kept), bool(kept))
    told = "\n".join(report.lines())
    for name in BOTH - kept:
        assert f"**Pass {name} is left out: with it, the verdict on graph 0 as a whole is {verdict.value}: " in told
    assert ("there is no bundle" in told) != bool(kept)


def small_data(folder: Path) -> Path:
    """A data folder with two reference bundles, and two that the rules wrote for tasks."""
    write_data(folder)
    shutil.copytree(REFERENCES / "gating-swiglu", folder / "bundles" / "gating-swiglu")
    (folder / "solved").mkdir()
    solved = read_solved(rules_file())
    write_solved(rules_file(folder), {name: solved[name] for name in SOLVED})
    return folder


def test_the_command_finds_judges_and_writes_passes(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(MODELS)
    out, err = io.StringIO(), io.StringIO()
    home = tmp_path / "home"
    settings = Settings(home, small_data(tmp_path / "data"), Path(sys.executable))
    command = ["model", f"{tmp_path / 'own.py'}:whole", "--out", str(tmp_path / "found"), "--json"]
    assert main(command, out=out, err=err, settings=settings) == 0, err.getvalue()
    found = json.loads(out.getvalue())
    kept = {each["name"]: each for each in found["passes"] if not each["left_out"]}
    assert kept["swiglu"]["origin"] == "gating-swiglu"
    assert (kept["swiglu"]["matches"], kept["swiglu"]["verdicts"]) == (2, ["right, not timed"])
    assert kept["add_layer_norm"]["origin"] == "rules"
    assert found["covered"] == 6
    assert found["right"]
    assert [each["verdict"] for each in found["whole"]] == ["right, not timed"]
    assert {each["name"] for each in found["gallery"] if each["used"]} == {"gating-swiglu"}
    single = [each["left_out"] for each in found["passes"] if each["left_out"]]
    assert all("single operations" in each for each in single)
    assert "Judging swiglu" in err.getvalue()
    bundle = read_bundle(tmp_path / "found" / "bundle")
    assert bundle.digest == found["bundle"]
    assert "# Passes for Sequential" in (tmp_path / "found" / "report.md").read_text()
    # its parts are tasks now, to be browsed and solved otherwise
    corpus = Corpus([home / "tasks"])
    assert kept["swiglu"]["task"] in {each.id for each in corpus.tasks()}
    # nothing is overwritten
    assert main(command, out=io.StringIO(), err=err, settings=settings) == 2
    assert "is there already" in err.getvalue()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["model", "own.py"], "names no function"),
        (["model", "own.py:"], "names no function"),
        (["model", "own.py:not a name"], "names no function"),
        (["model", "absent.py:make"], "cannot be read"),
        (["model", "own.py:whole", "--read", "nowhere"], "which is not a folder"),
        (["model", "own.py:whole", "--limit", "0"], "--limit must be above 0"),
        (["model", "own.py:whole", "--out", "own.py"], "is there already"),
    ],
)
def test_wrong_use_is_told_before_anything_runs(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    err = io.StringIO()
    settings = Settings(tmp_path / "home", BUNDLED_DATA, Path(sys.executable))
    assert main(arguments, out=io.StringIO(), err=err, settings=settings) == 2
    assert said in err.getvalue()
    assert not (tmp_path / "home").exists()
