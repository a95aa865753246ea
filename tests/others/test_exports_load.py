"""Exports are read unedited by the libraries for which they are made: nothing is dropped, and the loss falls only on
what a model said and the judge accepted."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passnet_core.cli.main import main
from passnet_core.records.trajectories import Trajectory, trajectory_lines
from passnet_core.settings import BUNDLED_DATA, read_settings
from tests.others.environments import python_of
from tests.unit.training.made_conversations import (
    RIGHT,
    conversation,
    in_plain_text,
    never_right,
    repaired,
    right_at_once,
    turns_of,
    wrote,
)
from tests.waiting import seconds

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).with_name("loading")


def conversations() -> list[Trajectory]:
    """Some of each kind; their code has quotes and line breaks, which show whether it is escaped twice."""
    thinking = replace(wrote(RIGHT, "Two."), reasoning="I add two.")
    thought = turns_of([(thinking, ("Wrote a.py: a pass.", "right, not timed"), RIGHT, 2)])
    return [
        *(repaired(f"repaired-{number}") for number in range(4)),
        *(right_at_once(f"right-{number}", f'{RIGHT}# "{number}"\n') for number in range(3)),
        *(in_plain_text(f"plain-{number}") for number in range(2)),
        conversation("thought", thought),
        never_right(),
    ]


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all exports of the same conversations."""
    folder = tmp_path_factory.mktemp("exports")
    for each in conversations():
        place = folder / "attempts" / each.opening.task_id / "1"
        place.mkdir(parents=True)
        (place / "trajectory.jsonl").write_text("".join(trajectory_lines(each)), encoding="utf-8")
    home = {"PASSNET_HOME": str(folder / "home")}

    def export(name: str, *flags: str) -> None:
        settings = replace(read_settings(home), data=BUNDLED_DATA)
        argv = ["trajectories", "export", str(folder / "attempts"), "--out", str(folder / name), *flags]
        assert main(argv, settings=settings) == 0

    export("openai.jsonl", "--no-masks")
    export("trl.jsonl", "--format", "trl")
    export("trl.whole.jsonl", "--format", "trl", "--rows", "conversations")
    export("axolotl.jsonl", "--format", "axolotl")
    export("llamafactory.jsonl", "--format", "llamafactory")
    export("llamafactory-one.jsonl", "--format", "llamafactory", "--one-call-per-turn")
    export("verl.parquet", "--format", "verl")
    export("preferences.jsonl", "--format", "preferences", "--failed")
    export("prompts.jsonl", "--format", "prompts", "--failed")
    export("prompts.parquet", "--format", "prompts", "--failed")
    return folder


@pytest.fixture(scope="module")
def loaded(exports: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """Run the program of a library on the exports, and return what it saw."""

    def run(name: str) -> dict[str, Any]:
        out = tmp_path_factory.mktemp(name)
        offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(out / "hub"), "AXOLOTL_DO_NOT_TRACK": "1"}
        quiet = {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "2", "CUDA_VISIBLE_DEVICES": ""}
        done = subprocess.run(
            [str(python_of(name)), str(PROGRAMS / f"with_{name}.py"), str(exports), str(out)],
            capture_output=True, text=True, timeout=seconds(300), check=False, env=os.environ | offline | quiet,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return told

    return run


def rows(exports: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (exports / name).read_text().splitlines()]


ANSWERS = {
    "repair": """The constant was wrong.
<tool_call>
{"name": "patch_file", "arguments": {"name": "a.py", "old": "+ 1", "new": "+ 2"}}
</tool_call>
<tool_call>
{"name": "evaluate", "arguments": {}}
</tool_call>""",
    "quoted": """Let me see.
<tool_call>
{"name": "write_file", "arguments": {"name": "a.py", "code": "def pattern(x):\\n    return x + 2\\n# \\"0\\"\\n"}}
</tool_call>
<tool_call>
{"name": "evaluate", "arguments": {}}
</tool_call>""",
    "end": """That is all.
<tool_call>
{"name": "finish", "arguments": {}}
</tool_call>""",
    "text": """### write_file a.py
```python
def pattern(x):
    return x + 2
```

### evaluate""",
}
"""What the model said in these conversations, as a chat template renders it."""


def said(spans: list[str]) -> list[str]:
    """The stretches on which the loss falls, without the token that ends each."""
    assert all(span.rstrip().endswith("<|im_end|>") for span in spans), "the end of an answer is learnt too"
    return [span.rstrip().removesuffix("<|im_end|>").rstrip() for span in spans]


def assert_only_good_answers_are_learnt(seen: dict[str, Any]) -> None:
    learnt = [said(spans) for spans in seen["spans"]]
    everything = [answer for each in learnt for answer in each]
    assert everything.count(ANSWERS["quoted"]) == 1
    assert everything.count(ANSWERS["end"]) >= 3
    assert everything.count(ANSWERS["text"]) == 2
    for answer in everything:
        assert "x + 1" not in answer, "an answer that the judge rejected is not learnt"
        assert "wrong values" not in answer, "nor is what the tools said"
        assert "The task." not in answer
    assert "null" not in "".join(seen["texts"]), "no argument or parameter that was not there has been added"


def test_trl_learns_the_answers_of_each_row_and_of_whole_conversations(
    exports: Path, loaded: Callable[[str], dict[str, Any]]
) -> None:
    seen = loaded("trl")
    turns = seen["trl.jsonl"]
    assert turns["examples"] == len(rows(exports, "trl.jsonl"))
    assert [len(spans) for spans in turns["spans"]] == [1] * turns["examples"]
    assert_only_good_answers_are_learnt(turns)
    assert sum(said(spans) == [ANSWERS["repair"]] for spans in turns["spans"]) == 4
    whole = seen["trl.whole.jsonl"]
    assert whole["examples"] == len(rows(exports, "trl.whole.jsonl"))
    assert_only_good_answers_are_learnt(whole)
    # tools are announced where they were offered, and nowhere else
    for text in turns["texts"]:
        assert ("<tool>" in text) == ("### write_file" not in text)
    assert turns["loss"] > 0
    assert whole["loss"] > 0

    pairs = seen["preferences"]
    assert pairs["examples"] == len(rows(exports, "preferences.jsonl")) == 4
    for chosen, rejected, prompt in zip(pairs["chosen"], pairs["rejected"], pairs["prompts"], strict=True):
        assert "return x + 2" in chosen
        assert chosen.replace("x + 2", "x + 1") == rejected
        assert prompt.endswith("<|im_start|>assistant\n")
        assert "<tool>" in prompt
    assert pairs["loss"] > 0

    prompts = seen["prompts"]
    assert prompts["examples"] == len(rows(exports, "prompts.jsonl")) == len(conversations())
    assert {stage for _, stage in prompts["heard"]} == {"verify"}
    assert {task for task, _ in prompts["heard"]} <= {each.opening.task_id for each in conversations()}


def test_axolotl_masks_mistakes_inside_a_conversation(exports: Path, loaded: Callable[[str], dict[str, Any]]) -> None:
    seen = loaded("axolotl")
    assert seen["examples"] == len(rows(exports, "axolotl.jsonl")) == len(conversations()) - 1
    assert_only_good_answers_are_learnt(seen)
    repairs = [spans for spans in seen["spans"] if said(spans)[0] == ANSWERS["repair"]]
    assert [said(spans) for spans in repairs] == [[ANSWERS["repair"], ANSWERS["end"]]] * 4


def test_llamafactory_skips_no_example(exports: Path, loaded: Callable[[str], dict[str, Any]]) -> None:
    seen = loaded("llamafactory")
    whole = seen["llamafactory"]
    assert whole["examples"] == len(rows(exports, "llamafactory.jsonl"))
    assert [len(spans) for spans in whole["spans"]] == [1] * whole["examples"]
    assert_only_good_answers_are_learnt(whole)
    assert sum(said(spans) == [ANSWERS["repair"]] for spans in whole["spans"]) == 4
    single = seen["llamafactory-one"]
    assert single["examples"] == len(rows(exports, "llamafactory-one.jsonl")) > whole["examples"]
    assert all(span.count("<tool_call>") <= 1 for spans in single["spans"] for span in spans)


def test_verl_reads_conversations_and_prompts(exports: Path, loaded: Callable[[str], dict[str, Any]]) -> None:
    seen = loaded("verl")
    clean = [each for each in conversations() if each.turns[0].score is not None and each.turns[0].score.accepted == 2]
    assert seen["examples"] == len(clean)
    assert_only_good_answers_are_learnt(seen)
    for read in seen["prompts"].values():
        assert sorted(row["truth"] for row in read) == sorted(each.opening.task_id for each in conversations())
        assert {(*row["roles"], row["source"], row["stage"]) for row in read} == {
            ("system", "user", "passnet", "verify")
        }
        assert [row["index"] for row in read] == list(range(len(read)))
