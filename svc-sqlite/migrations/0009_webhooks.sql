-- Webhooks: a document of each, and the moment to look after it next. `version` counts how often it was written.
CREATE TABLE webhook (
    tenant  INTEGER NOT NULL,
    id      BLOB NOT NULL,
    version INTEGER NOT NULL,
    next    INTEGER,
    body    BLOB NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_by_next ON webhook (next) WHERE next IS NOT NULL;
