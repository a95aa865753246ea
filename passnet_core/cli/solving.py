"""The command solve and the group trajectories (list, export), which work with the attempts of solvers."""

import argparse
import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passnet_core.bundles.reading import write_bundle
from passnet_core.cli.console import ACCEPTED, INFRASTRUCTURE, NOT_ACCEPTED, Console
from passnet_core.cli.judging import bundle_named, spec_of
from passnet_core.cli.parser import BASELINE, CAPTURE, DEVICE, PROFILE, STAGE, TASK, command, group, values
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.records import BASELINE_NAMES, Baseline, Capture, Device, EvalSpec, Stage, Task, to_json
from passnet_core.records.trajectories import Alternative, Budget, End, Price, Trajectory, Turn
from passnet_core.service import corpus_of
from passnet_core.solvers.llm.chat import PATIENCE_S, ChatServer, ToolProtocol

if TYPE_CHECKING:
    from passnet_core.solvers.base import Attempt, Solver

ALL = 1_000_000
FOLDER = "a folder that solve --out wrote (default: the attempts in the store)"


def solve(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.leaderboard.report_card import stages
    from passnet_core.solvers.batch import keep, solve
    from passnet_core.store.opening import open_store

    for name in ("attempts", "turns", "judges"):
        if getattr(args, name) < 1:
            raise BadInput(f"--{name} must be at least 1, not {getattr(args, name)}.")
    if args.choose and args.solver != "rules":
        raise BadInput(f"--choose is for --solver rules only, not for --solver {args.solver}.")
    corpus = corpus_of(console.settings)
    tasks = [corpus.resolve(name) for name in args.task]
    if args.split:
        of_split = [corpus.task(each.id) for each in corpus.tasks() if each.split == args.split]
        if not of_split:
            known = ", ".join(sorted({each.split for each in corpus.tasks()}))
            raise UnknownItem(f"No task is of the split {args.split!r}. There are: {known}.")
        tasks += [each for each in of_split if each.id not in {task.id for task in tasks}]
    if not tasks:
        raise BadInput("No task is named. Name tasks, or all of a split with --split.")
    solver = SOLVERS[args.solver](args, console)
    cancelled = threading.Event()

    def told(task: Task, number: int, turn: Turn) -> None:
        found = "" if turn.score is None else f", {turn.score.accepted} of {turn.score.total} accepted"
        console.tell(f"{task.id}, attempt {number}, turn {turn.number}: {len(turn.results)} tools{found}")

    def ended(task: Task, trajectory: Trajectory, attempt: "Attempt") -> None:
        keep(store, task, trajectory, attempt)
        score = attempt.score
        found = "nothing was judged" if score is None else f"{score.accepted} of {score.total} accepted"
        console.tell(f"{task.id}, attempt {trajectory.opening.attempt}: {attempt.reason or found}")

    with contextlib.ExitStack() as open_things:
        store = open_store(console.settings.home)
        open_things.callback(store.close)
        scheduler = open_things.enter_context(console.scheduler(args.judges))
        try:
            if solver.options.start is not None:
                store.add_bundle(solver.options.start)
            spec = spec_of(args, Stage(args.stage), scheduler.here.device)
            solved = solve(
                solver, tasks, scheduler, spec, Path(args.out), attempts=args.attempts,
                cancelled=cancelled, on_turn=told, on_attempt=ended,
            )  # fmt: skip
        except KeyboardInterrupt:
            console.tell("Finished attempts are kept. Run the same command again to make the others.")
            raise
    whole = [each for each in solved if each.ending.solved]
    code = ACCEPTED if whole else NOT_ACCEPTED
    if any(each.ending.end is End.SERVER for each in solved):
        code = INFRASTRUCTURE
        console.tell(
            "The model's server failed, so no further attempt was begun. Run the same command again to go on where they"
            " stopped."
        )
    if args.json:
        console.show([to_json(each) for each in solved])
        return code
    rows = [
        (each.task_id, str(each.number), f"{end.accepted}/{end.total}",
         "" if end.speedup is None else f"{end.speedup:.3f}", str(end.turns), f"{end.tokens:,}",
         f"{end.cost:.4f}", end.reason or end.end)
        for each in solved
        for end in [each.ending]
    ]  # fmt: skip
    console.table(("task", "attempt", "accepted", "speedup", "turns", "tokens", "cost", "end"), rows)
    for each in solved:
        for other in each.ending.alternatives:
            console.say(f"{each.task_id}, attempt {each.number}, {_told(other, each.ending.total)}")
    console.say(
        " · ".join(f"{stage} {count}/{total}" for stage, count, total in stages([each.ending for each in solved]))
    )
    cost = sum(each.ending.cost for each in solved)
    console.say(f"{len(whole)} of {len(solved)} attempts were accepted on every subgraph" + (
        f", at a cost of {cost / len(whole):.4f} each." if cost and whole else "."))  # fmt: skip
    return code


def _told(candidate: Alternative, total: int) -> str:
    """A candidate of the rules in a line. total: the number of subgraphs."""
    way = "measured" if candidate.measured else "predicted"
    speed = "not timed" if candidate.speedup is None else f"{way} at {candidate.speedup:.3f} times eager's speed"
    score = "" if candidate.aggregate is None else f", aggregate score {candidate.aggregate:.3f}"
    accepted = "" if candidate.accepted is None else f", {candidate.accepted} of {total} accepted"
    return f"{candidate.name}: {speed}{score}{accepted}{', kept' if candidate.kept else ''}"


def _language_model(args: argparse.Namespace, console: Console) -> "Solver":
    from passnet_core.solvers.llm.client import ChatModel
    from passnet_core.solvers.llm.conversation import LanguageModel

    models = console.settings.models
    server = ChatServer(args.base_url or models.base_url, models.key)
    if not args.patience >= 0:
        raise BadInput(f"--patience must be at least 0, not {args.patience:g}.")
    model = ChatModel(
        server,
        args.model or models.model,
        patience_s=args.patience,
        temperature=args.temperature,
        on_wait=console.tell,
    )
    known = models.price(model.name)
    price = Price(
        known[0] if args.price_prompt is None else args.price_prompt,
        known[1] if args.price_reply is None else args.price_reply,
    )
    budget = Budget(args.turns, args.tokens, args.money, args.seconds, args.reply_tokens)
    start = bundle_named(args.bundle, console.settings) if args.bundle else None
    return LanguageModel(model, budget, price, start, protocol=ToolProtocol(args.protocol), label=args.label.strip())


def _inductor(args: argparse.Namespace, console: Console) -> "Solver":
    from passnet_core.solvers.inductor import Inductor

    if args.bundle:
        raise BadInput("TorchInductor cannot start from a bundle. Leave out either --bundle or --solver inductor.")
    return Inductor(BASELINE_NAMES[Baseline(args.baseline)])


def _rules(args: argparse.Namespace, console: Console) -> "Solver":
    from passnet_core.solvers.rules.contender import Choice, Rules

    if args.bundle:
        raise BadInput("The rules cannot start from a bundle. Leave out either --bundle or --solver rules.")
    return Rules(choose=Choice(args.choose) if args.choose else None)


SOLVERS: Mapping[str, Callable[[argparse.Namespace, Console], "Solver"]] = {
    "model": _language_model,
    "rules": _rules,
    "inductor": _inductor,
}
"""The solvers that `solve --solver NAME` offers, each with a function that makes it from the flags."""


def trajectories_list(args: argparse.Namespace, console: Console) -> int:
    rows, told = [], []
    for path, each in _trajectories(args.folder, console):
        named = (each.opening.id, each.opening.task_id, str(each.opening.attempt))
        for turn in each.turns:
            tools = ", ".join(call.name for call in turn.answer.calls) or f"{len(turn.results)} in text"
            score = "" if turn.score is None else f"{turn.score.accepted}/{turn.score.total}"
            rows.append((*named, str(turn.number), tools, score, f"{turn.tokens:,}"))
        if not each.turns and each.ending is not None:
            rows.append((*named, "-", each.ending.end.value, f"{each.ending.accepted}/{each.ending.total}", "0"))
        told.append({"path": str(path or ""), **to_json(each)})
    if not told and args.folder:
        raise UnknownItem(f"There is no attempt in {args.folder[0]}. Name a folder that solve --out wrote.")
    if args.json:
        console.show(told)
    else:
        console.table(("id", "task", "attempt", "turn", "tools", "accepted", "tokens"), rows)
    return ACCEPTED


def _trajectories(folders: Sequence[str], console: Console) -> Iterator[tuple[Path | None, Trajectory]]:
    """The attempts in these folders, each with its file; without a folder those in the store, except recorded ones."""
    from passnet_core.solvers.trajectories import trajectories
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


def trajectories_compare(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.leaderboard.pass_at_k import attempt_tallies, gain_at, pass_at

    if any(k < 1 for k in args.k):
        raise BadInput("--k takes numbers from 1 on.")
    found = attempt_tallies(each for _, each in _trajectories(args.folder, console))
    if not found:
        raise UnknownItem("There is no attempt that has ended. Make some with solve.")
    told: list[dict[str, Any]] = []
    for each in found:
        device, _, profile, _ = each.ground
        kinds = {"device": device, "profile": profile.value, "stage": each.stage.value}
        for k in args.k:
            known = pass_at(k, each.attempts) if k <= each.fewest else None
            told.append({"solver": each.solver, **kinds, "tasks": len(each.attempts), "k": k, "pass": to_json(known)})
    gains: list[dict[str, Any]] = []
    if len(found) == 2 and found[0].ground == found[1].ground and found[0].stage is found[1].stage:
        before, after = found
        for k in args.k:
            if k <= min(before.fewest, after.fewest) and set(before.attempts) & set(after.attempts):
                gain = gain_at(k, before.attempts, after.attempts)
                gains.append({"k": k, "before": before.solver, "after": after.solver, "gain": to_json(gain)})
    if args.json:
        console.show({"solvers": told, "gains": gains})
        return ACCEPTED
    rows = [
        (row["solver"], row["stage"], row["device"], str(row["tasks"]), f"pass@{row['k']}", _share(row["pass"]))
        for row in told
    ]
    console.table(("solver", "stage", "device", "tasks", "", "chance"), rows)
    for measured in gains:
        gain = measured["gain"]
        word = "better" if gain["low"] > 0 else "worse" if gain["high"] < 0 else "not distinguishable"
        console.say(
            f"pass@{measured['k']} of {measured['after']} less that of {measured['before']}, on the tasks of both:"
            f" {_share(gain)}: {word}."
        )
    return ACCEPTED


def _share(found: Mapping[str, float] | None) -> str:
    if found is None:
        return "too few attempts"
    return f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def trajectories_export(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.solvers.trajectories import accepted, example

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


def add_commands(commands: Any) -> None:
    """Declare solve, and the group trajectories."""
    solving = command(
        commands, "solve", solve, "solve tasks with a language model, rules or TorchInductor, and keep every attempt"
    )
    solving.add_argument("task", nargs="*", metavar="TASK_OR_DIR", help=TASK)
    solving.add_argument("--split", default="", metavar="NAME", help="also all tasks of this split, such as eval")
    solving.add_argument(
        "--out", required=True, metavar="DIR", help="folder for the attempts; those it already holds are not made again"
    )
    solving.add_argument(
        "--solver", choices=tuple(SOLVERS), default="model",
        help="model: a language model writes passes; rules: rules write them, without a model; inductor: TorchInductor"
        " is judged, once per attempt (default: %(default)s)",
    )  # fmt: skip
    solving.add_argument(
        "--choose", choices=("measure", "model"),
        help="only for --solver rules: measure judges all candidates and keeps the best, model judges only the one"
        " that a cost model expects to be the best (default: measure where the judge takes times, otherwise model)",
    )  # fmt: skip
    solving.add_argument(
        "--attempts", type=int, default=1, metavar="K", help="attempts per task (default: %(default)s)"
    )
    solving.add_argument(
        "--judges", type=int, default=1, metavar="N", help="attempts to make at the same time (default: %(default)s)"
    )
    solving.add_argument("--stage", choices=("verify", "measure"), default="verify", help=STAGE)
    solving.add_argument("--capture", choices=values(Capture), default="direct", help=CAPTURE)
    solving.add_argument("--baseline", choices=values(Baseline), default="inductor", help=BASELINE)
    solving.add_argument("--device", choices=values(Device), help=DEVICE)
    solving.add_argument("--profile", choices=("strict", "passnet"), default="strict", help=PROFILE)
    solving.add_argument("--deadline", type=float, default=EvalSpec().deadline_s, metavar="S", help=argparse.SUPPRESS)
    solving.add_argument("--replacement-cap", type=int, metavar="N", help=argparse.SUPPRESS)
    model = solving.add_argument_group(
        "language model", "Only for --solver model: the other solvers ignore these flags, and refuse --bundle."
    )
    model.add_argument("--model", default="", metavar="NAME", help="the model's name on the server (PASSNET_MODEL)")
    model.add_argument(
        "--base-url", default="", metavar="URL", help="the server, up to and including /v1 (OPENAI_BASE_URL)"
    )
    model.add_argument("--bundle", metavar="DIR", help="a bundle for the model to repair or improve")
    model.add_argument(
        "--turns",
        type=int,
        default=12,
        metavar="N",
        help="most answers of the model per attempt (default: %(default)s)",
    )
    model.add_argument("--tokens", type=int, metavar="N", help="end an attempt after about N tokens")
    model.add_argument("--reply-tokens", type=int, metavar="N", help="most tokens per answer")
    model.add_argument("--seconds", type=float, metavar="S", help="time limit per attempt in seconds")
    model.add_argument("--money", type=float, metavar="X", help="end an attempt once it has cost about X")
    model.add_argument("--price-prompt", type=float, metavar="X", help="price per million tokens read (PASSNET_PRICES)")
    model.add_argument(
        "--price-reply", type=float, metavar="X", help="price per million tokens written (PASSNET_PRICES)"
    )
    model.add_argument(
        "--label", default="", metavar="NAME",
        help="the name of the results, to tell a model before a training from the same after it (default: the model's)",
    )  # fmt: skip
    model.add_argument(
        "--protocol",
        choices=values(ToolProtocol),
        default=ToolProtocol.AUTO.value,
        help="how the model calls tools: by the server's tool calls, in plain text, or as the server and the model's"
        " first answer show (default: %(default)s)",
    )
    model.add_argument(
        "--patience",
        type=float,
        default=PATIENCE_S,
        metavar="S",
        help="how long a request is repeated while the server cannot be reached or is busy, as while it loads its model"
        " (default: %(default)g)",
    )
    model.add_argument("--temperature", type=float, metavar="X", help="sampling temperature (default: the server's)")

    kept = group(commands, "trajectories", "list the attempts that solve made, and export them for training")
    listing = command(kept, "list", trajectories_list, "list every turn of every attempt")
    listing.add_argument("folder", nargs="*", metavar="DIR", help=FOLDER)
    comparing = command(
        kept, "compare", trajectories_compare, "tell how often one of k attempts solves a task, and compare two solvers"
    )
    comparing.add_argument("folder", nargs="*", metavar="DIR", help=FOLDER)
    comparing.add_argument(
        "--k", type=int, nargs="+", default=[1], metavar="K", help="attempts that may be made at a task (default: 1)"
    )
    exporting = command(
        kept, "export", trajectories_export, "write accepted conversations in OpenAI's chat format with tools, as JSONL"
    )
    exporting.add_argument("folder", nargs="*", metavar="DIR", help=FOLDER)
    exporting.add_argument("--out", required=True, metavar="FILE", help="the file to write")
    exporting.add_argument(
        "--bundles", metavar="DIR", help="also write the best bundle of each conversation here, in PassNet's layout"
    )
    exporting.add_argument(
        "--split", default="train", metavar="NAME", help="tasks of this split (default: %(default)s)"
    )
    exporting.add_argument(
        "--at-least", type=float, default=1.0, metavar="SHARE",
        help="least share of a task's subgraphs on which the best bundle was accepted (default: %(default)g)",
    )  # fmt: skip
