"""The fork server: a process with torch and triton loaded that runs no candidate code and forks a worker per job.

It serves one bundle only, because workers share its namespaces and could harm it. Requests on its control channel:
{"fork": …} with two descriptors (the worker's channel and log), {"end": true}, {"prime": true}, {"quiet": true}.
Messages it sends: {"ready": true}, {"started": pid}, {"quiet": true}, and {"ended": code, "why": text, "killed": bool},
where killed says that the fork server itself killed the worker.

"prime" forks the next worker ahead of time: on CUDA a context takes seconds to create and cannot be inherited."""

import contextlib
import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from passnet_core.judge.supervisor import sandbox
from passnet_core.records import Device

MESSAGE_LIMIT = 4096
PRIMING_LIMIT_S = 60.0

CACHES = ("triton", "inductor")
"""Folders of compiled kernels, which stay in the scratch folder from worker to worker."""


def tell(control: socket.socket, **fields: Any) -> None:
    """Sends one message, on a channel that preserves message boundaries."""
    control.send(json.dumps(fields).encode(), socket.MSG_NOSIGNAL)


class Worker(Protocol):
    """What a forked process runs: the module passnet_core.judge.worker.server."""

    def rehearse(self, device: Device) -> None: ...

    def prime(self, device: Device, *, trusted: bool) -> None: ...

    def serve(self, channel: socket.socket, device: Device, scratch: Path) -> None: ...


def main(descriptor: int, device: Device, scratch: Path, load_worker: Callable[[], Worker], *, trusted: bool) -> None:
    """Serves until the control channel closes; the entry point of its own program.

    load_worker: loads torch and triton, once for all workers. trusted: forks reference workers, not candidate workers.
    """
    sandbox.die_with_parent()
    sandbox.adopt_orphans()
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    # imported modules stay alive: collecting garbage during the imports takes a tenth of the time and finds none
    gc.disable()
    worker = load_worker()
    worker.rehearse(device)
    fork_server = _ForkServerLoop(control, device, scratch, worker, trusted)
    fork_server.import_compiler()
    gc.collect()
    gc.freeze()
    gc.enable()
    try:
        tell(control, ready=True)
        fork_server.serve()
    except (BrokenPipeError, ConnectionResetError):
        return
    finally:
        sandbox.kill_tree(os.getpid())


class _Standby:
    """A worker that has been forked ahead, primes itself, and waits for its job."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid = pid
        self.channel = channel
        self.primed = False

    def wait_until_primed(self) -> None:
        """Returns when it is primed, has ended, or took longer than PRIMING_LIMIT_S."""
        with contextlib.suppress(OSError):
            if not self.primed and select.select([self.channel], [], [], PRIMING_LIMIT_S)[0]:
                self.primed = bool(self.channel.recv(16))

    def take(self, cpu_s: float, limits: dict[str, Any], channel: int, log: int) -> bool:
        """Hands it a job. False: it had already ended."""
        try:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return False
            asked = json.dumps({"cpu_s": cpu_s, "limits": limits}).encode()
            socket.send_fds(self.channel, [asked], [channel, log])
        except OSError:
            self.channel.close()
            return False
        return True


class _ForkServerLoop:
    def __init__(self, control: socket.socket, device: Device, scratch: Path, worker: Worker, trusted: bool) -> None:
        self.control = control
        self.device = device
        self.scratch = scratch
        self.worker = worker
        self.pid: int | None = None
        self.standby: _Standby | None = None
        self.taken: _Standby | None = None
        """The standby that became the current worker. Its channel stays open: unread data in it would be lost."""
        self.trusted = trusted
        # whether to load torch's compiler before forking: the reference worker compiles the baseline, and a worker that
        # is primed ahead of its job may be asked for compiled capture
        self.compiling = device is Device.CUDA
        self.why = ""
        self.limits = sandbox.LIMITS
        self.woken, self.waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def serve(self) -> None:
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        while True:
            watched: list[socket.socket | int] = [self.control, self.woken]
            ready = select.select(watched, [], [])[0]
            if self.woken in ready:
                os.read(self.woken, 4096)
            self._collect()
            if self.control in ready and not self._obey():
                return

    def _obey(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE_LIMIT, 2)
        if not data:
            return False
        request = json.loads(data)
        if "fork" in request:
            self._fork(request["fork"], *descriptors)
        elif "end" in request:
            self._end(self.why)
        elif "prime" in request:
            if self.standby is None and self.pid is None:
                self._stand_by()
        elif "quiet" in request:
            for each in (self.standby, self.taken):
                if each is not None:
                    each.wait_until_primed()
            tell(self.control, quiet=True)
        return True

    def _fork(self, asked: dict[str, Any], channel: int, log: int) -> None:
        self.limits = sandbox.Limits(**asked["limits"])
        self.why = ""
        standby, self.standby = self.standby, None
        if standby is not None and standby.take(asked["cpu_s"], asked["limits"], channel, log):
            self.pid, self.taken = standby.pid, standby
        else:
            self.compiling |= asked["compiling"]
            self.import_compiler()
            self.pid = self._forked(lambda: self._become_worker(channel, log, asked["cpu_s"]))
        os.close(channel)
        os.close(log)
        tell(self.control, started=self.pid)

    def import_compiler(self) -> None:
        """Loads torch's compiler, if any worker needs it: it takes seconds, so once for all of them."""
        if self.compiling:
            import torch._dynamo
            import torch._inductor  # noqa: F401

    def _forked(self, become: Callable[[], None]) -> int:
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            become()
        return pid

    def _stand_by(self) -> None:
        """Forks the next worker ahead. On the CPU there is nothing to prime."""
        if self.device is Device.CPU:
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

        def become() -> None:
            ours.close()
            self._become_standby(theirs)

        pid = self._forked(become)
        theirs.close()
        self.standby = _Standby(pid, ours)

    def _become_standby(self, told: socket.socket) -> None:
        """Never returns."""
        try:
            self._leave_fork_server()
            self.worker.prime(self.device, trusted=self.trusted)
            told.send(b"primed", socket.MSG_NOSIGNAL)
            data, descriptors, _, _ = socket.recv_fds(told, MESSAGE_LIMIT, 2)
            if not data:
                os._exit(0)
            asked = json.loads(data)
            self.limits = sandbox.Limits(**asked["limits"])
            told.close()
        except BaseException:  # a fork must never continue as a second fork server; take() will find it dead
            traceback.print_exc()
            os._exit(70)
        channel, log = descriptors
        self._become_worker(channel, log, asked["cpu_s"], left=True)

    def _leave_fork_server(self) -> None:
        """The first step of a new worker: it closes the fork server's channel and confines itself."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.control.close()
        os.close(self.woken)
        os.close(self.waker)
        os.setsid()
        sandbox.die_with_parent()
        sandbox.confine_this_process(self.device)

    def _become_worker(self, descriptor: int, log: int, cpu_s: float, *, left: bool = False) -> None:
        """Never returns. left: _leave_fork_server has run already."""
        status = 70
        try:
            if not left:
                self._leave_fork_server()
            nothing = os.open(os.devnull, os.O_RDONLY)
            for source, target in ((nothing, 0), (log, 1), (log, 2)):
                os.dup2(source, target)
            os.close(nothing)
            os.close(log)
            if self.device is Device.CPU:
                # whoever watches for a fork bomb must get its turn; on CUDA niceness would disturb the clocks
                os.nice(5)
            sandbox.limit_this_process(device=self.device, cpu_s=cpu_s, limits=self.limits)
            self.worker.serve(socket.socket(fileno=descriptor), self.device, self.scratch)
            status = 0
        except BaseException:  # candidate code runs below here and may raise anything
            traceback.print_exc()
        finally:
            # no exit handlers: by now they are the candidate's
            os._exit(status)

    def _collect(self) -> None:
        """Reaps a worker that has ended, kills the processes it left behind, and reports."""
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
            elif self.standby is not None and pid == self.standby.pid:
                self.standby.channel.close()
                self.standby = None
        if ended is not None:
            self._told(ended, "", killed=False)

    def _end(self, why: str) -> None:
        """Kills the worker with all that it started, and reports."""
        if self.pid is None:
            return
        os.kill(self.pid, signal.SIGKILL)
        self._told(-int(signal.SIGKILL), why, killed=True)

    def _told(self, code: int, why: str, *, killed: bool) -> None:
        # in a sandbox, ending this process is the surer way
        left = sandbox.kill_tree(os.getpid(), patience_s=1.0 if sandbox.is_private() else 10.0)
        self.pid = None
        if self.taken is not None:
            self.taken.channel.close()
            self.taken = None
        self._clear()
        tell(self.control, ended=code, why=why, killed=killed, left=left)
        if sandbox.descendants(os.getpid()):
            # in a sandbox, the end of this process ends everything in it
            time.sleep(0.1)
            os._exit(1)

    def _clear(self) -> None:
        """Empties the scratch folder for the next worker; the caches of compiled kernels stay unless they are large."""
        keep = CACHES if sandbox.folder_bytes(self.scratch) < self.limits.scratch_bytes // 2 else ()
        for entry in self.scratch.iterdir():
            if entry.name in keep:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
