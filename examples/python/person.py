"""The fields of a person, and the rules for several fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from errors import Problem, Refused
from fields import Flag, FlagText, Items, Kind, Members, Number, Problems, Text, TextMap, Timestamp, timestamp

TEXT = Text()
COUNTRY = Text(pattern="[A-Za-z]{2}")
LANGUAGE_TAG = Text(pattern="[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
PARTY = Text()  # a flexenum: None, Democratic, Republican, Independent, or any other string
IDENTIFIERS = Items(Text(pattern="[^:]+:.+"), unique=True)

PLACE: Mapping[str, Kind] = {
    "venue": TEXT,
    "address_lines": Items(TEXT),
    "locality": TEXT,
    "region": TEXT,
    "postal_code": TEXT,
    "country": COUNTRY,
    "language": Text(pattern="[A-Za-z]{2,3}"),
    "location": Members(
        {
            "latitude": Number(-90, 90),
            "longitude": Number(-180, 180),
            "accuracy": Text(("Rooftop", "Approximate")),
        }
    ),
}

POSTAL_ADDRESS = Members(
    {
        "primary": Flag(),
        "address_type": Text(("Home", "Work", "Mailing")),
        **PLACE,
        "status": Text(("Potential", "Verified", "Bad", "Past")),
        "last_verified_date": Timestamp(),
    }
)

EMAIL_ADDRESS = Members(
    {
        "primary": Flag(),
        "address": Text(pattern="[^@]+@[^@]+"),
        "address_type": TEXT,
        "status": Text(("subscribed", "unsubscribed", "bouncing", "spam complaints")),
    }
)

PHONE_NUMBER = Members(
    {
        "primary": FlagText(),
        "number": Text(pattern="[0-9]{5,15}", clean=lambda number: re.sub(r"[-+ .()/]", "", number)),
        "extension": TEXT,
        "description": TEXT,
        "number_type": TEXT,
        "operator": TEXT,
        "country": COUNTRY,
        "sms_capable": Flag(),
        "do_not_call": Flag(),
    }
)

PROFILE = Members({"provider": TEXT, "id": TEXT, "url": TEXT, "handle": Text(clean=lambda handle: handle.lstrip("@"))})


@dataclass(frozen=True)
class Birthdate(Members):
    def read(self, value: Any, path: str, problems: Problems) -> Any:
        before = len(problems)
        birthdate = super().read(value, path, problems)
        if len(problems) == before and len(birthdate) == 3:
            try:
                date(birthdate["year"], birthdate["month"], birthdate["day"])
            except ValueError:
                problems.append(Problem("DATE_INVALID", f"{path} is not a day of the calendar.", (path,)))
        return birthdate


FIELDS: Mapping[str, Kind] = {
    "family_name": TEXT,
    "given_name": TEXT,
    "additional_name": TEXT,
    "honorific_prefix": TEXT,
    "honorific_suffix": TEXT,
    "gender": Text(("Female", "Male", "Other")),
    "gender_identity": TEXT,
    "party_identification": PARTY,
    "parties": Items(Members({"identification": PARTY, "last_verified_date": Timestamp(), "active": Flag()})),
    "source": TEXT,
    "ethnicities": Items(TEXT, unique=True),
    "languages_spoken": Items(LANGUAGE_TAG, unique=True),
    "preferred_language": LANGUAGE_TAG,
    "browser_url": TEXT,
    "administrative_url": TEXT,
    "birthdate": Birthdate(
        {
            "month": Number(1, 12, whole=True),
            "day": Number(1, 31, whole=True),
            "year": Number(1000, 9999, whole=True),
        }
    ),
    "employer": TEXT,
    "employer_address": Members({**PLACE, "status": Text(("Potential", "Verified", "Bad"))}),
    "postal_addresses": Items(POSTAL_ADDRESS, one_primary=True),
    "email_addresses": Items(EMAIL_ADDRESS, one_primary=True),
    "phone_numbers": Items(PHONE_NUMBER, one_primary=True),
    "profiles": Items(PROFILE),
    "custom_fields": TextMap(),
}


@dataclass(frozen=True)
class Person:
    """A stored person. It is immutable: an update replaces it."""

    id: str
    identifiers: tuple[str, ...]
    fields: Mapping[str, Any]
    created: datetime
    modified: datetime

    def to_json(self) -> dict[str, Any]:
        return {
            "identifiers": list(self.identifiers),
            "created_date": timestamp(self.created),
            "modified_date": timestamp(self.modified),
            **self.fields,
        }


@dataclass(frozen=True)
class Change:
    """The changes of a valid request body: fields to set, fields to clear, and identifiers if they were sent."""

    set: Mapping[str, Any]
    clear: frozenset[str]
    identifiers: tuple[str, ...] | None

    def applied_to(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in fields.items() if name not in self.clear}
        return with_gender({**kept, **self.set})


def read_change(body: Mapping[str, Any], namespace: str, own: str | None) -> Change:
    """Parses all fields and reports all problems together. Read-only and unknown members are ignored."""
    problems: Problems = []
    values = {
        name: kind.read(body[name], name, problems) for name, kind in FIELDS.items() if body.get(name) is not None
    }
    clear = frozenset(name for name in FIELDS if name in body and body[name] is None)
    identifiers = None
    if "identifiers" in body:
        identifiers = read_identifiers(body["identifiers"], namespace, own, problems)
    if problems:
        raise Refused(400, *problems)
    return Change(values, clear, identifiers)


def read_identifiers(value: Any, namespace: str, own: str | None, problems: Problems) -> tuple[str, ...]:
    """The foreign identifiers. Only the server assigns its own identifiers."""
    entries = IDENTIFIERS.read([] if value is None else value, "identifiers", problems) or []
    for entry in entries:
        if entry is not None and entry.startswith(f"{namespace}:") and entry != own:
            text = f"Identifiers that start with `{namespace}:` are assigned by this server."
            problems.append(Problem("IDENTIFIER_RESERVED", text, ("identifiers",)))
    return tuple(entry for entry in entries if entry != own)


def with_gender(fields: dict[str, Any]) -> dict[str, Any]:
    """Sets `gender` from the identity if that contains one of the two binary values, alone or in a compound."""
    words = set(re.findall(r"\w+", fields.get("gender_identity", "").lower()))
    female, male = bool(words & {"female", "woman"}), bool(words & {"male", "man"})
    if female != male:
        return {**fields, "gender": "Female" if female else "Male"}
    return fields
