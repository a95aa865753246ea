"""A backend of torch.compile that applies the passes of a bundle to what Dynamo captures."""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch.fx

from passnet_core.errors import BadInput
from passnet_core.fx.modules import Function
from passnet_core.graphs.effects import changed, is_random
from passnet_core.graphs.ir import Graph, Ref, Value, references
from passnet_core.graphs.matching import Match
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.integrate import applying
from passnet_core.integrate.applying import Examples
from passnet_core.integrate.bundles import ChosenBundle, found
from passnet_core.integrate.calls import Callee, callee
from passnet_core.integrate.circumstances import TRAINING, left_alone
from passnet_core.integrate.domains import Domain, call_of, domains_of
from passnet_core.integrate.explanation import Explanation, GraphExplanation
from passnet_core.integrate.plans import plans_of
from passnet_core.integrate.replacing import Conduct, PassFailed, ReplacedMatch, Verify
from passnet_core.records import Bundle

__all__ = ["PassBackend", "PassFailed", "PassWarning", "backend"]

RESTS = ("eager", "inductor")
FOR_TRAINING = (
    "A graph was captured for training, and passes have no gradients: it is left as it is. Call the model under"
    " torch.no_grad() or torch.inference_mode() to use the passes."
)
FOR_INDUCTOR = "torch.compile was given a mode or options, which are Inductor's: with rest='eager' they do nothing."
UNFROZEN = (
    "it prepares weights, and a plan has them as they were. backend(..., frozen=True) promises that they stay; call"
    " refresh() when they have changed"
)
OUTSIDE = (
    "A match of pass {} is not like what was judged: {}. It is left to the graph's own operations, as others may be:"
    " explain() lists them."
)


class PassWarning(UserWarning):
    """What a backend did not do, or cannot vouch for."""


Named = str | Path | Bundle
"""A bundle's folder, the digest of one that comes with the playground, or a bundle."""


def backend(
    bundle: Named | Sequence[Named],
    *,
    rest: str = "eager",
    digest: str = "",
    verify: str = "first",
    frozen: bool = False,
) -> "PassBackend":
    """A backend for torch.compile that replaces what the passes of a bundle match, or of several, one after the other.

    bundle: a folder, or the digest of one that comes with the playground. Its host code runs in the judge's sandbox,
    once for each signature, and says what to launch; its kernels run in your program. rest: what computes everything
    else, "eager" or "inductor". digest: refuse any other bundle than the one whose digest begins so; of several, those
    with these digests, joined by commas. verify: which calls of a replaced match are compared with the operations that
    it replaces: the "first" with each new signature (shapes, dtypes and the like), "always", or "never". frozen: the
    model's weights do not change, so that passes may prepare them, once and again at refresh(). Raises BadInput for a
    bundle that cannot be read or imported, or is another one, and InfrastructureError if no process can be started for
    it; warns of one that the judge is not known to have accepted."""
    if rest not in RESTS:
        raise BadInput(f"rest={rest!r} is neither 'eager' nor 'inductor'.")
    if verify not in set(Verify):
        raise BadInput(f"verify={verify!r} is none of 'first', 'always' and 'never'.")
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
        digest = each.bundle.digest
        if not digest.startswith(wanted.strip()):
            raise BadInput(f"A bundle has the digest {digest}, not {wanted}: it is another one, or was changed.")
        if not each.judged:
            warnings.warn(
                f"Nothing here says on what bundle {digest[:12]} was judged, or that its passes are right. Have it"
                " judged on your subgraphs first.",
                PassWarning,
                stacklevel=2,
            )
    return PassBackend(chosen, rest, verify=Verify(verify), frozen=frozen)


def _callees(chosen: Sequence[ChosenBundle]) -> Iterator[tuple[Callee, Domain | None]]:
    """The passes of the bundles, each by a name of its own, with its domain; None if nothing says what it is."""
    counts = Counter(file.name.removesuffix(".py") for each in chosen for file in each.bundle.passes)
    number = 0
    for each in chosen:
        bundle, plans = each.bundle, plans_of(each.bundle)
        domains = domains_of(plans.passes, each.judged)
        for traced in plans.passes:
            name = traced.name if counts[traced.name] == 1 else f"{traced.name} of {bundle.digest[:8]}"
            yield callee(traced, plans, name, f"pass_{number}"), domains.get(traced.name)
            number += 1


@dataclass(frozen=True)
class _Captured:
    """What was done with a graph that was captured. misses: why each pass that does not match it does not. replaced:
    its replaced matches."""

    explained: GraphExplanation
    misses: Mapping[str, str]
    replaced: Sequence[ReplacedMatch] = ()

    def explanation(self) -> GraphExplanation:
        """What was done with the graph, after what its calls have shown so far."""
        refused = [each for each in self.replaced if each.problem]
        counts = Counter(self.explained.matches)
        counts.subtract(each.name for each in refused)
        return replace(
            self.explained,
            matches={name: count for name, count in counts.items() if count > 0},
            stayed=(*self.explained.stayed, *(f"{each.name}: {each.problem}" for each in refused)),
        )


class PassBackend:
    """What torch.compile calls with each captured graph. explain() tells what it did so far."""

    def __init__(
        self, chosen: Sequence[ChosenBundle], rest: str, *, verify: Verify = Verify.FIRST, frozen: bool = False
    ) -> None:
        self.bundles, self.rest = tuple(each.bundle for each in chosen), rest
        self.conduct = Conduct(verify, frozen, self._warn)
        self._captured: list[_Captured] = []
        self._warned: set[str] = set()
        pairs = list(_callees(chosen))
        callees = [each for each, _ in pairs]
        self._domains = {each.traced.replacement: domain for each, domain in pairs}
        refused = {each.traced.name: reason for each in callees if (reason := _refusal(each, rest, frozen))}
        self.notes = tuple(f"{name} is left out: {reason}." for name, reason in refused.items())
        self._callees = {each.traced.replacement: each for each in callees if each.traced.name not in refused}

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
        reason = left_alone(captured, example_inputs)
        if reason:
            if reason == TRAINING:
                self._warn(TRAINING, FOR_TRAINING)
            self._captured.append(_Captured(GraphExplanation(_operations(captured.graph), {}, reason), {}))
        if self.rest == "eager":
            if mode or options:
                self._warn(FOR_INDUCTOR, FOR_INDUCTOR)
            if not reason:
                self._apply(captured.graph, example_inputs)
                captured.recompile()
            return captured.forward
        from passnet_core.integrate.inductor import PreGradPass, compiled, options_of

        digests = " ".join(each.digest for each in self.bundles)
        hook = None if reason else PreGradPass(lambda graph: self._apply(graph, example_inputs), digests)
        return compiled(captured, example_inputs, {**(options_of(mode) if mode else {}), **(options or {})}, hook)

    def explain(self) -> Explanation:
        """What was captured so far, which passes matched how often, and what was left alone and why."""
        matched = {name for each in self._captured for name in each.explained.matches}
        missed: dict[str, str] = {}
        # the reason in the largest graph
        for each in sorted(self._captured, key=lambda each: each.explained.operations):
            missed |= {name: reason for name, reason in each.misses.items() if name not in matched}
        graphs = tuple(each.explanation() for each in self._captured)
        return Explanation(tuple(each.digest[:12] for each in self.bundles), graphs, missed, self.notes)

    def refresh(self) -> None:
        """Have passes prepare frozen weights again, after these have changed."""
        with torch.no_grad():
            for captured in self._captured:
                for each in captured.replaced:
                    each.planned.refresh()

    # --- inside ---

    def _apply(self, graph: torch.fx.Graph, example_inputs: Sequence[Any]) -> None:
        """Apply the passes to a graph, in place, and note what came of it."""
        operations = _operations(graph)
        device = applying.device_of(example_inputs)
        callees = {key: each.placed(device) for key, each in self._callees.items()}
        stayed: dict[tuple[str, ...], tuple[str, str]] = {}
        replaced: list[ReplacedMatch] = []

        def stays(read: Graph, traced: TracedPass, match: Match, examples: Examples) -> bool:
            reason = _reason(callees[traced.replacement], match, examples)
            domain = self._domains[traced.replacement]
            if not reason and domain is not None:
                names = [node.name for node in traced.pattern.inputs]
                outside = domain.problem(names, call_of(traced, match, examples), device)
                reason = outside and f"it is not like what was judged: {outside}"
                if reason:
                    self._warn(OUTSIDE, OUTSIDE.format(traced.name, outside))
            if not reason and self.rest == "inductor":
                from passnet_core.integrate.operators import shared_problem

                reason = shared_problem(read, traced, match)
            if reason:
                stayed[match.names] = traced.name, reason
            return bool(reason)

        def making(traced: TracedPass, args: Sequence[Value], examples: Examples) -> Function:
            chosen = callees[traced.replacement].filled(args)
            values = [examples.get(each.name) for each in args if isinstance(each, Ref)]
            weights = [name for name, each in zip(chosen.given, values) if isinstance(each, torch.nn.Parameter)]
            if self.rest == "inductor":
                from passnet_core.integrate.operators import operator_for

                function, match = operator_for(chosen, values, weights, self.conduct)
            else:
                match = ReplacedMatch(chosen, weights, self.conduct)
                function = match.function()
            replaced.append(match)
            return function

        try:
            reports = applying.apply(graph, [each.traced for each in callees.values()], making, stays)
        except (BadInput, RecursionError, TypeError) as error:
            reason = f"the passes cannot be applied to it: {error}"
            self._captured.append(_Captured(GraphExplanation(operations, {}, reason), {}))
            return
        matches = {each.name: len(each.matches) for each in reports if each.matches}
        misses = {each.name: each.miss.reason for each in reports if each.miss is not None}
        misses |= {name: f"Its match is left to the graph's own operations: {why}." for name, why in stayed.values()}
        explained = GraphExplanation(
            operations,
            matches,
            "" if matches else "no pass matches",
            tuple(f"{name}: {why}" for name, why in stayed.values()),
        )
        self._captured.append(_Captured(explained, misses, replaced))

    def _warn(self, subject: str, text: str) -> None:
        """Warn, once of each subject."""
        if subject not in self._warned:
            self._warned.add(subject)
            warnings.warn(text, PassWarning, stacklevel=3)


def _operations(graph: torch.fx.Graph) -> int:
    return sum(each.op.startswith("call_") for each in graph.nodes)


def _refusal(callee: Callee, rest: str, frozen: bool) -> str:
    """Why no match of a pass can be replaced, or an empty string."""
    pattern = callee.traced.pattern
    if any(is_random(node) for node in pattern.operations):
        return "its pattern draws random numbers, so that nobody can tell whether the pass does the same"
    if callee.prepares and not frozen:
        return UNFROZEN
    results = pattern.result if isinstance(pattern.result, tuple) else (pattern.result,)
    if rest == "inductor" and any(changed(node) for node in pattern.operations):
        return "its pattern changes a tensor in place, which rest='inductor' cannot leave to a pass"
    if rest == "inductor" and not all(isinstance(each, Ref) for each in results):
        return "its pattern returns something besides tensors"
    return ""


def _reason(callee: Callee, match: Match, examples: Examples) -> str:
    """Why a match stays as it is, or an empty string."""
    for node in callee.pattern.inputs:
        value = match.inputs.get(node.name)
        if not isinstance(value, Ref):
            if any(True for _ in references(value)):
                return "it takes a list with computed numbers in it"
            continue
        example = examples.get(value.name)
        if not isinstance(example, torch.Tensor | torch.SymInt | int):
            return f"it takes a value of type {type(example).__name__}"
    return ""
