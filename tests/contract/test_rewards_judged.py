"""The judge's service with the real judge: equal to the command line, deaf to cheats, and whole after a kill."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passnet_client import JudgeClient, JudgeError
from passnet_core.bundles.reading import write_bundle
from passnet_core.cli.main import main
from passnet_core.corpus.layout import write_task
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Bundle, Family, PassFile, Task, Verdict
from passnet_core.server.judge_service import ServiceLimits
from passnet_core.settings import Settings
from tests.adversarial.corpus import FOLDER, Entry, read
from tests.contract.judge_served import KeptOpen, served
from tests.contract.judging import RIGHT, WRONG
from tests.contract.scripted import task
from tests.waiting import eventually, seconds

pytestmark = pytest.mark.long

PROJECT = Path(__file__).resolve().parents[2]

NINE = {
    "output remembered by pointer": "values/remembered_by_address.py",
    "guard bypassed": "harness/guard_switched_off.py",
    "library call behind a helper": "rules/helper_module",
    "constant output": "values/zeros.py",
    "input echoed": "values/input_returned.py",
    "only one shape": "values/shape_written_out.py",
    "timer patched": "clock/timer_patched.py",
    "stream not joined": "clock/side_stream_by_name.py",
    "result of a decoy kernel thrown away": "rules/decoy_overwritten.py",
}
"""The cheats that public trackers report, and the file of the adversarial corpus that tries each."""

COMPLETIONS = {
    "right": f"```python\n{RIGHT}```",
    "right, by calls in text": f"### write_file fused.py\n```python\n{RIGHT}```\n### evaluate",
    "wrong": f"```python\n{WRONG}```",
    "no match": "```python\n" + RIGHT.replace("relu(a + b)", "relu(a * b)") + "```",
    "a syntax error": "```python\n" + RIGHT.replace("def replacement_func():", "def replacement_func(:") + "```",
    "a rule broken": "```python\n" + RIGHT.replace("out = torch.empty_like(a)", "out = torch.relu(a + b)") + "```",
    "another shape": "```python\n" + RIGHT.replace("return out", "return out[:, :-1]") + "```",
    "another name": "```python\n" + RIGHT.replace("add_relu_kernel", "sum_then_relu_kernel") + "```",
    "no pass": "I have thought about it, and there is nothing to fuse.",
    "cut off": f"```python\n{RIGHT[: len(RIGHT) // 2]}\n```",
}
"""Answers of mixed quality."""
CLIENTS, ANSWERS = 16, 200


@pytest.fixture
def playground(tmp_path: Path, backend: LocalBackend) -> Iterator[JudgeClient]:
    with served(tmp_path, backend, [task()], limits=ServiceLimits(most=ANSWERS), patience_s=seconds(200)) as client:
        yield client


def by_command_line(folder: Path, backend: LocalBackend, bundle: Bundle) -> tuple[str, bool]:
    """The verdict of `evaluate`, and whether it accepts. Its reason may count other input draws."""
    write_task(task(), folder / "data" / "tasks" / "add-relu")
    write_bundle(bundle, folder / "bundle")
    out, err = io.StringIO(), io.StringIO()
    settings = Settings(home=folder / "home", data=folder / "data", python=Path(sys.executable))
    asked = ["evaluate", "add-relu", "--bundle", str(folder / "bundle"), "--json"]
    asked += ["--outcomes", str(folder / "outcomes.jsonl")]
    main(asked, out=out, err=err, backend=KeptOpen(backend), settings=settings)
    (found,) = json.loads(out.getvalue())["outcomes"]
    return found["verdict"], found["accepted"]


def test_two_hundred_answers_of_sixteen_clients_are_what_the_command_line_says(
    playground: JudgeClient, backend: LocalBackend, tmp_path: Path
) -> None:
    names = [list(COMPLETIONS)[number % len(COMPLETIONS)] for number in range(ANSWERS)]

    def ask(number: int) -> dict[str, Any]:
        return playground.evaluate("add-relu", text=COMPLETIONS[names[number]], key=f"answer-{number}")

    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(ask, range(ANSWERS)))
    assert [each["key"] for each in answers] == [f"answer-{number}" for number in range(ANSWERS)]
    seen: dict[str, set[tuple[str, bool]]] = {}
    for name, answer in zip(names, answers):
        said = answer["parts"][0]["verdict"] if answer["parts"] else answer["problem"]
        seen.setdefault(name, set()).add((said, answer["accepted"] == answer["total"]))
    for number, (name, found_by_name) in enumerate(seen.items()):
        if name == "no pass":
            assert found_by_name == {("The answer has no pass: no code in it defines pattern().", False)}
            continue
        code = COMPLETIONS[name].partition("```python\n")[2].partition("```")[0]
        file = "fused.py" if "write_file" in COMPLETIONS[name] else "pass_1.py"
        bundle = Bundle((PassFile(file, code),))
        assert found_by_name == {by_command_line(tmp_path / f"cli-{number}", backend, bundle)}, name
    accepted = {name for name, found in seen.items() if next(iter(found))[1]}
    assert accepted == {"right", "right, by calls in text", "another name"}


@pytest.mark.parametrize("entry", [read(FOLDER / "cheats" / file) for file in NINE.values()], ids=list(NINE))
def test_a_cheat_gets_no_reward(backend: LocalBackend, tmp_path: Path, entry: Entry) -> None:
    subgraph = replace(entry.subgraph, task_id="cheated")
    files = {
        part: [{"name": each.name, "code": each.code} for each in found]
        for part, found in (("passes", entry.bundle.passes), ("helpers", entry.bundle.helpers))
    }
    with served(tmp_path, backend, [Task("cheated", Family.FUSIBLE, "train", (subgraph,))]) as judge:
        answer = judge.evaluate("cheated", bundle=files, deadline_s=600)
    assert not answer["reward"]
    assert answer["accepted"] == 0
    assert Verdict(answer["parts"][0]["verdict"]).judged, answer["parts"][0]["reason"]


def test_a_killed_service_loses_no_answer_and_gives_none_twice(tmp_path: Path) -> None:
    write_task(task(), tmp_path / "data" / "tasks" / "add-relu")
    with _Service(tmp_path) as service, ThreadPoolExecutor(1) as threads:
        judge = JudgeClient(service.url, patience_s=0)
        before = judge.evaluate("add-relu", text=COMPLETIONS["wrong"], key="before", deadline_s=600)
        right: dict[str, Any] = {"task": "add-relu", "text": COMPLETIONS["right"], "key": "during", "deadline_s": 600}
        waiting = threads.submit(judge.evaluate, **right)
        eventually(lambda: judge.health()["evaluations"])
        service.process.send_signal(signal.SIGKILL)
        with pytest.raises(JudgeError) as refusal:
            waiting.result(seconds(60))
        assert (refusal.value.kind, refusal.value.status) == ("Unreachable", 0)
    with _Service(tmp_path) as service:
        judge = JudgeClient(service.url, patience_s=0)
        assert judge.evaluate("add-relu", text=COMPLETIONS["wrong"], key="before", deadline_s=600) == before
        first, again = (judge.evaluate(**right) for _ in range(2))
        assert (first["accepted"], first["known"], again) == (1, 0, first)


def test_a_service_that_is_stopped_refuses_what_is_under_way_and_ends(tmp_path: Path) -> None:
    write_task(task(), tmp_path / "data" / "tasks" / "add-relu")
    with _Service(tmp_path) as service, ThreadPoolExecutor(1) as threads:
        judge = JudgeClient(service.url, patience_s=0)
        waiting = threads.submit(judge.evaluate, "add-relu", text=COMPLETIONS["right"])
        eventually(lambda: judge.health()["jobs"])
        service.process.terminate()
        with pytest.raises(JudgeError, match="The service is stopping") as refusal:
            waiting.result(seconds(60))
        assert (refusal.value.status, service.process.wait(seconds(60))) == (503, 0)


class _Service:
    """The command serve-judge in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> "_Service":
        folders = {"PASSNET_HOME": str(self.folder / "home"), "PASSNET_DATA": str(self.folder / "data")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "passnet_core", "serve-judge", "--port", "0"],
            cwd=PROJECT, env={**os.environ, **folders}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert " at http://127.0.0.1:" in said, said
        self.url = said.partition(" at ")[2].partition(",")[0]
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(seconds(60))
        assert self.process.stdout is not None
        self.process.stdout.close()
