"""Whole models are cut into tasks where Inductor would make one kernel on a GPU; no GPU is needed to ask it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.partitioning import split_of
from passnet_core.graphs.source import parse
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.records import Family
from tests.contract.programs import ran
from tests.unit.corpus.samples import sample_folder

PROJECT = Path(__file__).resolve().parents[2]
REAL_TASKS = PROJECT / ".." / "shared" / "passbench-dev"
TORCH = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="no torch")


SCHEDULES = """
import json
from passnet_core.corpus.scheduling import schedule
from passnet_core.graphs.source import parse
from passnet_core.records import TensorSpec

HEAD = "import torch\\n\\nclass GraphModule(torch.nn.Module):\\n    def forward(self, in_0, in_1):\\n"

def asked(*lines):
    code = HEAD + "".join(f"        {line}\\n" for line in lines)
    specs = (TensorSpec("in_0", (64, 512), "bfloat16"), TensorSpec("in_1", (512, 512), "bfloat16"))
    found = schedule(parse(code), specs)
    return found and (found.own, found.library)

product = "a = torch.nn.functional.linear(in_0, in_1)"
softmax = "a = torch.nn.functional.softmax(in_0, dim=-1)"
print(json.dumps({
    "pointwise": asked("a = in_0 * 2.0", "b = torch.tanh(a)", "return (b,)"),
    "softmax and what surrounds it": asked("x = in_0 / 8", softmax.replace("in_0", "x"), "b = a + 1", "return (b,)"),
    "product and activation": asked(product, "b = torch.nn.functional.gelu(a)", "return (b,)"),
    "sums along two axes": asked("a = in_0.sum(0)", "b = in_0.sum(1)", "return (a, b)"),
    "views": asked("a = in_0.view(8, 8, 512)", "b = a.transpose(0, 1)", "return (b,)"),
    "in place": asked("in_0 += 1", "a = torch.relu(in_0)", "return (a,)"),
    "does not fit": asked("a = in_0 @ in_0", "return (a,)"),
}))
"""


@TORCH
def test_a_schedule_is_that_of_a_gpu() -> None:
    assert json.loads(ran(SCHEDULES)) == {
        "pointwise": [1, 0],
        "softmax and what surrounds it": [1, 0],
        "product and activation": [1, 1],
        "sums along two axes": [2, 0],
        "views": [0, 0],
        "in place": [1, 0],
        "does not fit": None,
    }


REAL = """
import sys
from pathlib import Path
from passnet_core.corpus.layout import read_task
from passnet_core.corpus.scheduling import schedule
from passnet_core.graphs.source import parse

for folder in sorted(Path(sys.argv[1]).iterdir()):
    if folder.is_dir():
        subgraph = read_task(folder).subgraphs[0]
        found = schedule(parse(subgraph.code), subgraph.inputs)
        print(found is not None and found.own <= 1 and found.library <= 1)
"""


@TORCH
def test_real_fusible_tasks_are_fusible_by_this_rule() -> None:
    """A few tasks are not: they hold two independent halves, or operations that need a GPU to be scheduled."""
    if not REAL_TASKS.is_dir():
        pytest.skip("no folder of real PassBench tasks beside the project")
    assert ran(REAL, str(REAL_TASKS)).split().count("True") >= 20


TINY = """
import sys
from pathlib import Path
from tools.architectures import Architecture
from tools.harvesting import cut, main

settings = dict(num_hidden_layers=1, hidden_size=32, intermediate_size=64, num_attention_heads=2, vocab_size=64,
                num_key_value_heads=1)
sizes = (("text", 1, 8),)
tiny = Architecture("llama-tiny", "LlamaConfig", "LlamaModel", tuple(settings.items()), sizes)
unknown = Architecture("unknown", "NoConfig", "NoModel", (), sizes)
out = Path(sys.argv[1])
assert cut([unknown, tiny], out / "parts") == 1
before = [(path.name, path.stat().st_mtime_ns) for path in sorted((out / "parts").iterdir())]
assert cut([tiny], out / "parts") == 0
assert before == [(path.name, path.stat().st_mtime_ns) for path in sorted((out / "parts").iterdir())]
assert main(["join", str(out / "parts"), "--out", str(out / "all.jsonl.gz")]) == 0
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("torch", "transformers"))), reason="no transformers library to extract from"
)
def test_a_tiny_model_is_cut_into_tasks_of_three_families(tmp_path: Path) -> None:
    assert "llama-tiny: " in ran(TINY, str(tmp_path))
    corpus = Corpus([tmp_path])
    tasks = corpus.tasks()
    assert {task.family for task in tasks} == set(Family)
    assert all(task.split == split_of(task.id) for task in tasks)
    fusible = {task.operators: task for task in tasks if task.family is Family.FUSIBLE}
    assert ("pow", "mean", "add", "rsqrt", "mul", "to", "mul") in fusible
    assert ("linear", "silu", "mul") in fusible
    assert all(task.operations > 1 for task in fusible.values())
    gate = corpus.task(fusible["silu", "mul"].id)
    assert {(each.dtype, each.inputs[0].shape) for each in gate.subgraphs} == {
        *((dtype, (1, 8, 64)) for dtype in ("float32", "float16", "bfloat16")),
        *(("float32", (batch, 8, 64)) for batch in (8, 64, 256)),
        *(("float16", (batch, 8, 64)) for batch in (16, 128, 512)),
        *(("bfloat16", (batch, 8, 64)) for batch in (32, 256)),
    }
    spreads = {each.inputs[0].std for each in gate.subgraphs}
    assert len(spreads) == 1, "computed once: other sizes have the same statistics"
    for summary in tasks:
        task = corpus.task(summary.id)
        assert len({operator_sequence(parse(each.code)) for each in task.subgraphs}) == 1, (
            "the same operations in every subgraph"
        )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cut", "--only", "no-such-model", "--out", "x"), "There is no architecture no-such-model."),
        (("join", ".", "--out", "x.jsonl.gz"), ". has no packs."),
    ],
)
def test_wrong_use_is_explained(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.harvesting", *arguments]
    asked = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": str(PROJECT)}, check=False
    )
    assert (asked.returncode, asked.stderr.strip()) == (2, words)


@TORCH
def test_a_corpus_is_tried(tmp_path: Path) -> None:
    sample_folder(tmp_path, "good")
    broken = sample_folder(tmp_path, "broken", count=1)
    (model,) = broken.rglob("model.py")
    model.write_text(model.read_text().replace("in_0 +", "in_0.view(7, 7) +"))
    asked = tried(str(tmp_path), "--jobs", "2")
    assert asked.returncode == 1
    assert "2 of 3 subgraphs run on cpu" in asked.stdout
    assert asked.stdout.startswith("broken/float32/0/model_op0: RuntimeError: ")
    assert "has no tasks" in tried(str(tmp_path / "nothing")).stderr
    assert "kernels are counted on a GPU" in tried(str(tmp_path), "--kernels").stderr


def tried(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.trying", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=PROJECT)
