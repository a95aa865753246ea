"""Check what a timed call returned: draw its inputs again from their seed, and compare with eager's results on them."""

from collections.abc import Sequence
from typing import Protocol

import torch

from passnet_core.judge.numerics import comparing, elements
from passnet_core.judge.numerics.perturbing import PerturbedResults
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, Fills, Returned
from passnet_core.judge.protocol.reference_bench import Computing, Drawn, RecheckedCall
from passnet_core.records import Verdict


class RecallingReference(Computing, Protocol):
    """The witness, called from the referee or from inside, with "eager" and "float64" prepared. See WorkerProcess."""

    def recall(self, name: str, fills: Fills, weights: int, seeds: Sequence[int]) -> tuple[Returned, ...]: ...


def rechecked(witness: RecallingReference, fills: Fills, weights: int, seed: int, actual: Returned) -> RecheckedCall:
    """Compare what a call with this seed returned with eager. Results that are close to eager at FALLBACK_T pass:
    with new inputs in every call, chance would take some honest result beyond the bound of the verdict. How results lie
    in memory says nothing here, since those recalled are copies. actual: on the device of the witness's results."""
    (eager,) = witness.recall(CallableName.EAGER, fills, weights, [seed])
    problem = comparing.structure_problem(eager, actual)
    if problem:
        return RecheckedCall(Verdict.WRONG_TYPE, problem)
    pairs = list(enumerate(zip(eager.outputs, actual.outputs)))
    far = [
        (index, pair)
        for index, pair in pairs
        if comparing.compare(comparing.References(pair[0]), pair[1], memory=False).verdict
    ]
    if not far:
        return RecheckedCall()
    exact: Returned | None
    try:
        (exact,) = witness.recall(CallableName.FLOAT64, fills, weights, [seed])
    except CandidateFault:
        exact = None

    def inputs() -> list[Drawn]:
        # an empty name recalls the inputs
        (drawn,) = witness.recall("", fills, weights, [seed])
        return [each.value for each in drawn.outputs if isinstance(each.value, torch.Tensor | int)]

    perturbed = PerturbedResults(witness, inputs, seed, eager=eager)
    for index, (wanted, given) in far:
        references = comparing.References(wanted, exact.outputs[index] if exact else None, perturbed.output(index))
        difference = comparing.compare(references, given, memory=False)
        if difference.verdict is not None and elements.FALLBACK_T not in difference.correct_at:
            return RecheckedCall(difference.verdict, f"output {index}: {difference.problem}")
    return RecheckedCall()
