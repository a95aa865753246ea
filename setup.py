"""Put the app, its pages, its assets and the bundled data into the wheel, inside the package passnet_core."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
APP = ("app.py", ".streamlit", "pages", "assets", "data")
LEFT_OUT = shutil.ignore_patterns("components", "__pycache__", "*.pyc")
"""The wheel leaves out the components' sources; it has the files built from them."""


class BuildWithApp(build_py):
    """Build the package with a folder _app, in which passnet_core.settings looks for the app's files."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        app = Path(self.build_lib) / "passnet_core" / "_app"
        shutil.rmtree(app, ignore_errors=True)
        app.mkdir(parents=True)
        for name in APP:
            if (HERE / name).is_dir():
                shutil.copytree(HERE / name, app / name, ignore=LEFT_OUT)
            else:
                shutil.copy2(HERE / name, app / name)


setup(cmdclass={"build_py": BuildWithApp})
