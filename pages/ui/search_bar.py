"""The bar of Explore: search, filters, and a chip for each filter that is set. All of it is in the URL."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from pages.ui.filters import ORDERS, SIZES, STATES, Listing, Search
from pages.ui.text import code_span, key_of, plain

SEARCH_HELP = """Words from the name, models, split or operators of a task. A task must have all of them.

- `128x768`, `[128, 768]` or `768`: the shape of an input has these sizes next to each other
- `layer_norm -> linear`: a `linear` directly after a `layer_norm`
- `conv* -> … -> relu`: an operator whose name begins with `conv`, and later a `relu`"""
LONGEST_SEARCH = 500
"""Most characters of a search."""
VALUE_SHOWN = 40
IGNORED = "ignored filters"
"""Where a session keeps which values of its link were ignored, with the search that was left."""


@dataclass(frozen=True)
class Field:
    """A filter. label: what a chip of it begins with; "" where its values say enough."""

    key: str
    title: str
    label: str
    options: Sequence[str]


def fields_of(listing: Listing) -> tuple[Field, ...]:
    """Return the filters, in the order in which they are drawn."""
    return (
        Field("dtype", "dtype", "", listing.dtypes),
        Field("family", "Family", "", listing.families),
        Field("split", "Split", "split", listing.splits),
        Field("size", "Operations", "operations", list(SIZES)),
        Field("state", "State (all of them)", "", list(STATES)),
        Field("op", "Operators (all of them)", "operator", listing.operators),
        Field("model", "Source models (any of them)", "model", listing.sources),
    )


def search_text() -> str:
    """Draw the search field, which tasks and gallery share, and return its text."""
    return st.text_input(
        "Search",
        key="q",
        bind="query-params",
        max_chars=LONGEST_SEARCH,
        placeholder="a name, a model, 128x768, layer_norm → linear",
        help=SEARCH_HELP,
        icon=":material/search:",
    )


def search_bar(listing: Listing) -> Search:
    """Draw search, order and filters, and below them what is set. Every field is bound to the URL."""
    fields = fields_of(listing)
    unknown = unknown_values([*fields, Field("order", "Order", "", list(ORDERS))])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = search_text()
        order = st.selectbox("Order", list(ORDERS), key="order", bind="query-params", width=210)
        with st.popover("Filters", icon=":material/filter_list:"):
            chosen = {
                each.key: (several if each.key in ("op", "model") else chips)(each.title, each.key, each.options)
                for each in fields
            }
    search = Search(
        text,
        families=chosen["family"],
        dtypes=chosen["dtype"],
        operators=chosen["op"],
        sources=chosen["model"],
        splits=chosen["split"],
        sizes=chosen["size"],
        states=chosen["state"],
        order=order,
    )
    active_filters(fields, chosen, text)
    ignored_filters(unknown, search)
    return search


def chips(label: str, key: str, options: Sequence[str]) -> list[str]:
    """Draw chips of which any number can be selected. Draw nothing if there are fewer than two options."""
    if len(options) < 2:
        return []
    return list(st.pills(label, options, selection_mode="multi", key=key, bind="query-params"))


def several(label: str, key: str, options: Sequence[str]) -> list[str]:
    """Draw a list in which any number can be selected."""
    return list(st.multiselect(label, options, key=key, bind="query-params"))


def active_filters(fields: Sequence[Field], chosen: Mapping[str, Sequence[str]], text: str) -> None:
    """Draw a button for each filter that is set, which removes it, and one for all. Draw nothing if none is set."""
    found = [Chip(f"“{text.strip()[:VALUE_SHOWN]}”", "q", clear_search)] if text.strip() else []
    found += [
        Chip(f"{each.label} {value}".strip(), f"{each.key} {value}", remove_filter, (each.key, value))
        for each in fields
        for value in chosen[each.key]
    ]
    chip_row(found, clear_all, fields)


@dataclass(frozen=True)
class Chip:
    """A button that removes a filter. name: tells it from other chips. remove: called with args."""

    label: str
    name: str
    remove: Callable[..., None]
    args: tuple[object, ...] = ()


def chip_row(found: Sequence[Chip], clear: Callable[..., None], *args: object) -> None:
    """Draw chips, and a button that removes all. Draw nothing if there are none."""
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="active-filters"):
        for each in found:
            st.button(
                plain(each.label),
                key=key_of("remove", each.name),
                icon=":material/close:",
                icon_position="right",
                on_click=each.remove,
                args=each.args,
            )
        st.button("Clear all", key="clear-all", type="tertiary", on_click=clear, args=args)


def remove_filter(key: str, value: str) -> None:
    st.session_state[key] = [each for each in st.session_state[key] if each != value]


def search_for(text: str) -> None:
    st.session_state["q"] = text


def clear_search() -> None:
    search_for("")


def clear_all(fields: Sequence[Field]) -> None:
    """Remove the search text and all filters."""
    clear_search()
    for each in fields:
        if each.key in st.session_state:
            st.session_state[each.key] = []


def unknown_values(fields: Sequence[Field]) -> tuple[str, ...]:
    """Return what the URL asks of the filters that no task has. Call it before the filters are drawn, which drop it."""
    return tuple(
        f"{each.key} {value[:VALUE_SHOWN]}"
        for each in fields
        for value in st.query_params.get_all(each.key)
        if value and value not in each.options
    )


def ignored_filters(unknown: tuple[str, ...], search: object) -> None:
    """Say which values of the link no filter has, until the search changes."""
    if unknown:
        st.session_state[IGNORED] = (unknown, search)
    ignored, of = st.session_state.get(IGNORED, ((), None))
    if of == search:
        names = ", ".join(map(code_span, ignored))
        st.warning(
            f"No filter has these values of the link, so they are ignored: {names}.", icon=":material/filter_alt_off:"
        )
