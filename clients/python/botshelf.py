"""Reads a Botshelf list of bots, and keeps a bot's server count on it. Needs Python 3.9 and nothing else."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import random
import re
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage
from typing import Any, Optional, TypedDict, Union
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

__version__ = "0.1.0"
__all__ = ["Autopost", "BotshelfError", "Client", "autopost", "autopost_async"]


class CachedImages(TypedDict):
    avatar: Optional[str]
    cover: Optional[str]
    preview: list[str]


class ListedContent(TypedDict):
    description: str
    name: str


class Content(ListedContent):
    page: str


class FullCodehost(TypedDict):
    owner: Optional[str]
    repo: Optional[str]


class FullImages(TypedDict):
    avatar: Optional[str]
    cover: Optional[str]
    preview: list[str]


class FullTrigger(TypedDict):
    prefix: list[str]
    customisable: bool
    mentionable: bool


class _Shared(TypedDict):
    id: str
    authors: list[str]
    cachedImages: CachedImages
    category: str
    created: int
    edited: int
    codehost: FullCodehost
    images: FullImages
    invite: str
    legacy: bool
    nsfw: bool
    oauth: Optional[str]
    random: float
    support: Optional[str]
    trigger: FullTrigger
    verified: bool
    website: Optional[str]


class BotRecord(_Shared):
    """A bot with its pages. ``contents`` has a key for each language, the bot's own first."""

    contents: dict[str, Content]


class BotListElement(_Shared):
    """A bot without its pages."""

    contents: dict[str, ListedContent]


class UpdateValues(TypedDict, total=False):
    """The keys that an owner can change."""

    category: str
    count: int
    invite: str
    nsfw: bool
    oauth: Optional[str]
    support: Optional[str]
    website: Optional[str]


class _Saved(TypedDict):
    bot: UpdateValues
    commit: Optional[str]


class UpdateAnswer(_Saved, total=False):
    """The keys as they are saved. ``commit`` is None where only a count changed, or nothing did."""

    note: str


class BotshelfError(Exception):
    """Why a request failed.

    ``status`` is None where no response came. ``retry_after`` is how many seconds the service asks to wait, an hour at
    most. ``is_final`` says that the same request fails again until somebody changes something, such as the token.
    """

    def __init__(
        self, message: str, status: Optional[int] = None, retry_after: float = 0, is_final: bool = False
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.is_final = is_final


class Client:
    """A list of bots. :param timeout: how many seconds a request may take"""

    def __init__(self, base_url: str, timeout: float = 10) -> None:
        self._address = base_url.rstrip("/") + "/api/v2/bots"
        self._timeout = timeout

    def read(self, bot_id: str) -> BotRecord:
        """Returns a bot with its pages. :raises BotshelfError:"""
        return self._request(self._address_of(bot_id))[0]

    def post(self, bot_id: str, token: str, values: UpdateValues) -> UpdateAnswer:
        """Changes a bot: all of the values or none. What is returned is saved. :raises BotshelfError:"""
        secret = (token or "").strip()
        if not re.fullmatch("[!-~]+", secret):
            raise BotshelfError("the token is empty or incomplete: set it as it was issued", is_final=True)
        return self._request(self._address_of(bot_id), {"bot": values}, secret)[0]

    def list(self, **query: Any) -> Iterator[BotListElement]:
        """Yields all bots of a query, without their pages; ``limit`` is how many a request returns.

        :raises BotshelfError:
        """
        pairs = {name: _to_text(value) for name, value in {"limit": 100, **query}.items() if value is not None}
        search: Optional[str] = "?" + urlencode(pairs, doseq=True)
        while search is not None:
            bots, headers = self._request(self._address + search)
            yield from bots
            # Only the query is followed, so that no response leads to another address.
            found = re.search(r'<[^>?]*(\?[^>]*)>; *rel="?next\b', headers.get("Link", ""))
            search = found and found[1]

    def _address_of(self, bot_id: str) -> str:
        return f"{self._address}/{quote(bot_id, safe='')}"

    def _request(self, address: str, body: Any = None, secret: str = "") -> tuple[Any, HTTPMessage]:
        """Sends a request and reads its response. ``secret`` is in no error."""
        method = "GET" if body is None else "POST"
        headers = {"User-Agent": f"botshelf-python/{__version__}"}
        if secret:
            headers.update({"Authorization": secret, "Content-Type": "application/json"})
        data = None if body is None else json.dumps(body).encode()

        def fail(reason: str, **details: Any) -> BotshelfError:
            hidden = reason.replace(secret, "(the token)") if secret else reason
            return BotshelfError(f"{method} {address}: {hidden[:500]}", **details)

        deadline = time.monotonic() + self._timeout
        try:
            request = Request(address, data=data, headers=headers, method=method)
            try:
                response = _opener.open(request, timeout=self._timeout)
            except HTTPError as error:
                response = error
            with response:
                chunks = []
                while chunk := response.read1(65536):
                    chunks.append(chunk)
                    if time.monotonic() > deadline:
                        raise TimeoutError("timed out")
        except (OSError, HTTPException, ValueError) as error:
            raise fail(f"no response: {str(error) or type(error).__name__}") from None
        try:
            content = json.loads(b"".join(chunks))
        except ValueError:
            content = None
        status = response.status
        if 200 <= status < 300 and content is not None:
            return content, response.headers
        if 200 <= status < 300:
            raise fail("the response is not JSON: is this the address of the list?", status=status)
        # What stands between may say 404 or 401, too, for as long as it is not well.
        is_problem = response.headers.get("Content-Type", "").startswith("application/problem+json")
        detail = content.get("detail") if is_problem and isinstance(content, dict) else response.reason
        raise fail(
            f"{status} {detail}",
            status=status,
            retry_after=_read_retry_after(response.headers.get("Retry-After", "")),
            is_final=is_problem and status in (401, 403, 404),
        )


class Autopost:
    """What posts a count in a thread."""

    def __init__(self, poster: _Poster, count: Callable[[], Optional[int]], keep_alive: bool) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(poster, count), name="botshelf", daemon=not keep_alive
        )
        self._thread.start()

    def stop(self) -> None:
        """Returns when nothing is in flight and nothing will be."""
        self._stopping.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self, poster: _Poster, count: Callable[[], Optional[int]]) -> None:
        wait: Optional[float] = 0
        while wait is not None and not self._stopping.wait(wait):
            try:
                number = count()
            except Exception as error:
                wait = poster.plan(error)
            else:
                wait = None if self._stopping.is_set() else poster.plan(poster.send(number))


def autopost(
    base_url: str,
    bot_id: str,
    token: str,
    count: Callable[[], Optional[int]],
    *,
    interval: float = 1800,
    timeout: float = 10,
    keep_alive: bool = False,
    on_post: Optional[Callable[[int], object]] = None,
    on_error: Optional[Callable[[Exception], object]] = None,
) -> Autopost:
    """Posts a bot's count now, and from then on when it has changed or an hour has passed, in a thread.

    A failure is told to ``on_error`` and retried, later each time. Ends by itself where the service refuses the token or
    does not know the bot.

    :param count: returns in how many servers the bot is, or None where that is not known yet
    :param interval: seconds between two looks at the count; up to a tenth more passes, so that bots take turns
    :param keep_alive: whether the process stays alive for the next post
    :param on_error: prints the message where it is left out
    """
    poster = _Poster(Client(base_url, timeout), bot_id, token, interval, on_post, on_error)
    return Autopost(poster, count, keep_alive)


async def autopost_async(
    base_url: str,
    bot_id: str,
    token: str,
    count: Callable[[], Union[Optional[int], Awaitable[Optional[int]]]],
    *,
    interval: float = 1800,
    timeout: float = 10,
    on_post: Optional[Callable[[int], object]] = None,
    on_error: Optional[Callable[[Exception], object]] = None,
) -> None:
    """The same as :func:`autopost` for asyncio: ``count`` is called in the event loop, and may be a coroutine function.

    Cancel the task to stop it: it is over when nothing is in flight.
    """
    poster = _Poster(Client(base_url, timeout), bot_id, token, interval, on_post, on_error)
    wait: Optional[float] = 0
    while wait is not None:
        await asyncio.sleep(wait)
        try:
            number = count()
            if inspect.isawaitable(number):
                number = await asyncio.wait_for(number, timeout)
        except Exception as error:
            wait = poster.plan(error)
            continue
        sent = asyncio.ensure_future(asyncio.to_thread(poster.send, number))
        try:
            wait = poster.plan(await asyncio.shield(sent))
        except asyncio.CancelledError:
            await asyncio.wait([sent])
            raise


class _Poster:
    """What was posted, and how often that failed since."""

    def __init__(
        self,
        client: Client,
        bot_id: str,
        token: str,
        interval: float,
        on_post: Optional[Callable[[int], object]],
        on_error: Optional[Callable[[Exception], object]],
    ) -> None:
        self._post = lambda number: client.post(bot_id, token, {"count": number})
        self._interval = min(interval, 86_400) if interval > 0 else 1800
        self._on_post = on_post or (lambda _: None)
        self._on_error = on_error or _print_error
        self._posted: Optional[int] = None
        self._posted_at = -math.inf
        self._failures = 0

    def send(self, number: Optional[int]) -> Union[int, Exception, None]:
        """Posts a number where that is due, which takes a while. Returns what was posted, or what went wrong."""
        if number is None or (number == self._posted and time.monotonic() - self._posted_at < 3600):
            return None
        try:
            self._post(number)
        except Exception as error:
            return error
        self._posted, self._posted_at = number, time.monotonic()
        return number

    def plan(self, result: Union[int, Exception, None]) -> Optional[float]:
        """Tells the caller what came of it, and returns the seconds until the next step; None at the end."""
        if not isinstance(result, Exception):
            if result is not None:
                _call(self._on_post, result)
            self._failures = 0
            is_known = self._posted is not None
            return self._interval * random.uniform(1, 1.1) if is_known else min(self._interval, 5)
        _call(self._on_error, result)
        if getattr(result, "is_final", False):
            return None
        back_off = min(self._interval, 5 * 2 ** min(self._failures, 20))
        self._failures += 1
        return max(getattr(result, "retry_after", 0), back_off) * random.uniform(1, 1.5)


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would take the token elsewhere, or make a GET of a POST."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_opener = build_opener(_NoRedirects)


def _call(callback: Callable[[Any], object], value: Any) -> None:
    """Calls a function of the caller's, which may fail as it likes."""
    try:
        callback(value)
    except Exception:
        pass


def _print_error(error: Exception) -> None:
    end = ", and will not be" if getattr(error, "is_final", False) else ""
    print(f"The count was not posted{end}: {str(error) or type(error).__name__}", file=sys.stderr)


def _to_text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _read_retry_after(value: str) -> float:
    """Reads the seconds or the date of a ``Retry-After`` header (RFC 9110, section 10.2.3) as seconds from now."""
    try:
        seconds = float(value) if value.strip().isdigit() else parsedate_to_datetime(value).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return 0
    return min(max(seconds, 0), 3600)
