-- People who may be the same person (DUP-01). `person_key` contains the keys of people, hashed with the secret of the database; `seq` is
-- the number of the record. The program adds the keys of existing people after this migration.
CREATE TABLE {s}.person_key (
    tenant bigint NOT NULL,
    sort   smallint NOT NULL,
    hash   bigint NOT NULL,
    seq    bigint NOT NULL,
    PRIMARY KEY (tenant, hash, sort, seq)
);
-- The keys that at least two people have, with the number of these people, which is counted up to 1 000.
CREATE TABLE {s}.shared_key (
    tenant  bigint NOT NULL,
    sort    smallint NOT NULL,
    hash    bigint NOT NULL,
    members bigint NOT NULL,
    PRIMARY KEY (tenant, sort, hash)
);
CREATE INDEX shared_key_by_hash ON {s}.shared_key (tenant, hash);
-- Pairs of people who are not the same person (DUP-06): `one` is before `other`.
CREATE TABLE {s}.apart (
    tenant bigint NOT NULL,
    one    uuid NOT NULL,
    other  uuid NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (tenant, one, other)
);
CREATE INDEX apart_by_other ON {s}.apart (tenant, other);
