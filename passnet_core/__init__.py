"""PassNet Playground: browse real tensor subgraphs, write compiler passes for them, and judge the passes."""

__version__ = "0.1.0"
