-- The summary that Foreword made of a session, NULL while there is none, and up to when it tells: a session that goes on
-- is told anew, in the same row, so that what quotes it stays as it was.
ALTER TABLE session ADD COLUMN summary INTEGER;
ALTER TABLE session ADD COLUMN told_until REAL NOT NULL DEFAULT -1;
CREATE INDEX session_to_tell ON session (last_at) WHERE last_at <> told_until;
