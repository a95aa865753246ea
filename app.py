"""The playground's entry: python -m streamlit run app.py.

What a visit runs lies deeper: beside a folder named pages Streamlit would, until a first visit has told it otherwise,
take a link to a page for one to a script in that folder, and say that it is not there.
"""

import streamlit as st

app = st.App("pages/ui/main.py")
