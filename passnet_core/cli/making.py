"""The command trajectories make: conversations for training in which a script plays the model."""

import argparse
import threading
import time
from pathlib import Path
from typing import Any

from passnet_core.cli.console import ACCEPTED, NOT_ACCEPTED, Console
from passnet_core.cli.parser import add_number, command, require_positive
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.service import corpus_of

TELL_EVERY_S = 30.0


def trajectories_make(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.training.repairing.making import Made, Making, make, tasks_for
    from passnet_core.training.repairing.node_values import values_of

    require_positive(args, "conversations", "tasks", "judges", "per_bundle")
    folder, settings = Path(args.out), console.settings
    begun = last = time.monotonic()

    def told(made: Made) -> None:
        nonlocal last
        console.progress(made.conversations, args.conversations)
        now = time.monotonic()
        if now - last > TELL_EVERY_S and not console.err.isatty():
            last = now
            console.tell(f"{made.conversations:,} of {args.conversations:,} after {now - begun:.0f} s")

    helper = LocalBackend(settings.python, settings.isolation, settings.home, judges=0, checkers=0)
    console.tell("Deriving tasks.")
    tasks = tasks_for(folder, corpus_of(settings), helper, args.tasks)
    values = values_of(helper, [each for task in tasks for each in task.subgraphs])
    kept = "Finished conversations are kept. Run the same command again to make the others."
    with console.scheduler(args.judges) as scheduler, console.resumable(kept):
        asked = Making(args.conversations, args.seed, args.per_bundle)
        made = make(asked, tasks, scheduler, values, folder, cancelled=threading.Event(), on_made=told)
    if args.json:
        refused = dict(made.refused.most_common())
        console.show({"conversations": made.conversations, "tasks": len(made.tasks), "straight": made.straight}
                     | {"refused": refused, "harmless": made.harmless, "seconds": made.seconds})  # fmt: skip
    else:
        console.table(
            ("refused before", "conversations"), [(name, str(count)) for name, count in made.refused.most_common()]
        )
        console.say(
            f"{folder} has {made.conversations:,} accepted conversations at {len(made.tasks):,} tasks. This call took"
            f" {made.seconds:.0f} s."
        )
    return ACCEPTED if made.conversations >= args.conversations else NOT_ACCEPTED


def add_commands(kept: Any) -> None:
    """Declare make in the group trajectories. kept: the group's commands."""
    making = command(
        kept, "make", trajectories_make, "make conversations for training in which a script mends typical mistakes"
    )
    making.add_argument(
        "--out", required=True, metavar="DIR", help="folder for the conversations; those it holds are not made again"
    )
    add_number(making, "--conversations", 4000, "N", "how many conversations")
    add_number(making, "--tasks", 320, "N", "in how many tasks, which are cut from the train tasks")
    add_number(
        making, "--per-bundle", 4, "N",
        "how many conversations at a task end with the same bundle, which is judged once",
    )  # fmt: skip
    add_number(making, "--seed", 1, "N", "of the mistakes and the judge's inputs")
    add_number(making, "--judges", 1, "N", "conversations to make at once")
