"""What a pass says of itself: which operations it fuses, which bytes move, and why in that way."""

from collections.abc import Sequence

from passnet_core.graphs.vocabulary import operator_label
from passnet_core.solvers.rules.contractions import ProductCode
from passnet_core.solvers.rules.forms import Form
from passnet_core.solvers.rules.shared import FoundRegion, Shared
from passnet_core.solvers.rules.traffic import computing, kernel_bytes, whole_bytes
from passnet_core.solvers.rules.values import Pointwise, Reduction, below

MOST_NAMED = 6
WIDTH = 116


def docstring(shared: Shared, forms: Sequence[Form]) -> str:
    """The docstring of a pass file, without quotes."""
    found, form = shared.found[0], forms[0]
    count = len(form.kernels)
    if not count:
        sentences = ["Views need no kernel: where they lie is worked out once, and each is made in one step."]
        return _paragraphs(f"{_title(found)}.", sentences)
    kernels = "one kernel" if count == 1 else f"{count} kernels"
    head = f"{_title(found)} in {kernels}."
    return _paragraphs(head, [*_traffic(found, form), *_reasons(forms)])


def _title(found: FoundRegion) -> str:
    words = list(dict.fromkeys(operator_label(node) for node in found.graph.operations))
    words = [word.replace("_", " ") for word in words if word != "getitem"] or ["elements"]
    if len(words) > MOST_NAMED:
        words = [*words[: MOST_NAMED - 1], "more"]
    text = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return text[0].upper() + text[1:]


def _traffic(found: FoundRegion, form: Form) -> list[str]:
    """How many bytes eager and the kernels move, on the first subgraph."""
    operations = computing(found)
    eager = sum(whole_bytes(found.surveyed, node) for node in operations)
    mine = sum(kernel_bytes(code, form) for code in form.kernels)
    where = found.surveyed.subgraph.id
    one = "one kernel, which moves" if len(operations) == 1 else f"{len(operations)} kernels, which move"
    if mine >= eager:
        return [f"On {where} eager runs {one} {_told(eager)}, as much as is read and written here."]
    return [f"On {where} eager runs {one} {_told(eager)}. Here {_told(mine)} are read and written."]


def _told(count: int) -> str:
    for unit, size in (("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def _reasons(forms: Sequence[Form]) -> list[str]:
    """Sentences about what is not plain to see in the kernels."""
    values = [each for form in forms for value in form.stored.values() for each in below(value)]
    found: list[str] = []
    given = {each.tensor for form in forms for each in form.inputs}
    named = {each.storage for form in forms for each in form.results}
    held = sorted({each for form in forms for each in form.stored if each not in named | given})
    codes = [code for form in forms for code in form.kernels]
    if any(isinstance(code, ProductCode) for code in codes):
        found.append("A program computes a tile of a product of matrices, whose sums are taken in float32.")
    elif any(code.looped for code in codes):
        found.append("Rows do not fit in registers, and are walked in several tiles.")
    elif any(isinstance(each, Reduction) for each in values) and not held:
        found.append("A program holds its rows in registers, from the first reading to the result.")
    if held:
        lies = "lies" if len(held) == 1 else "lie"
        found.append(
            f"In between, {' and '.join(held)} {lies} in memory: what follows reads it along other rows, or is shared "
            "out among more programs than there are rows."
        )
    if any(code.crossed for code in codes):
        found.append(
            "Tensors differ in which dimension is the inmost: a tile has enough of both to read them in one go."
        )
    if any(code.beside for code in codes):
        found.append("Neighbours in memory are in different rows, so that a tile has several rows.")
    if any(isinstance(each, Pointwise) and each.dtype.rounds and not each.exact for each in values):
        found.append("After each operation values are rounded to the tensors' dtype, where eager rounds them.")
    if any(space.ordered for code in codes for space in code.spaces):
        found.append("Sums of rows are taken in the order of eager's threads, which decides how they are rounded.")
    if any(each in given for form in forms for each in form.stored):
        found.append("An input is changed in place, as the graph has it.")
    if len(forms) > 1:
        found.append(f"There are {len(forms)} variants, for tensors of other ranks or dtypes.")
    return found


def _paragraphs(head: str, sentences: Sequence[str]) -> str:
    lines: list[str] = []
    for word in " ".join(sentences).split():
        if lines and len(lines[-1]) + len(word) < WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join([head, "", *lines, ""]) if lines else head
