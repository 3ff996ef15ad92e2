-- Webhooks: a document of each, and the moment to look after it next. `version` counts how often it was written.
CREATE TABLE {s}.webhook (
    tenant  bigint NOT NULL,
    id      uuid NOT NULL,
    version bigint NOT NULL,
    next    bigint,
    body    bytea NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX webhook_by_next ON {s}.webhook (next) WHERE next IS NOT NULL;
