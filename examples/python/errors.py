"""The problems of a request, and the error object that reports them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One problem: an ErrorDescription of the specification."""

    code: str
    description: str
    properties: tuple[str, ...] = ()
    hint: str | None = None
    reference: str | None = None

    def to_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "error_code": self.code,
            "description": self.description,
            "properties": list(self.properties),
        }
        if self.hint is not None:
            body["hint"] = self.hint
        if self.reference is not None:
            body["reference_code"] = self.reference
        return body


class Refused(Exception):
    """The request is rejected. `problems` is empty if the response has no body."""

    def __init__(self, status: int, *problems: Problem) -> None:
        super().__init__(status, problems)
        self.status = status
        self.problems = problems


def error_object(status: int, problems: tuple[Problem, ...], resource: str) -> dict[str, Any]:
    """The response to a failed request. Every request to this server is atomic, so it has one outcome."""
    outcome = {
        "resource": resource,
        "response_code": status,
        "error_descriptions": [problem.to_json() for problem in problems],
    }
    return {
        "svc:error": {
            "request_type": "atomic",
            "response_code": status,
            "resource_status": [outcome],
        }
    }
