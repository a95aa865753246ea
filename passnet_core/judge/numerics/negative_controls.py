"""Negative controls: what a pass could return without computing anything, which must be wrong on every subgraph.

They are compared like a candidate's outputs, on the same input draws, in a process without candidate code. If a control
is right for an output, that output proves nothing about a candidate; if this holds for every output, the subgraph
cannot rank anybody."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch

from passnet_core.judge.numerics import comparing
from passnet_core.judge.numerics.comparing import References
from passnet_core.judge.protocol.messages import Produced, Returned
from passnet_core.judge.protocol.reference_bench import Drawn
from passnet_core.records import Verdict

SAMPLE = 16_384
"""How many random elements are compared first; on most subgraphs they suffice."""
SUSPECTS = 1 << 18
"""About how many of the elements beyond the ulp slack are compared next."""

ZEROS, MEAN, UNINITIALISED, STALE = (
    "return zeros",
    "return its mean everywhere",
    "return uninitialised memory",
    "return what earlier inputs gave",
)


class NegativeControls:
    """Tracks, per output, which controls have been found wrong on some input draw, and which still pass."""

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
        perturbed: Callable[[int], Callable[[], Iterable[Produced]]] = lambda index: tuple,
    ) -> None:
        """Try each control on one input draw, unless some output has already shown all of them wrong. perturbed:
        gives, for an output's index, a function that computes its results on perturbed inputs."""
        if self.settled:
            return
        for index, wanted in enumerate(eager.outputs):
            passing = self.passing.setdefault(index, set())
            failed = self.failed.setdefault(index, set())
            given = References(wanted, exact.outputs[index] if exact else None, perturbed(index))
            references = comparing.as_tensors(given)
            value = references.eager.value
            if not isinstance(value, torch.Tensor) or not value.numel():
                passing.add("return nothing")
                continue
            for label, control in self._controls(index, value, wanted.strides, inputs).items():
                if label not in failed and self._fails(references, control):
                    failed.add(label)
                    passing.discard(label)
                elif label not in failed:
                    passing.add(label)
            self.before[index] = value
        self.settled = any(not self.passing[index] and STALE in self.failed[index] for index in self.failed)

    @property
    def problem(self) -> str:
        """The controls that still pass, for each output; empty if all controls of some output have failed."""
        if not self.passing or any(not labels for labels in self.passing.values()):
            return ""
        return "; ".join(f"output {index}: {', '.join(sorted(labels))}" for index, labels in self.passing.items())

    def _controls(
        self, index: int, wanted: torch.Tensor, strides: Sequence[int], inputs: Sequence[Drawn]
    ) -> Mapping[str, torch.Tensor]:
        found = {ZEROS: torch.zeros_like(wanted), UNINITIALISED: _uninitialised(wanted)}
        if not wanted.is_complex() and any(size > 1 and step for size, step in zip(wanted.shape, strides)):
            # the mean of one number, in whatever shape, is that number. 8-bit types lack arithmetic
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
        """Whether the control is wrong; of a large output, sampled elements decide."""
        wanted = references.eager.value
        assert isinstance(wanted, torch.Tensor)
        if wanted.numel() <= SAMPLE:
            return self._wrong(references, value, None)
        sample = torch.randint(0, wanted.numel(), (SAMPLE,), generator=self.generator).to(wanted.device)
        if self._wrong(references, value, sample):
            return True
        suspects = comparing.suspects(references, value, SUSPECTS)
        return bool(suspects.numel()) and self._wrong(references, value, suspects)

    def _wrong(self, references: References, value: torch.Tensor, indices: torch.Tensor | None) -> bool:
        """Whether some of the elements at these flat indices are wrong; None: at all of them."""

        def here(produced: Produced) -> Produced:
            return produced if indices is None else _at(produced, indices)

        eager, like = here(references.eager), references.eager
        actual = here(Produced(like.type, value, like.dtype, tuple(value.shape), device=like.device))
        exact = None if references.exact is None else here(references.exact)
        full = References(eager, exact, lambda: map(here, references.perturbed()))
        if value.is_floating_point() or value.is_complex():
            verdict = comparing.compare(References(eager, exact), actual).verdict
            if verdict is not Verdict.LOWER_PRECISION:
                return verdict is not None
        # an imprecise control could be right by the candidate's full bound, which takes longer to compute
        return comparing.compare(full, actual, output_size=value.numel()).verdict is not None


def _uninitialised(like: torch.Tensor) -> torch.Tensor:
    if like.is_floating_point() or like.is_complex():
        return torch.full_like(like, math.nan)
    return torch.full_like(like, like.dtype is torch.bool or min(torch.iinfo(like.dtype).max, 1 << 62))


def _at(produced: Produced, indices: torch.Tensor) -> Produced:
    """The same value, reduced to the elements at these flat indices."""
    value = produced.value
    if not isinstance(value, torch.Tensor):
        return produced
    some = value.reshape(-1)[indices]
    return Produced(produced.type, some, produced.dtype, tuple(some.shape), device=produced.device)
