-- Additions for the API. The existing tables keep their columns and constraints.
-- The identifiers of a row in other systems. They are deleted with the row.
ALTER TABLE contacts ADD COLUMN refs text[] NOT NULL DEFAULT '{}';
ALTER TABLE groups ADD COLUMN refs text[] NOT NULL DEFAULT '{}';
ALTER TABLE events ADD COLUMN refs text[] NOT NULL DEFAULT '{}';
ALTER TABLE rsvps ADD COLUMN refs text[] NOT NULL DEFAULT '{}';
ALTER TABLE contact_groups ADD COLUMN refs text[] NOT NULL DEFAULT '{}';
CREATE INDEX contacts_refs ON contacts USING gin (refs);
CREATE INDEX groups_refs ON groups USING gin (refs);
CREATE INDEX events_refs ON events USING gin (refs);
CREATE INDEX rsvps_refs ON rsvps USING gin (refs);
CREATE INDEX contact_groups_refs ON contact_groups USING gin (refs);
-- A membership gets its own URL, and a position in the order of creation.
ALTER TABLE contact_groups
    ADD COLUMN id bigserial UNIQUE,
    ADD COLUMN public_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
-- Addresses are compared case-insensitively, for ASCII letters only.
CREATE INDEX contact_emails_normal ON contact_emails (lower(address COLLATE "C"));
CREATE INDEX rsvps_event ON rsvps (event_id, id);
