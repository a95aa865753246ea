"""What the errors of a wrong output look like, and what they may come from. Every meaning is a guess, and says so."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from passnet_core.charts.places import tail_begin
from passnet_core.records import OutputAccuracy, Verdict

FEW = 8
"""Wrong elements that are not a pattern yet."""


@dataclass(frozen=True)
class Guess:
    """What errors look like, and what to try. meaning: words that say that it is a guess."""

    meaning: str
    step: str


def guessed(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    """What the errors of an output may come from: the first guess that fits. drawings: those that were compared."""
    return next((guess for guess_of in GUESSES if (guess := guess_of(output, drawings)) is not None), None)


def _kept_from_before(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    if not output.wrong_in or any(name in drawings for name in output.wrong_in):
        return None
    return Guess(
        "It was right until the same tensors held other values, or the same values lay elsewhere: something may be kept"
        " between calls.",
        "Compute everything anew in each call, and remember nothing by address or shape.",
    )


HUGE = 1.5e38
FILLED = frozenset(
    float(int.from_bytes(bytes([byte]) * size, "little", signed=True)) for byte in (0x7F, 0xFE) for size in (2, 4, 8)
)
"""What memory holds before it is written: the judge fills it with NaN, or with bytes that make such numbers."""


def _unwritten(value: float) -> bool:
    return math.isnan(value) or (math.isfinite(value) and abs(value) > HUGE) or value in FILLED


def _never_written(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    value = output.map.value if output.map else None
    if value is None or not _unwritten(value):
        return None
    end = " It is the end: this looks like a mask or the last block." if tail_begin(output) is not None else ""
    also = ", and as what lies beside the inputs is" if math.isnan(value) else ""
    return Guess(
        f"They are all {value:.4g}, as memory is before it is written{also}: a store may be missing there"
        f"{', or a load may reach beyond its input' if also else ''}.{end}",
        "Check the grid and the masks of the stores, and give masked loads an other=.",
    )


def _tail(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    begin = tail_begin(output)
    if output.map is None or begin is None:
        return None
    one = _is_block(begin) and output.map.core is None
    block = f" It is right up to {begin}, a power of two: perhaps only one block is done." if one else ""
    return Guess(
        f"The end is wrong: this looks like a mask or the last block.{block}",
        "Check the mask where a block reaches beyond the end, and that the grid rounds up (triton.cdiv).",
    )


def _is_block(size: int) -> bool:
    return size >= 16 and size & (size - 1) == 0


def _one_value(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    value = output.map.value if output.map else None
    if value is None:
        return None
    if value == 0:
        return Guess(
            "They are all 0: perhaps a store never gets there, or a masked load's other=0 went into the result.",
            "Check which programs write these elements.",
        )
    if math.isinf(value):
        return OVERFLOW
    return Guess(
        f"They are all {value:.5g}: perhaps a limit, or one element that was read for all of them.",
        "Check the index of the loads, and limits such as clamps.",
    )


OVERFLOW = Guess(
    "There is infinity where eager is finite: this may be an overflow.",
    "Subtract the largest value before exp, and keep intermediates in float32.",
)


def _not_finite(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    actual, expected = output.actual, output.expected
    if actual is None or expected is None or (math.isfinite(actual) and math.isfinite(expected)):
        return None
    if math.isfinite(actual):
        return Guess(
            f"Eager has {expected} there, and this has {actual:.5g}: a NaN or an infinity of the inputs may be lost on"
            " the way.",
            "Look at comparisons and maxima: tl.maximum drops NaN unless it is told to keep them.",
        )
    if math.isinf(actual):
        return OVERFLOW
    return Guess(
        "There is NaN where eager has a number: perhaps 0/0, infinity less infinity, or a load beyond the input.",
        "Check divisions and the masks of the loads, and subtract the largest value before exp.",
    )


def _factor(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    factor = output.map.factor if output.map else None
    if factor is None:
        return None
    if abs(factor + 1) < 0.01:
        return Guess(
            "Nearly all have the other sign.", "Look for operands in the wrong order, or a sign that was lost."
        )
    nearest, text = min(_factors(output.shape), key=lambda each: abs(abs(factor) / each[0] - 1))
    more = f", about {text}" if abs(abs(factor) / nearest - 1) < LIKE_A_FACTOR else ""
    return Guess(
        f"Nearly all are {factor:.4g} times what is expected{more}: perhaps a scale is missing, or there twice.",
        "Compare the constants and the divisors with the subgraph.",
    )


LIKE_A_FACTOR = 0.04
"""By so much a factor may differ from one that means something: of rounded values, with an epsilon beside them."""


def _factors(shape: tuple[int, ...]) -> list[tuple[float, str]]:
    """Factors that mean something."""
    found = []
    for size in dict.fromkeys(size for size in reversed(shape) if size > 2):
        found += [
            (float(size), f"the size {size} of an axis, as a sum is of a mean"),
            (1 / size, f"1/{size}, an axis' size"),
        ]
        root = math.sqrt(size)
        found += [(root, f"the root of an axis' size {size}"), (1 / root, f"1 over the root of an axis' size {size}")]
    return [*found, (2.0, "2"), (0.5, "one half"), (math.log(2), "ln 2"), (1 / math.log(2), "1/ln 2: exp2 for exp")]


def _offset(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    offset = output.map.offset if output.map else None
    if offset is None:
        return None
    return Guess(
        f"Nearly all are off by {offset:.4g}: perhaps a term or a bias is missing, or there twice.",
        "Compare the sum's terms with the subgraph.",
    )


def _rearranged(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    if output.map is None or not output.map.rearranged:
        return None
    return Guess(
        "Its values are the right ones in other places: strides or an index may be exchanged.",
        "Check the address of each load and store, for inputs that are not contiguous too.",
    )


ONLY_ON: Mapping[str, tuple[str, str]] = {
    "recorded": ("as recorded, with a small spread", "Look for what cancels where all values are nearly the same"),
    "typical": ("of an ordinary spread", "Look for a constant that was tuned to the recorded values"),
    "wide": (
        "large, up to eight times the usual spread",
        "Look for an overflow: subtract the largest before exp, limit early",
    ),
    "signed": ("of the other sign", "Look for a root, a logarithm or a maximum that takes the sign for granted"),
    "sparse": (
        "mostly zeros, or tiny, about 1e-3",
        "Look at where eps is added, and for a division by what is nearly 0",
    ),
    "edges": (
        "at the ends of their range, 0 and up to ±100 among them",
        "Look for exp of large values, and for ties and zeros",
    ),
}
"""Drawings: what their inputs are, and what to look for where nothing is wrong but them."""


ALIKE = (frozenset({"sparse", "recorded"}), frozenset({"wide", "edges"}))
"""Drawings whose inputs are small, and large."""
TOLD_OF = ("sparse", "wide")


def _only_some_drawings(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    told = [name for name in output.wrong_in if name in ONLY_ON]
    if not told or len(drawings) < len(ONLY_ON) or len(told) > 2:
        return None
    alike = next((name for group, name in zip(ALIKE, TOLD_OF) if group == set(told)), told[0] if len(told) == 1 else "")
    if not alike:
        return None
    inputs, step = ONLY_ON[alike]
    return Guess(f"Only {' and '.join(told)} inputs show it, which are {inputs}: it may depend on that.", f"{step}.")


def _only_large(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    least = output.map.large_from if output.map else None
    if least is None:
        return None
    return Guess(
        f"Nearly all of them are expected to be {least:.3g} or more in size, and smaller ones are right: perhaps an"
        " overflow, a clamp, or an approximation that holds near 0 only.",
        "Compute one of the large ones by hand.",
    )


HALVES = ((2.0**-12, "float16 or TF32"), (2.0**-9, "bfloat16"))
"""About what one rounding does, at the median: a quarter of the dtype's epsilon."""
ABOUT = 6.0


def _precision(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    relative = output.map.relative if output.map else None
    if output.verdict is not Verdict.LOWER_PRECISION or not relative:
        return None
    if output.dtype != "float32":
        return Guess(
            f"The errors are about {relative:.1e} of the values: sums may be kept in {output.dtype}.",
            "Load, convert with .to(tl.float32), accumulate, and round once at the store.",
        )
    error, name = min(HALVES, key=lambda each: abs(math.log(each[0] / relative)))
    if not error / ABOUT < relative < error * ABOUT:
        return Guess(
            f"The errors are about {relative:.1e} of the values: perhaps an approximation, or a sum that loses digits.",
            "Compute in float32 throughout, and compare exp, tanh and rsqrt with torch's.",
        )
    return Guess(
        f"The errors are about {relative:.1e} of the values, near a quarter of the epsilon of {name}: something may be"
        " rounded to it on the way.",
        'Accumulate in float32, and give tl.dot input_precision="ieee".',
    )


def _few(output: OutputAccuracy, drawings: tuple[str, ...]) -> Guess | None:
    if output.map is None or not 1 <= output.map.wrong <= FEW or math.prod(output.shape) <= 4 * FEW:
        return None
    return Guess(
        "So few wrong ones may be a boundary, or two programs that write the same place.",
        "Check who writes these elements, and comparisons that take or leave the equal.",
    )


GUESSES: tuple[Callable[[OutputAccuracy, tuple[str, ...]], Guess | None], ...] = (
    _kept_from_before,
    _never_written,
    _tail,
    _one_value,
    _factor,
    _offset,
    _rearranged,
    _only_some_drawings,
    _not_finite,
    _precision,
    _only_large,
    _few,
)
"""From what tells most to what tells least."""
