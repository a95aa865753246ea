"""Import altair, which takes most of a second. Modules of this folder that make only words do not need it."""

import importlib

# altair fails while another thread is still importing pandas, as a page's tables do
importlib.import_module("pandas")

import altair as alt  # noqa: E402

__all__ = ["alt"]
