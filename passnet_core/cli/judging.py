"""The commands check and evaluate, which judge a bundle or TorchInductor on a task."""

import argparse
import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from passnet_core.bundles.reading import read_bundle
from passnet_core.cli.console import ACCEPTED, INFRASTRUCTURE, NOT_ACCEPTED, Console
from passnet_core.cli.parser import BASELINE, BUNDLE, CAPTURE, DEVICE, PROFILE, STAGE, TASK, add_number, command, values
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.jobs import jobs_of
from passnet_core.outside import quoted
from passnet_core.records import (
    RESTS_ON_EVIDENCE,
    Baseline,
    Bundle,
    Capture,
    Clock,
    Device,
    EvalSpec,
    Outcome,
    Profile,
    SolverKind,
    Stage,
    Task,
    Verdict,
)
from passnet_core.scoring.published import published, published_line
from passnet_core.service import OnOutcome, corpus_of
from passnet_core.settings import Settings
from passnet_core.training.rewards import parts_of, reward_numbers


def check(args: argparse.Namespace, console: Console) -> int:
    return _judge(args, console, Stage.CHECK)


def evaluate(args: argparse.Namespace, console: Console) -> int:
    return _judge(args, console, Stage(args.stage))


def _judge(args: argparse.Namespace, console: Console, stage: Stage) -> int:
    """Judge the subgraphs of a task one by one, and print each outcome as it arrives."""
    task = corpus_of(console.settings).resolve(args.task)
    reward = _reward_file(args)
    try:
        bundle = bundle_named(args.bundle, console.settings) if args.bundle else None
    except BadInput:
        if reward is not None:
            _write_reward(reward, ())
        raise
    total = len(args.subgraph or task.subgraphs)

    def arrived(position: int, outcome: Outcome) -> None:
        place = f"[{position + 1}/{total}] {outcome.subgraph_id}"
        if args.json:
            console.tell(f"{place}: {outcome.verdict.value}")
        else:
            for line in told(place, outcome):
                console.say(line)

    run_id, outcomes = (_without_store if args.outcomes else _with_store)(args, console, task, bundle, stage, arrived)
    if reward is not None and not _write_reward(reward, outcomes):
        console.tell(f"There is no reward, and '{reward}' is empty: on some subgraphs the values are not known.")
    accepted = sum(outcome.verdict.accepted for outcome in outcomes)
    if args.json:
        console.show(
            {
                "task": task.id,
                "run": run_id,
                "solver": (SolverKind.PASSES if bundle else SolverKind.INDUCTOR).value,
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
"""The run's id (None without a store) and its outcomes."""


def _with_store(
    args: argparse.Namespace, console: Console, task: Task, bundle: Bundle | None, stage: Stage, arrived: OnOutcome
) -> Judged:
    known: list[str] = []
    with console.service() as service:
        spec = spec_of(args, stage, service.device().device)
        outcomes = service.evaluate(
            task, bundle, spec, arrived,
            subgraph_ids=args.subgraph, label=args.label, fresh=args.fresh, on_run=known.append,
        )  # fmt: skip
    return known[0], outcomes


def _without_store(
    args: argparse.Namespace, console: Console, task: Task, bundle: Bundle | None, stage: Stage, arrived: OnOutcome
) -> Judged:
    """Write each outcome to the file before reporting it."""
    outcomes: list[Outcome] = []
    cancelled = threading.Event()
    with _appended(Path(args.outcomes)) as write, console.scheduler() as scheduler:
        jobs = jobs_of(task, bundle, spec_of(args, stage, scheduler.here.device), args.subgraph)
        for position, job in enumerate(jobs):
            outcome = scheduler.judge(job, lambda event: None, cancelled)
            write(published_line(outcome))
            outcomes.append(outcome)
            arrived(position, outcome)
    return None, tuple(outcomes)


@contextlib.contextmanager
def _appended(path: Path) -> Iterator[Callable[[str], None]]:
    """A function that appends a line to the file and flushes it. Raises BadInput if the file cannot be opened."""
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
        with contextlib.suppress(OSError):  # write() has already reported what could not be flushed
            file.close()


def _reward_file(args: argparse.Namespace) -> Path | None:
    """The file for the reward, emptied, so that it never has an earlier one; None for none."""
    if getattr(args, "reward", None) is None:
        return None
    if not args.bundle:
        raise BadInput("--reward is for bundles: TorchInductor has no reward. Leave it out, or name a bundle.")
    path = Path(args.reward)
    _write(path, "")
    return path


def _write_reward(path: Path, outcomes: Sequence[Outcome]) -> bool:
    """Write the reward for these outcomes of a bundle, of which there are none if it could not be read. Returns False
    where there is no reward."""
    numbers = reward_numbers([parts_of(outcome) for outcome in outcomes])
    if numbers is None:
        return False
    _write(path, json.dumps(numbers) + "\n")
    return True


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"The reward file '{path}' cannot be written: {error.strerror}. Name another file.") from error


def bundle_named(named: str, settings: Settings) -> Bundle:
    """The bundle in a folder, or the bundled reference with this name."""
    reference = settings.data / "bundles" / named
    try:
        if not Path(named).exists() and Path(named).name == named and reference.is_dir():
            return read_bundle(reference, author="reference")
        return read_bundle(Path(named))
    except OSError as error:
        raise BadInput(f"The bundle folder {quoted(named)} cannot be read: {error.strerror}.") from error


def spec_of(args: argparse.Namespace, stage: Stage, here: Device) -> EvalSpec:
    plain = EvalSpec()
    profile = Profile(args.profile)
    cap = args.replacement_cap
    if profile is Profile.PASSNET:
        if cap not in (None, 1):
            raise BadInput(
                f"--replacement-cap is {cap}, but PassNet's rules set it to 1. Leave it out, or use --profile strict."
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
        baseline=Baseline(getattr(args, "baseline", plain.baseline)),
    )


def told(place: str, outcome: Outcome) -> Iterator[str]:
    """Describe an outcome to a person in a few lines."""
    yield f"{place}: {outcome.verdict.value}. {outcome.reason}"
    for finding in outcome.findings:
        said = f"{finding.message} {finding.remedy}".strip()
        yield f"    {finding.file}:{finding.line}:{finding.column} {finding.rule}: {said}"
    for each in outcome.match.passes if outcome.match else ():
        yield f"    {each.name}: {_times(len(each.matches))}" + (
            f"; nearest miss: {each.miss.reason}" if each.miss else ""
        )
    for output in outcome.accuracy.outputs if outcome.accuracy else ():
        close = f"smallest t {output.level}"
        error = "" if output.max_error is None else f", largest error {output.max_error:.3g}"
        failed = f", {said}" if outcome.accuracy and (said := outcome.accuracy.failed_words(output)) else ""
        problem = f" ({output.problem})" if output.problem else ""
        yield f"    output {output.output} {output.dtype} {list(output.shape)}: {close}{error}{failed}{problem}"
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


def add_commands(commands: Any) -> None:
    """Declare check and evaluate."""
    checking = command(
        commands, "check", check, "check a bundle against the static rules, and match it in each subgraph of a task"
    )
    checking.add_argument("task", metavar="TASK_OR_DIR", help=TASK)
    checking.add_argument("--bundle", required=True, metavar="DIR", help=BUNDLE)
    _judging_flags(checking)

    judging = command(
        commands,
        "evaluate",
        evaluate,
        "judge the values, and optionally the time, of a bundle on each subgraph of a task",
    )
    judging.add_argument("task", metavar="TASK_OR_DIR", help=TASK)
    solver = judging.add_mutually_exclusive_group(required=True)
    solver.add_argument("--bundle", metavar="DIR", help=BUNDLE)
    solver.add_argument("--solver", choices=("inductor",), help="judge TorchInductor instead of a bundle")
    add_spec_flags(judging)
    add_number(judging, "--trials", EvalSpec().trials, "N", "timed blocks per subgraph")
    judging.add_argument("--reward", metavar="FILE", help="write the default reward of the bundle to this JSON file")
    judging.add_argument("--seed", type=int, metavar="N", help="seed of the inputs (default: a random one)")
    _judging_flags(judging)


def add_spec_flags(command: argparse.ArgumentParser) -> None:
    """Declare --stage, --capture and --baseline, for commands that may take times."""
    command.add_argument("--stage", choices=("verify", "measure"), default="verify", help=STAGE)
    command.add_argument("--capture", choices=values(Capture), default="direct", help=CAPTURE)
    command.add_argument("--baseline", choices=values(Baseline), default="inductor", help=BASELINE)


def _judging_flags(command: argparse.ArgumentParser) -> None:
    plain = EvalSpec()
    command.add_argument("--device", choices=values(Device), help=DEVICE)
    command.add_argument("--profile", choices=("strict", "passnet"), default="strict", help=PROFILE)
    command.add_argument("--subgraph", action="append", metavar="ID", help="judge only this subgraph; may be repeated")
    command.add_argument(
        "--outcomes", metavar="FILE", help="append the outcomes to this JSONL file, and do not use the store"
    )
    add_number(command, "--deadline", plain.deadline_s, "S", "time limit per subgraph in seconds")
    command.add_argument(
        "--replacement-cap", type=int, metavar="N",
        help="the most distinct replacement functions that a bundle may have (default: any number; with passnet: 1)",
    )  # fmt: skip
    command.add_argument("--label", default="", metavar="TEXT", help="a name for the run")
    command.add_argument("--fresh", action="store_true", help="judge again, even if the answer is known")
