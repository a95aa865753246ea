"""Convert records to JSON and back, and compute digests of their content."""

import dataclasses
import hashlib
import json
import math
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

from passnet_core.errors import BadInput
from passnet_core.records.text import valid

T = TypeVar("T")


PLAIN = frozenset({str, int, bool, type(None)})
"""Types whose values need no conversion. Most values of a record have one of them."""
KINDS = {int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}
"""What the parts of JSON are called."""


def to_json(value: Any) -> Any:
    """Return data that json.dumps accepts: dataclasses become objects, enums their values, tuples lists.
    NaN and the infinities become the strings "nan", "inf" and "-inf", which from_json reads."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is float:
        return value if math.isfinite(value) else repr(value)
    names = _names(typing.cast(Any, kind))
    if names is not None:
        return {name: each if type(each := getattr(value, name)) in PLAIN else to_json(each) for name in names}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        # a shortcut for raw samples, which make up most of an outcome
        if {*map(type, value)} == {float} and all(map(math.isfinite, value)):
            return list(value)
        return [to_json(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): to_json(each) for key, each in value.items()}
    return value


def from_json(kind: type[T], data: Any) -> T:
    """Return the record of this type, whose texts are valid Unicode. Raises BadInput naming a field that is unknown,
    missing or of another type."""
    try:
        return typing.cast(T, _reader(typing.cast(Any, kind))(data))
    except _Unfit as unfit:
        raise BadInput(f"{kind.__name__}{unfit.place} {unfit}") from None
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise BadInput(f"The data is not a valid {kind.__name__}: {error}") from error


Reader = Callable[[Any], Any]


class _Unfit(Exception):
    """The data does not fit the type. place: the path to the bad field, such as ".shape[1]", built up from inside."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.place = ""


@cache
def _reader(kind: Any) -> Reader:
    """Return the function that converts JSON data to a value of this type, or raises _Unfit.
    Each reader is built once: conversion takes most of the time of loading thousands of recorded outcomes."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        options = typing.get_args(kind)
        read = _reader(next(option for option in options if option is not type(None)))
        return (lambda data: None if data is None else read(data)) if type(None) in options else read
    if origin is tuple:
        items = typing.get_args(kind)
        return _list_reader(items[0]) if items[-1] is Ellipsis else _tuple_reader(items)
    if dataclasses.is_dataclass(kind):
        return _record_reader(kind)
    if kind is Any:
        return lambda data: data
    if kind is float:
        return _read_number
    if kind is str:
        return _read_text
    return _enum_reader(kind) if issubclass(kind, StrEnum) else _plain_reader(kind)


def _record_reader(kind: Any) -> Reader:
    readers = {name: _reader(of) for name, (of, _) in _fields(kind).items()}
    needed = [name for name, (_, must) in _fields(kind).items() if must]

    def read(data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise _Unfit(f"must be an object, not {_in_words(data)}.")
        if not data.keys() <= readers.keys():
            raise _Unfit(f"has an unknown field {min(set(data) - set(readers))!r}.")
        for name in needed:
            if name not in data:
                raise _Unfit(f"lacks the field {name!r}.")
        given = {}
        try:
            for name, each in data.items():
                given[name] = readers[name](each)
        except _Unfit as unfit:
            unfit.place = f".{name}{unfit.place}"
            raise
        return kind(**given)

    return read


def _list_reader(kind: Any) -> Reader:
    read_item = _reader(kind)
    # a shortcut for raw samples, which make up most of an outcome
    as_they_are = {kind} if kind in (float, int) else set()

    def read(data: Any) -> Any:
        if not isinstance(data, list):
            raise _Unfit(f"must be a list, not {_in_words(data)}.")
        return tuple(data) if {*map(type, data)} <= as_they_are else _items((read_item,) * len(data), data)

    return read


def _tuple_reader(kinds: Sequence[Any]) -> Reader:
    readers = [_reader(kind) for kind in kinds]

    def read(data: Any) -> Any:
        if not isinstance(data, list):
            raise _Unfit(f"must be a list, not {_in_words(data)}.")
        if len(readers) != len(data):
            raise _Unfit(f"must have {len(readers)} items, not {len(data)}.")
        return _items(readers, data)

    return read


def _items(readers: Sequence[Reader], data: Sequence[Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    try:
        for read, each in zip(readers, data):
            found.append(read(each))
    except _Unfit as unfit:
        unfit.place = f"[{len(found)}]{unfit.place}"
        raise
    return tuple(found)


def _enum_reader(kind: type[StrEnum]) -> Reader:
    def read(data: Any) -> StrEnum:
        try:
            return kind(data)
        except ValueError:
            raise _Unfit(f"is {data!r}, not one of {', '.join(each.value for each in kind)}.") from None

    return read


def _read_number(data: Any) -> float:
    if type(data) is float:
        return data
    if isinstance(data, bool) or not isinstance(data, int | float | str):
        raise _Unfit(f"must be a number, not {_in_words(data)}.")
    if isinstance(data, str) and data not in ("nan", "inf", "-inf"):
        raise _Unfit(f"must be a number, not {_in_words(data)}.")
    return float(data)


def _read_text(data: Any) -> str:
    if not isinstance(data, str):
        raise _Unfit(f"must be text, not {_in_words(data)}.")
    return valid(data)


def _plain_reader(kind: type) -> Reader:
    def read(data: Any) -> Any:
        if type(data) is kind or (isinstance(data, kind) and not (kind is int and isinstance(data, bool))):
            return data
        raise _Unfit(f"must be {KINDS[kind]}, not {_in_words(data)}.")

    return read


def _in_words(data: Any) -> str:
    """What JSON data is, as whoever wrote it would say: what has parts by its kind, all else as it is there."""
    return KINDS[type(data)] if isinstance(data, list | dict) else json.dumps(data, ensure_ascii=False)


@cache
def _names(kind: Any) -> tuple[str, ...] | None:
    """Return the field names of a dataclass, or None for any other type."""
    return tuple(each.name for each in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None


@cache
def _fields(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Return the type of each field of a dataclass, and whether the field is required."""
    hints = typing.get_type_hints(kind)
    return {
        each.name: (
            hints[each.name],
            each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING,
        )
        for each in dataclasses.fields(kind)
    }


def digest_of(data: Any) -> str:
    """Return the first twenty hexadecimal characters of the SHA-256 of the data's canonical JSON."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def identifying(record: Any, later: Collection[str]) -> Any:
    """Return a record's JSON without those of its later fields that have their default: an equal record from before
    the fields existed keeps its digest."""
    defaults = {each.name: each.default for each in dataclasses.fields(record)}
    same = {name for name in later if getattr(record, name) == defaults[name]}
    return {name: value for name, value in to_json(record).items() if name not in same}


def whole(data: Any) -> Any:
    """Turn every integral float into an int, so that 240 and 240.0, which mean the same, have the same digest."""
    if isinstance(data, float) and data.is_integer():
        return int(data)
    if isinstance(data, list | tuple):
        return [whole(each) for each in data]
    if isinstance(data, Mapping):
        return {key: whole(each) for key, each in data.items()}
    return data
