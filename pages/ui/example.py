"""The finished example on Start: a recorded result of a reference bundle, with the subgraph it was measured on."""

from dataclasses import dataclass

import streamlit as st

from pages.ui import resources
from passnet_core.leaderboard.example import Example
from passnet_core.records import Clock, Contender, Subgraph


@dataclass(frozen=True)
class ShownExample:
    """An example with its subgraph. reference: the name of its reference bundle."""

    reference: str
    subgraph: Subgraph
    found: Example

    @property
    def gist(self) -> str:
        """What the example shows, in one sentence of plain text."""
        speedup = self.found.speedup
        inductor = self.found.outcome.speedup(Clock.END_TO_END, Contender.BASELINE)
        passes = "One pass makes" if len(self.found.bundle.passes) == 1 else "These passes make"
        own = f"{passes} this subgraph of {self.subgraph.source_model} {speedup:.1f} times as fast as eager"
        return f"{own}; TorchInductor makes it {inductor.value:.1f} times as fast." if inductor else f"{own}."


@st.cache_resource(show_spinner=False, max_entries=4)
def finished_example(data: str) -> ShownExample | None:
    """Return the example of the recorded runs that come with the playground; None if there is none.

    data: the folder of this data, the cache's key: nothing in it changes while the playground runs."""
    service = resources.shared()
    found = service.example()
    if found is None:
        return None
    reference = next(each for each in service.reference_bundles() if each.bundle.digest == found.bundle.digest)
    subgraph = service.corpus.task(found.outcome.task_id).subgraph(found.outcome.subgraph_id)
    return ShownExample(reference.name, subgraph, found)
