"""A server for programs as a process of its own, with the real judge, to be killed with all that it has started.

    python -m tests.contract.judging_server FOLDER

It prints its address and the token of its only person."""

import sys
from dataclasses import replace
from pathlib import Path

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.people.person import PersonRole
from passnet_core.records import Family, Task
from tests.contract.judging import subgraph
from tests.contract.programs_served import playground

SUBGRAPHS = ("float32/0", "float32/1")


def main() -> None:
    folder = Path(sys.argv[1])
    shapes = ((4, 33), (2, 50))
    given = (replace(subgraph(shape), id=name) for name, shape in zip(SUBGRAPHS, shapes, strict=True))
    task = Task("add-relu", Family.FUSIBLE, "develop", tuple(given))
    backend = LocalBackend(sys.executable, "auto", folder / "home", keep_warm=True)
    backend.prepare()
    with playground(folder, backend, [task], many=True) as served:
        assert served.register is not None
        people = served.register.people()
        person = people[0] if people else served.register.add("alice", PersonRole.OPERATOR)
        for each in served.register.tokens(person):
            served.register.revoke(each.id)
        print(served.url, served.register.issue(person, "", 1), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
