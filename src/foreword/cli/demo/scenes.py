"""The turns of the demo, each with what must come of it: a demo that only printed would also print what is wrong."""

from __future__ import annotations

from foreword.cli.demo.history import GROUP, OWNER, PROJECT, SECRET
from foreword.model import Ask, Brief
from foreword.values import dataclass

_MAIN = "agent:main:thursday"
_BUILDER = "agent:builder:thursday"
NEXT_SESSION = "agent:builder:friday"

_AT_HOME = "Nora, at her own terminal"
_IN_GROUP = "Mirela, in the regatta crew's group chat"


@dataclass(frozen=True, slots=True)
class Scene:
    """One turn. `gives` must be in the brief, or the brief must be empty when it is ""; `never` must not be in it."""

    title: str
    who: str
    ask: Ask
    shows: str
    gives: str = ""
    never: str = ""

    def problem(self, brief: Brief) -> str:
        """What is wrong with the brief, as a sentence; "" when it is as it should be."""
        if self.never and self.never in brief.text:
            return f"'{self.never}' was given, and must never be."
        if self.gives and self.gives not in brief.text:
            return f"'{self.gives}' should have been given, but {brief.reason}."
        if not self.gives and brief:
            return f"It should have been silent, but {brief.reason}."
        return ""


SCENES = (
    Scene(
        "A relevant memory",
        _AT_HOME,
        Ask("Where is the spare key of the boat?", session=_MAIN),
        "Eight days and a session later: the one sentence that answers.",
        gives="blue toolbox",
    ),
    Scene(
        "The same question again",
        _AT_HOME,
        Ask("Where is the spare key of the boat?", session=_MAIN),
        "It is in the conversation already; the model would only pay for it twice.",
    ),
    Scene(
        "A greeting",
        _AT_HOME,
        Ask("Hello again, how are you doing?", session=_MAIN),
        "There is nothing to know, so nothing is said.",
    ),
    Scene(
        "A near miss",
        _AT_HOME,
        Ask("What is my sister Lena's new address?", session=_MAIN),
        "A sister's new address is known, but it is that of Ines. A wrong memory is worse than none.",
        never="Rua das Flores",
    ),
    Scene(
        "Said in private, asked in private",
        _AT_HOME,
        Ask("What is the surprise for Ines's birthday?", session=_MAIN),
        "She told her agent herself, in a direct message.",
        gives="Bilbao",
    ),
    Scene(
        "Said in private, asked in a group",
        _IN_GROUP,
        Ask("What is the surprise for Ines's birthday?", session=GROUP, channel="telegram", sender="Mirela"),
        "The same words, but the crew listens in: in here, what was said in private does not exist.",
        never="Bilbao",
    ),
    Scene(
        "Said in private, asked in a group by its owner",
        "Nora, in the regatta crew's group chat",
        Ask("What is the surprise for Ines's birthday?", session=GROUP, channel="telegram", sender=OWNER),
        "What counts is not who asks but who would read the answer.",
        never="Bilbao",
    ),
    Scene(
        "Said in the group, asked in the group",
        _IN_GROUP,
        Ask("When is the training at the north pier?", session=GROUP, channel="telegram", sender="Mirela"),
        "What the crew said is there for the crew, marked as somebody's word.",
        gives="half past six",
    ),
    Scene(
        "Another agent",
        "Nora, to the coding agent",
        Ask("Where is the spare key of the boat?", session=_BUILDER, project=PROJECT),
        "Each agent has its own memories; only a setting shares them.",
        never="blue toolbox",
    ),
    Scene(
        "A question about a day",
        "Nora, to the coding agent",
        Ask("What did we decide about payments on 12 May?", session=_BUILDER, project=PROJECT),
        "The date is understood as a date.",
        gives="direct debit",
    ),
    Scene(
        "A secret",
        _AT_HOME,
        Ask("What is the password of the router at home?", session=_MAIN),
        "That there is a password was kept. The password was not: it never reached the disk.",
        gives="[redacted: password]",
        never=SECRET,
    ),
)
