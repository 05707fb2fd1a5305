"""Between a host's hook and the wire: what a host tells becomes asks and records, an answer becomes what it reads.

Pure translation: no I/O, no clock, no engine. A door reads the bytes and sends the requests; a host's JSON is known
here and nowhere else. Facts about hosts are those that were measured on the real programs. What an installer writes
is apart, in `installation` and a module of each host's own, and is loaded by nobody who only answers hooks.

Who and where
- The session is `agent:<host>:<session id>`. One segment after the agent's is the owner's own conversation to
  `classify`: private, and no two hosts collide. A subagent's is `agent:<host>:subagent:<session id>:<agent id>`. Ids
  are quoted, so that a colon or a bar in one makes no second segment.
- The agent is the host. A subagent's type is a role and not another owner of memories: as an agent of its own it would
  see nothing of what its parent knows.
- The project is the working directory and the channel the host. Without a working directory a document is refused, for
  what is said in no project is told in all of them.

What becomes what
- A prompt is asked about, then kept: asked first, so that it does not find itself. Machine prompts are kept out by the
  guard, which also takes out what Foreword put in front of a prompt.
- A session that starts is given its stable part. One that is resumed still holds it, and is given nothing. After a
  compaction or a clearing the conversation no longer holds what was said, so `compact` is asked before `start`: when
  the host compacted, that is done a second time and changes nothing, unless the first time was missed; when the host
  cleared, nobody else tells.
- Before a compaction `compact` is asked; only Claude Code and OpenCode take the text.
- The agent's last words are kept as the agent's. What a tool gave is kept as an observation, unless it says nothing.
- An end of a turn is never answered: there, context makes the agent go on.
- An event that nobody here knows is nothing at all, for hosts add events.
"""

from __future__ import annotations

from collections.abc import Mapping

from foreword.errors import BadInput
from foreword.hosts import claude_code, codex, copilot, gemini, opencode
from foreword.hosts.hook import MOST_CHARS, Hook, Host, Request, Told
from foreword.hosts.observation import observation

HOSTS: Mapping[str, Host] = {
    one.name: one for one in (claude_code.HOST, codex.HOST, gemini.HOST, copilot.HOST, opencode.HOST)
}

__all__ = ["HOSTS", "MOST_CHARS", "Hook", "Host", "Request", "observation", "understand"]


def understand(host: str, event: str, document: object) -> Hook:
    """What a host's hook means. Raises BadInput for a host that is not known, and for a document that lacks what the
    event needs."""
    known = HOSTS.get(host)
    if known is None:
        raise BadInput(f"'{host[:40]}' is not a host that Foreword knows.", hint=f"There are: {', '.join(HOSTS)}.")
    read = known.events.get(event)
    if read is None:
        return Hook()
    if not isinstance(document, Mapping):
        raise BadInput(f"What {host} tells at {event} must be a JSON object.")
    return read(Told(known, event, document))
