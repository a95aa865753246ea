"""What a call does besides computing its result: which memory it may change, in whose memory its result may lie, and
whether it draws random numbers. Where that is not known, it may do everything."""

from dataclasses import dataclass, replace

from passnet_core.graphs.ir import Node, NodeKind, Ref, Value, references
from passnet_core.graphs.spelling import INPLACE
from passnet_core.operations.binding import bound
from passnet_core.operations.table import PYTHON, Overload, row, spelling

TRAINING = ("training", "train", "use_input_stats")
"""Parameters that turn off what an operation does in training only."""
STATISTICS = frozenset({"running_mean", "running_var"})
"""Parameters that are changed in training only."""
WRITING = frozenset({*INPLACE, "operator.setitem", "operator.delitem"})
"""Functions of Python that change their first operand."""
SHARING = frozenset({*INPLACE, "operator.pos", "operator.getitem"})
"""Those whose result may lie in the memory of the first operand."""
CHOOSING = frozenset({"builtins.max", "builtins.min"})
"""Those that may return any of their operands."""


@dataclass(frozen=True)
class Deeds:
    """writes: the values whose memory a call may change. shares: those in whose memory its result may lie."""

    writes: tuple[Ref, ...] = ()
    shares: tuple[Ref, ...] = ()
    random: bool = False


def deeds(node: Node) -> Deeds:
    """What a call does to memory and to the state of random numbers."""
    space = node.target.partition(".")[0]
    if node.kind is NodeKind.INPUT or (node.kind is NodeKind.CALL and space == node.target):
        # an input; or a replacement function, which is called by its bare name
        return Deeds(tuple(map(Ref, node.writes)), tuple(map(Ref, node.shares)))
    if node.kind is NodeKind.CALL and space in PYTHON:
        return _of_python(node)
    out = dict(node.kwargs).get("out")
    if out is not None:
        rest = deeds(replace(node, kwargs=tuple(each for each in node.kwargs if each[0] != "out")))
        written = tuple(map(Ref, references(out)))
        return Deeds((*rest.writes, *written), (*rest.shares, *written), rest.random)
    known = row(spelling(node))
    operands = tuple(map(Ref, dict.fromkeys(node.inputs)))
    if known is None:
        return Deeds(operands, operands)
    if not known.overloads:
        return Deeds((), operands[:1] if known.shares else ())
    call, overload = bound(node)
    if overload is None:
        changes = any(each.writes for each in known.overloads)
        return Deeds(operands if changes else (), operands, any(each.random for each in known.overloads))
    return _bound_deeds(dict(call.arguments), overload)


def _bound_deeds(arguments: dict[str, Value], overload: Overload) -> Deeds:
    """What a call does whose arguments are known by the names of their parameters."""
    writes, shares, random = set(overload.writes), set(overload.shares), overload.random
    first = overload.parameters[0].name if overload.parameters else ""
    training = next((arguments[each] for each in TRAINING if each in arguments), None)
    if training is not None and _is_off(training):
        writes, random = writes - STATISTICS, False
    if training is True and random and arguments.get("p") not in (0, 0.0):
        shares.discard(first)
    if arguments.get("copy") is True:
        shares.discard(first)
    if "max_norm" in arguments and arguments["max_norm"] is None:
        writes.discard("weight")
    if not _is_off(arguments.get("inplace", False)):
        writes.add(first)
        shares.add(first)

    def values(names: set[str]) -> tuple[Ref, ...]:
        return tuple(Ref(name) for each, value in arguments.items() if each in names for name in references(value))

    return Deeds(values(writes), values(shares), random)


def _is_off(flag: Value) -> bool:
    """Whether a flag is certainly not set."""
    return isinstance(flag, bool | int) and not flag


def _of_python(node: Node) -> Deeds:
    match node:
        case Node(target="builtins.getattr", args=(Ref() as owner, str())):
            known = row(spelling(node))
            return Deeds((), (owner,) if known is None or known.shares else ())
    first = tuple(each for each in node.args[:1] if isinstance(each, Ref))
    shared = tuple(map(Ref, node.inputs)) if node.target in CHOOSING else first if node.target in SHARING else ()
    return Deeds(first if node.target in WRITING else (), shared)
