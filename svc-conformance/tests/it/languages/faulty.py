"""The Python server of the examples with one typical mistake in it.

python3 faulty.py NAME [the server's options]
python3 faulty.py --list
"""

from __future__ import annotations

import itertools
import json
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "examples" / "python"))

import api  # noqa: E402
import errors  # noqa: E402
import fields  # noqa: E402
import person  # noqa: E402
import server  # noqa: E402
import store  # noqa: E402

FAULTS: dict[str, tuple[list[str], Callable[[], None]]] = {}


def fault(name: str, *rows: str) -> Callable[[Callable[[], None]], None]:
    """Registers a mistake with the requirements that it breaks."""

    def register(plant: Callable[[], None]) -> None:
        FAULTS[name] = (list(rows), plant)

    return register


def around(owner: Any, name: str, changed: Callable[..., Any]) -> None:
    """Replaces a function by one that gets the original as its first argument."""
    before = getattr(owner, name)
    setattr(owner, name, lambda *given, **named: changed(before, *given, **named))


@fault("an employer's address keeps its status alone", "RES-person-26")
def _() -> None:
    person.FIELDS["employer_address"] = fields.Members({"status": fields.Text()})


@fault("a zone is cut off", "TYP-06")
def _() -> None:
    around(fields, "timestamp", lambda plain, moment: plain(moment.replace(tzinfo=fields.timezone.utc)))


@fault("texts are normalised", "TYP-01")
def _() -> None:
    clean = lambda text: unicodedata.normalize("NFC", text)  # noqa: E731
    person.FIELDS["given_name"] = fields.Text(clean=clean)


@fault("texts are trimmed", "TYP-01")
def _() -> None:
    person.FIELDS["family_name"] = fields.Text(clean=str.strip)


@fault("custom fields are trimmed", "RES-person-36")
def _() -> None:
    around(
        fields.TextMap,
        "read",
        lambda read, *given: {
            name: text.strip() if isinstance(text, str) else text for name, text in (read(*given) or {}).items()
        },
    )


@fault("null is ignored", "CRU-17")
def _() -> None:
    around(person, "read_change", lambda read, *given: replace(read(*given), clear=frozenset()))
    api.read_change = person.read_change


@fault("arrays grow on update", "CRU-18")
def _() -> None:
    def grown(applied_to: Any, change: person.Change, kept: dict[str, Any]) -> dict[str, Any]:
        new = applied_to(change, kept)
        both = {name: value for name, value in new.items() if isinstance(value, list) and name in change.set}
        return new | {name: kept.get(name, []) + value for name, value in both.items()}

    around(person.Change, "applied_to", grown)


@fault("the creation date moves", "TYP-15")
def _() -> None:
    def moved(update: Any, people: store.People, id: str, change: person.Change) -> person.Person | None:
        new = update(people, id, change)
        if new is not None:
            people._people[id] = new = replace(new, created=new.modified)
        return new

    around(store.People, "update", moved)


@fault("a refused update changes the date", "CRU-20")
def _() -> None:
    def touched(member: Any, self: api.Api, request: api.Request, access: api.Access, id: str) -> api.Response:
        try:
            return member(self, request, access, id)
        except errors.Refused:
            if request.method == "PUT" and access.people.get(id):
                access.people.update(id, person.Change({}, frozenset(), None))
            raise

    around(api.Api, "_member", touched)


@fault("the last record of a page is repeated", "COL-24")
def _() -> None:
    def again(page: Any, people: store.People, number: int, size: int) -> tuple[list[person.Person], int]:
        members, total = page(people, number, size)
        if number > 1 and members:
            members = page(people, number - 1, size)[0][-1:] + members[:-1]
        return members, total

    around(store.People, "page", again)


@fault("the total is that of the page", "COL-23")
def _() -> None:
    def counted(page: Any, *given: Any) -> dict[str, Any]:
        body = page(*given)
        return body | {"total_records": len(body["_embedded"]["svc:people"])}

    around(api.Api, "_page", counted)


@fault("an empty collection embeds null", "COL-30")
def _() -> None:
    def empty(page: Any, *given: Any) -> dict[str, Any]:
        body = page(*given)
        return body if body["total_records"] else body | {"_embedded": {"svc:people": None}}

    around(api.Api, "_page", empty)


@fault("a create answers 200 and 201 in turn", "CRU-13")
def _() -> None:
    turn = itertools.cycle([200, 201])
    around(
        api, "hal", lambda hal, status, *given, **named: hal(next(turn) if status == 201 else status, *given, **named)
    )


@fault("only the first problem is reported", "ERR-39")
def _() -> None:
    around(errors.Refused, "__init__", lambda init, self, status, *problems: init(self, status, *problems[:1]))


@fault("members of arrays are counted from 1", "ERR-26")
def _() -> None:
    def read(_: Any, self: fields.Items, value: Any, path: str, problems: fields.Problems) -> Any:
        if not isinstance(value, list):
            return fields.invalid(problems, path, "must be an array")
        return [self.item.read(item, f"{path}[{index}]", problems) for index, item in enumerate(value, 1)]

    around(fields.Items, "read", read)


@fault("duplicates stay", "RES-person-17")
def _() -> None:
    person.FIELDS["languages_spoken"] = fields.Items(person.LANGUAGE_TAG)


@fault("two phone numbers may be primary", "RES-phone_number-02")
def _() -> None:
    person.FIELDS["phone_numbers"] = fields.Items(person.PHONE_NUMBER)


@fault("a phone number's marker is a boolean", "RES-phone_number-01")
def _() -> None:
    around(fields.FlagText, "read", lambda read, *given: read(*given) == "true")


@fault("places lose digits", "TYP-03")
def _() -> None:
    around(
        fields.Number,
        "read",
        lambda read, self, *given: read(self, *given) if self.whole else round(read(self, *given) or 0.0, 2),
    )


@fault("another tenant reads by address", "AUT-02")
def _() -> None:
    everyone: dict[str, person.Person] = {}

    def created(create: Any, people: store.People, change: person.Change) -> person.Person:
        new = create(people, change)
        everyone[new.id] = new
        return new

    around(store.People, "create", created)
    around(store.People, "get", lambda get, people, id: get(people, id) or everyone.get(id))


@fault("a deleted person can be read", "ERR-11")
def _() -> None:
    gone: dict[str, person.Person] = {}

    def kept(delete: Any, people: store.People, id: str) -> bool:
        old = people.get(id)
        if old is not None:
            gone[id] = old
        return delete(people, id)

    around(store.People, "delete", kept)
    around(store.People, "get", lambda get, people, id: get(people, id) or gone.get(id))


@fault("a key that only reads may create", "AUT-04")
def _() -> None:
    api.WRITE = frozenset({"PUT", "DELETE"})


@fault("dates have the year of their week", "TYP-06")
def _() -> None:
    def weekly(plain: Any, moment: datetime) -> str:
        text = plain(moment)
        return datetime.fromisoformat(text).strftime("%G") + text[4:]

    around(fields, "timestamp", weekly)


@fault("gender ignores the identity", "RES-person-08")
def _() -> None:
    person.with_gender = lambda kept: kept


@fault("a handle keeps its @", "RES-person-35")
def _() -> None:
    kinds = dict(person.PROFILE.kinds) | {"handle": fields.Text()}
    person.FIELDS["profiles"] = fields.Items(fields.Members(kinds))


@fault("what is false or empty is left out", "TYP-05")
def _() -> None:
    around(
        fields.Members,
        "read",
        lambda read, *given: {name: value for name, value in (read(*given) or {}).items() if value},
    )


@fault("an update answers with the person before it", "ERR-15")
def _() -> None:
    def stale(update: Any, people: store.People, id: str, change: person.Change) -> person.Person | None:
        old = people.get(id)
        return update(people, id, change) and old

    around(store.People, "update", stale)


@fault("true is a number", "ERR-12")
def _() -> None:
    around(
        fields.Number,
        "read",
        lambda read, self, value, *given: read(self, int(value) if isinstance(value, bool) else value, *given),
    )


@fault("numbers become texts", "ERR-12")
def _() -> None:
    around(
        fields.Text,
        "read",
        lambda read, self, value, *given: read(self, str(value) if isinstance(value, int | float) else value, *given),
    )


@fault("bodies are read as Latin-1", "TYP-01")
def _() -> None:
    around(api, "read_body", lambda read, request: read(replace(request, body=request.body.decode("latin-1").encode())))


@fault("a second delete of a person has no reason", "ERR-16")
def _() -> None:
    api.not_found = lambda: errors.Refused(404)


@fault("long texts are cut", "RES-person-15")
def _() -> None:
    person.FIELDS["source"] = fields.Text(clean=lambda text: text[:255])


@fault("letters beyond the basic plane are lost", "RES-person-25")
def _() -> None:
    person.FIELDS["employer"] = fields.Text(clean=lambda text: "".join(c if c < "\U00010000" else "?" for c in text))


@fault("identifiers of others are lost", "TYP-13")
def _() -> None:
    around(person, "read_identifiers", lambda read, *given: read(*given)[:0])


@fault("ethnicities are sorted", "RES-person-16")
def _() -> None:
    around(
        fields.Items,
        "read",
        lambda read, self, value, path, problems: (
            sorted(read(self, value, path, problems) or [])
            if path == "ethnicities"
            else read(self, value, path, problems)
        ),
    )


@fault("keys of custom fields become lower case", "RES-person-36")
def _() -> None:
    around(
        fields.TextMap, "read", lambda read, *given: {name.lower(): text for name, text in (read(*given) or {}).items()}
    )


@fault("dates have whole seconds", "CRU-19")
def _() -> None:
    def coarse(update: Any, people: store.People, id: str, change: person.Change) -> person.Person | None:
        old, new = people.get(id), update(people, id, change)
        if old is not None and new is not None:
            people._people[id] = new = replace(new, modified=max(old.modified, new.modified.replace(microsecond=0)))
        return new

    around(store.People, "update", coarse)


@fault("a client sets the creation date", "TYP-15")
def _() -> None:
    person.FIELDS["created_date"] = fields.Timestamp()


@fault("the entry point takes any key", "AUT-03")
def _() -> None:
    def taken(access: Any, self: api.Api, request: api.Request) -> api.Access | None:
        return None if request.path.rstrip("/") == self._base.rstrip("/") else access(self, request)

    around(api.Api, "_access", taken)


@fault("totals count all tenants", "COL-02")
def _() -> None:
    everybody: list[store.People] = []
    around(store.People, "__init__", lambda init, people, *given: everybody.append(people) or init(people, *given))
    around(
        store.People, "page", lambda page, *given: (page(*given)[0], sum(len(people._people) for people in everybody))
    )


@fault("a page has a page too much", "COL-20")
def _() -> None:
    around(
        api.Api,
        "_page",
        lambda page, *given: (body := page(*given)) | {"total_pages": body["total_records"] // body["per_page"] + 1},
    )


@fault("at most three addresses are stored", "RES-person-28")
def _() -> None:
    around(
        fields.Items,
        "read",
        lambda read, self, value, path, problems: (
            (read(self, value, path, problems) or [])[:3]
            if path == "postal_addresses"
            else read(self, value, path, problems)
        ),
    )


@fault("an update without fields forgets the e-mail addresses", "CRU-15")
def _() -> None:
    def forgets(applied_to: Any, change: person.Change, kept: dict[str, Any]) -> dict[str, Any]:
        new = applied_to(change, kept)
        return new if "email_addresses" in change.set else new | {"email_addresses": []}

    around(person.Change, "applied_to", forgets)


@fault("a notice is empty", "CRU-14")
def _() -> None:
    around(
        api,
        "hal",
        lambda hal, status, body, **named: hal(status, body | {"notice": ""} if "notice" in body else body, **named),
    )


@fault("times of the day are cut to minutes", "TYP-06")
def _() -> None:
    around(fields.Timestamp, "read", lambda read, *given: text[:17] + "00Z" if (text := read(*given)) else text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print(json.dumps({name: rows for name, (rows, _) in FAULTS.items()}))
    else:
        FAULTS[sys.argv.pop(1)][1]()
        server.main()
