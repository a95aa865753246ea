"""Guess what the errors of a wrong output may come from, by their shape. Every meaning is worded as a guess."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from passnet_core.charts.places import tail_begin
from passnet_core.records import OutputAccuracy, Verdict

FEW = 8
"""At most this many wrong elements are few: they make no pattern."""
MANY = 2
"""Where another input set fails in more than this many times as many elements, the shown ones tell only a part."""


@dataclass(frozen=True)
class Guess:
    """What errors may come from (meaning, worded as a guess), and what to try (step)."""

    meaning: str
    step: str


def guessed(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    """The first guess that fits the errors of an output on all input sets. input_sets: those that were compared."""
    return next((guess for guess_of in GUESSES if (guess := guess_of(output, input_sets)) is not None), None)


def _kept_from_before(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    if not output.wrong_in or any(name in input_sets for name in output.wrong_in):
        return None
    return Guess(
        "It was right until the same tensors got new values, or the same values a new address: something may be"
        " kept between calls.",
        "Recompute everything in each call, and cache nothing by address or shape.",
    )


def _more_elsewhere(output: OutputAccuracy, most: int) -> bool:
    """Whether an input set fails in more than `most` elements, or in all together. False if the record cannot tell."""
    return any(each.wrong == 0 or (each.wrong or 0) > most for each in output.failed)


def _wide_errors(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    """Few wrong elements are shown, and other input sets fail in many more or in all elements together."""
    shown = output.wrong_elements
    if (
        shown is None
        or 2 * shown > output.size
        or len(output.failed_sets) < 2
        or not _more_elsewhere(output, MANY * max(shown, FEW))
    ):
        return None
    most = max(output.failed, key=lambda each: each.wrong or 0)
    more = (most.wrong or 0) > shown
    elsewhere = f"more elements than this one, most on {most.words}" if more else "all elements taken together"
    return Guess(
        f"Other input sets fail in {elsewhere}. Perhaps a constant, a factor or a formula differs from the subgraph's.",
        "Compare every number and every operation of the kernel with the subgraph.",
    )


HUGE = 1.5e38
FILLED = frozenset(
    float(int.from_bytes(bytes([byte]) * size, "little", signed=True)) for byte in (0x7F, 0xFE) for size in (2, 4, 8)
)
"""The whole numbers in unwritten memory, which the judge fills with one of these bytes, or with NaN."""


def _never_written(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    value = output.map.value if output.map else None
    if value is None or not (math.isnan(value) or (math.isfinite(value) and abs(value) > HUGE) or value in FILLED):
        return None
    at_end = tail_begin(output) is not None
    end = " They are at the end: this looks like a mistake in a mask or the last block." if at_end else ""
    also = " and the memory beside inputs" if math.isnan(value) else ""
    return Guess(
        f"All of them are {value:.4g}. The judge fills unwritten memory{also} with this value: a store may be missing"
        f"{', or a load may reach beyond its input' if also else ''}.{end}",
        "Check the grid and the masks of the stores, and pass other= to masked loads.",
    )


def _tail(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    begin = tail_begin(output)
    if output.map is None or begin is None:
        return None
    is_power = begin >= 16 and begin & (begin - 1) == 0
    one = is_power and output.map.core is None
    block = f" It is right up to {begin}, a power of two: perhaps only one block is computed." if one else ""
    return Guess(
        f"The end is wrong: this looks like a mistake in a mask or the last block.{block}",
        "Check the mask of the block that reaches beyond the end, and round the grid up (triton.cdiv).",
    )


def _one_value(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    value = output.map.value if output.map else None
    if value is None:
        return None
    if value == 0:
        return Guess(
            "All of them are 0: perhaps no store reaches them, or the other=0 of a masked load went into the result.",
            "Check which programs write these elements.",
        )
    if math.isinf(value):
        return OVERFLOW
    return Guess(
        f"All of them are {value:.5g}: perhaps they are clamped to a limit, or one element was read for all of them.",
        "Check the indices of the loads, and limits such as clamps.",
    )


OVERFLOW = Guess(
    "The output is infinite where eager's is finite: this may be an overflow.",
    "Subtract the largest value before exp, and keep intermediates in float32.",
)


def _not_finite(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    actual, expected = output.actual, output.expected
    if actual is None or expected is None or (math.isfinite(actual) and math.isfinite(expected)):
        return None
    if math.isfinite(actual):
        return Guess(
            f"Eager's output is {expected} there, this one is {actual:.5g}: a NaN or an infinity of the inputs may be"
            " lost on the way.",
            "Check comparisons and maxima: tl.maximum drops NaN without propagate_nan=tl.PropagateNan.ALL.",
        )
    if math.isinf(actual):
        return OVERFLOW
    return Guess(
        "The output is NaN where eager's is a number: perhaps 0/0, infinity minus infinity, or a load out of bounds.",
        "Check divisions and the masks of the loads, and subtract the largest value before exp.",
    )


def _factor(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    factor = output.map.factor if output.map else None
    if factor is None:
        return None
    if abs(factor + 1) < 0.01:
        return Guess(
            "Nearly all of them have the wrong sign.", "Look for operands in the wrong order, or for a lost minus sign."
        )
    nearest, text = min(_factors(output.shape), key=lambda each: abs(abs(factor) / each[0] - 1))
    more = f" (about {text})" if abs(abs(factor) / nearest - 1) < LIKE_A_FACTOR else ""
    return Guess(
        f"Nearly all of them are {factor:.6g} times the expected value{more}: perhaps a scale is missing, or applied"
        " twice.",
        "Compare the constants and the divisors with the subgraph.",
    )


LIKE_A_FACTOR = 0.04
"""By which share a factor may differ from a known one: values are rounded, and may contain an added epsilon."""


def _factors(shape: tuple[int, ...]) -> list[tuple[float, str]]:
    """Known factors, with the words that explain them."""
    found = []
    for size in dict.fromkeys(size for size in reversed(shape) if size > 2):
        root, axis = math.sqrt(size), f"with {size} the size of an axis"
        found += [
            (float(size), f"{size}, the size of an axis: a sum is that many times a mean"),
            (1 / size, f"1/{size}"),
        ]
        found += [(root, f"√{size}, {axis}"), (1 / root, f"1/√{size}, {axis}")]
    return [*found, (2.0, "2"), (0.5, "one half"), (math.log(2), "ln 2"), (1 / math.log(2), "1/ln 2: exp2 for exp")]


def _offset(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    offset = output.map.offset if output.map else None
    if offset is None:
        return None
    return Guess(
        f"Nearly all of them are off by {offset:.4g}: perhaps a term or a bias is missing or added twice.",
        "Compare the terms of the sum with the subgraph.",
    )


def _rearranged(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    if output.map is None or not output.map.rearranged:
        return None
    return Guess(
        "The output has the right values at the wrong positions: strides or indices may be swapped.",
        "Check the address of each load and store, also for inputs that are not contiguous.",
    )


ONLY_ON: Mapping[str, tuple[str, str]] = {
    "recorded": ("have only a small spread", "Look for terms that cancel if all values are nearly the same"),
    "typical": ("have an ordinary spread", "Look for a constant that was tuned to the recorded values"),
    "wide": (
        "are large, with up to eight times the usual spread",
        "Look for an overflow: subtract the largest value before exp, and clamp early",
    ),
    "signed": ("have the opposite sign", "Look for a root, a logarithm or a maximum that relies on the sign"),
    "sparse": (
        "are mostly zeros, or tiny, about 1e-3",
        "Check where eps is added, and look for a division by values near 0",
    ),
    "edges": (
        "are partly 0, ±100 or at the ends of their range",
        "Look for exp of large values, and for ties and zeros",
    ),
}
"""Per kind of input set, what its values are like, and what to look for if the output is wrong on this kind alone."""

ALIKE = (frozenset({"sparse", "recorded"}), frozenset({"wide", "edges"}))
"""Input sets with small values, and with large ones. SHOWN_FOR describes each pair by one of the two."""
SHOWN_FOR = ("sparse", "wide")


def _only_some_sets(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    # "sparse 2" is one more set of the kind sparse
    wrong_on = tuple(dict.fromkeys(name.partition(" ")[0] for name in output.failed_sets))
    if not set(wrong_on) <= ONLY_ON.keys() or len(input_sets) < len(ONLY_ON) or not 0 < len(wrong_on) <= 2:
        return None
    only = wrong_on[0] if len(wrong_on) == 1 else ""
    shown = next((name for group, name in zip(ALIKE, SHOWN_FOR) if group == set(wrong_on)), only)
    if not shown:
        return None
    (inputs, step), kinds = ONLY_ON[shown], " and ".join(wrong_on)
    return Guess(f"It is wrong only on {kinds} inputs, whose values {inputs}: it may depend on that.", f"{step}.")


def _only_large(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    least = output.map.large_from if output.map else None
    if least is None:
        return None
    return Guess(
        f"Nearly all elements whose expected size is at least {least:.3g} are wrong, and hardly any others: perhaps an"
        " overflow, a clamp, or an approximation that holds only near 0.",
        "Compute one of the large elements by hand.",
    )


HALVES = ((2.0**-12, "float16 or TF32"), (2.0**-9, "bfloat16"))
"""The median relative error of rounding once to these dtypes: about a quarter of their epsilon."""
ABOUT = 6.0
"""The factor by which a measured error may differ from these."""


def _precision(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    relative = output.map.relative if output.map else None
    if output.verdict is not Verdict.LOWER_PRECISION or not relative:
        return None
    if output.dtype != "float32":
        return Guess(
            f"The relative errors are about {relative:.1e}: sums may be accumulated in {output.dtype}.",
            "Convert loaded values with .to(tl.float32), accumulate them, and round once at the store.",
        )
    error, name = min(HALVES, key=lambda each: abs(math.log(each[0] / relative)))
    if not error / ABOUT < relative < error * ABOUT:
        return Guess(
            f"The relative errors are about {relative:.1e}: perhaps from an approximation, or a sum that loses digits.",
            "Compute in float32 throughout, and compare exp, tanh and rsqrt with torch's.",
        )
    return Guess(
        f"The relative errors are about {relative:.1e}, near a quarter of the epsilon of {name}: intermediate values"
        " may be rounded to it.",
        'Accumulate in float32, and give tl.dot input_precision="ieee".',
    )


def _few(output: OutputAccuracy, input_sets: tuple[str, ...]) -> Guess | None:
    if output.map is None or not 1 <= output.map.wrong <= FEW or output.size <= 4 * FEW:
        return None
    counted = {each.inputs for each in output.failed if each.wrong is not None}
    if _more_elsewhere(output, FEW) or (len(output.failed_sets) > 1 and not counted >= set(output.wrong_in)):
        return None
    return Guess(
        "So few wrong elements may come from a boundary, or from two programs that write the same element.",
        "Check which programs write these elements, and comparisons that include or exclude equality.",
    )


GUESSES: tuple[Callable[[OutputAccuracy, tuple[str, ...]], Guess | None], ...] = (
    _kept_from_before,
    _wide_errors,
    _never_written,
    _tail,
    _one_value,
    _factor,
    _offset,
    _rearranged,
    _only_some_sets,
    _not_finite,
    _precision,
    _only_large,
    _few,
)
"""In the order in which they are tried: the clearest signs first."""
