"""The charts' library. What only says something of an outcome does without: it takes most of a second to load."""

import importlib

# a page's tables load pandas, and altair fails on one that another thread is still loading
importlib.import_module("pandas")

import altair as alt  # noqa: E402

__all__ = ["alt"]
