"""Parse the Python source of a recorded computation into a Graph, with ast alone: the source is never executed."""

import ast
import builtins
import contextlib
import re
from collections.abc import Iterator

from passnet_core.errors import BadInput
from passnet_core.graphs.emission import emit
from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, Node, NodeKind, Ref, Slice, Symbol, Value, items_of
from passnet_core.graphs.spelling import (
    BUILTINS,
    INPLACE_OPERATORS,
    NO_OPS,
    NUMBERS,
    OPERATOR_METHODS,
    OPERATORS,
    ROOTS,
    TRACED,
    Names,
    is_name,
    member_problem,
    operator_of,
    path_problem,
)  # fmt: skip
from passnet_core.outside import syntax_tree

__all__ = ["emit", "parse", "parse_function"]


def parse(code: str) -> Graph:
    """Parse a model.py: forward of class GraphModule, else of the first class that has one, else the function forward.

    Raises BadInput with the line that is not straight-line tensor code."""
    module = _module(code)
    function = _forward(module)
    with _deep_source():
        return _Reader(module, function).graph()


def parse_function(code: str, name: str) -> Graph:
    """Parse one function at the top level of a file, such as pattern. Raises BadInput with the line."""
    module = _module(code)
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            with _deep_source():
                return _Reader(module, statement).graph()
    raise BadInput(f"This file has no function {name!r} at its top level. Define it with def.")


@contextlib.contextmanager
def _deep_source() -> Iterator[None]:
    """Turn a RecursionError into BadInput: no real computation is nested that deeply."""
    try:
        yield
    except RecursionError:
        raise BadInput("The source is nested too deeply to be parsed. Write one operation per line.") from None


def _module(code: str) -> ast.Module:
    try:
        return syntax_tree(code)
    except SyntaxError as error:
        raise BadInput(f"Line {error.lineno or 1}: not valid Python: {error.msg}.") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadInput(f"Line 1: not valid Python: {error}.") from error


def _forward(module: ast.Module) -> ast.FunctionDef:
    classes = [each for each in module.body if isinstance(each, ast.ClassDef)]
    classes.sort(key=lambda each: each.name != "GraphModule")
    for body in (*(each.body for each in classes), module.body):
        for statement in body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "forward":
                return statement
    raise BadInput(
        "This file has no class with a method forward. A model.py defines one in class GraphModule(torch.nn.Module)."
    )


class _Reader:
    """Walks one function body and keeps the value that each name has at that point."""

    def __init__(self, module: ast.Module, function: ast.FunctionDef) -> None:
        self.function = function
        self.modules = dict(_imports(module))
        self.names: dict[str, Value] = {}
        self.nodes: list[Node] = []
        self.given: set[str] = set()
        # a name that a statement assigns is kept for that statement, not given to an inner call before it
        self.free_names = Names(
            each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        )

    def graph(self) -> Graph:
        self._arguments()
        body = self.function.body
        position = 0
        while position < len(body):
            statement = body[position]
            following = body[position + 1] if position + 1 < len(body) else None
            if isinstance(statement, ast.Return):
                result = None if statement.value is None else self.value(statement.value)
                graph = Graph(tuple(self.nodes), result)
                graph.check()
                return graph
            position += self._statement(statement, following)
        raise BadInput(f"Line {self.function.lineno}: {self.function.name} returns nothing. End it with return (...).")

    def _arguments(self) -> None:
        arguments = self.function.args
        if arguments.vararg or arguments.kwarg:
            raise self._bad(self.function, "*args and **kwargs cannot be inputs; name each input")
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        if listed and listed[0].arg == "self":
            listed = listed[1:]
        for each in listed:
            # only this annotation matters: it makes the input a size rather than a tensor
            symbolic = each.annotation is not None and "Sym" in ast.unparse(each.annotation)
            target = "torch.SymInt" if symbolic else ""
            self.names[each.arg] = self._add(Node(self._free(each.arg, True), NodeKind.INPUT, target, line=each.lineno))

    # --- statements ---

    def _statement(self, statement: ast.stmt, following: ast.stmt | None) -> int:
        """Read a statement, with the next one if that only gives the value another name. Returns the number read."""
        match statement:
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                return self._set_item(target, self.value(value), following, statement)
            case ast.Assign(targets=targets, value=value):
                for each in targets:
                    if not isinstance(each, ast.Name | ast.Tuple | ast.List):
                        raise self._bad(statement, "only names and items can be assigned to")
                first = next((each.id for each in targets if isinstance(each, ast.Name)), None)
                content = self.value(value, first)
                for each in targets:
                    self._assign(each, content)
                return 1
            case ast.AnnAssign(target=ast.Name() as target, value=value):
                if value is not None:
                    self._assign(target, self.value(value, target.id))
                return 1
            case ast.AugAssign(target=target, op=sign, value=value):
                return self._augmented(target, sign, value, following, statement)
            case ast.Delete(targets=targets) if all(isinstance(each, ast.Name) for each in targets):
                return 1
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return 1
            case ast.Expr(value=value):
                self.value(value)
                return 1
        what = type(statement).__name__.lower()
        raise self._bad(statement, f"{what} is not straight-line code; only assignments and a return are allowed")

    def _assign(self, target: ast.expr, content: Value) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = content
            return
        assert isinstance(target, ast.Tuple | ast.List)
        for index, each in enumerate(target.elts):
            if not isinstance(each, ast.Name | ast.Tuple | ast.List):
                raise self._bad(target, "only plain names can be unpacked into")
            if isinstance(content, tuple):
                if len(content) != len(target.elts):
                    raise self._bad(target, f"{len(content)} values cannot be unpacked into {len(target.elts)} names")
                item = content[index]
            else:
                name = each.id if isinstance(each, ast.Name) else None
                item = self._call("operator.getitem", (content, index), target, name)
            self._assign(each, item)

    def _augmented(
        self, target: ast.expr, sign: ast.operator, value: ast.expr, following: ast.stmt | None, where: ast.stmt
    ) -> int:
        called = INPLACE_OPERATORS[type(sign)]
        if isinstance(target, ast.Subscript):
            item = self._subscript(target)
            changed = self._call(called, (item, self.value(value)), where)
            return self._set_item(target, changed, following, where)
        if not isinstance(target, ast.Name):
            raise self._bad(where, "only names and items can be changed in place")
        before = self._name(target)
        alias = _alias(following, target.id)
        after = self._call(called, (before, self.value(value)), where, alias or target.id)
        self.names[target.id] = after
        if alias:
            self.names[alias] = after
        return 2 if alias else 1

    def _set_item(self, target: ast.Subscript, value: Value, following: ast.stmt | None, where: ast.stmt) -> int:
        changed = self.value(target.value)
        alias = _alias(following, target.value.id) if isinstance(target.value, ast.Name) else None
        self._call("operator.setitem", (changed, self.value(target.slice), value), where, alias)
        if alias:
            self.names[alias] = changed
        return 2 if alias else 1

    # --- expressions ---

    def value(self, expression: ast.expr, name: str | None = None) -> Value:
        """Return the value of an expression. Its calls become nodes; the outermost is called name, if that is free."""
        match expression:
            case ast.Constant(value=content):
                if content is ...:
                    return Symbol("builtins.Ellipsis")
                if content is None or isinstance(content, bool | int | float | str):
                    return content
                raise self._bad(expression, f"{type(content).__name__} literals are not supported in tensor code")
            case ast.Name():
                return self._name(expression)
            case ast.Tuple(elts=items):
                return tuple(self.value(each) for each in items)
            case ast.List(elts=items):
                return Listed(tuple(self.value(each) for each in items))
            case ast.Slice(lower=lower, upper=upper, step=step):
                return Slice(*(None if each is None else self.value(each) for each in (lower, upper, step)))
            case ast.Attribute():
                return self._attribute(expression, name)
            case ast.Subscript():
                return self._subscript(expression, name)
            case ast.Call():
                return self._called(expression, name)
            case ast.UnaryOp(op=sign, operand=operand):
                inner = self.value(operand)
                if (
                    isinstance(sign, ast.USub | ast.UAdd)
                    and isinstance(inner, int | float)
                    and not isinstance(inner, bool)
                ):
                    return -inner if isinstance(sign, ast.USub) else inner
                return self._call(OPERATORS[type(sign)], (inner,), expression, name)
            case ast.BinOp(left=left, op=sign, right=right) | ast.Compare(left=left, ops=[sign], comparators=[right]):
                operands = (self.value(left), self.value(right))
                if isinstance(sign, ast.In):
                    return self._call("operator.contains", operands[::-1], expression, name)
                if type(sign) in OPERATORS:
                    return self._call(OPERATORS[type(sign)], operands, expression, name)
        raise self._bad(expression, f"{_shown(expression)} is not a tensor operation")

    def _name(self, expression: ast.Name) -> Value:
        if expression.id in self.names:
            return self.names[expression.id]
        path = self._path(expression)
        if path in NUMBERS:
            return NUMBERS[path]
        if path == "Ellipsis":
            return Symbol("builtins.Ellipsis")
        if path is not None and path.split(".")[0] in ROOTS:
            self._check(path_problem(path), expression)
            return Symbol(path)
        if expression.id in BUILTINS:
            return Symbol(f"builtins.{expression.id}")
        raise self._bad(expression, f"{expression.id} is read before it is assigned")

    def _attribute(self, expression: ast.Attribute, name: str | None) -> Value:
        path = self._path(expression)
        if path is not None:
            self._check(path_problem(path), expression)
            return NUMBERS[path] if path in NUMBERS else Symbol(path)
        self._check(member_problem(expression.attr), expression)
        owner = self._value_of_owner(expression)
        return self._call("builtins.getattr", (owner, expression.attr), expression, name)

    def _value_of_owner(self, expression: ast.Attribute) -> Value:
        if isinstance(expression.value, ast.Name) and expression.value.id == "self" and "self" not in self.names:
            raise self._bad(
                expression, f"forward reads self.{expression.attr}; every tensor must be an argument of forward"
            )
        return self.value(expression.value)

    def _subscript(self, expression: ast.Subscript, name: str | None = None) -> Value:
        operands = (self.value(expression.value), self.value(expression.slice))
        return self._call("operator.getitem", operands, expression, name)

    def _called(self, expression: ast.Call, name: str | None) -> Value:
        function = expression.func
        path = self._path(function)
        owner: tuple[Value, ...] = ()
        if path is None and isinstance(function, ast.Attribute):
            if function.attr not in OPERATOR_METHODS:
                self._check(member_problem(function.attr), function)
            owner = (self._value_of_owner(function),)
        if any(isinstance(each, ast.Starred) for each in expression.args) or any(
            each.arg is None for each in expression.keywords
        ):
            raise self._bad(expression, "starred arguments are not supported; write each argument out")
        args = owner + tuple(self.value(each) for each in expression.args)
        kwargs = tuple((str(each.arg), self.value(each.value)) for each in expression.keywords)
        if owner and isinstance(function, ast.Attribute):
            operator = operator_of(function.attr, args)
            if operator is not None:
                return self._call(*operator, expression, name, kwargs)
            chosen = self._free(name or function.attr.strip("_"), name is not None)
            return self._add(Node(chosen, NodeKind.METHOD, function.attr, args, kwargs, expression.lineno))
        if path is None:
            raise self._bad(expression, f"{_shown(function)} is a value, not a function")
        literal = _literal_call(path, args, dict(kwargs))
        if literal is not None:
            return literal[0]
        if "." not in path and hasattr(builtins, path):
            path = f"builtins.{path}"
        if path in TRACED and any(isinstance(each, Ref) for each in args):
            path = TRACED[path]
        if "." in path:
            self._check(path_problem(path), expression)
        elif path.startswith("__"):
            raise self._bad(expression, f"{path} is not a tensor operation")
        if path == "builtins.getattr":
            if kwargs or len(args) != 2 or not isinstance(args[1], str):
                raise self._bad(expression, "getattr needs a value and a literal name")
            self._check(member_problem(args[1]), expression)
        return self._call(path, args, expression, name, kwargs)

    # --- names and nodes ---

    def _path(self, expression: ast.expr) -> str | None:
        """Return the dotted path of a function, module member or constant; None for an attribute of a value."""
        parts: list[str] = []
        while isinstance(expression, ast.Attribute):
            parts.append(expression.attr)
            expression = expression.value
        if not isinstance(expression, ast.Name) or expression.id in self.names or expression.id == "self":
            return None
        path = ".".join([self.modules.get(expression.id, expression.id), *reversed(parts)])
        # tracers write _operator, the module that implements operator
        return path[1:] if path.startswith("_operator.") else path

    def _check(self, problem: str, where: ast.expr) -> None:
        if problem:
            raise self._bad(where, problem)

    def _call(
        self,
        target: str,
        args: tuple[Value, ...],
        where: ast.expr | ast.stmt,
        name: str | None = None,
        kwargs: tuple[tuple[str, Value], ...] = (),
    ) -> Ref:
        wished = name or (target.rpartition(".")[2].strip("_") if "." in target else "call")
        return self._add(Node(self._free(wished, name is not None), NodeKind.CALL, target, args, kwargs, where.lineno))

    def _add(self, node: Node) -> Ref:
        self.nodes.append(node)
        return Ref(node.name)

    def _free(self, wished: str, is_assigned: bool) -> str:
        """Return the wished name if a statement assigns it for the first time, else one that is not taken."""
        is_first = is_assigned and wished not in self.given and is_name(wished)
        name = wished if is_first else self.free_names.free(wished)
        self.free_names.taken.add(name)
        self.given.add(name)
        return name

    def _bad(self, where: ast.expr | ast.stmt, problem: str) -> BadInput:
        return BadInput(f"Line {where.lineno}: {problem}.")


def _imports(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (name in this file, dotted path that it stands for)."""
    yield from (("device", "torch.device"), ("inf", "math.inf"), ("nan", "math.nan"))
    for statement in module.body:
        if isinstance(statement, ast.Import):
            for each in statement.names:
                yield (each.asname, each.name) if each.asname else (each.name.split(".")[0], each.name.split(".")[0])
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            for each in statement.names:
                yield each.asname or each.name, f"{statement.module}.{each.name}"


def _alias(statement: ast.stmt | None, of: str) -> str | None:
    """Return the name in a statement "name = of", which recorded code has after each change in place."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=source)) if source == of and name != of:
            return name
    return None


def _literal_call(path: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> tuple[Value] | None:
    """Return the literal that a call stands for, in a tuple of one; None if it is a real call."""
    if path in NO_OPS:
        return (None,)
    if path in ("slice", "builtins.slice") and not kwargs and 1 <= len(args) <= 3:
        return (Slice(None, args[0]) if len(args) == 1 else Slice(*args),)
    if path in ("float", "builtins.float") and len(args) == 1 and not kwargs and isinstance(args[0], str | int | float):
        try:
            return (float(args[0]),)
        except (ValueError, OverflowError):
            return None
    if path == "torch.Size" and len(args) == 1 and not kwargs and isinstance(args[0], Listed | tuple):
        return (items_of(args[0]),)
    if path == "torch.device":
        spelled = [*args, *(kwargs[each] for each in ("type", "index") if each in kwargs)]
        match spelled:
            case [str(text)]:
                return _device(text)
            case [str(text), int(index)] if text.isidentifier():
                return (DeviceLiteral(text, index),)
            case [str(text), None] if text.isidentifier():
                return (DeviceLiteral(text),)
    return None


def _device(text: str) -> tuple[DeviceLiteral] | None:
    found = re.fullmatch(r"([a-z]+)(?::([0-9]+))?", text)
    if not found:
        return None
    return (DeviceLiteral(found[1], int(found[2]) if found[2] else None),)


def _shown(expression: ast.expr) -> str:
    text = ast.unparse(expression)
    return text if len(text) <= 60 else text[:57] + "..."
