"""What every visit runs: one navigation table, in the frame that every page shares."""

import streamlit as st

from pages.ui import frame
from passnet_core.settings import ASSETS

# a symbol by its name would be fetched from elsewhere
st.set_page_config(page_title="PassNet Playground", page_icon=str(ASSETS / "icon.png"), layout="wide")
frame.show(st.navigation(list(frame.pages().values()), position="top"))
