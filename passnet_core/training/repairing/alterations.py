"""Typical mistakes in a bundle, made on one that is right: text in, text out, nothing is run.

Each alteration names what people and models get wrong, finds the places where it can be made, and can be undone alone,
whatever else is wrong. Whether it does harm, only the judge knows."""

import ast
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from passnet_core.operations.kinds import mapping
from passnet_core.records import Bundle

Files = Mapping[str, str]
"""The files of a bundle by name, in the order in which they are written."""

NO_VALUES = ("torch", "operator", "math", "device", "inf")
"""Names in an expression that stand for no value of the pattern."""


class Shows(IntEnum):
    """Where the judge is expected to find a mistake, in the order in which it looks."""

    RULES = 1
    LOADING = 2
    MATCHING = 3
    VALUES = 4


@dataclass(frozen=True)
class Edit:
    """What is written in place of a part of a file. start, end: in characters of the file as it is right."""

    file: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Flaw:
    """An alteration in one place. names: what files are called instead; an empty name: the file is missing."""

    name: str
    shows: Shows
    edits: tuple[Edit, ...] = ()
    names: tuple[tuple[str, str], ...] = ()

    def is_apart_from(self, other: "Flaw") -> bool:
        """Whether both can be made at once, and be mended one after the other."""
        pairs = [(one, two) for one in self.edits for two in other.edits if one.file == two.file]
        touching = any(one.start <= two.end and two.start <= one.end for one, two in pairs)
        renamed = [name for name, _ in (*self.names, *other.names)]
        edited = {each.file for each in (*self.edits, *other.edits)}
        return not touching and not edited & set(renamed) and len(set(renamed)) == len(renamed)


def with_mistakes(right: Files, mistakes: Iterable[Flaw]) -> dict[str, str]:
    """The files with these mistakes, no two of which touch."""
    made = dict(right)
    names: dict[str, str] = {}
    edits: list[Edit] = []
    for each in mistakes:
        names |= dict(each.names)
        edits += each.edits
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        code = made[edit.file]
        made[edit.file] = code[: edit.start] + edit.text + code[edit.end :]
    return {names.get(name, name): code for name, code in made.items() if names.get(name, name)}


def files_of(bundle: Bundle) -> dict[str, str]:
    """The files of a bundle, the passes first."""
    return {each.name: each.code for each in bundle.files}


# --- a pass file ---

Replacement = tuple[int, int, str]
"""Start, end, and the text in place of what lies between."""


class PassSource:
    """A pass file, and the places of its functions."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.tree = ast.parse(code)
        self._starts = [0]
        for line in code.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.functions = {each.name: each for each in self.tree.body if isinstance(each, ast.FunctionDef)}

    @cached_property
    def wrapper(self) -> ast.FunctionDef:
        return next(
            each for each in self.functions.values() if any("wrap" in ast.unparse(one) for one in each.decorator_list)
        )

    @cached_property
    def kernels(self) -> list[ast.FunctionDef]:
        """The kernels that are launched, without the functions that they call."""
        launched = {ast.unparse(each.func.value) for each in self.launches if isinstance(each.func, ast.Subscript)}
        return [each for each in self.functions.values() if each.name in launched]

    @cached_property
    def launches(self) -> list[ast.Call]:
        return [
            each
            for each in ast.walk(self.wrapper)
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Subscript)
        ]

    def place(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def start(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        return self.place(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.place(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.expr | ast.stmt | ast.arg) -> str:
        return self.code[self.start(node) : self.end(node)]

    def instead(self, node: ast.expr | ast.stmt | ast.arg, text: str) -> Replacement:
        return self.start(node), self.end(node), text

    def without(self, node: ast.stmt) -> Replacement:
        """The file without the lines of a statement."""
        return self.place(node.lineno, 0), self.end(node) + 1, ""

    def values(self) -> Iterator[ast.AST]:
        """The nodes of what kernels compute, as opposed to where they read and write."""
        for kernel in self.kernels:
            for statement in ast.walk(kernel):
                if isinstance(statement, ast.Assign) and not _is_a_place(statement):
                    yield from _computed(statement.value)

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """The calls of these functions in the kernels."""
        for kernel in self.kernels:
            for each in ast.walk(kernel):
                if isinstance(each, ast.Call) and ast.unparse(each.func) in names:
                    yield each

    def addresses(self) -> Iterator[ast.expr]:
        for call in self.calls("tl.load", "tl.store"):
            yield call.args[0]


PLACE = re.compile(r"[a-z]\d+|index.*|row.*|column.*|inside.*")
"""What the rules call the coordinates of elements, and whether they are inside."""


def _is_a_place(statement: ast.Assign) -> bool:
    return any(isinstance(each, ast.Name) and PLACE.fullmatch(each.id) for each in statement.targets)


def _computed(value: ast.expr) -> Iterator[ast.AST]:
    """The nodes of an expression, without the addresses and masks of what it loads."""
    yield value
    for child in ast.iter_child_nodes(value):
        if isinstance(child, ast.expr) and not (isinstance(value, ast.Call) and ast.unparse(value.func) == "tl.load"):
            yield from _computed(child)


# --- what the static rules find ---

Found = Iterator[list[Replacement]]


def _unfinished_parenthesis(source: PassSource) -> Found:
    for call in source.calls("tl.store"):
        yield [(source.end(call) - 1, source.end(call), "")]


def _missing_colon(source: PassSource) -> Found:
    for name in ("pattern", "replacement_func"):
        first = source.functions[name].body[0]
        colon = source.code.rindex(":", 0, source.start(first))
        yield [(colon, colon + 1, "")]


def _missing_wrap(source: PassSource) -> Found:
    decorator = source.wrapper.decorator_list[0]
    yield [(source.place(decorator.lineno, 0), source.end(decorator) + 1, "")]


def _returned(source: PassSource, function: str) -> ast.Return:
    last = source.functions[function].body[-1]
    assert isinstance(last, ast.Return)
    return last


def _replacement_not_returned(source: PassSource) -> Found:
    last = _returned(source, "replacement_func")
    yield [(source.start(last), source.start(last) + len("return "), "")]


def _replacement_called(source: PassSource) -> Found:
    last = _returned(source, "replacement_func")
    yield [(source.end(last), source.end(last), "()")]


def _pattern_returns_nothing(source: PassSource) -> Found:
    last = _returned(source, "pattern")
    if len(source.functions["pattern"].body) > 1:
        yield [source.without(last)]


def _arguments_named_otherwise(source: PassSource) -> Found:
    for argument in source.functions["replacement_args"].args.args:
        value = _returned(source, "replacement_args").value
        named = [each for each in ast.walk(value or argument) if isinstance(each, ast.Name) and each.id == argument.arg]
        yield [source.instead(argument, f"the_{argument.arg}")] + [
            source.instead(each, f"the_{argument.arg}") for each in named
        ]


def _argument_left_out(source: PassSource) -> Found:
    value = _returned(source, "replacement_args").value
    if isinstance(value, ast.Tuple) and len(value.elts) > 1:
        yield [(source.end(value.elts[-2]), source.end(value.elts[-1]), "," if len(value.elts) == 2 else "")]


def _library_call(source: PassSource) -> Found:
    value = _returned(source, source.wrapper.name).value
    if isinstance(value, ast.Name):
        for call in ("torch.clone", "torch.ravel", "torch.abs"):
            yield [source.instead(value, f"{call}({value.id})")]


def _library_import(source: PassSource) -> Found:
    at = source.code.index("import torch\n") + len("import torch\n")
    for line in ("import torch.nn.functional as F\n", "from torch import nn\n", "import os\n"):
        yield [(at, at, line)]


def _missing_import(source: PassSource) -> Found:
    for line in ("import triton.language as tl\n", "import triton\n"):
        if line in source.code:
            at = source.code.index(line)
            yield [(at, at + len(line), "")]


def _missing_device(source: PassSource) -> Found:
    for call, keyword in _allocation_keywords(source, "device"):
        before = source.code.rindex(",", source.start(call), source.start(keyword.value))
        yield [(before, source.end(keyword.value), "")]


# --- what loading and matching find ---


def _misspelt_import(source: PassSource) -> Found:
    for node in source.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module not in ("torch", "triton.language.extra"):
            for alias in node.names:
                at = source.place(alias.lineno, alias.col_offset)
                yield [(at, at + len(alias.name), f"{alias.name}s")]


def _of_pattern(source: PassSource) -> Iterator[ast.AST]:
    for statement in source.functions["pattern"].body:
        yield from ast.walk(statement)


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def _other_literal(source: PassSource) -> Found:
    for node in _of_pattern(source):
        if isinstance(node, ast.Constant) and _is_number(node):
            yield [source.instead(node, _another(node.value))]


def _another(value: object) -> str:
    """Another number of the same type."""
    if isinstance(value, int):
        return str(value + 1)
    assert isinstance(value, float)
    return repr(value * 10 if 0 < abs(value) < 0.01 else value + 1.0 if value == 0 else value / 2)


OTHERS = mapping("mistaken")


def _other_operation(source: PassSource) -> Found:
    for node in _of_pattern(source):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in OTHERS:
            end = source.end(node.func)
            yield [(end - len(node.func.attr), end, OTHERS[node.func.attr])]
        elif isinstance(node, ast.BinOp):
            yield from _other_sign(source, node)


SIGNS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
}
"""How an operator is written, and another one."""


def _other_sign(source: PassSource, node: ast.BinOp) -> Found:
    if type(node.op) in SIGNS:
        sign, other = SIGNS[type(node.op)]
        at = source.code.index(sign, source.end(node.left))
        if source.code[source.end(node.left) : at].strip(" )\n") == "":
            yield [(at, at + 1, other)]


def _exchanged_operands(source: PassSource) -> Found:
    for node in _of_pattern(source):
        if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            left, right = source.text(node.left), source.text(node.right)
            if left != right and all(isinstance(each, ast.Name | ast.Constant) for each in (node.left, node.right)):
                yield [source.instead(node, f"{right} {SIGNS[type(node.op)][0]} {left}")]


def _dropped_operation(source: PassSource) -> Found:
    body = source.functions["pattern"].body
    for number, statement in enumerate(body[:-1]):
        if len(body) < 3 or not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            continue
        target = statement.targets[0].id
        first = next(
            (each.id for each in ast.walk(statement.value) if isinstance(each, ast.Name) and each.id not in NO_VALUES),
            None,
        )
        uses = [
            each
            for later in body[number + 1 :]
            for each in ast.walk(later)
            if isinstance(each, ast.Name) and each.id == target
        ]
        if first is not None and uses:
            yield [source.without(statement), *(source.instead(each, first) for each in uses)]


def _unused_input(source: PassSource) -> Found:
    edits = []
    for name in ("pattern", "replacement_args"):
        last = source.functions[name].args.args[-1]
        edits.append((source.end(last), source.end(last), ", extra"))
    yield edits


# --- what the comparison of values finds ---


def _other_operator(source: PassSource) -> Found:
    for node in source.values():
        if isinstance(node, ast.BinOp):
            yield from _other_sign(source, node)


def _exchanged_terms(source: PassSource) -> Found:
    for node in source.values():
        match node:
            case ast.BinOp(op=ast.Sub() | ast.Div(), left=left, right=right):
                sign = SIGNS[type(node.op)][0]
                yield [source.instead(node, f"({source.text(right)}) {sign} ({source.text(left)})")]
            case ast.Call(func=ast.Name(id="divided"), args=[left, right]):
                yield [source.instead(left, source.text(right)), source.instead(right, source.text(left))]


def _other_number(source: PassSource) -> Found:
    for node in source.values():
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            yield [source.instead(node, _another(node.value))]


def _other_function(source: PassSource) -> Found:
    swaps = {"exp": "exp2", "rsqrt": "sqrt", "sqrt": "rsqrt", "sum": "max", "max": "min", "tanh": "sin", "sin": "cos"}
    swaps |= {"cos": "sin", "log": "log2", "maximum": "minimum", "minimum": "maximum", "abs": "exp", "erf": "tanh"}
    for node in source.values():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in swaps:
            end = source.end(node.func)
            other = swaps[node.func.attr]
            if ast.unparse(node.func.value) == "libdevice" or other in ("max", "min", "maximum", "minimum"):
                yield [(end - len(node.func.attr), end, other)]


def _missing_mask(source: PassSource) -> Found:
    for call in source.calls("tl.store", "tl.load"):
        for keyword in call.keywords:
            if keyword.arg == "mask":
                yield [(source.end(call.args[-1]), source.end(keyword.value), "")]


def _off_by_one(source: PassSource) -> Found:
    for kernel in source.kernels:
        for node in ast.walk(kernel):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Compare) and _is_a_place(node):
                limit = node.value.comparators[0]
                yield [(source.end(limit), source.end(limit), " - 1")]


def _short_grid(source: PassSource) -> Found:
    for launch in source.launches:
        assert isinstance(launch.func, ast.Subscript)
        yield [source.instead(launch.func.slice, "(grid[0] - 1,)")]


def _wrong_stride(source: PassSource) -> Found:
    for address in source.addresses():
        steps = [each for each in ast.walk(address) if isinstance(each, ast.Subscript)]
        if len(steps) > 1:
            for step in steps:
                assert isinstance(step.slice, ast.Constant)
                at = int(step.slice.value)  # type: ignore[arg-type]
                yield [source.instead(step.slice, str(at - 1 if at else 1))]


def _missing_store(source: PassSource) -> Found:
    for kernel in source.kernels:
        for statement in kernel.body[1:]:
            if isinstance(statement, ast.Expr) and source.text(statement).startswith("tl.store("):
                yield [source.without(statement)]


def _constant_output(source: PassSource) -> Found:
    value = _returned(source, source.wrapper.name).value
    if isinstance(value, ast.Name):
        for call in ("torch.zeros_like", "torch.ones_like"):
            yield [source.instead(value, f"{call}({value.id})")]


def _returns_input(source: PassSource) -> Found:
    value = _returned(source, source.wrapper.name).value
    if isinstance(value, ast.Name):
        yield [source.instead(value, source.wrapper.args.args[0].arg)]


def _allocations(source: PassSource) -> Iterator[ast.Call]:
    for node in ast.walk(source.wrapper):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("torch.empty", "torch.empty_like"):
            yield node


def _allocation_keywords(source: PassSource, name: str) -> Iterator[tuple[ast.Call, ast.keyword]]:
    for call in _allocations(source):
        yield from ((call, each) for each in call.keywords if each.arg == name)


def _wrong_output_shape(source: PassSource) -> Found:
    for call in _allocations(source):
        shape = call.args[0]
        if isinstance(shape, ast.Tuple) and len(shape.elts) > 1:
            one, other = shape.elts[-2:]
            if source.text(one) != source.text(other):
                yield [source.instead(one, source.text(other)), source.instead(other, source.text(one))]
            yield [(source.end(other), source.end(other), ", 1")]
        elif isinstance(shape, ast.Name):
            flat = f"torch.empty(({shape.id}.numel(), 1, 1), dtype={shape.id}.dtype, device={shape.id}.device)"
            if not call.keywords:
                yield [source.instead(call, flat)]


def _wrong_output_dtype(source: PassSource) -> Found:
    for _, keyword in _allocation_keywords(source, "dtype"):
        yield [source.instead(keyword.value, "torch.float64")]
    for call in _allocations(source):
        if not any(each.arg == "dtype" for each in call.keywords):
            yield [(source.end(call) - 1, source.end(call) - 1, ", dtype=torch.float64")]


def _narrow_accumulation(source: PassSource) -> Found:
    for node in source.values():
        if isinstance(node, ast.Call) and source.text(node).endswith(".to(tl.float32)"):
            yield [source.instead(node.args[0], "tl.float16")]


def _undefined_name(source: PassSource) -> Found:
    for call in source.calls("tl.store"):
        name = next((each for each in ast.walk(call.args[1]) if isinstance(each, ast.Name) and each.id != "tl"), None)
        if name is not None:
            yield [source.instead(name, f"{name.id}_result")]


def _exchanged_arguments(source: PassSource) -> Found:
    for launch in source.launches:
        for one, other in zip(launch.args, launch.args[1:], strict=False):
            yield [source.instead(one, source.text(other)), source.instead(other, source.text(one))]


def _missing_argument(source: PassSource) -> Found:
    for launch in source.launches:
        for keyword in launch.keywords:
            if keyword.arg and keyword.arg.isupper():
                line = source.place(keyword.value.lineno, 0)
                whole = source.code[line : source.end(keyword.value) + 2]
                if whole.endswith(",\n"):
                    yield [(line, source.end(keyword.value) + 2, "")]


def _block_of_any_size(source: PassSource) -> Found:
    for launch in source.launches:
        for keyword in launch.keywords:
            if keyword.arg in ("BLOCK", "ROWS", "COLUMNS"):
                yield [(source.end(keyword.value), source.end(keyword.value), " + 1")]


def _not_a_constant(source: PassSource) -> Found:
    for kernel in source.kernels:
        for each in kernel.args.args:
            if each.annotation is not None and each.arg in ("BLOCK", "ROWS", "COLUMNS"):
                yield [(source.start(each) + len(each.arg), source.end(each.annotation), "")]


Finder = Callable[[PassSource], Found]

FINDERS: Mapping[Shows, tuple[Finder, ...]] = {
    Shows.RULES: (
        _unfinished_parenthesis, _missing_colon, _missing_wrap, _replacement_not_returned, _replacement_called,
        _pattern_returns_nothing, _arguments_named_otherwise, _argument_left_out, _library_call, _library_import,
        _missing_device,
    ),
    Shows.LOADING: (_missing_import, _misspelt_import),
    Shows.MATCHING: (_other_literal, _other_operation, _exchanged_operands, _dropped_operation, _unused_input),
    Shows.VALUES: (
        _other_operator, _exchanged_terms, _other_number, _other_function, _missing_mask, _off_by_one, _short_grid,
        _wrong_stride, _missing_store, _constant_output, _returns_input, _wrong_output_shape, _wrong_output_dtype,
        _narrow_accumulation, _undefined_name, _exchanged_arguments, _missing_argument, _block_of_any_size,
        _not_a_constant,
    ),
}  # fmt: skip
"""What makes each alteration of a pass file, by where it shows."""

ALTERATIONS: Mapping[str, tuple[Shows, Finder]] = {
    finder.__name__.strip("_").replace("_", " "): (shows, finder)
    for shows, finders in FINDERS.items()
    for finder in finders
}
"""The alterations of a pass file, by name."""

MISSING_HELPER, MISNAMED_HELPER = "missing helper", "misnamed helper"


def mistakes(bundle: Bundle) -> dict[str, list[Flaw]]:
    """All mistakes that can be made in a bundle, by the name of the alteration. Each changes it."""
    found: dict[str, list[Flaw]] = {}
    for file in bundle.passes:
        source = PassSource(file.code)
        for name, (shows, finder) in ALTERATIONS.items():
            for replacements in finder(source):
                edits = tuple(Edit(file.name, *each) for each in replacements)
                if any(file.code[each.start : each.end] != each.text for each in edits):
                    found.setdefault(name, []).append(Flaw(name, shows, edits))
    for helper in bundle.helpers:
        stem = helper.name.removesuffix(".py")
        found.setdefault(MISSING_HELPER, []).append(Flaw(MISSING_HELPER, Shows.LOADING, names=((helper.name, ""),)))
        other = ((helper.name, f"{stem}_helper.py"),)
        found.setdefault(MISNAMED_HELPER, []).append(Flaw(MISNAMED_HELPER, Shows.LOADING, names=other))
    return found


def chosen(possible: Mapping[str, Sequence[Flaw]], where: Sequence[Shows], chance: random.Random) -> tuple[Flaw, ...]:
    """One mistake that shows at each of these places, all apart from each other, in the order in which the judge finds
    them; fewer if there are not enough. Each alteration is as likely as another."""
    taken: list[Flaw] = []
    for shows in where:
        names = sorted(name for name, each in possible.items() if each[0].shows is shows)
        chance.shuffle(names)
        for name in names:
            one = chance.choice(possible[name])
            if all(one.is_apart_from(other) and one.name != other.name for other in taken):
                taken.append(one)
                break
    return tuple(sorted(taken, key=lambda each: each.shows))
