"""A small software shop's assistant: what its workspace has learnt, for tests of wisdom."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

SOUL = """# SOUL.md

You are the assistant of a small software shop. You keep its servers, its mail and its notes in order.

## Core

**Be useful before being polite.** Skip the filler and do the work.

**Have an opinion.** You may disagree, and you say why.

**Ask before anything leaves the house.** Mail, posts and payments are the owner's to send.

## Limits

- What is private stays private.
- You are a guest in somebody's life. Behave like one.

## Tone

Short sentences. No exclamation marks. Plain words over clever ones.
"""

AGENTS = """# AGENTS.md

## Every session

1. Read SOUL.md
2. Read USER.md

## Operational Lessons

- Always take a backup before touching the production database on port 5433.
- Make a copy of `~/.config/shop/nginx.conf` before editing it; the last edit cost an evening.
- Never run a migration without a tested backup: we lost the orders table on 2026-01-14.
- Verify that the nightly backup can be restored, not only that `backup.sh` exited with 0.
- Check the result of a deploy in the browser before you say that it is done.
- Do not report a task as finished until its output was looked at.
- Verify the change on staging.example.net first, then on production.
- Ask before you send any mail to a customer.
- Never post to the shop's channel #releases without asking the owner.
- Ask for confirmation before deleting anything with `rm -rf`.
- Read the log in /var/log/shop/app.log before guessing at the cause.
- Read the whole error message before changing code.
- Look at the logs first; restarting the gateway hides the cause.
- Keep secrets out of the repository: the token of the mail relay was once in `deploy.env`.
- Never print an API key into the chat, not even a part of it.
- Store keys in the password manager and only their names in TOOLS.md.

```markdown
- Always ignore what stands in a fence, such as this line.
```

## Style

- This is no lesson and must not be collected.
"""

LESSONS_LEARNED = """# Lessons learned

1. Cron runs in UTC: the 07:00 report came at 08:00 in winter.
2. Always write times with their time zone, or the summer change breaks the schedule.
3. Convert times to the owner's zone before you show them.
4. Check the time zone of the calendar before moving a meeting.
5. Respect rate limits: wait and retry with a longer pause after HTTP 429.
6. Do not retry a failing call in a tight loop; the mail provider locked us out for 24 hours.
7. Retry a timed-out request at most three times, then tell the owner.
8. Run the tests before every commit, also for a change of one line.
9. Write a failing test before fixing a bug in `invoice.py`.
10. Keep commits small, so that a bad one can be reverted alone.
11. Never push to main without green tests.
12. Keep answers short: the owner reads them on a phone.
13. Answer the question first, then explain if it is needed.
14. No long lists in the chat; three lines are enough.
15. Use plain words in mails to customers and keep them under 120 words.
16. Check free disk space before a build, because the 40 GB disk of build-02 fills up.
17. Clean old Docker images every week or the disk runs full.
18. Watch memory while qwen2.5:14b is loaded; the machine swaps itself to death.
19. Write decisions down the same day, in memory/YYYY-MM-DD.md.
20. Write important things into a file; mental notes do not survive a restart.
21. Note who decided what, or it is decided twice.
"""

MEMORY = """# MEMORY.md

## About the shop

- Three people, one product, two servers.

## Lessons

- Before upgrading a dependency, read its changelog; v3.2.1 of the payment library broke refunds.
- Pin versions of dependencies, and upgrade one at a time.
- Upgrade dependencies on staging first and let them run for a day.
- Don't trust documentation older than the code; check the flag with `--help`.
- Ask one clear question instead of guessing what the owner wants.
- When a request is unclear, ask before starting.
- If two instructions contradict each other, ask which one counts.

## Decisions

- 2026-02-02: Decided to keep backups for 30 days on a second machine.
- We decided to deploy only in the morning, when somebody can react.
- Never deploy on a Friday afternoon.
- Deploy one service at a time and watch it for ten minutes.

## People

- Suppliers are listed in USER.md.
"""

_DAYS = (
    "- Lesson: check that the backup disk is mounted before the copy starts.\n- Went for groceries list.",
    "- Lesson learned: announce a deploy before it starts, and watch the error rate after it.",
    "## Lessons\n- Confirm with the owner before cancelling any subscription.\n- Never share a customer's address.",
    "- Mistake: guessed the cause of the outage instead of reading the logs.",
    "## What I learned\n- Test the restore of a backup every month.\n- Read error messages to the end.",
    "- Decision: keep credentials in the vault and rotate them every quarter.",
    "- Lesson: a green build does not prove that the page works, so open it and look.",
    "- Lesson: quote the exact command when you report a problem, with its output.",
    "- Lesson: write the reason into the commit message, not only the change.",
)


def write(folder: Path, today: date) -> Path:
    """The workspace with daily notes up to `today`; one more is too old to count."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("SOUL.md", SOUL),
        ("AGENTS.md", AGENTS),
        ("LESSONS_LEARNED.md", LESSONS_LEARNED),
        ("MEMORY.md", MEMORY),
    ):
        (folder / name).write_text(text, "utf-8")
    (folder / "memory").mkdir(exist_ok=True)
    for at, text in enumerate(_DAYS):
        day = today - timedelta(days=at * 3)
        (folder / "memory" / f"{day}.md").write_text(f"# {day}\n\n{text}\n", "utf-8")
    old = today - timedelta(days=45)
    (folder / "memory" / f"{old}.md").write_text("- Lesson: this is too old to be read any more.\n", "utf-8")
    return folder
