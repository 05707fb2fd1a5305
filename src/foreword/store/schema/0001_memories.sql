-- Sessions, and what they remember between two turns.
CREATE TABLE session (
    row         INTEGER PRIMARY KEY AUTOINCREMENT,
    agent       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    audience    INTEGER NOT NULL,
    circle      TEXT    NOT NULL,
    project     TEXT    NOT NULL,
    channel     TEXT    NOT NULL,
    started_at  REAL    NOT NULL,
    last_at     REAL    NOT NULL,
    epoch       INTEGER NOT NULL DEFAULT 0,   -- how often the conversation was compacted
    asked_at    REAL    NOT NULL DEFAULT 0,
    ask_hash    TEXT    NOT NULL DEFAULT '',
    last_receipt INTEGER NOT NULL DEFAULT 0,
    stable      TEXT,                         -- the frozen stable part; NULL until made
    stable_rows TEXT    NOT NULL DEFAULT '[]',
    UNIQUE (agent, key)
);
CREATE INDEX session_by_time ON session (last_at);

-- The small columns come first: loading the index reads them without touching long texts.
CREATE TABLE memory (
    row         INTEGER PRIMARY KEY AUTOINCREMENT,
    session     INTEGER REFERENCES session (row),
    position    INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    origin      TEXT    NOT NULL,
    audience    INTEGER NOT NULL,
    circle      TEXT    NOT NULL,
    agent       TEXT    NOT NULL,
    project     TEXT    NOT NULL,
    at          REAL    NOT NULL,
    length      INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    fingerprint TEXT    NOT NULL UNIQUE,
    channel     TEXT    NOT NULL,
    sender      TEXT    NOT NULL,
    source_id   TEXT    NOT NULL,
    type        TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    files       TEXT    NOT NULL,
    concepts    TEXT    NOT NULL,
    decisions   TEXT    NOT NULL,
    text        TEXT    NOT NULL
);
CREATE INDEX memory_by_session ON memory (session, position);
CREATE INDEX memory_by_kind ON memory (kind, at);

-- Which words a memory holds: 32-bit hashes, then one count byte each. Hashes, so that a forgotten memory leaves no
-- word behind in a dictionary.
CREATE TABLE word (
    memory INTEGER PRIMARY KEY REFERENCES memory (row) ON DELETE CASCADE,
    data   BLOB NOT NULL
);

-- Vectors, stamped with their model: a float32 scale and one int8 for each dimension. Long memories have several.
CREATE TABLE vector (
    row    INTEGER PRIMARY KEY AUTOINCREMENT,
    memory INTEGER NOT NULL REFERENCES memory (row) ON DELETE CASCADE,
    model  TEXT    NOT NULL,
    data   BLOB    NOT NULL
);
CREATE INDEX vector_by_memory ON vector (memory, model);
CREATE INDEX vector_by_model ON vector (model);

-- Up to which row every memory has a vector of a model: what is beyond is still to be embedded.
CREATE TABLE embedded (
    model TEXT PRIMARY KEY,
    upto  INTEGER NOT NULL
) WITHOUT ROWID;

-- What each session has been given since its last compaction.
CREATE TABLE delivery (
    session INTEGER NOT NULL REFERENCES session (row),
    epoch   INTEGER NOT NULL,
    memory  INTEGER NOT NULL,
    PRIMARY KEY (session, epoch, memory)
) WITHOUT ROWID;
CREATE INDEX delivery_by_memory ON delivery (memory);

-- Hashes of injected text, by which the guard knows its own words; `memory` 0 is a whole block, `receipt` its turn.
CREATE TABLE injected (
    hash    TEXT    NOT NULL,
    memory  INTEGER NOT NULL,
    receipt INTEGER NOT NULL,
    PRIMARY KEY (hash, memory)
) WITHOUT ROWID;

CREATE TABLE receipt (
    row     INTEGER PRIMARY KEY AUTOINCREMENT,
    agent   TEXT NOT NULL,
    session TEXT NOT NULL,
    at      REAL NOT NULL,
    ask     TEXT NOT NULL,
    tokens  INTEGER NOT NULL,
    avoided INTEGER NOT NULL,
    body    TEXT NOT NULL
);
CREATE INDEX receipt_by_session ON receipt (session, row);

-- Counters that tell other processes to look again.
CREATE TABLE counter (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counter VALUES ('forgets', 0), ('vector_drops', 0), ('unswept', 0);
