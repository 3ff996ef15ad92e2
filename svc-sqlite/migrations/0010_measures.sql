-- The totals of a record are one text with the value of each measure. The program counts them after this migration.
ALTER TABLE total DROP COLUMN accepted;
ALTER TABLE total DROP COLUMN tickets;
ALTER TABLE total DROP COLUMN amount;
ALTER TABLE total ADD COLUMN measures TEXT NOT NULL DEFAULT '';
ALTER TABLE part DROP COLUMN tickets;
ALTER TABLE part DROP COLUMN amount;
ALTER TABLE part ADD COLUMN measures TEXT NOT NULL DEFAULT '';
