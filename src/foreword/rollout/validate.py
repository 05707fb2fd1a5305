"""Whether a workspace is where a rollout should bring it: one verdict for each criterion, with what was seen."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from foreword import bootstrap, wisdom
from foreword.compose import count_tokens
from foreword.engine import WorkspaceContext
from foreword.errors import ForewordError
from foreword.install import installation
from foreword.model import SessionKind
from foreword.record import redact
from foreword.rollout import probes
from foreword.rollout.phases import MEMORY, Rollout
from foreword.upkeep import COMPACT, SOUL, TOOLS, Upkeep
from foreword.values import dataclass

MOST_TOKENS = 500
_APPLY = "`foreword rollout apply`"
_OWN = frozenset({SOUL, "USER.md", COMPACT})
_SHARED = frozenset({SOUL, COMPACT})


class State(StrEnum):
    """BLOCKED is not known: what it takes to look is missing."""

    PASS = "PASS"
    FAIL = "FAIL"
    BLOCKED = "BLOCKED"


@dataclass(frozen=True, slots=True)
class Criterion:
    """`evidence` is what was seen; `next` the step for whatever did not pass."""

    name: str
    state: State
    evidence: str
    next: str = ""


def validate(rollout: Rollout, upkeep: Upkeep) -> list[Criterion]:
    """Every criterion, in order. Nothing is changed, and nothing of the workspace is written but copies that go again.
    What cannot be looked at because of an error is BLOCKED with the error."""
    kinds = {one.kind: one for one in rollout.contexts()}
    texts = probes.notes(rollout.workspace)
    looks: Sequence[tuple[str, Callable[[], Criterion]]] = (
        ("topic", lambda: _set("topic", kinds[SessionKind.FORUM_TOPIC], _SHARED)),
        ("main", lambda: _main(kinds)),
        ("retrieval", lambda: _probed("retrieval", probes.retrieval(texts), rollout)),
        ("subagent", lambda: _set("subagent", kinds[SessionKind.SUBAGENT], frozenset({SOUL}))),
        ("kinds", lambda: _kinds(list(kinds.values()))),
        ("tools", lambda: _tools(rollout.workspace, upkeep)),
        ("wisdom", lambda: _wisdom(rollout.workspace, upkeep)),
        ("rollback", lambda: _rollback(rollout)),
        ("behaviour", lambda: _probed("behaviour", probes.behaviour(texts), rollout)),
    )
    return [_seen(name, look) for name, look in looks]


def _seen(name: str, look: Callable[[], Criterion]) -> Criterion:
    try:
        return look()
    except ForewordError as error:
        return Criterion(name, State.BLOCKED, str(error.args[0]), error.hint)


def _set(name: str, context: WorkspaceContext, wanted: frozenset[str]) -> Criterion:
    """Exactly these files, within the budget."""
    sent = {one.name: one.tokens for one in context.files if one.after}
    if not context.enabled:
        tokens = f"{context.before_tokens:,} tokens of the host's own choice"
        return Criterion(name, State.FAIL, f"the sets are off: {tokens}", _APPLY)
    evidence = (
        f"{', '.join(f'{one} {tokens}' for one, tokens in sent.items()) or 'nothing'}: {sum(sent.values())} tokens"
    )
    if extra := sorted(sent.keys() - wanted):
        step = f"Take {', '.join(extra)} out of bootstrap.{context.kind.value}, bootstrap.more or bootstrap.own."
        return Criterion(name, State.FAIL, f"{evidence}; {', '.join(extra)} should not be sent", step)
    if lacking := sorted(wanted - sent.keys()):
        step = _APPLY if COMPACT in lacking else f"Put {', '.join(lacking)} into the workspace."
        return Criterion(name, State.FAIL, f"{evidence}; {', '.join(lacking)} is not sent", step)
    if sum(sent.values()) > MOST_TOKENS:
        largest = max(sent, key=lambda one: sent[one])
        return Criterion(name, State.FAIL, f"{evidence}, more than {MOST_TOKENS}", _shorter(largest))
    return Criterion(name, State.PASS, evidence)


def _shorter(name: str) -> str:
    steps = {SOUL: "`foreword soul draft`, then `foreword soul approve`", COMPACT: "`foreword tools compact`"}
    return steps.get(name, f"Shorten {name}.")


def _main(kinds: dict[SessionKind, WorkspaceContext]) -> Criterion:
    found = [_set("main", kinds[one], _OWN) for one in (SessionKind.MAIN_SESSION, SessionKind.PRIVATE_DM)]
    worst = next((one for one in found if one.state is not State.PASS), found[0])
    if worst.state is State.PASS:
        return Criterion("main", State.PASS, f"{worst.evidence}, no {MEMORY}")
    return worst


def _kinds(contexts: Sequence[WorkspaceContext]) -> Criterion:
    off = [one.kind.value for one in contexts if not one.enabled]
    if off:
        return Criterion("kinds", State.FAIL, "the sets are off", _APPLY)
    lacking = [f"{one.kind.value} lacks {', '.join(one.missing)}" for one in contexts if one.missing]
    if lacking:
        return Criterion("kinds", State.FAIL, "; ".join(lacking), "Write what is missing, or take it out of the set.")
    problems = [problem for one in contexts for problem in one.problems]
    if problems:
        return Criterion("kinds", State.FAIL, problems[0], "Mend the file.")
    sets = (f"{one.kind.value} {one.after_tokens}" for one in contexts)
    return Criterion("kinds", State.PASS, f"each of {len(contexts)} kinds has its set: {', '.join(sets)} tokens")


def _tools(workspace: Path, upkeep: Upkeep) -> Criterion:
    if not (workspace / TOOLS).is_file():
        return Criterion("tools", State.BLOCKED, f"there is no {TOOLS}", f"Write a {TOOLS} with what is looked up.")
    (present,) = bootstrap.read(workspace, [COMPACT])
    if present.text is None:
        return Criterion("tools", State.FAIL, present.problem or f"there is no {COMPACT}", "`foreword tools compact`")
    state = upkeep.tools_state()
    source = (workspace / TOOLS).read_text("utf-8-sig", errors="replace")
    lost = bootstrap.missing(source, present.text, redact=lambda text: redact(text).text)
    tokens = count_tokens(present.text)
    evidence = f"{tokens} tokens of {count_tokens(source)}"
    if tokens > bootstrap.MAX_TOOLS_TOKENS:
        return Criterion("tools", State.FAIL, f"{evidence}, more than {bootstrap.MAX_TOOLS_TOKENS}", _shorter(COMPACT))
    if lost:
        shown = ", ".join(lost[:5])
        return Criterion("tools", State.FAIL, f"{evidence}; lost: {shown}", f"Shorten {TOOLS}, or move a section out.")
    if not state.fresh and not state.edited:
        return Criterion("tools", State.FAIL, f"{evidence}; {state.reason}", "`foreword tools compact`")
    return Criterion("tools", State.PASS, f"{evidence}, every fact kept; {state.reason}")


def _wisdom(workspace: Path, upkeep: Upkeep) -> Criterion:
    if list(workspace.glob("[Ww][Ii][Ss][Dd][Oo][Mm].md")):
        return Criterion(
            "wisdom", State.FAIL, "there is a WISDOM.md", f"Move what it holds into {SOUL}, and remove it."
        )
    section = upkeep.present_wisdom()
    if not section:
        step = "`foreword wisdom draft`, then `foreword wisdom approve`"
        return Criterion("wisdom", State.FAIL, f"{SOUL} has no {wisdom.HEADING}", step)
    if broken := upkeep.wisdom_broken(section):
        return Criterion(
            "wisdom", State.FAIL, str(broken[0]), "`foreword wisdom draft`, then `foreword wisdom approve`"
        )
    entries = wisdom.entries_of(section)
    evidence = f"{len(entries)} entries, {count_tokens(section.strip())} tokens, and it says where to look"
    return Criterion("wisdom", State.PASS, evidence)


def _rollback(rollout: Rollout) -> Criterion:
    if not rollout.kept.exists:
        return Criterion("rollback", State.BLOCKED, "no rollout is on record for this workspace", _APPLY)
    # Beside the copies themselves: a user's own files belong into no folder that others can list.
    with tempfile.TemporaryDirectory(prefix="rehearsal-", dir=rollout.kept.folder.parent) as folder:
        done = rollout.kept.rehearse(Path(folder))
    differing = [one for one, same in done if not same and one.said not in (installation.EDITED, installation.LEFT)]
    if differing:
        names = ", ".join(f"{one.file.name} ({one.said})" for one in differing)
        step = "`foreword rollout status`"
        return Criterion("rollback", State.FAIL, f"on a copy these did not come back: {names}", step)
    counted = {how: sum(one.said == how for one, _ in done) for how in dict.fromkeys(one.said for one, _ in done)}
    told = "; ".join(f"{number} {how}" for how, number in counted.items())
    return Criterion("rollback", State.PASS, f"rehearsed on copies of {len(done)} files: {told}")


def _probed(name: str, asked: Sequence[probes.Probe], rollout: Rollout) -> Criterion:
    if len(asked) < probes.WANTED:
        found = f"the notes give {len(asked)} questions, and {probes.WANTED} are asked"
        return Criterion(name, State.BLOCKED, found, f"Write more into {MEMORY}, memory/ or {TOOLS}.")
    done = [probes.ask(one, rollout.search, rollout.workspace) for one in asked]
    if not any(one.indexed for one in done):
        step = f"`foreword vault add {rollout.workspace}`"
        return Criterion(name, State.BLOCKED, "nothing of the workspace is indexed", step)
    right = sum(one.answered for one in done)
    evidence = f"{right} of {len(done)}: " + "; ".join(_told(done))
    state = State.PASS if right == len(done) else State.FAIL
    step = "" if right == len(done) else "`foreword search` with the question shows what comes first."
    return Criterion(name, state, evidence, step)


def _told(done: Sequence[probes.Probed]) -> Iterator[str]:
    for one in done:
        what = f"{one.probe.file}: {one.probe.answer}" if one.probe.answer else one.probe.file
        yield f"“{one.probe.question[:60]}” → {what if one.answered else f'{one.found} instead of {what}'}"
