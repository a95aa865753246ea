"""Choose the subgraphs that a task keeps: no duplicates, and out of too many the most different ones. Pure."""

from collections import Counter
from collections.abc import Sequence

from passnet_core.graphs.fingerprint import structure
from passnet_core.graphs.source import parse
from passnet_core.records import Subgraph, digest_of


def deduplicated(subgraphs: Sequence[Subgraph]) -> tuple[Subgraph, ...]:
    """Keep the first of several subgraphs with equal structure, input shapes and input dtypes."""
    kept: dict[tuple[object, ...], Subgraph] = {}
    for subgraph in subgraphs:
        kept.setdefault(likeness_key(subgraph), subgraph)
    return tuple(kept.values())


def likeness_key(subgraph: Subgraph) -> tuple[object, ...]:
    """What is equal for subgraphs with equal structure, input shapes and input dtypes."""
    return structure(parse(subgraph.code)), tuple((spec.shape, spec.dtype) for spec in subgraph.inputs)


def spread(subgraphs: Sequence[Subgraph], most: int) -> tuple[Subgraph, ...]:
    """Pick at most `most` subgraphs that cover many models, dtypes and sizes; sorted by id."""
    left = sorted(subgraphs, key=lambda each: digest_of(each.id))
    met: Counter[object] = Counter()
    picked: list[Subgraph] = []
    while left and len(picked) < most:
        best = min(left, key=lambda each: sum(met[facet] for facet in _facets(each)))
        left.remove(best)
        met.update(_facets(best))
        picked.append(best)
    return tuple(sorted(picked, key=lambda each: each.id))


def _facets(subgraph: Subgraph) -> tuple[object, ...]:
    dtype, size = subgraph.id.split("/")[:2]
    return (subgraph.source_model, dtype, ("size", size), (dtype, size))
