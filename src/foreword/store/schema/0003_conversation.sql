-- The last memory there was when the session was compacted: what came later, the host's model still has before it.
ALTER TABLE session ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
