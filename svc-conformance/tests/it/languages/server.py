#!/usr/bin/env python3
"""A small server of the API in another language, with the standard library only.

It stores people, petitions, signatures, tags and taggings, and has the helpers for a signature and for a sign-up. It does not
publish a declaration: declaration.json is hand-written. With --fault NAME it has one planted fault (see FAULTS).

    python3 server.py --port 8099 [--fault NAME]
    python3 server.py --list
"""

import argparse
import json
import re
import sys
import threading
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

KEYS = {"k-one": ("one", None), "k-two": ("two", None), "k-narrow": ("one", {"people.list", "people.read"})}
NAMESPACE = "small"
PER_PAGE = 5
MAX_PAGE = 20

# Each fault with the requirements that it breaks.
FAULTS = {
    "family-name-lost": ["RES-person-01", "TYP-01", "CRU-15", "ERR-15", "HLP-03", "HLP-06", "HLP-19"],
    "total-never-falls": ["COL-23", "COL-20", "COL-24"],
    "null-ignored": ["CRU-17"],
    "modified-date-stays": ["CRU-19", "TYP-16"],
    "plain-json": ["HAL-03"],
    "bad-key-forbidden": ["AUT-03", "ERR-08"],
    "unknown-tag-made": ["HAF-03", "ERR-30", "ERR-31", "ERR-33", "ERR-37"],
    "anonymous-shown": ["HLP-07"],
}


class Wrong(Exception):
    """A problem of a request: code, text, properties."""

    def __init__(self, problems):
        super().__init__("wrong")
        self.problems = problems


def text(value):
    return isinstance(value, str)


def boolean(value):
    return isinstance(value, bool)


def integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def texts(value):
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def one_of(*values):
    return lambda value: value in values


def listing(item):
    return [item]


EMAIL = {
    "primary": boolean,
    "address": text,
    "address_type": text,
    "status": one_of("subscribed", "unsubscribed", "bouncing", "spam complaints"),
}
REFERRER = {"source": text, "referrer": text, "website": text, "url": text}
PERSON = {
    "given_name": text,
    "family_name": text,
    "gender": one_of("Female", "Male", "Other"),
    "source": text,
    "birthdate": {"month": integer, "day": integer, "year": integer},
    "email_addresses": listing(EMAIL),
    "custom_fields": texts,
}
PETITION = {"name": text, "title": text, "description": text, "summary": text}
SIGNATURE = {"action_date": text, "comments": text, "referrer_data": REFERRER}
TAG = {"name": text, "description": text}

# Singular, plural, fields, whether the entry point lists it, container, collections below, helper.
KINDS = {
    "person": ("people", PERSON, True, None, {"signatures": "signature", "taggings": "tagging"}, None),
    "petition": ("petitions", PETITION, True, None, {"signatures": "signature"}, "record_signature_helper"),
    "signature": ("signatures", SIGNATURE, False, "petition", {}, None),
    "tag": ("tags", TAG, True, None, {"taggings": "tagging"}, None),
    "tagging": ("taggings", {}, False, "tag", {}, None),
}


def check(shape, value, path, problems):
    """Returns the value in canonical form, and adds what is wrong with it to the problems."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            problems.append(("NOT_AN_OBJECT", "The value must be an object.", [path]))
            return None
        read = {}
        for name, inner in shape.items():
            if value.get(name) is not None:
                read[name] = check(inner, value[name], f"{path}.{name}" if path else name, problems)
        return read
    if isinstance(shape, list):
        if not isinstance(value, list):
            problems.append(("NOT_A_LIST", "The value must be a list.", [path]))
            return None
        return [check(shape[0], one, f"{path}[{at}]", problems) for at, one in enumerate(value)]
    if not shape(value):
        problems.append(("VALUE_INVALID", "This value is not accepted.", [path]))
    return value


class Store:
    """All data, in memory."""

    def __init__(self, fault):
        self.fault = fault
        self.lock = threading.RLock()
        self.records = {}
        self.last = 0
        self.most = {}
        self.time = datetime.now(timezone.utc)

    def now(self):
        self.time = max(self.time + timedelta(microseconds=1), datetime.now(timezone.utc))
        return self.time.isoformat().replace("+00:00", "Z")

    def add(self, tenant, kind, body, identifiers, links):
        self.last += 1
        now = self.now()
        if kind == "signature":
            body.setdefault("action_date", now)
        self.records[self.last] = {
            "tenant": tenant,
            "kind": kind,
            "number": self.last,
            "body": body,
            "identifiers": identifiers,
            "created": now,
            "modified": now,
            "links": links,
        }
        return self.records[self.last]

    def all(self, tenant, kind):
        return [one for one in self.records.values() if one["tenant"] == tenant and one["kind"] == kind]

    def get(self, tenant, number, kind=None):
        record = self.records.get(number)
        if record is None or record["tenant"] != tenant or (kind and record["kind"] != kind):
            return None
        return record

    def below(self, owner, kind):
        return [
            one
            for one in self.all(owner["tenant"], kind)
            if one["links"].get(owner["kind"]) == owner["number"]
        ]

    def remove(self, number):
        self.records.pop(number, None)
        depending = [one["number"] for one in self.records.values() if number in one["links"].values()]
        for other in depending:
            self.remove(other)


class Handler(BaseHTTPRequestHandler):
    """Handles one request after the other, over HTTP/1.1."""

    protocol_version = "HTTP/1.1"
    server_version = "Small"
    # A response is sent in one piece, without delay.
    wbufsize = 65536
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    # Responses.

    def send(self, status, body=None, media="application/hal+json"):
        data = b"" if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        if self.store.fault == "plain-json" and media == "application/hal+json":
            media = "application/json"
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", media)
        self.send_header("Cache-Control", "max-age=0, private, must-revalidate")
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def problem(self, status, resource, problems, atomic=True, entries=None, more=None):
        if entries is None:
            entries = [self.entry(resource, status, problems)]
        error = {
            "request_type": "atomic" if atomic else "non-atomic",
            "response_code": status,
            "resource_status": entries,
        }
        self.send(status, {"svc:error": error, **(more or {})})

    @staticmethod
    def entry(resource, status, problems=()):
        entry = {"resource": f"svc:{resource}", "response_code": status}
        if problems:
            entry["error_descriptions"] = [
                {"error_code": code, "description": words, "properties": names} for code, words, names in problems
            ]
        return entry

    def missing(self, resource="error"):
        if self.command == "GET":
            return self.send(404)
        return self.problem(404, resource, [("NOT_HERE", "The record does not exist.", [])])

    def unsupported(self, resource="error"):
        problems = [("NOT_IMPLEMENTED", "This server does not support this operation.", [])]
        self.problem(500, resource, problems)

    # Representations.

    def href(self, path):
        return f"http://{self.headers.get('Host', 'localhost')}/crm{path}"

    def curies(self):
        return [{"name": "svc", "href": self.href("/help/{rel}"), "templated": True}]

    def shown(self, record, alone=True):
        number, kind = record["number"], record["kind"]
        own = f"/{kind}-{number}"
        shown = dict(record["body"])
        shown["identifiers"] = record["identifiers"] + [f"{NAMESPACE}:{number}"]
        shown["created_date"] = record["created"]
        shown["modified_date"] = record["modified"]
        links = {"self": {"href": self.href(own)}}
        if alone:
            links["curies"] = self.curies()
        if kind == "person":
            shown["id"] = str(number)
        if kind == "petition":
            shown["total_signatures"] = len(self.store.below(record, "signature"))
        for name, other in record["links"].items():
            links[f"svc:{name}"] = {"href": self.href(f"/{name}-{other}")}
        for name in KINDS[kind][4]:
            links[f"svc:{name}"] = {"href": self.href(f"{own}/{name}")}
        if KINDS[kind][5]:
            links[f"svc:{KINDS[kind][5]}"] = {"href": self.href(f"{own}/sign")}
        if self.store.fault == "family-name-lost":
            shown.pop("family_name", None)
        shown["_links"] = links
        return shown

    def page(self, kind, path, members, query):
        try:
            page = int(query.get("page", ["1"])[0])
        except ValueError:
            page = 0
        if page < 1:
            return self.problem(400, kind, [("PAGE_INVALID", "Page numbers start at 1.", ["page"])])
        plural = KINDS[kind][0]
        shown = [self.shown(one, False) for one in members[(page - 1) * PER_PAGE : page * PER_PAGE]]
        total = len(members)
        if self.store.fault == "total-never-falls":
            where = (self.tenant, path)
            total = self.store.most[where] = max(total, self.store.most.get(where, 0))
        pages = -(-total // PER_PAGE)
        links = {"self": {"href": self.href(f"{path}?page={page}")}, "curies": self.curies()}
        if page * PER_PAGE < len(members):
            links["next"] = {"href": self.href(f"{path}?page={page + 1}")}
        links[f"svc:{plural}"] = [one["_links"]["self"] for one in shown]
        body = {"total_pages": pages, "per_page": PER_PAGE, "page": page, "total_records": total}
        return self.send(200, {**body, "_links": links, "_embedded": {f"svc:{plural}": shown}})

    def entry_point(self):
        links = {
            "self": {"href": self.href("/"), "title": "Start"},
            "curies": self.curies(),
            "docs": {"href": self.href("/help/"), "title": "Help", "name": "Help", "index": "start"},
            "svc:person_signup_helper": {"href": self.href("/signup"), "title": "Sign up"},
        }
        for kind, (plural, _, listed, *_) in KINDS.items():
            if listed:
                links[f"svc:{plural}"] = {"href": self.href(f"/every-{kind}"), "title": plural}
        body = {"motd": "Hello.", "max_pagesize": MAX_PAGE, "vendor_name": "Small", "product_name": "Small server"}
        self.send(200, {**body, "svc_version": "1.2.0", "namespace": NAMESPACE, "_links": links})

    # Requests.

    def object(self):
        data = self.body
        if not data:
            return {}
        try:
            body = json.loads(data)
        except ValueError:
            raise Wrong([("NO_JSON", "The body must be JSON.", [])]) from None
        if not isinstance(body, dict):
            raise Wrong([("NO_OBJECT", "The body must be an object.", [])])
        return body

    def read(self, kind, body, problems, path=""):
        fields = KINDS[kind][1]
        read = {}
        for name, shape in fields.items():
            if name in body:
                where = f"{path}{name}"
                value = body[name]
                read[name] = None if value is None else check(shape, value, where, problems)
        primaries = [one for one in read.get("email_addresses") or [] if isinstance(one, dict) and one.get("primary") is True]
        for one in primaries[1:]:
            one["primary"] = False
        return read

    @staticmethod
    def identifiers(body, problems, path=""):
        sent = body.get("identifiers")
        if sent is None:
            return None
        if not isinstance(sent, list):
            problems.append(("NOT_A_LIST", "The value must be a list.", [f"{path}identifiers"]))
            return []
        kept = []
        for at, one in enumerate(sent):
            if not isinstance(one, str) or not re.fullmatch(r"[^:]+:.+", one, re.DOTALL):
                problems.append(("IDENTIFIER_INVALID", "The form is <system>:<id>.", [f"{path}identifiers[{at}]"]))
            elif one not in kept:
                kept.append(one)
        return kept

    def linked(self, kind, href):
        found = re.fullmatch(rf".*/crm/{kind}-([0-9]+)/?", href) if isinstance(href, str) else None
        return self.store.get(self.tenant, int(found[1]), kind) if found else None

    # Operations.

    def handle_one(self):
        self.store = self.server.store
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(length) if length else b""
        with self.store.lock:
            try:
                self.route()
            except Wrong as wrong:
                self.problem(400, self.resource, wrong.problems)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = handle_one

    def route(self):
        self.resource = "error"
        key = self.headers.get("SVC-API-Token")
        if key is not None and key not in KEYS:
            return self.send(403 if self.store.fault == "bad-key-forbidden" else 401)
        self.tenant, self.only = KEYS.get(key, ("one", None))
        address = urlsplit(self.path)
        query = parse_qs(address.query)
        path = address.path.rstrip("/")
        reading = self.command in ("GET", "HEAD")
        if path == "/crm":
            return self.entry_point() if reading else self.unsupported()
        if path.startswith("/crm/help"):
            return self.send(200, "Help", "text/plain") if reading else self.unsupported()
        path = path.removeprefix("/crm")
        helper = re.fullmatch(r"/petition-([0-9]+)/sign", path)
        if key is None and not (helper and self.command == "POST"):
            return self.send(401)
        if helper:
            return self.helper(self.store.get(self.tenant, int(helper[1]), "petition"), key)
        if path == "/signup":
            return self.signup()
        if every := re.fullmatch(r"/every-([a-z]+)", path):
            if every[1] not in KINDS or not KINDS[every[1]][2]:
                return self.missing()
            return self.collection(every[1], None, path, self.store.all(self.tenant, every[1]), query)
        if below := re.fullmatch(r"/([a-z]+)-([0-9]+)/([a-z]+)", path):
            owner = self.store.get(self.tenant, int(below[2]), below[1])
            kind = KINDS.get(below[1], (None,) * 6)[4] or {}
            if owner is None or below[3] not in kind:
                return self.missing()
            return self.collection(kind[below[3]], owner, path, self.store.below(owner, kind[below[3]]), query)
        if one := re.fullmatch(r"/([a-z]+)-([0-9]+)", path):
            return self.one(self.store.get(self.tenant, int(one[2]), one[1]))
        return self.missing()

    def may(self, right):
        if self.only is not None and right not in self.only:
            self.send(403)
            return False
        return True

    def collection(self, kind, owner, path, members, query):
        self.resource = kind
        plural, _, _, container, _, _ = KINDS[kind]
        home = (owner["kind"] if owner else None) == container
        if self.command in ("GET", "HEAD"):
            return self.page(kind, path, members, query) if self.may(f"{plural}.list") else None
        if self.command != "POST" or not home:
            return self.unsupported(kind)
        if not self.may(f"{plural}.create"):
            return None
        body, problems, links = self.object(), [], {}
        fields = {name: value for name, value in self.read(kind, body, problems).items() if value is not None}
        identifiers = self.identifiers(body, problems) or []
        if owner:
            sent = body.get("_links", {}) if isinstance(body.get("_links"), dict) else {}
            link = sent.get("svc:person")
            person = self.linked("person", link.get("href") if isinstance(link, dict) else None)
            if person is None:
                problems.append(("NOBODY", "The target of the link is not a person.", ["_links.svc:person"]))
            else:
                links = {container: owner["number"], "person": person["number"]}
        if problems:
            raise Wrong(problems)
        if kind == "tagging":
            known = [one for one in members if one["links"] == links]
            if known:
                return self.send(200, self.shown(known[0]))
        return self.send(201, self.shown(self.store.add(self.tenant, kind, fields, identifiers, links)))

    def one(self, record):
        if record is None:
            return self.missing()
        kind = self.resource = record["kind"]
        plural = KINDS[kind][0]
        if self.command in ("GET", "HEAD"):
            return self.send(200, self.shown(record)) if self.may(f"{plural}.read") else None
        if self.command == "DELETE":
            if self.may(f"{plural}.delete"):
                self.store.remove(record["number"])
                self.send(200, {"notice": "It is deleted."})
            return None
        if self.command != "PUT" or kind == "tagging":
            return self.unsupported(kind)
        if not self.may(f"{plural}.update"):
            return None
        body, problems = self.object(), []
        fields = self.read(kind, body, problems)
        identifiers = self.identifiers(body, problems)
        if problems:
            raise Wrong(problems)
        for name, value in fields.items():
            if value is None:
                if self.store.fault != "null-ignored":
                    record["body"].pop(name, None)
            else:
                record["body"][name] = value
        if identifiers is not None:
            own = f"{NAMESPACE}:{record['number']}"
            record["identifiers"] = [one for one in identifiers if one != own]
        if self.store.fault != "modified-date-stays":
            record["modified"] = self.store.now()
        return self.send(200, self.shown(record))

    def posted_person(self, body, problems, needed):
        sent = body.get("person")
        if sent is None:
            if needed:
                problems.append(("PERSON_MISSING", "A person is required.", ["person"]))
            return None
        if not isinstance(sent, dict):
            problems.append(("NOT_AN_OBJECT", "A person must be an object.", ["person"]))
            return None
        fields = self.read("person", sent, problems, "person.")
        return {name: value for name, value in fields.items() if value is not None}, self.identifiers(
            sent, problems, "person."
        )

    def tags(self, body, problems):
        names = body.get("add_tags") or []
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            problems.append(("NOT_A_LIST", "The value must be a list of texts.", ["add_tags"]))
            return []
        if problems:
            # The request has no effect: unknown names are reported together with the other problems
            # (ERR-39).
            known = [one["body"].get("name") for one in self.store.all(self.tenant, "tag")]
            if any(name not in known for name in names):
                problems.append(("TAG_NAME_DOES_NOT_EXIST", "No record has this name.", ["add_tags"]))
        return names

    def apply(self, names, person):
        """Adds tags to a person; returns the result entries."""
        entries = []
        for name in names:
            tag = next((one for one in self.store.all(self.tenant, "tag") if one["body"].get("name") == name), None)
            if tag is None and self.store.fault == "unknown-tag-made":
                tag = self.store.add(self.tenant, "tag", {"name": name}, [], {})
            if tag is None or person is None:
                code = "TAG_NAME_DOES_NOT_EXIST" if tag is None else "PERSON_MISSING"
                entries.append(self.entry("tagging", 400, [(code, "No record has this name.", ["add_tags"])]))
                continue
            links = {"tag": tag["number"], "person": person["number"]}
            if any(one["links"] == links for one in self.store.all(self.tenant, "tagging")):
                entries.append(self.entry("tagging", 200))
            else:
                self.store.add(self.tenant, "tagging", {}, [], links)
                entries.append(self.entry("tagging", 201))
        return entries

    def not_offered(self, body):
        """Returns an entry for each action function that this server does not have."""
        kinds = {
            "add_tags_uri": "tagging",
            "add_lists": "item",
            "add_lists_uri": "item",
            "add_questions_responses_uri": "answer",
            "triggers": "message",
        }
        problem = ("NOT_SUPPORTED", "This server does not have this function.")
        return [self.entry(kind, 500, [(*problem, [name])]) for name, kind in kinds.items() if body.get(name)]

    def conclude(self, made, person, entries, key):
        if any(one["response_code"] >= 400 for one in entries):
            more = {"svc:person": self.shown(person)} if key and person else {}
            return self.problem(400, made["kind"], [], False, entries, more)
        shown = key or self.store.fault == "anonymous-shown"
        return self.send(200, self.shown(made) if shown else {})

    def signup(self):
        self.resource = "person"
        if self.command != "POST":
            return self.unsupported("person")
        if not self.may("helper.person_signup"):
            return None
        body, problems = self.object(), []
        sent = self.posted_person(body, problems, True)
        names = self.tags(body, problems)
        if problems:
            raise Wrong(problems)
        person = self.store.add(self.tenant, "person", sent[0], sent[1] or [], {})
        entries = [self.entry("person", 201)] + self.apply(names, person) + self.not_offered(body)
        return self.conclude(person, person, entries, True)

    def helper(self, petition, key):
        self.resource = "signature"
        if self.command != "POST":
            return self.unsupported("signature")
        if not self.may("helper.record_signature"):
            return None
        if petition is None:
            return self.missing("signature")
        body, problems, entries = self.object(), [], []
        fields = {name: value for name, value in self.read("signature", body, problems).items() if value is not None}
        identifiers = self.identifiers(body, problems) or []
        sent = self.posted_person(body, problems, False)
        names = self.tags(body, problems)
        if problems:
            raise Wrong(problems)
        person, links = None, {"petition": petition["number"]}
        if sent:
            person = self.store.add(self.tenant, "person", sent[0], sent[1] or [], {})
            links["person"] = person["number"]
            entries.append(self.entry("person", 201))
        made = self.store.add(self.tenant, "signature", fields, identifiers, links)
        entries.append(self.entry("signature", 201))
        entries += self.apply(names, person) + self.not_offered(body)
        return self.conclude(made, person, entries, key)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--port", type=int, default=8099)
    arguments.add_argument("--fault", choices=sorted(FAULTS))
    arguments.add_argument("--list", action="store_true", help="print the faults with their requirements, and exit")
    chosen = arguments.parse_args()
    if chosen.list:
        print(json.dumps(FAULTS))
        return
    server = ThreadingHTTPServer(("127.0.0.1", chosen.port), Handler)
    server.daemon_threads = True
    server.store = Store(chosen.fault)
    print(f"http://127.0.0.1:{server.server_address[1]}/crm/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
