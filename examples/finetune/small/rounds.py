"""A small decoder from scratch, through the whole loop: train, sample on eval, judge; sample on train, keep what was
accepted, train again.

    python -m examples.finetune.small.rounds --data conversations.jsonl --out runs/small --seconds 600

Each step is kept in the folder and not repeated: the same command goes on where it was stopped. It needs torch and
tokenizers beside this package, and one GPU to be worth while."""

import argparse
import gzip
import json
import lzma
import math
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from examples.finetune.small.conversations import (
    Conversations,
    named_as_in_tasks,
    parts_of,
    prompt_of,
    train_tokenizer,
)
from examples.finetune.small.decoder import Decoder, Schedule, Shape, SmallModel, loss_on, new_decoder, train
from passnet_core.corpus.catalogue import Corpus
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.jobs import jobs_of
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Device, EvalSpec, Job, Stage, Subgraph, Task, digest_of
from passnet_core.records.trajectories import Budget, Trajectory
from passnet_core.scoring.published import published_line
from passnet_core.settings import read_settings
from passnet_core.solvers.base import Surroundings
from passnet_core.solvers.batch import solve
from passnet_core.solvers.llm.conversation import LanguageModel, guide
from passnet_core.solvers.llm.prompting import opening
from passnet_core.solvers.trajectories import trajectories
from passnet_core.training.chat_rows import openai_row
from passnet_core.training.examples import example_of

Rows = list[dict[str, Any]]

ROOM = 1024
"""How many tokens a task has to leave for the conversation."""
MOST_TURNS = 4


def read_rows(path: Path) -> Rows:
    """The conversations in a file that `trajectories export --format openai` wrote; .gz and .xz are unpacked."""
    content = path.read_bytes()
    unpacked = {".gz": gzip.decompress, ".xz": lzma.decompress}
    text = unpacked[path.suffix](content) if path.suffix in unpacked else content
    return [json.loads(line) for line in text.decode().splitlines()]


def accepted_rows(folder: Path) -> Rows:
    """The conversations of a batch whose bundle was accepted on every subgraph, each bundle once."""
    found: dict[tuple[str, str | None], Trajectory] = {}
    for _, each in trajectories(folder):
        if each.ending is not None and each.ending.solved:
            found.setdefault((each.opening.task_id, each.ending.best), each)
    return [openai_row(example_of(each)) for each in found.values()]


def fitting(tasks: Sequence[Task], tokenizer: Tokenizer, spec: EvalSpec, context: int, subgraphs: int) -> list[Task]:
    """The tasks that leave room for a conversation, each with its first `subgraphs` subgraphs of other dtypes or
    sources."""
    pages = guide()
    found = []
    for task in tasks:
        kinds: dict[tuple[str, str], Any] = {}
        for each in sorted(task.subgraphs, key=_size):
            kinds.setdefault((each.id.split("/")[0], each.code), each)
        small = replace(task, subgraphs=tuple(kinds.values())[:subgraphs])
        first = opening(small, Surroundings(spec.device), pages)
        if len(tokenizer.encode(prompt_of(first)).ids) <= context - ROOM:
            found.append(small)
    return found


def _size(subgraph: Subgraph) -> int:
    """The number of elements of all inputs."""
    return sum(math.prod(each.shape) for each in subgraph.inputs)


class Loop:
    """The rounds in one folder."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.out = args, Path(args.out)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.shape = Shape(args.width, args.layers, args.heads, args.inner, args.context, args.vocabulary)
        self.rows = read_rows(Path(args.data))
        path = self.out / "tokenizer.json"
        self.out.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self.tokenizer = Tokenizer.from_file(str(path))
        else:
            texts = (text for row in self.rows for text, _ in named_as_in_tasks(parts_of(row["messages"])))
            self.tokenizer = train_tokenizer(texts, args.vocabulary, path)
        others = read_rows(Path(args.validation)) if args.validation else []
        self.validation = Conversations(others, self.tokenizer, self.shape.context)

    def run(self) -> None:
        settings = read_settings()
        backend = LocalBackend(settings.python, settings.isolation, settings.home, judges=self.args.judges)
        scheduler = Scheduler(backend)
        try:
            spec = EvalSpec(stage=Stage.VERIFY, device=scheduler.here.device, deadline_s=self.args.deadline)
            corpus = Corpus([settings.data / "tasks", settings.home / "tasks"])
            by_split: dict[str, list[Task]] = {"train": [], "eval": []}
            for each in corpus.tasks():
                if each.split in by_split:
                    by_split[each.split].append(corpus.task(each.id))
            tasks = {
                split: fitting(
                    sorted(found, key=lambda each: digest_of(each.id)),
                    self.tokenizer,
                    spec,
                    self.shape.context,
                    self.args.subgraphs,
                )[: self.args.tasks]
                for split, found in by_split.items()
            }
            for number in range(self.args.rounds + 1):
                self.round(number, tasks, scheduler, spec)
            if spec.device is Device.CUDA:
                for number in range(self.args.rounds + 1):
                    self.timed(self.out / f"round-{number}/eval", tasks["eval"], scheduler, spec)
        finally:
            scheduler.close()

    def round(self, number: int, tasks: dict[str, list[Task]], scheduler: Scheduler, spec: EvalSpec) -> None:
        """Train, unless this is round 0 with its random weights; then sample on eval, and on train for the next one."""
        folder = self.out / f"round-{number}"
        rows = [
            *self.rows,
            *(row for each in range(1, number) for row in accepted_rows(self.out / f"round-{each}/train")),
        ]
        model = self.weights(number)
        if number:
            data = Conversations(rows, self.tokenizer, self.shape.context)
            tell(f"round {number}: {len(data)} conversations, {sum(data.lengths):,} tokens")
            seconds = self.args.seconds if number == 1 else self.args.seconds * self.args.again
            rate = self.args.rate if number == 1 else self.args.rate / 3
            copied = self.args.copied if number == 1 else 0
            schedule = Schedule(
                seconds=seconds, tokens=self.args.tokens, rate=rate, copied=copied, dropout=self.args.dropout
            )
            train(model, data, schedule, folder, seed=number, tell=tell)
            if self.validation:
                loss = loss_on(model, self.validation, self.args.tokens)
                tell(f"round {number}: loss {loss:.3f} on {len(self.validation)} conversations for validation")
        last = number == self.args.rounds
        for split in ("eval",) if last or not number else ("eval", "train"):
            self.sampled(model, f"small-round-{number}", tasks[split], scheduler, spec, folder / split, attempts=(
                1 if not number else self.args.attempts), turns=MOST_TURNS if number else 1)  # fmt: skip

    def timed(self, folder: Path, tasks: Sequence[Task], scheduler: Scheduler, spec: EvalSpec) -> None:
        """Take the times of what was accepted in the first attempts, and append the outcomes."""
        measured, by_id = folder / "timed", {task.id: task for task in tasks}
        if measured.exists():
            return
        jobs: list[Job] = []
        for _, each in trajectories(folder):
            best, task = each.best, by_id.get(each.opening.task_id)
            if task is not None and each.opening.attempt == 1 and each.ending is not None and each.ending.accepted:
                jobs += jobs_of(task, best.bundle if best else None, replace(spec, stage=Stage.MEASURE))
        cancelled = threading.Event()
        coming = [scheduler.queue(job, lambda event: None, cancelled) for job in jobs]
        with (folder / "outcomes.jsonl").open("a", encoding="utf-8") as lines:
            for outcome in as_completed(coming):
                lines.write(published_line(outcome.result()))
                lines.flush()
        measured.touch()
        tell(f"{folder}: took the times of {len(jobs)} subgraphs")

    def weights(self, number: int) -> Decoder:
        """The weights with which a round begins: random ones, or those of the round before."""
        model = new_decoder(self.shape, seed=0).to(self.device)
        if number > 1:
            state = torch.load(self.out / f"round-{number - 1}/state.pt", map_location=self.device, weights_only=True)
            model.load_state_dict(state["model"])
        if not number:
            tell(f"{sum(each.numel() for each in model.parameters()) / 1e6:.1f} million parameters on {self.device}")
        return model

    def sampled(
        self,
        model: Decoder,
        name: str,
        tasks: Sequence[Task],
        scheduler: Scheduler,
        spec: EvalSpec,
        folder: Path,
        *,
        attempts: int,
        turns: int,
    ) -> None:
        """Make the attempts that the folder lacks."""
        small = SmallModel(
            model, self.tokenizer, name, context=self.shape.context, most_new=self.args.most_new,
            at_once=self.args.at_once, temperature=self.args.temperature,
        )  # fmt: skip
        try:
            solver = LanguageModel(small, Budget(turns=turns, seconds=self.args.attempt_seconds))
            solved = solve(
                solver, tasks, scheduler, spec, folder,
                attempts=attempts, at_once=self.args.at_once, cancelled=threading.Event(),
            )  # fmt: skip
        finally:
            small.close()
        count = sum(each.ending.solved for each in solved)
        tell(f"{folder}: {count} of {len(solved)} attempts at {len(tasks)} tasks were accepted on every subgraph")


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def flags() -> argparse.ArgumentParser:
    shape, schedule = Shape(), Schedule()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], allow_abbrev=False)
    parser.add_argument(
        "--data", required=True, metavar="FILE", help="conversations, as trajectories export writes them"
    )
    parser.add_argument("--validation", metavar="FILE", help="more of them, to tell the loss on after each round")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of all results")
    for name, kind, default, told in numbers(shape, schedule):
        parser.add_argument(f"--{name}", type=kind, default=default, metavar="N", help=f"{told} (default: %(default)s)")
    return parser


def numbers(shape: Shape, schedule: Schedule) -> Iterator[tuple[str, type, float, str]]:
    """The flags that are numbers: name, type, default and help."""
    yield "seconds", float, 600.0, "of training in the first round"
    yield "again", float, 0.4, "share of that time in each further round"
    yield "rounds", int, 2, "rounds of training"
    yield "attempts", int, 4, "attempts per task"
    yield "tasks", int, 1000, "most tasks per split"
    yield "subgraphs", int, 2, "most subgraphs per task"
    yield "judges", int, 2, "jobs to judge at once"
    yield "at-once", int, 96, "attempts to make at once, whose answers are sampled together"
    yield "attempt-seconds", float, 600.0, "limit of an attempt"
    yield "deadline", float, 60.0, "limit of a job, in seconds"
    yield "temperature", float, 0.7, "of sampling"
    yield "most-new", int, 2048, "most tokens of an answer"
    yield "rate", float, schedule.rate, "highest learning rate"
    yield "tokens", int, schedule.tokens, "tokens per step"
    yield "dropout", float, schedule.dropout, "share of what a layer adds that is dropped in training"
    yield "copied", int, 0, "of the first steps, in which it learns to copy random tokens"
    for name, told in (
        ("width", "of the model"),
        ("layers", "of it"),
        ("heads", "of it"),
        ("inner", "width of its MLPs"),
    ):
        yield name, int, getattr(shape, name), told
    yield "context", int, shape.context, "most tokens of a conversation"
    yield "vocabulary", int, shape.vocabulary, "tokens of the tokenizer"


if __name__ == "__main__":
    Loop(flags().parse_args()).run()
