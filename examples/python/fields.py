"""Types of values. Each type parses a JSON value, reports every problem with its path, and returns the stored value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Protocol

from errors import Problem

Problems = list[Problem]

# Date and time with a zone, in the profile of RFC 3339; `fromisoformat` alone would accept a date without a time.
TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}([.,]\d{1,9})?([Zz]|[+-]\d{2}:?\d{2})", re.ASCII)


class Kind(Protocol):
    def read(self, value: Any, path: str, problems: Problems) -> Any: ...


def invalid(problems: Problems, path: str, what: str, hint: str | None = None) -> None:
    problems.append(Problem("FIELD_INVALID", f"{path} {what}.", (path,), hint))


@dataclass(frozen=True)
class Text:
    """A string: any string, one of `choices`, or one that matches `pattern` after `clean`."""

    choices: tuple[str, ...] = ()
    pattern: str | None = None
    clean: Callable[[str], str] | None = None

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, str):
            return invalid(problems, path, "must be a string")
        text = self.clean(value) if self.clean else value
        if self.choices and text not in self.choices:
            allowed = ", ".join(self.choices)
            return invalid(problems, path, f"must be one of: {allowed}", allowed)
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
    """The `primary` flag of a phone number, which is a string in the specification."""

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
    """An array. `unique` removes later duplicates; `one_primary` allows at most one primary element."""

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
            problems.append(Problem("MULTIPLE_PRIMARY", f"At most one element of `{path}` can be primary.", (path,)))
        return items


def is_primary(item: Any) -> bool:
    primary = item.get("primary") if isinstance(item, dict) else None
    return primary is True or (isinstance(primary, str) and primary.lower() == "true")


@dataclass(frozen=True)
class Members:
    """An object with known members. Unknown members are ignored, and null members are left out."""

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
    """An object with arbitrary keys and string values."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return invalid(problems, path, "must be an object")
        return {name: Text().read(item, f"{path}.{name}", problems) for name, item in value.items() if item is not None}
