-- The memory that has said since what this one says, or otherwise; 0 while none has. What has one is never pushed.
ALTER TABLE memory ADD COLUMN successor INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memory_by_successor ON memory (successor) WHERE successor <> 0;
-- A hash of the words in order, whatever their case: two memories with the same one say the same. 0: too few words.
ALTER TABLE memory ADD COLUMN sketch INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memory_by_sketch ON memory (sketch) WHERE sketch <> 0;
-- Up to which memory it was looked whether one makes another outdated.
INSERT INTO counter SELECT 'weighed', coalesce(max(row), 0) FROM memory;
