"""Whether a timed call returned the truth: its inputs are drawn again from their seed, and eager computes on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from passnet_core.judge import comparing, elements, rounds
from passnet_core.judge.candidacy import CandidateFault, Computing, Fills, Returned
from passnet_core.judge.inputs import Drawn
from passnet_core.judge.moving import Nearby
from passnet_core.records import Verdict


class Recalling(Computing, Protocol):
    """The witness, from outside or from within, with "eager" and "float64" prepared. As in CandidateClient."""

    def recall(self, name: str, fills: Fills, weights: int, seeds: Sequence[int]) -> tuple[Returned, ...]: ...


@dataclass(frozen=True)
class Checked:
    """What is found of a timed call. digest: of what it returned. verdict: None where that is right."""

    digest: int
    verdict: Verdict | None = None
    problem: str = ""


def checked(witness: Recalling, fills: Fills, weights: int, seed: int, actual: Returned) -> Checked:
    """Compares what a call with these seeds returned with eager. What is close to eager is let pass: these inputs are
    ever others. actual: on the device of what the witness returns."""
    digest = rounds.digest([output.value for output in actual.outputs])
    (eager,) = witness.recall("eager", fills, weights, [seed])
    problem = comparing.structure_problem(eager, actual)
    if problem:
        return Checked(digest, Verdict.WRONG_TYPE, problem)
    pairs = list(enumerate(zip(eager.outputs, actual.outputs)))
    far = [each for each in pairs if comparing.compare(comparing.References(each[1][0]), each[1][1]).verdict]
    if not far:
        return Checked(digest)
    exact: Returned | None
    try:
        (exact,) = witness.recall("float64", fills, weights, [seed])
    except CandidateFault:
        exact = None

    def inputs() -> list[Drawn]:
        # without a name, inputs are what is recalled
        (drawn,) = witness.recall("", fills, weights, [seed])
        return [each.value for each in drawn.outputs if isinstance(each.value, torch.Tensor | int)]

    nearby = Nearby(witness, inputs, seed)
    for index, (wanted, given) in far:
        references = comparing.References(wanted, exact.outputs[index] if exact else None, nearby.output(index))
        difference = comparing.compare(references, given)
        if difference.verdict is not None and elements.FALLBACK_T not in difference.correct_at:
            return Checked(digest, difference.verdict, f"output {index}: {difference.problem}")
    return Checked(digest)
