"""A Ray cluster of several nodes on this machine, for tests: Ray's own, with processes that tests may kill."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CPUS = 2
"""The CPUs of a node: those of one judge."""


@dataclass
class RayCluster:
    """A head that judges nothing, and nodes with room for one judge and one checker each. folder: of Ray's files."""

    folder: Path
    port: int
    nodes: list[Any] = field(default_factory=list)
    cluster: Any = None

    def start(self, nodes: int) -> None:
        """Start the head, always at the same address, and so many nodes."""
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "gcs_server_port": self.port, "include_dashboard": False}
        # by default always the same one, which may be the port of the head
        head["dashboard_agent_listen_port"] = free_port()
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.nodes = [self.cluster.add_node(num_cpus=CPUS) for _ in range(nodes)]

    def kill_node(self, node: Any) -> None:
        """Kill a node without a warning, as a machine ends that loses its power."""
        self.cluster.remove_node(node, allow_graceful=False)
        self.nodes.remove(node)

    def stop(self) -> None:
        if self.cluster is not None:
            with suppress(Exception):  # what is left of a cluster that a test has broken is killed below
                self.cluster.shutdown()
            self.cluster = None

    @property
    def environ(self) -> Mapping[str, str]:
        """The variables of an app that uses this cluster."""
        return {**os.environ, "RAY_ADDRESS": f"127.0.0.1:{self.port}"}

    def processes(self, word: str) -> list[int]:
        """The processes of this cluster with this word in their command line: they run what Ray has put there."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                command = Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                variables = Path("/proc", name, "environ").read_bytes().decode(errors="replace")
                if word in command and (str(self.folder) in variables or str(self.folder) in command):
                    found.append(int(name))
        return found


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running_cluster(nodes: int) -> Iterator[RayCluster]:
    """A running cluster. Ray's variables of this process lead to it, and are put back."""
    port = free_port()
    # Ray's sockets need a short path
    folder = Path(tempfile.mkdtemp(prefix="pn-ray-", dir="/tmp"))
    ours = {"RAY_TMPDIR": str(folder), "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    made = RayCluster(folder, port)
    try:
        made.start(nodes)
        yield made
    finally:
        made.stop()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        shutil.rmtree(folder, ignore_errors=True)
