"""The script that every visit runs: the navigation, in the frame that every page shares."""

import streamlit as st

from pages.ui import frame
from passnet_core.settings import ASSETS

# Streamlit would fetch an icon given by name from the internet
st.set_page_config(page_title=frame.APP, page_icon=str(ASSETS / "icon.png"), layout="wide")
frame.show(st.navigation(list(frame.pages().values()), position="top"))
