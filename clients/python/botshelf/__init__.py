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
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage, InvalidURL
from typing import Any, NamedTuple, Optional, TypedDict, TypeVar, Union
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

__version__ = "0.2.0"
__all__ = ["Autopost", "BotshelfError", "Client", "Export", "autopost", "autopost_async"]


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


class _SavedCommands(TypedDict):
    commands: int
    commit: Optional[str]


class CommandsAnswer(_SavedCommands, total=False):
    """How many commands are saved. ``commit`` is None where nothing differs."""

    note: str


class _SentPage(TypedDict):
    proposal: Optional[str]
    state: str


class PageAnswer(_SentPage, total=False):
    """``proposal`` is its address, for the authors. ``state`` is waiting, changes-asked, published, unchanged,
    declined or withdrawn."""

    note: str


class LatestCount(TypedDict):
    """In how many servers a bot is, and when it said so."""

    count: int
    reportedAt: str


class BotStats(TypedDict):
    """In how many servers a bot is, and when it said so. Both are None for a bot without a count."""

    server_count: Optional[int]
    countedAt: Optional[str]


class FileText(TypedDict):
    path: str
    text: str


class ExportLine(BotRecord):
    """A bot with its pages, and the files that it is made from."""

    files: list[FileText]


class CatalogueChange(TypedDict):
    """``what`` is added, changed or removed."""

    commit: str
    at: str
    bot: str
    what: str
    keys: list[str]
    locales: list[str]


class CatalogueChanges(TypedDict):
    """What changed after a cursor. ``next`` is the cursor after it, ``more`` whether there is more now."""

    changes: list[CatalogueChange]
    next: str
    more: bool


class Export(NamedTuple):
    """All bots, and the cursor after which the changes since begin; None if the list cannot read its history."""

    cursor: Optional[str]
    bots: Iterator[ExportLine]


class BotshelfError(Exception):
    """Why a request failed.

    ``status`` is None where no response came. ``retry_after`` is how many seconds the service asks to wait, an hour at
    most. ``is_final`` says that the same request fails again until somebody changes something, such as the token.
    ``type`` is that of the problem, such as ``urn:botshelf:problem:bad-token``, and None if the service did not send
    the response; ``errors`` has each mistake of the request, and ``request_id`` is what the log of the service calls it.
    """

    def __init__(
        self,
        message: str,
        status: Optional[int] = None,
        retry_after: float = 0,
        is_final: bool = False,
        type: Optional[str] = None,
        errors: Iterable[dict[str, str]] = (),
        request_id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.is_final = is_final
        self.type = type
        self.errors = list(errors)
        self.request_id = request_id

    @property
    def is_removed(self) -> bool:
        """Whether the bot is not listed, or no longer. A 404 of a proxy does not say so."""
        return bool(re.search(":(unknown|removed)-bot$", self.type or ""))


_Result = TypeVar("_Result")


class Client:
    """A list of bots. A read that fails in passing is tried three times.

    :param timeout: how many seconds a request may take; of an export: until its next bytes
    :param user_agent: names your program and how to reach you, such as ``my-stats/1.0 (ops@example.org)``
    """

    def __init__(self, base_url: str, timeout: float = 10, user_agent: Optional[str] = None) -> None:
        self._address = base_url.rstrip("/") + "/api/v2"
        self._timeout = timeout
        self._user_agent = user_agent or f"botshelf-python/{__version__}"

    def read(self, bot_id: Union[int, str]) -> BotRecord:
        """Returns a bot with its pages. :raises BotshelfError:"""
        return self._read(self._address_of(bot_id), _has("contents"))[0]

    def post(self, bot_id: Union[int, str], token: Optional[str], values: UpdateValues) -> UpdateAnswer:
        """Changes a bot: all of the values or none. What is returned is saved. :raises BotshelfError:"""
        body = _to_json(lambda: {"bot": values})
        return self._request(self._address_of(bot_id), _has("bot"), body, _to_secret(token))[0]

    def put_commands(self, bot_id: Union[int, str], token: Optional[str], commands: Iterable[Any]) -> CommandsAnswer:
        """Puts the commands of a bot in place of those it had. What is returned is saved.

        :param commands: as Discord's API has them, or as ``tree.fetch_commands()`` of discord.py returns them
        :raises BotshelfError:
        """
        body = _to_json(lambda: _pick_commands(commands))
        address = f"{self._address_of(bot_id)}/commands"
        return self._request(address, _has("commands"), body, _to_secret(token), "PUT")[0]

    def put_page(
        self, bot_id: Union[int, str], token: Optional[str], locale: str, text: str, description: Optional[str] = None
    ) -> PageAnswer:
        """Sends a page, which waits for a review unless the list publishes it.

        :param text: in markdown
        :param description: what the bot does, in a sentence; the list keeps what it has by default
        :raises BotshelfError:
        """
        front = _to_json(lambda: {} if description is None else {"description": description})
        body = b"---\n%s\n---\n\n%s\n" % (front, text.encode())
        address = f"{self._address_of(bot_id)}/pages/{quote(locale, safe='')}"
        return self._request(address, _has("state"), body, _to_secret(token), "PUT", "text/markdown")[0]

    def stats(self, bot_id: Union[int, str]) -> BotStats:
        """Returns the latest count of a bot. :raises BotshelfError:"""
        return self._read(f"{self._address_of(bot_id)}/stats", _has("server_count"))[0]

    def list(self, limit: float = math.inf, **query: Any) -> Iterator[BotListElement]:
        """Yields the bots of a query, without their pages: all, or ``limit`` of them.

        With ``fields``, such as ``"id,count"``, each has those keys only. ``ids`` selects at most 100 bots.

        :raises BotshelfError:
        """
        left = limit
        search: Optional[str] = _format_query({**query, "limit": min(limit, 100)})
        while search is not None:
            bots, headers = self._read(f"{self._address}/bots{search}", lambda bots: isinstance(bots, list))
            for bot in bots:
                if left <= 0:
                    return
                yield bot
                left -= 1
            # Only the query is followed, so that no response leads to another address.
            found = re.search(r'<[^>?]*(\?[^>]*)>; *rel="?next\b', headers.get("Link", ""))
            search = found[1] if found and left > 0 else None

    def counts(
        self, since: Optional[str] = None, ids: Optional[Iterable[Union[int, str]]] = None
    ) -> dict[str, LatestCount]:
        """Returns the latest counts by bot: all, those of ``ids``, or those reported later than ``since``.

        :raises BotshelfError:
        """
        address = f"{self._address}/counts{_format_query({'since': since, 'ids': ids})}"
        return self._read(address, lambda counts: _has()(counts) and all(map(_has("reportedAt"), counts.values())))[0]

    def export(self) -> Export:
        """Returns all bots with their pages and files, which are read as they come. :raises BotshelfError:"""

        def start() -> Export:
            exchange = _Exchange(f"{self._address}/export.ndjson", self._timeout, self._user_agent)
            headers = exchange.response.headers
            if not headers.get("Content-Type", "").startswith("application/x-ndjson"):
                raise exchange.foreign()
            return Export(headers.get("X-Cursor"), exchange.read_lines())

        return _retry(start)

    def changes(
        self,
        since: Optional[str] = None,
        *,
        ids: Optional[Iterable[Union[int, str]]] = None,
        interval: float = 300,
        on_error: Optional[Callable[[Exception], object]] = None,
    ) -> Iterator[CatalogueChanges]:
        """Yields what changes, page by page and without end, and retries what fails.

        A page is yielded once: keep its ``next`` after you processed it, and pass it as ``since`` when your program
        starts again.

        :param since: the cursor after which the changes begin, from an export or a page of changes; now by default
        :param ids: only these bots, at most 100; all by default
        :param interval: seconds between two requests; up to a tenth more passes
        :param on_error: gets what is retried; prints the message by default
        :raises BotshelfError: with status 410 if the history was rewritten: export again
        """
        interval = _to_interval(interval, 300)
        only = None if ids is None else list(ids)
        failures = 0
        while True:
            try:
                address = f"{self._address}/changes{_format_query({'since': since, 'ids': only})}"
                page = self._request(address, _has("changes", "next"))[0]
            except BotshelfError as error:
                # No request of ours makes a 404: the service is not there for a while.
                if error.is_final and error.status != 404:
                    raise
                _call(on_error or _print_error("The changes were not read"), error)
                time.sleep(_back_off(interval, failures, error))
                failures += 1
                continue
            failures = 0
            if page["next"] != since:
                yield page
                since = page["next"]
            if not page["more"]:
                time.sleep(interval * random.uniform(1, 1.1))

    def _address_of(self, bot_id: Union[int, str]) -> str:
        return f"{self._address}/bots/{quote(str(bot_id), safe='')}"

    def _read(self, address: str, is_expected: Callable[[Any], bool]) -> tuple[Any, HTTPMessage]:
        return _retry(lambda: self._request(address, is_expected))

    def _request(
        self,
        address: str,
        is_expected: Callable[[Any], bool],
        body: Optional[bytes] = None,
        secret: str = "",
        method: str = "POST",
        media_type: str = "application/json",
    ) -> tuple[Any, HTTPMessage]:
        deadline = time.monotonic() + self._timeout
        exchange = _Exchange(address, self._timeout, self._user_agent, body, secret, method, media_type)
        received = exchange.parse(b"".join(exchange.read(deadline)))
        if not is_expected(received):
            raise exchange.foreign()
        return received, exchange.response.headers


class _Exchange:
    """A request, and its response as it comes. ``secret`` is in no error. :raises BotshelfError:"""

    def __init__(
        self,
        address: str,
        timeout: float,
        user_agent: str,
        body: Optional[bytes] = None,
        secret: str = "",
        method: str = "POST",
        media_type: str = "application/json",
    ) -> None:
        self._method = "GET" if body is None else method
        self._address, self._secret = address, secret
        headers = {"User-Agent": user_agent, "Accept-Encoding": "gzip"}
        if secret:
            headers.update({"Authorization": secret, "Content-Type": media_type})
        deadline = time.monotonic() + timeout
        try:
            if not re.match("https?://[!-~]+$", address):
                raise ValueError("it does not begin with https://, or has a blank")
            request = Request(address, data=body, headers=headers, method=self._method)
            self.response = _opener.open(request, timeout=timeout)
        except (InvalidURL, ValueError) as error:
            raise self._fail(f"the address, or a header, is invalid: {error}", is_final=True) from None
        except HTTPError as error:
            self.response = error
            raise self._problem(b"".join(self.read(deadline))) from None
        except (OSError, HTTPException) as error:
            raise self._no_response(error) from None

    def read(self, deadline: float = math.inf) -> Iterator[bytes]:
        is_packed = self.response.headers.get("Content-Encoding") == "gzip"
        unpacker = zlib.decompressobj(wbits=31) if is_packed else None
        try:
            with self.response:
                while chunk := self.response.read1(65536):
                    yield unpacker.decompress(chunk) if unpacker else chunk
                    if time.monotonic() > deadline:
                        raise TimeoutError("timed out")
            if unpacker and not unpacker.eof:
                raise EOFError("it was cut off")
        except (OSError, HTTPException, ValueError, EOFError, zlib.error) as error:
            raise self._no_response(error) from None

    def read_lines(self) -> Iterator[Any]:
        rest = b""
        for chunk in self.read():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from map(self.parse, lines)
        if rest:
            raise self._no_response(EOFError("it was cut off within a line"))

    def parse(self, text: bytes) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            raise self.foreign() from None

    def foreign(self) -> BotshelfError:
        """Returns the error of a response that a server in between has sent."""
        reason = "the response is not that of a list of bots: is this the address of the list?"
        return self._fail(reason, status=self.response.status)

    def _problem(self, text: bytes) -> BotshelfError:
        status, headers, reason = self.response.status, self.response.headers, self.response.reason
        # What stands between may say 404 or 401, too, for as long as it is not well.
        is_problem = headers.get("Content-Type", "").startswith("application/problem+json")
        problem = self.parse(text) if is_problem else {}
        if not _has()(problem):
            problem = {}
        errors = problem.get("errors")
        return self._fail(
            f"{status} {problem.get('detail', reason)}",
            status=status,
            type=problem.get("type"),
            errors=errors if isinstance(errors, list) else [],
            request_id=headers.get("X-Request-Id"),
            retry_after=_read_retry_after(headers.get("Retry-After", "")),
            # 409 and 429 say that it is to be tried again.
            is_final=is_problem and status < 500 and status not in (409, 429),
        )

    def _no_response(self, error: Exception) -> BotshelfError:
        return self._fail(f"no response: {str(error) or type(error).__name__}")

    def _fail(self, reason: str, **details: Any) -> BotshelfError:
        def hide(text: str) -> str:
            return text.replace(self._secret, "(the token)") if self._secret else text

        shown = json.loads(hide(json.dumps(details)))
        return BotshelfError(f"{self._method} {self._address}: {hide(reason)[:500]}", **shown)


class Autopost:
    """What posts a count in a thread."""

    def __init__(
        self,
        poster: _Poster,
        count: Callable[[], Optional[int]],
        commands: Optional[Callable[[], Iterable[Any]]],
        keep_alive: bool,
    ) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(poster, count, commands), name="botshelf", daemon=not keep_alive
        )
        self._thread.start()

    def stop(self) -> None:
        """Returns when nothing is in flight and nothing will be."""
        self._stopping.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(
        self,
        poster: _Poster,
        count: Callable[[], Optional[int]],
        commands: Optional[Callable[[], Iterable[Any]]],
    ) -> None:
        wait = 0.0
        while not self._stopping.wait(wait):
            try:
                number = count()
            except Exception as error:
                wait = poster.plan(None, error)
                continue
            try:
                listed = commands() if commands else None
            except Exception as error:
                listed = error
            if not self._stopping.is_set():
                wait = poster.plan(*poster.send(number, listed))


def autopost(
    base_url: str,
    bot_id: Union[int, str],
    token: Optional[str],
    count: Callable[[], Optional[int]],
    *,
    commands: Optional[Callable[[], Iterable[Any]]] = None,
    interval: float = 1800,
    timeout: float = 10,
    user_agent: Optional[str] = None,
    keep_alive: bool = False,
    on_post: Optional[Callable[[int], object]] = None,
    on_error: Optional[Callable[[Exception], object]] = None,
) -> Autopost:
    """Posts a bot's count now, and from then on when it has changed or an hour has passed, in a thread.

    A failure is told to ``on_error`` and retried, later each time; after an hour if the service refuses the token or
    does not know the bot, which the message says.

    :param count: returns in how many servers the bot is, or None where that is not known yet
    :param commands: returns the commands of the bot, which are posted where they have changed since
    :param interval: seconds between two looks at the count; up to a tenth more passes, so that bots take turns
    :param user_agent: names your program and how to reach you
    :param keep_alive: whether the process stays alive for the next post
    :param on_error: prints the message where it is left out
    """
    poster = _Poster(Client(base_url, timeout, user_agent), bot_id, token, interval, on_post, on_error)
    return Autopost(poster, count, commands, keep_alive)


async def autopost_async(
    base_url: str,
    bot_id: Union[int, str],
    token: Optional[str],
    count: Callable[[], Union[Optional[int], Awaitable[Optional[int]]]],
    *,
    commands: Optional[Callable[[], Union[Iterable[Any], Awaitable[Iterable[Any]]]]] = None,
    interval: float = 1800,
    timeout: float = 10,
    user_agent: Optional[str] = None,
    on_post: Optional[Callable[[int], object]] = None,
    on_error: Optional[Callable[[Exception], object]] = None,
) -> None:
    """The same as :func:`autopost` for asyncio: ``count`` and ``commands`` are called in the event loop, and may be
    coroutine functions.

    Cancel the task to stop it: it is over when nothing is in flight.
    """
    poster = _Poster(Client(base_url, timeout, user_agent), bot_id, token, interval, on_post, on_error)
    wait = 0.0
    while True:
        await asyncio.sleep(wait)
        try:
            number = count()
            if inspect.isawaitable(number):
                number = await asyncio.wait_for(number, timeout)
        except Exception as error:
            wait = poster.plan(None, error)
            continue
        try:
            listed = commands() if commands else None
            if inspect.isawaitable(listed):
                listed = await asyncio.wait_for(listed, timeout)
        except Exception as error:
            listed = error
        sent = asyncio.ensure_future(asyncio.to_thread(poster.send, number, listed))
        try:
            wait = poster.plan(*await asyncio.shield(sent))
        except asyncio.CancelledError:
            await asyncio.wait([sent])
            raise


class _Poster:
    """What was posted, and how often that failed since."""

    def __init__(
        self,
        client: Client,
        bot_id: Union[int, str],
        token: Optional[str],
        interval: float,
        on_post: Optional[Callable[[int], object]],
        on_error: Optional[Callable[[Exception], object]],
    ) -> None:
        self._post = lambda number: client.post(bot_id, token, {"count": number})
        self._put = lambda commands: client.put_commands(bot_id, token, commands)
        self._commands: Any = None
        self._commands_due_at = -math.inf
        self._interval = _to_interval(interval, 1800)
        self._on_post = on_post or (lambda _: None)
        self._on_error = on_error or _print_error("The count was not posted")
        self._posted: Optional[int] = None
        self._posted_at = -math.inf
        self._failures = 0

    def send(
        self, number: Optional[int], commands: Union[Iterable[Any], Exception, None]
    ) -> tuple[Optional[int], Optional[Exception], Optional[Exception]]:
        """Posts what is due, which takes a while. Returns the number that was posted, and what went wrong with it and
        with the commands.

        :param commands: or why they are not known
        """
        posted = None
        try:
            if number is not None and (number != self._posted or time.monotonic() - self._posted_at >= 3600):
                self._post(number)
                self._posted, self._posted_at = number, time.monotonic()
                posted = number
        except Exception as error:
            return None, error, None
        try:
            if isinstance(commands, Exception):
                raise commands
            listed = None if commands is None else json.loads(_to_json(lambda: _pick_commands(commands)))
            if number is not None and listed != self._commands and time.monotonic() >= self._commands_due_at:
                self._put(listed)
                self._commands = listed
        except Exception as error:
            return posted, None, error
        return posted, None, None

    def plan(
        self, posted: Optional[int], error: Optional[Exception], commands_error: Optional[Exception] = None
    ) -> float:
        """Tells the caller what came of it, and returns the seconds until the next step."""
        if posted is not None:
            _call(self._on_post, posted)
        if commands_error is not None:
            # Counts do not wait for them.
            self._commands_due_at = time.monotonic() + self._report(commands_error)
        if error is None:
            self._failures = 0
            is_known = self._posted is not None
            return self._interval * random.uniform(1, 1.1) if is_known else min(self._interval, 5)
        least = self._report(error)
        if getattr(error, "is_final", False):
            return least
        self._failures += 1
        return _back_off(self._interval, self._failures - 1, error)

    def _report(self, error: Exception) -> float:
        """Tells of an error. Returns the seconds to wait at least: what is wrong may be the service for a moment."""
        if isinstance(error, BotshelfError) and error.is_final:
            message = f"{error}; the next attempt is in an hour"
            about = (error.type, error.errors, error.request_id)
            _call(self._on_error, BotshelfError(message, error.status, 3600, True, *about))
            return 3600 * random.uniform(0.9, 1.1)
        _call(self._on_error, error)
        return getattr(error, "retry_after", 0)


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


def _print_error(failure: str) -> Callable[[Exception], None]:
    """Returns a function that prints errors. :param failure: what did not happen"""

    def print_error(error: Exception) -> None:
        print(f"{failure}: {str(error) or type(error).__name__}", file=sys.stderr)

    return print_error


def _retry(read: Callable[[], _Result]) -> _Result:
    """Calls a read again that failed in passing. :raises BotshelfError: of the last attempt"""
    attempt = 1
    while True:
        try:
            return read()
        except BotshelfError as error:
            if error.is_final or attempt == 3 or error.retry_after > 10:
                raise
            time.sleep(max(error.retry_after, attempt / 2) * random.uniform(1, 1.5))
        attempt += 1


def _has(*keys: str) -> Callable[[Any], bool]:
    """Returns whether a value is a dictionary with these keys."""
    return lambda value: isinstance(value, dict) and all(key in value for key in keys)


def _to_json(create: Callable[[], Any]) -> bytes:
    """:raises BotshelfError: for a value that JSON does not have, such as a number of numpy"""
    try:
        return json.dumps(create(), allow_nan=False).encode()
    except (TypeError, ValueError, AttributeError, LookupError, RecursionError) as error:
        raise BotshelfError(f"this cannot be sent as JSON: {error}", is_final=True) from None


def _to_secret(token: Optional[str]) -> str:
    secret = str(token or "").strip()
    if not re.fullmatch("[!-~]+", secret):
        raise BotshelfError("the token is empty or incomplete: set it as it was issued", is_final=True)
    return secret


def _pick_commands(commands: Iterable[Any]) -> list[dict[str, Any]]:
    """Returns commands, as dictionaries or with ``to_dict``, with the keys that the list keeps."""
    kept = []
    for command in commands:
        given = command if isinstance(command, dict) else command.to_dict()
        picked = {key: given[key] for key in ("type", "name", "description", "nsfw", "required") if key in given}
        for key, other in (
            ("name_localizations", "nameLocalizations"),
            ("description_localizations", "descriptionLocalizations"),
        ):
            picked[key] = given.get(key) or given.get(other)
        picked["options"] = _pick_commands(given.get("options") or [])
        kept.append(picked)
    return kept


def _to_interval(interval: float, default: float) -> float:
    return min(interval, 86_400) if interval > 0 else default


def _back_off(interval: float, failures: int, error: Exception) -> float:
    """Returns how many seconds to wait after a failure, the longer the more there were before it."""
    back_off = min(interval, 5 * 2 ** min(failures, 20))
    return max(getattr(error, "retry_after", 0), back_off) * random.uniform(1, 1.5)


def _format_query(query: dict[str, Any]) -> str:
    pairs = {name: _to_text(value) for name, value in query.items() if value is not None}
    if not isinstance(pairs.get("ids", ""), str):
        # A hundred ids would be too many parameters.
        pairs["ids"] = ",".join(map(str, pairs["ids"]))
    return "?" + urlencode(pairs, doseq=True)


def _to_text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _read_retry_after(value: str) -> float:
    """Reads the seconds or the date of a ``Retry-After`` header (RFC 9110, section 10.2.3) as seconds from now."""
    try:
        seconds = float(value) if value.strip().isdigit() else parsedate_to_datetime(value).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return 0
    return min(max(seconds, 0), 3600)
