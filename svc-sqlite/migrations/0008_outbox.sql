-- What is to be sent: server responses that helper calls trigger (HAF-11), and messages when their sending starts (SCH-01).
-- What former versions noted goes: nobody was there to send it, and a response that comes months late is worse than none.
DROP TABLE outbox;

CREATE TABLE outbox (
    -- A number never comes again: who settles one that is gone settles no other.
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant   INTEGER NOT NULL REFERENCES tenant (id),
    person   BLOB,
    message  BLOB,
    due      INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    body     TEXT NOT NULL
) STRICT;

CREATE INDEX outbox_all ON outbox (tenant);
CREATE INDEX outbox_by_due ON outbox (due);
CREATE INDEX outbox_by_person ON outbox (tenant, person) WHERE person IS NOT NULL;
CREATE INDEX outbox_by_message ON outbox (tenant, message) WHERE message IS NOT NULL;
