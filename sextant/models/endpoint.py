"""A JSON-over-HTTP model endpoint: one POST with a deadline, retries and typed errors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import httpx
import orjson

from sextant.domain.errors import ModelRejected
from sextant.models import wordings
from sextant.models.failures import Service, as_sextant_error, is_silence
from sextant.models.retries import Retries

Item = TypeVar("Item")
Result = TypeVar("Result")


async def in_batches(
    work: Callable[[Sequence[Item]], Awaitable[Result]],
    items: Sequence[Item],
    *,
    size: int,
    at_once: int,
) -> list[Result]:
    """Return what `work` makes of each batch of `items`, in order.

    The first batch that fails stops the others, and its error is raised; so does a cancellation.

    Args:
        work: takes up to `size` items.
        items: in order.
        size: of a batch, at least 1.
        at_once: batches under way at a time.
    """
    gate = asyncio.Semaphore(at_once)

    async def one(start: int) -> Result:
        async with gate:
            return await work(items[start : start + size])

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(start)) for start in range(0, len(items), size)]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


# An endpoint that is there takes connections at once; one behind a slow way gets more with the time of a call.
_CONNECT_SECONDS, _CONNECT_SHARE = 5.0, 1 / 12


def connect_seconds(timeout: float) -> float:
    """Return how long a connection may take to be made, where a call may take so many seconds."""
    return min(timeout, max(_CONNECT_SECONDS, timeout * _CONNECT_SHARE))


# Redirects of one call: to https, to another host, to another path.
MOST_REDIRECTS = 3


class InsecureRedirect(Exception):
    """An endpoint sends what was asked over https on to an address without encryption."""


async def check_redirect(response: httpx.Response) -> None:
    """Have a POST that has moved (301, 302: http to https) sent on as one, and not as a GET; a hook of httpx's clients.

    Raises:
        InsecureRedirect: the key and the prompt would go out in clear.
    """
    if not response.has_redirect_location:
        return
    url = response.request.url
    if url.scheme == "https" and url.join(response.headers["location"]).scheme == "http":
        raise InsecureRedirect
    if response.request.method == "POST" and response.status_code in (301, 302):
        response.status_code = 308


class Refusal(Exception):
    """The endpoint answered with an error status; shaped as `sextant.models.failures` reads failures."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(response.text or response.reason_phrase)
        self.response = response


class Endpoint:
    """Posts JSON to one URL. Connections are opened on first use and belong to that event loop.

    Args:
        url: where to post.
        key: bearer token, if the endpoint wants one.
        service: how errors speak of it.
        retries: how often and how patiently a failed call is repeated.
        timeout: seconds for one call.
    """

    def __init__(
        self, url: str, key: str | None, service: Service, retries: Retries, timeout: float
    ) -> None:
        self.service = service
        self._url = url
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._retries = retries
        self._timeout = timeout
        self._clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    async def post(self, payload: Mapping[str, Any]) -> Any:  # noqa: ANN401 - it is JSON
        """Return the answer to `payload`, as read from JSON.

        Raises:
            ModelUnavailable: no usable answer came (`ModelRejected`: none will for this request).
        """
        attempt = 0
        while True:
            try:
                async with asyncio.timeout(self._timeout):
                    return await self._post_once(payload)
            except Exception as error:
                if is_silence(error):  # so the next would be: twice the time for nothing
                    raise as_sextant_error(error, self.service) from error
                await self._retries.pause(error, attempt, self.service)
                attempt += 1

    def unusable(self, reason: str) -> ModelRejected:
        """Return the error for an answer that is not what such an endpoint answers."""
        return self.service.error(ModelRejected, wordings.UNUSABLE, reason=reason)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def _post_once(self, payload: Mapping[str, Any]) -> Any:  # noqa: ANN401 - it is JSON
        headers = {"content-type": "application/json", **self._headers}
        response = await self._client().post(
            self._url, content=orjson.dumps(payload), headers=headers
        )
        if response.status_code != 200:
            raise Refusal(response)
        try:
            return orjson.loads(response.content)
        except orjson.JSONDecodeError:
            raise self.unusable("it is not JSON") from None

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            timeout = httpx.Timeout(self._timeout, connect=connect_seconds(self._timeout))
            self._clients[loop] = httpx.AsyncClient(
                timeout=timeout,
                follow_redirects=True,
                max_redirects=MOST_REDIRECTS,
                event_hooks={"response": [check_redirect]},
            )
        return self._clients[loop]
