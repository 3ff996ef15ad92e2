-- What was created (0), changed (1) and deleted (2): `seq` is given under the tenant's lock, `step` tells apart what one
-- statement deletes. Ids only: erasure has nothing to do here.
CREATE TABLE {s}.feed (
    tenant bigint NOT NULL,
    seq    bigint NOT NULL,
    step   bigint NOT NULL,
    kind   smallint NOT NULL,
    id     uuid NOT NULL,
    parent uuid,
    what   smallint NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (tenant, seq, step)
);
