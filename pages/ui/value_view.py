"""The Values tab: how close the outputs are to eager's, and where they are wrong."""

import streamlit as st

from pages.ui.text import count, figure, plain, shape
from passnet_core.advice.error_shapes import guessed
from passnet_core.charts.places import drawn, where
from passnet_core.charts.strips import WORST, WRONG, strip_chart, tables
from passnet_core.records import LEVELS_SAID, Accuracy, Bundle, Outcome, OutputAccuracy, Subgraph, base_set


def values_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    accuracy = outcome.accuracy
    if accuracy is None:
        st.info("Values were not compared. Run compares them, once the passes match.")
        return
    if accuracy.reduced:
        st.caption(f":material/photo_size_select_small: {plain(accuracy.reduced)}")
    st.markdown(
        f"{count(len(accuracy.outputs), 'output')}, compared with eager and with float64 on "
        f"{count(len(accuracy.profiles), 'input set')}: {plain(', '.join(accuracy.profiles))}."
    )
    rows = [output_row(output, accuracy) for output in accuracy.outputs]
    st.dataframe(rows, hide_index=True, width="stretch")
    for output in accuracy.outputs:
        if output.problem:
            st.markdown(f"Output {output.output}: {plain(output.problem)}")
        if output.map:
            _error_map(output, accuracy)
    st.caption(
        plain(
            f"{LEVELS_SAID} Max and mean error are the largest over all input sets. The other figures are those of the"
            " input set named, which decides the verdict."
        )
    )


def _error_map(output: OutputAccuracy, accuracy: Accuracy) -> None:
    """Show where an output is wrong, what may cause it, and the neighbours of its worst element."""
    assert output.map is not None
    with st.container(border=True):
        st.markdown(f"**Output {output.output}, wrong: {plain(where(output))}**")
        sets = f". It is {said}" if (said := accuracy.failed_words(output)) else ""
        also = f". Also on: {said}" if (said := also_failed(output)) else ""
        st.caption(f"Shown for {plain(drawn(output.profile))}, which decide its verdict{plain(sets)}{plain(also)}.")
        st.altair_chart(strip_chart(output), width="stretch")
        st.caption(
            "Each cell shows the largest error of its elements, divided by what is allowed for them. Grey is right, "
            "× is a NaN or an infinity on one side only."
            + (" Integers must be equal: an error of 1 is 2 times what is allowed." if _is_integer(output) else "")
        )
        guess = guessed(output, accuracy.profiles)
        if guess:
            st.markdown(f":material/lightbulb: {plain(guess.meaning)} {plain(guess.step)}")
        if output.map.around:
            _neighbourhood(output)


def _neighbourhood(output: OutputAccuracy) -> None:
    assert output.map is not None
    assert output.map.around is not None
    expected, actual = tables(output.map.around, output.index or ())
    leading = ", ".join(map(str, output.map.around.first[:-2]))
    st.caption(
        f"Around the worst element, {list(output.index or ())}"
        + (f", at [{leading}, …]" if leading else "")
        + f": {WORST} marks it, {WRONG} others that are wrong."
    )
    left, right = st.columns(2)
    with left:
        st.markdown("Expected (eager)")
        st.table(expected)
    with right:
        st.markdown("Actual (candidate)")
        st.table(actual)


def _is_integer(output: OutputAccuracy) -> bool:
    return "float" not in output.dtype and "complex" not in output.dtype


def also_failed(output: OutputAccuracy) -> str:
    """Name the other inputs on which an output fails, each with its number of wrong elements if that is known."""
    known = {each.inputs: each.words for each in output.failed}
    others = {name for name in output.wrong_in if name != output.profile}
    # a further call on the same inputs adds nothing
    others -= {name for name in others if base_set(name) in output.wrong_in and base_set(name) != name}
    return "; ".join(known.get(name, name) for name in output.wrong_in if name in others)


def output_row(output: OutputAccuracy, accuracy: Accuracy) -> dict[str, str | int]:
    """Return the row of an output in the table of the Values tab."""
    return {
        "output": output.output,
        "shape": shape(output.shape),
        "dtype": output.dtype,
        "smallest t": output.level,
        "wrong": output.wrong_words,
        "input sets": accuracy.failed_words(output),
        "max error": figure(output.max_error),
        "mean error": figure(output.mean_error),
        "worst at": str(list(output.index)) if output.index is not None else "",
        "eager": figure(output.expected),
        "candidate": figure(output.actual),
        "input set": output.profile,
    }
