-- The ids of merged people, each with the person that remains.
CREATE TABLE alias (
    tenant INTEGER NOT NULL,
    id     BLOB NOT NULL,
    target BLOB NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX alias_by_target ON alias (tenant, target);
