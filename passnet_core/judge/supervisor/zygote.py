"""A zygote, seen from the referee: a process that has loaded torch once, for all fork servers on a CPU. Loads no torch.

Each fork server is a fork of the zygote that has entered a sandbox of its own, so that it takes some milliseconds to
start, where loading torch takes seconds. The zygote runs no candidate code, and no candidate sees it."""

import contextlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor import sandbox
from passnet_core.judge.supervisor.log_tail import LogTail
from passnet_core.records import Device, Isolation

MESSAGE_LIMIT = 1 << 16
TRIAL_LIMIT_S = 30.0
"""How long a zygote may take to try whether sandboxes can be entered here, which it does before it loads torch."""


class Zygote:
    """A running zygote. It dies with the thread that created it, and its fork servers die with it."""

    def __init__(self) -> None:
        self.control, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.log = LogTail()
        argv = [sys.executable, "-m", "passnet_core.judge", "zygote", str(remote.fileno())]
        try:
            self.process = sandbox.started(
                argv,
                isolation=Isolation.SANDBOXED,
                device=Device.CPU,
                scratch=sandbox.private_temp(),
                channel=remote,
                log=self.log.writer,
                around=True,
            )
        finally:
            remote.close()
            self.log.close_writer()
        room = sandbox.command([sandbox.HOLDER], isolation=Isolation.SANDBOXED, device=Device.CPU)
        self._say({"room": room})

    def is_able(self) -> bool:
        """Whether processes can enter sandboxes on this machine. Waits for the trial, a fifth of a second."""
        self.control.settimeout(TRIAL_LIMIT_S)
        try:
            heard = self.control.recv(MESSAGE_LIMIT)
        except OSError:
            return False
        finally:
            self.control.settimeout(None)
        return bool(heard) and bool(json.loads(heard)["able"])

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def ask(self, who: str, control: socket.socket, log: int, *, compiling: bool) -> None:
        """Ask for a fork server, which will speak on this end of its control channel. Does not wait: the zygote may
        still load torch. log: takes what it prints. compiling: load torch's compiler first. Raises
        InfrastructureError."""
        self._say({"who": who, "compiling": compiling}, control.fileno(), log)

    def _say(self, message: dict[str, Any], *descriptors: int) -> None:
        try:
            socket.send_fds(self.control, [json.dumps(message).encode()], descriptors, socket.MSG_NOSIGNAL)
        except OSError as error:
            raise InfrastructureError(f"The judge's process has ended: {error}") from error

    def rest(self) -> None:
        """Stop it with all its fork servers until wake(). Only while none of them has a job."""
        sandbox.rest(self.process.pid)

    def wake(self) -> None:
        """Go on after rest()."""
        sandbox.wake(self.process.pid)

    def stop(self) -> None:
        """Kill it, and with it every fork server that it has made."""
        self.control.close()
        self.process.kill()
        self.process.wait()


class ZygoteChild:
    """The process of a fork server that a zygote has made, held like one that was started by a command.

    pid: its number, as processes outside see it. ended, room: pidfds of it, and of the first process of its sandbox,
    which takes all others with it."""

    def __init__(self, pid: int, descriptors: Sequence[int]) -> None:
        self.pid = pid
        self._ended, self._room = descriptors

    def poll(self) -> int | None:
        """None while it runs; its status is not known afterwards."""
        if self._ended >= 0 and not select.select([self._ended], [], [], 0.0)[0]:
            return None
        return -1

    def kill(self) -> None:
        """Kill everything in its sandbox."""
        if self._room >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._room, signal.SIGKILL)

    def wait(self) -> int:
        """Wait until it has ended, and let go of it."""
        if self._ended >= 0:
            select.select([self._ended], [], [])
            os.close(self._ended)
            os.close(self._room)
            self._ended = self._room = -1
        return -1
