"""The programs of the judge. Backends start them, and they start each other; people do not."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from passnet_core.judge.supervisor import sandbox


def main(arguments: list[str]) -> None:
    """Run one of these programs:
    describe CHANNEL ISOLATION | referee CHANNEL ISOLATION HOME SPARES | zygote CONTROL |
    fork-server CONTROL DEVICE SCRATCH WHO |
    confined CHANNEL ISOLATION HOME DEVICE MODULE SECONDS [FOLDER ...] |
    inside CHANNEL DEVICE MODULE SECONDS [FOLDER ...].
    The first two and "confined" end when the other end of their channel is closed, whatever they do."""
    match arguments:
        case ["describe", channel, isolation]:
            sandbox.end_with(int(channel))
            from passnet_core.judge.supervisor import machine

            print(machine.description_as_json(isolation))
        case ["referee", channel, isolation, home, spares]:
            sandbox.end_with(int(channel), sandbox.own_scratch(Path(home)))
            from passnet_core.judge import referee

            referee.main(int(channel), isolation, Path(home), int(spares))
        case ["zygote", control]:
            from passnet_core.judge.supervisor import zygote_loop

            zygote_loop.main(int(control), _worker)
        case ["fork-server", control, device, scratch, who]:
            from passnet_core.judge.supervisor import forking
            from passnet_core.records import Device

            forking.main(int(control), Device(device), Path(scratch), _worker, who)
        case ["confined", channel, isolation, home, *program]:
            sandbox.end_with(int(channel), sandbox.own_scratch(Path(home)))
            from passnet_core.judge.supervisor import confined

            sys.exit(confined.main(int(channel), isolation, Path(home), program))
        case ["inside", channel, *program]:
            from passnet_core.judge.supervisor import confined

            confined.inside(int(channel), program)
        case _:
            sys.exit(f"Not a program of the judge: {arguments}. To judge a pass, use python -m passnet_core evaluate.")


def _worker() -> Any:
    """What a forked worker runs, a module that loads torch: the loaded module."""
    return import_module("passnet_core.judge.worker.server")


if __name__ == "__main__":
    main(sys.argv[1:])
