"""The commands app, which serves the pages, and prepare, which an installation runs before it. Streamlit runs as a
program and is never imported."""

import argparse
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from passnet_core import service
from passnet_core.access.hosting import require_sandbox
from passnet_core.cli.console import Console
from passnet_core.cli.extras import require
from passnet_core.cli.listening import ANY, LOCAL, add_listening_flags, hosts, listens_everywhere, require_listening
from passnet_core.cli.logs import clean_logs
from passnet_core.cli.parser import command
from passnet_core.errors import BadInput
from passnet_core.settings import ROOT

PORT = 8501
NEEDED_TO_SERVE = ("fastapi", "mcp", "authlib")
LARGEST_UPLOAD_MB = 8


def serve(address: str = LOCAL, port: int = PORT, *options: str) -> int:
    """Serve the app until it is stopped, and return Streamlit's exit code. Raises ModuleNotFoundError without it.

    options: of Streamlit's configuration. Streamlit runs in this process, as under `python -m streamlit`, so that
    signals reach it."""
    require("streamlit")
    script = str(ROOT / "app.py")
    sys.argv = ["streamlit", "run", script, f"--server.address={address}", f"--server.port={port}", *options]
    try:
        runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def ensure_home(folder: Path) -> None:
    """Give the process a home folder if it has none, as an account has none that the system does not know: Streamlit
    does not start without one."""
    if not Path(os.path.expanduser("~")).is_absolute():
        os.environ["HOME"] = str(folder)


def add_commands(commands: Any) -> None:
    """Declare the commands app and prepare."""
    serving = command(commands, "app", app, "serve the app in the browser until it is stopped", as_json=False)
    add_listening_flags(
        serving, PORT, "address to listen on; 0.0.0.0 lets other machines in (default: %(default)s, this machine only)"
    )
    serving.add_argument(
        "--serve", action="store_true",
        help="serve strangers: they visit or sign in, have quotas, and see only what is theirs; programs and agents"
        " come to /api and /mcp",
    )  # fmt: skip

    command(
        commands, "prepare", prepare, "make the store that a first start opens; without it, results come seconds later",
        as_json=False,
    )  # fmt: skip


def prepare(args: argparse.Namespace, console: Console) -> int:
    made = service.prepare(console.settings)
    console.say(f"Prepared {made}.")
    return 0


def app(args: argparse.Namespace, console: Console) -> int:
    require_listening(args)
    ensure_home(console.settings.home)
    if not args.serve:
        clean_logs(console.settings)
        return serve(args.address, args.port, *_allowed(hosts(args)))
    require(*NEEDED_TO_SERVE)
    if listens_everywhere(args.address) and not args.host:
        raise BadInput(
            f"On {args.address}, say by which names people call this server: --host passnet.example.org, once for each"
            " name. Other names are not answered, as they may be those of a page that means harm."
        )
    with console.scheduler(1) as scheduler:
        # before Streamlit starts, which would tell of it in the browser only
        require_sandbox(scheduler.here)
    from passnet_core.server.connections import limit_all_servers  # only who serves strangers needs uvicorn here

    limit_all_servers()
    os.environ["PASSNET_SERVE"] = "yes"
    secrets = console.settings.home / "secrets.toml"
    options = [f"--secrets.files={secrets}"] if secrets.exists() else []
    console.tell(_sign_in_words(secrets))
    clean_logs(console.settings)
    allowed = _allowed(hosts(args, strangers=True))
    return serve(args.address, args.port, f"--server.maxUploadSize={LARGEST_UPLOAD_MB}", *allowed, *options)


def _allowed(names: Sequence[str]) -> list[str]:
    """Streamlit's options that name the hosts it answers; app.py reads them for everything besides WebSockets."""
    if ANY in names:
        return []
    # Streamlit compares without brackets, Starlette with them
    return [f"--server.allowedHosts={name}" for name in dict.fromkeys((*names, *(name.strip("[]") for name in names)))]


def _sign_in_words(secrets: Path) -> str:
    if secrets.exists():
        return f"People sign in by {secrets}. Make the first operator once they have: passnet people role ID operator"
    return f"Nobody can sign in, as there is no {secrets}: all are visitors. docs/serving.md says what it holds."
