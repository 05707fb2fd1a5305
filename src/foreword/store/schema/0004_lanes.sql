-- In which folder a session's agent works, as its host told.
CREATE TABLE workspace (
    agent TEXT NOT NULL,
    key   TEXT NOT NULL,
    path  TEXT NOT NULL,
    PRIMARY KEY (agent, key)
) WITHOUT ROWID;

-- Files in workspaces that are Foreword's: for which session each was written last, whether it holds anything, and what
-- kept it from being written.
CREATE TABLE lane_file (
    path    TEXT PRIMARY KEY,
    agent   TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    holds   INTEGER NOT NULL,
    problem TEXT    NOT NULL
) WITHOUT ROWID;
