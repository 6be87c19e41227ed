"""Every route under requests that are made from its description: no fault, nothing undocumented.

`SEXTANT_FUZZ_EXAMPLES` says how many for each route: 10 in a usual run, 200 before a release (`make fuzz`,
half an hour on two busy cores).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from sextant.server.openapi import examples
from tests.e2e.served import serving

pytestmark = pytest.mark.e2e

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
EXAMPLES = os.environ.get("SEXTANT_FUZZ_EXAMPLES", "10")
DELETING = ("deleteGraph", "deleteDocument", "forgetThread")
THREAD = "leave"
# An answer's events are there for as long as the run takes.
KEPT = {"SEXTANT_RUNS__KEEP_SECONDS": "3600"}


def test_no_request_makes_the_server_fail_or_say_what_is_not_documented(
    environment: dict[str, str], tmp_path: Path
) -> None:
    kept = [word for own in DELETING for word in ("--exclude-operation-id", own)]
    with serving(environment | KEPT) as server:
        address = server.address
        known = given(address)
        alone = ran(address, tmp_path, known, "examples,coverage,fuzzing", *kept)
        together = ran(address, tmp_path, known, "stateful")
        deleted = ran(
            address,
            tmp_path,
            known,
            "coverage,fuzzing",
            *(word for own in DELETING for word in ("--include-operation-id", own)),
        )
        alive = httpx.get(f"{address}/healthz", timeout=60)
    assert alive.json() == {"status": "ok"}
    failed = "".join(line for line in server.log if '"level": "error"' in line)
    for done in (alone, together, deleted):
        assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:] + failed


def given(address: str) -> dict[str, str]:
    """Return ids of what the examples bring, by the name that `tests.e2e.generating` reads them from."""
    lines = {"content-type": "application/x-ndjson"}
    with httpx.Client(base_url=address, timeout=60) as client:
        path = "/api/graphs/rust/import"
        brought = client.post(
            path, content=examples()["requests"]["importGraph"].encode(), headers=lines
        )
        assert brought.status_code == 200
        passage = client.post("/search", json=examples()["requests"]["search"]).json()["results"][0]
        asked = {"query": "Rust", "graphId": "rust", "threadId": THREAD, "stream": True}
        run = client.post("/api/query", json=asked).headers["content-location"].split("/")[3]
    return {
        "FUZZ_DOCUMENT": passage["documentId"],
        "FUZZ_ENTITY": examples()["parameters"]["entityId"],
        "FUZZ_RUN": run,
        "FUZZ_THREAD": THREAD,
    }


def ran(
    address: str, folder: Path, known: dict[str, str], phases: str, *options: str
) -> subprocess.CompletedProcess[str]:
    """Return one run of schemathesis; the same seed gives the same requests."""
    root = str(Path(__file__).parents[2])
    arguments = ["--checks", ",".join(CHECKS), "--phases", phases, "--max-examples", EXAMPLES]
    arguments += ["--seed", "7", "--request-timeout", "120", "--continue-on-failure", "--no-color"]
    return subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json"),
            *(*arguments, "--suppress-health-check", "all", *options),
        ],
        cwd=folder,
        env=os.environ | known | {"SCHEMATHESIS_HOOKS": "tests.e2e.generating", "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
