-- What a person said of a turn, '' while nobody has. It stands in the receipt's own row, so it goes when that goes.
ALTER TABLE receipt ADD COLUMN feedback TEXT NOT NULL DEFAULT '';
CREATE INDEX receipt_by_feedback ON receipt (feedback) WHERE feedback <> '';
