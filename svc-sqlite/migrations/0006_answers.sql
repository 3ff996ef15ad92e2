-- The answers of calls that may come again, by their keys (IDM-01). The row of nobody, sixteen zeros, holds the answer; each of
-- the others names a person whom it may tell of.
CREATE TABLE kept (
    tenant INTEGER NOT NULL,
    key    TEXT NOT NULL,
    person BLOB NOT NULL,
    at     INTEGER NOT NULL,
    answer BLOB,
    PRIMARY KEY (tenant, key, person)
) STRICT;
CREATE INDEX kept_by_age ON kept (tenant, at);
CREATE INDEX kept_by_person ON kept (tenant, person);
