"""`sextant serve` says at once what it cannot do."""

from __future__ import annotations

import signal
import socket

import httpx
import pytest

from tests.e2e.conftest import Sextant
from tests.e2e.served import serving

pytestmark = pytest.mark.e2e


def test_an_address_that_others_reach_is_refused_before_anything_starts(sextant: Sextant) -> None:
    ran = sextant("serve", "--host", "0.0.0.0")  # noqa: S104 - that is what is refused
    assert ran.status == 2
    assert "host" in ran.err


def test_a_port_that_is_taken_is_named_with_a_way_out(sextant: Sextant) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = sextant("serve", "--port", str(port))
    assert ran.status == 2
    assert f"Error: 127.0.0.1:{port} cannot be listened on: Address already in use." in ran.err
    assert "--port" in ran.err
    assert len(ran.err.splitlines()) == 2


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("SEXTANT_AUTH__JWT_SECRET", "x" * 32, 2),  # and no issuer
        ("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nowhere", 3),
    ],
)
def test_a_server_that_does_not_start_says_why_in_a_line_and_in_its_status(
    sextant: Sextant, name: str, value: str, status: int, processes: str
) -> None:
    ran = sextant("serve", "--port", "0", "--workers", processes, **{name: value})
    assert ran.status == status
    assert "Traceback" not in ran.err
    reasons = [line for line in ran.err.splitlines() if '"error"' in line and "Exiting" not in line]
    said = "JWT_ISSUER" if status == 2 else "PostgreSQL did not answer"
    assert 1 <= len(reasons) <= int(processes)
    assert all(said in reason for reason in reasons)


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_finishes_and_exits_with_0(
    environment: dict[str, str], order: signal.Signals, processes: str
) -> None:
    with serving(environment, "--workers", processes) as server:
        with httpx.Client(transport=httpx.HTTPTransport(retries=8), timeout=60) as client:
            client.get(f"{server.address}/healthz").raise_for_status()
        server.process.send_signal(order)
        assert server.process.wait(60) == 0
    assert "Traceback" not in "".join(server.log)
