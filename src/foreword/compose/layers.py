"""What goes in and what stays out, so that a brief never exceeds its budget and never repeats itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from foreword.compose import render
from foreword.compose.budget import ComposeSettings, count_tokens, snippet
from foreword.model import Judged, Memory
from foreword.values import dataclass

_SHORTEST_SNIPPET_CHARS = 120
ALREADY_SAID = "already in this conversation"
NO_ROOM = "no room left in the budget"
ALONE = "what leads to it is already in this conversation"
_Write = Callable[[Sequence[Memory], Sequence[Memory]], str]


@dataclass(frozen=True, slots=True)
class Composed:
    """The text of a brief, which memories are in it, and what was left out and why."""

    text: str
    memories: Sequence[Memory]
    tokens: int
    reason: str
    left_out: Sequence[tuple[str, str]] = ()
    # The memories as they are shown, with how sure the gate was: what is written into a file is made of these.
    shown: Sequence[render.Snippet] = ()


def hot(chosen: Sequence[Judged], delivered: Collection[int], settings: ComposeSettings) -> Composed:
    """The turn's memories, best first, each shown once until the conversation is compacted. What only a link led to is
    never shown alone."""
    fresh = [one for one in chosen if one.candidate.memory.row not in delivered]
    left_out = [(one.candidate.memory.id, ALREADY_SAID) for one in chosen if one not in fresh]
    if chosen and all(one.by_link for one in fresh):
        left_out += [(one.candidate.memory.id, ALONE) for one in fresh]
        return Composed("", (), 0, "everything worth saying is already in this conversation", left_out)
    left_out += [
        (one.candidate.memory.id, f"only {settings.max_memories} fit") for one in fresh[settings.max_memories :]
    ]
    shown: list[render.Snippet] = []
    text = ""
    for one in fresh[: settings.max_memories]:
        memory = one.candidate.memory
        added = _fitting(shown, one, settings) if shown or not one.by_link else None
        if added is None:
            left_out.append((memory.id, NO_ROOM))
            continue
        shown.append(added)
        text = render.hot(shown, settings.style)
    if not shown:
        return Composed(
            "", (), 0, "the budget is too small for any of it" if chosen else "nothing was chosen", left_out
        )
    return Composed(text, tuple(one.memory for one in shown), count_tokens(text), "", left_out, tuple(shown))


def _fitting(shown: Sequence[render.Snippet], one: Judged, settings: ComposeSettings) -> render.Snippet | None:
    """The longest snippet that keeps the whole brief within its caps; None when not even a short one does."""
    memory, terms = one.candidate.memory, tuple(one.candidate.terms)
    room = settings.max_snippet_chars
    while True:
        candidate = render.Snippet(memory, snippet(memory.text, terms, room), one.confidence)
        text = render.hot([*shown, candidate], settings.style)
        if len(text) <= settings.max_hot_chars and count_tokens(text) <= settings.max_hot_tokens:
            return candidate
        if room <= _SHORTEST_SNIPPET_CHARS:
            return None
        room = max(_SHORTEST_SNIPPET_CHARS, min(room, len(candidate.text)) * 2 // 3)


def stable(summaries: Sequence[Memory], entries: Sequence[Memory], settings: ComposeSettings) -> Composed:
    """Summaries while they fit (the first that does not ends them), then index rows while they fit."""
    return _index(
        summaries[: settings.max_summaries],
        entries[: settings.max_index_entries],
        settings,
        lambda some, others: render.stable(some, others, settings.style),
    )


def compact(summaries: Sequence[Memory], entries: Sequence[Memory], settings: ComposeSettings) -> Composed:
    return _index(summaries[:3], entries[:10], halved(settings), render.compact)


def halved(settings: ComposeSettings) -> ComposeSettings:
    """For those who need less: a summary of the conversation, and a helper that does one thing."""
    return replace(
        settings,
        max_context_tokens=settings.max_context_tokens // 2,
        max_summaries=min(settings.max_summaries, 3),
        max_index_entries=min(settings.max_index_entries, 10),
    )


def _index(
    summaries: Sequence[Memory], entries: Sequence[Memory], settings: ComposeSettings, write: _Write
) -> Composed:
    def too_long(text: str) -> bool:
        return count_tokens(text) > settings.max_context_tokens or _length(text) > settings.max_context_chars

    some: list[Memory] = []
    others: list[Memory] = []
    text = ""
    for memory in summaries:
        longer = write([*some, memory], [])
        if too_long(longer):
            break
        some.append(memory)
        text = longer
    for memory in entries:
        longer = write(some, [*others, memory])
        if too_long(longer):
            break
        others.append(memory)
        text = longer
    reason = "" if text else "there is nothing to list yet" if not (summaries or entries) else "the budget is too small"
    return Composed(text, (*some, *others), count_tokens(text), reason)


def _length(text: str) -> int:
    """As JavaScript counts, and the hosts with it: an emoji is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
