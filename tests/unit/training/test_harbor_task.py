"""Tasks for Harbor: the files that `corpus export --harbor` writes, and what it refuses.

tests/contract/test_harbor.py has them judged."""

import io
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from passnet_core.bundles.reading import read_bundle
from passnet_core.cli.main import main
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.layout import read_task, write_task
from passnet_core.records import EvalSpec
from passnet_core.settings import BUNDLED_DATA, Settings
from passnet_core.training.harbor import TO_START_S
from tests.contract.made import task

HARBOR_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*/[a-zA-Z0-9][a-zA-Z0-9._-]*")
"""How Harbor wants a task named."""
ODD = """it's "odd" $(touch x) %name é"""


def export(name: str, folder: Path, data: Path = BUNDLED_DATA) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    settings = Settings(folder / "home", data, Path(sys.executable))
    argv = ["corpus", "export", name, str(folder / "out"), "--harbor"]
    return main(argv, out=out, err=err, settings=settings), out.getvalue() + err.getvalue()


def test_a_bundled_task_is_written_with_its_reference_outside_the_environment(tmp_path: Path) -> None:
    assert export("clip-quick-gelu", tmp_path)[0] == 0
    folder = tmp_path / "out" / "clip-quick-gelu"
    about = tomllib.loads((folder / "task.toml").read_text())
    subgraphs = len(read_task(BUNDLED_DATA / "tasks" / "clip-quick-gelu").subgraphs)
    assert about["schema_version"] == "1.4"
    assert about["task"]["name"] == "passnet/clip-quick-gelu"
    assert about["metadata"]["subgraphs"] == subgraphs
    assert about["artifacts"] == ["/app/pass_dir"]
    assert about["verifier"]["environment_mode"] == "separate"
    assert about["verifier"]["timeout_sec"] == TO_START_S + subgraphs * EvalSpec().deadline_s
    reference = read_bundle(BUNDLED_DATA / "bundles" / "pointwise-quick-gelu")
    assert read_bundle(folder / "solution" / "pass_dir").digest == reference.digest
    assert [path.name for path in (folder / "environment").rglob("*.py") if "graphs" not in path.parts] == []


def test_an_agent_is_told_the_contract_the_subgraphs_and_what_to_call(tmp_path: Path) -> None:
    export("clip-quick-gelu", tmp_path)
    said = (tmp_path / "out" / "clip-quick-gelu" / "instruction.md").read_text()
    assert "A **pass** is one Python file" in said
    assert "torch.sigmoid(tmp_0)" in said
    assert "float16/0/clip-text-base_op51: in_0 float16 [1, 77, 2048]" in said
    assert "    passnet evaluate --device cpu --bundle /app/pass_dir -- clip-quick-gelu\n" in said


def test_the_environment_has_the_task_that_is_judged(tmp_path: Path) -> None:
    export("clip-quick-gelu", tmp_path)
    found = Corpus([tmp_path / "out" / "clip-quick-gelu" / "environment" / "data" / "tasks"]).task("clip-quick-gelu")
    assert found == read_task(BUNDLED_DATA / "tasks" / "clip-quick-gelu")


def test_a_name_is_quoted_where_it_has_to_be(tmp_path: Path) -> None:
    write_task(task(ODD), tmp_path / "data" / "tasks" / ODD)
    assert export(ODD, tmp_path, tmp_path / "data")[0] == 0
    folder = tmp_path / "out" / ODD
    about = tomllib.loads((folder / "task.toml").read_text())
    assert about["metadata"]["task"] == ODD
    assert HARBOR_NAME.fullmatch(about["task"]["name"])
    assert shlex.split((folder / "tests" / "test.sh").read_text(), comments=True)[-1] == ODD
    assert not (folder / "solution").exists()


@pytest.mark.parametrize("name", ["gone", "clip-quick-gelu"])
def test_nothing_is_overwritten_or_left_behind(name: str, tmp_path: Path) -> None:
    kept = tmp_path / "out" / "clip-quick-gelu" / "kept"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    code, said = export(name, tmp_path)
    assert code == 2
    assert ("'gone' is not in this corpus" if name == "gone" else "exists already. Choose another folder.") in said
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == [kept]
    assert kept.read_text() == "mine"
