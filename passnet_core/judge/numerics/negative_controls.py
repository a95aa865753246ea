"""Negative controls: what a pass could return without computing anything, which must be wrong on every subgraph.

They are compared as a candidate's outputs are, on the drawings used, where no candidate is. Where an output cannot tell
a computation from a control, it says nothing of a candidate; where no output can, the subgraph cannot rank anybody.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch

from passnet_core.judge.numerics import comparing
from passnet_core.judge.numerics.comparing import References
from passnet_core.judge.protocol.messages import Produced, Returned
from passnet_core.judge.protocol.reference_bench import Drawn
from passnet_core.records import Verdict

SAMPLE = 16_384
"""Elements at random that are looked at first: on most subgraphs they suffice."""
SUSPECTS = 1 << 18
"""Elements that are looked at after those: of what is not plainly right, about so many."""

ZEROS, MEAN, UNINITIALISED, STALE = (
    "return zeros",
    "return its mean everywhere",
    "return uninitialised memory",
    "return what earlier inputs gave",
)


class NegativeControls:
    """Which controls have not been found wrong yet, per output."""

    def __init__(self, names: Sequence[str], seed: int) -> None:
        self.names = names
        self.generator = torch.Generator().manual_seed(seed)
        self.passing: dict[int, set[str]] = {}
        self.failed: dict[int, set[str]] = {}
        self.before: dict[int, torch.Tensor] = {}
        self.settled = False

    def see(
        self,
        inputs: Sequence[Drawn],
        eager: Returned,
        exact: Returned | None,
        moved: Callable[[int], Callable[[], Iterable[Produced]]] = lambda index: tuple,
    ) -> None:
        """Tries each control on one drawing, until some output has told them all apart. moved: asks for the references
        of an output on inputs moved by one unit."""
        if self.settled:
            return
        for index, wanted in enumerate(eager.outputs):
            passing = self.passing.setdefault(index, set())
            failed = self.failed.setdefault(index, set())
            if not isinstance(wanted.value, torch.Tensor) or not wanted.value.numel():
                passing.add("return nothing")
                continue
            references = References(wanted, exact.outputs[index] if exact else None, moved(index))
            for label, value in self._controls(index, wanted.value, inputs).items():
                if label not in failed and self._fails(references, value):
                    failed.add(label)
                    passing.discard(label)
                elif label not in failed:
                    passing.add(label)
            self.before[index] = wanted.value
        self.settled = any(not self.passing[index] and STALE in self.failed[index] for index in self.failed)

    @property
    def problem(self) -> str:
        """What no output tells from a computation, per output; empty: some output does."""
        if not self.passing or any(not labels for labels in self.passing.values()):
            return ""
        return "; ".join(f"output {index}: {', '.join(sorted(labels))}" for index, labels in self.passing.items())

    def _controls(self, index: int, wanted: torch.Tensor, inputs: Sequence[Drawn]) -> Mapping[str, torch.Tensor]:
        found = {ZEROS: torch.zeros_like(wanted), UNINITIALISED: _uninitialised(wanted)}
        if not wanted.is_complex():
            # 8 bits have no arithmetic of their own
            known = wanted if wanted.dtype.itemsize > 1 else wanted.float()
            finite = known.isfinite()
            mean = torch.where(finite, known, 0).sum(dtype=torch.float64) / finite.sum().clamp(min=1)
            found[MEAN] = torch.full_like(known, float(mean)).to(wanted.dtype)
        for name, value in zip(self.names, inputs):
            if isinstance(value, torch.Tensor) and value.dtype == wanted.dtype and value.numel() == wanted.numel():
                found[f"return {name}"] = value.reshape(wanted.shape)
        before = self.before.get(index)
        if before is not None and before.shape == wanted.shape:
            found[STALE] = before.to(wanted.device)
        return found

    def _fails(self, references: References, value: torch.Tensor) -> bool:
        """Whether this is wrong."""
        wanted = references.eager.value
        assert isinstance(wanted, torch.Tensor)
        if wanted.numel() <= SAMPLE:
            return self._wrong(references, value, None)
        sample = torch.randint(0, wanted.numel(), (SAMPLE,), generator=self.generator).to(wanted.device)
        if self._wrong(references, value, sample):
            return True
        suspects = comparing.suspects(references, value, SUSPECTS)
        return bool(suspects.numel()) and self._wrong(references, value, suspects)

    def _wrong(self, references: References, value: torch.Tensor, places: torch.Tensor | None) -> bool:
        """Whether these elements are wrong. None: all."""

        def here(produced: Produced) -> Produced:
            return produced if places is None else _at(produced, places)

        eager, actual = here(references.eager), here(_produced(references.eager, value))
        exact = None if references.exact is None else here(references.exact)
        candidates = References(eager, exact, lambda: map(here, references.moved()))
        if value.is_floating_point() or value.is_complex():
            verdict = comparing.compare(References(eager, exact), actual).verdict
            if verdict is not Verdict.LOWER_PRECISION:
                return verdict is not None
        # what is merely imprecise could be right by the bound that a candidate has, which takes longer to find
        return comparing.compare(candidates, actual, whole=value.numel()).verdict is not None


def _uninitialised(like: torch.Tensor) -> torch.Tensor:
    if like.is_floating_point() or like.is_complex():
        return torch.full_like(like, math.nan)
    return torch.full_like(like, like.dtype is torch.bool or min(torch.iinfo(like.dtype).max, 1 << 62))


def _produced(eager: Produced, value: torch.Tensor) -> Produced:
    return Produced(eager.type, value, eager.dtype, tuple(value.shape), device=eager.device)


def _at(produced: Produced, places: torch.Tensor) -> Produced:
    """Some elements of it."""
    value = produced.value
    if not isinstance(value, torch.Tensor):
        return produced
    some = value.reshape(-1)[places]
    return Produced(produced.type, some, produced.dtype, tuple(some.shape), device=produced.device)
