"""Run a whole model in several ways: compare its outputs with eager's, and on a GPU take times.

Run as a program, it reads a TimingQuestion as JSON from standard input and writes a TimingAnswer to standard output.
Each way has a process of its own, since what torch.compile keeps for one way costs the others time; all have the same
model, which is made once. The processes wait for each other: in each round every way has a block of calls, in another
order each time. The model may be a stranger's, and bundles are code: start the program in a sandbox."""

import contextlib
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
import torch.utils._pytree as pytree

from passnet_core.errors import BadInput
from passnet_core.integrate.backend import PassBackend
from passnet_core.integrate.bundles import ChosenBundle
from passnet_core.records import LEVELS, Device
from passnet_core.scoring.tolerances import tolerance
from passnet_core.whole_models.capturing import MadeModel, made
from passnet_core.whole_models.programs import answering
from passnet_core.whole_models.timing import TimingAnswer, TimingQuestion, Way, WayAnswer

WARM_UP, BLOCK_S, MOST_CALLS = 5, 0.1, 200
"""How many calls come before the timed ones, how long a timed block of eager's takes at least, and how many calls it
has at most."""

CORE = "PASSNET_STEADY_CORE"
"""Names the processor core on which timed calls stay, if the machine has a core for them."""


def measure(question: TimingQuestion) -> TimingAnswer:
    """Run the model in each way. A way that fails is its answer's problem. Raises BadInput if eager fails."""
    # a pool of threads would not survive the fork
    torch.set_num_threads(1)
    call = made(question.file)
    with ExitStack() as ending, tempfile.TemporaryDirectory() as folder:
        expected = Path(folder) / "eager.pt"
        runners: dict[Way, _WayProcess] = {}
        for way in question.ways:
            runners[way] = _WayProcess(call, question, way, expected)
            ending.callback(runners[way].end)
        answers: dict[Way, WayAnswer] = {Way.EAGER: runners[Way.EAGER].asked(0)}
        if problem := answers[Way.EAGER].problem:
            raise BadInput(f"The model does not run: {problem}")
        # the others compare their outputs with eager's, and compile at the same time
        others = [way for way in runners if way is not Way.EAGER]
        for way in others:
            runners[way].ask(0)
        for way in others:
            answers[way] = runners[way].answer(0)
        running = {way: each for way, each in runners.items() if not answers[way].problem}
        calls, seconds = _timed(running, question.rounds) if question.rounds else (0, {})
        ways = tuple(replace(each, seconds=tuple(seconds.get(way, ()))) for way, each in answers.items())
    device = torch.cuda.get_device_name() if question.device is Device.CUDA else "cpu"
    return TimingAnswer(device, ways, calls)


def _timed(runners: Mapping[Way, "_WayProcess"], rounds: int) -> tuple[int, dict[Way, list[float]]]:
    """Take the times of one call of each way in so many rounds. Returns also how many calls a block has."""
    seconds: dict[Way, list[float]] = {way: [] for way in runners}
    once = runners[Way.EAGER].asked(WARM_UP)
    calls = max(1, min(MOST_CALLS, round(BLOCK_S / once)))
    order = list(runners)
    shuffling = random.Random(0)
    for _ in range(rounds):
        shuffling.shuffle(order)
        for way in order:
            seconds[way].append(runners[way].asked(calls))
    return calls, seconds


class _WayProcess:
    """The process of one way."""

    def __init__(self, call: MadeModel, question: TimingQuestion, way: Way, expected: Path) -> None:
        context = multiprocessing.get_context("fork")
        self.channel, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, call, question, way, expected), daemon=True)
        self.process.start()
        other.close()
        self.way = way

    def asked(self, calls: int) -> Any:
        """Seconds per call of a block of so many calls; for 0, which comes first, a WayAnswer."""
        self.ask(calls)
        return self.answer(calls)

    def ask(self, calls: int) -> None:
        """Begin what asked() does."""
        with contextlib.suppress(OSError):  # answer() says what has happened
            self.channel.send(calls)

    def answer(self, calls: int) -> Any:
        """End what asked() does."""
        try:
            return self.channel.recv()
        except (EOFError, OSError):
            self.process.join(5)
            problem = f"its process ended with exit code {self.process.exitcode}"
            if calls:
                raise BadInput(f"The model ended while it was timed ({self.way.value}): {problem}.") from None
            return WayAnswer(self.way, problem=problem)

    def end(self) -> None:
        self.channel.close()
        self.process.kill()
        self.process.join()


def _serve(channel: Connection, call: MadeModel, question: TimingQuestion, way: Way, expected: Path) -> None:
    """Answer the questions of a _WayProcess until it ends."""
    device = question.device.value
    channel.recv()
    try:
        here, run, passes = _prepared(call, question, way)
        start = time.perf_counter()
        outputs = _tensors(run())
        _wait(device)
        took = time.perf_counter() - start
        if way is Way.EAGER:
            torch.save([each.cpu() for each in outputs], expected)
            correct: tuple[int, ...] | None = tuple(LEVELS)
        else:
            correct = None if here.training else tuple(_close_at(outputs, torch.load(expected)))
        found = passes.explain() if passes else None
        matches = sum(each.count for each in found.graphs) if found else 0
        answer = WayAnswer(way, correct, matches=matches, first_s=took, explained=str(found or ""))
    except Exception as error:  # the model and the bundle are strangers' code
        channel.send(WayAnswer(way, problem=f"{type(error).__name__}: {' '.join(str(error).split())[:600]}"))
        return
    channel.send(answer)
    if core := os.environ.get(CORE):
        # the same one for every way: they take turns
        os.sched_setaffinity(0, {int(core)})
    while calls := channel.recv():
        for _ in range(WARM_UP):
            run()
        _wait(device)
        start = time.perf_counter()
        for _ in range(calls):
            run()
        _wait(device)
        channel.send((time.perf_counter() - start) / calls)


def _prepared(
    call: MadeModel, question: TimingQuestion, way: Way
) -> tuple[MadeModel, Callable[[], Any], PassBackend | None]:
    """The model on its device, a function that calls it in this way, and the backend with passes, if it has one."""
    device = question.device.value
    model = call.model.to(device) if isinstance(call.model, torch.nn.Module) else call.model
    args, kwargs = pytree.tree_map_only(torch.Tensor, lambda each: each.to(device), (call.args, dict(call.kwargs)))
    here = MadeModel(model, args, kwargs)
    passes: PassBackend | None = None
    how: Any = None
    match way:
        case Way.CAPTURED:
            how = "eager"
        case Way.INDUCTOR | Way.GRAPHS:
            how = "inductor"
        case Way.PASSES | Way.PASSES_INDUCTOR | Way.PASSES_GRAPHS:
            how = passes = PassBackend(
                [ChosenBundle(question.bundle, ())], "eager" if way is Way.PASSES else "inductor"
            )
    mode = "reduce-overhead" if way in (Way.GRAPHS, Way.PASSES_GRAPHS) else None
    compiled = None if how is None else torch.compile(model, backend=how, mode=mode, dynamic=False)
    return here, lambda: here(compiled), passes


def _tensors(outputs: Any) -> list[torch.Tensor]:
    return [each for each in pytree.tree_leaves(outputs) if isinstance(each, torch.Tensor)]


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _close_at(outputs: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> Iterator[int]:
    """The levels t at which every element of all outputs is as close to eager's as the level asks."""
    alike = len(outputs) == len(expected) and all(
        (one.shape, one.dtype) == (other.shape, other.dtype) for one, other in zip(outputs, expected)
    )
    for t in LEVELS if alike else ():
        if all(_close(one.cpu(), other, t) for one, other in zip(outputs, expected)):
            yield t


def _close(actual: torch.Tensor, expected: torch.Tensor, t: int) -> bool:
    allowed = tolerance(str(expected.dtype), t)
    if allowed.exact:
        return torch.equal(actual, expected)
    wide = torch.complex128 if expected.is_complex() else torch.float64
    return torch.allclose(actual.to(wide), expected.to(wide), allowed.rtol, allowed.atol, equal_nan=True)


def main() -> int:
    """Run the program. Returns exit code 0, or 2 with a sentence on standard error."""
    return answering(TimingQuestion, measure)


if __name__ == "__main__":
    sys.exit(main())
