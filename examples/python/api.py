"""The API: the methods of each URL, the rights of keys, and the responses. This module uses no sockets."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs

from errors import Problem, Refused, error_object
from person import Person, read_change
from store import People

KEY_HEADER = "SVC-API-Token"
PAGE_SIZE = 25
JSON_TYPE = re.compile(r"application/(json|[a-z0-9.+-]+\+json)", re.ASCII)
READ, WRITE = frozenset({"GET", "HEAD"}), frozenset({"POST", "PUT", "DELETE"})

DOCS = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>People server</title></head><body>
<h1>People server</h1><p>This server keeps people. Begin at the entry point and follow the links.</p>
<h2 id="people">svc:people</h2><p>The collection of people. GET reads a page of 25, POST creates a person.</p>
<h2 id="person">svc:person</h2><p>A person. GET reads it, PUT changes the fields that are sent, DELETE removes it.
An object such as <code>birthdate</code> is replaced as a whole. Keys of custom fields have no prefix.</p>
<h2 id="error">svc:error</h2><p>What is wrong with a request, and with which of its fields.</p></body></html>
"""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: str
    keys: tuple[str, ...]
    content_type: str
    body: bytes


@dataclass(frozen=True)
class Response:
    status: int
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Access:
    """The access of a key: the people of its tenant, with or without the right to change them."""

    people: People
    read_only: bool = False


def hal(status: int, body: Mapping[str, Any], **headers: str) -> Response:
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    fixed = {"Content-Type": "application/hal+json", "Cache-Control": "max-age=0, private, must-revalidate"}
    return Response(status, content, {**fixed, **headers})


def failure(status: int, problems: tuple[Problem, ...], resource: str = "svc:error") -> Response:
    return hal(status, error_object(status, problems, resource)) if problems else Response(status)


class Api:
    def __init__(self, prefix: str, namespace: str, keys: Mapping[str, Access]) -> None:
        self._base = prefix.rstrip("/") + "/"
        self._namespace = namespace
        # Only hashes are stored, and the lookup uses a hash: its duration reveals nothing about a key.
        self._keys = {sha256(key.encode()).digest(): access for key, access in keys.items()}

    def answer(self, request: Request) -> Response:
        try:
            return self._route(request)
        except Refused as refused:
            if refused.status == 401:
                return Response(401, headers={"WWW-Authenticate": f'ApiKey header="{KEY_HEADER}"'})
            return failure(refused.status, refused.problems, "svc:person")

    def _route(self, request: Request) -> Response:
        path = request.path if request.path.endswith("/") else request.path + "/"
        match path.removeprefix(self._base).split("/") if path.startswith(self._base) else None:
            case [""]:
                if request.keys:
                    self._access(request)
                require(request, READ)
                return hal(200, self._entry_point())
            case ["docs", *_]:
                require(request, READ)
                return Response(200, DOCS.encode(), {"Content-Type": "text/html; charset=utf-8"})
            case ["people", ""]:
                return self._collection(request, self._access(request))
            case ["people", id, ""]:
                return self._member(request, self._access(request), id)
            case _:
                raise Refused(404)

    def _access(self, request: Request) -> Access:
        if len(request.keys) != 1:
            raise Refused(401)
        # The standard library decodes headers as Latin-1; a key with other characters was sent as UTF-8.
        access = self._keys.get(sha256(request.keys[0].encode("latin-1", "replace")).digest())
        if access is None:
            raise Refused(401)
        if access.read_only and request.method in WRITE:
            raise Refused(403)
        return access

    def _collection(self, request: Request, access: Access) -> Response:
        require(request, READ | {"POST"})
        if request.method in READ:
            return hal(200, self._page(access.people, request.query))
        person = access.people.create(read_change(read_body(request), self._namespace, None))
        return hal(201, self._person(person, curies=True), Location=self._address(person.id))

    def _member(self, request: Request, access: Access, id: str) -> Response:
        require(request, READ | {"PUT", "DELETE"})
        if request.method == "DELETE":
            if not access.people.delete(id):
                raise not_found()
            return hal(200, {"notice": "The person is deleted."})
        if request.method == "PUT":
            own = access.people.own_identifier(id)
            person = access.people.update(id, read_change(read_body(request), self._namespace, own))
            if person is None:
                raise not_found()
        else:
            person = access.people.get(id)
            if person is None:
                raise Refused(404)
        return hal(200, self._person(person, curies=True))

    def _address(self, id: str = "") -> str:
        return f"{self._base}people/{id}" if id else f"{self._base}people"

    def _curies(self) -> list[dict[str, Any]]:
        return [{"name": "svc", "href": f"{self._base}docs/{{rel}}", "templated": True}]

    def _entry_point(self) -> dict[str, Any]:
        return {
            "motd": "Welcome",
            "max_pagesize": PAGE_SIZE,
            "vendor_name": "Example",
            "product_name": "People server in Python",
            "svc_version": "1.0",
            "namespace": self._namespace,
            "_links": {
                "curies": self._curies(),
                "self": {"href": self._base, "title": "Entry point"},
                "docs": {"href": f"{self._base}docs/", "title": "Documentation", "name": "Docs", "index": "index"},
                "svc:people": {"href": self._address(), "title": "People"},
            },
        }

    def _person(self, person: Person, curies: bool = False) -> dict[str, Any]:
        links: dict[str, Any] = {"self": {"href": self._address(person.id)}}
        if curies:
            links["curies"] = self._curies()
        return {**person.to_json(), "_links": links}

    def _page(self, people: People, query: str) -> dict[str, Any]:
        number, asked = page_number(query)
        members, total = people.page(number, PAGE_SIZE)
        pages = -(-total // PAGE_SIZE)
        embedded = [self._person(person) for person in members]
        links: dict[str, Any] = {
            "curies": self._curies(),
            "self": {"href": f"{self._address()}?page={number}" if asked else self._address()},
            "svc:people": [{"href": self._address(person.id)} for person in members],
        }
        if number < pages:
            links["next"] = {"href": f"{self._address()}?page={number + 1}"}
        if 1 < number <= pages:
            links["prev"] = {"href": f"{self._address()}?page={number - 1}"}
        return {
            "total_pages": pages,
            "per_page": PAGE_SIZE,
            "page": number,
            "total_records": total,
            "_links": links,
            "_embedded": {"svc:people": embedded},
        }


def require(request: Request, methods: frozenset[str]) -> None:
    if request.method not in methods:
        raise Refused(500, Problem("NOT_IMPLEMENTED", f"{request.method} is not supported at this URL."))


def not_found() -> Refused:
    return Refused(404, Problem("RESOURCE_NOT_FOUND", "There is no person at this URL."))


def page_number(query: str) -> tuple[int, bool]:
    """The number of the requested page, and whether the request names one."""
    values = parse_qs(query, keep_blank_values=True).get("page", [])
    if not values:
        return 1, False
    if len(values) > 1 or not re.fullmatch("0*[1-9][0-9]{0,17}", values[0]):
        raise Refused(400, Problem("PAGE_INVALID", "`page` must be one whole number from 1.", ("page",)))
    return int(values[0]), True


def read_body(request: Request) -> dict[str, Any]:
    media_type = request.content_type.partition(";")[0].strip().lower()
    if media_type and not JSON_TYPE.fullmatch(media_type):
        raise Refused(415, Problem("MEDIA_TYPE_NOT_SUPPORTED", "The body must be JSON: application/hal+json."))
    if not request.body:
        raise Refused(400, Problem("BODY_MISSING", "Send the fields as a JSON object in the body."))
    try:
        body = json.loads(request.body.decode(), object_pairs_hook=without_duplicates, parse_constant=refuse_constant)
        # An escaped half of a surrogate pair is not a character: it could be stored, but never sent.
        json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise Refused(400, Problem("JSON_INVALID", f"The body is not valid JSON: {error}.")) from error
    if not isinstance(body, dict):
        raise Refused(400, Problem("JSON_INVALID", "The body must be a JSON object."))
    return body


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member name is used twice in one object")
    return members


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
