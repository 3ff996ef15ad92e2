-- What every data file has: facts about the file, tenants, and the keys that open them.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES ('key_epoch', 0);

CREATE TABLE tenant (
    id      INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL
) STRICT;

-- `prefix` is the first eight bytes of `hash`; the rest is compared in constant time outside of SQL.
-- Times are microseconds since 1970 in UTC.
CREATE TABLE api_key (
    id        TEXT PRIMARY KEY,
    tenant    INTEGER NOT NULL REFERENCES tenant (id),
    prefix    INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    hint      TEXT NOT NULL,
    label     TEXT NOT NULL,
    rights    TEXT,
    read_only INTEGER NOT NULL,
    person    TEXT,
    created   INTEGER NOT NULL,
    expires   INTEGER,
    revoked   INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_by_prefix ON api_key (prefix);
CREATE INDEX api_key_by_tenant ON api_key (tenant, created, id);
