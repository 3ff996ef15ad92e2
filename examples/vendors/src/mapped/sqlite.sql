-- The same tables in SQLite.
CREATE TABLE orgs (
    id   INTEGER PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL
);
CREATE TABLE api_keys (
    id         INTEGER PRIMARY KEY,
    org_id     INTEGER NOT NULL REFERENCES orgs,
    token_hash BLOB NOT NULL UNIQUE,
    scope      TEXT NOT NULL DEFAULT 'all',
    label      TEXT NOT NULL
);
CREATE TABLE contacts (
    id         INTEGER PRIMARY KEY,
    public_id  TEXT NOT NULL UNIQUE,
    org_id     INTEGER NOT NULL REFERENCES orgs,
    first_name TEXT,
    last_name  TEXT,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX contacts_org ON contacts (org_id, id);
CREATE TABLE contact_emails (
    id         INTEGER PRIMARY KEY,
    contact_id INTEGER NOT NULL REFERENCES contacts ON DELETE CASCADE,
    address    TEXT NOT NULL,
    is_primary BOOLEAN NOT NULL DEFAULT 0
);
CREATE INDEX contact_emails_contact ON contact_emails (contact_id);
CREATE INDEX contact_emails_address ON contact_emails (lower(address));
CREATE TABLE groups (
    id         INTEGER PRIMARY KEY,
    public_id  TEXT NOT NULL UNIQUE,
    org_id     INTEGER NOT NULL REFERENCES orgs,
    name       TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (org_id, name)
);
CREATE INDEX groups_org ON groups (org_id, id);
CREATE TABLE contact_groups (
    contact_id INTEGER NOT NULL REFERENCES contacts ON DELETE CASCADE,
    group_id   INTEGER NOT NULL REFERENCES groups ON DELETE CASCADE,
    added_at   TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    svc_id     TEXT UNIQUE,
    svc_order  INTEGER PRIMARY KEY,
    UNIQUE (contact_id, group_id)
);
CREATE INDEX contact_groups_group ON contact_groups (group_id);
CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    public_id   TEXT NOT NULL UNIQUE,
    org_id      INTEGER NOT NULL REFERENCES orgs,
    title       TEXT NOT NULL,
    description TEXT,
    starts_at   TIMESTAMP NOT NULL,
    ends_at     TIMESTAMP,
    seats       INTEGER,
    created_at  TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at  TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX events_org ON events (org_id, id);
CREATE TABLE rsvps (
    id         INTEGER PRIMARY KEY,
    public_id  TEXT NOT NULL UNIQUE,
    event_id   INTEGER NOT NULL REFERENCES events ON DELETE CASCADE,
    contact_id INTEGER NOT NULL REFERENCES contacts ON DELETE CASCADE,
    answer     TEXT NOT NULL CHECK (answer IN ('yes', 'no', 'maybe')),
    guests     INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (event_id, contact_id)
);
CREATE INDEX rsvps_contact ON rsvps (contact_id);
-- Rows that the existing program creates also get an id.
CREATE TRIGGER svc_contact_groups_svc_id AFTER INSERT ON contact_groups WHEN new.svc_id IS NULL BEGIN
    UPDATE contact_groups SET svc_id = lower(hex(randomblob(16))) WHERE rowid = new.rowid;
END;
