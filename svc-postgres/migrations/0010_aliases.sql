-- The ids of merged people, each with the person that remains.
CREATE TABLE {s}.alias (
    tenant bigint NOT NULL,
    id     uuid NOT NULL,
    target uuid NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX alias_by_target ON {s}.alias (tenant, target);
