"""The commands below leaderboard: handing in, listing, judging again, naming and taking back."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passnet_core.bundles.reading import write_bundle
from passnet_core.cli.main import main
from passnet_core.people.register import Register
from passnet_core.records import Device, Verdict
from tests.contract.submitting import VerdictsOfTests, bundle, settings_for
from tests.contract.test_report_command import DOCUMENT
from tests.fake_backend import FakeBackend

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def judge() -> VerdictsOfTests:
    return VerdictsOfTests()


@pytest.fixture
def run(tmp_path: Path, judge: VerdictsOfTests) -> Run:
    settings = settings_for(tmp_path)

    def command(*argv: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        backend = FakeBackend(judge, Device.CUDA)
        code = main(("leaderboard", *argv), out=out, err=err, settings=settings, backend=backend)
        return code, out.getvalue(), err.getvalue()

    return command


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for name in ("relu", "wide"):
        write_bundle(bundle(f"# {name}"), tmp_path / "Fast norms" / name)
    return str(tmp_path / "Fast norms")


def told(run: Run, *argv: str) -> Any:
    return json.loads(run(*argv, "--json")[1])


def test_a_folder_is_judged_ranked_and_taken_back_by_a_later_judge(
    run: Run, folder: str, judge: VerdictsOfTests, tmp_path: Path
) -> None:
    code, out, err = run("submit", folder, "--name", "Ann", "--note", "By hand.")
    assert code == 0
    assert out.startswith("Ann: Fast norms, version 1 (")
    assert "on the board, accepted on 5 of 5 subgraphs." in out
    assert "being judged" in err
    (listed,) = told(run, "submissions")
    assert (listed["by"], listed["version"], listed["state"], listed["timed"]) == ("Ann", 1, "on the board", 5)
    assert set(listed["runs"]) == set(listed["bundles"]) == {"relu", "wide"}
    section = DOCUMENT.split("\n### leaderboard submissions\n", 1)[1].split("\n### ", 1)[0]
    cells = " ".join(re.findall(r"^\| (`.*?) \|", section, flags=re.M))
    documented = re.findall(r"`(\w+)`", cells)
    assert sorted(documented) == sorted(listed)
    assert "Ann: Fast norms, version 1" in run("--task", "wide")[1]
    judge.told["wide"], judge.digest = Verdict.CHEAT, "newer"
    code, out, _ = run("rejudge", "--all")
    assert (code, "taken back" in out, "the judge newer" in out) == (1, True, True)
    assert run("--task", "wide")[0] == 2, "no board is left"
    assert run("rejudge", listed["submission"])[0] == 2
    assert told(run, "rejudge", "--all") == []


def test_the_exit_code_says_what_became_of_it(run: Run, folder: str, judge: VerdictsOfTests) -> None:
    judge.told["relu"] = Verdict.REJECTED
    code, out, _ = run("submit", f"{folder}/relu", "--task", "relu", "--title", "Bad")
    assert (code, "not accepted" in out, "rejected by a rule" in out) == (1, True, True)
    judge.told["relu"] = Verdict.INFRASTRUCTURE
    code, out, _ = run("submit", f"{folder}/wide", "--task", "relu", "--title", "Unlucky")
    assert (code, "could not be judged" in out) == (3, True)
    judge.told.clear()
    code, out, _ = run("rejudge", "--all")
    assert (code, "Unlucky" in out, "Bad" in out) == (0, True, False)


def test_a_name_can_be_put_on_and_it_can_be_taken_back_with_a_reason(run: Run, folder: str, tmp_path: Path) -> None:
    Register(tmp_path / "home").close()
    (made,) = told(run, "submit", folder)
    assert re.fullmatch(r"anonymous [0-9A-F]{4}", made["by"])
    (named,) = told(run, "name", made["submission"], "Ann")
    assert named["by"] == "Ann"
    (taken,) = told(run, "take-back", made["submission"], "--reason", "It is a copy.")
    assert (taken["state"], taken["reason"]) == ("taken back", "It is a copy.")
    assert taken["taken_back"]["by"] == "an operator"
    assert "It is a copy." in run("submissions")[1]
    register = Register(tmp_path / "home")
    deeds = [each.deed for each in register.log(9)]
    register.close()
    assert deeds[::-1] == [
        "started a run", "started a run", "submitted to the leaderboard", "named a submission",
        "took back a submission",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("rejudge",), "Name one submission, or give --all."),
        (("rejudge", "gone"), "There is no submission 'gone' here."),
        (("take-back", "gone", "--reason", "x"), "There is no submission 'gone' here."),
        (("submit", "no-such-folder"), "neither a folder, a run file nor a link"),
        (("submit", "no-such-file.jsonl"), "cannot be read"),
        (("submit", "x?task=gone&bundle=none"), "There is no bundle 'none' here."),
    ],
)
def test_a_wrong_command_says_what_is_wrong(run: Run, argv: tuple[str, ...], said: str) -> None:
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert said in err
