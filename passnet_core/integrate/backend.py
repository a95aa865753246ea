"""A backend of torch.compile that applies the passes of a bundle to what Dynamo captures."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch.fx

from passnet_core.errors import BadInput
from passnet_core.fx.modules import Function
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.integrate import applying
from passnet_core.integrate.bundles import found, is_accepted, passes_of
from passnet_core.integrate.calls import Callee, PassFailed, callee
from passnet_core.integrate.explanation import Explanation, GraphExplanation
from passnet_core.records import Bundle

__all__ = ["PassBackend", "PassFailed", "PassWarning", "backend"]

RESTS = ("eager", "inductor")
TRAINING = (
    "A graph was captured for training, and passes have no gradients: it is left as it is. Call the model under"
    " torch.no_grad() or torch.inference_mode() to use the passes."
)


FOR_INDUCTOR = "torch.compile was given a mode or options, which are Inductor's: with rest='eager' they do nothing."


class PassWarning(UserWarning):
    """What a backend did not do, or cannot vouch for."""


Named = str | Path | Bundle
"""A bundle's folder, the digest of one that comes with the playground, or a bundle."""


def backend(bundle: Named | Sequence[Named], *, rest: str = "eager", digest: str = "") -> "PassBackend":
    """A backend for torch.compile that replaces what the passes of a bundle match, or of several, one after the other.

    bundle: a folder, or the digest of one that comes with the playground. Its files are run: they can do whatever your
    program can. rest: what computes everything else, "eager" or "inductor". digest: refuse any other bundle than the
    one whose digest begins so; of several, those with these digests, joined by commas. Raises BadInput for a bundle
    that cannot be read or imported, or is another one; warns of one that the judge is not known to have accepted."""
    if rest not in RESTS:
        raise BadInput(f"rest={rest!r} is neither 'eager' nor 'inductor'.")
    named = [bundle] if isinstance(bundle, str | Path | Bundle) else list(bundle)
    chosen = [found(each) for each in named]
    if not chosen:
        raise BadInput("No bundle is named. Name the folder of one.")
    pinned = digest.lower().split(",") if digest else [""] * len(chosen)
    if len(pinned) != len(chosen):
        raise BadInput(
            f"There are {len(chosen)} bundles and {len(pinned)} digests. Give one for each, joined by commas."
        )
    for each, wanted in zip(chosen, pinned):
        if not each.digest.startswith(wanted.strip()):
            raise BadInput(f"A bundle has the digest {each.digest}, not {wanted}: it is another one, or was changed.")
        if not is_accepted(each):
            warnings.warn(
                f"Bundle {each.digest[:12]} does not come with the playground: nothing here says that its passes are"
                " right. Have it judged on your subgraphs first.",
                PassWarning,
                stacklevel=2,
            )
    return PassBackend(chosen, rest)


def _callees(bundles: Sequence[Bundle], *, also: bool) -> Iterator[Callee]:
    """The passes of the bundles, each by a name of its own. also: as in callee."""
    counts = Counter(file.name.removesuffix(".py") for each in bundles for file in each.passes)
    number = 0
    for bundle in bundles:
        imported = passes_of(bundle)
        for each in imported.passes:
            name = each.name if counts[each.name] == 1 else f"{each.name} of {bundle.digest[:8]}"
            replacement, hook = imported.replacements[each.replacement], imported.hooks.get(each.replacement)
            yield callee(replace(each, name=name), bundle.digest, f"pass_{number}", replacement, hook, also=also)
            number += 1


@dataclass(frozen=True)
class _Captured:
    """What was done with a graph that was captured. misses: why each pass that does not match it does not."""

    explained: GraphExplanation
    misses: dict[str, str]


class _Refused(Exception):
    """A match cannot be called; the others of its graph may."""


class PassBackend:
    """What torch.compile calls with each captured graph. explain() tells what it did so far."""

    def __init__(self, bundles: Sequence[Bundle], rest: str) -> None:
        self.bundles, self.rest = tuple(bundles), rest
        self.notes: tuple[str, ...] = ()
        self._captured: list[_Captured] = []
        self._warned: set[str] = set()
        callees = list(_callees(bundles, also=rest == "inductor"))
        if rest == "inductor":
            from passnet_core.integrate.operators import refusal

            refused = {each.traced.name: reason for each in callees if (reason := refusal(each))}
            self.notes = tuple(f"{name} is left out: {reason}." for name, reason in refused.items())
            callees = [each for each in callees if each.traced.name not in refused]
        self._callees = {each.traced.replacement: each for each in callees}

    def __call__(
        self,
        captured: torch.fx.GraphModule,
        example_inputs: Sequence[Any],
        *,
        mode: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Function:
        """The callable for a captured graph, with the passes applied where they match and may be applied. mode,
        options: those of torch.compile, for Inductor."""
        configured: Mapping[str, Any] = options or {}
        if self.rest == "eager" and (mode or options):
            self._warn(FOR_INDUCTOR)
        elif mode:
            from passnet_core.integrate.inductor import options_of

            configured = {**options_of(mode), **configured}
        if torch.is_grad_enabled() and any(
            isinstance(each, torch.Tensor) and each.requires_grad for each in example_inputs
        ):
            self._warn(TRAINING)
            self._keep(
                _operations(captured.graph), left_alone="it was captured for training, and passes have no gradients"
            )
            return self._rest(captured, example_inputs, configured)
        if self.rest == "inductor":
            return self._in_inductor(captured, example_inputs, configured)
        self._apply(
            captured.graph, example_inputs, lambda chosen, args: (chosen.function(_weights(chosen, args)), args)
        )
        captured.recompile()
        return captured.forward

    def explain(self) -> Explanation:
        """What was captured so far, which passes matched how often, and what was left alone and why."""
        matched = {name for each in self._captured for name in each.explained.matches}
        missed: dict[str, str] = {}
        # the reason in the largest graph
        for each in sorted(self._captured, key=lambda each: each.explained.operations):
            missed |= {name: reason for name, reason in each.misses.items() if name not in matched}
        graphs = tuple(each.explained for each in self._captured)
        return Explanation(tuple(each.digest[:12] for each in self.bundles), graphs, missed, self.notes)

    # --- inside ---

    def _rest(
        self, captured: torch.fx.GraphModule, example_inputs: Sequence[Any], options: Mapping[str, Any]
    ) -> Function:
        """The callable for a graph without passes."""
        if self.rest == "eager":
            return captured.forward
        from passnet_core.integrate.inductor import compiled

        return compiled(captured, example_inputs, options)

    def _in_inductor(
        self, captured: torch.fx.GraphModule, example_inputs: Sequence[Any], options: Mapping[str, Any]
    ) -> Function:
        """The callable for a graph to which Inductor applies the passes before it does anything else with it."""
        from passnet_core.integrate.inductor import PreGradPass, compiled
        from passnet_core.integrate.operators import operator_for

        def operator(chosen: Callee, args: Sequence[Any]) -> tuple[Function, Sequence[Any]]:
            return operator_for(chosen, args, _weights(chosen, args))

        digests = " ".join(each.digest for each in self.bundles)
        hook = PreGradPass(lambda graph: self._apply(graph, example_inputs, operator), digests)
        return compiled(captured, example_inputs, options, hook)

    def _apply(
        self,
        graph: torch.fx.Graph,
        example_inputs: Sequence[Any],
        making: Callable[[Callee, Sequence[Any]], tuple[Function, Sequence[Any]]],
    ) -> None:
        """Apply the passes to a graph, in place, and note what came of it."""
        operations = _operations(graph)
        device = applying.device_of(example_inputs)
        callees = {key: each.placed(device) for key, each in self._callees.items()}
        refused: dict[str, str] = {}

        def made(traced: TracedPass, args: Sequence[Any]) -> tuple[Function, Sequence[Any]]:
            try:
                return making(callees[traced.replacement], args)
            except TypeError as error:
                refused[traced.replacement] = f"A match of it cannot be an operator of Inductor's: it takes {error}."
                raise _Refused from error

        while True:
            chosen = [each.traced for key, each in callees.items() if key not in refused]
            try:
                reports = applying.apply(graph, chosen, made)
                break
            except _Refused:
                continue
            except (BadInput, RecursionError, TypeError) as error:
                self._keep(operations, left_alone=f"the passes cannot be applied to it: {error}")
                return
        matches = {each.name: len(each.matches) for each in reports if each.matches}
        misses = {each.name: each.miss.reason for each in reports if each.miss is not None}
        misses |= {callees[key].traced.name: reason for key, reason in refused.items()}
        self._keep(operations, matches, misses, left_alone="" if matches else "no pass matches")

    def _keep(
        self,
        operations: int,
        matches: dict[str, int] | None = None,
        misses: dict[str, str] | None = None,
        *,
        left_alone: str = "",
    ) -> None:
        self._captured.append(_Captured(GraphExplanation(operations, matches or {}, left_alone), misses or {}))

    def _warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn(text, PassWarning, stacklevel=3)


def _operations(graph: torch.fx.Graph) -> int:
    return sum(each.op.startswith("call_") for each in graph.nodes)


def _weights(chosen: Callee, args: Sequence[Any]) -> tuple[str, ...]:
    """The names of the arguments that are parameters of the model."""
    return tuple(
        name
        for name, each in zip(chosen.given, args)
        if isinstance(each, torch.fx.Node) and isinstance(each.meta.get("example_value"), torch.nn.Parameter)
    )
