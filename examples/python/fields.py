"""Kinds of values. Each kind reads a JSON value, notes every problem with its path, and returns what is stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Protocol

from errors import Problem

Problems = list[Problem]

# Date and time with a zone, as RFC 3339 profiles ISO 8601; `fromisoformat` alone would take a bare date.
TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}([.,]\d{1,9})?([Zz]|[+-]\d{2}:?\d{2})", re.ASCII)


class Kind(Protocol):
    def read(self, value: Any, path: str, problems: Problems) -> Any: ...


def invalid(problems: Problems, path: str, what: str, hint: str | None = None) -> None:
    problems.append(Problem("FIELD_INVALID", f"{path} {what}.", (path,), hint))


@dataclass(frozen=True)
class Text:
    """A string: any, one of `choices`, or one that `pattern` matches after `clean`."""

    choices: tuple[str, ...] = ()
    pattern: str | None = None
    clean: Callable[[str], str] | None = None

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, str):
            return invalid(problems, path, "must be a string")
        text = self.clean(value) if self.clean else value
        if self.choices and text not in self.choices:
            return invalid(problems, path, "is not one of the allowed values", ", ".join(self.choices))
        if self.pattern and not re.fullmatch(self.pattern, text, re.DOTALL):
            return invalid(problems, path, "does not have the required form", f"^{self.pattern}$")
        return text


@dataclass(frozen=True)
class Flag:
    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, bool):
            return invalid(problems, path, "must be true or false")
        return value


@dataclass(frozen=True)
class FlagText:
    """The `primary` marker of a phone number: a string in the interface although it acts as a flag."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, bool):
            return "true" if value else "false"
        return Text().read(value, path, problems)


@dataclass(frozen=True)
class Number:
    low: float
    high: float
    whole: bool = False

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        allowed = int if self.whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, allowed):
            return invalid(problems, path, "must be an integer" if self.whole else "must be a number")
        if not self.low <= value <= self.high:
            return invalid(problems, path, f"must be from {self.low} to {self.high}")
        return value


@dataclass(frozen=True)
class Timestamp:
    def read(self, value: Any, path: str, problems: Problems) -> Any:
        try:
            if not isinstance(value, str) or not TIMESTAMP.fullmatch(value):
                raise ValueError(value)
            return timestamp(datetime.fromisoformat(value.upper()))
        except (ValueError, OverflowError):
            return invalid(problems, path, "must be an ISO 8601 date and time with a zone", "2026-01-05T09:00:00Z")


def timestamp(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True)
class Items:
    """An array: with `unique`, later duplicates are dropped; with `one_primary`, at most one member is primary."""

    item: Kind
    unique: bool = False
    one_primary: bool = False

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            return invalid(problems, path, "must be an array")
        items = [self.item.read(item, f"{path}[{index}]", problems) for index, item in enumerate(value)]
        if self.unique:
            items = list(dict.fromkeys(items))
        if self.one_primary and sum(is_primary(item) for item in items) > 1:
            problems.append(Problem("MULTIPLE_PRIMARY", f"At most one of {path} may be primary.", (path,)))
        return items


def is_primary(item: Any) -> bool:
    primary = item.get("primary") if isinstance(item, dict) else None
    return primary is True or (isinstance(primary, str) and primary.lower() == "true")


@dataclass(frozen=True)
class Members:
    """An object with known members. Unknown members are ignored, a null member is left out."""

    kinds: Mapping[str, Kind]

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return invalid(problems, path, "must be an object")
        return {
            name: kind.read(value[name], f"{path}.{name}", problems)
            for name, kind in self.kinds.items()
            if value.get(name) is not None
        }


@dataclass(frozen=True)
class TextMap:
    """An object of free keys whose values are strings."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return invalid(problems, path, "must be an object")
        return {name: Text().read(item, f"{path}.{name}", problems) for name, item in value.items() if item is not None}
