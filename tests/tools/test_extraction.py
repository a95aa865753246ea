"""The extractor on a tiny model: torch.compile captures it; it is cut, written, read back and run."""

import importlib.util
import json
from pathlib import Path

import pytest

from passnet_core.corpus.layout import read_task
from tests.contract.programs import ran

PROJECT = Path(__file__).resolve().parents[2]

TINY = """
import json, sys
from pathlib import Path
from tools.architectures import Architecture
from tools.extraction import extract
from passnet_core.corpus.layout import write_task
from tools.recipes import Recipe

settings = dict(num_hidden_layers=1, hidden_size=32, intermediate_size=64, num_attention_heads=2, vocab_size=64,
                num_key_value_heads=1)
sizes = (("text", 1, 8), ("text", 2, 12))
tiny = Architecture("llama-tiny", "LlamaConfig", "LlamaModel", tuple(settings.items()), sizes)
recipes = [
    Recipe("gate", "develop", ("llama-tiny",), ("silu mul",)),
    Recipe("norm", "evaluate", ("llama-tiny",), ("add to pow mean add rsqrt mul to mul",), 2),
    Recipe("never", "evaluate", ("llama-tiny",), ("cos sin tan",)),
]
said = []
tasks = extract([tiny], recipes, said.append)
for task in tasks:
    write_task(task, Path(sys.argv[1]) / task.id)
print(json.dumps(said))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("torch", "transformers"))), reason="no transformers library to extract from"
)
def test_a_tiny_model_becomes_tasks(tmp_path: Path) -> None:
    made = ran(TINY, str(tmp_path))
    assert json.loads(made.splitlines()[-1]) == ["llama-tiny: 12 runs"]
    assert {path.name for path in tmp_path.iterdir()} == {"gate", "norm"}

    gate = read_task(tmp_path / "gate")
    assert {(each.dtype, each.inputs[0].shape) for each in gate.subgraphs} == {
        (dtype, shape) for dtype in ("float32", "float16", "bfloat16") for shape in ((1, 8, 64), (2, 12, 64))
    }
    assert "tmp_0 = torch.nn.functional.silu(in_0)" in gate.subgraphs[0].code
    assert all(spec.std and spec.std > 0 for each in gate.subgraphs for spec in each.inputs)

    norm = read_task(tmp_path / "norm")
    half = next(each for each in norm.subgraphs if each.dtype == "float16")
    assert ".to(torch.float16)" in half.code
    assert "return (tmp_0, tmp_8)" in half.code
    weight = half.inputs[-1]
    assert (weight.mean, weight.std) == (1.0, 0.0)
    assert "layernorm" in weight.original_name


RUN_ALL = """
import sys
from pathlib import Path
import torch
from passnet_core.corpus.catalogue import Corpus
from tools.trying import elements, problem_of

torch.set_num_threads(1)
corpus = Corpus([Path(sys.argv[1])])
for each in corpus.tasks():
    subgraph = min(corpus.task(each.id).subgraphs, key=elements)
    print(problem_of(subgraph, "cpu") or "runs", each.id)
"""


@pytest.mark.settled
@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="no torch")
def test_every_bundled_task_runs() -> None:
    """Run the smallest subgraph of each task."""
    lines = ran(RUN_ALL, str(PROJECT / "data" / "tasks")).splitlines()
    assert len(lines) >= 350
    assert [line for line in lines if not line.startswith("runs ")] == []
