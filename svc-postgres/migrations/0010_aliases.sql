-- The ids of merged people, each with the person that remains.
CREATE TABLE {s}.alias (
    tenant bigint NOT NULL,
    id     uuid NOT NULL,
    target uuid NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX alias_by_target ON {s}.alias (tenant, target);
-- Helper requests without a key find the tenant by the id.
CREATE INDEX alias_by_id ON {s}.alias (id);

-- In the entry of a deletion: the person that the deleted person was merged into, or the person below whom the record is now.
ALTER TABLE {s}.feed ADD COLUMN target uuid;
CREATE INDEX feed_by_target ON {s}.feed (tenant, target) WHERE target IS NOT NULL;
