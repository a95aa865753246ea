"""Choose the input draws that tell a subgraph from its mutants, by the bound that candidates are judged by.

The six of every verification come first. Each further one is added for a mutant that none before it tells apart. The
choice depends on nothing but the subgraph, its shapes and the judge: it is made on seeds of its own, and a draw counts
only if it tells a mutant apart on two of them, since the verification draws other inputs of the same kind."""

import hashlib
import json
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.source import emit
from passnet_core.judge.numerics import comparing
from passnet_core.judge.numerics.comparing import References
from passnet_core.judge.numerics.input_draws import INPUT_DRAWS, KNOWN, further_draws, parsed
from passnet_core.judge.numerics.mutants import Mutant, mutants
from passnet_core.judge.numerics.perturbing import same_elements
from passnet_core.judge.protocol.messages import CandidateFault, Produced, Returned
from passnet_core.judge.protocol.reference_bench import InputRole, TellingDraws
from passnet_core.records import TensorSpec, from_json, to_json

SEEDS = 2
"""On how many seeds a draw has to tell a mutant apart."""

ORDER = ("typical", "edges", "sparse", "signed", "wide", "recorded")
"""The six, the ones that tell most mutants apart first."""

AGAIN = (
    "offsets 3", "tiny 2", "tiny 3", "sparse 2", "edges 2", "faint 2", "ranges 2", "masks 2", "limits 2",
    "deep 2", "masked 2", "masked 3", "removed 2", "close 2", "close 3",
)  # fmt: skip
"""Draws with another seed, tried after all other kinds; tiny ones also have another size, offsets another axis."""

NEEDED = (
    "offsets", "offsets 2", "masked", "extremes", "extremes 2", "near", "ignored", "magnitudes", "undefined", "far",
    "spikes",
)  # fmt: skip
"""Added wherever they fit: at the small sizes of the choice, others may tell by luck what they do not tell at large,
and no mutant has all slips that show only there."""

MOST_FURTHER = 8
"""At most this many draws are added to the six."""

MOST_UNTRIED = 3
"""Up to so many of the usual further draws are added without being tried, once the limit of work is reached."""

MOST_WORK = 4_000_000
"""How many elements of outputs may be compared, over all runs: about what two or three seconds allow.
A limit in seconds would let the load of the machine decide about inputs."""

RUN_ELEMENTS = 4_096
"""What a run costs besides its elements, in elements."""

MOST_REMEMBERED = 512
"""How many choices a process remembers."""


class Trial(Protocol):
    """The inputs of one draw and eager's results on them: a LocalReferenceBench with a seed of its own."""

    eager: Returned | None
    exact: Returned | None

    def draw(self, input_draw: str, shapes: Sequence[Sequence[int]]) -> None: ...

    def refer(self, *, exact: bool) -> str: ...

    def perturbed_output(self, index: int) -> Callable[[], Iterable[Produced]]:
        """As in PerturbedResults, for the inputs of this draw; computed once."""

    def run(self, name: str) -> Returned:
        """Run a callable of the witness on the inputs."""


@dataclass(frozen=True)
class Asked:
    """What a choice depends on. graph: placed on the device. specs: in the shapes that are drawn."""

    graph: Graph
    specs: tuple[TensorSpec, ...]
    roles: Mapping[str, InputRole]

    def seed(self, turn: int) -> int:
        content = f"{digest_of(emit(self.graph), self.specs)} {turn}"
        return int.from_bytes(hashlib.sha256(content.encode()).digest()[:4], "big")


def digest_of(source: str, specs: Sequence[TensorSpec], judge: str = "") -> str:
    """Identifies a choice. specs: in the shapes that are drawn. judge: the digest of the judge's code."""
    content = json.dumps([source, [to_json(spec) for spec in specs], judge], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:32]


_remembered: OrderedDict[str, TellingDraws] = OrderedDict()


class Answers(Protocol):
    """Remembers texts beyond this process: stages/remembered.py."""

    def find(self, question: str) -> str | None: ...

    def keep(self, question: str, answer: str) -> None: ...


def remembered(digest: str, choose: Callable[[], TellingDraws], answers: Answers) -> TellingDraws:
    """The choice of this digest, made at most once."""
    if digest in _remembered:
        _remembered.move_to_end(digest)
        return _remembered[digest]
    question = f"draws {digest}"
    found = _read(answers.find(question))
    if found is None:
        found = choose()
        answers.keep(question, json.dumps(to_json(found)))
    _remembered[digest] = found
    while len(_remembered) > MOST_REMEMBERED:
        _remembered.popitem(last=False)
    return found


def _read(answer: str | None) -> TellingDraws | None:
    try:
        return None if answer is None else from_json(TellingDraws, json.loads(answer))
    except (ValueError, KeyError, TypeError):
        return None


@dataclass
class _Choice:
    """A choice in progress. told: by how many draws each mutant has been told apart on every seed. once: the draws
    that told it apart on some seed only. ran: those that gave a result of eager's form on some draw."""

    told: set[str] = field(default_factory=set)
    once: dict[str, list[str]] = field(default_factory=dict)
    differs: set[str] = field(default_factory=set)
    ran: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    work: int = 0
    most: int = MOST_WORK

    @property
    def exhausted(self) -> bool:
        return self.work > self.most


def chosen(
    asked: Asked,
    trial: Callable[[int], Trial],
    prepare: Callable[[str, Mutant], None],
    *,
    safe: Callable[[Mutant], bool] = lambda mutant: True,
) -> TellingDraws:
    """Choose the draws. trial: opens the inputs of a seed; eager and float64 are prepared there already. prepare: has
    the witness prepare a mutant under a name; raises CandidateFault or BadInput. safe: whether a mutant may run."""
    choice = _Choice()
    alive = prepared_mutants(asked, prepare, safe)
    trials = [trial(asked.seed(turn)) for turn in range(SEEDS)]
    further: list[str] = []
    # the further draws get the other half
    choice.most = MOST_WORK // 2
    for input_draw in ORDER:
        _try(choice, asked, trials, input_draw, _untold(choice, alive))
    choice.most = MOST_WORK
    kinds = further_draws(asked.specs, asked.roles)
    needed = (each for each in NEEDED if each.partition(" ")[0] in kinds)
    for input_draw in (each for each in needed if _fits(asked, trials[0], each)):
        _try(choice, asked, trials, input_draw, _untold(choice, alive))
        further.append(input_draw)
    for input_draw in others(asked):
        if input_draw in further:
            continue
        untold = _untold(choice, alive)
        if not untold or len(further) >= MOST_FURTHER:
            break
        tells = _try(choice, asked, trials, input_draw, untold)
        if tells or (choice.exhausted and input_draw in kinds and _untried(asked, trials[0], input_draw, further)):
            further.append(input_draw)
    # what one seed in two tells apart, two draws of that kind tell more often
    for name in _untold(choice, alive):
        by = next((each for each in choice.once.get(name, ()) if " " not in each), None)
        if by is not None:
            more = f"{by} 2" if by in (*INPUT_DRAWS, *further) else by
            if more not in further and len(further) < MOST_FURTHER:
                further.append(more)
            choice.told.add(name)
    left = _untold(choice, alive)
    untried = len(left) if choice.exhausted else 0
    left = [] if choice.exhausted else left
    within = tuple(alive[name].name for name in left if name in choice.differs)
    alike = tuple(alive[name].name for name in left if name not in choice.differs)
    # early: if the time of a verification runs short, its last draws are left out
    return TellingDraws((*INPUT_DRAWS[:2], *further, *INPUT_DRAWS[2:]), len(choice.told), within, alike, untried)


def others(asked: Asked) -> tuple[str, ...]:
    """The draws that are tried besides the six, in this order."""
    kinds = further_draws(asked.specs, asked.roles)
    return (*kinds, *(each for each in AGAIN if each.partition(" ")[0] in (*INPUT_DRAWS, *kinds)))


def prepared_mutants(
    asked: Asked, prepare: Callable[[str, Mutant], None], safe: Callable[[Mutant], bool] = lambda mutant: True
) -> dict[str, Mutant]:
    """The mutants that may run, by the name under which the witness has prepared them."""
    found: dict[str, Mutant] = {}
    for turn, mutant in enumerate(mutants(asked.graph, asked.specs)):
        name = f"mutant {turn}"
        try:
            if safe(mutant):
                prepare(name, mutant)
                found[name] = mutant
        except (CandidateFault, BadInput):
            continue
    return found


def told_apart(asked: Asked, trial: Trial, input_draws: Sequence[str], names: Sequence[str]) -> set[str]:
    """Those of the prepared mutants that some of these draws tells apart, on the seed of this trial."""
    choice = _Choice(work=-1_000_000_000)
    for input_draw in input_draws:
        _try(choice, asked, [trial], input_draw, [name for name in names if name not in choice.told])
    return choice.told - choice.broken


def _untried(asked: Asked, trial: Trial, input_draw: str, further: Sequence[str]) -> bool:
    """Whether to add this draw although no mutant was tried on it: one for something special in the graph, or one of
    the first others."""
    if KNOWN[input_draw.partition(" ")[0]].defined:
        return input_draw != "weights" and _fits(asked, trial, input_draw)
    return len(further) < MOST_UNTRIED


def _untold(choice: _Choice, alive: Mapping[str, Mutant]) -> list[str]:
    return [name for name in alive if name not in choice.told and name not in choice.broken]


def _try(choice: _Choice, asked: Asked, trials: Sequence[Trial], input_draw: str, names: Sequence[str]) -> bool:
    """Run these mutants on one draw of every seed. Return whether it tells one of them apart on all of them."""
    left = list(names)
    some = set[str]()
    for turn, trial in enumerate(trials):
        if not left or (choice.exhausted and not turn):
            return False
        if choice.exhausted:
            # one seed has to do
            break
        if not _fits(asked, trial, input_draw):
            return False
        wrong = set(_wrong(choice, trial, left))
        some |= wrong
        left = [name for name in left if name in wrong]
    choice.told.update(left)
    for name in some.difference(left):
        choice.once.setdefault(name, []).append(input_draw)
    return bool(left)


def _fits(asked: Asked, trial: Trial, input_draw: str) -> bool:
    """Draw inputs and run eager on them. Return whether it can, and its results are as defined as the draw needs."""
    try:
        trial.draw(input_draw, [spec.shape for spec in asked.specs])
        trial.refer(exact=True)
    except (CandidateFault, BadInput):
        return False
    assert trial.eager is not None
    values = [each.value for each in trial.eager.outputs]
    return not parsed(input_draw)[0].defined or not any(map(_holds_nan, values))


def _wrong(choice: _Choice, trial: Trial, names: Sequence[str]) -> Iterator[str]:
    """The mutants that are wrong on the inputs. Those that fail, or return another form, are marked as broken, unless
    they gave results on other inputs."""
    eager = trial.eager
    assert eager is not None
    if all(_says_nothing(each.value) for each in eager.outputs):
        return
    for name in names:
        try:
            returned = trial.run(name)
        except CandidateFault:
            if name in choice.ran:
                yield name
            else:
                choice.broken.add(name)
            continue
        choice.work += RUN_ELEMENTS
        if not _same_form(eager, returned):
            choice.broken.add(name)
            continue
        choice.ran.add(name)
        # compared at once, since all results together may be more than memory holds
        if not choice.exhausted and _is_wrong(choice, trial, name, eager, returned):
            yield name


def _is_wrong(choice: _Choice, trial: Trial, name: str, eager: Returned, returned: Returned) -> bool:
    for index, (wanted, given) in enumerate(zip(eager.outputs, returned.outputs)):
        if _equal(wanted.value, given.value):
            continue
        choice.differs.add(name)
        choice.work += math.prod(wanted.shape)
        exact = trial.exact.outputs[index] if trial.exact else None
        references = References(wanted, exact, trial.perturbed_output(index))
        if comparing.compare(references, given, memory=False).verdict is not None:
            return True
    return False


def _says_nothing(value: object) -> bool:
    """Whether an output is NaN throughout."""
    return isinstance(value, torch.Tensor) and value.is_floating_point() and bool(value.isnan().all())


def _holds_nan(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and bool(value.isnan().any())


def _same_form(eager: Returned, returned: Returned) -> bool:
    return not comparing.structure_problem(eager, returned) and all(
        (wanted.type, wanted.dtype, wanted.shape, wanted.device) == (given.type, given.dtype, given.shape, given.device)
        for wanted, given in zip(eager.outputs, returned.outputs)
    )


def _equal(wanted: object, given: object) -> bool:
    if not isinstance(wanted, torch.Tensor) or not isinstance(given, torch.Tensor):
        return wanted is given or wanted == given
    return wanted.shape == given.shape and same_elements(wanted, given)
