-- The totals of a record are one text with the value of each measure. The program counts them after this migration.
ALTER TABLE {s}.total DROP COLUMN accepted, DROP COLUMN number, DROP COLUMN amount, ADD COLUMN measures text NOT NULL DEFAULT '';
ALTER TABLE {s}.part DROP COLUMN number, DROP COLUMN amount, ADD COLUMN measures text NOT NULL DEFAULT '';
