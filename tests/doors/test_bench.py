"""The benchmarks, on data small enough to know every number by hand."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import bench
import pytest
from bench import gate, histories
from bench.histories import FOREIGN, NEAR_MISS, OWN, Findings, Given, Judged

FACTS = {
    "a": ("My cat Biscuit sleeps on the piano.", "Where does my cat Biscuit sleep?"),
    "b": ("I parked the yellow bicycle behind the bakery.", "Where did I park the yellow bicycle?"),
    "c": ("The violin lesson with Ingrid moved to Thursday.", "When is the violin lesson with Ingrid?"),
    "d": ("My passport is in the drawer below the oven.", "Where is my lighthouse?"),
}
SILENT = ("smalltalk", "general-question", "assistant-command")


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    """Four users and two conversations. Everything that exists is found, so what is missing is what does not exist."""
    data = tmp_path / "sets"
    _longmemeval(data / "longmemeval-dev", FACTS)
    _locomo(data / "locomo")
    _lines(data / "silence-dev" / "asks.jsonl", [{"kind": kind, "text": "hey you"} for kind in SILENT * 2])
    return data


def _longmemeval(folder: Path, facts: dict[str, tuple[str, str]]) -> None:
    questions, sessions = [], []
    for user, (fact, question) in facts.items():
        sessions += [
            {"id": f"{user}1", "turns": [["user", fact], ["assistant", "I will keep that in mind."]]},
            {"id": f"{user}2", "turns": [["user", "The weather was dull."], ["assistant", "So it goes."]]},
        ]
        questions.append(
            {
                "id": f"q-{user}",
                "type": "two-sessions" if user == "b" else "one-session",
                "answerable": user != "d",
                "question": question,
                "asked": "2026-03-04T12:00",
                "answer": fact,
                # One of b's sessions with evidence is nowhere: all of it can never be found, some of it always.
                "evidence": ["b1", "lost"] if user == "b" else [f"{user}1"],
                "haystack": [[f"{user}1", "2026-03-01T09:00"], [f"{user}2", "2026-03-02T09:00"]],
            }
        )
    _lines(folder / "questions.jsonl", questions)
    with gzip.open(folder / "sessions.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(one) + "\n" for one in sessions)


def _locomo(folder: Path) -> None:
    def conversation(name: str, *told: str, questions: list[tuple[str, str, list[str]]]) -> dict[str, Any]:
        turns = [{"id": f"{name}-{place}", "speaker": "Ana", "text": text} for place, text in enumerate(told)]
        return {
            "id": name,
            "speakers": ["Ana", "Ben"],
            "sessions": [{"id": f"{name}-s", "date": "2026-02-01T10:00", "turns": turns}],
            "questions": [
                {"id": f"{name}-q{number}", "category": category, "question": text, "answer": "", "evidence": evidence}
                for number, (category, text, evidence) in enumerate(questions)
            ],
        }

    told = [
        conversation(
            "x",
            "I adopted a greyhound called Comet.",
            "We bought a canoe in Lisbon.",
            questions=[
                ("single-hop", "What is Ana's greyhound called?", ["x-0"]),
                ("multi-hop", "Where did Ana buy the canoe?", ["x-1", "x-99"]),
                ("adversarial", "What is Ben's greyhound called?", ["x-0"]),
                ("open-domain", "Would Ana like a boat?", []),
            ],
        ),
        conversation(
            "y",
            "My sister conducts an orchestra in Oslo.",
            questions=[("single-hop", "Where does the sister conduct an orchestra?", ["y-0"])],
        ),
    ]
    folder.mkdir(parents=True)
    (folder / "conversations.json").write_text(json.dumps(told))


def _lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_quality_counts_what_the_sets_say_it_should(run, sets, tmp_path):
    ran = run("bench", "quality", "--data", str(sets), "--out", str(tmp_path / "out"), "--json")
    assert ran.code == 0, ran.out
    result = json.loads(ran.out)
    compared = result.pop("compared")
    assert result == {
        "longmemeval": {
            "recall_all@5": 66.7,  # a and c of a, b, c; d has no answer and does not count
            "recall_any@5": 100.0,
            "recall_all@10": 66.7,
            "n": 3,
            "by_type": {"one-session": 100.0, "two-sessions": 0.0},
        },
        "locomo": {
            "turn_recall@10": 87.5,  # 1, 1/2, 1, 1; a question without evidence does not count, an adversarial one does
            "session_recall@10": 100.0,
            "by_category": {"adversarial": 100.0, "multi-hop": 50.0, "single-hop": 100.0},
            "n": 4,
        },
    }
    assert list(compared["longmemeval"]) == ["fts5_or", "fts5_or_sessions", "bm25", "embedder", "rrf"]
    assert list(compared["locomo"]) == ["fts5_or", "bm25", "embedder", "rrf"]
    assert all(row["recall_any@5"] == 100.0 for row in compared["longmemeval"].values())
    assert compared["locomo"]["bm25"]["turn_recall@10"] == 87.5
    assert json.loads((tmp_path / "out" / "quality.json").read_text()) == {**result, "compared": compared}


@pytest.mark.proves("B1")
def test_the_gate_tells_own_from_foreign_and_keeps_silent(run, sets, tmp_path):
    ran = run("bench", "gate", "--data", str(sets), "--out", str(tmp_path / "out"), "--json")
    assert ran.code == 0, ran.out
    result = json.loads(ran.out)
    assert result["foreign"] == {"recall@fa5": 1.0, "recall@fa10": 1.0, "auroc": 1.0}
    assert result["silence"] == dict.fromkeys(SILENT, 0.0)  # too short to be asked at all
    assert 0 <= result["near_miss"] <= 1
    assert 0 <= result["ece"] <= 1
    assert 0 < result["tokens_per_turn"] < result["tokens_cap"]
    assert result["tokens_max"] <= result["tokens_cap"]
    assert result["over_cap"] == 0
    assert result["own_right"] == 1.0
    # Three questions to three strangers each; three questions to the one stranger of the conversation they are not of.
    assert result["n"] == {"own": 6, "near-miss": 2, "foreign": 12, **dict.fromkeys(SILENT, 2)}
    assert set(result["compared"]["longmemeval"]) == {"bm25_top", "bm25_margin", "coverage", "cosine_top"}
    assert json.loads((tmp_path / "out" / "gate.json").read_text()) == result


def test_a_whole_run_prints_tables_and_draws_pictures(run, sets, tmp_path):
    out = tmp_path / "out"
    ran = run("bench", "--data", str(sets), "--out", str(out))
    assert ran.code == 0, ran.err
    for shown in ("LongMemEval", "rank fusion", "top cosine", "smalltalk", "expected calibration error"):
        assert shown in ran.out
    for name in ("roc", "reliability", "recall_by_type"):
        head = (out / f"{name}.png").read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        assert min(struct.unpack(">II", head[16:24])) > 500


def test_several_processes_find_what_one_does(sets):
    _longmemeval(sets / "longmemeval", {f"{name}{copy}": FACTS[name] for copy in range(2) for name in FACTS})
    data = histories.read(sets)
    assert len(data.histories["longmemeval"]) == 8
    wanted = histories.Wanted(quality=True, gate=True, compare=False)
    assert histories.ask_all(data, wanted, jobs=2) == histories.ask_all(data, wanted, jobs=1)


def test_a_quick_look_says_that_it_is_one(run, sets, tmp_path):
    ran = run("bench", "quality", "--data", str(sets), "--out", str(tmp_path), "--limit", "2", "--no-compare")
    assert ran.out.startswith("A QUICK LOOK")
    result = json.loads((tmp_path / "quality.json").read_text())
    assert result["limit"] == 2
    assert result["longmemeval"]["n"] == 2
    assert "compared" not in result


def test_a_single_question_has_nobody_to_be_foreign_to(run, sets, tmp_path):
    ran = run("bench", "--data", str(sets / "longmemeval-dev"), "--out", str(tmp_path), "--limit", "1")
    assert ran.code == 0, ran.err
    result = json.loads((tmp_path / "gate.json").read_text())
    assert result["foreign"] == {"recall@fa5": None, "recall@fa10": None, "auroc": None}
    assert result["own"] == 1.0


def test_one_set_alone_is_enough(run, sets, tmp_path):
    ran = run("bench", "--data", str(sets / "locomo"), "--out", str(tmp_path), "--no-compare", "--json")
    assert ran.code == 0, ran.out
    result = json.loads(ran.out)
    assert list(result["quality"]) == ["locomo"]
    assert result["gate"]["foreign"]["auroc"] == 1.0
    assert result["gate"]["silence"] == dict.fromkeys(SILENT)
    assert result["gate"]["tokens_per_turn"] is None


def test_without_matplotlib_the_numbers_are_still_given(run, sets, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "bench.pictures", raising=False)
    monkeypatch.delattr(bench, "pictures", raising=False)
    ran = run("bench", "quality", "--data", str(sets / "locomo"), "--out", str(tmp_path), "--no-compare", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["locomo"]["n"] == 4
    assert "pip install" in ran.err
    assert not list(tmp_path.glob("*.png"))


# what cannot be used


def test_data_that_is_not_there_is_named_with_the_next_step(run, tmp_path):
    ran = run("bench", "quality", "--json")
    assert ran.code == 2
    assert "--data" in ran.error["message"]
    for folder in (tmp_path / "nowhere", tmp_path):
        ran = run("bench", "gate", "--data", str(folder), "--json")
        assert ran.code == 2
        assert str(folder) in ran.error["message"]
        assert "questions.jsonl" in ran.error["message"]


@pytest.mark.parametrize(
    ("file", "content", "named"),
    [
        ("longmemeval-dev/questions.jsonl", '{"id": \n', "line 1"),
        ("longmemeval-dev/questions.jsonl", '{"id": "q"}\n', "line 1: 'haystack' is missing"),
        ("longmemeval-dev/questions.jsonl", "", "no question"),
        ("longmemeval-dev/sessions.jsonl.gz", "no gzip", "damaged"),
        ("locomo/conversations.json", '[\n{"id": 1,}]', "line 2"),
        ("locomo/conversations.json", '[{"id": "x"}]', "conversation 1: 'sessions' is missing"),
        ("silence-dev/asks.jsonl", '{"kind": "smalltalk", "text": "hi"}\n[]\n', "line 2"),
    ],
)
def test_a_damaged_file_is_named_with_the_place(run, sets, file, content, named):
    (sets / file).write_text(content)
    ran = run("bench", "gate", "--data", str(sets), "--json")
    assert ran.code == 2
    assert Path(file).parent.name in ran.error["message"]
    assert named in ran.error["message"]


def test_a_session_that_is_told_of_but_missing_is_named(run, sets):
    with gzip.open(sets / "longmemeval-dev" / "sessions.jsonl.gz", "wt") as file:
        file.write("")
    assert "a1" in run("bench", "quality", "--data", str(sets), "--json").error["message"]


def test_an_installed_package_says_where_the_benchmarks_are(run, sets, monkeypatch, tmp_path):
    monkeypatch.setattr("foreword.__file__", str(tmp_path / "lib" / "site-packages" / "foreword" / "__init__.py"))
    ran = run("bench", "quality", "--data", str(sets), "--json")
    assert ran.code == 2
    assert "Clone" in ran.error["message"]


def test_a_benchmark_takes_no_home(run, sets):
    assert run("bench", "gate", "--data", str(sets), "--home", "x").code == 2


def test_the_verb_explains_itself(run):
    shown = run("bench", "--help")
    assert "example:\n  foreword bench" in shown.out
    assert "\n    bench " in run("--help").out


# the scores


def test_recall_at_false_alarms_is_that_of_the_best_bar_that_keeps_to_them():
    curve = gate.roc([0.9, 0.8, 0.3], [0.85, 0.5, *[0.1] * 18])
    assert curve is not None
    # One of twenty may pass at 5 %, so the bar stands above 0.5 and two of three pass; of the 60 pairs 57 are in order.
    assert curve.summary() == {"recall@fa5": 0.6667, "recall@fa10": 1.0, "auroc": 0.95}


def test_equal_scores_cannot_be_told_apart():
    curve = gate.roc([0.5, 0.5], [0.5])
    assert curve is not None
    assert curve.summary() == {"recall@fa5": 0.0, "recall@fa10": 0.0, "auroc": 0.5}
    assert gate.roc([0.5], []) is None


def test_calibration_error_is_the_weighted_distance_from_how_often_it_is_right():
    bins = gate.reliability([(0.95, True, 1), (1.0, False, 1), (0.25, False, 2)])
    assert [(one.low, one.n, one.weight) for one in bins] == [(0.2, 1, 0.5), (0.9, 2, 0.5)]
    # 0.5 · |0.25 - 0| + 0.5 · |0.975 - 0.5|
    assert gate.expected_error(bins) == pytest.approx(0.3625)
    assert gate.expected_error([]) is None


def test_own_asks_weigh_as_much_as_those_that_deserve_nothing():
    given = Given(tokens=100, over_cap=False, right=True)
    judged = [
        Judged(OWN, 0.9, True, given),
        Judged(OWN, 0.9, True, Given(300, over_cap=True, right=False)),
        Judged(FOREIGN, 0.4, False),
        Judged(FOREIGN, 0.2, False, given),
        Judged(NEAR_MISS, 0.9, False, given),
        Judged("smalltalk", 0.1, False),
        Judged("smalltalk", None, False),
        Judged("general-question", 0.1, False, Given(60, over_cap=False, right=False)),
    ]
    result = gate.score({"locomo": Findings(judged=judged)}).result
    assert result["silence"] == {"smalltalk": 0.0, "general-question": 1.0, "assistant-command": None}
    assert result["near_miss"] == 1.0
    assert result["own"] == 1.0
    assert result["own_right"] == 0.5
    assert result["foreign_given"] == 0.5
    assert result["over_cap"] == 1
    assert (
        result["tokens_per_turn"] == 110.0
    )  # (200 + 20) / 2: foreign questions and near misses are no part of the day
    assert result["tokens_max"] == 300
    # Half the weight is 0.9 and always right; of the other half, four asks, a quarter each at 0.4, 0.2, 0.1 and 0.1.
    assert result["ece"] == pytest.approx(0.5 * 0.1 + 0.5 * (0.4 + 0.2 + 0.1 + 0.1) / 4)


ROOT = Path(bench.__file__).parents[1]


def test_the_hook_bench_says_what_it_promises():
    done = subprocess.run(
        [sys.executable, "-m", "bench.hook", "--json", "--runs", "2", "--kills", "2", "--memories", "50"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert {"hook_p50_ms", "bare_interpreter_p50_ms", "cold_brief_ms", "processes_left"} <= set(found)
    assert found["processes_left"] == 0
    assert found["failures"] == 0


def test_the_load_bench_says_what_it_promises():
    command = [sys.executable, "-m", "bench.load", "--json", "--seconds", "1", "--clients", "4"]
    done = subprocess.run(
        [*command, "--memories", "300", "--idle", "300", "--rounds", "5"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert {"echo_p50_ms", "cached_p50_ms", "in_process_p50_ms", "through_p50_ms", "added_ms", "idle_mb"} <= set(found)
    assert (found["crowd"]["errors"], found["crowd"]["lost"]) == (0, 0)
    assert found["crowd"]["acknowledged"] > 0


def test_the_vault_bench_says_what_it_promises():
    done = subprocess.run(
        [sys.executable, "-m", "bench.vault", "--json", "--files", "30"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert {"index_s", "files_per_s", "peak_mb", "ratio", "searchable_p50_s", "searchable_worst_s"} <= set(found)
    assert found["chunks"] > 300
    assert all(about["n"] for about in found["brief_ms"].values())
