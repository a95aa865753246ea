"""The command solve, in which solvers make attempts at tasks."""

import argparse
import contextlib
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passnet_core.cli.console import ACCEPTED, INFRASTRUCTURE, NOT_ACCEPTED, Console
from passnet_core.cli.judging import add_spec_flags, bundle_named, spec_of
from passnet_core.cli.parser import DEVICE, PROFILE, TASK, add_number, command, require_positive, values
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.records import BASELINE_NAMES, Baseline, Device, EvalSpec, Stage, Task, to_json
from passnet_core.records.trajectories import Alternative, Budget, End, Price, Trajectory, Turn
from passnet_core.service import corpus_of
from passnet_core.solvers.llm.chat import PATIENCE_S, ChatServer, ToolProtocol

if TYPE_CHECKING:
    from passnet_core.solvers.base import Attempt, Solver


def solve(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.leaderboard.report_card import stages
    from passnet_core.solvers.batch import keep, solve
    from passnet_core.store.opening import open_store

    require_positive(args, "attempts", "turns", "judges")
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
        with console.resumable("Finished attempts are kept. Run the same command again to make the others."):
            if solver.options.start is not None:
                store.add_bundle(solver.options.start)
            spec = spec_of(args, Stage(args.stage), scheduler.here.device)
            solved = solve(
                solver, tasks, scheduler, spec, Path(args.out), attempts=args.attempts, at_once=max(0, args.at_once),
                cancelled=cancelled, on_turn=told, on_attempt=ended,
            )  # fmt: skip
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


def add_commands(commands: Any) -> None:
    """Declare solve."""
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
    add_number(solving, "--attempts", 1, "K", "attempts per task")
    add_number(solving, "--judges", 1, "N", "jobs to judge at the same time")
    solving.add_argument(
        "--at-once", type=int, default=0, metavar="N",
        help="attempts to make at the same time, which wait for judges and for the model (default: as many as judges)",
    )  # fmt: skip
    add_spec_flags(solving)
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
    add_number(model, "--turns", 12, "N", "most answers of the model per attempt")
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
    add_number(
        model, "--patience", PATIENCE_S, "S",
        "how long a request is repeated while the server cannot be reached or is busy, as while it loads its model",
    )  # fmt: skip
    model.add_argument("--temperature", type=float, metavar="X", help="sampling temperature (default: the server's)")
