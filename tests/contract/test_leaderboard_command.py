"""The command leaderboard, on the recorded results of the example playground."""

import json
import re
from pathlib import Path

import pytest

from passnet_core.settings import Settings
from tests.contract.test_report_command import DOCUMENT, said, settings

__all__ = ["settings"]


def test_the_boards_are_listed_and_one_is_shown_and_written(settings: Settings, tmp_path: Path) -> None:
    listed = said(settings, "leaderboard", "--list", code=0).splitlines()
    board = listed[1].split()[0]
    page, table = tmp_path / "board.html", tmp_path / "board.csv"
    told = said(settings, "leaderboard", "--board", board, "--html", str(page), "--csv", str(table), code=0)
    assert "aggregate score" in told
    assert "Published by others, not judged here" in told
    assert page.read_text().startswith("<!doctype html>")
    assert table.read_text().startswith("place,solver,")
    found = json.loads(said(settings, "leaderboard", "--board", board, "--json", code=0))
    assert found["board"]["id"] == board
    assert min(each["place"] for each in found["board"]["rows"]) == 1
    section = DOCUMENT.split("\n### leaderboard\n", 1)[1].split("\n### ", 1)[0]
    documented = set(re.findall(r"`(\w+)`", section))
    assert set(found["board"]["rows"][0]) <= documented


@pytest.mark.parametrize("flags", [("--device", "A100"), ("--board", "nothing"), ("--task", "gone")])
def test_a_board_that_is_not_there_is_said(settings: Settings, flags: tuple[str, str]) -> None:
    assert "passnet leaderboard --list" in said(settings, "leaderboard", *flags, code=2)


def test_a_file_that_cannot_be_written_is_named(settings: Settings, tmp_path: Path) -> None:
    place = str(tmp_path / "no" / "folder.csv")
    assert "cannot be written" in said(settings, "leaderboard", "--csv", place, code=2)
