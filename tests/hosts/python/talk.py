"""The examples of docs/how-to/python.md, run as they stand there, in the libraries' own environment."""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hosts.model_server import ModelServer, Request
from tests.hosts.program import VENV, hosts_folder

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/how-to/python.md").read_text("utf-8")
PYTHON = hosts_folder() / "python" / "bin" / "python"
DRIVERS = Path(__file__).with_name("drivers")
_TALK_S = 240.0


@dataclass(frozen=True)
class Talk:
    """One conversation: what the model was sent at each turn, what the program got, and what the library stored."""

    requests: Sequence[Request]
    answers: Sequence[str]
    stored: str
    home: Path

    def kept(self) -> list[tuple[str, str]]:
        """Every memory as the disk has it, oldest first: its origin and its text."""
        with sqlite3.connect(f"file:{self.home}/foreword.db?mode=ro", uri=True) as database:
            found = database.execute("SELECT origin, text FROM memory ORDER BY row").fetchall()
        database.close()
        return found


@dataclass(frozen=True)
class Library:
    """`heading` is where the page has its example, `agent` whose memories the example asks for."""

    name: str
    heading: str
    agent: str = "concierge"

    def example(self, language: str = "python") -> str:
        section = PAGE.partition(f"## {self.heading}\n")[2].partition("\n## ")[0]
        (found,) = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
        return str(found)


LIBRARIES = (
    Library("openai_agents", "OpenAI Agents SDK"),
    Library("langchain", "LangChain"),
    Library("pydantic_ai", "Pydantic AI"),
    Library("litellm", "LiteLLM proxy", agent="default_user_id"),
)


def talk(library: Library, folder: Path, prompts: Sequence[str], *, knows: str = "", broken: bool = False) -> Talk:
    """The prompts in one conversation; `knows` was said to the agent before. In a `broken` home nothing can be kept."""
    folder.mkdir(parents=True)
    (folder / "memory.py").write_text(library.example())
    if library.name == "litellm":
        (folder / "proxy.yaml").write_text(library.example("yaml"))
    model, home = ModelServer(), folder / "home"
    environ = _environ(folder, model, home)
    if broken:
        home.write_text("No folder can be here.")
    elif knows:
        command = [str(VENV / "foreword"), "record", knows, "--agent", library.agent]
        subprocess.run(command, env=environ, check=True, capture_output=True, timeout=60)
    try:
        done = subprocess.run(
            # Without the drivers' folder on its path: they are named like the libraries.
            [str(PYTHON), "-P", str(DRIVERS / f"{library.name}.py"), json.dumps(list(prompts))],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TALK_S,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout[-2000:]}{done.stderr[-4000:]}"
        said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return Talk(list(model.requests), said["answers"], said["stored"], home)
    finally:
        model.close()


def _environ(folder: Path, model: ModelServer, home: Path) -> dict[str, str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return {
        **{name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ},
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(folder))),
        "FOREWORD_HOME": str(home),
        # A busy machine is not a failure.
        "FOREWORD_SERVE_DEADLINE_MS": "60000",
        "FOREWORD_SERVE_COLD_DEADLINE_MS": "60000",
        "OPENAI_API_KEY": "x",
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": "sk-7f3a9c51e0b24d86a1c9e7d2b4f60835",
        "PROXY_PORT": str(port),
    }
