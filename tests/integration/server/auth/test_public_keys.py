"""Tokens of a login service, verified with the public keys that it tells over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from sextant.domain.errors import DependencyError, SettingsInvalid, Unauthorised
from sextant.domain.settings import AuthSettings
from sextant.server.auth.tokens import Tokens, tokens_of

RSA = rsa.generate_private_key(65537, 2048)
OTHER = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())


def public(key: rsa.RSAPrivateKey, kid: str, **members: Any) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    return told | {"kid": kid, "alg": "RS256", "use": "sig"} | members


def signed(key: Any, algorithm: str = "RS256", kid: str | None = "one", **claims: Any) -> str:
    whole = {
        "sub": "alice", "iss": "https://login.test", "aud": "sextant",
        "exp": time.time() + 600, "scope": "openid read",
    }  # fmt: skip
    return jwt.encode(whole | claims, key, algorithm, headers={"kid": kid} if kid else {})


class LoginService:
    """Answers every request on a loopback port with `body`, and counts them."""

    def __init__(self) -> None:
        self.keys: list[dict[str, Any]] = [public(RSA, "one")]
        self.status = "200 OK"
        self.asked = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked += 1
        body = json.dumps({"keys": self.keys}).encode()
        head = f"HTTP/1.1 {self.status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def verifying(service: LoginService, **chosen: Any) -> AsyncIterator[Tokens]:
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/keys"
    named = {"jwks_url": url, "jwt_issuer": "https://login.test", "jwt_audience": "sextant"}
    tokens = tokens_of(AuthSettings(**(named | chosen)))
    assert tokens is not None
    async with server:
        yield tokens
        await tokens.close()


async def test_a_token_of_the_login_service_holds_and_its_keys_are_fetched_once() -> None:
    service = LoginService()
    async with verifying(service) as tokens:
        found = await asyncio.gather(*(tokens.principal(signed(RSA)) for _ in range(20)))
    assert {(one.user_id, *one.permissions) for one in found} == {("alice", "read")}
    assert service.asked == 1


@pytest.mark.parametrize(
    "wrong",
    [
        signed(OTHER),
        signed(RSA, kid="two"),
        signed(RSA, kid=None),
        signed(RSA, "RS512"),
        signed(EC, "ES256"),
        signed(RSA, aud="another"),
        signed(RSA, iss="https://elsewhere.test"),
        signed(RSA, exp=time.time() - 3600),
        jwt.encode({"sub": "alice"}, "", "none"),
    ],
)
async def test_what_it_did_not_sign_does_not_hold_and_the_log_says_why(
    wrong: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sextant.server.auth")
    async with verifying(LoginService()) as tokens:
        with pytest.raises(Unauthorised):
            await tokens.principal(wrong)
    [said] = [
        one.getMessage() for one in caplog.records if one.name.startswith("sextant.server.auth")
    ]
    assert re.fullmatch(r"token refused: \w+Error( \w+)?", said)


async def test_what_was_refused_a_moment_ago_is_not_logged_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "sextant.server.auth")
    wrong = signed(RSA, exp=time.time() - 3600)
    async with verifying(LoginService()) as tokens:
        for _ in range(3):
            with pytest.raises(Unauthorised):
                await tokens.principal(wrong)
    assert caplog.messages.count("token refused: ExpiredSignatureError") == 1


async def test_a_token_that_holds_after_all_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """That it was refused counts only for what is told at once."""
    service, early = LoginService(), signed(RSA)
    service.keys = [public(OTHER, "two")]
    async with verifying(service) as tokens:
        with pytest.raises(Unauthorised):
            await tokens.principal(early)
        service.keys = [public(RSA, "one")]
        monkeypatch.setattr(
            "sextant.server.auth.tokens.monotonic", lambda: time.perf_counter() + 10**6
        )
        assert (await tokens.principal(early)).user_id == "alice"


async def test_the_log_names_the_claim_that_a_token_lacks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "sextant.server.auth")
    lacking = jwt.encode({"sub": "alice", "aud": "sextant"}, RSA, "RS256", headers={"kid": "one"})
    async with verifying(LoginService()) as tokens:
        with pytest.raises(Unauthorised):
            await tokens.principal(lacking)
    assert "token refused: MissingRequiredClaimError exp" in caplog.messages


async def test_a_public_key_is_no_secret_to_sign_with() -> None:
    pem = RSA.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    # PyJWT refuses to sign so; an attacker would not.
    header, payload, _ = signed(b"x" * 32, "HS256").split(".")
    algorithm = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    signature = algorithm.sign(f"{header}.{payload}".encode(), pem)
    forged = f"{header}.{payload}.{jwt.utils.base64url_encode(signature).decode()}"
    async with verifying(LoginService()) as tokens:
        with pytest.raises(Unauthorised):
            await tokens.principal(forged)


async def test_a_secret_among_the_public_keys_is_left_out() -> None:
    service = LoginService()
    service.keys = [
        {"kty": "oct", "kid": "one", "k": "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHg", "alg": "HS256"},
        public(RSA, "two", use="enc"),
        {"kty": "RSA", "kid": "three"},
    ]  # fmt: skip
    async with verifying(service) as tokens:
        for token in (signed(b"x" * 32, "HS256"), signed(RSA, kid="two"), signed(RSA, kid="three")):
            with pytest.raises(Unauthorised):
                await tokens.principal(token)


async def test_new_keys_are_looked_for_but_not_at_every_stranger_s_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = LoginService()
    async with verifying(service) as tokens:
        await tokens.principal(signed(RSA))
        service.keys = [public(OTHER, "two")]
        for _ in range(10):
            with pytest.raises(Unauthorised):
                await tokens.principal(signed(OTHER, kid="two"))
        assert service.asked == 1  # a pause lies between two looks
        monkeypatch.setattr(
            "sextant.server.auth.tokens.monotonic", lambda: time.perf_counter() + 10**6
        )
        assert (await tokens.principal(signed(OTHER, kid="two"))).user_id == "alice"
        assert service.asked == 2
        with pytest.raises(Unauthorised):  # what it has withdrawn holds no more
            await tokens.principal(signed(RSA))


async def test_a_login_service_that_fails_locks_nobody_out_who_has_a_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = LoginService()
    async with verifying(service) as tokens:
        await tokens.principal(signed(RSA))
        service.status = "500 Internal Server Error"
        now = time.monotonic()
        monkeypatch.setattr("sextant.server.auth.tokens.monotonic", lambda: now + 3600)
        assert (await tokens.principal(signed(RSA))).user_id == "alice"
        monkeypatch.setattr("sextant.server.auth.tokens.monotonic", lambda: now + 90_000)
        with pytest.raises(DependencyError):
            await tokens.principal(signed(RSA))


async def test_a_login_service_that_never_answered_is_told_of() -> None:
    service = LoginService()
    service.status = "302 Found"
    async with verifying(service) as tokens:
        with pytest.raises(DependencyError, match="keys"):
            await tokens.principal(signed(RSA))


SAFE = {"jwt_issuer": "https://login.test", "jwt_audience": "sextant"}
SECRET = "x" * 32


@pytest.mark.parametrize(
    ("chosen", "field"),
    [
        ({"jwt_secret": "x" * 31} | SAFE, "auth.jwt_secret"),
        ({"jwt_secret": SECRET, "jwt_audience": "sextant"}, "auth.jwt_issuer"),
        ({"jwt_secret": SECRET, "jwt_issuer": "https://login.test"}, "auth.jwt_audience"),
        ({"jwks_url": "http://login.test/keys"} | SAFE, "auth.jwks_url"),
        ({"jwks_url": "file:///etc/passwd"} | SAFE, "auth.jwks_url"),
        ({"jwks_url": "https://login.test/keys", "jwt_secret": SECRET} | SAFE, "auth.jwks_url"),
        (
            {"jwks_url": "https://login.test/keys", "jwt_algorithms": "RS256, HS256"} | SAFE,
            "auth.jwt_algorithms",
        ),
        (
            {"jwks_url": "https://login.test/keys", "jwt_algorithms": "none"} | SAFE,
            "auth.jwt_algorithms",
        ),
        (
            {"jwks_url": "https://login.test/keys", "jwt_algorithms": ""} | SAFE,
            "auth.jwt_algorithms",
        ),
    ],
)
def test_settings_that_would_let_strangers_in_are_refused(
    chosen: dict[str, Any], field: str
) -> None:
    with pytest.raises(SettingsInvalid) as told:
        tokens_of(AuthSettings(**chosen))
    assert told.value.field == field
    assert "xxxx" not in str(told.value)


def test_nothing_configured_takes_no_tokens() -> None:
    assert tokens_of(AuthSettings()) is None
