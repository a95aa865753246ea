"""Messages between the referee and a worker: a JSON header, then the tensors' raw bytes. Nothing is ever unpickled."""

import ctypes
import json
import math
import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.uint16, torch.uint32, torch.uint64,
        torch.float16, torch.bfloat16, torch.float32, torch.float64,
        torch.complex32, torch.complex64, torch.complex128,
        torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu,
    )
}  # fmt: skip
"""The dtypes that a message may carry, by name without "torch."."""

HEADER_LIMIT = 64 << 20
PAYLOAD_LIMIT = 8 << 30
"""Most bytes of a message's header, and of its tensors."""
ALIGNMENT = 64
"""The bytes of each tensor start at a multiple of this many bytes in the payload."""

_LENGTHS = struct.Struct("!IQ")
_PIECE = 1 << 20
_GROWTH = 512 << 20


class WireError(Exception):
    """The other process sent something that is not a message, or a message that is too large."""


class WireClosed(WireError):
    """The other process closed the channel or ended."""


class WireTimeout(WireError):
    """The deadline passed before a message was complete."""


@dataclass(frozen=True)
class WireMessage:
    """Plain JSON data, and tensors in a fixed order. Received tensors are contiguous and on the CPU."""

    fields: dict[str, Any]
    tensors: tuple[torch.Tensor, ...] = field(default=())


Pause = Callable[[socket.socket, bool], None]
"""A function (socket, to_write) that waits until the socket can be read or written. It may raise to give up."""


def wait_until(deadline: float | None) -> Pause:
    """Make a pause that raises WireTimeout once time.monotonic() reaches the deadline."""

    def pause(channel: socket.socket, to_write: bool) -> None:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready = select.select([] if to_write else [channel], [channel] if to_write else [], [], left)
        if not (ready[0] or ready[1]):
            raise WireTimeout("no answer in time")

    return pause


def send(channel: socket.socket, message: WireMessage, pause: Pause | None = None) -> None:
    """Send one message. Raises WireClosed, or whatever the pause raises."""
    pause = pause or wait_until(None)
    pieces: list[Any] = []
    described: list[dict[str, Any]] = []
    payload_size = 0
    for tensor in message.tensors:
        plain = tensor.detach().cpu().resolve_conj().resolve_neg()
        described.append({"dtype": str(plain.dtype).removeprefix("torch."), "shape": list(plain.shape)})
        # copying a bool would normalise it
        plain = (plain.view(torch.uint8) if plain.dtype is torch.bool else plain).contiguous()
        length = plain.numel() * plain.element_size()
        if length:
            # a view of the tensor's memory, made without numpy; the tensor beside it keeps that memory alive
            pieces.append((memoryview((ctypes.c_char * length).from_address(plain.data_ptr())).cast("B"), plain))
            padding = -length % ALIGNMENT
            pieces.append((memoryview(bytes(padding)), None))
            payload_size += length + padding
    header = json.dumps({"fields": message.fields, "tensors": described}).encode()
    pieces.insert(0, (memoryview(_LENGTHS.pack(len(header), payload_size) + header), None))
    for piece, _ in pieces:
        _send_all(channel, piece, pause)


def receive(
    channel: socket.socket,
    pause: Pause | None = None,
    *,
    header_limit: int = HEADER_LIMIT,
    payload_limit: int = PAYLOAD_LIMIT,
) -> WireMessage:
    """Receive one message. Raises WireClosed at the end, WireError for malformed data, or whatever the pause raises."""
    pause = pause or wait_until(None)
    header_length, size = _LENGTHS.unpack(_receive_all(channel, _LENGTHS.size, pause))
    if header_length > header_limit or size > payload_limit:
        raise WireError(f"a message with {header_length} bytes of header and {size} bytes of tensors is too large")
    try:
        text = bytes(_receive_all(channel, header_length, pause))
        header = json.loads(text)
        if b"\\u" in text:
            # raises on an unpaired surrogate, which could not be stored as UTF-8 later
            json.dumps(header, ensure_ascii=False).encode()
        fields, described = header["fields"], header["tensors"]
        layout = [_layout(each) for each in described]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise WireError(f"not a message: {type(error).__name__}: {str(error)[:200]}") from error
    if not isinstance(fields, dict) or sum(length + -length % ALIGNMENT for _, _, length in layout) != size:
        raise WireError("not a message: its sizes contradict each other")
    payload = _receive_all(channel, size, pause)
    tensors: list[torch.Tensor] = []
    offset = 0
    for dtype, shape, length in layout:
        if length:
            count = math.prod(shape)
            tensors.append(torch.frombuffer(payload, dtype=dtype, count=count, offset=offset).reshape(shape))
            offset += length + -length % ALIGNMENT
        else:
            tensors.append(torch.empty(shape, dtype=dtype))
    return WireMessage(fields, tuple(tensors))


def _layout(described: Any) -> tuple[torch.dtype, tuple[int, ...], int]:
    dtype = DTYPES[described["dtype"]]
    shape = tuple(described["shape"])
    if not all(type(size) is int and 0 <= size <= PAYLOAD_LIMIT for size in shape) or len(shape) > 64:
        raise ValueError(f"not a shape: {str(shape)[:80]}")
    return dtype, shape, math.prod(shape) * dtype.itemsize


def _send_all(channel: socket.socket, data: memoryview, pause: Pause) -> None:
    sent = 0
    while sent < len(data):
        pause(channel, True)
        try:
            sent += channel.send(data[sent : sent + _PIECE], socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except BlockingIOError:
            continue
        except OSError as error:
            raise WireClosed(f"the channel is closed: {error}") from error


def _receive_all(channel: socket.socket, length: int, pause: Pause) -> bytearray:
    data = bytearray(min(length, _PIECE))
    got = 0
    while got < length:
        pause(channel, False)
        if got == len(data):
            # grow only as data arrives, so that a false length cannot make us allocate
            data.extend(bytes(min(length - got, got, _GROWTH)))
        try:
            with memoryview(data) as view, view[got : got + _PIECE] as piece:
                count = channel.recv_into(piece, 0, socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
        except OSError as error:
            raise WireClosed(f"the channel is closed: {error}") from error
        if not count:
            raise WireClosed("the channel was closed")
        got += count
    return data


def plain_number(value: Any) -> bool:
    """Whether this is a bool, a 64-bit int or a float: the numbers that a message may carry."""
    return type(value) in (bool, float) or (type(value) is int and abs(value) < 1 << 63)


def number_to_json(value: int | float | bool) -> Any:
    """The number as JSON; NaN and infinities, which JSON lacks, as strings."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def number_from_json(value: Any) -> int | float | bool | None:
    """The inverse of number_to_json; None for anything else."""
    if isinstance(value, str):
        return float(value) if value in ("nan", "inf", "-inf") else None
    return value if plain_number(value) else None


def pack_inputs(inputs: Sequence["torch.Tensor | int | float | bool"]) -> tuple[list[Any], list[torch.Tensor]]:
    """The inputs as a JSON list that refers to tensors by index, and those tensors."""
    entries: list[Any] = []
    tensors: list[torch.Tensor] = []
    for value in inputs:
        if isinstance(value, torch.Tensor):
            entries.append({"tensor": len(tensors), "strides": list(value.stride())})
            tensors.append(value)
        else:
            entries.append({"number": number_to_json(value)})
    return entries, tensors


def unpack_inputs(entries: Sequence[Any], tensors: Sequence[torch.Tensor]) -> list[Any]:
    """The inverse of pack_inputs. It restores the strides, too."""
    inputs: list[Any] = []
    for entry in entries:
        if "number" in entry:
            inputs.append(number_from_json(entry["number"]))
            continue
        tensor = tensors[entry["tensor"]]
        strides = tuple(entry["strides"])
        if strides != tensor.stride() and tensor.numel():
            strided = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype)
            tensor = strided.copy_(tensor)
        inputs.append(tensor)
    return inputs
