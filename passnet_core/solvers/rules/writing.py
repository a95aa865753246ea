"""Pass files: the pattern, the kernels, and a replacement function that plans a launch once for arguments of a kind."""

import keyword
import re
from collections.abc import Iterator, Sequence

from passnet_core.bundles.carried import numerics, planning
from passnet_core.graphs.emission import emit
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.operations.kinds import named
from passnet_core.records.bundles import PassFile
from passnet_core.solvers.rules.contractions import ProductCode
from passnet_core.solvers.rules.formatting import wrapped
from passnet_core.solvers.rules.forms import Form
from passnet_core.solvers.rules.kernels import Code, Space, Unsupported
from passnet_core.solvers.rules.layouts import is_contiguous, row_major, sizes_of, strides_of
from passnet_core.solvers.rules.shared import DEVICE, Shared
from passnet_core.solvers.rules.values import Cast, Copied, Order, Pointwise, Stored, Value

HELPERS = {
    each.name.removesuffix(".py"): sorted(re.findall(r"^def ([a-z]\w*)", each.code, re.MULTILINE))
    for each in (numerics(), planning())
}
"""By helper module, the functions that passes may use of it."""

UNFIT = "This pass was not written for tensors of these ranks and dtypes."
"""What a pass says where it is called with tensors for which it has no form."""

OTHER_SIZES = "This pass was not written for sizes that are joined otherwise."
"""What a pass says where a view would join or part other axes than in the subgraphs."""


def pass_file(shared: Shared, forms: Sequence[Form], file: str, function: str, docstring: str) -> PassFile:
    """Write the file of a pass."""
    arguments = [node.name for node in shared.graph.inputs]
    listed = ", ".join(arguments)
    several = len(forms) > 1
    pattern = _pattern(shared.graph)
    kernels, plans = [], []
    for place, form in enumerate(forms):
        kernels += [code.text for code in form.kernels]
        if several:
            call = f"call_{place + 1}"
            plans.append(_plan(form, f"plan_{place + 1}", arguments, call))
            lines = [f"def {call}(plan, {listed}):", *(f"    {line}" for line in _call(form, several=True))]
            plans.append("\n".join(lines))
        else:
            plans.append(_plan(form, "planned", arguments, ""))
    if several:
        plans.append(_choice(forms, listed))
    body = "\n\n\n".join([*kernels, *plans])
    replacement = _replacement(forms, function, arguments)
    head = "\n".join(_imports(body + replacement, pattern))
    text = f'''"""{docstring}"""

{head}


{pattern}


def replacement_args({listed}):
    return {_tuple(arguments)}


{body}


{replacement}


def replacement_func():
    return {function}
'''
    return PassFile(file, wrapped(text))


def _imports(body: str, pattern: str) -> list[str]:
    """What the kernels and plans, and the pattern, name."""
    found = [f"import {each}" for each in ("math", "operator") if re.search(rf"\b{each}\.", pattern)]
    found.append("import torch")
    if "@triton.jit" in body:
        found += ["import triton", "import triton.language as tl"]
    if launching := [each for each in ("Launch", "facts", "recognizer", "unlike") if re.search(rf"\b{each}\b", body)]:
        found.append(f"from launching import {', '.join(launching)}")
    for module, names in HELPERS.items():
        if used := [each for each in names if re.search(rf"\b{each}\(", body)]:
            found.append(f"from {module} import {', '.join(used)}")
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


def _plan(form: Form, name: str, arguments: Sequence[str], call: str) -> str:
    device = _device(form)
    lines = [
        f"def {name}({', '.join(arguments)}):",
        '    """Tensors to allocate and launches for arguments of this kind."""',
    ]
    if form.inputs:
        dims, ranks = [f"{each.tensor}.dim()" for each in form.inputs], [str(len(each.shape)) for each in form.inputs]
        fits = f"{dims[0]} != {ranks[0]}" if len(dims) == 1 else f"{_tuple(dims)} != {_tuple(ranks)}"
        lines += [f"    if {fits}:", f'        raise TypeError("{UNFIT}")']
    if form.assumed:
        fits = " or ".join(f"{one.text} != {other.text}" for one, other in form.assumed)
        lines += [f"    if {fits}:", f'        raise TypeError("{OTHER_SIZES}")']
    for tensor, value in form.allocated.items():
        lines.append(f"    {_allocation(tensor, value, device)}")
    for line in dict.fromkeys(step for each in form.results for step in each.steps):
        lines.append(f"    {line}")
    tensors = list(
        dict.fromkeys(
            each.tensor
            for code in form.kernels
            for each in code.accesses
            if each.strides or each.others or each.start.terms
        )
    )
    for tensor in tensors:
        lines.append(f"    {tensor}_steps = steps({tensor})")
    launches = _launches(form)
    for launch, code in zip(launches, form.kernels):
        lines += [f"    {line}" for line in _launch(code, launch)]
    items = [*([call] if call else []), *(item for _, item in _planned_items(form))]
    items += [f"{launch}.call" for launch in launches]
    lines.append(f"    return {items[0] if len(items) == 1 and not call else _bare(items)}")
    return "\n".join(lines)


def _planned_items(form: Form) -> Iterator[tuple[str, str]]:
    """What a plan keeps besides launches: the name of each item in the call, and where it comes from."""
    names = _names(form)
    for tensor in form.allocated:
        name = names.get(tensor, tensor)
        yield f"new_{name}", f"allocation({name})"
    for each in form.results:
        if each.steps and not each.whole:
            yield f"{each.name}_shape", f"{each.name}.shape"
            yield f"{each.name}_strides", f"{each.name}.stride()"
            given = any(each.storage == own.tensor for own in form.inputs)
            before = f" - {each.storage}.storage_offset()" if given else ""
            yield f"{each.name}_offset", f"{each.name}.storage_offset(){before}"


def _names(form: Form) -> dict[str, str]:
    """The names of tensors that are allocated as what the pass returns of them."""
    return {each.storage: each.name for each in form.results if each.whole}


def _launches(form: Form) -> list[str]:
    return ["launch"] if len(form.kernels) == 1 else [f"launch_{place + 1}" for place in range(len(form.kernels))]


def _bare(items: Sequence[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else ", ".join(items)


def _launch(code: Code, launch: str) -> list[str]:
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
    constants = {("OUTER" if label == "outer" else label.upper()): _tuple(each) for label, each in sizes.items()}
    constants |= {label: _tuple(each) for label, each in strides.items()}
    constants |= code.constants
    constants["INDEX"] = f"index_dtype({', '.join(code.tensors)})"
    count = _product([each.text for each in code.outer.sizes.values()])
    options = "num_warps=warps, enable_fp_fusion=False"
    if isinstance(code, ProductCode):
        lengths = [_product([each.text for each in space.sizes.values()]) for space in code.spaces]
        lines.append(f"grid, sides, warps, stages = product_tiles({', '.join([count, *lengths, code.dtype])})")
        constants |= {f"BLOCK_{letter}": f"sides[{place}]" for place, letter in enumerate("MNK")}
        for place, letter in enumerate("MN"):
            constants[f"TILES_{letter}"] = f"triton.cdiv({lengths[place]}, sides[{place}])"
        # without fusion a product in float32 would take twice as long
        options = f"num_warps=warps, num_stages=stages, enable_fp_fusion={code.dtype} == torch.float32"
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
    lines.append("constants = {")
    lines += [f'    "{key}": {value},' for key, value in constants.items()]
    lines.append("}")
    lines.append(f"{launch} = Launch({code.name}, grid, {_tuple(code.tensors)}, constants, {options})")
    return lines


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


def _replacement(forms: Sequence[Form], function: str, arguments: Sequence[str]) -> str:
    """The replacement function, and the one that finds a plan for arguments of another kind than in the call before."""
    listed = ", ".join(arguments)
    tensors = [each for each in arguments if each in _tensors(forms)]
    numbers = [each for each in arguments if each not in tensors]
    unaligned = [f"{each}.data_ptr() % 16" for each in tensors]
    names = [*(f"latest_{each}" for each in numbers), "plan"]
    first = ["None"] * len(names)
    latest = [*numbers, "plan"]
    # a number of the graph is the same object in every call
    others = [f"{each} is not latest_{each}" for each in numbers]
    if tensors:
        given = ", ".join(tensors)
        names, first, latest = ["alike", *names], ["unlike", *first], [f"recognizer({given})", *latest]
        others += [f"not alike({given})", *unaligned]
    else:
        others.append("plan is None")
    kept = f"LATEST[0] = {_bare(latest)}"
    lines = [
        "PLANS = {}",
        f"LATEST = [{_tuple(first)}]",
        "",
        "",
        f"def plan_for({listed}):",
        '    """The plan for arguments of this kind, which the next call is likely to have as well."""',
        *(f"    {line}" for line in _key(forms, arguments)),
        "    plan = PLANS.get(key)",
        "    if plan is None:",
        f"        plan = PLANS[key] = planned({listed})",
        *([f"    if {_neither(unaligned)}:", f"        {kept}"] if tensors else [f"    {kept}"]),
        "    return plan",
        "",
        "",
        "@torch.fx.wrap",
        f"def {function}({listed}):",
        f"    {_bare(names) if len(names) > 1 else 'plan,'} = LATEST[0]",
        f"    if {' or '.join(others)}:",
        f"        plan = plan_for({listed})",
    ]
    call = _call(forms[0]) if len(forms) == 1 else [f"return plan[0](plan, {listed})"]
    return "\n".join([*lines, *(f"    {line}" for line in call)])


def _neither(conditions: Sequence[str]) -> str:
    """That none of the conditions holds."""
    return f"not ({' or '.join(conditions)})" if len(conditions) > 1 else f"not {conditions[0]}"


def _tensors(forms: Sequence[Form]) -> list[str]:
    return [each.tensor for each in forms[0].inputs]


def _key(forms: Sequence[Form], arguments: Sequence[str]) -> list[str]:
    """The key of plans: what facts() tells, written out for tensors and whole numbers, since that is quicker."""
    tensors = _tensors(forms)
    rows: list[str] = []
    others: list[str] = []
    for name in arguments:
        if name in tensors:
            # eager wants all on one device
            device = f"{name}.device, " if name == tensors[0] else ""
            rows.append(f"{name}.dtype, {device}{name}.shape, {name}.stride(), {name}.data_ptr() % 16 == 0")
        elif all(isinstance(value, int) for form in forms for value in form.numbers.get(name, (0.5,))):
            rows.append(f"type({name}), {name}")
        else:
            others.append(name)
    if others:
        rows.append(f"facts({', '.join(others)})")
    if len(rows) == 1:
        return [f"key = {rows[0]}"]
    return ["key = (", *(f"    {each}," for each in rows), ")  # fmt: skip"]


def _choice(forms: Sequence[Form], listed: str) -> str:
    """The function that plans by the form that fits the arguments. Raises Unsupported if nothing tells them apart."""
    lines = [f"def planned({listed}):", '    """The plan of the kernels for tensors of this kind."""']
    kinds = [_kinds(form, forms) for form in forms]
    for place, form in enumerate(forms):
        conditions = list(kinds[place])
        for index, other in enumerate(forms):
            if index != place and kinds[index] == kinds[place]:
                conditions.append(_telling(form, other))
        lines += [f"    if {' and '.join(dict.fromkeys(conditions))}:", f"        return plan_{place + 1}({listed})"]
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


def _call(form: Form, *, several: bool = False) -> list[str]:
    """Allocate, launch and return, by a plan."""
    launches, taken = _launches(form), _names(form)
    items = [*(["_"] if several else []), *(name for name, _ in _planned_items(form)), *launches]
    lines = []
    if items != ["_"] and items:
        alone = len(items) == 1 and not several
        lines.append(f"{items[0]} = plan" if alone else f"{', '.join(items)}{',' if len(items) == 1 else ''} = plan")
    for tensor in form.allocated:
        name = taken.get(tensor, tensor)
        lines.append(f"{name} = new_{name}()")
    for launch, code in zip(launches, form.kernels):
        lines.append(f"{launch}({', '.join(taken.get(each, each) for each in code.tensors)})")
    given = {each.tensor for each in form.inputs}
    for each in form.results:
        if each.steps and not each.whole:
            start = f"{each.storage}.storage_offset() + " if each.storage in given else ""
            own = f"{each.name}_shape, {each.name}_strides, {start}{each.name}_offset"
            lines.append(f"{each.name} = {each.storage}.as_strided({own})")
    lines.append(f"return {', '.join(each.name for each in form.results)}")
    return lines


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
