-- The ids of merged people, each with the person that remains.
CREATE TABLE alias (
    tenant INTEGER NOT NULL,
    id     BLOB NOT NULL,
    target BLOB NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX alias_by_target ON alias (tenant, target);

-- In the entry of a deletion: the person that the deleted person was merged into, or the person below whom the record is now.
ALTER TABLE feed ADD COLUMN target BLOB;

CREATE INDEX feed_by_target ON feed (tenant, target) WHERE target IS NOT NULL;
