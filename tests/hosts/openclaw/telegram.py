"""Telegram's Bot API as far as a bot needs it that reads messages and answers them."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

BOT = {"id": 4711, "is_bot": True, "first_name": "Claw", "username": "claw_bot"}


class Telegram:
    """People write with `write`; `read` is how many messages the bot has taken, `sent` is what it answered."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.read = 0
        self._updates: list[dict[str, Any]] = []
        self._news = threading.Condition()
        telegram = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
                payload: dict[str, Any]
                try:
                    payload = json.loads(raw or "{}")
                except ValueError:
                    payload = dict(parse_qsl(raw))
                result = telegram._answered(self.path.split("?")[0].rsplit("/", 1)[-1], payload)
                data = json.dumps({"ok": True, "result": result}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                # The host hangs up on a question for news when its settings change.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.wfile.write(data)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def write(self, text: str, sender: int, chat: int | None = None, topic: int | None = None) -> int:
        """A person writes to the bot, or into a group; how many answers had been sent by then."""
        where = (
            {"id": chat, "type": "supergroup", "title": "Rowing club"} if chat else {"id": sender, "type": "private"}
        )
        if topic:
            where["is_forum"] = True
        with self._news:
            number = len(self._updates) + 1
            person = {"id": sender, "is_bot": False, "first_name": f"P{sender}", "username": f"p{sender}"}
            message = {"message_id": number, "date": int(time.time()), "chat": where, "from": person, "text": text}
            if topic:
                message |= {"message_thread_id": topic, "is_topic_message": True}
            self._updates.append({"update_id": number, "message": message})
            self._news.notify_all()
            return len(self.sent)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _answered(self, method: str, payload: dict[str, Any]) -> Any:
        if method == "getMe":
            return {**BOT, "can_join_groups": True, "can_read_all_group_messages": True}
        if method == "getUpdates":
            return self._since(int(payload.get("offset") or 0), float(payload.get("timeout") or 0))
        if method in ("sendMessage", "editMessageText"):
            self.sent.append(payload)
            chat = {"id": int(payload["chat_id"]), "type": "private"}
            number = 10_000 + len(self.sent)
            return {"message_id": number, "date": 0, "chat": chat, "from": BOT, "text": payload.get("text", "")}
        if method == "getMyCommands":
            return []
        if method == "getChat":
            return {"id": int(payload["chat_id"]), "type": "private"}
        return True

    def _since(self, offset: int, timeout_s: float) -> list[dict[str, Any]]:
        def new() -> list[dict[str, Any]]:
            return [one for one in self._updates if one["update_id"] >= offset]

        with self._news:
            self._news.wait_for(new, timeout=min(timeout_s, 20))
            found = new()
            self.read = max([self.read, *(one["update_id"] for one in found)])
            return found
