-- What one process at a time does for all of them: which process, until when, and how often another one has asked it to look.
CREATE TABLE {s}.lease (
    name   text PRIMARY KEY,
    holder uuid NOT NULL,
    until  bigint NOT NULL,
    asked  bigint NOT NULL DEFAULT 0
);
