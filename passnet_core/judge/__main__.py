"""The programs of the judge. Backends start them, and they start each other; people do not."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> None:
    """Run one of these programs:
    describe ISOLATION | referee CHANNEL ISOLATION HOME SPARES | zygote CONTROL |
    fork-server CONTROL DEVICE SCRATCH WHO |
    confined ISOLATION HOME DEVICE MODULE SECONDS [FOLDER ...] | inside DEVICE MODULE SECONDS [FOLDER ...]."""
    match arguments:
        case ["describe", isolation]:
            from passnet_core.judge.supervisor import machine

            print(machine.description_as_json(isolation))
        case ["referee", channel, isolation, home, spares]:
            from passnet_core.judge import referee

            referee.main(int(channel), isolation, Path(home), int(spares))
        case ["zygote", control]:
            from passnet_core.judge.supervisor import zygote_loop

            zygote_loop.main(int(control), _worker)
        case ["fork-server", control, device, scratch, who]:
            from passnet_core.judge.supervisor import forking
            from passnet_core.records import Device

            forking.main(int(control), Device(device), Path(scratch), _worker, who)
        case ["confined", isolation, home, *program]:
            from passnet_core.judge.supervisor import confined

            sys.exit(confined.main(isolation, Path(home), program))
        case ["inside", *program]:
            from passnet_core.judge.supervisor import confined

            confined.inside(program)
        case _:
            sys.exit(f"Not a program of the judge: {arguments}. To judge a pass, use python -m passnet_core evaluate.")


def _worker() -> Any:
    """What a forked worker runs, a module that loads torch: the loaded module."""
    return import_module("passnet_core.judge.worker.server")


if __name__ == "__main__":
    main(sys.argv[1:])
