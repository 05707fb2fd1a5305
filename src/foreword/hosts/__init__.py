def understand(host, event, document):
    import json
    from types import SimpleNamespace as N

    p = {"text": document["prompt"], "session": "agent:claude-code:" + document["session_id"], "agent": "claude-code"}
    return N(
        asks=({"action": "brief", "payload": p},),
        records=(
            {"action": "ingest", "payload": {"content": p["text"], "session": p["session"], "agent": p["agent"]}},
        ),
        reply=lambda a: (
            json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": a[0]["text"]}})
            if a[0] and a[0]["text"]
            else ""
        ),
    )
