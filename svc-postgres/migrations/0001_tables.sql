-- Tenants and keys are directories: every process may keep what it has read of them.
CREATE TABLE {s}.tenant (
    id      bigint PRIMARY KEY,
    name    text NOT NULL UNIQUE,
    created bigint NOT NULL
);

CREATE TABLE {s}.api_key (
    id        text PRIMARY KEY,
    tenant    bigint NOT NULL,
    prefix    bigint NOT NULL,
    hash      bytea NOT NULL UNIQUE,
    hint      text NOT NULL,
    label     text NOT NULL,
    rights    text,
    read_only boolean NOT NULL,
    person    text,
    created   bigint NOT NULL,
    expires   bigint,
    revoked   bigint
);
-- What the store and programs remember for themselves.
CREATE TABLE {s}.meta (
    name  text PRIMARY KEY,
    value bytea NOT NULL
);

CREATE INDEX api_key_by_prefix ON {s}.api_key (prefix);

-- One row a tenant: whoever writes for the tenant locks it first. `seq` numbers what it has and goes up with each transaction,
-- `clock` is the moment of its last write in microseconds.
CREATE TABLE {s}.ledger (
    tenant bigint PRIMARY KEY,
    seq    bigint NOT NULL,
    clock  bigint NOT NULL
) WITH (fillfactor = 50);

-- The last transactions, by the number that the ledger had at their end: tells whether one whose answer was lost is stored.
CREATE TABLE {s}.turn (
    tenant bigint NOT NULL,
    seq    bigint NOT NULL,
    id     uuid NOT NULL,
    PRIMARY KEY (tenant, seq)
);

-- The records of every kind. `l1` to `l4` lead to other records; which link has which place follows from the tables of the
-- interface. `body` holds the fields ready for the wire.
CREATE TABLE {s}.record (
    tenant          bigint NOT NULL,
    kind            smallint NOT NULL,
    id              uuid NOT NULL,
    seq             bigint NOT NULL,
    created         bigint NOT NULL,
    modified        bigint NOT NULL,
    l1              uuid,
    l2              uuid,
    l3              uuid,
    l4              uuid,
    modified_by     uuid,
    name            text,
    identifiers     text NOT NULL,
    scheduled_start bigint,
    scheduled_stop  bigint,
    body            bytea NOT NULL,
    PRIMARY KEY (tenant, id, kind)
);
-- No two indexes of a table have the same two columns first. A table that was never analyzed gives the planner nothing to
-- tell them apart by, and a plan that was made then is kept: with this rule it is right whatever it is made by.
CREATE UNIQUE INDEX record_by_seq ON {s}.record (tenant, (kind::int), seq);
CREATE INDEX record_by_l1 ON {s}.record (tenant, l1, kind, seq) WHERE l1 IS NOT NULL;
CREATE INDEX record_by_l2 ON {s}.record (tenant, l2, kind, seq) WHERE l2 IS NOT NULL;
CREATE INDEX record_by_l3 ON {s}.record (tenant, l3, kind, seq) WHERE l3 IS NOT NULL;
CREATE INDEX record_by_l4 ON {s}.record (tenant, l4, kind, seq) WHERE l4 IS NOT NULL;
CREATE INDEX record_by_modified_by ON {s}.record (tenant, modified_by) WHERE modified_by IS NOT NULL;
CREATE UNIQUE INDEX record_by_name ON {s}.record (tenant, name, kind) WHERE name IS NOT NULL;
-- The one look-up that does not begin with the tenant, because it finds it: of what calls without a key may address.
CREATE INDEX record_by_id ON {s}.record (id) WHERE kind IN ({containers});

CREATE TABLE {s}.identifier (
    tenant bigint NOT NULL,
    kind   smallint NOT NULL,
    hash   uuid NOT NULL,
    seq    bigint NOT NULL,
    PRIMARY KEY (tenant, hash, kind)
);
CREATE INDEX identifier_by_record ON {s}.identifier (tenant, seq);

CREATE TABLE {s}.email (
    tenant bigint NOT NULL,
    hash   uuid NOT NULL,
    seq    bigint NOT NULL,
    PRIMARY KEY (tenant, hash, seq)
);
CREATE INDEX email_by_person ON {s}.email (tenant, seq);

-- How many records a collection has: that of all (`scope` 0 under no owner), or that under one record; and what they come to.
-- `moved` is the number of the last transaction that took one out, or let one in that is not the youngest.
CREATE TABLE {s}.total (
    tenant   bigint NOT NULL,
    kind     smallint NOT NULL,
    scope    smallint NOT NULL,
    owner    uuid NOT NULL,
    records  bigint NOT NULL DEFAULT 0,
    accepted bigint NOT NULL DEFAULT 0,
    number   bigint NOT NULL DEFAULT 0,
    amount   text NOT NULL DEFAULT '0',
    moved    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, kind, scope, owner)
) WITH (fillfactor = 50);

CREATE TABLE {s}.part (
    tenant bigint NOT NULL,
    owner  uuid NOT NULL,
    name   text NOT NULL,
    number bigint NOT NULL,
    amount text NOT NULL,
    PRIMARY KEY (tenant, owner, name)
);

-- People who were recognised in a ticket: which ticket of which attendance. A place of -1 stands for any.
CREATE TABLE {s}.holder (
    tenant     bigint NOT NULL,
    person     uuid NOT NULL,
    attendance bigint NOT NULL,
    place      bigint NOT NULL,
    PRIMARY KEY (tenant, person, attendance, place)
);
CREATE INDEX holder_by_attendance ON {s}.holder (tenant, attendance);

CREATE TABLE {s}.outbox (
    tenant  bigint NOT NULL,
    seq     bigint NOT NULL,
    created bigint NOT NULL,
    helper  text NOT NULL,
    person  uuid,
    action  uuid,
    body    bytea NOT NULL,
    PRIMARY KEY (tenant, seq)
);
CREATE INDEX outbox_by_person ON {s}.outbox (tenant, person) WHERE person IS NOT NULL;
