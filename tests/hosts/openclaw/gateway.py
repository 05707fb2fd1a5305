"""One OpenClaw gateway with Foreword in it, in folders of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foreword.serve.address import address
from foreword.serve.client import Client
from tests.hosts.model_server import ModelServer, Request
from tests.hosts.openclaw.telegram import Telegram

ADAPTERS = Path(__file__).resolve().parents[3] / "adapters"
PLUGIN = ADAPTERS.parent / "src/foreword/install/plugins/openclaw"
VENV = Path(sys.executable).parent
TOKEN = "gateway-token"
HOOKS_TOKEN = "hooks-token"
READY_S = 180
WORKSPACE = {
    "SOUL.md": "SOUL-MARK: calm and exact.",
    "USER.md": "USER-MARK: Erika.",
    "AGENTS.md": "AGENTS-MARK: long rules of the house.",
    "IDENTITY.md": "IDENTITY-MARK: a lobster.",
    "MEMORY.md": "MEMORY-MARK: everything that ever happened.",
    "TOOLS.md": "TOOLS-MARK: long prose about tools.",
    "TOOLS_COMPACT.md": "COMPACT-MARK: ssh port 2222.",
    "HEARTBEAT.md": "HEARTBEAT-MARK: look at the mail.",
    "memory/2026-11-01.md": "DAY-MARK: a day.",
}


def hosts_folder() -> Path:
    """Where `make hosts` puts them. Asked before a test has a home of its own."""
    return Path(os.environ.get("FOREWORD_HOSTS") or Path.home() / ".cache" / "foreword-hosts")


@dataclass(frozen=True)
class Reply:
    """What the host answered, what its model was sent meanwhile, when it was asked and how long it took."""

    text: str
    requests: list[Request]
    began: float
    seconds: float

    @property
    def request(self) -> Request:
        """What the model was sent first."""
        return self.requests[0]


def wait_until(holds: Callable[[], Any], what: str, within_s: float = 30.0) -> Any:
    until = time.monotonic() + within_s
    while not (found := holds()):
        assert time.monotonic() < until, f"not in time: {what}"
        time.sleep(0.05)
    return found


class Gateway:
    def __init__(self, folder: Path, hosts: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.workspace = folder / "workspace"
        self.config = self.state / "openclaw.json"
        self.log = folder / "gateway.log"
        self.no_daemon = folder / "no-daemon"
        self._node = hosts / "node24/node_modules/node/bin/node"
        self._openclaw = hosts / "openclaw/node_modules/openclaw/openclaw.mjs"
        self._process: subprocess.Popen[bytes] | None = None
        self.model = ModelServer()
        self.telegram = Telegram()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FOREWORD_", "OPENCLAW_"))}
        self.environ = {
            **kept,
            "PATH": f"{self._node.parent}:{os.environ['PATH']}",
            "HOME": str(folder / "user"),
            "OPENCLAW_HOME": str(folder / "user"),
            "OPENCLAW_STATE_DIR": str(self.state),
            "OPENCLAW_CONFIG_PATH": str(self.config),
            "FOREWORD_HOME": str(folder / "foreword"),
            "FOREWORD_CONFIG": str(folder / "foreword.toml"),
        }
        self.memory = Client(address(self.environ), self.environ)

    @classmethod
    @contextlib.contextmanager
    def apart(cls, folder: Path, hosts: Path) -> Iterator[Gateway]:
        """One of its own, that is not started unless `start` is called."""
        folder.mkdir()
        one = cls(folder, hosts)
        try:
            yield one
        finally:
            one.close()

    def prepare(self, *, plugin: bool = True) -> None:
        """Everything but the start: a workspace, settings, and the plugin installed as a user installs it."""
        for agent in ("workspace", "workspace-other"):
            for name, text in WORKSPACE.items():
                file = self.folder / agent / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"{text}\n")
        (self.folder / "user").mkdir()
        self.state.mkdir()
        self.foreword_settings()
        # What the plugin starts the daemon with; it fails for as long as a test wants no daemon.
        start = self.folder / "start-foreword"
        start.write_text(f'#!/bin/sh\n[ -e "{self.no_daemon}" ] && exit 3\nexec "{VENV}/foreword-daemon" --detach\n')
        start.chmod(0o755)
        model = {"id": "mock-1", "name": "Mock", "reasoning": False, "input": ["text"], "contextWindow": 128000}
        cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        provider = {
            "baseUrl": f"http://127.0.0.1:{self.model.port}/v1",
            "apiKey": "sk-local",
            "api": "openai-completions",
            "models": [{**model, "maxTokens": 4096, "cost": cost}],
        }
        self.configure(
            {
                "agents": {
                    "defaults": {"workspace": str(self.workspace), "model": {"primary": "mock/mock-1"}},
                    "list": [
                        {"id": "main", "default": True, "workspace": str(self.workspace)},
                        {"id": "other", "workspace": str(self.folder / "workspace-other")},
                    ],
                },
                "models": {"mode": "replace", "providers": {"mock": provider}},
                "gateway": {
                    "mode": "local",
                    "bind": "loopback",
                    "port": self.port,
                    "auth": {"mode": "token", "token": TOKEN},
                    "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
                },
                "channels": {
                    "telegram": {
                        "enabled": True,
                        "botToken": "123456:telegram-token",
                        "apiRoot": self.telegram.root,
                        "network": {"dangerouslyAllowPrivateNetwork": True},
                        "dmPolicy": "open",
                        "allowFrom": ["*"],
                        "groupPolicy": "open",
                        "groups": {"*": {"requireMention": False}},
                        "streaming": {"mode": "off"},
                    }
                },
                "hooks": {"enabled": True, "token": HOOKS_TOKEN, "path": "/hooks"},
                "memory": {"search": {"provider": "none"}},
                "logging": {"file": str(self.folder / "openclaw.log")},
            }
        )
        if not plugin:
            return
        self.run("plugins", "install", "--link", str(PLUGIN), "--force", "--accept-capabilities")
        settings = self.read()
        entry = settings.setdefault("plugins", {}).setdefault("entries", {}).setdefault("foreword", {})
        entry.update(enabled=True, hooks={"allowConversationAccess": True}, config={"command": [str(start)]})
        self.configure(settings)

    def foreword_settings(self, text: str = "") -> None:
        """Counts from Foreword's next answer. Patient: a busy machine is not what these tests are about."""
        serve = "[serve]\ndeadline_ms = 3000\ncold_deadline_ms = 10000\n"
        (self.folder / "foreword.toml").write_text(text + serve)

    def read(self) -> dict[str, Any]:
        settings: dict[str, Any] = json.loads(self.config.read_text())
        return settings

    def configure(self, settings: dict[str, Any]) -> None:
        whole = self.config.with_suffix(".new")
        whole.write_text(json.dumps(settings, indent=2))
        whole.replace(self.config)

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [str(self._node), str(self._openclaw), *arguments],
            env=self.environ,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, f"openclaw {' '.join(arguments)}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def start(self) -> None:
        # On a busy machine the host's own lease on its database may run out while it starts, and it gives up.
        for _ in range(3):
            self._process = self._started()
            if wait_until(self._ready_or_gone, f"the gateway, see {self.log}", READY_S) == "ready":
                return
        raise AssertionError(f"the gateway does not start:\n{self.log.read_text()[-3000:]}")

    def _started(self) -> subprocess.Popen[bytes]:
        command = [str(self._node), str(self._openclaw), "gateway", "run", "--port", str(self.port)]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*command, "--bind", "loopback", "--auth", "token", "--token", TOKEN],
                env=self.environ,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _ready_or_gone(self) -> str:
        assert self._process is not None
        if self._process.poll() is not None:
            return "gone"
        try:
            self._post("/v1/chat/completions", {}, {})
        except urllib.error.HTTPError as error:
            return "ready" if error.code == 400 else ""
        except OSError:
            return ""
        return "ready"

    def stop(self) -> None:
        """The gateway alone; Foreword's daemon outlives it."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(20)

    def close(self) -> None:
        self.stop()
        self.kill_daemon()
        self.telegram.close()
        self.model.close()

    def _post(self, path: str, body: object, headers: dict[str, str]) -> Any:
        told = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, json.dumps(body).encode(), told)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def turn(self, text: str, session: str, agent: str = "main") -> Reply:
        """One turn through the gateway's own HTTP door: the code path of `openclaw agent`."""
        key = f"agent:{agent}:{session}"
        seen = len(self.model.requests)
        began = time.monotonic()
        body = {"model": f"openclaw/{agent}", "messages": [{"role": "user", "content": text}]}
        answer = self._post("/v1/chat/completions", body, {"x-openclaw-session-key": key})
        seconds = time.monotonic() - began
        # A subagent of an earlier turn may be at work as well.
        requests = [one for one in self.model.requests[seen:] if text in one.newest]
        return Reply(answer["choices"][0]["message"]["content"], requests, began, seconds)

    def write(self, text: str, sender: int, chat: int | None = None, topic: int | None = None) -> Reply:
        """Somebody writes on Telegram, to the bot or into a group, and is answered there."""
        seen, began = len(self.model.requests), time.monotonic()
        sent = self.telegram.write(text, sender, chat, topic)

        def answer() -> dict[str, Any] | None:
            here = (str(chat or sender), str(topic or ""))
            news = (
                (str(one["chat_id"]), str(one.get("message_thread_id", "")), one) for one in self.telegram.sent[sent:]
            )
            return next((one for number, thread, one in news if (number, thread) == here), None)

        found: dict[str, Any] = wait_until(answer, f"an answer on Telegram to {text}", 120)
        seconds = time.monotonic() - began
        requests = [one for one in self.model.requests[seen:] if text in one.newest]
        return Reply(found["text"], requests, began, seconds)

    def webhook(self, text: str) -> Request:
        """Another program asks for a turn; what the model was sent for it."""
        seen = len(self.model.requests)
        self._post("/hooks/agent", {"message": text, "deliver": False}, {"Authorization": f"Bearer {HOOKS_TOKEN}"})
        return self.sent_with(text, seen)

    def wake(self, text: str) -> Request:
        """A heartbeat, now; what the model was sent for it."""
        seen = len(self.model.requests)
        self._post("/hooks/wake", {"text": text, "mode": "now"}, {"Authorization": f"Bearer {HOOKS_TOKEN}"})

        def of_it() -> Request | None:
            return next((one for one in self.model.requests[seen:] if text in one.raw.decode()), None)

        found: Request = wait_until(of_it, "the heartbeat", 60)
        return found

    def ask(self, method: str, **params: Any) -> Any:
        """The gateway's own protocol."""
        door = ("--url", f"ws://127.0.0.1:{self.port}", "--token", TOKEN, "--json")
        return json.loads(self.run("gateway", "call", method, "--params", json.dumps(params), *door))

    def sent_with(self, text: str, after: int = 0) -> Request:
        """The first request whose newest message holds a text."""
        found: Request = wait_until(
            lambda: next((one for one in self.model.requests[after:] if text in one.newest), None),
            f"the model to be sent {text}",
            60,
        )
        return found

    def compact(self, session: str, agent: str = "main") -> list[Request]:
        """The host's own compaction of a conversation; what the model was sent for it."""
        seen, key = len(self.model.requests), f"agent:{agent}:{session}"
        before = self._compactions(agent, key)
        done = self.ask("sessions.compact", key=key)
        assert done["compacted"], done
        # The host tells of it behind its answer, and does not wait until it was heard.
        wait_until(lambda: self._compactions(agent, key) > before, "the plugin tells of the compaction")
        return self.model.requests[seen:]

    def _compactions(self, agent: str, key: str) -> int:
        with contextlib.closing(
            sqlite3.connect(f"file:{self.environ['FOREWORD_HOME']}/foreword.db?mode=ro", uri=True)
        ) as store:
            found = store.execute("SELECT max(epoch) FROM session WHERE agent = ? AND key = ?", (agent, key)).fetchone()
        return found[0] or 0

    def invoke(self, tool: str, **arguments: Any) -> Any:
        """A tool, as the host itself calls it; no model takes part."""
        asked = {"tool": tool, "args": arguments, "sessionKey": "agent:main:main"}
        return self._post("/tools/invoke", asked, {})

    def subagent(self, task: str, session: str) -> Request:
        """An agent has another do something; what the model of that other was sent."""
        seen = len(self.model.requests)
        spawn = {"id": "sessions_spawn", "args": {"task": task}}
        asking = f"Please have it done. [[tool:tool_call {json.dumps(spawn)}]]"
        self.turn(asking, session)

        def of_it() -> Request | None:
            return next(
                (one for one in self.model.requests[seen:] if task in one.newest.partition("[Subagent Task]")[2]), None
            )

        found: Request = wait_until(of_it, "the subagent's turn", 60)
        return found

    def job(self, text: str) -> Request:
        """A scheduled job, due at once; what the model was sent for it."""
        seen = len(self.model.requests)
        when = ("--name", "job", "--at", "1s", "--session", "isolated", "--message", text, "--no-deliver")
        self.run("cron", "add", *when, "--url", f"ws://127.0.0.1:{self.port}", "--token", TOKEN)
        return self.sent_with(text, seen)

    def chat(self, text: str, session: str, agent: str = "main") -> str:
        """What the gateway's own chat answers, commands included."""
        key = f"agent:{agent}:{session}"
        self.ask("chat.send", sessionKey=key, message=text, idempotencyKey=str(time.monotonic_ns()))

        def answered() -> str:
            messages = self.ask("chat.history", sessionKey=key)["messages"]
            return json.dumps(messages[-1]) if messages and messages[-1]["role"] == "assistant" else ""

        found: str = wait_until(answered, f"an answer to {text}", 60)
        return found

    def call(self, action: str, **payload: Any) -> dict[str, Any]:
        """Foreword's daemon, past the host."""
        return self.memory.call(action, payload)

    def kept(self, text: str, session: str, agent: str = "main") -> list[dict[str, Any]]:
        """Every memory of the conversation in which a text was said, in order; waits until it is answered there."""
        key = f"agent:{agent}:{session}"

        def found() -> list[dict[str, Any]]:
            rows = self.call("search", query=text, limit=50, session=key, agent=agent)["results"]
            ids = [one["id"] for one in rows if one["metadata"]["session"] == key and one["content"] == text]
            if not ids:
                return []
            memories: list[dict[str, Any]] = self.call("get", ids=ids, whole_session=True, agent=agent)["memories"]
            at = max(number for number, one in enumerate(memories) if one["content"] == text)
            return memories if memories[at + 1 :] else []

        memories: list[dict[str, Any]] = wait_until(found, f"{text} and its answer to be kept")
        return memories

    def sessions(self) -> list[str]:
        """Every conversation of which something is kept."""
        return [one["session"] for one in self.call("sessions", limit=1000)["sessions"] if one["memories"]]

    @contextlib.contextmanager
    def without_grant(self) -> Iterator[None]:
        """The one permission that the plugin needs is taken back, in the running gateway."""
        self._grant(given=False)
        try:
            yield
        finally:
            self._grant(given=True)

    def _grant(self, *, given: bool) -> None:
        applied = "config hot reload applied (plugins.entries.foreword.hooks.allowConversationAccess)"
        before = self.log.read_text().count(applied)
        settings = self.read()
        settings["plugins"]["entries"]["foreword"]["hooks"]["allowConversationAccess"] = given
        self.configure(settings)
        wait_until(lambda: self.log.read_text().count(applied) > before, "the host to read its settings", 60)

    @contextlib.contextmanager
    def without_daemon(self, *, killed: bool = True) -> Iterator[None]:
        """None can be started, and unless it is to be killed later none runs."""
        self.no_daemon.touch()
        try:
            if killed:
                self.kill_daemon()
            yield
        finally:
            self.no_daemon.unlink()
            # The plugin itself starts none for a few seconds after it failed to, and the next turn is not to wait.
            self.call("status")

    @contextlib.contextmanager
    def stopped_daemon(self) -> Iterator[None]:
        """The daemon is there and does not move."""
        holder = self.call("status")["daemon"]["process"]
        os.kill(holder, signal.SIGSTOP)
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(holder, signal.SIGCONT)

    def kill_daemon(self) -> None:
        if holder := self.memory.holder():
            os.kill(holder, signal.SIGKILL)
            wait_until(lambda: self.memory.holder() is None, "the daemon's end")
