"""Write changes of a pattern's graph into the source of its pass. The source is parsed with ast and never executed.

Only the changed expressions are replaced, so that authors recognise their lines. If it is uncertain which expression
computes a node (in a loop, in a helper), there is no result. Callers parse and match the changed source once more."""

import ast
import difflib
import re
from collections.abc import Iterator, Sequence

from passnet_core.errors import BadInput
from passnet_core.graphs.emission import expression, written
from passnet_core.graphs.ir import (
    DeviceLiteral,
    Graph,
    Listed,
    Node,
    NodeKind,
    Ref,
    Slice,
    Symbol,
    Value,
    items_of,
    with_arguments,
)
from passnet_core.graphs.mending import ArgumentChange, Change, FormChange, OperandSwap, ResultAdded, changed
from passnet_core.graphs.spelling import INPLACE, INPLACE_OPERATORS, OPERATORS, Names
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.outside import syntax_tree
from passnet_core.records import LineChange

FUNCTION = "pattern"
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_ATOMS = ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.Constant | ast.Tuple | ast.List


class _Unclear(Exception):
    """It is uncertain where in the source a change belongs."""


def respelled(code: str, pattern: Graph, changes: Sequence[Change]) -> str | None:
    """Apply changes of the pattern to the source of its pass, one after another; None if their places are uncertain."""
    try:
        for change in changes:
            code = _Source(code, pattern).after(change)
            pattern = changed(pattern, change)
        syntax_tree(code)
    except (_Unclear, BadInput, SyntaxError, ValueError, RecursionError):
        return None
    return code


def lines_changed(before: str, after: str) -> tuple[LineChange, ...]:
    """Return the differences of two texts as replacements of whole lines."""
    old, new = before.split("\n"), after.split("\n")
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    pieces = [each[1:] for each in matcher.get_opcodes() if each[0] != "equal"]
    if any(start == end or at == to for start, end, at, to in pieces):
        # a replacement needs lines on both sides: make one of all, and extend it by a line if a side has none
        (start, _, at, _), (_, end, _, to) = pieces[0], pieces[-1]
        if start == end or at == to:
            start, end, at, to = (start - 1, end, at - 1, to) if start else (start, end + 1, at, to + 1)
        pieces = [(start, end, at, to)]
    return tuple(
        LineChange(start + 1, "\n".join(old[start:end]), "\n".join(new[at:to])) for start, end, at, to in pieces
    )


def patched(code: str, changes: Sequence[LineChange]) -> str | None:
    """Replace lines of a text; None if the lines to replace are not there any more."""
    lines = code.split("\n")
    for each in sorted(changes, key=lambda each: each.line, reverse=True):
        old = each.old.split("\n")
        place = slice(each.line - 1, each.line - 1 + len(old))
        if each.line < 1 or lines[place] != old:
            return None
        lines[place] = each.new.split("\n")
    return "\n".join(lines)


def _expression(text: str) -> ast.expr:
    (statement,) = syntax_tree(f"({text})").body
    assert isinstance(statement, ast.Expr)
    return statement.value


class _Source:
    """The source of a pass. It finds the expressions that compute the operations of the pattern."""

    def __init__(self, code: str, pattern: Graph) -> None:
        self.code = code
        self.pattern = pattern
        self.module = syntax_tree(code)
        functions = [each for each in self.module.body if isinstance(each, ast.FunctionDef) and each.name == FUNCTION]
        if len(functions) != 1:
            raise _Unclear
        self.function = functions[0]
        self.starts = [0, *(each.end() for each in _LINE_ENDS.finditer(code))]
        self.lines = [code[start:end] for start, end in zip(self.starts, [*self.starts[1:], len(code)])]

    def after(self, change: Change) -> str:
        """Return the source with a change. Raises _Unclear, BadInput."""
        match change:
            case ArgumentChange():
                return self._with_argument(change)
            case OperandSwap():
                first, second = self._operands(self._place(change.node))[:2]
                return self._replaced((first, self._parenthesised(second)), (second, self._parenthesised(first)))
            case FormChange():
                return self._in_form(change)
            case ResultAdded():
                return self._with_result(change.node)

    # --- finding expressions ---

    def _place(self, name: str) -> ast.AST:
        """Find the expression that computes an operation: the n-th expression of a kind computes its n-th operation."""
        node = self.pattern.by_name[name]
        label = operator_label(node)
        traced = [each.name for each in self.pattern.operations if operator_label(each) == label]
        found = [each for each in _in_order(self.function) if _label(each) == label]
        if len(traced) != len(found):
            raise _Unclear
        return found[traced.index(name)]

    def _operands(self, place: ast.AST) -> list[ast.expr]:
        """Return the expressions of an operation's positional arguments."""
        match place:
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.Compare(left=left, comparators=[right]):
                return [left, right]
            case ast.UnaryOp(operand=operand):
                return [operand]
            case ast.Subscript(value=value, slice=index):
                return [value, index]
            case ast.AugAssign(target=target, value=value):
                return [target, value]
            case ast.Call(func=function, args=args):
                if any(isinstance(each, ast.Starred) for each in args):
                    raise _Unclear
                if isinstance(function, ast.Attribute) and not self._is_module(function.value):
                    return [function.value, *args]
                return list(args)
        raise _Unclear

    def _is_module(self, owner: ast.expr) -> bool:
        """Whether an expression names an imported module rather than a value of the pattern."""
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        return isinstance(owner, ast.Name) and owner.id in _imported(self.module)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        """Return the start and end of an expression as offsets in the text; ast counts columns in UTF-8 bytes."""
        at = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return self._offset(at[0], at[1]), self._offset(at[2], at[3])

    def _offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self.code[start:end]

    def _parenthesised(self, node: ast.expr) -> str:
        """Return the text of an operand, in parentheses if it needs them next to an operator."""
        return self._text(node) if isinstance(node, _ATOMS) else f"({self._text(node)})"

    def _is_operand(self, place: ast.AST) -> bool:
        """Whether an expression is an operand of an operator, a dot or brackets."""
        signs = ast.BinOp | ast.UnaryOp | ast.Compare | ast.Attribute | ast.Subscript
        return any(
            isinstance(each, signs) and any(child is place for child in ast.iter_child_nodes(each))
            for each in ast.walk(self.function)
        )

    def _replaced(self, *pieces: tuple[ast.AST, str]) -> str:
        code = self.code
        for (start, end), text in sorted(((self._span(node), text) for node, text in pieces), reverse=True):
            code = code[:start] + text + code[end:]
        return code

    # --- changes ---

    def _with_argument(self, change: ArgumentChange) -> str:
        place = self._place(change.node)
        keywords = {each.arg: each for each in place.keywords} if isinstance(place, ast.Call) else {}
        operands = self._operands(place)
        if change.removed:
            return self._without_argument(place, change)
        inside = isinstance(place, ast.Subscript)
        if isinstance(change.place, int):
            if change.place >= len(operands):
                raise _Unclear
            return self._replaced((operands[change.place], _spelled(change.value, inside)))
        if change.place in keywords:
            return self._replaced((keywords[change.place].value, _spelled(change.value)))
        if not isinstance(place, ast.Call) or None in keywords:
            raise _Unclear
        inner = self._text(place)[:-1].rstrip()
        comma = "" if inner.endswith(("(", ",")) else ","
        blank = "" if inner.endswith("(") else " "
        return self._replaced((place, f"{inner}{comma}{blank}{change.place}={_spelled(change.value)})"))

    def _without_argument(self, place: ast.AST, change: ArgumentChange) -> str:
        if not isinstance(place, ast.Call):
            raise _Unclear
        given = [self._text(each) for each in place.args]
        named = {each.arg: self._text(each) for each in place.keywords}
        if isinstance(change.place, str):
            named.pop(change.place)
        else:
            given.pop()
        return self._replaced((place, f"{self._text(place.func)}({', '.join([*given, *named.values()])})"))

    def _in_form(self, change: FormChange) -> str:
        place = self._place(change.node)
        read = list(self._read(self.pattern.by_name[change.node], place))
        form = change.form
        if len(read) != len(form.inputs):
            raise _Unclear
        if form.target in INPLACE:
            return self._in_place(place, form.target, read)
        text = _filled(form, [(self._text(each), self._parenthesised(each)) for each in read])
        if self._is_operand(place) and not isinstance(_expression(text), _ATOMS):
            text = f"({text})"
        root = form.target.split(".")[0] if form.kind is NodeKind.CALL else ""
        if text.startswith(f"{root}.") and root not in _imported(self.module):
            raise _Unclear
        if isinstance(place, ast.AugAssign):
            return self._replaced((place, f"{self._text(place.target)} = {text}"))
        return self._replaced((place, text))

    def _in_place(self, place: ast.AST, target: str, read: Sequence[ast.expr]) -> str:
        """ "s = a + b" becomes "a += b" and "s = a": a change in place is a statement."""
        assigned = [each for each in self.function.body if isinstance(each, ast.Assign)]
        statement = next((each for each in assigned if each.value is place), None)
        if statement is None or not isinstance(read[0], ast.Name) or not isinstance(statement.targets[0], ast.Name):
            raise _Unclear
        if len(statement.targets) != 1 or len(read) != 2:
            raise _Unclear
        owner, name = read[0].id, statement.targets[0].id
        changing = f"{owner} {INPLACE[target]} {self._text(read[1])}"
        if owner == name:
            return self._replaced((statement, changing))
        return self._replaced((statement, f"{changing}{self._line_end(statement)}{name} = {owner}"))

    def _with_result(self, name: str) -> str:
        """Add the value to the pattern's results: by its name, or by a new one assigned before its statement."""
        place = self._place(name)
        returns = [each for each in self.function.body if isinstance(each, ast.Return)]
        if len(returns) != 1 or returns[0].value is None or isinstance(returns[0].value, ast.List):
            raise _Unclear
        result = returns[0].value
        statement = next(each for each in self.function.body if any(part is place for part in ast.walk(each)))
        match statement:
            case ast.Assign(targets=[ast.Name(id=known)], value=value) if value is place:
                return self._replaced((result, self._more(self._text(result), result, known)))
            case ast.AugAssign(target=ast.Name(id=known)) if statement is place:
                return self._replaced((result, self._more(self._text(result), result, known)))
        taken = {each.id for each in ast.walk(self.module) if isinstance(each, ast.Name)} | _imported(self.module)
        known = Names([*taken, *(each.arg for each in self.function.args.args)]).free(name)
        hoisted = f"{known} = {self._text(place)}{self._line_end(statement)}"
        start, end = self._span(place)
        first = self._span(statement)[0]
        if statement is not returns[0]:
            code = self._replaced((result, self._more(self._text(result), result, known)))
            return code[:first] + hoisted + code[first:start] + known + code[end:]
        at, to = self._span(result)
        inner = self.code[at:start] + known + self.code[end:to]
        return self.code[:first] + hoisted + self.code[first:at] + self._more(inner, result, known) + self.code[to:]

    def _more(self, text: str, result: ast.expr, name: str) -> str:
        if isinstance(result, ast.Tuple) and text.startswith("(") and text.endswith(")"):
            return f"{text[:-1].rstrip().rstrip(',')}, {name})"
        return f"{text.rstrip().rstrip(',')}, {name}"

    def _line_end(self, statement: ast.stmt) -> str:
        """Return the separator of two statements at this depth: a line end with the indentation, or a semicolon."""
        line = self.lines[statement.lineno - 1]
        before = line.encode()[: statement.col_offset].decode()
        if before.strip():
            return "; "
        end = _LINE_ENDS.search(line)
        return f"{end[0] if end else chr(10)}{before}"

    def _read(self, node: Node, place: ast.AST) -> Iterator[ast.expr]:
        """Yield the expressions of the nodes that an operation reads, in order."""
        operands = self._operands(place)
        if len(operands) != len(node.args):
            raise _Unclear
        for value, operand in zip(node.args, operands):
            yield from _reading(value, operand)
        named = {each.arg: each.value for each in place.keywords} if isinstance(place, ast.Call) else {}
        for key, value in node.kwargs:
            if key not in named:
                raise _Unclear
            yield from _reading(value, named[key])


def _reading(value: Value, operand: ast.expr) -> Iterator[ast.expr]:
    match value, operand:
        case Ref(), _:
            yield operand
        case (tuple() | Listed(), ast.Tuple(elts=items) | ast.List(elts=items)):
            if len(items_of(value)) != len(items):
                raise _Unclear
            for each, item in zip(items_of(value), items):
                yield from _reading(each, item)
        case (tuple() | Listed() | Slice(), _):
            raise _Unclear


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a syntax node and all below it in the order of evaluation: operands first, assigned names last."""
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Assign | ast.AnnAssign):
        assert node.value is None or node.value in children
        children.sort(key=lambda each: each is not node.value)
    if isinstance(node, ast.FunctionDef):
        children = list(node.body)
    for each in children:
        yield from _in_order(each)
    yield node


def _label(place: ast.AST) -> str | None:
    """Return the operator label of a syntax node; None if it computes nothing by itself."""
    match place:
        case ast.BinOp(left=ast.Constant(), right=ast.Constant()) | ast.UnaryOp(operand=ast.Constant()):
            return None
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            target = f"torch.{name}"
        case ast.AugAssign(op=sign):
            target = INPLACE_OPERATORS[type(sign)]
        case ast.BinOp(op=sign) | ast.UnaryOp(op=sign) | ast.Compare(ops=[sign]) if type(sign) in OPERATORS:
            target = OPERATORS[type(sign)]
        case ast.Subscript(ctx=ast.Load()):
            target = "operator.getitem"
        case ast.Subscript(ctx=ast.Store()):
            target = "operator.setitem"
        case _:
            return None
    return operator_label(Node("", NodeKind.CALL, target))


def _imported(module: ast.Module) -> set[str]:
    """Return the names that the imports at the top of a file bind."""
    found: set[str] = set()
    for statement in module.body:
        if isinstance(statement, ast.Import):
            found.update(each.asname or each.name.split(".")[0] for each in statement.names)
        if isinstance(statement, ast.ImportFrom):
            found.update(each.asname or each.name for each in statement.names)
    return found


def _filled(form: Node, read: Sequence[tuple[str, str]]) -> str:
    """Write a call with these texts for the values that it reads, each given plain and in parentheses if it needs
    them. Raises BadInput if the call cannot be written."""
    slots = (Ref(f"slot_{number}_") for number in range(len(read)))
    text = expression(with_arguments(form, lambda each: next(slots) if isinstance(each, Ref) else each))

    def put(found: re.Match[str]) -> str:
        alone = text[: found.start()].rstrip()[-1:] in ("(", ",", "=") and text[found.end() :][:1] in (",", ")")
        return read[int(found[1])][0 if alone else 1]

    return re.sub(r"slot_(\d+)_", put, text)


def _spelled(value: Value, index: bool = False) -> str:
    """Write a literal as a person would. index: it stands inside the brackets of x[...]. Raises _Unclear, BadInput."""
    match value:
        case DeviceLiteral():
            raise _Unclear
        case Symbol("builtins.Ellipsis"):
            return "..."
        case Slice(start, stop, step) if index:
            ends = ["" if each is None else _spelled(each) for each in (start, stop)]
            return ":".join(ends if step is None else [*ends, _spelled(step)])
        case tuple() if index and len(value) > 1:
            return ", ".join(_spelled(each, True) for each in value)
    return written(value)
