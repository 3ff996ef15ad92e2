-- What the mapping needs besides: taggings have an id and an order of their own. The program goes on as before.
ALTER TABLE contact_groups
    ADD COLUMN svc_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    ADD COLUMN svc_order bigserial UNIQUE;
