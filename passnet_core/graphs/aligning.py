"""Assign lines of code to nodes of a subgraph: lines of its source, the rewritten graph, passes and generated code.

Only text is read. Where the line of a node is uncertain, a block of lines belongs to several nodes together, or no line
does: a line that is shown for a node is right."""

import ast
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from passnet_core.errors import BadInput
from passnet_core.graphs.effects import live
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, Value, items_of
from passnet_core.graphs.matching import plain_bind
from passnet_core.graphs.source import parse, parse_function
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.outside import syntax_tree
from passnet_core.records import Bundle, MatchReport, NearestMiss, PassMatches

MOST_ORDERS = 24
"""Most orders in which the results of a pattern are compared with those of a match."""
PASS_FUNCTIONS = ("pattern", "replacement_args", "replacement_func")

_SOURCE_NODES = re.compile(r"Source Nodes: \[([^\]]*)\]")
_KERNEL_NAME = re.compile(r"^[a-z]+(?:_[a-z]+)*?_fused_(.*?)_\d+$")
_LOCATION = re.compile(r"^(#loc\d*) = loc\((.*)\)\s*$")
_IN_FILE = re.compile(r'"([^"]+)":(\d+)')
_USED_LOCATION = re.compile(r"loc\((#loc\d*)\)\s*$")
_PTX_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_PTX_CALLER = re.compile(r"@\[ ([^\s:]+):(\d+):\d+")
_PTX_LINE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")


@dataclass(frozen=True)
class Span:
    """Lines first to last, counted from 1, that belong to these nodes. exact: the lines compute just these nodes; else
    they are a block that computes them somewhere."""

    first: int
    last: int
    nodes: tuple[str, ...]
    exact: bool = True


@dataclass(frozen=True)
class Place:
    """A line of generated code, and the line of a file that it comes from. Both count from 1."""

    line: int
    file: str
    file_line: int


# --- the subgraph and its rewritten graph -----------------------------------------------------------------------------


def of_source(code: str) -> tuple[Span, ...]:
    """Assign each statement of a recorded subgraph to the nodes that it computes; empty if the code is not readable."""
    graph = graph_of(code)
    return _statements(code, {node.name: (node.name,) for node in graph.nodes}, graph)


def of_rewritten(code: str, graph: Graph, match: MatchReport) -> tuple[Span, ...]:
    """Assign the statements of a rewritten graph: kept nodes to themselves, a replacement's call and the statements
    around it to the nodes that the call replaces."""
    rewritten = graph_of(code)
    owners: dict[str, tuple[str, ...]] = {
        node.name: (node.name,)
        for node in rewritten.nodes
        if node.name in graph.by_name and node.target == graph.by_name[node.name].target
    }
    for call in replacement_calls(rewritten):
        around = _around(call, rewritten, owners)
        replaced = _replaced_by(around, match)
        nodes = tuple(name for name in graph.by_name if name in replaced)
        owners.update(dict.fromkeys(around, nodes))
    return _statements(code, owners, rewritten)


def graph_of(code: str) -> Graph:
    """Parse a source; code that cannot be parsed gives a graph without nodes."""
    try:
        return parse(code)
    except BadInput:
        return Graph((), None)


def replacement_calls(rewritten: Graph) -> tuple[Node, ...]:
    """Find the calls of replacement functions in a rewritten graph: only they call a bare name."""
    return tuple(
        node for node in rewritten.operations if node.kind is NodeKind.CALL and node.target.startswith("replacement_")
    )


def _around(call: Node, rewritten: Graph, kept: Collection[str]) -> tuple[str, ...]:
    """Find a replacement's call, the nodes added to compute its arguments, and those that unpack its result."""
    found = {call.name: None}
    waiting = list(call.inputs)
    while waiting:
        node = rewritten.by_name[waiting.pop()]
        if node.name not in kept and node.name not in found and not node.target.startswith("replacement_"):
            found[node.name] = None
            waiting.extend(node.inputs)
    parts = [call.name]
    while parts:
        for user in rewritten.users[parts.pop()]:
            if rewritten.by_name[user].target == "operator.getitem" and user not in kept and user not in found:
                found[user] = None
                parts.append(user)
    return tuple(found)


def _replaced_by(around: Collection[str], match: MatchReport) -> frozenset[str]:
    """Find the nodes of the match whose results keep their names around this call, or of the only match."""
    found = [names for each in match.passes for names in each.matches]
    kept = (names for names in found if not set(names).isdisjoint(around))
    return frozenset(next(kept, found[0] if len(found) == 1 else ()))


def _statements(code: str, owners: Mapping[str, tuple[str, ...]], graph: Graph) -> tuple[Span, ...]:
    """Extend the lines of the graph's nodes to whole statements. owners: node -> the nodes that its line belongs to."""
    ends = _ends(_tree(code))
    by_line: dict[int, dict[str, None]] = {}
    for node in graph.nodes:
        if node.line is not None:
            by_line.setdefault(node.line, {}).update(dict.fromkeys(owners.get(node.name, ())))
    return tuple(Span(line, ends.get(line, line), tuple(names)) for line, names in sorted(by_line.items()) if names)


def _ends(module: ast.AST) -> dict[int, int]:
    """First line of each simple statement -> its last line."""
    return {
        each.lineno: each.end_lineno or each.lineno
        for each in ast.walk(module)
        if isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return)
    }


# --- passes -----------------------------------------------------------------------------------------------------------


def of_bundle(bundle: Bundle, graph: Graph, match: MatchReport | None) -> dict[str, tuple[Span, ...]]:
    """Assign lines of a bundle, by file: lines of the pattern where they are certain, and as blocks the replacement
    functions with the kernels that they launch."""
    files = _Files(bundle)
    spans: dict[str, list[Span]] = {file.name: [] for file in bundle.files}
    for file, found in zip(bundle.passes, match.passes if match else ()):
        nodes = matched_nodes(found, graph)
        pairs = _pattern_pairs(file.code, graph, found, missed=match is not None and not match.count)
        lines: dict[int, dict[str, None]] = {}
        for line, name in pairs:
            lines.setdefault(line, {})[name] = None
        ends = _ends(files.trees[file.name])
        spans[file.name] += [Span(line, ends.get(line, line), tuple(names)) for line, names in sorted(lines.items())]
        if not nodes:
            continue
        assigned = {name for _, name in pairs}
        pattern = files.functions(file.name).get("pattern")
        if pattern is not None and not assigned.issuperset(nodes):
            spans[file.name].append(_block(pattern, nodes))
        for where, function in files.replacing(file.name):
            spans[where].append(_block(function, nodes))
    return {name: tuple(each) for name, each in spans.items()}


def kernel_nodes(bundle: Bundle, graph: Graph, match: MatchReport | None) -> dict[str, tuple[str, ...]]:
    """Function of the bundle -> the nodes that are replaced by the passes which use it."""
    files = _Files(bundle)
    found: dict[str, dict[str, None]] = {}
    for file, matches in zip(bundle.passes, match.passes if match else ()):
        for _, function in files.replacing(file.name):
            found.setdefault(function.name, {}).update(dict.fromkeys(matched_nodes(matches, graph)))
    return {name: tuple(nodes) for name, nodes in found.items()}


def matched_nodes(matches: PassMatches, graph: Graph) -> tuple[str, ...]:
    """List the nodes that a pass matched, in the subgraph's order."""
    matched = {name for names in matches.matches for name in names}
    return tuple(node.name for node in graph.operations if node.name in matched)


def _block(function: ast.FunctionDef, nodes: tuple[str, ...]) -> Span:
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    return Span(first, function.end_lineno or function.lineno, nodes, exact=False)


class _Files:
    """The syntax trees of a bundle's files. They tell which function of which file a name means."""

    def __init__(self, bundle: Bundle) -> None:
        self.trees = {file.name: _tree(file.code) for file in bundle.files}

    def functions(self, file: str) -> dict[str, ast.FunctionDef]:
        return {each.name: each for each in self.trees[file].body if isinstance(each, ast.FunctionDef)}

    def replacing(self, file: str) -> tuple[tuple[str, ast.FunctionDef], ...]:
        """Find the functions of the bundle that replacement_func of a pass leads to, each with its file."""
        entry = self.functions(file).get("replacement_func")
        found: dict[tuple[str, str], ast.FunctionDef] = {}
        waiting = list(self._used(file, entry)) if entry else []
        while waiting:
            where, function = waiting.pop(0)
            if (where, function.name) not in found and function.name not in PASS_FUNCTIONS:
                found[where, function.name] = function
                waiting.extend(self._used(where, function))
        return tuple((where, function) for (where, _), function in found.items())

    def _used(self, file: str, function: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
        """Find the functions of the bundle that a function names."""
        own, imported, modules = self.functions(file), *self._imports(file)
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in own:
                yield file, own[node.id]
            elif isinstance(node, ast.Name) and node.id in imported:
                yield imported[node.id]
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                where = modules[node.value.id]
                if node.attr in self.functions(where):
                    yield where, self.functions(where)[node.attr]

    def _imports(self, file: str) -> tuple[dict[str, tuple[str, ast.FunctionDef]], dict[str, str]]:
        """Find what a file imports from other files of the bundle: functions, and whole modules."""
        functions: dict[str, tuple[str, ast.FunctionDef]] = {}
        modules: dict[str, str] = {}
        for statement in ast.walk(self.trees[file]):
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    where = f"{alias.name.rpartition('.')[2]}.py"
                    if where in self.trees:
                        modules[alias.asname or alias.name] = where
            elif isinstance(statement, ast.ImportFrom):
                where = f"{(statement.module or '').rpartition('.')[2]}.py"
                for alias in statement.names:
                    if where in self.trees and alias.name in self.functions(where):
                        functions[alias.asname or alias.name] = (where, self.functions(where)[alias.name])
                    elif f"{alias.name}.py" in self.trees:
                        modules[alias.asname or alias.name] = f"{alias.name}.py"
        return functions, modules


def _tree(code: str) -> ast.Module:
    try:
        return syntax_tree(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _pattern_pairs(code: str, graph: Graph, found: PassMatches, *, missed: bool) -> list[tuple[int, str]]:
    """Find the certain pairs (line of the pattern, node of the graph). missed: include those of the nearest miss."""
    try:
        pattern = parse_function(code, "pattern")
    except BadInput:
        return []
    pairs: list[tuple[int, str]] = []
    for names in found.matches:
        if all(name in graph.by_name for name in names):
            placed = paired(pattern, graph, names)
            pairs += [(pattern.by_name[operation].line or 0, node) for operation, node in placed.items()]
    if missed and found.miss is not None:
        pairs += _missed_pairs(pattern, graph, found.miss)
    return [(line, name) for line, name in pairs if line]


def paired(pattern: Graph, graph: Graph, names: Sequence[str]) -> dict[str, str]:
    """Map the pattern's operations to the nodes of a match; empty if that is not certain, because the source of a
    pattern can spell operations differently than its trace."""
    inside = {name: graph.by_name[name] for name in names}
    alive = live(pattern)
    sinks = [node for node in alive.values() if not any(user in alive for user in pattern.users[node.name])]
    read = {name for node in inside.values() for name in node.inputs}
    ends = [node for name, node in inside.items() if name not in read]
    if len(alive) != len(inside) or len(sinks) != len(ends):
        return {}
    for order in itertools.islice(itertools.permutations(ends), MOST_ORDERS):
        placed: dict[str, str] = {}
        fits = all(_placed(node, end, pattern, inside, placed) for node, end in zip(sinks, order))
        if fits and len(placed) == len(set(placed.values())) == len(inside):
            return placed
    return {}


def _placed(node: Node, image: Node, pattern: Graph, inside: Mapping[str, Node], placed: dict[str, str]) -> bool:
    """Map an operation to a node, and what the one reads to what the other reads; false where they differ."""
    waiting = [(node, image)]
    while waiting:
        operation, found = waiting.pop()
        if operation.name in placed:
            if placed[operation.name] != found.name:
                return False
            continue
        if operator_label(operation) != operator_label(found):
            return False
        placed[operation.name] = found.name
        for one, other in _operands(operation, found):
            operand = pattern.by_name[one]
            if operand.kind is not NodeKind.INPUT:
                if other not in inside:
                    return False
                waiting.append((operand, inside[other]))
    return True


def _operands(operation: Node, found: Node) -> Iterator[tuple[str, str]]:
    """Pair the values that two calls read at the same argument."""
    wanted, given = dict(plain_bind(operation).arguments), dict(plain_bind(found).arguments)
    for key in wanted:
        if key in given:
            yield from _beside(wanted[key], given[key])


def _beside(one: Value, other: Value) -> Iterator[tuple[str, str]]:
    if isinstance(one, Ref) and isinstance(other, Ref):
        yield one.name, other.name
    for left, right in zip(items_of(one), items_of(other)):
        yield from _beside(left, right)


def _missed_pairs(pattern: Graph, graph: Graph, miss: NearestMiss) -> list[tuple[int, str]]:
    """Pair lines and nodes of a nearest miss. It names the pattern's operations as traced, not as in the source, so a
    kind of operation is paired only if it was matched exactly as often as the source has it."""
    placed: dict[str, list[str]] = {}
    for _, name in miss.matched:
        if name in graph.by_name:
            placed.setdefault(operator_label(graph.by_name[name]), []).append(name)
    written: dict[str, list[int]] = {}
    for node in pattern.operations:
        written.setdefault(operator_label(node), []).append(node.line or 0)
    pairs = [
        (line, name)
        for label, names in placed.items()
        if len(names) == len(written.get(label, ()))
        for line, name in zip(written[label], names)
    ]
    differing = written.get(miss.pattern_node.rstrip("0123456789").rstrip("_"), ())
    if miss.graph_node in graph.by_name and len(differing) == 1:
        pairs.append((differing[0], str(miss.graph_node)))
    return pairs


# --- Inductor ---------------------------------------------------------------------------------------------------------


def of_inductor(code: str, graph: Graph) -> tuple[Span, ...]:
    """Assign the lines of TorchInductor's code. A kernel and its calls belong to the nodes that its comments name.
    Without a comment, as on a CPU, they belong to the nodes whose operators its name lists: a guess, so not exact."""
    module, lines = _tree(code), code.splitlines()
    definitions = {
        target.id: statement
        for statement in module.body
        if isinstance(statement, ast.Assign) and _is_kernel(statement.value)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    commented: dict[str, dict[str, None]] = {name: {} for name in definitions}
    calls: list[tuple[int, int, int, str, tuple[str, ...]]] = []
    for name, statement in definitions.items():
        commented[name].update(dict.fromkeys(_comment_above(lines, statement.lineno, graph)[1]))
    for call in _kernel_calls(module):
        name = _root(call.value)
        first, nodes = _comment_above(lines, call.lineno, graph)
        calls.append((first, call.lineno, call.end_lineno or call.lineno, name, nodes))
        if name in commented:
            commented[name].update(dict.fromkeys(nodes))
    spans: list[Span] = []
    for name, statement in definitions.items():
        named = tuple(commented[name]) or _named_in(name, graph)
        first = _comment_above(lines, statement.lineno, graph)[0]
        spans.append(Span(first, statement.end_lineno or statement.lineno, named, exact=False))
    for first, line, last, name, nodes in calls:
        guessed = not nodes and not commented.get(name)
        of_call = nodes or tuple(commented.get(name, ())) or (_named_in(name, graph) if name in definitions else ())
        spans.append(Span(first if nodes else line, last, of_call, exact=not guessed))
    return tuple(sorted((each for each in spans if each.nodes), key=lambda each: (each.first, each.last)))


def guesses(code: str) -> bool:
    """Whether only the name of some Inductor kernel tells what it computes."""
    return any(line.startswith("cpp_fused") and "async_compile." in line for line in code.splitlines())


def _is_kernel(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and _root(value) == "async_compile"


def _kernel_calls(module: ast.Module) -> Iterator[ast.Expr | ast.Assign]:
    """Find the statements of the function `call` that may launch a kernel."""
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef) and function.name == "call":
            for statement in ast.walk(function):
                if isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call):
                    yield statement


def _root(value: ast.expr) -> str:
    """The first name in a called expression: "buf" in buf.run(…)."""
    while isinstance(value, ast.Call | ast.Attribute):
        value = value.func if isinstance(value, ast.Call) else value.value
    return value.id if isinstance(value, ast.Name) else ""


def _comment_above(lines: Sequence[str], line: int, graph: Graph) -> tuple[int, tuple[str, ...]]:
    """Return the first line of the comment directly above a line, and the nodes that the comment names."""
    first, nodes = line, dict[str, None]()
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
        for listed in _SOURCE_NODES.findall(lines[first - 1]):
            nodes.update(dict.fromkeys(name for each in listed.split(",") if (name := each.strip()) in graph.by_name))
    return first, tuple(nodes)


def _named_in(kernel: str, graph: Graph) -> tuple[str, ...]:
    """Find the nodes whose operators a kernel's name lists."""
    listed = _KERNEL_NAME.match(kernel)
    words = f"_{listed.group(1) if listed else ''}_"
    return tuple(node.name for node in graph.operations if f"_{operator_label(node)}_" in words)


# --- Triton -----------------------------------------------------------------------------------------------------------


def of_triton_ir(text: str, files: Collection[str]) -> tuple[Place, ...]:
    """Map lines of Triton IR to lines of these files, by the location table at its end."""
    lines = text.splitlines()
    locations = {found.group(1): found.group(2) for line in lines if (found := _LOCATION.match(line))}
    places = []
    for number, line in enumerate(lines, 1):
        used = None if _LOCATION.match(line) else _USED_LOCATION.search(line)
        if used and (place := _resolved(used.group(1), locations, files)):
            places.append(Place(number, *place))
    return tuple(places)


def _resolved(name: str, locations: Mapping[str, str], files: Collection[str]) -> tuple[str, int] | None:
    """Find the innermost line of one of these files behind a location, which may be a call inside another call."""
    waiting, seen = [name], set[str]()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        text = locations.get(each, "")
        if found := _IN_FILE.search(text):
            file = found.group(1).rpartition("/")[2]
            if file in files:
                return file, int(found.group(2))
        waiting.extend(reversed(re.findall(r"#loc\d*", text)))
    return None


def of_ptx(text: str, files: Collection[str]) -> tuple[Place, ...]:
    """Map lines of PTX to lines of these files, by its .file and .loc directives."""
    lines = text.splitlines()
    numbers = {
        found.group(1): (found.group(3) or found.group(2)).rpartition("/")[2]
        for line in lines
        if (found := _PTX_FILE.match(line))
    }
    places = []
    current: tuple[str, int] | None = None
    for number, line in enumerate(lines, 1):
        if found := _PTX_LINE.match(line):
            # code inlined from another file names its callers in a comment
            callers = [(numbers.get(found.group(1), ""), found.group(2)), *_PTX_CALLER.findall(line)]
            current = next(((file, int(at)) for file, at in callers if file in files), None)
        elif line.strip() in ("}", ""):
            current = None if line.strip() else current
        elif current and not line.lstrip().startswith(("//", "$", ".")):
            places.append(Place(number, *current))
    return tuple(places)
