-- Additional columns for the mapping: taggings get an id and an order. The existing program works
-- without changes.
ALTER TABLE contact_groups
    ADD COLUMN svc_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    ADD COLUMN svc_order bigserial UNIQUE;
