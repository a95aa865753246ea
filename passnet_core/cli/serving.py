"""The command serve-judge, which serves the judge over HTTP until it is stopped."""

import argparse
import ipaddress
from typing import Any

from passnet_core.cli.console import INFRASTRUCTURE, Console
from passnet_core.cli.parser import command
from passnet_core.errors import BadInput
from passnet_core.service import corpus_of
from passnet_core.settings import SHORTEST_TOKEN

LOCAL = "127.0.0.1"
PORT = 8600
MOST = 256


def serve_judge(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.server.judge_service import ServiceLimits, judge_service
    from passnet_core.server.ledger import Ledger
    from passnet_core.server.running import serve

    for name in ("judges", "waiting"):
        if getattr(args, name) < 1:
            raise BadInput(f"--{name} must be at least 1, not {getattr(args, name)}.")
    tokens = console.settings.judge_tokens
    if not _is_local(args.address) and not tokens:
        raise BadInput(
            f"On {args.address}, other machines can have code judged here. Set PASSNET_JUDGE_TOKENS to NAME=TOKEN"
            f" entries with tokens of at least {SHORTEST_TOKEN} characters first, or leave out --address."
        )
    hosts = (*ServiceLimits.hosts, args.address, *args.host) if _is_local(args.address) or args.host else ("*",)
    with console.scheduler(args.judges) as scheduler:
        ledger = Ledger(console.settings.home)
        try:
            here = scheduler.here
            if here.problem:
                console.tell(f"Nothing can be judged here yet: {here.problem}")
            service = judge_service(
                corpus_of(console.settings), scheduler, ledger, tokens=tokens, limits=ServiceLimits(args.waiting, hosts)
            )

            def started(port: int) -> None:
                place = f"http://{args.address}:{port}"
                console.say(f"Judging on {here.label} at {place}, {args.judges} at once. Stop with Ctrl-C.")

            return 0 if serve(service, args.address, args.port, started) else INFRASTRUCTURE
        finally:
            ledger.close()


def _is_local(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def add_commands(commands: Any) -> None:
    """Declare serve-judge."""
    serving = command(
        commands, "serve-judge", serve_judge, "serve the judge over HTTP, for programs that train models", as_json=False
    )
    serving.add_argument(
        "--judges", type=int, default=1, metavar="N", help="jobs to judge at once (default: %(default)s)"
    )
    serving.add_argument("--port", type=int, default=PORT, metavar="N", help="port to listen on (default: %(default)s)")
    serving.add_argument(
        "--address", default=LOCAL, metavar="A",
        help="address to listen on; any but this machine's own needs PASSNET_JUDGE_TOKENS (default: %(default)s)",
    )  # fmt: skip
    serving.add_argument(
        "--host", action="append", default=[], metavar="NAME",
        help="another name by which the service is called, such as judge.example.org; may be repeated",
    )  # fmt: skip
    serving.add_argument(
        "--waiting", type=int, default=MOST, metavar="N",
        help="evaluations that may be in progress; more are refused with status 429 (default: %(default)s)",
    )  # fmt: skip
