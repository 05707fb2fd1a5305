"""The fixtures that the adapters' client is held to as well: what is asked, and what of the answer is promised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from foreword.serve import wire
from tests.doors.conftest import Daemon

FOLDER = Path(__file__).resolve().parents[2] / "adapters" / "fixtures" / "wire"
FIXTURES = [json.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.json"))]
SCHEMA = wire.describe()


def _matches(actual: Any, wanted: Any) -> bool:
    """What the fixture says is there; a list is as long as it says; there may be more in an object."""
    if isinstance(wanted, dict):
        return isinstance(actual, dict) and all(
            key in actual and _matches(actual[key], inner) for key, inner in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(actual, list)
            and len(actual) == len(wanted)
            and all(_matches(one, inner) for one, inner in zip(actual, wanted, strict=True))
        )
    return bool(actual == wanted)


@pytest.mark.proves("S2")
def test_a_daemon_answers_every_fixture_in_its_order_as_promised(daemon: Daemon) -> None:
    daemon.client.start()
    for fixture in FIXTURES:
        request = fixture["request"]
        _, answer = daemon.client.request("POST", "/v1", request, within_s=30)
        assert _matches(answer, fixture["answer"]), f"{fixture['name']}: {answer}"
        if answer["status"] == "ok":
            jsonschema.validate(answer["data"], {**SCHEMA["answers"][request["action"]], "$defs": SCHEMA["$defs"]})
        else:
            assert set(answer) == {"status", "error"}
            assert set(answer["error"]) == {"code", "message"}


@pytest.mark.parametrize("fixture", FIXTURES, ids=[one["name"] for one in FIXTURES])
def test_what_is_answered_fits_the_schema_and_what_does_not_fit_is_refused(fixture: dict[str, Any]) -> None:
    fits = jsonschema.Draft202012Validator(SCHEMA).is_valid(fixture["request"])
    assert fits or fixture["answer"]["error"]["code"] == "bad_input"


def test_every_action_is_among_the_fixtures_right_and_wrong() -> None:
    asked = [(one["request"]["action"], one["answer"]["status"]) for one in FIXTURES if "action" in one["request"]]
    assert {(name, status) for name in wire.ACTIONS for status in ("ok", "error")} <= set(asked)
