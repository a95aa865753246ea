"""Where commands that serve listen, and by which names they are called."""

import argparse
import ipaddress
import socket

from passnet_core.errors import BadInput
from passnet_core.outside import quoted
from passnet_core.settings import LOCAL_HOSTS

LOCAL = "127.0.0.1"
ANY = "*"


def add_listening_flags(serving: argparse.ArgumentParser, port: int, address: str) -> None:
    """Declare --port, --address and --host. port: the usual one. address: what the help says of --address."""
    serving.add_argument(
        "--port", type=_port, default=port, metavar="N", help="port to listen on (default: %(default)s)"
    )
    serving.add_argument("--address", default=LOCAL, metavar="A", help=address)
    serving.add_argument(
        "--host", action="append", default=[], metavar="NAME",
        help="another name by which the service is called, such as judge.example.org; may be repeated",
    )  # fmt: skip


def require_listening(args: argparse.Namespace) -> None:
    """Raises BadInput if nothing can listen on the address and the port."""
    try:
        if not args.address:
            raise OSError(0, "It is no address")
        family, kind, protocol, _, place = socket.getaddrinfo(args.address, args.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            # as servers do: a connection that has just ended does not keep the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
            probe.listen(1)
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "It is no name"
        raise BadInput(
            f"Nothing can listen on {quoted(args.address)}, port {args.port}: {why}. Choose another."
        ) from None


def hosts(args: argparse.Namespace, *, strangers: bool = False) -> tuple[str, ...]:
    """The names by which a service may be called; ANY on an address that others know by names of their own, unless
    strangers come."""
    if not (strangers or is_local(args.address) or args.host):
        return (ANY,)
    address = f"[{args.address}]" if ":" in args.address else args.address
    return (*LOCAL_HOSTS, address, *args.host)


def is_local(address: str) -> bool:
    """Whether only this machine reaches the address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def listens_everywhere(address: str) -> bool:
    """Whether the address stands for all of this machine's."""
    try:
        return ipaddress.ip_address(address).is_unspecified
    except ValueError:
        return False


def _port(text: str) -> int:
    """A port of a flag. 0: any that is free."""
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) < 1 << 16):
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a port: name a number from 0 to 65535")
    return int(text)
