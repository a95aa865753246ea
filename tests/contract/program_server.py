"""A server for programs as a process of its own, with a judge that takes a moment for every job, to be killed.

    python -m tests.contract.program_server FOLDER

It prints its address and the token of its only person."""

import contextlib
import sys
import time
from pathlib import Path

from passnet_core.errors import UnknownItem
from passnet_core.people.person import Person, PersonRole
from passnet_core.records import Job, Outcome, Verdict
from tests.contract.made import outcome
from tests.contract.made import task as three_subgraphs
from tests.contract.programs_served import Playground, playground
from tests.fake_backend import FakeBackend

JUDGING_S = 0.03


def slowly(job: Job) -> Outcome:
    time.sleep(JUDGING_S)
    return outcome(job, Verdict.VALUES_ONLY)


def member(served: Playground) -> Person:
    assert served.register is not None
    with contextlib.suppress(UnknownItem):
        return served.register.person("alice")
    return served.register.add("alice", PersonRole.MEMBER)


def main() -> None:
    folder = Path(sys.argv[1])
    with playground(folder, FakeBackend(slowly), [three_subgraphs()], many=True) as served:
        register, person = served.register, member(served)
        assert register is not None
        for each in register.tokens(person):
            register.revoke(each.id)
        print(served.url, register.issue(person, "", 1), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
