"""What stands beside each pane of code: kernels launched, bytes moved at least, and the time that these take."""

from collections.abc import Mapping, Sequence

from pages.ui.text import count
from passnet_core.advice.memory_floor import Floor, bytes_moved, memory_floor
from passnet_core.graphs import aligning, panes, traffic
from passnet_core.graphs.ir import Graph
from passnet_core.records import LAUNCHED, Bundle, CompiledKernel, InductorCode, Inspection, Outcome, Subgraph

MOST_LINES = 6
ON_A_GPU = "The floor, what a copy of as many bytes takes, is known where jobs run on a GPU only."


def facts(
    graph: Graph, subgraph: Subgraph, outcome: Outcome, bundle: Bundle | None, known: Inspection | None
) -> Mapping[str, Sequence[str]]:
    """By the key of a pane, sentences. known: what an inspection found of the subgraph."""
    forms = traffic.forms_of(subgraph.inputs, known.values if known else ())
    floor = memory_floor(outcome, subgraph, known.accelerator if known else None)
    whole = traffic.through(graph, forms)
    if whole is None and outcome.accuracy is not None and not outcome.accuracy.reduced:
        whole = bytes_moved(subgraph.inputs, outcome.accuracy.outputs)
    through = _moved("The whole subgraph, inputs and results once,", whole, floor)
    one_by_one = traffic.one_by_one(graph, forms, graph.operations)
    found = {
        panes.RECORDED: [_moved("Eager, operation by operation,", one_by_one, floor), through],
        panes.INDUCTOR: [*launches(known.code if known else None), through],
    }
    match = outcome.match
    if match is not None and match.rewritten:
        rewritten = aligning.graph_of(match.rewritten)
        calls = aligning.replacement_calls(rewritten)
        found[panes.REWRITTEN] = [
            f"{count(len(calls), 'call')} of a replacement among {count(len(rewritten.operations), 'operation')}.",
            _moved("Call by call,", traffic.one_by_one(rewritten, forms, rewritten.operations), floor),
        ]
        replacing = _moved("What replaces the matches", traffic.one_by_one(rewritten, forms, calls), floor)
        pairs = zip(bundle.passes if bundle else (), match.passes)
        first = next((file.name for file, each in pairs if each.matches), "")
        found[f"{panes.MINE}:{first}"] = [*_census(outcome), replacing or through]
    return {key: [each for each in said if each] for key, said in found.items()}


def launches(code: InductorCode | None) -> Sequence[str]:
    """What one call of TorchInductor's code launches."""
    if code is None:
        return ()
    library = f" and {count(code.library_calls, 'kernel')} of torch's" if code.library_calls else ""
    return (f"One call launches {count(code.launches, 'kernel')} of its own{library}.",)


def compiled(kernel: CompiledKernel) -> str:
    """How a kernel was compiled, and what it takes."""
    where = f"compute capability {kernel.target}"
    how = f"As launched here, {where}" if kernel.ran else f"Compiled for {where}, not run"
    takes = [
        f"{number:,} {what}"
        for number, what in (
            (kernel.launches, "launched in a call" if kernel.ran else "to be launched in a call"),
            (kernel.num_warps, "warps"),
            (kernel.num_stages, "stages"),
            (kernel.shared_bytes, "bytes of shared memory"),
            (kernel.registers, "registers a thread"),
            (kernel.spills, "spilled"),
        )
        if number is not None
    ]
    return f"{how}: {', '.join(takes)}."


def _census(outcome: Outcome) -> Sequence[str]:
    told = next((each.text for each in outcome.evidence if each.topic == LAUNCHED), None)
    if told is None:
        return ("Kernels launched: counted by a run that finds all values right.",)
    lines = told.splitlines()
    more = [f"… and {len(lines) - MOST_LINES} more, under Evidence"] if len(lines) > MOST_LINES else []
    return ("Kernels launched, by the census:", *lines[:MOST_LINES], *more)


def _moved(what: str, moved: int | None, floor: Floor | None) -> str:
    """ "… moves at least 1.6 MB: 0.4 µs at 4,200 GB/s, the floor."; empty where it is not known."""
    if moved is None:
        return ""
    if floor is None:
        return f"{what} moves at least {_size(moved)}."
    time = f"{Floor(moved, floor.bytes_per_us).us:.3g} µs at {floor.bytes_per_us / 1e3:,.0f} GB/s"
    return f"{what} moves at least {_size(moved)}: {time}, the floor."


def _size(moved: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if moved >= size:
            return f"{moved / size:.3g} {unit}"
    return count(moved, "byte")
