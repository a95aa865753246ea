"""Which parameter of the function that lowers an operation each argument of a call is for."""

import inspect
from collections.abc import Callable
from functools import cache

from passnet_core.graphs.ir import Node, NodeKind
from passnet_core.graphs.ir import Value as Given
from passnet_core.graphs.matching import same
from passnet_core.operations.binding import bound
from passnet_core.operations.kinds import named, several
from passnet_core.operations.table import PYTHON, row, spelling
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import PLACEMENT, SAME_LAYOUT, Argument, Operation
from passnet_core.solvers.rules.values import Value

RENAMED = {theirs: own for own, names in several("parameters").items() for theirs in names}
"""Names that torch has for parameters, and those of the functions of this package that have no such parameter."""

WITHOUT_EFFECT = PLACEMENT | named("without_effect")
"""Parameters that change no element, unless they are given tensors."""


def bound_arguments(
    node: Node, function: Operation, resolved: Callable[[Given], Argument]
) -> tuple[list[Argument], dict[str, Argument]]:
    """The arguments of a call as those of the function that lowers it: by position, and by name. resolved: what an
    argument stands for. Raises Unsupported if one has no place there."""
    call, overload = bound(node)
    if overload is None and (known := row(spelling(node))) is not None and known.overloads:
        raise Unsupported("arguments that fit no signature of it")
    in_order = node.kind is NodeKind.CALL and node.target.partition(".")[0] in PYTHON
    parameters = {each.name: each for each in overload.parameters} if overload else {}
    names = _names(function)
    args: list[Argument] = []
    kwargs: dict[str, Argument] = {}
    for name, given in call.arguments:
        parameter, value = parameters.get(name), resolved(given)
        if in_order or name.isdecimal():
            args.append(value)
        elif parameter is not None and parameter.variadic and isinstance(value, tuple):
            args.extend(value)
        elif (own := name if name in names else RENAMED.get(name, name)) in names:
            kwargs[own] = value
        elif not (
            (parameter and not parameter.required and same(given, parameter.default))
            or (name in WITHOUT_EFFECT and not isinstance(value, Value))
            or given in SAME_LAYOUT
        ):
            raise Unsupported(f"the argument {name}")
    return args, kwargs


@cache
def _names(function: Operation) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
