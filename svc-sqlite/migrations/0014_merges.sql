-- The merges of people that can be undone (MRG-20). `body` is what the rules need for that, as JSON. It contains personal data.
CREATE TABLE merge (
    tenant    INTEGER NOT NULL,
    id        BLOB NOT NULL,
    remaining BLOB NOT NULL,
    merged    BLOB NOT NULL,
    at        INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    key_name  TEXT,
    body      BLOB NOT NULL
) STRICT;

CREATE INDEX merge_by_remaining ON merge (tenant, remaining, at);
CREATE INDEX merge_by_end ON merge (until);
