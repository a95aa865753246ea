"""The command line over the service: python -m passnet_core. docs/command-line.md describes it.

Exit codes: 0 accepted, 1 not accepted, 2 wrong use, 3 infrastructure.
"""

import argparse
import contextlib
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NoReturn

from passnet_core import __version__
from passnet_core.backends.base import Backend
from passnet_core.backends.local import LocalBackend
from passnet_core.corpus.catalogue import read_list
from passnet_core.corpus.searching import found
from passnet_core.errors import BadInput, InfrastructureError, PlaygroundError, StoreError, StoreRefusal, UnknownItem
from passnet_core.passes.reading import read_bundle, write_bundle
from passnet_core.records import (
    RESTS_ON_EVIDENCE,
    Bundle,
    Capture,
    Clock,
    Device,
    EvalSpec,
    Outcome,
    Profile,
    Solver,
    Stage,
    Task,
    Verdict,
    to_json,
)
from passnet_core.scoring.published import published, published_line
from passnet_core.service import OnOutcome, Service, corpus_of, jobs_of, judged, open_service
from passnet_core.settings import Settings, read_settings
from passnet_core.surveying import TaskMatches, surveyed
from passnet_core.trajectory import Trajectory

ACCEPTED, NOT_ACCEPTED, WRONG_USE, INFRASTRUCTURE, INTERRUPTED = 0, 1, 2, 3, 130
PROGRAM = "python -m passnet_core"

BAR_WIDTH, BAR_EVERY = 40, 20
ALL = 1_000_000
LINE_EVERY = 1000
"""Of the progress where nobody watches a terminal."""


@dataclass(frozen=True)
class Console:
    """What a command may use: where it reads and writes, and the backend, which tests replace."""

    settings: Settings
    out: IO[str]
    err: IO[str]
    backend: Backend | None = None

    def say(self, text: str = "") -> None:
        print(printable(text), file=self.out, flush=True)

    def tell(self, text: str) -> None:
        """Progress, for people only."""
        print(printable(text), file=self.err, flush=True)

    def progress(self, done: int, total: int) -> None:
        """A bar on a terminal; elsewhere a line now and then, and none where little is to do."""
        if self.err.isatty():
            if done % BAR_EVERY and done != total:
                return
            filled = BAR_WIDTH * done // max(total, 1)
            bar = "█" * filled + "░" * (BAR_WIDTH - filled)
            print(f"\r{bar} {done:,} of {total:,}", end="\n" if done == total else "", file=self.err, flush=True)
        elif done and done % LINE_EVERY == 0:
            self.tell(f"{done:,} of {total:,}")

    def show(self, data: Any) -> None:
        print(json.dumps(data, indent=2, allow_nan=False), file=self.out, flush=True)

    @contextlib.contextmanager
    def service(self) -> Iterator[Service]:
        service = open_service(self.settings, backend=self.backend)
        try:
            yield service
        finally:
            service.close()

    @contextlib.contextmanager
    def judge(self) -> Iterator[Backend]:
        """A backend without a service."""
        if self.backend is not None:
            yield self.backend
            return
        backend = LocalBackend(self.settings.python, self.settings.isolation, self.settings.home)
        try:
            yield backend
        finally:
            backend.close()


def main(
    argv: Sequence[str] | None = None,
    *,
    out: IO[str] | None = None,
    err: IO[str] | None = None,
    backend: Backend | None = None,
    settings: Settings | None = None,
) -> int:
    """Runs one command and returns its exit code; wrong flags raise SystemExit(2), as argparse does."""
    out, err = out or sys.stdout, err or sys.stderr
    args = parser().parse_args(argv)
    as_json = getattr(args, "json", False)
    try:
        console = Console(settings or read_settings(), out, err, backend)
        return int(args.command(args, console))
    except PlaygroundError as error:
        print(f"Error: {printable(str(error))}", file=err)
        if as_json:
            print(json.dumps({"error": {"kind": type(error).__name__, "message": str(error)}}), file=out)
        return INFRASTRUCTURE if _is_infrastructure(error) else WRONG_USE
    except KeyboardInterrupt:
        print("Interrupted.", file=err)
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read our output has seen enough; what is buffered must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED


def _is_infrastructure(error: PlaygroundError) -> bool:
    return isinstance(error, InfrastructureError | StoreError) and not isinstance(error, StoreRefusal)


def printable(text: str) -> str:
    """Text without control characters: names come from strangers, and a terminal obeys what is printed on it."""
    return "".join(c if c in "\n\t" or c.isprintable() else repr(c)[1:-1] for c in text)


# --- corpus ----------------------------------------------------------------------------------------------------------


def corpus_list(args: argparse.Namespace, console: Console) -> int:
    corpus = corpus_of(console.settings)
    tasks = [
        task
        for task in found(args.search, corpus.tasks())
        if args.family in (None, task.family.value) and args.split in (None, task.split)
    ]
    for problem in corpus.problems:
        console.tell(f"Warning: {problem}")
    if args.json:
        console.show([{"task": task.id, **{k: v for k, v in to_json(task).items() if k != "id"}} for task in tasks])
        return ACCEPTED
    rows = [
        (task.id, task.family.value, task.split, str(task.subgraphs), " ".join(task.dtypes), str(task.operations),
         ", ".join(task.source_models))
        for task in tasks
    ]  # fmt: skip
    _table(console, ("task", "family", "split", "subgraphs", "dtypes", "operations", "source models"), rows)
    console.say(f"{len(tasks)} tasks, {sum(task.subgraphs for task in tasks)} subgraphs.")
    return ACCEPTED


def corpus_show(args: argparse.Namespace, console: Console) -> int:
    task = corpus_of(console.settings).resolve(args.task)
    if args.json:
        console.show(_task_json(task))
        return ACCEPTED
    console.say(f"{task.id}: {task.family.value}, split {task.split or '-'}, {len(task.subgraphs)} subgraphs")
    for subgraph in task.subgraphs:
        console.say(f"\n{subgraph.id}  ({subgraph.source_model}, {subgraph.dtype}, digest {subgraph.digest})")
        for spec in subgraph.inputs:
            console.say(f"  {spec.name}: {spec.dtype} {list(spec.shape)}")
    if task.subgraphs:
        console.say(f"\n{task.subgraphs[0].id}/model.py:\n\n{task.subgraphs[0].code.strip()}")
    return ACCEPTED


def _task_json(task: Task) -> dict[str, Any]:
    return {
        "task": task.id,
        "family": task.family.value,
        "split": task.split,
        "subgraphs": len(task.subgraphs),
        "source_models": sorted({each.source_model for each in task.subgraphs}),
        "dtypes": sorted({each.dtype for each in task.subgraphs}),
        "members": [
            {
                "subgraph": each.id,
                "source_model": each.source_model,
                "dtype": each.dtype,
                "digest": each.digest,
                "inputs": to_json(each.inputs),
                "code": each.code,
            }
            for each in task.subgraphs
        ],
    }


def corpus_import(args: argparse.Namespace, console: Console) -> int:
    corpus = corpus_of(console.settings)
    try:
        report = corpus.import_folder(
            Path(args.folder),
            console.settings.home / "tasks",
            listed=read_list(Path(args.list)) if args.list else None,
            progress=console.progress,
        )
    except KeyboardInterrupt:
        console.tell("What was taken in so far is kept. The same command goes on from there.")
        raise
    for problem in report.problems:
        console.tell(f"Warning: left out: {problem}")
    if args.json:
        console.show(to_json(report))
    else:
        console.say(f"Imported {len(report.tasks)} tasks with {report.subgraphs} subgraphs.")
    return ACCEPTED if report.tasks else WRONG_USE


def corpus_download(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.corpus import downloading

    offered = downloading.offer(args.dataset, args.revision, console.settings.home)
    there = offered.files - offered.left_files
    console.tell(
        f"{offered.dataset} at {offered.host}, commit {offered.commit[:12]}: {offered.files:,} files,"
        f" {downloading.human(offered.bytes)}.\nThey go to {offered.folder}. {there:,} are there already, so"
        f" {downloading.human(offered.left_bytes)} are left; {downloading.human(offered.free_bytes)} are free."
    )
    if not args.yes:
        if args.json:
            console.show(to_json(offered))
        else:
            console.say("Nothing was fetched. To fetch it, add --yes.")
        return ACCEPTED
    try:
        fetched = downloading.fetch(offered)
    except KeyboardInterrupt:
        console.tell("What was fetched so far is kept. The same command goes on from there.")
        raise
    for archive in fetched.archives[:10]:
        console.tell(f"Warning: {archive} is an archive. Unpack it before importing the folder.")
    if args.json:
        console.show(to_json(fetched))
    else:
        console.say(f"Fetched and verified: {fetched.files:,} files in {fetched.folder}.")
        console.say(f"Take its tasks in with: {PROGRAM} corpus import {fetched.folder}")
    return ACCEPTED


def corpus_cut(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.cutting_models import cut_models

    if args.limit <= 0:
        raise BadInput(f"--limit must be above 0, not {args.limit:g}.")
    settings = console.settings
    unread: list[str] = []
    models = corpus_of(settings).models(args.model, unread)
    backend = LocalBackend(settings.python, settings.isolation, settings.home, lanes=())
    try:
        report = cut_models(backend, models, settings.home, limit_s=args.limit, progress=console.progress)
    except KeyboardInterrupt:
        console.tell("The models that were cut so far are kept. The same command goes on from there.")
        raise
    report = replace(report, problems=(*unread, *report.problems))
    for problem in report.problems:
        console.tell(f"Warning: left out: {problem}")
    if args.json:
        console.show(to_json(report))
    else:
        console.say(f"Cut {report.models} models. There are {len(report.tasks)} tasks from models that were cut, with")
        console.say(f"{report.subgraphs} subgraphs. See them with: {PROGRAM} corpus list --search cut-")
    return ACCEPTED if report.models else WRONG_USE


def corpus_matches(args: argparse.Namespace, console: Console) -> int:
    corpus, bundle = corpus_of(console.settings), _bundle(args.bundle, console.settings)
    wanted = [task.id for task in found(args.search, corpus.tasks())]
    looked: list[TaskMatches] = []
    with console.judge() as backend:
        for done, each in enumerate(surveyed(backend, corpus, bundle, wanted, backend.info().device), 1):
            console.progress(done, len(wanted))
            looked.append(each)
    matched = [each for each in looked if each.matched]
    if args.json:
        console.show([to_json(each) for each in looked])
        return ACCEPTED if matched else NOT_ACCEPTED
    rows = [(each.task_id, f"{each.matched} of {each.subgraphs}") for each in matched]
    if rows:
        _table(console, ("task", "subgraphs matched"), rows)
    count, unread = sum(each.matched for each in looked), sum(each.unread for each in looked)
    console.say(f"{count} subgraphs of {len(matched)} tasks match, of {len(looked)} tasks looked through.")
    if unread:
        console.tell(f"Warning: {unread} subgraphs could not be read or rewritten.")
    return ACCEPTED if matched else NOT_ACCEPTED


def corpus_export(args: argparse.Namespace, console: Console) -> int:
    folder = corpus_of(console.settings).export(args.task, Path(args.folder))
    if args.json:
        console.show({"task": args.task, "folder": str(folder)})
    else:
        console.say(f"Wrote {folder}.")
    return ACCEPTED


# --- check and evaluate ----------------------------------------------------------------------------------------------


def check(args: argparse.Namespace, console: Console) -> int:
    return _judge(args, console, Stage.CHECK)


def evaluate(args: argparse.Namespace, console: Console) -> int:
    return _judge(args, console, Stage(args.stage))


def _judge(args: argparse.Namespace, console: Console, stage: Stage) -> int:
    """Judges a task's subgraphs one by one, telling of each as it comes."""
    task = corpus_of(console.settings).resolve(args.task)
    bundle = _bundle(args.bundle, console.settings) if args.bundle else None
    total = len(args.subgraph or task.subgraphs)

    def arrived(position: int, outcome: Outcome) -> None:
        place = f"[{position + 1}/{total}] {outcome.subgraph_id}"
        if args.json:
            console.tell(f"{place}: {outcome.verdict.value}")
        else:
            for line in _told(place, outcome):
                console.say(line)

    run_id, outcomes = (_without_store if args.outcomes else _with_store)(args, console, task, bundle, stage, arrived)
    accepted = sum(outcome.verdict.accepted for outcome in outcomes)
    if args.json:
        console.show(
            {
                "task": task.id,
                "run": run_id,
                "solver": (Solver.PASSES if bundle else Solver.INDUCTOR).value,
                "bundle_digest": bundle.digest if bundle else None,
                "accepted": accepted,
                "total": total,
                "outcomes": [published(outcome) for outcome in outcomes],
            }
        )
    else:
        counts = Counter(outcome.verdict.value for outcome in outcomes)
        console.say(
            f"{accepted} of {total} accepted ({', '.join(f'{name}: {count}' for name, count in counts.items())})."
            + (f" Run {run_id}." if run_id else "")
        )
    if any(outcome.verdict is Verdict.INFRASTRUCTURE for outcome in outcomes):
        return INFRASTRUCTURE
    return ACCEPTED if accepted == total else NOT_ACCEPTED


Judged = tuple[str | None, tuple[Outcome, ...]]
"""The run's id, where one was kept, and the outcomes."""


def _with_store(
    args: argparse.Namespace, console: Console, task: Task, bundle: Bundle | None, stage: Stage, arrived: OnOutcome
) -> Judged:
    known: list[str] = []
    with console.service() as service:
        spec = _spec(args, stage, service.device().device)
        outcomes = service.evaluate(
            task, bundle, spec, arrived,
            subgraph_ids=args.subgraph, label=args.label, fresh=args.fresh, on_run=known.append,
        )  # fmt: skip
    return known[0], outcomes


def _without_store(
    args: argparse.Namespace, console: Console, task: Task, bundle: Bundle | None, stage: Stage, arrived: OnOutcome
) -> Judged:
    """Each outcome is a line of the file before it is told of."""
    outcomes: list[Outcome] = []
    cancelled = threading.Event()
    with _appended(Path(args.outcomes)) as write, console.judge() as backend:
        jobs = jobs_of(task, bundle, _spec(args, stage, backend.info().device), args.subgraph)
        for position, job in enumerate(jobs):
            outcome = judged(backend, job, lambda event: None, cancelled)
            write(published_line(outcome))
            outcomes.append(outcome)
            arrived(position, outcome)
    return None, tuple(outcomes)


@contextlib.contextmanager
def _appended(path: Path) -> Iterator[Callable[[str], None]]:
    """Writes lines to the end of a file, each at once. Raises BadInput where it cannot be opened."""
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"The outcomes file '{path}' cannot be written: {error.strerror}. Name another file.") from error

    def write(line: str) -> None:
        try:
            file.write(line)
            file.flush()
        except OSError as error:
            raise InfrastructureError(
                f"An outcome could not be written to '{path}': {error.strerror}. Make room, then evaluate again."
            ) from error

    try:
        yield write
    finally:
        with contextlib.suppress(OSError):  # what could not be flushed was told of by write
            file.close()


def _bundle(named: str, settings: Settings) -> Bundle:
    """The bundle in a folder, or the bundled reference of that name."""
    reference = settings.data / "bundles" / named
    if not Path(named).exists() and Path(named).name == named and reference.is_dir():
        return read_bundle(reference, author="reference")
    return read_bundle(Path(named))


def _spec(args: argparse.Namespace, stage: Stage, here: Device) -> EvalSpec:
    plain = EvalSpec()
    profile = Profile(args.profile)
    cap = args.replacement_cap
    if profile is Profile.PASSNET:
        if cap not in (None, 1):
            raise BadInput(
                f"--replacement-cap is {cap}, but by PassNet's rules it is 1. Leave it out, or judge strictly."
            )
        cap = 1
    return EvalSpec(
        stage=stage,
        device=Device(args.device) if args.device else here,
        capture=Capture(getattr(args, "capture", plain.capture)),
        profile=profile,
        trials=getattr(args, "trials", plain.trials),
        seed=getattr(args, "seed", plain.seed),
        deadline_s=args.deadline,
        replacement_cap=cap,
    )


def _told(place: str, outcome: Outcome) -> Iterator[str]:
    """An outcome in a few lines for a person."""
    yield f"{place}: {outcome.verdict.value}. {outcome.reason}"
    for finding in outcome.findings:
        yield f"    {finding.file}:{finding.line}:{finding.column} {finding.rule}: {finding.message} {finding.remedy}"
    for each in outcome.match.passes if outcome.match else ():
        yield f"    {each.name}: {_times(len(each.matches))}" + (
            f"; nearest miss: {each.miss.reason}" if each.miss else ""
        )
    for output in outcome.accuracy.outputs if outcome.accuracy else ():
        close = "not even at t = 0" if output.smallest_t is None else f"from t = {output.smallest_t} on"
        error = "" if output.max_error is None else f", largest error {output.max_error:.3g}"
        problem = f" ({output.problem})" if output.problem else ""
        yield f"    output {output.output} {output.dtype} {list(output.shape)}: close {close}{error}{problem}"
    for clock in Clock:
        speedup = outcome.speedup(clock)
        if speedup:
            yield f"    {clock.value}: {speedup.value:.3f} times eager [{speedup.low:.3f}, {speedup.high:.3f}]"
    for warning in outcome.warnings:
        yield f"    warning: {warning}"
    for evidence in outcome.evidence if outcome.verdict in RESTS_ON_EVIDENCE else ():
        yield f"    {evidence.topic}: " + evidence.text.strip().replace("\n", "\n        ")


def _times(count: int) -> str:
    return {0: "no match", 1: "1 match"}.get(count, f"{count} matches")


# --- scores ----------------------------------------------------------------------------------------------------------


def score(args: argparse.Namespace, console: Console) -> int:
    # numpy, which judging machines may lack, loads only where scores are made
    from passnet_core.scoring.report import entry_of, report_to_json, score_reports

    entries = _read_entries(Path(args.outcomes)) if args.outcomes else None
    if entries is None:
        with console.service() as service:
            entries = [entry_of(outcome) for outcome in service.outcomes(args.run)]
    reports = score_reports(entries, p=args.p, b=args.b, interpretation=args.interpretation)
    if not any(report.samples for report in reports):
        left_out = Counter(entry.left_out for entry in entries)
        why = ", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "there is no outcome"
        raise BadInput(f"Nothing can be scored: {why}. Evaluate with --stage measure where there is a GPU.")
    if args.json:
        console.show({"reports": [report_to_json(report) for report in reports]})
        return ACCEPTED
    for report in reports:
        solver = f"passes {report.bundle_digest}" if report.bundle_digest else "TorchInductor"
        ground = f"{report.device}, capture {report.capture.value}, profile {report.profile.value}"
        console.say(f"{solver} on {ground}: {report.samples} samples")
        for reason, count in report.left_out:
            console.say(f"  {reason}: {count}, not scored")
        if report.aggregate is None:
            continue
        console.say(f"  aggregate score {report.aggregate:.4f}  (p = {report.p:g}, b = {report.b:g})")
        rows = [
            tuple(
                "" if figure is None else f"{figure:.4f}"
                for figure in (
                    each.alpha, each.beta, each.correct, each.slower, each.s, each.gamma, each.es, each.low, each.high,
                )
            )
            for each in report.levels
        ]  # fmt: skip
        names = ("t", "alpha", "beta", "lambda", "eta", "S", "gamma", "ES", "95% from", "to")
        _table(console, names, [(str(each.t), *row) for each, row in zip(report.levels, rows)])
    return ACCEPTED


def _read_entries(path: Path) -> list[Any]:
    from passnet_core.scoring.report import read_entries

    try:
        with path.open(encoding="utf-8") as lines:
            return list(read_entries(lines))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The outcomes file '{path}' cannot be read: {_short(error)}. Name an existing one.") from error
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def _short(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"


# --- runs ------------------------------------------------------------------------------------------------------------


def runs_list(args: argparse.Namespace, console: Console) -> int:
    with console.service() as service:
        summaries = service.runs(args.limit, args.task)
    if args.json:
        console.show(
            [
                {
                    "run": each.run.id,
                    "label": each.run.label,
                    "started_at": each.run.started_at,
                    "solver": each.run.solver.value,
                    "bundle_digest": each.run.bundle_digest,
                    "tasks": list(each.run.task_ids),
                    "stage": each.run.spec.stage.value,
                    "capture": each.run.spec.capture.value,
                    "profile": each.run.spec.profile.value,
                    "recorded": each.run.recorded,
                    "device": each.device,
                    "accepted": each.accepted,
                    "total": each.total,
                    "verdicts": {verdict.value: count for verdict, count in each.counts},
                    "median_speedup": each.median_speedup,
                }
                for each in summaries
            ]
        )
        return ACCEPTED
    rows = [
        (each.run.id, each.run.started_at[:19], each.run.solver.value, each.run.spec.stage.value,
         f"{each.accepted}/{each.total}", "" if each.median_speedup is None else f"{each.median_speedup:.3f}",
         each.device + (" (recorded)" if each.run.recorded else ""), ", ".join(each.run.task_ids[:3]))
        for each in summaries
    ]  # fmt: skip
    _table(console, ("run", "started", "solver", "stage", "accepted", "median speedup", "device", "tasks"), rows)
    return ACCEPTED


def runs_export(args: argparse.Namespace, console: Console) -> int:
    with console.service() as service:
        text = service.export_run(args.run)
    if args.file is None:
        console.out.write(text)
        return ACCEPTED
    try:
        Path(args.file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"'{args.file}' cannot be written: {error.strerror}. Name another file.") from error
    console.tell(f"Wrote {args.file}.")
    return ACCEPTED


def runs_import(args: argparse.Namespace, console: Console) -> int:
    try:
        text = Path(args.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"'{args.file}' cannot be read: {_short(error)}. Name a file that runs export wrote.") from error
    with console.service() as service:
        run_id = service.import_run(text)
    if args.json:
        console.show({"run": run_id})
    else:
        console.say(f"Imported run {run_id}.")
    return ACCEPTED


# --- report ----------------------------------------------------------------------------------------------------------


def report(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.reporting.gathering import run_report

    with console.service() as service:
        text = run_report(service, args.run)
    path = Path(args.out)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror}. Name another file.") from error
    if args.json:
        console.show({"run": args.run, "file": args.out, "bytes": path.stat().st_size})
    else:
        console.say(f"Wrote {path}. Any browser opens it, without the app and without a network.")
    return ACCEPTED


# --- solve -----------------------------------------------------------------------------------------------------------


def solve(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.llm.chat import Server
    from passnet_core.llm.client import ChatModel
    from passnet_core.report_card import stages
    from passnet_core.solving import Order, keep, solve
    from passnet_core.store.opening import open_store
    from passnet_core.trajectory import Budget, Price, Turn

    for name in ("attempts", "turns", "judges"):
        if getattr(args, name) < 1:
            raise BadInput(f"--{name} must be at least 1, not {getattr(args, name)}.")
    models = console.settings.models
    corpus = corpus_of(console.settings)
    tasks = [corpus.resolve(name) for name in args.task]
    server = Server(args.base_url or models.base_url, models.key)
    model = ChatModel(server, args.model or models.model, temperature=args.temperature)
    known = models.price(model.name)
    price = Price(
        known[0] if args.price_prompt is None else args.price_prompt,
        known[1] if args.price_reply is None else args.price_reply,
    )
    cancelled = threading.Event()

    def told(task: Task, number: int, turn: Turn) -> None:
        found = "" if turn.score is None else f", {turn.score.accepted} of {turn.score.total} accepted"
        console.tell(f"{task.id}, attempt {number}, turn {turn.number}: {len(turn.results)} tools{found}")

    with contextlib.ExitStack() as open_things:
        store = open_store(console.settings.home)
        open_things.callback(store.close)
        backends = [open_things.enter_context(console.judge()) for _ in range(args.judges)]
        try:
            order = Order(
                _spec(args, Stage(args.stage), backends[0].info().device),
                Budget(args.turns, args.tokens, args.money, args.seconds, args.reply_tokens),
                price,
                args.attempts,
                _bundle(args.bundle, console.settings) if args.bundle else None,
            )
            if order.start is not None:
                store.add_bundle(order.start)
            solved = solve(
                model, tasks, backends, order, Path(args.out),
                cancelled=cancelled, on_turn=told, on_attempt=partial(keep, store),
            )  # fmt: skip
        except KeyboardInterrupt:
            console.tell("Attempts that are over are kept. The same command goes on with the others.")
            raise
    whole = [each for each in solved if each.ending.accepted == each.ending.total]
    if args.json:
        console.show([to_json(each) for each in solved])
        return ACCEPTED if whole else NOT_ACCEPTED
    rows = [
        (each.task_id, str(each.number), f"{end.accepted}/{end.total}",
         "" if end.speedup is None else f"{end.speedup:.3f}", str(end.turns), f"{end.tokens:,}",
         f"{end.cost:.4f}", end.reason or end.end)
        for each in solved
        for end in [each.ending]
    ]  # fmt: skip
    _table(console, ("task", "attempt", "accepted", "speedup", "turns", "tokens", "cost", "end"), rows)
    console.say(
        " · ".join(f"{stage} {count}/{total}" for stage, count, total in stages([each.ending for each in solved]))
    )
    cost = sum(each.ending.cost for each in solved)
    console.say(f"{len(whole)} of {len(solved)} attempts accepted on every subgraph" + (
        f", {cost / len(whole):.4f} each." if cost and whole else "."))  # fmt: skip
    return ACCEPTED if whole else NOT_ACCEPTED


def trajectories_list(args: argparse.Namespace, console: Console) -> int:
    rows, told = [], []
    for path, each in _trajectories(args.folder, console):
        for turn in each.turns:
            tools = ", ".join(call.name for call in turn.answer.calls) or f"{len(turn.results)} in text"
            score = "" if turn.score is None else f"{turn.score.accepted}/{turn.score.total}"
            began = each.opening
            rows.append(
                (began.id, began.task_id, str(began.attempt), str(turn.number), tools, score, f"{turn.tokens:,}")
            )
        told.append({"path": str(path or ""), **to_json(each)})
    if not told and args.folder:
        raise UnknownItem(f"There is no trajectory below {args.folder[0]}. Name a folder that solve --out wrote.")
    if args.json:
        console.show(told)
    else:
        _table(console, ("conversation", "task", "attempt", "turn", "tools", "accepted", "tokens"), rows)
    return ACCEPTED


def _trajectories(folders: Sequence[str], console: Console) -> Iterator[tuple[Path | None, Trajectory]]:
    """With their files those below these folders; without a folder those of the store, but for recorded ones."""
    from passnet_core.solving import trajectories
    from passnet_core.store.opening import open_store

    for folder in folders:
        yield from trajectories(Path(folder))
    if folders:
        return
    with contextlib.closing(open_store(console.settings.home)) as store:
        for each in store.trajectories(ALL, None):
            kept = store.trajectory(each.opening.id)
            if kept is not None and not each.opening.recorded:
                yield None, kept.trajectory


def trajectories_export(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.solving import accepted, example

    if not 0 < args.at_least <= 1:
        raise BadInput(f"--at-least must be above 0 and at most 1, not {args.at_least:g}.")
    held_back = set()
    if args.split != "eval":
        held_back = {task.operators for task in corpus_of(console.settings).tasks() if task.split == "eval"}
    found = (each for _, each in _trajectories(args.folder, console))
    chosen = list(accepted(found, args.split, held_back, args.at_least))
    lines = [json.dumps(example(each)) + "\n" for each in chosen]
    for each in chosen if args.bundles else ():
        if each.best is not None and each.best.bundle is not None:
            write_bundle(each.best.bundle, Path(args.bundles) / each.opening.task_id / each.opening.id)
    try:
        Path(args.out).write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"'{args.out}' cannot be written: {error.strerror}. Name another file.") from error
    if args.json:
        console.show({"file": args.out, "examples": len(lines)})
    else:
        console.say(f"Wrote {len(lines)} conversations on {args.split} tasks to {args.out}.")
    return ACCEPTED if lines else NOT_ACCEPTED


# --- flags -----------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Says what is wrong, then where to look, without the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USE, f"Error: {message}\nSee: {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    """Every command with its flags."""
    top = _Parser(prog=PROGRAM, description="Judge compiler passes on real subgraphs.", allow_abbrev=False)
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    corpus = _group(commands, "corpus", "browse, import and export tasks")
    listing = _command(corpus, "list", corpus_list, "every task")
    listing.add_argument("--family", choices=("single-operator", "fusible", "typical"), help="only this family")
    listing.add_argument("--split", help="only this split, such as learn")
    listing.add_argument("--search", default="", metavar="TEXT", help='such as "bert 128x768 layer_norm -> linear"')
    showing = _command(corpus, "show", corpus_show, "one task with its subgraphs")
    showing.add_argument("task", metavar="TASK_OR_DIR")
    importing = _command(corpus, "import", corpus_import, "take in every task below a folder in PassNet's layout")
    importing.add_argument("folder", metavar="DIR")
    importing.add_argument("--list", metavar="FILE", help="only the folders that this file names, one in a line")
    loading = _command(corpus, "download", corpus_download, "fetch a dataset from the Hugging Face Hub, if told --yes")
    loading.add_argument("dataset", metavar="OWNER/NAME")
    loading.add_argument("--revision", default="main", metavar="REV", help="branch, tag or commit (%(default)s)")
    loading.add_argument("--yes", action="store_true", help="fetch it; without, only say what and where to")
    cutting = _command(corpus, "cut", corpus_cut, "cut whole models into tasks by what TorchInductor fuses")
    cutting.add_argument("model", nargs="+", metavar="TASK_OR_DIR", help="tasks whose subgraphs are whole models")
    cutting.add_argument(
        "--limit", type=float, default=1800.0, metavar="SECONDS", help="at most so long for each model (%(default)g)"
    )
    matching = _command(corpus, "matches", corpus_matches, "which tasks a bundle matches")
    matching.add_argument(
        "--bundle", required=True, metavar="DIR", help="folder with the passes, or a reference's name"
    )
    matching.add_argument("--search", default="", metavar="TEXT", help="only in tasks that this finds")
    exporting = _command(corpus, "export", corpus_export, "write a task in PassNet's layout to DIR/TASK")
    exporting.add_argument("task", metavar="TASK")
    exporting.add_argument("folder", metavar="DIR")

    checking = _command(commands, "check", check, "static rules and matching, on each subgraph of a task")
    checking.add_argument("task", metavar="TASK_OR_DIR")
    checking.add_argument(
        "--bundle", required=True, metavar="DIR", help="folder with the passes, or a reference's name"
    )
    _judging(checking)

    judging = _command(commands, "evaluate", evaluate, "values, and on a GPU time, on each subgraph of a task")
    judging.add_argument("task", metavar="TASK_OR_DIR")
    solver = judging.add_mutually_exclusive_group(required=True)
    solver.add_argument("--bundle", metavar="DIR", help="folder with the passes, or a reference's name")
    solver.add_argument("--solver", choices=("inductor",), help="TorchInductor instead of passes")
    judging.add_argument("--stage", choices=("verify", "measure"), default="verify", help="how far to go (verify)")
    judging.add_argument("--capture", choices=_values(Capture), default="direct", help="how it is called (direct)")
    judging.add_argument(
        "--trials", type=int, default=EvalSpec().trials, metavar="N", help="timed blocks (%(default)s)"
    )
    judging.add_argument("--seed", type=int, metavar="N", help="seed of the inputs (drawn anew)")
    _judging(judging)

    scoring = _command(commands, "score", score, "ES(t) and the aggregate score of a run or a file of outcomes")
    source = scoring.add_mutually_exclusive_group(required=True)
    source.add_argument("--run", metavar="ID", help="a run of the store")
    source.add_argument("--outcomes", metavar="FILE", help="a file that evaluate --outcomes or runs export wrote")
    scoring.add_argument("--p", type=float, default=0.0, help="slowdown penalty (0)")
    scoring.add_argument("--b", type=float, default=0.1, help="failure penalty (0.1)")
    scoring.add_argument("--interpretation", choices=("default", "extended"), default="default", help="of t >= 1")

    solving = _command(commands, "solve", solve, "have a language model write the passes for tasks")
    solving.add_argument("task", nargs="+", metavar="TASK_OR_DIR")
    solving.add_argument("--out", required=True, metavar="DIR", help="a folder for each attempt; those over are kept")
    solving.add_argument("--model", default="", metavar="NAME", help="as the server calls it (PASSNET_MODEL)")
    solving.add_argument("--base-url", default="", metavar="URL", help="of the server, with /v1 (OPENAI_BASE_URL)")
    solving.add_argument("--bundle", metavar="DIR", help="a bundle to begin with, which is to be repaired")
    solving.add_argument("--attempts", type=int, default=1, metavar="K", help="at each task (%(default)s)")
    solving.add_argument("--judges", type=int, default=1, metavar="N", help="attempts at once (%(default)s)")
    solving.add_argument("--turns", type=int, default=12, metavar="N", help="of an attempt, at most (%(default)s)")
    solving.add_argument("--tokens", type=int, metavar="N", help="of an attempt, about")
    solving.add_argument("--reply-tokens", type=int, metavar="N", help="of one answer, at most")
    solving.add_argument("--seconds", type=float, metavar="S", help="of an attempt, at most")
    solving.add_argument("--money", type=float, metavar="X", help="of an attempt, about, by the prices given")
    solving.add_argument("--price-prompt", type=float, metavar="X", help="of a million tokens read (PASSNET_PRICES)")
    solving.add_argument("--price-reply", type=float, metavar="X", help="of a million tokens written (the same)")
    solving.add_argument("--temperature", type=float, metavar="X", help="as the server has it, if not given")
    solving.add_argument("--stage", choices=("verify", "measure"), default="verify", help="how far to judge (verify)")
    solving.add_argument("--capture", choices=_values(Capture), default="direct", help="how it is called (direct)")
    solving.add_argument("--device", choices=_values(Device), help="where to judge (a GPU where there is one)")
    solving.add_argument("--profile", choices=("strict", "passnet"), default="strict", help="by whose rules (strict)")
    solving.add_argument("--deadline", type=float, default=EvalSpec().deadline_s, metavar="S", help=argparse.SUPPRESS)
    solving.add_argument("--replacement-cap", type=int, metavar="N", help=argparse.SUPPRESS)

    said = _group(commands, "trajectories", "look at what solve left, and export it for training")
    listing = _command(said, "list", trajectories_list, "every turn of every attempt")
    listing.add_argument("folder", nargs="*", metavar="DIR", help="that solve --out wrote (those of the store)")
    exporting = _command(
        said, "export", trajectories_export, "accepted conversations in chat format with tools, as JSONL"
    )
    exporting.add_argument("folder", nargs="*", metavar="DIR", help="that solve --out wrote (those of the store)")
    exporting.add_argument("--out", required=True, metavar="FILE")
    exporting.add_argument("--bundles", metavar="DIR", help="where their best bundles go, in PassNet's layout")
    exporting.add_argument("--split", default="train", help="only on tasks of this split (%(default)s)")
    exporting.add_argument(
        "--at-least", type=float, default=1.0, metavar="SHARE", help="of the subgraphs, accepted (%(default)g)"
    )

    runs = _group(commands, "runs", "list, export and import runs")
    listing = _command(runs, "list", runs_list, "newest first")
    listing.add_argument("--task", help="only runs with this task")
    listing.add_argument("--limit", type=int, default=200, metavar="N", help="at most so many (%(default)s)")
    exporting = _command(runs, "export", runs_export, "write a run as one JSONL file", as_json=False)
    exporting.add_argument("run", metavar="ID")
    exporting.add_argument("file", metavar="FILE", nargs="?", help="standard output where it is left out")
    importing = _command(runs, "import", runs_import, "take in an exported run")
    importing.add_argument("file", metavar="FILE")

    reporting = _command(commands, "report", report, "write a run as one HTML file that opens anywhere")
    reporting.add_argument("run", metavar="RUN")
    reporting.add_argument("--out", required=True, metavar="FILE.html")
    return top


def _group(commands: Any, name: str, summary: str) -> Any:
    return commands.add_parser(name, help=summary, description=summary.capitalize() + ".").add_subparsers(
        required=True, metavar="COMMAND"
    )


def _command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace, Console], int],
    summary: str,
    *,
    as_json: bool = True,
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".", allow_abbrev=False
    )
    command.set_defaults(command=run)
    if as_json:
        command.add_argument("--json", action="store_true", help="print JSON, as docs/command-line.md describes it")
    return command


def _judging(command: argparse.ArgumentParser) -> None:
    plain = EvalSpec()
    command.add_argument("--device", choices=_values(Device), help="where to judge (a GPU where there is one)")
    command.add_argument(
        "--profile", choices=("strict", "passnet"), default="strict", help="by whose rules it is judged (strict)"
    )
    command.add_argument("--subgraph", action="append", metavar="ID", help="only this one; may be repeated")
    command.add_argument("--outcomes", metavar="FILE", help="append the outcomes to this JSONL file; open no store")
    command.add_argument("--deadline", type=float, default=plain.deadline_s, metavar="S", help="seconds (%(default)g)")
    command.add_argument(
        "--replacement-cap", type=int, metavar="N", help="most distinct replacement functions (no cap; passnet: 1)"
    )
    command.add_argument("--label", default="", help="a name for the run")
    command.add_argument("--fresh", action="store_true", help="judge anew what is known already")


def _values(kind: Iterable[Any]) -> tuple[str, ...]:
    return tuple(each.value for each in kind)


def _table(console: Console, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[place]) for row in (names, *rows)) for place in range(len(names))]
    for row in (names, *rows):
        console.say("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
