-- Filters by text (FLT-14): the texts of filterable fields, in the form in which they are compared. `seq` is the row in the table of
-- the field's kind. The program adds the texts of existing records after this migration.
CREATE TABLE text_key (
    tenant INTEGER NOT NULL,
    field  TEXT NOT NULL,
    text   TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (tenant, field, text, seq)
) STRICT, WITHOUT ROWID;
