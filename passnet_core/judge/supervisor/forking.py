"""The fork server: a process with torch and triton loaded that runs no candidate code and forks a worker per job.

It serves one bundle only, because workers share its namespaces and could harm it; only a checker serves many. Requests
on its control channel: {"fork": …} with two descriptors (the worker's channel and log), {"end": true}, and
{"prime": …} with the device's lock file. Messages it sends: {"ready": true}, {"primed": true}, {"started": pid}, and
{"ended": code, "why": text, "killed": bool, "spent": bool}, where killed says that the fork server itself killed the
worker, and spent that it can serve no other.

"prime" forks the next worker ahead of time: on CUDA a context takes seconds to create and cannot be inherited. The
worker waits until nobody measures on the device."""

import fcntl
import gc
import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from passnet_core.judge.supervisor import sandbox
from passnet_core.records import Device

MESSAGE_LIMIT = 4096
PRIMING_LIMIT_S = 60
TURN_POLL_S = 0.25
"""How often a worker that waits to prime itself looks whether the measurement has ended."""

CACHES = ("triton", "inductor")
"""Folders of compiled kernels, which stay in the scratch folder from worker to worker."""


def tell(control: socket.socket, **fields: Any) -> None:
    """Sends one message, on a channel that preserves message boundaries."""
    control.send(json.dumps(fields).encode(), socket.MSG_NOSIGNAL)


class Worker(Protocol):
    """What a forked process runs: the module passnet_core.judge.worker.server."""

    def rehearse(self, device: Device, who: str) -> None: ...

    def load_compilers(self, device: Device, *, trusted: bool, capturing: bool) -> None: ...

    def prime(self, device: Device, *, trusted: bool) -> None: ...

    def serve(self, channel: socket.socket, device: Device, scratch: Path) -> None: ...


def main(descriptor: int, device: Device, scratch: Path, load_worker: Callable[[], Worker], who: str) -> None:
    """Serves until the control channel closes; the entry point of its own program.

    load_worker: loads torch and triton, once for all workers. who: whose workers it forks, those of a "candidate", a
    "witness", an "executor", a "compiler" or a "checker"."""
    sandbox.die_with_parent(lambda: sandbox.is_closed(descriptor))
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    serve(control, device, scratch, loaded(load_worker, device, [who]), who)


def loaded(load_worker: Callable[[], Worker], device: Device, roles: Sequence[str]) -> Worker:
    """Load torch and triton, and what the workers of these roles need."""
    # imported modules stay alive: collecting garbage during the imports takes a tenth of the time and finds none
    gc.disable()
    worker = load_worker()
    for who in roles:
        worker.rehearse(device, who)
    return worker


def serve(control: socket.socket, device: Device, scratch: Path, worker: Worker, who: str) -> None:
    """Be a fork server until the control channel closes."""
    sandbox.adopt_orphans()
    fork_server = _ForkServerLoop(control, device, scratch, worker, who)
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


def load_compiler() -> None:
    """Load torch's compiler, which takes seconds."""
    import torch._dynamo
    import torch._inductor  # noqa: F401


class _Standby:
    """A worker that has been forked ahead, primes itself, and waits for its job. told: it is primed, or has ended."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid = pid
        self.channel = channel
        self.told = False

    def hear(self) -> bool:
        """Reads what it has to tell. Returns whether it is primed."""
        self.told = True
        try:
            return bool(self.channel.recv(16))
        except OSError:
            return False

    def take(self, job: dict[str, Any], channel: int, log: int) -> bool:
        """Hands it a job, as the fork server was asked for it. False: it had already ended."""
        try:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return False
            socket.send_fds(self.channel, [json.dumps(job).encode()], [channel, log])
        except OSError:
            self.channel.close()
            return False
        return True


class _ForkServerLoop:
    def __init__(self, control: socket.socket, device: Device, scratch: Path, worker: Worker, who: str) -> None:
        self.control = control
        self.device = device
        self.scratch = scratch
        self.worker = worker
        self.pid: int | None = None
        self.standby: _Standby | None = None
        self.taken: _Standby | None = None
        """The standby that became the current worker. Its channel stays open: unread data in it would be lost."""
        self.trusted = who == "witness"
        self.shared = who == "checker"
        # whether to load torch's compiler before forking: the reference worker compiles the baseline; of the others,
        # those that are primed or asked for compiled capture
        self.compiling = device is Device.CUDA and self.trusted
        self.why = ""
        self.limits = sandbox.LIMITS
        self.woken, self.waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.folders = [scratch]
        if self.shared:
            # a worker of one bundle must not write into the memory that the workers of the others begin with
            sandbox.open_memory(opened=False)
            self.folders += [Path("/dev/shm")] if sandbox.is_private() else []
            self._clear()
        self.unharmed = self._condition()

    def serve(self) -> None:
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        while True:
            standby = self.standby if self.standby is not None and not self.standby.told else None
            watched: list[socket.socket | int] = [self.control, self.woken, *([standby.channel] if standby else [])]
            ready = select.select(watched, [], [])[0]
            if self.woken in ready:
                os.read(self.woken, 4096)
            if standby is not None and standby.channel in ready and standby.hear():
                tell(self.control, primed=True)
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
                self._stand_by(*descriptors, compiling=request["prime"]["compiling"])
            for each in descriptors:
                os.close(each)
        return True

    def _fork(self, asked: dict[str, Any], channel: int, log: int) -> None:
        self.limits = sandbox.Limits(**asked["limits"])
        self.why = ""
        standby, self.standby = self.standby, None
        if standby is not None and standby.take(asked, channel, log):
            self.pid, self.taken = standby.pid, standby
        else:
            self.compiling |= asked["compiling"]
            self.import_compiler()
            self.pid = self._forked(lambda: self._become_worker(channel, log, asked["cpu_s"]))
        os.close(channel)
        os.close(log)
        tell(self.control, started=self.pid)

    def import_compiler(self) -> None:
        """Loads torch's compiler, if any worker needs it, once for all of them."""
        if self.compiling:
            load_compiler()

    def _forked(self, become: Callable[[], None]) -> int:
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            sandbox.die_with_parent(lambda: os.getppid() != parent)
            become()
        return pid

    def _stand_by(self, lock: int, *, compiling: bool) -> None:
        """Forks the next worker ahead. On the CPU there is nothing to prime. lock: the device's lock file. compiling:
        it will probably need torch's compiler."""
        if self.device is Device.CPU:
            return
        self.compiling |= compiling
        self.import_compiler()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

        def become() -> None:
            ours.close()
            self._become_standby(theirs, lock)

        pid = self._forked(become)
        theirs.close()
        self.standby = _Standby(pid, ours)

    def _become_standby(self, told: socket.socket, lock: int) -> None:
        """Never returns."""
        try:
            self._leave_fork_server()
            self.worker.load_compilers(self.device, trusted=self.trusted, capturing=self.compiling)
            if _shared_before(lock, told):
                # whoever holds the lock must not hang
                signal.alarm(PRIMING_LIMIT_S)
                self.worker.prime(self.device, trusted=self.trusted)
                signal.alarm(0)
            os.close(lock)
            told.send(b"primed", socket.MSG_NOSIGNAL)
            data, descriptors, _, _ = socket.recv_fds(told, MESSAGE_LIMIT, 2)
            if not data:
                os._exit(0)
            asked = json.loads(data)
            self.limits = sandbox.Limits(**asked["limits"])
            self.compiling |= asked["compiling"]
            self.import_compiler()
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
        os.setpgid(0, 0)
        sandbox.open_memory(opened=True)
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
        left = {*sandbox.descendants(os.getpid())} - {self.pid}
        # in a sandbox, ending this process is the surer way
        sandbox.kill_tree(os.getpid(), patience_s=1.0 if sandbox.is_private() else 10.0)
        self.pid = None
        if self.taken is not None:
            self.taken.channel.close()
            self.taken = None
        self._clear()
        harmed = self.shared and (left or self._condition() != self.unharmed)
        spent = bool(harmed or sandbox.descendants(os.getpid()))
        tell(self.control, ended=code, why=why, killed=killed, spent=spent)
        if spent:
            # in a sandbox, the end of this process ends everything in it
            time.sleep(0.1)
            os._exit(1)

    def _clear(self) -> None:
        """Empties the folders for the next worker. The caches of compiled kernels stay, unless they are large or the
        next bundle may be another."""
        small = not self.shared and sandbox.folder_bytes(self.scratch) < self.limits.scratch_bytes // 2
        for entry in (entry for folder in self.folders for entry in folder.iterdir()):
            if small and entry.name in CACHES:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)

    def _condition(self) -> list[object]:
        """What a worker can change for the workers after it: the limits and the scheduling of this process, which they
        inherit, and the folders."""
        limits = [resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")]
        turns = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getaffinity(0)
        folders = [(os.stat(each).st_mode, sorted(os.listdir(each)), _attributes(each)) for each in self.folders]
        return [limits, turns, folders]


def _attributes(folder: Path) -> list[str]:
    """The names of a folder's extended attributes, such as the access rights that new files in it get."""
    try:
        return os.listxattr(folder)
    except OSError:
        return []


def _shared_before(lock: int, job: socket.socket) -> bool:
    """Waits until nobody measures on the device, and takes a share of its lock. False: the job has come first."""
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if select.select([job], [], [], TURN_POLL_S)[0]:
                return False
