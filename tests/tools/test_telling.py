"""The command that says how well inputs tell subgraphs from their mutants, on one small task."""

import pytest

from tools import telling


def test_it_counts_what_can_differ_and_names_what_is_not_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert telling.main(["--only", "embedding-cd0f6b"]) == 0
    said = capsys.readouterr().out
    assert "embedding-cd0f6b/bfloat16/0/longformer-base_op8: 5 of 5 told apart (3 by the six)" in said
    assert "further draws: ranges" in said
    assert said.splitlines()[-1].startswith("5 of 5 mutants that can differ are told apart")


def test_an_unknown_task_is_named_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert telling.main(["--only", "nothing"]) == 1
    assert "No task fits." in capsys.readouterr().out
