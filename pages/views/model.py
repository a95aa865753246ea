"""Your model: passes for a model of the visitor's own, found, judged and measured in it."""

import streamlit as st

from pages.ui import links
from pages.ui.own_models import ask, search

st.title("Your model")
chosen = links.selected("search")
if chosen is None:
    ask()
else:
    search(chosen)
