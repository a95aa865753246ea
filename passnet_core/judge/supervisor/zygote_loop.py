"""The zygote: a process with torch and triton loaded that forks fork servers, each into a sandbox of its own.

It runs no candidate code. Its own sandbox hides files as any other does, and is there for one reason: the program that
its forks run, and the libraries that they have mapped, lie in folders that are read-only for them too.

On its control channel it hears {"room": the command line of a sandbox} and says {"able": whether processes can enter
such a one here} before it loads torch. A request is {"who": whose workers, "compiling": bool}, with two descriptors:
the new fork server's control channel and its log. The first message on that channel is {"born": pid}, with pidfds of
the fork server and of the first process of its sandbox; if the channel closes instead, nothing was started."""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from passnet_core.judge.supervisor import confinement, forking, sandbox
from passnet_core.judge.supervisor.zygote import MESSAGE_LIMIT
from passnet_core.records import Device

ROLES = ("candidate", "witness", "executor", "compiler", "checker")


def main(descriptor: int, load_worker: Callable[[], forking.Worker]) -> None:
    """Serve until the control channel closes; the entry point of its own program. load_worker: loads torch and triton,
    once for all fork servers."""
    sandbox.die_with_parent(lambda: sandbox.is_closed(descriptor))
    # fork servers leave a parent behind outside of their sandbox
    sandbox.adopt_orphans()
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    zygote = _ZygoteLoop(control, json.loads(control.recv(MESSAGE_LIMIT))["room"])
    able = zygote.can_enter()
    forking.tell(control, able=able)
    if able:
        worker = forking.loaded(load_worker, Device.CPU, ROLES)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            zygote.serve(worker)


class _Room:
    """A sandbox without a task of its own: a program in it that waits, and keeps it until it is killed."""

    def __init__(self, line: list[str]) -> None:
        """Start it. Raises OSError, ValueError."""
        told, telling = os.pipe()
        program, *rest = line
        with open(told, encoding="utf-8") as facts:
            try:
                self.process = subprocess.Popen(
                    [program, "--info-fd", str(telling), *rest],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    pass_fds=(telling,),
                )
            finally:
                os.close(telling)
            self.first = os.pidfd_open(json.load(facts)["child-pid"])
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        # whoever answers runs where all has been mounted
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        if not self.process.stdout.readline():
            raise OSError("The sandbox has ended.")

    def close(self) -> None:
        """Kill everything in it. The first process of a sandbox is left to the zygote, which adopts and reaps it."""
        os.close(self.first)
        self.process.kill()
        self.process.communicate()


class _ZygoteLoop:
    def __init__(self, control: socket.socket, room: list[str]) -> None:
        self.control, self.room = control, room
        self.rooms: dict[int, _Room] = {}
        """By the fork server in them."""
        self.woken, self.waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def can_enter(self) -> bool:
        """Whether a fork can enter a sandbox on this machine, found by trying."""
        try:
            room = _Room(self.room)
            try:
                pid, started = _entered(room, lambda: None)
                started.close()
                os.waitpid(pid, 0)
            finally:
                room.close()
        except (OSError, ValueError) as error:
            print(f"No process can enter a sandbox: {error}", file=sys.stderr)
            return False
        return True

    def serve(self, worker: forking.Worker) -> None:
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        while True:
            watched: list[socket.socket | int] = [self.control, self.woken]
            ready = select.select(watched, [], [])[0]
            if self.woken in ready:
                os.read(self.woken, 4096)
                self._reap()
            if self.control in ready:
                data, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE_LIMIT, 2)
                if not data:
                    return
                try:
                    self._bear(json.loads(data), worker, *descriptors)
                except (OSError, ValueError):
                    traceback.print_exc()
                finally:
                    for each in descriptors:
                        os.close(each)

    def _bear(self, asked: dict[str, Any], worker: forking.Worker, control: int, log: int) -> None:
        """Fork a fork server into a new sandbox. Raises OSError, ValueError."""
        if asked["compiling"]:
            forking.load_compiler()

        def become() -> None:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            nothing = os.open(os.devnull, os.O_RDONLY)
            for source, target in ((nothing, 0), (log, 1), (log, 2), (control, 3)):
                os.dup2(source, target)
            os.closerange(4, os.sysconf("SC_OPEN_MAX"))
            own = socket.socket(fileno=3)
            forking.serve(own, Device.CPU, Path(os.environ["TMPDIR"]), worker, asked["who"])

        room = _Room(self.room)
        try:
            pid, started = _entered(room, become)
        except OSError:
            room.close()
            raise
        self.rooms[pid] = room
        ended = os.pidfd_open(pid)
        try:
            with socket.socket(fileno=os.dup(control)) as theirs:
                socket.send_fds(theirs, [json.dumps({"born": pid}).encode()], [ended, room.first])
        finally:
            os.close(ended)
            started.close()

    def _reap(self) -> None:
        """Reap every child that has ended, also what was adopted, and close the sandboxes of ended fork servers."""
        with contextlib.suppress(ChildProcessError):
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                if pid in self.rooms:
                    self.rooms.pop(pid).close()


def _entered(room: _Room, become: Callable[[], None]) -> tuple[int, socket.socket]:
    """Fork a process that enters a sandbox and becomes something there, once the returned socket is closed. Returns its
    number too. Raises OSError."""
    ours, theirs = socket.socketpair()
    sys.stdout.flush()
    sys.stderr.flush()
    between = os.fork()
    if between == 0:
        status = 70
        try:
            ours.close()
            sandbox.enter(room.first)
            # who has entered a process namespace is in it only from its first fork on
            inside = os.fork()
            if inside:
                theirs.sendall(str(inside).encode())
                os._exit(0)
            confinement.drop_capabilities()
            os.setpgid(0, 0)
            os.chdir(os.environ["TMPDIR"])
            theirs.recv(1)
            gc.freeze()
            become()
            status = 0
        except BaseException:  # a fork must never continue as a second zygote
            traceback.print_exc()
        finally:
            os._exit(status)
    theirs.close()
    os.waitpid(between, 0)
    told = ours.recv(32)
    if not told:
        ours.close()
        raise OSError("A process could not enter its sandbox.")
    return int(told), ours
