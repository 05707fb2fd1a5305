"""The proxy in a process of its own, and a client that keeps its history itself; every other answer is streamed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import httpx

URL = f"http://127.0.0.1:{os.environ['PROXY_PORT']}"
KEY = {"authorization": f"Bearer {os.environ['LITELLM_MASTER_KEY']}"}


def asked(history: list, *, stream: bool) -> str:
    body = {"model": "gpt-5", "messages": history, "stream": stream}
    answer = httpx.post(f"{URL}/v1/chat/completions", json=body, headers=KEY, timeout=60)
    answer.raise_for_status()
    if not stream:
        return answer.json()["choices"][0]["message"]["content"]
    chunks = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    return "".join(one["choices"][0]["delta"].get("content") or "" for one in chunks if one["choices"])


def wait_until_up(proxy: subprocess.Popen) -> None:
    while proxy.poll() is None:
        try:
            httpx.get(f"{URL}/health/liveliness", timeout=5)
        except httpx.TransportError:
            time.sleep(0.2)
        else:
            return
    sys.exit("the proxy did not start")


command = [str(Path(sys.executable).with_name("litellm")), "--config", "proxy.yaml"]
command += ["--host", "127.0.0.1", "--port", os.environ["PROXY_PORT"]]
with subprocess.Popen(command, stdout=sys.stderr) as proxy:
    try:
        wait_until_up(proxy)
        history, answers = [], []
        for number, text in enumerate(json.loads(sys.argv[1])):
            history.append({"role": "user", "content": text})
            answers.append(asked(history, stream=number % 2 == 1))
            history.append({"role": "assistant", "content": answers[-1]})
    finally:
        # What was said last is logged behind the answer; the proxy finishes that before it ends.
        time.sleep(2)
        proxy.terminate()
print(json.dumps({"answers": answers, "stored": json.dumps(history)}))
