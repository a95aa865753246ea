"""Conversations in which a script plays the model, with the real judge."""

import json
import re
import threading
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.packs import Pack, write_pack
from passnet_core.errors import BadInput
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.inspections import Inspections
from passnet_core.execution.jobs import jobs_of
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Bundle, EvalSpec, Outcome, Task, Verdict
from passnet_core.records.trajectories import End, Message, Role, Trajectory
from passnet_core.service import corpus_of
from passnet_core.settings import read_settings
from passnet_core.solvers.attempts import JudgeBench
from passnet_core.solvers.llm.conversation import guide
from passnet_core.solvers.llm.prompting import first_of_sources
from passnet_core.solvers.llm.tools import Workplace, calls_in, told_results
from passnet_core.solvers.trajectories import read_trajectory, trajectories
from passnet_core.training.choosing import fingerprints
from passnet_core.training.repairing.making import MADE, TASKS, Made, Making, make, tasks_for
from passnet_core.training.repairing.node_values import values_of
from tests.contract.scripted import assert_only_calls

pytestmark = pytest.mark.slow

SOURCES = ("sin-mul-to-unsqueeze-b2bc60", "silu-mul-to-be31e5", "view-softmax-view-view-dropout-a582d3")
COUNT, TASK_COUNT, SEED, AT_FIRST = 6, 2, 5, 2
GIVEN = "There is a bundle already. Repair or improve it.\n\n"


@dataclass(frozen=True)
class Workshop:
    """What conversations are made with: a corpus of a few train tasks, and the real judge."""

    corpus: Corpus
    backend: LocalBackend
    scheduler: Scheduler

    def made(self, folder: Path, count: int, *, seed: int = SEED, stop_after: int | None = None) -> Made:
        tasks = tasks_for(folder, self.corpus, self.backend, TASK_COUNT)
        values = values_of(self.backend, [each for task in tasks for each in task.subgraphs])
        cancelled = threading.Event()

        def told(made: Made) -> None:
            if made.conversations == stop_after:
                cancelled.set()

        asked = Making(count, seed)
        return make(asked, tasks, self.scheduler, values, folder, cancelled=cancelled, on_made=told)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory, backend: LocalBackend) -> Workshop:
    bundled = corpus_of(read_settings({"PASSNET_HOME": str(tmp_path_factory.mktemp("home"))}))
    folder = tmp_path_factory.mktemp("corpus")
    write_pack(folder / "few.jsonl.gz", [bundled.task(name) for name in SOURCES])
    return Workshop(Corpus([folder]), backend, Scheduler(backend))


@pytest.fixture(scope="module")
def folder(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all conversations, made in two calls, of which the first was interrupted."""
    out = tmp_path_factory.mktemp("made")
    workshop.made(out, COUNT, stop_after=AT_FIRST)
    before = {path: path.stat().st_mtime_ns for path in out.glob("*/*/trajectory.jsonl")}
    assert len(before) == AT_FIRST
    workshop.made(out, COUNT)
    # what was there is not made again
    assert {path: path.stat().st_mtime_ns for path in before} == before
    return out


def conversations(folder: Path) -> list[Trajectory]:
    return [each for _, each in trajectories(folder)]


def test_every_conversation_is_accepted_dated_and_says_who_played_the_model(folder: Path) -> None:
    found = conversations(folder)
    assert len(found) == COUNT
    assert len({each.opening.task_id for each in found}) == TASK_COUNT
    for each in found:
        assert each.ending is not None
        assert each.ending.solved
        assert each.ending.end is End.FINISHED
        assert each.opening.model == "scripted-repair"
        assert each.opening.split == "train"
        assert re.search(r"a script plays the model.*torch \d.*passnet_core.*\d{4}-\d\d-\d\d", each.opening.recorded)
    # no two end with the same bundle, so that an export keeps all of them
    assert len({each.ending.best for each in found if each.ending}) == COUNT
    told = json.loads((folder / MADE).read_text())
    assert (told["conversations"], told["tasks"], told["seed"]) == (COUNT, TASK_COUNT, SEED)
    assert told["torch"]


def test_the_model_says_nothing_but_tool_calls(folder: Path) -> None:
    for each in conversations(folder):
        assert_only_calls(each)


def test_what_the_model_is_told_is_what_the_prompts_and_the_judge_say_again(workshop: Workshop, folder: Path) -> None:
    """Every conversation is held again with the recorded answers and a fresh judge."""
    pack = Pack(folder / TASKS)
    with closing(Inspections(workshop.scheduler)) as inspections:
        for each in conversations(folder):
            task, spec = pack.task(each.opening.task_id), each.opening.spec
            bench = bench_for(task, spec, workshop.scheduler, inspections)
            workplace = Workplace(bench, guide(), each.opening.model)
            expected = messages_again(each, task, bench, workplace)
            assert [message for turn in each.turns for message in turn.said] == expected


def bench_for(task: Task, spec: EvalSpec, scheduler: Scheduler, inspections: Inspections) -> JudgeBench:
    def judge(bundle: Bundle | None, spec: EvalSpec, cancelled: threading.Event) -> tuple[Outcome, ...]:
        return tuple(scheduler.judge(job, lambda event: None, cancelled) for job in jobs_of(task, bundle, spec))

    return JudgeBench(task, spec, judge, inspections, scheduler.here)


def messages_again(found: Trajectory, task: Task, bench: JudgeBench, workplace: Workplace) -> list[Message]:
    """The messages to the model, from a judge that has not seen the conversation."""
    never = threading.Event()
    for each in task.subgraphs:
        bench.inspect(each.id, never)
    in_text = not any(turn.answer.calls for turn in found.turns)
    given = next((each.text for each in found.turns[0].said if each.text.startswith(GIVEN)), "")
    workplace.files.codes.update(
        {name: f"{code}\n" for name, code in re.findall(r"^(\w+\.py):\n```python\n(.*?)\n\n```", given, re.M | re.S)}
    )
    assert bool(workplace.files.codes) == (found.opening.start is not None)
    surroundings = bench.surroundings(first_of_sources(task.subgraphs), 60.0, never)
    expected = list(workplace.opening(task, surroundings, in_text=in_text))
    for turn in found.turns[:-1]:
        calls = calls_in(turn.answer.text) if in_text else turn.answer.calls
        results = [workplace.do(call, never).text for call in calls]
        expected += told_results(calls, results, in_text=in_text)
    return expected


def test_equal_seeds_give_equal_conversations_and_another_seed_is_refused(
    workshop: Workshop, folder: Path, tmp_path: Path
) -> None:
    workshop.made(tmp_path, 1)
    (again,) = tmp_path.glob("*/*/trajectory.jsonl")
    first = read_trajectory(folder / again.relative_to(tmp_path))
    second = read_trajectory(again)
    assert replace(second.opening, started_at="", recorded="") == replace(first.opening, started_at="", recorded="")
    assert (second.turns, second.ending) == (first.turns, first.ending)
    with pytest.raises(BadInput, match="another seed"):
        workshop.made(tmp_path, 1, seed=SEED + 1)


def test_mistakes_are_found_and_mended(folder: Path) -> None:
    repaired = 0
    for each in conversations(folder):
        judged = [turn for turn in each.turns if turn.verdicts]
        assert all(verdict.accepted and verdict is not Verdict.MATCHED for verdict, _ in judged[-1].verdicts or ())
        refused = [turn for turn in judged if any(not verdict.accepted for verdict, _ in turn.verdicts or ())]
        for turn in refused:
            later = " ".join(message_text(other.answer) for other in each.turns[turn.number :])
            assert "patch_file" in later or "write_file" in later
        repaired += bool(refused)
    assert repaired >= COUNT / 2


def message_text(message: Message) -> str:
    assert message.role is Role.MODEL
    return message.text + " ".join(call.name for call in message.calls)


def test_no_task_is_related_to_one_of_eval(workshop: Workshop, tmp_path: Path) -> None:
    first = tasks_for(tmp_path / "a", workshop.corpus, workshop.backend, TASK_COUNT)
    assert {each.split for each in first} == {"train"}
    # the same operations as an eval task of another name: none of the derived tasks may have them now
    planted = Task("planted", first[0].family, "eval", tuple(replace(g, task_id="planted") for g in first[0].subgraphs))
    (tmp_path / "corpus").mkdir()
    train = [workshop.corpus.task(each.id) for each in workshop.corpus.tasks()]
    write_pack(tmp_path / "corpus" / "few.jsonl.gz", [*train, planted])
    second = tasks_for(tmp_path / "b", Corpus([tmp_path / "corpus"]), workshop.backend, TASK_COUNT)
    assert first[0].id not in {each.id for each in second}
    assert all(not fingerprints(each) & fingerprints(planted) for each in second)


def test_a_corpus_that_has_the_folder_finds_the_tasks(folder: Path) -> None:
    found = Corpus([folder / TASKS.parent])
    assert {each.opening.task_id for each in conversations(folder)} <= {each.id for each in found.tasks()}


def test_more_tasks_than_can_be_derived_are_refused(workshop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Ask for fewer"):
        tasks_for(tmp_path, workshop.corpus, workshop.backend, 1000)
