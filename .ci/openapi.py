"""Sends bodies that schemathesis generates from the OpenAPI document of a running demo: valid ones must succeed, others get 400.

Usage: openapi.py BASE_URL KEY
"""

import collections
import itertools
import json
import re
import sys
import time
from decimal import Decimal

import hypothesis
import jsonschema_rs
import requests
import schemathesis
from openapi_spec_validator import OpenAPIV31SpecValidator

BASE, KEY = sys.argv[1].rstrip("/"), sys.argv[2]
WANTED = 500
VALID_EACH, FAULTY_EACH, COVERING_EACH = 14, 8, 30

session = requests.Session()
count = itertools.count()


def send(method, url, body=None):
    """Sends a request with the key. The URL can be a path below the base URL."""
    url = url if url.startswith("http") else BASE + url
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    headers = {"SVC-API-Token": KEY, "Content-Type": "application/json"}
    return session.request(method, url, data=data, headers=headers, timeout=300)


def made(path, body):
    """Creates a record and returns its URL."""
    answer = send("POST", path, body)
    assert answer.status_code in (200, 201), (path, answer.status_code, answer.text)
    return answer.json()["_links"]["self"]["href"]


document = session.get(BASE + "/docs/openapi.json", timeout=300).json()
wrong = list(OpenAPIV31SpecValidator(document).iter_errors())
assert not wrong, wrong[:3]
print(f"the document is OpenAPI {document['openapi']}: {len(document['paths'])} paths, checked with its own meta-schema")

# Targets of links and paths.
ADA = made("/people", {"given_name": "Ada"})
TAG, LIST = f"tag {next(count)} {time.time()}", f"list {next(count)} {time.time()}"
MADE = {
    "/petitions/{petition_id}": ("/petitions", {}),
    "/events/{event_id}": ("/events", {"type": "ticketed", "ticket_levels": [{"title": "General"}]}),
    "/forms/{form_id}": ("/forms", {}),
    "/fundraising_pages/{fundraising_page_id}": ("/fundraising_pages", {}),
    "/advocacy_campaigns/{advocacy_campaign_id}": ("/advocacy_campaigns", {}),
    "/share_pages/{share_page_id}": ("/share_pages", {}),
    "/questions/{question_id}": ("/questions", {"question_type": "Paragraph"}),
    "/messages/{message_id}": ("/messages", {}),
    "/tags/{tag_id}": ("/tags", {"name": TAG}),
    "/lists/{list_id}": ("/lists", {"name": LIST}),
}
KNOWN = {"/people/{person_id}": ADA} | {template: made(*how) for template, how in MADE.items()}
# These have their own names.
MADE |= {"/people/{person_id}": ("/people", {}), "/tags/{tag_id}": ("/tags", {}), "/lists/{list_id}": ("/lists", {})}


def path_of(href):
    return href.removeprefix(BASE)


def pattern_of(template):
    return re.compile("^" + re.sub(r"\\{(\w+)\\}", r"(?P<\1>[A-Za-z0-9_-]+)", re.escape(template)) + "$")


def record_at(template):
    """Returns the URL of a record for a path template. Creates the record if necessary."""
    if template not in KNOWN:
        above, _ = template.rsplit("/", 1)
        if "{" in above:
            kind, (own, _) = above.rsplit("/", 1)[1], above.rsplit("/", 1)
            links = {"value": "said", "_links": {"svc:person": {"href": ADA}}}
            if "post" in document["paths"][above]:
                KNOWN[template] = made(path_of(record_at(own)) + "/" + kind, links)
            else:
                answer = send("POST", path_of(record_at(own)) + "/record_canvass_helper", {"canvass": {}})
                KNOWN[template] = answer.json()["_links"]["self"]["href"]
        elif above == "/donations":
            links = {"value": "said", "_links": {"svc:person": {"href": ADA}}}
            page = record_at("/fundraising_pages/{fundraising_page_id}")
            KNOWN[template] = made(path_of(page) + "/donations", links)
        else:
            page = send("GET", above).json()
            KNOWN[template] = next(iter(page["_embedded"].values()))[0]["_links"]["self"]["href"]
    return KNOWN[template]


RECORDS = [path for path in document["paths"] if re.search(r"\{\w+_id\}$", path)]


CHANGED = {}


def ids_of(operation):
    """Returns ids for a path to a record, or to a collection below one. Changes use a new record."""
    if "{" not in operation.path:
        return {}
    template = operation.path[: operation.path.rindex("}") + 1]
    if operation.method.upper() == "PUT" and template in MADE:
        if template not in CHANGED:
            CHANGED[template] = made(*MADE[template])
        address = CHANGED[template]
    else:
        address = record_at(template)
    return pattern_of(template).match(path_of(address)).groupdict()


def settled(value, operation, at=()):
    """Returns the body, changed for what no schema can express: existing URLs and names, new names, rules between members."""
    if isinstance(value, dict):
        value = {name: settled(inner, operation, (*at, name)) for name, inner in value.items()}
        for first, last in (("start_date", "end_date"), ("scheduled_start_date", "scheduled_stop_date"), ("scheduled_start_date", "scheduled_end_date")):
            if value.get(first) and value.get(last):
                value[last] = value[first]
        if isinstance(value.get("day"), int) and value["day"] > 28 and at[-1:] == ("birthdate",):
            # Not every month has this day (RES-person-21).
            value["day"] = 28
        if isinstance(value.get("currency"), str):
            # A code of ISO 4217.
            value["currency"] = "EUR"
        if at[-2:-1] == ("phone_numbers",):
            # A number starts with the code of its country.
            value.pop("country", None)
        if "href" in value and at[-2:-1] == ("_links",) and isinstance(value["href"], str):
            for template in RECORDS:
                if pattern_of(template).match(path_of(value["href"])):
                    value["href"] = record_at(template)
        if "question" in value and at and isinstance(value["question"], str | dict):
            # The question is a Paragraph. Its answer is a text (HAF-10).
            value.update(question=record_at("/questions/{question_id}"), responses=[], value="said")
        return value
    if isinstance(value, list):
        value = [settled(inner, operation, (*at, place)) for place, inner in enumerate(value)]
        name = at[-1] if at else None
        if name == "identifiers":
            return [f"{entry}.{next(count)}" if isinstance(entry, str) else entry for entry in value]
        if name == "responses" and all(isinstance(entry, dict) for entry in value):
            keys = {entry.get("key"): entry for entry in value}
            return list(keys.values())
        if name == "responses" and "/answers" in operation.path and all(isinstance(entry, str) for entry in value):
            # The answered question has no responses (HAF-09).
            return []
        if name == "tickets" and all(isinstance(ticket, dict) for ticket in value):
            return [{**ticket, "title": "General"} for ticket in value]
        known = {"add_tags": TAG, "add_lists": LIST, "add_tags_uri": KNOWN["/tags/{tag_id}"], "add_lists_uri": KNOWN["/lists/{list_id}"]}
        return [known.get(name, entry) if isinstance(entry, str) else entry for entry in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        # An integer has 64 bits, also in an ignored member.
        return 0
    if isinstance(value, float) and at[-1:] == ("number",) and value.is_integer():
        # `7.0` is an integer in JSON Schema, but not a phone number.
        return int(value)
    if isinstance(value, float) and -Decimal(repr(value)).as_tuple().exponent > 6:
        # An amount of money has at most six decimal places.
        return float(f"{value:.6f}")
    if at == ("name",) and operation.label.split("/")[1].split(" ")[0] in ("tags", "lists") and isinstance(value, str):
        return f"{value}{next(count)}"
    return value


FUNCTIONS = ("add_tags", "add_tags_uri", "add_lists", "add_lists_uri", "add_questions_responses_uri")


def body_of(case, operation):
    body = settled(case.body, operation)
    if "_helper" in operation.path and not isinstance(body.get("person"), dict) and "canvass" not in operation.path:
        # They need a person, and there is none (UND-29).
        for name in FUNCTIONS:
            body.pop(name, None)
    if operation.path == "/questions/{question_id}":
        # The rules apply to the changed record, which can keep its type or its responses (ERR-35, RES-question-07).
        if not body.get("responses"):
            body.update(question_type="Paragraph", responses=[])
        elif body.get("question_type") is None:
            body.update(question_type="MultiChoice")
    if operation.path.endswith("/redeliver"):
        # An invented cursor is never a cursor of the feed (HOOK-10).
        body["after"] = None
    if "/answers" in operation.path and not (body.get("value") or "").strip() and (operation.method.upper() == "POST" or "value" in body):
        # The question of the answer is a Paragraph (HAF-10).
        body["value"] = "said"
    return body


def validator_of(schema):
    whole = {"components": document["components"], **schema}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def cases(operation, mode, number, each):
    settings = hypothesis.settings(
        max_examples=number,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    strategy = operation.as_strategy(
        generation_mode=mode, path_parameters=ids_of(operation), headers={}, query={}, cookies={}
    )
    settings(hypothesis.given(strategy)(each))()


def covering(operation):
    """Yields bodies that violate one keyword of the schema each, up to a maximum number for each operation."""
    modes = [schemathesis.GenerationMode.NEGATIVE]
    config = operation.schema.config.generation_for(operation=operation)
    made = operation.schema.iter_coverage_cases(operation, generation_modes=modes, generation_config=config)
    with_body = (case for case in made if case.method.upper() == operation.method.upper() and isinstance(case.body, dict))
    return itertools.islice(with_body, COVERING_EACH)


schema = schemathesis.openapi.from_dict(document)
schema.config.generation.update(allow_x00=False)
tally = collections.Counter()
surprises = []


def check(operation, sort, body, is_expected):
    path = operation.path.format(**ids_of(operation))
    answer = send(operation.method.upper(), path, body)
    tally[sort] += 1
    if not is_expected(answer.status_code):
        surprises.append(f"{sort}: {operation.label}: {answer.status_code} for {str(body)[:2000]}\n    {answer.text[:600]}")


only = sys.argv[3] if len(sys.argv) > 3 else ""
begun = time.time()
for result in schema.get_all_operations():
    operation = result.ok()
    definition = document["paths"][operation.path][operation.method].get("requestBody")
    # The response of a batch is 200, and contains the problems of its entries.
    if operation.path.endswith("/batch"):
        continue
    if definition is None or only not in operation.label:
        continue
    validator = validator_of(definition["content"]["application/json"]["schema"])
    started, before = time.time(), dict(tally)

    def valid(case):
        if not isinstance(case.body, dict):
            return
        body = body_of(case, operation)
        if not validator.is_valid(body):
            tally["left out: the rules between members cannot be satisfied"] += 1
            return
        check(operation, "valid", body, lambda status: status in (200, 201))

    def faulty(case):
        if isinstance(case.body, bytes):
            # A helper request can have no body (UND-29). White space counts as no body.
            if not case.body.strip():
                return
            return check(operation, "not JSON", case.body, lambda status: status == 400)
        try:
            body = json.loads(json.dumps(case.body, allow_nan=False))
        except (TypeError, ValueError):
            return
        errors = sum(1 for _ in validator.iter_errors(body))
        # No body is sent then, which is valid if the body is optional.
        if body is None and not definition.get("required"):
            return
        sort = {0: None, 1: "one fault"}.get(errors, "several faults")
        if sort == "one fault" and not isinstance(body, dict):
            sort = "not an object"
        if sort:
            check(operation, sort, body, lambda status: status == 400)

    cases(operation, schemathesis.GenerationMode.POSITIVE, VALID_EACH, valid)
    cases(operation, schemathesis.GenerationMode.NEGATIVE, FAULTY_EACH, faulty)
    for case in covering(operation):
        faulty(case)
    gained = ", ".join(f"{number - before.get(sort, 0)} {sort}" for sort, number in tally.items())
    print(f"{time.time() - started:5.1f} s  {operation.label}: {gained}", flush=True)

print(f"{time.time() - begun:.0f} s: " + ", ".join(f"{number} {sort}" for sort, number in tally.items()))
for surprise in surprises[:40]:
    print(surprise)
if surprises:
    sys.exit(f"{len(surprises)} responses differed from the document")
if not only and (tally["valid"] < WANTED or tally["one fault"] < WANTED):
    sys.exit(f"fewer than {WANTED} bodies of one kind")
