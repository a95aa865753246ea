"""A process with torch and triton loaded that runs no candidate code itself, but forks a child for each job.

It serves one bundle only: children share its namespaces, and could harm it. Over its control channel it is asked
{"fork": …} with two descriptors, the child's channel and log, or {"end": true}; it tells {"ready": true},
{"started": pid} and {"ended": exit code, "why": text, "killed": whether by the nursery}.
"""

import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from passnet_core.judge import sandbox
from passnet_core.records import Device

MESSAGE_LIMIT = 4096
COUNT_EVERY_S = 0.25

CACHES = ("triton", "inductor")
"""What stays in the scratch folder from child to child: compiled kernels."""


def tell(control: socket.socket, **fields: Any) -> None:
    """One message, over a channel that keeps messages apart."""
    control.send(json.dumps(fields).encode(), socket.MSG_NOSIGNAL)


def main(descriptor: int, device: Device, scratch: Path) -> None:
    """Serves until the control channel closes. To be run as a program of its own."""
    sandbox.die_with_parent()
    sandbox.adopt_orphans()
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    from passnet_core.judge import candidate  # loads torch and triton, once for all children

    candidate.rehearse(device)
    gc.collect()
    gc.freeze()
    try:
        tell(control, ready=True)
        _Nursery(control, device, scratch, candidate.serve).serve()
    except (BrokenPipeError, ConnectionResetError):
        return
    finally:
        sandbox.kill_tree(os.getpid())


class _Nursery:
    def __init__(self, control: socket.socket, device: Device, scratch: Path, child: Any) -> None:
        self.control = control
        self.device = device
        self.scratch = scratch
        self.child = child
        self.pid: int | None = None
        self.why = ""
        self.limits = sandbox.LIMITS
        self.woken, self.waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def serve(self) -> None:
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        while True:
            pause = COUNT_EVERY_S if self.pid is not None else None
            watched: list[socket.socket | int] = [self.control, self.woken]
            ready = select.select(watched, [], [], pause)[0]
            if self.woken in ready:
                os.read(self.woken, 4096)
            self._collect()
            if self.control in ready and not self._obey():
                return
            if self.pid is not None and len(sandbox.descendants(os.getpid())) > self.limits.processes:
                self._end(f"it started more than {self.limits.processes} processes")

    def _obey(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE_LIMIT, 2)
        if not data:
            return False
        request = json.loads(data)
        if "fork" in request:
            self._fork(request["fork"], *descriptors)
        elif "end" in request:
            self._end(self.why)
        return True

    def _fork(self, asked: dict[str, Any], channel: int, log: int) -> None:
        self.limits = sandbox.Limits(**asked["limits"])
        if asked["compiling"]:
            import torch._dynamo
            import torch._inductor  # noqa: F401  it takes seconds: once for all children
        self.why = ""
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self._become_child(channel, log, asked["cpu_s"])
        self.pid = pid
        os.close(channel)
        os.close(log)
        tell(self.control, started=pid)

    def _become_child(self, descriptor: int, log: int, cpu_s: float) -> None:
        """Never returns."""
        status = 70
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self.control.close()
            os.close(self.woken)
            os.close(self.waker)
            os.setsid()
            sandbox.die_with_parent()
            nothing = os.open(os.devnull, os.O_RDONLY)
            for source, target in ((nothing, 0), (log, 1), (log, 2)):
                os.dup2(source, target)
            os.close(nothing)
            os.close(log)
            if self.device is Device.CPU:
                # whoever guards a fork bomb must get its turn; on CUDA it would disturb the clocks
                os.nice(5)
            sandbox.limit_this_process(device=self.device, cpu_s=cpu_s, limits=self.limits)
            self.child(socket.socket(fileno=descriptor), self.device, self.scratch)
            status = 0
        finally:
            # no exit handlers: they are the candidate's by now
            os._exit(status)

    def _collect(self) -> None:
        """Notices the end of the child, kills what it left behind, and tells."""
        ended: int | None = None
        while self.pid is not None:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == self.pid:
                ended = os.waitstatus_to_exitcode(status)
        if ended is not None:
            self._told(ended, "", killed=False)

    def _end(self, why: str) -> None:
        """Kills the child with all it has started, and tells."""
        if self.pid is None:
            return
        os.kill(self.pid, signal.SIGKILL)
        self._told(-int(signal.SIGKILL), why, killed=True)

    def _told(self, code: int, why: str, *, killed: bool) -> None:
        left = sandbox.kill_tree(os.getpid())
        self.pid = None
        self._clear()
        tell(self.control, ended=code, why=why, killed=killed, left=left)
        if sandbox.descendants(os.getpid()):
            # in a sandbox the end of this process ends everything in it
            time.sleep(0.1)
            os._exit(1)

    def _clear(self) -> None:
        """Removes what the child wrote, so that the next one finds an empty folder: and the caches too, if large."""
        keep = CACHES if sandbox.folder_bytes(self.scratch) < self.limits.scratch_bytes // 2 else ()
        for entry in self.scratch.iterdir():
            if entry.name in keep:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
