"""Each requirement of the conformance suite as a pytest test.

    pytest examples/python/test_conformance.py

The program runs once, with the options of `svc-conformance.toml` in the current folder and those in the environment variable
SVC_CONFORMANCE_ARGUMENTS. SVC_CONFORMANCE is the path of the program if it is not in PATH.
"""

import json
import os
import shlex
import subprocess
import tempfile

import pytest

# The exit codes of a run that ends with a report.
REPORTED = (0, 1, 3, 6, 7)


def requirements():
    """Runs the suite and returns every requirement with its outcome."""
    program = os.environ.get("SVC_CONFORMANCE", "svc-conformance")
    arguments = shlex.split(os.environ.get("SVC_CONFORMANCE_ARGUMENTS", ""))
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [program, "run", *arguments, "--quiet", "--report", f"json={report}"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode not in REPORTED:
            raise RuntimeError(ended.stderr)
        with open(report, encoding="utf-8") as file:
            return json.load(file)["rows"]


@pytest.mark.parametrize("row", requirements(), ids=lambda row: f"{row['id']}-{row['level']}")
def test_requirement(row):
    undecided = row["outcome"] == "inconclusive"
    if row["outcome"] in ("not_applicable", "disabled", "waived") or (undecided and row["level"] != "MUST"):
        pytest.skip(row["reason"])
    assert row["outcome"] in ("pass", "warn"), row["reason"]
