"""Tell the shapes and dtypes inside the subgraphs of a folder of tasks, as a file beside them.

    python -m tools.shaping data/tasks data/training/tasks

It asks torch's fake tensors, as the judge does when it inspects a subgraph, and takes a fifth of a second for each."""

import argparse
from pathlib import Path

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.shapes import read_shapes, write_shapes
from passnet_core.errors import PlaygroundError
from passnet_core.graphs import placement, source
from passnet_core.judge.numerics import input_draws, input_roles
from passnet_core.judge.worker.inspecting import propagated
from passnet_core.records import Device, NodeValue, Subgraph
from passnet_core.solvers.llm.prompting import first_of_sources


def shapes_of(subgraph: Subgraph) -> tuple[NodeValue, ...]:
    """The values in a subgraph, as an inspection by a judge on the CPU tells them. Raises PlaygroundError."""
    graph = source.parse(subgraph.code)
    placed = source.emit(placement.placed(graph, Device.CPU.value))
    given = input_draws.without_content(subgraph.inputs, input_roles.roles(graph, subgraph.inputs))
    return propagated(placed, given, Device.CPU).values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], allow_abbrev=False)
    parser.add_argument("folder", type=Path, nargs="+", help="of tasks, in folders or packs")
    parser.add_argument("--again", action="store_true", help="also those that the file tells already")
    args = parser.parse_args()
    for folder in args.folder:
        corpus = Corpus([folder])
        known = {} if args.again else read_shapes([folder])
        tasks = [corpus.task(each.id) for each in corpus.tasks()]
        shown = {each.digest: each for task in tasks for each in first_of_sources(task.subgraphs)}
        found = {}
        for digest, subgraph in shown.items():
            try:
                found[digest] = known[digest] if digest in known else shapes_of(subgraph)
            except PlaygroundError as error:
                print(f"{subgraph.task_id}, {subgraph.id}: {error}")
        write_shapes(folder, found)
        print(f"{folder}: {len(found)} of {len(shown)} subgraphs.", flush=True)


if __name__ == "__main__":
    main()
