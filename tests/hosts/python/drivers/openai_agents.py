import asyncio
import json
import sys

from agents import SQLiteSession
from memory import answer


async def talk() -> None:
    answers = [await answer(text, "chat-1") for text in json.loads(sys.argv[1])]
    stored = await SQLiteSession("chat-1", "chats.db").get_items()
    print(json.dumps({"answers": answers, "stored": json.dumps(stored)}))


asyncio.run(talk())
