-- Folders of notes that are read and never written. `reading` is how their Markdown was last understood: a newer one
-- reads every file again. One that is `leaving` is being taken out.
CREATE TABLE vault (
    row        INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL UNIQUE,
    path       TEXT    NOT NULL UNIQUE,
    agent      TEXT    NOT NULL,
    project    TEXT    NOT NULL,
    audience   INTEGER NOT NULL,
    reading    INTEGER NOT NULL DEFAULT 0,
    scanned_at REAL    NOT NULL DEFAULT 0,
    problem    TEXT    NOT NULL DEFAULT '',
    leaving    INTEGER NOT NULL DEFAULT 0
);

-- What a file looked like when it was read, and why it was not. The columns that tell whether it changed are small.
CREATE TABLE vault_file (
    row      INTEGER PRIMARY KEY,
    vault    INTEGER NOT NULL REFERENCES vault (row) ON DELETE CASCADE,
    mtime_ns INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    path     TEXT    NOT NULL,
    problem  TEXT    NOT NULL,
    UNIQUE (vault, path)
);

-- Which memories are of which file, in its order.
CREATE TABLE vault_chunk (
    memory INTEGER PRIMARY KEY REFERENCES memory (row) ON DELETE CASCADE,
    file   INTEGER NOT NULL REFERENCES vault_file (row) ON DELETE CASCADE,
    place  INTEGER NOT NULL
);
CREATE INDEX vault_chunk_by_file ON vault_chunk (file, place);

-- Memories that went because their file changed: an index in memory masks them, where a `forget` has it read anew.
CREATE TABLE superseded (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    memory INTEGER NOT NULL
);
INSERT INTO counter VALUES ('supersedes', 0);
