"""One brief, several renderings. Each is a frame that no memory inside it can close: in Markdown every line is quoted,
in XML everything is escaped, in plain text and in files a memory is one line. No clock in anything that is injected:
the same memories give the same bytes. Only what is written into a file bears its time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from foreword.model import Kind, Memory, Origin, Style, frames, how_sure
from foreword.patterns import lazy
from foreword.values import dataclass

_MORE = "read more with mem-get and an id"
_CONTROL = lazy(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
# Joiners stay, scripts need them; the rest only hides things.
_INVISIBLE = lazy(r"[\u00ad\u180e\u200b\u200e\u200f\u2060-\u2064]")
# A memory that writes our own marks must not look like the end of its frame, or like a second memory in it.
_PLAIN_MARK = lazy(rf"\[(?=[\s\u200c\u200d]*/?[\s\u200c\u200d]*(?:{frames.RECALL}|{frames.INDEX}))", re.IGNORECASE)
_LIST_MARK = lazy(r"^([\s\u200c\u200d]*(?:[-*+>]|\d+[.)]))(?=\s)")
# In a file: what would open a comment or a tag, and the stars that our own bold and italics are made of.
_OPENS = lazy(r"<(?=[!/?A-Za-z])")
_STAR = lazy(r"(\\*)\*")
_LABELS = {
    Origin.OWNER: "the user said",
    Origin.AGENT: "the agent said",
    Origin.TOOL: "tool output, unverified",
    Origin.WEB: "web page, unverified",
    Origin.STRANGER: "somebody else said, unverified",
}
# Whose words are never given as facts.
_OTHERS = (Origin.WEB, Origin.STRANGER)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A memory as it will be shown."""

    memory: Memory
    text: str
    confidence: float = 0.0


def hot(snippets: Sequence[Snippet], style: Style) -> str:
    """The recalled memories in their frame; nothing at all for none."""
    if not snippets:
        return ""
    if style in (Style.XML, Style.OPEN_MEM):
        lines = [f'<{frames.XML_RECALL} note="{frames.NOTICE}; {_MORE}">']
        for one in snippets:
            lines.append(
                f'<memory id="{one.memory.id}" date="{_day(one.memory)}" source="{_attribute(_label(one.memory))}">'
                f"{_xml(one.text)}</memory>"
            )
        return "\n".join([*lines, f"</{frames.XML_RECALL}>"])
    if style is Style.PLAIN:
        lines = [f"[{frames.RECALL}: {frames.NOTICE}; {_MORE}]"]
        lines += [f"{one.memory.id} ({_about(one.memory)}) {_unmarked(_one_line(one.text))}" for one in snippets]
        return "\n".join([*lines, f"[/{frames.RECALL}]"])
    lines = [f"> **{frames.RECALL}** · {frames.NOTICE}; {_MORE}."]
    for one in snippets:
        first, *rest = _lines(one.text) or [""]
        lines.append(f"> - `{one.memory.id}` ({_about(one.memory)}) {first}")
        lines += [">   " + _LIST_MARK.sub(r"\\\1", line) for line in rest]
    return "\n".join(lines)


def stable(summaries: Sequence[Memory], entries: Sequence[Memory], style: Style) -> str:
    """Recent sessions and an index of observations: what there is, at what cost, not what it says."""
    if not summaries and not entries:
        return ""
    if style in (Style.XML, Style.OPEN_MEM):
        return "\n".join(
            _stable_xml(summaries, entries, frames.XML_OPEN_MEM if style is Style.OPEN_MEM else frames.XML_INDEX)
        )
    body = _listing(summaries, entries, f"Observations ({_MORE}):")
    if style is Style.PLAIN:
        return "\n".join([f"[{frames.INDEX}: {frames.NOTICE}]", *body, f"[/{frames.INDEX}]"])
    return "\n".join([f"> **{frames.INDEX}** · {frames.NOTICE}.", *(f"> {line}" for line in body)])


def compact(summaries: Sequence[Memory], entries: Sequence[Memory]) -> str:
    """Plain text that survives the host's own compaction; its last line says what it is."""
    if not summaries and not entries:
        return ""
    lines = _listing(summaries, entries, f"Recent observations ({len(entries)} entries):")
    return "\n".join([*lines, frames.COMPACT_END])


def context_file(snippets: Sequence[Snippet], *, at: float) -> str:
    """What a context file holds from `at` on; nothing at all for none."""
    if not snippets:
        return ""
    scores = [one.confidence for one in snippets]
    stamp = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    low, high = how_sure(min(scores)), how_sure(max(scores))
    many = f"{len(snippets)} relevant {'memory' if len(snippets) == 1 else 'memories'}"
    lines = [
        f"{frames.CONTEXT_BEGIN} ts={stamp} query_score={high} -->",
        frames.CONTEXT_HEADING,
        "",
        f"{many}, similarity {high if low == high else f'{low} to {high}'}: {frames.NOTICE}.",
        "",
        *(
            f"{number}. **[{_day(one.memory)}]** {_in_a_list(one)} *(score: {how_sure(one.confidence)})*"
            for number, one in enumerate(snippets, start=1)
        ),
    ]
    return "\n".join(lines) + "\n"


def journal_section(snippets: Sequence[Snippet], *, session: str, query: str, at: float) -> str:
    """What a journal keeps of a session's first brief of the day; the ids say which memories it is made of."""
    lines = [
        frames.journal_mark(session),
        "## Recalled memory",
        "",
        f"- Time: {datetime.fromtimestamp(at).strftime('%H:%M')}",
        f"- Query: {filed(query)}",
        "",
        *(
            f"{number}. {one.confidence:.0%} `{one.memory.id}` [{_day(one.memory)}] {_in_a_list(one)}"
            for number, one in enumerate(snippets, start=1)
        ),
        frames.JOURNAL_END,
    ]
    return "\n".join(lines) + "\n"


def _in_a_list(one: Snippet) -> str:
    """A person's own words stand alone; whose others are, is said."""
    said = filed(one.text)
    if one.memory.origin is Origin.OWNER:
        return said
    # Round brackets close what they open, so a name in them must not have any; see `_about`.
    return f"({filed(_label(one.memory)).translate({40: None, 41: None})}) {said}"


def filed(text: str) -> str:
    """One line that opens no comment and no tag, and has no star that could pass for one of ours."""
    return _STAR.sub(lambda found: found[1] * 2 + r"\*", _OPENS.sub("&lt;", _one_line(text)))


def _listing(summaries: Sequence[Memory], entries: Sequence[Memory], entries_heading: str) -> list[str]:
    lines: list[str] = []
    if summaries:
        lines.append("Recent sessions:")
        lines += [_unmarked(f"- {_one_line(one.session)}: {_summary_line(one)}") for one in summaries]
    if entries:
        lines.append(entries_heading)
        lines += [_unmarked(f"- {_entry_line(one)}") for one in entries]
    return lines


def _unmarked(line: str) -> str:
    return _PLAIN_MARK.sub("(", line)


def _stable_xml(summaries: Sequence[Memory], entries: Sequence[Memory], root: str) -> list[str]:
    lines = [
        f"<{root}>",
        f"  <description>Past sessions: {frames.NOTICE}. Use mem-search and mem-get for details.</description>",
    ]
    if summaries:
        lines.append("  <recent_sessions>")
        for one in summaries:
            lines.append(f'    <session id="{_attribute(one.session)}">')
            lines.append(f"      <summary>{_xml(_doubted(one))}</summary>")
            if one.decisions:
                lines.append(f"      <decisions>{_xml('; '.join(one.decisions))}</decisions>")
            if one.concepts:
                lines.append(f"      <concepts>{_xml(', '.join(one.concepts))}</concepts>")
            lines.append("    </session>")
        lines.append("  </recent_sessions>")
    if entries:
        lines.append(f'  <observation_index hint="{_MORE}; the number is what it costs in tokens">')
        for one in entries:
            lines.append(
                f'    <entry id="{one.id}" type="{_attribute(one.type or one.kind.value)}"'
                f' session="{_attribute(one.session)}">{_xml(title(one))} (~{one.tokens})</entry>'
            )
        lines.append("  </observation_index>")
    return [*lines, f"</{root}>"]


def title(memory: Memory, *, max_chars: int = 100) -> str:
    """A line to know the memory by."""
    line = memory.title or next(iter(_lines(memory.text)), "")
    line = " ".join(line.split())
    return line if len(line) <= max_chars else line[: max_chars - 2].rstrip() + " …"


def _doubted(memory: Memory) -> str:
    """A summary's text; one that others had a part in says so first."""
    return f"Unverified, others' words: {memory.text}" if memory.origin in _OTHERS else memory.text


def _summary_line(memory: Memory) -> str:
    line = _one_line(_doubted(memory))
    if memory.decisions:
        line += f" Decisions: {_one_line('; '.join(memory.decisions))}."
    if memory.concepts:
        line += f" Concepts: {_one_line(', '.join(memory.concepts))}."
    return line


def _entry_line(memory: Memory) -> str:
    kind = _one_line(memory.type or memory.kind.value)
    session = _one_line(memory.session) or "-"
    doubt = ", unverified" if memory.origin in _OTHERS else ""
    return f"{memory.id} {kind}: {_one_line(title(memory))} (session {session}, ~{memory.tokens} tokens{doubt})"


def _day(memory: Memory) -> str:
    return datetime.fromtimestamp(memory.at).strftime("%Y-%m-%d") if memory.at else "undated"


def _label(memory: Memory) -> str:
    if memory.kind is Kind.CHUNK and memory.files:
        return f"the user's notes, {memory.files[0][-80:]}"
    name = " ".join(memory.sender.split())[:40]
    if name and memory.origin is Origin.STRANGER:
        return f"somebody called {name} said, unverified"
    if name and memory.origin is Origin.OWNER:
        return f"{name} said"
    return _LABELS[memory.origin]


def _about(memory: Memory) -> str:
    # A sender's name is somebody's text too: it must not end the brackets it stands in.
    return f"{_day(memory)}, {_one_line(_label(memory)).translate({40: None, 41: None, 96: None})}"


def _clean(text: str) -> str:
    return _CONTROL.sub(" ", _INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in _clean(text).split("\n") if line.strip()]


def _one_line(text: str) -> str:
    return " ".join(_clean(text).split())


def _xml(text: str) -> str:
    return _escaped(_clean(text), quote=False)


def _attribute(text: str) -> str:
    return _escaped(_one_line(text), quote=True)


def _escaped(text: str, *, quote: bool) -> str:
    from html import escape  # brings every entity of HTML along, and only the XML styles need it

    return escape(text, quote=quote)
