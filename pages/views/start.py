"""Start: opens the Workbench where the visitor left it, or else on a finished example."""

import streamlit as st

from pages.ui import links
from pages.ui.example import first_place

place = first_place()
# who goes back beyond the Workbench must not be sent to it again
if place and not links.came_back():
    st.switch_page(links.script("workbench"), query_params=place)
st.title("PassNet Playground")
st.markdown("Pick a real subgraph, write a pass for it, and get a verdict that you can trust, with its reasons.")
if not place:
    st.info(
        "There is no finished example here. Browse the tasks and write a pass for one.", icon=":material/lightbulb:"
    )
links.link("workbench", "Open the Workbench", icon=":material/construction:")
links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
links.link("learn", "Start the course", icon=":material/school:")
links.link("help", "What is a pass?", icon=":material/help:")
