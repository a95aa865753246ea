"""Tell what a mutation of a bundle does, by running both beside each other in Triton's interpreter, without the judge.

A program of its own, since the interpreter has to be chosen before Triton is imported. It reads JSON lines. The first
is {"subgraph", "bundle"}: the answer says which functions the subgraph uses, and what the bundle itself gets wrong.
Each further one is {"bundle"}, a mutant, which runs in a fork: it may write anywhere. The answer is {"effect", "why"}.
"""

import os

os.environ["TRITON_INTERPRET"] = "1"

import json
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import torch

from passnet_core.fx import modules
from passnet_core.graphs.placement import placed
from passnet_core.graphs.rewriting import rewrite
from passnet_core.graphs.source import parse
from passnet_core.judge.gpu_on_cpu.strict_memory import watched
from passnet_core.operations.binding import bind
from passnet_core.records import Bundle, Subgraph, TensorSpec, from_json
from passnet_core.scoring.tolerances import tolerance
from tests.contract.trying_rules import drawn
from tests.loading import loaded
from tests.redteam.effects import Effect
from tests.waiting import seconds

SLOW_S = 0.7
"""How long one call of an original may compute. Its mutants make seven calls each, of which some are watched."""
STRICTEST = -5
MOST_NOISE = 0.05
"""Roundings count for no more than this, as a share of an element: a draw on which they decide more tells nothing."""

Draw = Callable[[torch.Tensor], torch.Tensor]


def _odd(values: torch.Tensor) -> torch.Tensor:
    """Zeros, halves, whole numbers, and numbers far smaller and larger, in random places."""
    choices = torch.tensor([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0, 1e-3, -1e-3, 20.0, -20.0])
    places = (values.double().abs() * 7919).long() % len(choices)
    return choices[places].to(values.dtype)


def _sized_by_row(values: torch.Tensor) -> torch.Tensor:
    """Rows from a ten-thousandth, where an eps matters, to thirty times as large."""
    if values.dim() < 2:
        return values
    rows = values.shape[:-1]
    factors = torch.tensor([1e-4, 1e-2, 1.0, 30.0])[torch.arange(math.prod(rows)) % 4]
    return values * factors.reshape(*rows, 1).to(values.dtype)


DRAWS: dict[str, Draw] = {
    "usual": lambda x: x,
    "negative": lambda x: -x.abs() - 0.1,
    "large": lambda x: x * 30,
    "small": lambda x: x * 2e-3,
    "odd": _odd,
    "rows of their own": _sized_by_row,
    "deep": lambda x: x * 100 - 20_000,
}
"""How floats are changed after they were drawn. Integers and booleans are drawn anew for each."""
ALONE = {"negative": (False, 0), "large": (True, -1), "odd": (False, -1), "deep": (True, 0)}
"""Which boolean occurs once on these draws, and where; on the others there are as many of both."""


@dataclass(frozen=True)
class Ran:
    """What a call left: its outputs, and its inputs, which it may have changed."""

    tensors: tuple[Any, ...]


def inputs_of(subgraph: Subgraph, draw: str) -> list[torch.Tensor]:
    """Inputs that the subgraph can have: recorded limits of floats and ranges of integers are kept."""
    generator = torch.Generator().manual_seed(list(DRAWS).index(draw))
    return [_within(each, drawn(each, generator), draw) for each in subgraph.inputs]


def _within(spec: TensorSpec, values: torch.Tensor, draw: str) -> torch.Tensor:
    if values.dtype is torch.bool and draw in ALONE and values.numel():
        alone, place = ALONE[draw]
        found = torch.full_like(values, not alone)
        found.view(-1)[place] = alone
        return found
    if not values.is_floating_point():
        return values
    found = DRAWS[draw](values)
    if "var" in spec.original_name:
        found = found.abs() + 0.1
    if spec.low is not None and spec.high is not None and spec.low >= 0 and spec.high <= 1:
        found = found.abs().clamp(spec.low, spec.high)
    return found


def _module(subgraph: Subgraph, bundle: Bundle, *, told: dict[str, Any] | None = None) -> Iterator[Any]:
    """The rewritten subgraph, loaded while the generator waits. told: gets the files that match and their functions."""
    graph = placed(parse(subgraph.code), "cpu")
    with loaded(bundle) as passes:
        rewriting = rewrite(graph, passes.traced, bind=bind)
        called = {each.name: set[str]() for each in rewriting.reports if each.matches}
        for file, names in called.items() if told is not None else ():
            _note_calls(vars(sys.modules[file.removesuffix(".py")]), names)
        yield modules.module_of(rewriting.graph, passes.functions)
        if told is not None:
            told["used"] = {file: sorted(names) for file, names in called.items()}


def _note_calls(own: dict[str, Any], called: set[str]) -> None:
    """Note which functions of a pass are called, and the kernels that these name. own: the names of its file."""

    def noting(function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            note(function)
            return function(*args)

        return noted

    def note(function: Any) -> None:
        called.add(function.__name__)
        called.update(name for name in function.__code__.co_names if name.endswith("_kernel"))

    replacement = own["replacement_func"]()
    note(replacement)
    for name in replacement.__code__.co_names:
        if name.startswith(f"{replacement.__name__}_") and isinstance(own.get(name), FunctionType):
            own[name] = noting(own[name])


def _run(module: Any, inputs: list[torch.Tensor]) -> Ran:
    mine = [each.clone() for each in inputs]
    with torch.no_grad():
        found = module(*mine)
    outputs = found if isinstance(found, tuple) else (found,)
    return Ran((*outputs, *mine))


def _nudged(values: torch.Tensor, sign: float) -> torch.Tensor:
    """Floats one unit in the last place away, to both sides."""
    if not values.is_floating_point():
        return values
    flat = torch.arange(values.numel()).reshape(values.shape) % 2 * 2.0 - 1.0
    target = torch.where(flat * sign > 0, math.inf, -math.inf).to(values.dtype)
    return torch.where(values == 0, values, torch.nextafter(values, target))


@dataclass
class Original:
    """A bundle with what it gave, and how much of that is rounding."""

    subgraph: Subgraph
    bundle: Bundle

    def __post_init__(self) -> None:
        self.told: dict[str, Any] = {"problem": "", "slow": False}
        self.inputs = {draw: inputs_of(self.subgraph, draw) for draw in DRAWS}
        self.wanted: dict[str, Ran] = {}
        self.nudged: dict[str, list[Ran]] = {}
        eager = modules.module_of(placed(parse(self.subgraph.code), "cpu"), {})
        for module in _module(self.subgraph, self.bundle, told=self.told):
            for draw, inputs in self.inputs.items():
                begun = time.process_time()
                self.wanted[draw] = _run(module, inputs)
                if time.process_time() - begun > SLOW_S:
                    self.told["slow"] = True
                    break
                self.nudged[draw] = [_run(eager, [_nudged(x, sign) for x in inputs]) for sign in (1.0, -1.0)]
                effect, why = self.compared(draw, _run(eager, inputs))
                if effect is Effect.VALUES:
                    self.told["problem"] = self.told["problem"] or f"beside eager, on {draw} inputs: {why}"

    def effect_of(self, mutant: Bundle) -> tuple[Effect, str]:
        """What a mutant does on all draws: the gravest that is seen on one."""
        worst = Effect.NONE, ""
        outside = ""
        try:
            for module in _module(self.subgraph, mutant):
                for place, (draw, inputs) in enumerate(self.inputs.items()):
                    # watching takes several times as long, and keeps a mutant that reads outside from crashing
                    if outside or not place:
                        with watched(seed=1) as memory:
                            found = _run(module, inputs)
                        outside = outside or "".join(f"on {draw} inputs: {each}" for each in memory.problems[:1])
                    else:
                        found = _run(module, inputs)
                    effect, why = self.compared(draw, found)
                    if effect is Effect.VALUES:
                        return effect, f"on {draw} inputs: {why}"
                    if effect is Effect.ROUNDINGS:
                        worst = effect, f"on {draw} inputs: {why}"
        except Exception as error:  # whatever a mutant does wrong
            return Effect.FAILS, f"{type(error).__name__}: {str(error)[-200:]}"
        return (Effect.MEMORY, outside) if outside else worst

    def compared(self, draw: str, found: Ran) -> tuple[Effect, str]:
        wanted, nudged = self.wanted[draw], self.nudged[draw]
        worst = Effect.NONE, ""
        for place, (one, other) in enumerate(zip(wanted.tensors, found.tensors)):
            effect, why = _unlike(one, other, [each.tensors[place] for each in nudged])
            if effect is Effect.VALUES:
                return effect, f"tensor {place}: {why}"
            if effect is Effect.ROUNDINGS:
                worst = effect, f"tensor {place}: {why}"
        return worst


def _unlike(wanted: Any, found: Any, nudged: list[Any]) -> tuple[Effect, str]:
    if not isinstance(wanted, torch.Tensor):
        return (Effect.NONE, "") if wanted == found else (Effect.VALUES, f"{found} is not {wanted}")
    if not isinstance(found, torch.Tensor) or wanted.dtype != found.dtype or wanted.shape != found.shape:
        return Effect.VALUES, "another shape or dtype"
    if any(a != b for a, b, size in zip(wanted.stride(), found.stride(), wanted.shape) if size > 1):
        return Effect.VALUES, f"strides {found.stride()} are not {wanted.stride()}"
    if not wanted.is_floating_point():
        count = int((wanted != found).sum())
        tipped = max(int((wanted != each).sum()) for each in nudged)
        if not count:
            return Effect.NONE, ""
        return Effect.VALUES if count > 2 * tipped else Effect.ROUNDINGS, f"{count} of {wanted.numel()} differ"
    if torch.equal(wanted.nan_to_num(7.5), found.nan_to_num(7.5)) and torch.equal(wanted.isnan(), found.isnan()):
        return Effect.NONE, ""
    one, other = wanted.double(), found.double()
    near = [each.double() for each in nudged]
    settled = torch.stack([each.isfinite() == one.isfinite() for each in near]).all(0)
    strange = settled & (one.isfinite() != other.isfinite())
    if strange.any():
        return Effect.VALUES, f"{int(strange.sum())} of {wanted.numel()} are finite on one side only"
    finite = settled & one.isfinite() & other.isfinite()
    if not finite.any():
        return Effect.ROUNDINGS, "no finite element is settled"
    one, other, near = one[finite], other[finite], [each[finite] for each in near]
    allowed = tolerance(str(wanted.dtype), STRICTEST)
    scale = one.abs() + one.abs().mean()
    share = max(float(((each - one).abs() / scale.clamp_min(1e-30)).nan_to_num(0.0).max()) for each in near)
    limit = allowed.atol + allowed.rtol * one.abs() + min(2 * share, MOST_NOISE) * scale
    off = (other - one).abs()
    said = f"off by {float(off.max()):.3g}, of which {float((off - limit).max()):.3g} too much"
    return (Effect.VALUES if bool((off > limit).any()) else Effect.ROUNDINGS), said


def _forked(original: Original, mutant: Bundle) -> tuple[Effect, str]:
    """Find out in a process that may end in any way."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        signal.alarm(math.ceil(seconds(15)))
        answer = json.dumps(original.effect_of(mutant)).encode()
        os.write(writer, answer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if not told:
        return Effect.FAILS, f"it ended with signal {signal.Signals(os.WTERMSIG(status)).name}"
    effect, why = json.loads(told)
    return Effect(effect), why


def main() -> None:
    torch.set_num_threads(1)
    original: Original | None = None
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a bundle prints is no answer
    for line in sys.stdin:
        asked = json.loads(line)
        bundle = from_json(Bundle, asked["bundle"])
        if original is None:
            original = Original(from_json(Subgraph, asked["subgraph"]), bundle)
            answer = original.told
        else:
            effect, why = _forked(original, bundle)
            answer = {"effect": effect, "why": why}
        print(json.dumps(answer), file=channel, flush=True)


if __name__ == "__main__":
    main()
