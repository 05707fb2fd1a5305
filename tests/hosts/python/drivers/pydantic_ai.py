import asyncio
import json
import sys

from memory import agent


async def talk() -> None:
    answers, history = [], []
    for text in json.loads(sys.argv[1]):
        run = await agent.run(text, deps="chat-1", message_history=history)
        answers.append(run.output)
        history = run.all_messages()
    print(json.dumps({"answers": answers, "stored": str(history)}))


asyncio.run(talk())
