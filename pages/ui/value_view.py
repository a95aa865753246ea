"""How near the outputs are to eager's, and where they are not."""

import streamlit as st

from pages.ui.text import count, figure, plain, shape
from passnet_core.records import Bundle, Outcome, OutputAccuracy, Subgraph


def values_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    accuracy = outcome.accuracy
    if accuracy is None:
        st.info("Values were not compared. Run does that, once the passes match.")
        return
    if accuracy.reduced:
        st.caption(f":material/photo_size_select_small: {plain(accuracy.reduced)}")
    st.markdown(
        f"{count(len(accuracy.outputs), 'output')}, each compared with eager and with float64 on "
        f"{count(len(accuracy.profiles), 'drawing')} of inputs: {plain(', '.join(accuracy.profiles))}."
    )
    st.dataframe([_output_row(output) for output in accuracy.outputs], hide_index=True, width="stretch")
    for output in accuracy.outputs:
        if output.problem:
            st.markdown(f"Output {output.output}: {plain(output.problem)}")
    st.caption(
        "The smallest t is the strictest tolerance level, from −10 to 0, at which every drawing is close; "
        "a dash: not even at 0."
    )


def _output_row(output: OutputAccuracy) -> dict[str, str | int]:
    return {
        "output": output.output,
        "shape": shape(output.shape),
        "dtype": output.dtype,
        "smallest t": "–" if output.smallest_t is None else str(output.smallest_t),
        "max error": figure(output.max_error),
        "mean error": figure(output.mean_error),
        "worst at": str(list(output.index)) if output.index is not None else "",
        "eager": figure(output.expected),
        "yours": figure(output.actual),
        "drawing": output.profile,
        "wrong": f"{output.wrong_fraction:.1%}" if output.wrong_fraction else "",
    }
