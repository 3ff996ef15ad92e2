"""The people of one tenant, in memory and in the order of their creation."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import islice
from threading import Lock
from typing import Any

from person import Change, Person


class People:
    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._people: dict[str, Person] = {}
        self._lock = Lock()

    def own_identifier(self, id: str) -> str:
        return f"{self._namespace}:{id}"

    def page(self, number: int, size: int) -> tuple[list[Person], int]:
        """The people on one page, counted from 1, and the total of all pages."""
        with self._lock:
            start = (number - 1) * size
            return list(islice(self._people.values(), start, start + size)), len(self._people)

    def get(self, id: str) -> Person | None:
        with self._lock:
            return self._people.get(id)

    def create(self, change: Change) -> Person:
        id, now = str(uuid.uuid4()), datetime.now(timezone.utc)
        identifiers = (self.own_identifier(id), *(change.identifiers or ()))
        person = Person(id, identifiers, change.applied_to({}), now, now)
        with self._lock:
            self._people[id] = person
        return person

    def update(self, id: str, change: Change) -> Person | None:
        with self._lock:
            old = self._people.get(id)
            if old is None:
                return None
            # Two updates within one tick of the clock get different dates.
            now = max(datetime.now(timezone.utc), old.modified + timedelta(microseconds=1))
            changes: dict[str, Any] = {"fields": change.applied_to(old.fields), "modified": now}
            if change.identifiers is not None:
                changes["identifiers"] = (self.own_identifier(id), *change.identifiers)
            self._people[id] = new = replace(old, **changes)
            return new

    def delete(self, id: str) -> bool:
        with self._lock:
            return self._people.pop(id, None) is not None
