-- The merges of people that can be undone (MRG-20). `body` is what the rules need for that, as JSON. It contains personal data.
CREATE TABLE {s}.merge (
    tenant    bigint NOT NULL,
    id        uuid NOT NULL,
    remaining uuid NOT NULL,
    merged    uuid NOT NULL,
    at        bigint NOT NULL,
    until     bigint NOT NULL,
    key_name  text,
    body      bytea NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX merge_by_remaining ON {s}.merge (tenant, remaining, at);
CREATE INDEX merge_by_end ON {s}.merge (tenant, until);
