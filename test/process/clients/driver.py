"""Does what test/process/clients/driver.ts does, with the Python client: in a thread, or in asyncio."""

import asyncio
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../clients/python"))
import botshelf  # noqa: E402

kind, base_url, bot_id = sys.argv[1:]


def shorten(seconds):
    # An hour takes a fifth of a second.
    if seconds and seconds > 3000:
        tell(f"waits {round(seconds / 60)} minutes")
        return seconds / 18_000
    return seconds


wait, sleep = threading.Event.wait, asyncio.sleep
threading.Event.wait = lambda event, timeout=None: wait(event, shorten(timeout))
asyncio.sleep = lambda seconds: sleep(shorten(seconds))
line = ""
name = "play"


def count():
    if line == "throw":
        raise RuntimeError("no count")
    return int(line) if line else None


async def count_later():
    await asyncio.sleep(0)
    return count()


def tell(text):
    print(text, flush=True)


def on_post(number):
    tell(f"posted {number}")
    raise RuntimeError("on_post fails")


def on_error(error):
    tell(f"error {error}")
    raise RuntimeError("on_error fails")


def read_lines():
    global line, name
    for text in map(str.strip, sys.stdin):
        if text == "wait":
            time.sleep(0.3)
        elif text == "rename":
            name = "sing"
        else:
            line = text
        tell(f"did {text}")


class Command:
    """As discord.py has it."""

    def to_dict(self):
        return {"id": "1", "name": name, "name_localizations": {"de": "spiel"}, "options": []}


options = {
    "commands": lambda: [Command()],
    "interval": 0.05,
    "timeout": 0.5,
    "user_agent": "driver/1.0",
    "on_post": on_post,
    "on_error": on_error,
}
token = os.environ["BOTSHELF_TOKEN"]


async def run():
    task = asyncio.create_task(botshelf.autopost_async(base_url, bot_id, token, count_later, **options))
    await asyncio.to_thread(read_lines)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


if kind == "asyncio":
    asyncio.run(run())
else:
    posting = botshelf.autopost(base_url, bot_id, token, count, **options)
    read_lines()
    posting.stop()
assert [thread for thread in threading.enumerate() if thread.name == "botshelf"] == []
tell("stopped")
