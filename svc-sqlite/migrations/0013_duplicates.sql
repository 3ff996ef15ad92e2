-- People who may be the same person (DUP-01). `person_key` contains the keys of people, hashed with the secret of the file; `seq` is the
-- row in `people`. The program adds the keys of existing people after this migration.
CREATE TABLE person_key (
    tenant INTEGER NOT NULL,
    sort   INTEGER NOT NULL,
    hash   INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (tenant, sort, hash, seq)
) STRICT, WITHOUT ROWID;

-- The keys that at least two people have, with the number of these people, which is counted up to 1 000.
CREATE TABLE shared_key (
    tenant  INTEGER NOT NULL,
    sort    INTEGER NOT NULL,
    hash    INTEGER NOT NULL,
    members INTEGER NOT NULL,
    PRIMARY KEY (tenant, sort, hash)
) STRICT, WITHOUT ROWID;

-- Pairs of people who are not the same person (DUP-06): `one` is before `other`.
CREATE TABLE apart (
    tenant INTEGER NOT NULL,
    one    BLOB NOT NULL,
    other  BLOB NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (tenant, one, other)
) STRICT, WITHOUT ROWID;

CREATE INDEX apart_by_other ON apart (tenant, other);
