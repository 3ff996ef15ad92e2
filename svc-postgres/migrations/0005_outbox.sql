-- What is to be sent: server responses that helper calls trigger (HAF-11), and messages when their sending starts (SCH-01).
-- What former versions noted goes: nobody was there to send it, and a response that comes months late is worse than none.
DELETE FROM {s}.outbox;
-- Changed and not made anew: on a cluster it stays where it is.
ALTER TABLE {s}.outbox
    DROP COLUMN created, DROP COLUMN helper, DROP COLUMN action, DROP COLUMN body,
    ADD COLUMN message uuid, ADD COLUMN due bigint NOT NULL, ADD COLUMN attempts bigint NOT NULL DEFAULT 0,
    ADD COLUMN body text NOT NULL;
CREATE INDEX outbox_by_message ON {s}.outbox (tenant, message) WHERE message IS NOT NULL;
-- The one index that does not begin with the tenant: it finds whose turn it is.
CREATE INDEX outbox_by_due ON {s}.outbox (due);
