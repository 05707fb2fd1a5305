import asyncio
import json
import sys

from memory import agent

CONFIG = {"configurable": {"thread_id": "chat-1"}}
answers = []
for number, text in enumerate(json.loads(sys.argv[1])):
    said = {"messages": [{"role": "user", "content": text}]}
    state = agent.invoke(said, CONFIG) if number % 2 == 0 else asyncio.run(agent.ainvoke(said, CONFIG))
    answers.append(state["messages"][-1].content)
print(json.dumps({"answers": answers, "stored": str(agent.get_state(CONFIG).values["messages"])}))
