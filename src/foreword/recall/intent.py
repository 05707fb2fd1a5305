"""What of an ask is worth searching with: none of the code, quotes and logs that came along."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import field

from foreword.patterns import lazy
from foreword.values import dataclass


@dataclass(frozen=True, slots=True)
class IntentSettings:
    min_chars: int = field(default=10, metadata={"help": "An ask shorter than this is answered with silence."})
    max_chars: int = field(default=280, metadata={"help": "An ask is cut here before it is searched with."})
    skip_technical: bool = field(
        default=False,
        metadata={"help": "Skip asks that are plainly technical and name nothing personal or of the project."},
    )


@dataclass(frozen=True, slots=True)
class Intent:
    """`query` is what to search with; when it is empty, `reason` says why there is nothing to search for."""

    query: str
    reason: str = ""


_FENCE = lazy(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_QUOTE = lazy(r"^[ \t]*>.*$", re.MULTILINE)
_LOG_LINE = re.compile(
    r"""^[ \t]*(?:
        \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*            # 2026-03-01 12:00:00 …
      | \[?\d\d:\d\d:\d\d[\].,: ].*                  # 12:00:00 …
      | (?:\[|<)?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)(?:\]|>|:|\s-)\s.*
      | File\ "[^"\n]*",\ line\ \d+.*                # Python traceback
      | Traceback\ \(most\ recent\ call\ last\).*
      | at\ [\w$.<>\[\] ]+\ ?\(.*:\d+(?::\d+)?\).*   # JavaScript, Java
      | (?:npm|pip|yarn|pnpm)\ (?:ERR!|WARN|error|warn)(?!\w).*
      | [$#]\ \S.*                                   # a shell prompt and its command
      )$""",
    re.MULTILINE | re.VERBOSE,
)
_HEARTBEAT = re.compile(r"\s*(?:\[?heartbeat(?:_ok)?\]?|read heartbeat\.md\b.*)\s*", re.IGNORECASE | re.DOTALL)
# Searching is linear in the text, but nobody asks a question that starts after this much of it.
_MAX_READ = 20_000

_PERSONAL = lazy(
    r"\b(?:i|i'm|i've|me|my|mine|myself|we|we're|we've|us|our|ours|you|your|yesterday|today|tomorrow|last|earlier|before|ago"
    r"|again|previous(?:ly)?|remember|remind|recall|decided?|decision|agreed?|prefer(?:s|red|ence)?|usual(?:ly)?|plan(?:ned)?"
    r"|meeting|project|team|client|customer|ticket|deadline|birthday|family|wife|husband|friend|mother|father|son|daughter)\b",
    re.IGNORECASE,
)
_TECHNICAL = lazy(
    r"\b(?:regex|regexp|function|method|class|compile[rd]?|syntax|exception|stack ?trace|segfault|null ?pointer"
    r"|type ?error|algorithm|recursion|big[- ]?o|sort(?:ing)?|array|hash ?map|dictionary|loop|lambda|decorator"
    r"|async|await|thread|mutex|sql|join|index|query|docker(?:file)?|kubernetes|kubectl|nginx|git|rebase|commit|npm|pip|cargo|webpack|css|html"
    r"|flexbox|javascript|typescript|python|rust|golang|java|c\+\+|bash|shell|awk|sed|grep|linux|http|tcp|json|yaml|xml|api)\b",
    re.IGNORECASE,
)


def intent(text: str, settings: IntentSettings) -> Intent:
    text = text[:_MAX_READ]
    if not text.strip():
        return Intent("", "the ask is empty")
    if _HEARTBEAT.fullmatch(text):
        return Intent("", "a heartbeat asks for nothing")
    words = text
    if "```" in words or "~~~" in words:
        words = _FENCE.sub(" ", words)
    if ">" in words:
        words = _QUOTE.sub(" ", words)
    words = _LOG_LINE.sub(" ", words)
    query = " ".join(words.replace("\0", " ").split())
    if _width(query) < settings.min_chars:
        if _width(" ".join(text.split())) >= settings.min_chars:
            return Intent("", "nothing is left of the ask without its code, quotes and logs")
        return Intent("", f"the ask is shorter than {settings.min_chars} characters")
    if len(query) > settings.max_chars:
        cut = query[: settings.max_chars]
        query = cut.rsplit(" ", 1)[0] if " " in cut[settings.max_chars // 2 :] else cut
    if settings.skip_technical and _TECHNICAL.search(query) and not _PERSONAL.search(query):
        return Intent("", "a technical ask that names nothing personal or of the project")
    return Intent(query)


def _width(text: str) -> int:
    """Characters, counting two for the wide ones: nine Chinese characters are a whole question."""
    return len(text) if text.isascii() else sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)
