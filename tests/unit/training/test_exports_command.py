"""trajectories export: its flags, what it says, and the files that it writes."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from passnet_core.cli.main import main
from passnet_core.corpus.layout import write_task
from passnet_core.records import Family, Subgraph, Task, TensorSpec
from passnet_core.records.trajectories import Trajectory, trajectory_lines
from passnet_core.settings import BUNDLED_DATA, Settings
from passnet_core.training.tokens import TokenCounter
from tests.unit.training.made_conversations import never_right, repaired, right_at_once

SOURCE = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, x):
        y = {}
        return (y,)
"""


class Exports:
    """A playground with a few tasks, and a folder of attempts at them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = Settings(folder / "home", folder / "data", Path(sys.executable))
        bodies = {"held": "x - 1", "like held": "x - 2", "one": "x + 1", "two": "x + 1"}
        bodies |= {"three": "x * 2", "four": "x / 2"}
        for name, body in bodies.items():
            inputs = (TensorSpec("x", (4, 4), "float32"),)
            members = (Subgraph("float32/0", name, "model", SOURCE.format(body), inputs),)
            split = "eval" if name == "held" else "train"
            write_task(Task(name, Family.FUSIBLE, split, members), folder / "data" / "tasks" / name)

    def attempted(self, *found: Trajectory) -> None:
        for number, each in enumerate(found, 1):
            place = self.folder / "out" / each.opening.task_id / str(number)
            place.mkdir(parents=True)
            (place / "trajectory.jsonl").write_text("".join(trajectory_lines(each)))

    def export(self, *flags: str, name: str = "a.jsonl") -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        argv = ["trajectories", "export", str(self.folder / "out"), "--out", str(self.folder / name), *flags]
        return main(argv, out=out, err=err, settings=self.settings), out.getvalue(), err.getvalue()

    def rows(self, name: str = "a.jsonl") -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]


@pytest.fixture
def exports(tmp_path: Path) -> Exports:
    made = Exports(tmp_path)
    tasks = ("one", "two", "three", "four", "like held")
    made.attempted(*(right_at_once(name, operators=(name,)) for name in tasks), never_right("three"))
    return made


def test_without_flags_accepted_conversations_are_written_for_openai(exports: Exports) -> None:
    code, out, _ = exports.export()
    assert (code, "Wrote 4 conversations on train tasks" in out) == (0, True)
    assert sorted(row["task"] for row in exports.rows()) == ["four", "one", "three", "two"]


def test_what_is_left_out_is_counted_in_words_and_as_json(exports: Exports) -> None:
    exports.attempted(repaired("four", id="repaired"))
    flags = ("--format", "trl", "--rows", "conversations", "--failed")
    code, out, _ = exports.export(*flags)
    assert code == 0
    assert "Left out 1: no answer in it is worth learning." in out
    assert json.loads(exports.export(*flags, "--json")[1]) == {
        "file": str(exports.folder / "a.jsonl"),
        "examples": 4,
        "files": [
            {
                "file": str(exports.folder / "a.jsonl"),
                "examples": 4,
                "conversations": 6,
                "learnt": 8,
                "masked": 0,
                "left_out": {
                    "no answer in it is worth learning": 1,
                    "it has answers not worth learning, which this format cannot mask in a conversation": 1,
                },
            }
        ],
    }


def test_what_is_for_validation_computes_nothing_that_is_for_training(exports: Exports) -> None:
    assert exports.export("--validation", "0.5", "--card", "--license", "cc-by-4.0")[0] == 0
    first = {row["task"] for row in exports.rows()}
    second = {row["task"] for row in exports.rows("a.validation.jsonl")}
    assert first | second == {"one", "two", "three", "four"}
    assert not first & second
    assert len(second) == 2
    assert {"one", "two"} <= first or {"one", "two"} <= second, "these two compute the same"
    text = (exports.folder / "README.md").read_text()
    assert "license: cc-by-4.0" in text
    assert "path: a.validation.jsonl" in text
    assert "About 50% for validation" in text


def test_rows_that_are_too_long_for_a_tokenizer_are_left_out(exports: Exports) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(exports.folder / "tokenizer.json"))
    shown = ("--format", "axolotl", "--tokenizer", str(exports.folder))
    assert exports.export(*shown, "--most-tokens", "5000")[0] == 0
    assert len(exports.rows()) == 4
    conversations = [row["tokens"] for row in exports.rows()]
    by_turns = ("--format", "axolotl", "--rows", "turns", "--tokenizer", str(exports.folder))
    assert exports.export(*by_turns, "--most-tokens", "5000")[0] == 0
    own = [row["tokens"] for row in exports.rows()]
    assert own == [TokenCounter(exports.folder).count(row) for row in exports.rows()]
    assert min(own) < min(conversations)
    code, out, _ = exports.export(*shown, "--most-tokens", "50")
    assert (code, exports.rows()) == (1, [])
    assert "Left out 4: it has more tokens than --most-tokens allows." in out
    code, _, err = exports.export("--tokenizer", str(exports.folder / "none.json"), "--most-tokens", "50")
    assert (code, "is not a readable tokenizer" in err) == (2, True)


def test_every_task_of_the_split_gets_a_prompt_but_none_that_is_held_back(exports: Exports) -> None:
    assert exports.export("--format", "prompts")[0] == 0
    assert sorted(row["task"] for row in exports.rows()) == ["four", "one", "three", "two"]
    (exports.folder / "out" / "one" / "1" / "trajectory.jsonl").unlink()
    assert exports.export("--format", "prompts", "--every-task", "cuda")[0] == 0
    told = {row["task"]: row for row in exports.rows()}
    assert sorted(told) == ["four", "one", "three", "two"]
    assert (told["one"]["stage"], told["one"]["device"]) == ("measure", "cuda")
    assert "x + 1" in told["one"]["prompt"][1]["content"]


def test_the_bundled_conversations_can_be_exported(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", BUNDLED_DATA, Path(sys.executable))
    out, file = io.StringIO(), tmp_path / "a.jsonl"
    argv = ["trajectories", "export", "--bundled", "--split", "learn", "--format", "axolotl", "--out", str(file)]
    assert main(argv, out=out, err=io.StringIO(), settings=settings) == 0
    (row,) = [json.loads(line) for line in file.read_text().splitlines()]
    assert row["task"] == "clip-quick-gelu"
    assert [message["train"] for message in row["messages"] if "train" in message] == [False, False, True, True]


def test_parquet_without_pyarrow_is_explained(exports: Exports, monkeypatch: pytest.MonkeyPatch) -> None:
    assert exports.export("--format", "verl", name="a.parquet")[0] == 0
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = exports.export("--format", "verl", name="a.parquet")
    assert (code, "need the package pyarrow" in err) == (2, True)


def test_an_export_without_any_conversation_says_why(exports: Exports, tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", BUNDLED_DATA, Path(sys.executable))
    err = io.StringIO()
    argv = ["trajectories", "export", "--bundled", "--out", str(tmp_path / "a.jsonl")]
    assert main(argv, out=io.StringIO(), err=err, settings=settings) == 1
    assert "None was chosen of these conversations: " in err.getvalue()
    assert " on learn tasks" in err.getvalue()
    assert "What is chosen: Tasks of the split `train`." in err.getvalue()
    _, _, told = exports.export("--faster-than", "1000")
    assert " on train tasks. What is chosen: " in told
    assert "Only bundles faster than 1000 times eager's speed." in told


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--at-least", "0"), "--at-least must be above 0"),
        (("--validation", "1"), "--validation must be between 0 and 1"),
        (("--most-tokens", "5"), "--tokenizer and --most-tokens belong together"),
        (("--license", "mit"), "--license goes into the card"),
        (("--every-task", "cpu"), "--every-task is for --format prompts only"),
        (("--format", "preferences", "--no-masks"), "are for whole conversations"),
        (("--format", "prompts", "--every-task", "cpu", "--validation", "0.1"), "does not go with --every-task"),
        (("--format", "verl"), "verl reads .parquet files"),
    ],
)
def test_wrong_flags_of_export_are_explained(exports: Exports, flags: tuple[str, ...], words: str) -> None:
    code, _, err = exports.export(*flags)
    assert code == 2
    assert words in err
