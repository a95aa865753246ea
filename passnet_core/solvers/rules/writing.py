"""Pass files: the pattern, the kernels, and a replacement function that allocates, launches and returns."""

import keyword
import re
import textwrap
from collections.abc import Iterator, Sequence

from passnet_core.graphs.emission import emit
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.operations.kinds import named
from passnet_core.records.bundles import PassFile
from passnet_core.solvers.rules.contractions import ProductCode
from passnet_core.solvers.rules.formatting import wrapped
from passnet_core.solvers.rules.forms import Form
from passnet_core.solvers.rules.helpers import KERNEL, below_each_other, needed
from passnet_core.solvers.rules.kernels import Code, Space, Unsupported
from passnet_core.solvers.rules.layouts import is_contiguous, row_major, sizes_of, strides_of
from passnet_core.solvers.rules.shared import DEVICE, Shared
from passnet_core.solvers.rules.values import Cast, Copied, Order, Pointwise, Stored, Value

MOST_OF_TENSORS = 112
"""How many characters a line has at most that lists the tensors of a launch, besides its indent."""

UNFIT = "This pass was not written for tensors of these ranks and dtypes."
"""What a pass says where it is called with tensors for which it has no form."""

OTHER_SIZES = "This pass was not written for sizes that are joined otherwise."
"""What a pass says where a view would join or part other axes than in the subgraphs."""


def pass_file(shared: Shared, forms: Sequence[Form], file: str, function: str, docstring: str) -> PassFile:
    """Write the file of a pass."""
    arguments = [node.name for node in shared.graph.inputs]
    listed = ", ".join(arguments)
    pattern = _pattern(shared.graph)
    kernels = [code.text for form in forms for code in form.kernels]
    if len(forms) == 1:
        hosts = ["\n".join(["@torch.fx.wrap", f"def {function}({listed}):", *_body(forms[0])])]
    else:
        names = [f"{function}_{place + 1}" for place in range(len(forms))]
        hosts = ["\n".join([f"def {name}({listed}):", *_body(form)]) for name, form in zip(names, forms)]
        hosts.append(_choice(forms, names, function, listed))
    shared_with_others = needed("\n".join([*kernels, *hosts]))
    jit = {name: text for name, text in shared_with_others.items() if text.startswith(KERNEL)}
    host = {name: text for name, text in shared_with_others.items() if name not in jit}
    parts = [below_each_other(jit), *kernels, below_each_other(host), *hosts]
    body = "\n\n\n".join(filter(None, parts))
    head = "\n".join(_imports(body, pattern))
    text = f'''"""{docstring}"""

{head}


{pattern}


def replacement_args({listed}):
    return {_tuple(arguments)}


{body}


def replacement_func():
    return {function}
'''
    return PassFile(file, wrapped(text))


def _imports(body: str, pattern: str) -> list[str]:
    """What the functions and the pattern name."""
    read = {"math": body + pattern, "operator": pattern}
    found = [f"import {each}" for each, text in read.items() if re.search(rf"\b{each}\.", text)]
    found.append("import torch")
    if re.search(r"\btriton\.", body):
        found.append("import triton")
    if re.search(r"\btl\.", body):
        found.append("import triton.language as tl")
    if named := [each for each in ("device", "inf") if re.search(rf"\b{each}\b(?!=)", pattern)]:
        found.append(f"from torch import {', '.join(named)}")
    if "libdevice." in body:
        found.append("from triton.language.extra import libdevice")
    return found


def _pattern(graph: Graph) -> str:
    """pattern(), with the operations in the spelling of the subgraph."""
    lines = emit(graph).splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("    def forward("))
    arguments = ", ".join(node.name for node in graph.inputs)
    body = [line[4:] for line in lines[start + 1 :]]
    return "\n".join([f"def pattern({arguments}):", *body])


def _device(form: Form) -> str:
    return f"{form.inputs[0].tensor}.device" if form.inputs else DEVICE


def _elementwise(value: Value) -> Iterator[Stored]:
    """The tensors that an elementwise computation reads element by element, the first operand first."""
    match value:
        case Stored():
            yield value
        case Pointwise(contiguous=False) | Cast() | Copied(contiguous=False):
            for each in value.parts:
                yield from _elementwise(each)


def _allocation(name: str, value: Value, device: str) -> str:
    shape = _tuple([each.text for each in value.shape])
    strides, sizes = strides_of(value), sizes_of(value)
    dtype = value.dtype.host
    if not value.contiguous:
        for each in _elementwise(value):
            alike = len(each.shape) == len(value.shape) and all(a.seems(b) for a, b in zip(each.shape, value.shape))
            if alike and strides_of(each) == strides:
                more = "" if each.dtype == value.dtype else f", dtype={dtype}"
                return f"{name} = torch.empty_like({each.tensor}{more})"
    if strides is None or is_contiguous(value) or strides == row_major(sizes):
        return f"{name} = torch.empty({shape}, dtype={dtype}, device={device})"
    order = tuple(sorted(range(len(sizes)), key=lambda axis: (-strides[axis], axis)))
    return f"{name} = empty_ordered({shape}, {order}, dtype={dtype}, device={device})"


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _body(form: Form) -> list[str]:
    """The lines of a function that allocates, launches and returns."""
    device = _device(form)
    lines: list[str] = []
    if form.inputs:
        dims, ranks = [f"{each.tensor}.dim()" for each in form.inputs], [str(len(each.shape)) for each in form.inputs]
        fits = f"{dims[0]} != {ranks[0]}" if len(dims) == 1 else f"{_tuple(dims)} != {_tuple(ranks)}"
        lines += [f"if {fits}:", f'    raise TypeError("{UNFIT}")']
    if form.assumed:
        fits = " or ".join(f"{one.text} != {other.text}" for one, other in form.assumed)
        lines += [f"if {fits}:", f'    raise TypeError("{OTHER_SIZES}")']
    for tensor, value in form.allocated.items():
        lines.append(_allocation(tensor, value, device))
    tensors = dict.fromkeys(
        each.tensor
        for code in form.kernels
        for each in code.accesses
        if each.strides or each.others or each.start.terms
    )
    lines += [f"{tensor}_steps = steps({tensor})" for tensor in tensors]
    for code in form.kernels:
        lines += _launch(code)
    lines += dict.fromkeys(step for each in form.results for step in each.steps)
    lines.append(f"return {', '.join(each.name for each in form.results)}")
    return [f"    {line}" for line in lines]


def _launch(code: Code) -> list[str]:
    """The lines that choose tiles and launch a kernel."""
    lines: list[str] = []
    sizes: dict[str, list[str]] = {}
    strides: dict[str, list[str]] = {each.label: [] for each in code.accesses}
    spaces = [code.outer, *code.spaces]
    for space in spaces:
        label = "outer" if space is code.outer else space.name
        sizes[label] = []
        for number, run in enumerate(_runs(space, code)):
            mine = [each for each in code.accesses if run[0] in each.strides]
            if len(run) == 1:
                sizes[label].append(space.sizes[run[0]].text)
                for each in mine:
                    strides[each.label].append(each.strides[run[0]].text)
                continue
            names = [f"{each.label.lower()}_{label}{number or ''}" for each in mine]
            whole = f"{label}{number or ''}"
            given = [_tuple([space.sizes[name].text for name in run])]
            given += [_tuple([each.strides[name].text for name in run]) for each in mine]
            lines.append(f"{', '.join([whole, *names])} = merged(")
            lines += [f"    {each}," for each in given]
            lines.append(")")
            sizes[label].append(f"*{whole}")
            for each, own in zip(mine, names):
                strides[each.label].append(f"*{own}")
    for each in code.accesses:
        strides[each.label] += [size.text for _, size in each.others]
        if each.start.terms:
            strides[each.label].append(each.start.text)
    constants = {("OUTER" if label == "outer" else label.upper()): _joined(each) for label, each in sizes.items()}
    constants |= {label: _joined(each) for label, each in strides.items()}
    constants |= code.constants
    constants["INDEX"] = f"index_dtype({', '.join(code.tensors)})"
    count = _product([each.text for each in code.outer.sizes.values()])
    options = {"num_warps": "warps", "enable_fp_fusion": "False"}
    if isinstance(code, ProductCode):
        lengths = [_product([each.text for each in space.sizes.values()]) for space in code.spaces]
        lines.append(f"grid, sides, warps, stages = product_tiles({', '.join([count, *lengths, code.dtype])})")
        constants |= {f"BLOCK_{letter}": f"sides[{place}]" for place, letter in enumerate("MNK")}
        for place, letter in enumerate("MN"):
            constants[f"TILES_{letter}"] = f"triton.cdiv({lengths[place]}, sides[{place}])"
        # without fusion a product in float32 would take twice as long
        options |= {"num_stages": "stages", "enable_fp_fusion": f"{code.dtype} == torch.float32"}
    elif code.tiled:
        held = [space for space in code.spaces if not space.ordered]
        columns = [_product([each.text for each in space.sizes.values()]) for space in held]
        widths = [f"columns_{space.name}" if len(code.spaces) > 1 else "columns" for space in held]
        function = "tiles_of_long_rows" if code.looped else "tiles"
        given = [count, *columns, *(["beside=True"] if code.beside else [])]
        lines.append(f"grid, rows, {', '.join([*widths, 'warps'])} = {function}({', '.join(given)})")
        constants["ROWS"] = "rows"
        for width in widths:
            constants[width.upper()] = width
        for space in (each for each in code.spaces if each.ordered):
            lines += _lanes(space, count)
            constants |= {each.upper(): each for each in space.counts}
    elif code.crossed:
        sides = [_product([each.text for each in space.sizes.values()]) for space in code.spaces]
        lines.append(f"grid, counts, rows, columns, warps = crossing_tiles({', '.join([count, *sides])})")
        constants |= {"TILES": "counts", "ROWS": "rows", "COLUMNS": "columns"}
    else:
        lines.append(f"grid, block, warps = blocks({count})")
        constants["BLOCK"] = "block"
    lines.append(f"{code.name}[grid](")
    lines += [f"    {line}" for line in textwrap.wrap(f"{', '.join(code.tensors)},", MOST_OF_TENSORS)]
    lines += [f"    {name}={value}," for name, value in (constants | options).items()]
    lines.append(")")
    return lines


def _joined(items: Sequence[str]) -> str:
    """A tuple of these, some of which stand for several; a single one of that kind is a tuple itself."""
    return items[0][1:] if len(items) == 1 and items[0].startswith("*") else _tuple(items)


def _lanes(space: Space, rows: str) -> list[str]:
    """How many threads of eager walk a row, how often they go on, and no more warps than they fill."""
    columns = _product([each.text for each in space.sizes.values()])
    if space.order.moments:
        # what threads have seen is soonest united within a warp
        return [
            f"{space.lanes}, {space.each} = {space.order.value}({columns})",
            f"{space.tiles} = triton.cdiv({columns}, {space.each} * {space.lanes})",
            f"warps = min(warps, max(rows, triton.next_power_of_2(rows * {columns}) // 2048))",
        ]
    given, elements = (f"{rows}, {columns}", 4) if space.order is Order.LANES else (columns, 1)
    return [
        f"{space.lanes} = {space.order.value}({given})",
        f"{space.tiles} = triton.cdiv({columns}, {f'{elements} * ' if elements > 1 else ''}{space.lanes})",
        f"warps = max(min(warps, rows * {space.lanes} // {32 // elements}), 1)",
    ]


def _product(texts: Sequence[str]) -> str:
    found = [f"({each})" if re.search(r" [-+] ", each) else each for each in texts if each != "1"]
    return " * ".join(found) or "1"


def _runs(space: Space, code: Code) -> list[list[str]]:
    """Variables that may be walked as one where the tensors allow it: neighbours on which each access depends alike."""
    runs: list[list[str]] = []
    for name in space.sizes:
        together = (
            runs
            and not {name, runs[-1][-1]} & code.pinned
            and all((name in each.strides) == (runs[-1][-1] in each.strides) for each in code.accesses)
        )
        if together:
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


def _choice(forms: Sequence[Form], names: Sequence[str], function: str, listed: str) -> str:
    """The function that calls the one which fits the arguments. Raises Unsupported if nothing tells them apart."""
    lines = ["@torch.fx.wrap", f"def {function}({listed}):"]
    kinds = [_kinds(form, forms) for form in forms]
    for place, form in enumerate(forms):
        conditions = list(kinds[place])
        for index, other in enumerate(forms):
            if index != place and kinds[index] == kinds[place]:
                conditions.append(_telling(form, other))
        lines += [f"    if {' and '.join(dict.fromkeys(conditions))}:", f"        return {names[place]}({listed})"]
    lines.append(f'    raise TypeError("{UNFIT}")')
    return "\n".join(lines)


def _kinds(form: Form, forms: Sequence[Form]) -> list[str]:
    """Conditions on the ranks and dtypes in which forms differ."""
    conditions: list[str] = []
    for index, own in enumerate(form.inputs):
        if len({len(each.inputs[index].shape) for each in forms}) > 1:
            conditions.append(f"{own.tensor}.dim() == {len(own.shape)}")
        if len({_dtype_condition(each, index) for each in forms}) > 1:
            conditions.append(_dtype_condition(form, index))
    return conditions


def _telling(form: Form, other: Form) -> str:
    """A condition on a size that holds in all subgraphs of the form, and in none of the other."""
    for (text, mine), (_, theirs) in zip(_facts(form), _facts(other)):
        if set(mine) == {1} and 1 not in theirs:
            return f"{text} == 1"
        if set(theirs) == {1} and 1 not in mine:
            return f"{text} != 1"
    raise Unsupported("operations that copy in some subgraphs and not in others")


def _facts(form: Form) -> Iterator[tuple[str, tuple[int | float, ...]]]:
    for each in form.inputs:
        yield from ((size.text, size.values) for size in each.shape)
    yield from form.numbers.items()


def _dtype_condition(form: Form, index: int) -> str:
    own = form.inputs[index]
    if not own.dtype.source:
        return f"{own.tensor}.dtype == torch.{own.dtype.name}"
    if own.dtype.source != own.tensor:
        return f"{own.tensor}.dtype == {own.dtype.source}.dtype"
    others = [
        f"{own.tensor}.dtype != {each.dtype.source}.dtype"
        for each in form.inputs[:index]
        if each.dtype.source == each.tensor
    ]
    return " and ".join([f"{own.tensor}.is_floating_point()", *others])


UNTITLED = named("untitled")


def title(graph: Graph) -> str:
    """A name from the operations, for functions and files."""
    words: list[str] = []
    for each in operator_sequence(graph):
        if each not in UNTITLED and (not words or words[-1] != each):
            words.append(each)
    if not words:
        words = list(dict.fromkeys(operator_sequence(graph)))[:3] or ["values"]
    found = "_".join(words[:4]).strip("_").lower()
    found = re.sub(r"\W", "_", found)
    return f"{found}_values" if keyword.iskeyword(found) or not found.isidentifier() else found
