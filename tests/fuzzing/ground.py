"""What the cases of the fuzzer are made from: a small playground, and one input of each kind that a command reads."""

import contextlib
import io
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from passnet_core.bundles.reading import read_bundle, write_bundle
from passnet_core.cli.main import main
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.layout import write_task
from passnet_core.settings import BUNDLED_DATA, Settings
from passnet_core.solvers.llm import client
from tests.contract.model_server import Said, saying, serving
from tests.example_playground import PASS, TASK_ID, answer, write_data
from tests.fake_backend import FakeBackend

if TYPE_CHECKING:
    from tests.fuzzing.wire import Door

REAL_TASKS = ("layernorm-residual", "gpt-neox-partial-rotary")
"""Tasks of the bundled corpus whose files are altered too."""


@dataclass(frozen=True)
class Ran:
    """What a command did: its exit code, and what it printed."""

    code: int
    out: str
    err: str


class Ground:
    """A playground below a folder, made once; cases alter copies of what is in it.

    tasks, bundle, outcomes, run, attempts, listed: inputs of commands. run_id: of a run in the store. nowhere: the
    folder in which commands run, for names that are relative. judge_url: of the judge's service, while it is served.
    doors: of the servers to which bytes are sent, by their names, while they are open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data, self.home = write_data(folder / "data"), folder / "home"
        corpus = Corpus([BUNDLED_DATA / "tasks"])
        for name in REAL_TASKS:
            write_task(corpus.task(name), folder / "tasks" / name)
        self.tasks = (self.data / "tasks" / TASK_ID, *(folder / "tasks" / name for name in REAL_TASKS))
        self.bundle = folder / "bundle"
        write_bundle(read_bundle(next((self.data / "bundles").iterdir())), self.bundle)
        self.outcomes, self.run = folder / "outcomes.jsonl", folder / "run.jsonl"
        self.listed = folder / "list.txt"
        self.listed.write_text(f"# the tasks to import\n{TASK_ID}\n", encoding="utf-8")
        self.attempts = folder / "attempts"
        self.judge_url = ""
        self.doors: dict[str, Door] = {}
        self.nowhere = folder / "some" / "where"
        self.nowhere.mkdir(parents=True)
        self.made("evaluate", TASK_ID, "--bundle", str(self.bundle), "--outcomes", str(self.outcomes))
        self.made("evaluate", TASK_ID, "--bundle", str(self.bundle), "--label", "first")
        self.run_id = self.made("runs", "list").out.splitlines()[1].split()[0]
        self.made("runs", "export", self.run_id, str(self.run))
        self.made("corpus", "import", str(folder / "tasks"))
        # servers here do not recover within seconds
        client.FIRST_PAUSE_S = client.RESTART_PAUSE_S = 0.001
        calls = [("write_file", f'{{"name": "Pass.py", "code": {json.dumps(PASS)}}}'), ("evaluate", "{}")]
        with serving({"m": saying(Said(calls=calls), Said(calls=[("finish", "{}")]))}) as server:
            self.made(
                "solve", TASK_ID, "--out", str(self.attempts), "--model", "m", "--base-url", server.base_url,
                accepted=(0, 1),
            )  # fmt: skip

    def made(self, *argv: str, accepted: Sequence[int] = (0,)) -> Ran:
        ran = self.command(argv)
        assert ran.code in accepted, (argv, ran)
        return ran

    def command(self, argv: Sequence[str], *, home: Path | None = None, data: Path | None = None) -> Ran:
        """Run a command in this process, with a judge that answers at once. What it raises is raised."""
        out, err = io.StringIO(), io.StringIO()
        settings = Settings(home=home or self.home, data=data or self.data, python=Path(sys.executable))
        # argparse prints to the standard streams
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = self._code(argv, out, err, settings)
        return Ran(code, out.getvalue(), err.getvalue())

    def _code(self, argv: Sequence[str], out: io.StringIO, err: io.StringIO, settings: Settings) -> int:
        try:
            return main(argv, out=out, err=err, backend=FakeBackend(answer), settings=settings)
        except SystemExit as refused:
            return refused.code if isinstance(refused.code, int) else 1

    def place(self, name: str) -> Path:
        """A folder for one case, which is empty."""
        place = self.folder / "cases" / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        return place
