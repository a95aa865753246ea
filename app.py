"""Entry point of the playground: python -m streamlit run app.py.

The navigation is in pages/ui/main.py and not here: until its first visit, a script beside a folder named pages has
Streamlit resolve every link as a script in that folder, and report that the page does not exist.
"""

import streamlit as st

from pages.ui import frame, heads, served, sessions

sessions.mend()
PAGES = [(name, title) for name, title, _ in frame.PAGES if name != "start"]
BASE = st.get_option("server.baseUrlPath")
app = st.App(
    "pages/ui/main.py",
    routes=[*heads.routes(PAGES, BASE), *served.routes(BASE)],
    middleware=served.middleware(st.get_option("server.allowedHosts")),
    lifespan=served.lifespan,
)
