"""The script that every visit runs: the navigation, in the frame that every page shares."""

import streamlit as st

from pages.ui import frame

st.set_page_config(page_title=frame.APP, layout="wide")
frame.show(st.navigation(list(frame.pages().values()), position="top"))
