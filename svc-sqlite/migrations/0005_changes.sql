-- What was created (0), changed (1) and deleted (2), in the order of the commits. Ids only: erasure has nothing to do here.
CREATE TABLE feed (
    tenant INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    kind   INTEGER NOT NULL,
    id     BLOB NOT NULL,
    parent BLOB,
    what   INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;
