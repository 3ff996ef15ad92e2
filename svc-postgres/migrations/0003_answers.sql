-- The answers of calls that may come again, by their keys (IDM-01). The row of nobody, a UUID of zeros, holds the answer; each of
-- the others names a person whom it may tell of.
CREATE TABLE {s}.kept (
    tenant bigint NOT NULL,
    key    text NOT NULL,
    person uuid NOT NULL,
    at     bigint NOT NULL,
    answer bytea,
    PRIMARY KEY (tenant, key, person)
);
CREATE INDEX kept_by_age ON {s}.kept (tenant, at);
CREATE INDEX kept_by_person ON {s}.kept (tenant, person);
