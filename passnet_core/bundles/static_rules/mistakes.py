"""Find usual mistakes in a pass that Python accepts: what its functions return, and where a replacement allocates.

Each finding is certain, and none is fatal: what comes of the mistake, the judge says by its verdict."""

import ast
from collections.abc import Iterator, Mapping, Sequence

from passnet_core.bundles.static_rules.replacements import returned_functions
from passnet_core.bundles.static_rules.required import listed, parameters
from passnet_core.bundles.static_rules.rules import ALLOCATIONS, ARGUMENTS, DEVICE, REPLACEMENT, RETURN, TRACED, WRAP
from passnet_core.bundles.static_rules.scopes import BoundNames, Function, Module
from passnet_core.bundles.triton_functions import last_name
from passnet_core.records import Finding

ALLOCATING = frozenset({"torch.empty", "torch.zeros", "torch.ones", "torch.full"})
"""What allocates on the CPU unless it is told a device."""


def mistakes(module: Module, modules: Mapping[str, Module]) -> Iterator[Finding]:
    """Yield the mistakes in a pass. modules: the files of the bundle, by the names under which they import each
    other."""
    yield from _without_result(module)
    yield from _replacement_func(module)
    for stem, function in _replacement_defs(module, dict(modules)):
        yield from _arguments(module, function)
        yield from _results(module, modules[stem], function)
        yield from _not_wrapped(modules[stem], function)


def on_the_cpu(module: Module, modules: dict[str, Module]) -> Iterator[Finding]:
    """Yield each allocation in a function of this file that is not told a device, and so is on the CPU."""
    names = BoundNames(modules)
    traced = [function for name in TRACED if module.is_pass and (function := module.function(name))]
    inside = {id(node) for function in traced for node in ast.walk(function)}
    moved = {id(node.value) for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)}
    functions = [each for each in ast.walk(module.tree) if isinstance(each, ast.FunctionDef)]
    for each in functions:
        for node in ast.walk(each):
            if not isinstance(node, ast.Call) or id(node) in inside or id(node) in moved:
                continue
            given = {word.arg for word in node.keywords if word.arg != "device" or not _is_constant(word.value, "cpu")}
            paths = names.paths(node.func, module.scope)
            if len(paths) == 1 and paths <= ALLOCATING and not given & {"device", "out", None}:
                (path,) = paths
                yield module.remark(
                    node,
                    DEVICE,
                    f"{path} allocates on the CPU, where no GPU kernel can write.",
                    f"Allocate where the inputs are: {path}(…, device=x.device), or {path}_like(x).",
                    fatal=False,
                )


def _is_constant(node: ast.expr, value: str | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _own_returns(function: Function) -> list[ast.Return] | None:
    """The statements that return from this function itself; None for a generator."""
    found: list[ast.Return] = []
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return None
        if isinstance(node, ast.Return):
            found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(node))
    return sorted(found, key=lambda each: each.lineno)


def _returns_nothing(function: Function) -> bool:
    """Whether a function can only return None."""
    returns = _own_returns(function)
    if returns is None or isinstance(function.body[-1], ast.Raise):
        return False
    return all(each.value is None or _is_constant(each.value, None) for each in returns)


def _without_result(module: Module) -> Iterator[Finding]:
    pattern, arguments = module.function("pattern"), module.function("replacement_args")
    if pattern is not None and _returns_nothing(pattern):
        remedy = f"End it with every value that is used outside the match: return {_last_value(pattern)}."
        yield module.remark(pattern.body[-1], RETURN, "pattern returns nothing.", remedy, fatal=False)
    if arguments is not None and _returns_nothing(arguments):
        names = parameters(arguments)
        written = f"({names[0]},)" if len(names) == 1 else listed(names)
        remedy = f"End it with the arguments of the replacement as a tuple: return {written}."
        yield module.remark(arguments.body[-1], RETURN, "replacement_args returns nothing.", remedy, fatal=False)


def _last_value(function: Function) -> str:
    """What the last statement of a function computes."""
    match function.body[-1]:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name
        case ast.Expr(value=value) if not isinstance(value, ast.Constant):
            return ast.unparse(value)
    return "y"


def _results(pass_module: Module, module: Module, replacement: ast.FunctionDef) -> Iterator[Finding]:
    """Compare how many values the replacement returns with how many the pattern does. module: the replacement's."""
    allocated = list(_allocated(replacement))
    if _returns_nothing(replacement):
        remedy = f"End it with what takes the place of the match: return {', '.join(allocated) or 'out'}."
        message = f"{replacement.name} returns nothing."
        yield module.remark(replacement.body[-1], RETURN, message, remedy, fatal=False)
        return
    pattern = pass_module.function("pattern")
    if pattern is None:
        return
    wanted = {_count(each.value, ()) for each in _own_returns(pattern) or ()}
    for each in _own_returns(replacement) or ():
        count = _count(each.value, allocated)
        if count is not None and len(wanted) == 1 and (asked := next(iter(wanted))) is not None and count != asked:
            yield module.remark(
                each,
                RETURN,
                f"{replacement.name} returns {_values(count)}, but pattern returns {_values(asked)}.",
                "Return one value for each that pattern returns, in the same order.",
                fatal=False,
            )


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"


def _allocated(function: ast.FunctionDef) -> Iterator[str]:
    """The names that the function gives to one tensor each that it allocates, and to nothing else."""
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=made)) if (
                last_name(made) in ALLOCATIONS and _stores(function, name) == 1
            ):
                yield name


def _count(value: ast.expr | None, tensors: Sequence[str]) -> int | None:
    """How many values a statement returns, if that is certain: a tuple, an operation, or one of these tensors."""
    match value:
        case ast.Tuple(elts=values) if not any(isinstance(each, ast.Starred) for each in values):
            return len(values)
        case ast.BinOp() | ast.UnaryOp():
            return 1
        case ast.Name(id=name) if name in tensors:
            return 1
    return None


def _replacement_func(module: Module) -> Iterator[Finding]:
    function = module.function("replacement_func")
    if function is None:
        return
    remedy = f"Name the replacement instead of calling it: return {_replacement_name(module, function)}."
    if _returns_nothing(function):
        message = "replacement_func returns None instead of the replacement."
        yield module.remark(function.body[-1], REPLACEMENT, message, remedy, fatal=False)
    for each in _own_returns(function) or ():
        match each.value:
            case ast.Call(func=ast.Name(id=name)) as call if _cannot_make_a_function(module, name, call):
                message = f"replacement_func calls {name} instead of returning it."
                remedy = f"Name the replacement instead of calling it: return {name}."
                yield module.remark(each, REPLACEMENT, message, remedy, fatal=False)


def _replacement_name(module: Module, function: Function) -> str:
    """What replacement_func was probably meant to return."""
    match function.body[-1]:
        case ast.Expr(ast.Name(id=name)) | ast.Expr(ast.Call(func=ast.Name(id=name))):
            return name
    wrapped = [each.name for each in module.tree.body if isinstance(each, ast.FunctionDef) and _is_wrapped(each)]
    return wrapped[0] if len(wrapped) == 1 else "replacement"


def _cannot_make_a_function(module: Module, name: str, call: ast.Call) -> bool:
    """Whether this call of a function of the file runs a replacement, or fails because it lacks arguments."""
    function = module.function(name)
    if function is None or len(module.scope.bound[name]) != 1:
        return False
    if _is_wrapped(function):
        return True
    unknown = any(isinstance(each, ast.Starred) for each in call.args) or any(not each.arg for each in call.keywords)
    given = len(call.args) + len(call.keywords)
    return not unknown and not function.decorator_list and given < _accepted(function)[0]


def _is_wrapped(function: Function) -> bool:
    return any(last_name(each) == "wrap" for each in function.decorator_list)


def _accepted(function: Function) -> tuple[int, int | None]:
    """The least and the most arguments that a function takes by position; None: any number."""
    args = function.args
    most = len(args.posonlyargs) + len(args.args)
    return most - len(args.defaults), None if args.vararg else most


def _replacement_defs(module: Module, modules: dict[str, Module]) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The one definition that replacement_func can only mean, with the name of its file."""
    found = returned_functions(module, modules)
    if len(found) != 1:
        return
    stem, _, name = next(iter(found)).partition(".")
    of = modules.get(stem)
    function = of.function(name) if of is not None and len(of.scope.bound.get(name, ())) == 1 else None
    if isinstance(function, ast.FunctionDef) and name != "replacement_func":
        yield stem, function


def _arguments(module: Module, replacement: ast.FunctionDef) -> Iterator[Finding]:
    """Compare how many arguments replacement_args returns with how many the replacement takes."""
    function = module.function("replacement_args")
    if function is None or any(last_name(each) != "wrap" for each in replacement.decorator_list):
        return
    least, most = _accepted(replacement)
    own = parameters(function)
    for each in _own_returns(function) or ():
        match each.value:
            case ast.Tuple(elts=values) | ast.List(elts=values) if not any(isinstance(v, ast.Starred) for v in values):
                count = len(values)
            case ast.Name(id=name) if name in own and not _is_assigned(function, name):
                count = 1
            case _:
                continue
        if count < least or (most is not None and count > most):
            takes = listed(parameters(replacement))
            yield module.remark(
                each,
                ARGUMENTS,
                f"replacement_args returns {count} argument{'s' if count != 1 else ''}, but {replacement.name} takes "
                f"{takes}.",
                f"Return one value for each parameter of {replacement.name}, in the same order.",
                fatal=False,
            )


def _is_assigned(function: Function, name: str) -> bool:
    return _stores(function, name) > 0


def _stores(function: Function, name: str) -> int:
    """How often a function gives a value to a name."""
    stored = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return sum(node.id == name for node in stored)


def _not_wrapped(module: Module, function: ast.FunctionDef) -> Iterator[Finding]:
    calls = (node for node in ast.walk(module.tree) if isinstance(node, ast.Call) and last_name(node.func) == "wrap")
    if function.decorator_list or any(True for _ in calls):
        return
    yield module.remark(
        function,
        WRAP,
        f"The replacement {function.name} has no @torch.fx.wrap, without which torch.fx traces into it.",
        f"Write @torch.fx.wrap on the line above def {function.name}.",
        fatal=False,
    )
