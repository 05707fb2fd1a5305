"""An agent's workspace as one grows in a year: some 12,000 tokens of Markdown about a small software shop and the house
above it. What a person would have written once stands in the files beside this one; what grew by itself, the long
memory and the notes of the last days, is made here, the same for the same day."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from foreword import Foreword

_HERE = Path(__file__).parent

# name, what it is, where it runs, port, since, what is odd about it, who is called when it stands still
_SYSTEMS = (
    ("Gannet", "the ferry booking system", "on the ferry company's own host", 8431, "March",
     "Sailings after midnight belong to the day before, because the crew's shift does", "the harbour desk"),
    ("Kittiwake", "the boatyard's stock list", "on the yard's office machine", 8440, "May",
     "Ropes are counted in metres and sold in coils of forty", "the yard's foreman"),
    ("Dunlin", "the order list of the first bakery", "on a small machine under the counter", 8452, "June",
     "Orders close at eight in the evening and not at midnight", "the night shift"),
    ("Whimbrel", "the order list of the second bakery", "on a small machine behind the oven", 8453, "June",
     "The machine is warm all year, and its disk is replaced every spring", "the night shift"),
    ("Turnstone", "the order list of the third bakery", "at the shop's own provider", 8454, "August",
     "It has two counters that must never print the same number", "the counter by the window"),
    ("Sanderling", "the label printer's queue", "on the store box", 9107, "January",
     "The printer forgets its paper size when it is switched off, so it stays on", "nobody; it restarts itself"),
    ("Avocet", "the measurements of all systems", "on the build machine", 9466, "February",
     "It keeps ninety days, and the yearly picture is drawn from the monthly sums", "nobody before nine"),
    ("Redshank", "the invoices", "on the store box", 8477, "April",
     "Numbers are given when an invoice is sent and never when it is drafted", "the accountant's office"),
)  # fmt: skip
_DECISIONS = (
    ("The databases stay on the inner net", "a tunnel was asked for twice and is not worth its care"),
    ("Releases are on Tuesdays", "Mondays are for what broke at the weekend, and from Wednesday on customers plan"),
    ("One machine for each bakery", "a shared one would stand still for three shops at once"),
    ("Dates are written year first everywhere", "two customers read the same date as two days"),
    ("Logs are kept for thirty days", "longer was never once looked at, and it is other people's data"),
    ("The label queue is written in the shop's own small language", "the vendor's driver lost every ninth label"),
    ("No chat integration for the yard", "the foreman wants paper, and paper works in the rain"),
    ("Customers get a monthly page of numbers", "it ended the question whether anything was being done"),
    ("The test copy has no people in it", "it was the only way to let the copy leave the cellar"),
    ("Heating follows the calendar and not the presence sensors", "the sensors took the cat for a guest"),
    ("The garden is watered before six", "later the pressure falls for the whole row of houses"),
    ("Parcels for the shop go to the side door", "the bell at the front wakes the neighbour's child"),
    ("Invoices are sent on the second working day", "the accountant's office closes its month on the third"),
    ("The old booking export stays until next winter", "the harbour desk's spreadsheet reads it, and nobody else does"),
    ("New work gets a fixed price and a fixed end", "the two open-ended jobs are the two that are still open"),
    ("Backups go to two places, one of them not ours", "the cellar has been wet before"),
)  # fmt: skip
_LESSONS = (
    "Check a restored copy by counting its rows; a restore that ends without an error can still be short.",
    "Check the clock of a small machine after it lost power; the second bakery printed yesterday's list.",
    "Look at what changed last before looking at what is complicated; nine times of ten it was the last change.",
    "Look at the cable before the code; the third plug of the switch has been the reason four times.",
    "Ask the person at the counter what they saw; the log did not know about the spilled flour.",
    "Ask for the exact words on the screen; the paraphrase led to the wrong system for a whole morning.",
    "Write the undo beside the change; in the night nobody works it out anew.",
    "Write numbers with their unit; forty metres were delivered as forty coils.",
    "Test the printer with the real paper; the test page fits and the label does not.",
    "Test the quiet path too; the export of an empty day stopped the import of the full one.",
    "Keep the old way running until the new one has seen a month end.",
    "Keep the list of who is called beside the machine, on paper; the net was what had failed.",
    "Tell the customer what will look different before it does; the new button was reported as a fault six times.",
    "Tell the night shift, not only the office; the office is asleep when it matters.",
    "Doubt a fix that you cannot explain; the fault came back on the next wet day.",
    "Stop and write when it is later than ten; what was mended after that had to be mended again.",
)
_HOUSE = (
    ("Boiler", "serviced in October by the district heating people; the next visit is due in twelve months"),
    ("Chimney", "swept in November; the sweep wants the loft ladder down before eight"),
    ("Rain barrel", "holds 310 litres; the overflow goes to the lower bed and must be free of leaves"),
    ("Washing machine", "drains slowly on the wool programme; the filter behind the left flap is the reason"),
    ("Bread oven", "needs fifty minutes from cold; the upper thermometer shows eighteen degrees too little"),
    ("Loft window", "sticks when it rains; a wedge of beech hangs on the red string"),
    ("Cellar pump", "starts at 22 centimetres and is tested on the first of every second month"),
    ("Bicycle cellar", "the key hangs behind the fuse box, not on the board"),
    ("Garden gate", "its battery lasts about seven months and is a flat one of the kind 2450"),
    ("Attic freezer", "alarm at minus 14; the spare fuse is in the tea tin"),
    ("Letter box", "emptied daily in August because of the swifts' campaign letters"),
    ("Kitchen scales", "five grams too heavy since they fell; the bakery's are right"),
)
_DAYS = (
    ("Gannet", "the night sailings were doubled on the Saturday list", "the day was cut at midnight again",
     "moved the cut to four in the morning, with a test that has a sailing at 00:40"),
    ("Kittiwake", "the yard counted 1,640 metres of rope where the list had 1,600", "a coil was entered as a piece",
     "corrected the entry, and the form now asks for the unit"),
    ("Dunlin", "the morning list came at 05:12 instead of 04:30", "the small machine had checked its disk",
     "moved the check to Sunday noon"),
    ("Redshank", "invoice 2291 had been drafted twice", "the draft was reopened on a second machine",
     "drafts are locked for ten minutes now; the second one was thrown away before it had a number"),
    ("Avocet", "the graph of the second bakery was flat for six hours", "its battery-backed clock had stopped",
     "ordered two cells, and the flat line now raises a note after one hour"),
    ("Sanderling", "a label was printed on the wrong roll", "the size was lost at the short power cut",
     "the queue asks the printer for its size before every batch of more than twelve"),
)  # fmt: skip
_SMALL = (
    "The glazier measured the loft window and wrote 114 centimetres on the frame.",
    "The swallow box at the gate was cleaned; two ringed feathers are in the drawer marked 6b.",
    "Forty-one jars of quince went to the cellar shelf, the last with a cracked lid, batch q17.",
    "The ladder was lent to the sailmaker until the regatta, ticket 3308.",
    "A hedgehog sleeps below the woodpile; nothing is stacked there before April, sign w9.",
    "The tide table for the quay came as a poster and hangs beside locker 212.",
    "Somebody returned the missing trombone case at the bakery; it stands under coat hook 27.",
    "The chimney cowl rattled in the gale and got a brass screw, size m8.",
    "The violin teacher asked for silence on Thursdays between practice rooms 4a and the yard.",
    "Moths were found in the felt of the pigeonholes, so cedar chips lie in compartment 19c.",
    "The ferry's brass bell was polished for the anniversary and weighs 18kg.",
    "A mason repointed the garden steps with lime and left half a sack, label nhl35.",
    "The telescope on the landing was collimated again and shows Saturn at magnification x140.",
    "Rhubarb crowns were divided and planted along the eastern fence in bed e3.",
    "The clockmaker took the hall pendulum away and promised it for the solstice, receipt 7714.",
    "Knitting patterns of the choir were scanned at the counter into folder kn-52.",
)
_DAY_LESSONS = (
    "Check a list against what is on the shelf before correcting the list.",
    "Look at the last power cut before looking at the code.",
    "Tell the night shift when a list will be late, even by a quarter of an hour.",
)


def files(today: date) -> dict[str, str]:
    """Every file of the workspace by its path in it."""
    found = {file.name: file.read_text("utf-8") for file in sorted(_HERE.glob("*.md"))}
    found["MEMORY.md"] = _memory()
    for number in range(16):
        name = (today - timedelta(days=1 + 2 * number)).isoformat()
        found[f"memory/{name}.md"] = _day(name, number, _DAYS[number % len(_DAYS)])
    return found


def grow(folder: Path, today: date) -> dict[str, str]:
    """The workspace, written into a folder; what it holds."""
    found = files(today)
    for name, text in found.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return found


def index(engine: Foreword, folder: Path) -> None:
    """Make it a vault, as `foreword vault add` does."""
    vault = engine.vaults.proposed(str(folder))
    engine.vaults.add(vault)
    assert engine.vaults.bring_up_to_date(vault).added


def _memory() -> str:
    parts = ["# MEMORY.md: what is worth keeping for longer than a month\n", "## Systems\n"]
    for name, what, where, port, since, odd, called in _SYSTEMS:
        parts.append(
            f"### {name}\n\n{name} is {what}. It runs {where} and has listened on port {port} since {since}. {odd};"
            f" that has surprised everybody once. When it stands still, the first call goes to {called}, and what they"
            f" saw goes into the day's notes before anything is restarted. Its backup is written at night, and the"
            f" copy of {name} is restored on the spare machine on the first Tuesday of a month. Last year {name} stood"
            f" still for {port % 7 + 1} hours in all, most of it in one piece, and the customer's page says so.\n"
        )
    parts.append("## Decisions\n")
    parts += [f"- **{what}**, because {why}.\n" for what, why in _DECISIONS]
    parts.append("\n## Lessons learned\n")
    parts += [f"- {one}\n" for one in _LESSONS]
    parts.append("\n## House\n")
    parts += [f"- **{what}**: {how}.\n" for what, how in _HOUSE]
    parts.append("\n## When something stands still\n")
    for name, what, where, port, _, _, called in _SYSTEMS:
        parts.append(
            f"### {name} does not answer\n\n1. Ask {called} what they see, in their words, and since when.\n2. Look"
            f" whether anything listens on port {port}; it runs {where}, so look there and not from the cellar.\n"
            f"3. Read the last {port % 60 + 40} lines of its own log before touching it. A restart takes the trace"
            f" away.\n4. If {what} has to run before the cause is known, say that it is a restart and not a repair,"
            f" and put both times into the notes.\n5. When it answers again, print one real page of {name} and have"
            f" somebody there look at it. A green light is not a page.\n"
        )
    parts.append("## The year so far\n")
    for month, (name, what, _, port, *_) in zip(_MONTHS, _SYSTEMS, strict=True):
        parts.append(
            f"### {month}\n\nThe work of the month was {name}, {what}. It was moved to port {port} together with its"
            f" checks, the people at the counter were shown the new list on paper first, and the old one stayed beside"
            f" it until the month had ended. The release took {port % 40 + 20} minutes, of which most went into the"
            f" restore of the copy, as it should be. What was left over went onto the list for the quiet weeks: the"
            f" help page of {name} still shows the old button, and two of its messages speak of a menu that is gone."
            f" Of the {port % 9 + 4} wishes that came in, three were done at once because each took less than an hour,"
            f" one was refused because it would have moved people's data out of the house, and the others wait for the"
            f" winter, each with a sentence about what it is for. The numbers of {month} were sent on the second"
            f" working day and nobody asked about them, which is how it should be.\n"
        )
    return "\n".join(parts)


_MONTHS = ("March", "April", "May", "June", "July", "August", "September", "October")


def _day(name: str, number: int, day: tuple[str, str, str, str]) -> str:
    system, seen, cause, done = day
    lesson = _DAY_LESSONS[number % len(_DAY_LESSONS)]
    house, how = _HOUSE[number % len(_HOUSE)]
    again = "It was the second time this month, after the same kind of weather. " if number < len(_DAYS) else ""
    return f"""# {name}

## {system}

In the morning {seen}. {again}It was noticed by the people there and not by us.
The cause was that {cause}. Done: {done}.
Both the list and the paper on the wall say the same again. The customer was told before noon and had no questions; the
page of the month will have a line about it. Half an hour went into telling it apart from the fault of the spring, which
looked alike and was another.

## House

- {house}: {how}. Looked at again today, and it is as written.
- Two parcels for the shop at the side door, one for the house.
- The evening list was read aloud once; nobody asked for it twice.
- {_SMALL[number % len(_SMALL)]}

## Lessons

- {lesson}
"""
