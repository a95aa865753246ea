"""Facts beside each pane of code: kernels launched, the fewest bytes moved, and the time that these bytes take."""

from collections.abc import Mapping, Sequence

from pages.ui.text import count
from passnet_core.advice.memory_floor import Floor, bytes_moved, memory_floor
from passnet_core.graphs import aligning, panes, traffic
from passnet_core.graphs.ir import Graph
from passnet_core.records import LAUNCHED, Bundle, CompiledKernel, InductorCode, Inspection, Outcome, Subgraph

MOST_LINES = 6
ON_A_GPU = "The memory floor, the time to copy as many bytes, is known only where jobs run on a GPU."


def facts(
    graph: Graph, subgraph: Subgraph, outcome: Outcome, bundle: Bundle | None, known: Inspection | None
) -> Mapping[str, Sequence[str]]:
    """Return sentences by the key of a pane. known: the inspection of the subgraph."""
    forms = traffic.forms_of(subgraph.inputs, known.values if known else ())
    floor = memory_floor(outcome, subgraph, known.accelerator if known else None)
    whole = traffic.through(graph, forms)
    if whole is None and outcome.accuracy is not None and not outcome.accuracy.reduced:
        whole = bytes_moved(subgraph.inputs, outcome.accuracy.outputs)
    through = _moved("The whole subgraph, with inputs read and results written once,", whole, floor)
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
            f"{count(len(calls), 'replacement call')} among {count(len(rewritten.operations), 'operation')}.",
            _moved("The graph, call by call,", traffic.one_by_one(rewritten, forms, rewritten.operations), floor),
        ]
        replacing = _moved("The replacement, call by call,", traffic.one_by_one(rewritten, forms, calls), floor)
        pairs = zip(bundle.passes if bundle else (), match.passes)
        first = next((file.name for file, each in pairs if each.matches), "")
        found[f"{panes.PASSES}:{first}"] = [*_census(outcome), replacing or through]
    return {key: [each for each in facts if each] for key, facts in found.items()}


def launches(code: InductorCode | None) -> Sequence[str]:
    """Say what one call of TorchInductor's code launches."""
    if code is None:
        return ()
    library = f" and {count(code.library_calls, 'library kernel')}" if code.library_calls else ""
    return (f"One call launches {count(code.launches, 'generated kernel')}{library}.",)


def compiled(kernel: CompiledKernel) -> str:
    """Say how a kernel was compiled, with its launch parameters and resources."""
    where = f"compute capability {kernel.target}"
    how = f"As launched here, {where}" if kernel.ran else f"Compiled for {where}, not run"
    numbers = [
        f"{number:,} {what}"
        for number, what in (
            (kernel.launches, "launched per call" if kernel.ran else "to launch per call"),
            (kernel.num_warps, "warps"),
            (kernel.num_stages, "stages"),
            (kernel.shared_bytes, "bytes of shared memory"),
            (kernel.registers, "registers per thread"),
            (kernel.spills, "spilled"),
        )
        if number is not None
    ]
    return f"{how}: {', '.join(numbers)}."


def _census(outcome: Outcome) -> Sequence[str]:
    census = next((each.text for each in outcome.evidence if each.topic == LAUNCHED), None)
    if census is None:
        return ("Kernels launched: not known. Only a run in which all values are right lists them.",)
    lines = census.splitlines()
    more = [f"… and {len(lines) - MOST_LINES} more, under Log"] if len(lines) > MOST_LINES else []
    return ("Kernels launched, by the kernel census:", *lines[:MOST_LINES], *more)


def _moved(what: str, moved: int | None, floor: Floor | None) -> str:
    """ "… moves at least 1.6 MB. At 4,200 GB/s this takes 0.4 µs, the memory floor."; empty if moved is None."""
    if moved is None:
        return ""
    if floor is None:
        return f"{what} moves at least {_size(moved)}."
    time = f"At {floor.bytes_per_us / 1e3:,.0f} GB/s this takes {Floor(moved, floor.bytes_per_us).us:.3g} µs"
    return f"{what} moves at least {_size(moved)}. {time}, the memory floor."


def _size(moved: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if moved >= size:
            return f"{moved / size:.3g} {unit}"
    return count(moved, "byte")
