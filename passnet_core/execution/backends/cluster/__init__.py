"""The backend on a Ray cluster: a driver in a process of its own, and judges on the nodes."""
