"""Rows in, chart specifications out."""

import importlib

# a page's tables load pandas, and altair fails on one that another thread is still loading
importlib.import_module("pandas")
